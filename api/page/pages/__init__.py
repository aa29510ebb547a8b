"""The routes of the page: each reads, builds a view, and renders it."""

from __future__ import annotations

from veritrail_graph.api.page.pages import (
    attribution,
    checking,
    claim,
    dialogue,
    editing,
    graph,
    jobs,
    lists,
    node,
    process,
    projects,
    review,
    runs,
    sample,
    search,
    session,
    sharing,
    teamwork,
    upload,
)

ROUTERS = tuple(
    part.router
    for part in (
        session,
        process,
        projects,
        sharing,
        search,
        checking,
        upload,
        sample,
        jobs,
        lists,
        editing,
        claim,
        runs,
        review,
        teamwork,
        graph,
        node,
        attribution,
        dialogue,
    )
)

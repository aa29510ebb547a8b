"""The routes of the page: each reads, builds a view, and renders it."""

from __future__ import annotations

from veritrail_graph.api.web.pages import (
    attribution,
    claim,
    dialogue,
    graph,
    jobs,
    node,
    process,
    review,
    runs,
    sample,
    session,
    study,
    turn_labels,
    upload,
)

ROUTERS = tuple(
    part.router
    for part in (
        session,
        process,
        upload,
        sample,
        jobs,
        claim,
        runs,
        review,
        graph,
        node,
        attribution,
        dialogue,
        turn_labels,
        study,
    )
)

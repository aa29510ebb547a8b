"""The routes of every page, as the application includes them."""

from __future__ import annotations

from veritrail_graph.api.web.pages import (
    agreement,
    claim,
    difference,
    evidence,
    graph,
    jobs,
    node,
    process,
    processes,
    reports,
    review,
    sign_in,
    static,
    upload,
    verify,
)

PARTS = (
    static,
    sign_in,
    processes,
    upload,
    verify,
    jobs,
    process,
    claim,
    difference,
    evidence,
    reports,
    review,
    agreement,
    graph,
    node,
)

ROUTERS = tuple(part.router for part in PARTS)

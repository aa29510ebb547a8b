"""Every router of REST, in the order in which they are tried."""

from __future__ import annotations

from veritrail_graph.api.service.rest import (
    attributions,
    checks,
    claims,
    dialogues,
    docs_page,
    events,
    exports,
    health,
    jobs,
    nodes,
    otlp,
    processes,
    projects,
    queries,
    reviews,
    search,
    shares,
    stored_verifications,
    teamwork,
)

ROUTERS = (
    health.router,
    docs_page.router,
    queries.router,
    projects.router,
    search.router,
    shares.router,
    events.router,
    exports.router,
    jobs.router,
    jobs.submitting,
    attributions.submitting,
    dialogues.submitting,
    checks.checking,
    processes.router,
    checks.router,
    nodes.router,
    nodes.walking,
    claims.router,
    claims.beside,
    attributions.router,
    dialogues.router,
    stored_verifications.router,
    reviews.router,
    teamwork.router,
    otlp.router,
)
"""Included one by one: every router inside another one costs each request a search more."""

"""Everything that is stored, over REST."""

from __future__ import annotations

from veritrail_graph.api.rest import (
    attributions,
    claims,
    dialogues,
    nodes,
    processes,
    stored_verifications,
)

ROUTERS = (
    processes.router,
    nodes.router,
    nodes.walking,
    claims.router,
    claims.beside,
    attributions.router,
    dialogues.router,
    stored_verifications.router,
)
"""Included one by one: every router inside another one costs each request a search more."""

"""Everything that is stored, over REST."""

from __future__ import annotations

from veritrail_graph.api.rest import (
    claims,
    lineage,
    nodes,
    processes,
    stored_verifications,
    uploads,
)

PARTS = (uploads, processes, nodes, lineage, claims, stored_verifications)

ROUTERS = tuple(part.router for part in PARTS)
"""Included one by one: every router inside another one costs each request a search more."""

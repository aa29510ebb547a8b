"""A report or a dossier as JSON: `veritrail/report`, version 1 (docs/reports.md).

It is written claim by claim, so that memory does not grow with the number of claims.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict
from typing import Any

from veritrail_graph.api.show.context import Around
from veritrail_graph.api.show.reports.data import (
    ClaimSelection,
    ReportData,
    ReportSource,
    ReportTrail,
)
from veritrail_graph.api.show.routes import Route, routes_of
from veritrail_graph.graph.exporters.process_file import json_text
from veritrail_graph.graph.model import Usage, Verification
from veritrail_graph.graph.model.review import reviewed_json

FORMAT = "veritrail/report"
VERSION = 1

MOST_ROUTES = 100
"""Routes of a claim that are listed; all are counted."""


async def json_pieces(origin: ReportSource, *, dossier: bool = False) -> AsyncIterator[str]:
    """The document, piece by piece, a claim a line.

    Args:
        origin: Where it is made from.
        dossier: Whether nodes, and the sentences around cited ones, come along.
    """
    head = json_text(head_json(origin.material, dossier=dossier))
    yield f'{head[:-1]},\n"claims":['
    separator = "\n"
    async for trail in origin.trails(origin.material.claims, whole=dossier):
        yield separator + json_text(claim_object(trail, dossier=dossier))
        separator = ",\n"
    yield "\n]}\n"


def whole_json(
    material: ReportData, trails: Iterable[ReportTrail], *, dossier: bool = False
) -> str:
    """Return the same document from trails that were read already, on one line."""
    claims = [claim_object(trail, dossier=dossier) for trail in trails]
    return json_text({**head_json(material, dossier=dossier), "claims": claims})


def head_json(material: ReportData, *, dossier: bool = False) -> dict[str, Any]:
    """All but the claims."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "dossier" if dossier else "report",
        "made_at": material.made.at,
        "made_by": material.made.by,
        "origin": material.made.origin,
        "process": process_object(material),
        "questions": dict(material.questions),
        "wanted": wanted_json(material.wanted),
        "summary": summary_json(material),
        "limits": {"routes_of_a_claim": MOST_ROUTES},
    }


def process_object(material: ReportData) -> dict[str, Any]:
    """The process without its nodes."""
    process = material.process
    return {
        "process_id": process.process_id,
        "name": process.name,
        "question": process.question,
        "source_format": process.source_format,
        "content_hash": process.content_hash,
        "nodes": process.nodes,
        "edges": process.edges,
        "claims": material.total,
        "terminals": list(process.terminals),
        "warnings": list(process.warnings),
    }


def wanted_json(wanted: ClaimSelection) -> dict[str, Any]:
    """Return which claims the report is about; empty lists: all."""
    return {
        "claim_ids": list(wanted.claim_ids),
        "node_ids": list(wanted.node_ids),
        "states": [state.value for state in wanted.states],
    }


def summary_json(material: ReportData) -> dict[str, Any]:
    """The figures of all claims of the report."""
    reviewed = [one.reviewed for one in material.claims if one.reviewed is not None]
    return {
        "claims": len(material.claims),
        "states": {state.value: count for state, count in material.counts.items()},
        "indicative": any(one.is_without_model for one in material.claims),
        "stages": [asdict(stage) for stage in material.stages],
        "reviewed": len(reviewed),
        "disputed": sum(one.disputed for one in reviewed),
        "verdicts_in_force": [asdict(judge) for judge in material.judges],
        "share_of_nodes": material.share_of_nodes,
        "usage": usage_json(material.usage),
    }


def usage_json(usage: Usage) -> dict[str, Any]:
    """Calls, tokens and money; a cost of null is unknown, or there was no call."""
    return usage.json_object()


def claim_object(trail: ReportTrail, *, dossier: bool = False) -> dict[str, Any]:
    """A claim with its trail."""
    one, found = trail.checked, trail.verification
    routes = routes_of(found, MOST_ROUTES) if found is not None else None
    made: dict[str, Any] = {
        **one.claim.json_object(),
        "state": one.state.value,
        "verdict": one.verdict.value if one.verdict else None,
        "indicative": one.is_without_model,
        "reason": one.reason,
        "error_stages": list(one.error_stages),
        "edited_since": one.was_edited,
        "verifications": one.verifications,
        "later_attempt": one.later.header.json_object() if one.later else None,
        **reviewed_json(one.reviewed),
        **({"category": one.category.value} if one.category is not None else {}),
        **({"before": _before(one.before)} if one.before is not None else {}),
        "verification": found.json_object() if found is not None else None,
        "routes": [_route(route) for route in routes.routes] if routes else [],
        "routes_total": routes.total if routes else 0,
        "routes_from_roots": routes.complete if routes else 0,
        "reviews_given": [review.json_object() for review in trail.reviews],
    }
    if dossier:
        made["nodes"] = [
            {
                "node_id": node.ref.node_id,
                "stage": node.ref.stage,
                "role": node.ref.role,
                "kind": node.kind,
                "step": node.step,
                "model": node.model,
            }
            for node in trail.nodes.values()
        ]
        made["context"] = [_around(place, around) for place, around in trail.around.items()]
    return made


def _before(found: Verification) -> dict[str, Any]:
    """The verification in the earlier version that a claim was compared with."""
    return {
        "verification_id": found.verification_id,
        "verdict": found.verdict.value if found.verdict else None,
        "error_stages": list(found.error_stages),
    }


def _route(route: Route) -> dict[str, Any]:
    return {
        "from_root": route.complete,
        "nodes": [
            {"node_id": stop.node_id, "stage": stop.stage, "via": list(stop.via)}
            for stop in route.stops
        ],
    }


def _around(place: tuple[str, int, int], around: Around) -> dict[str, Any]:
    node_id, start, end = place
    return {
        "node_id": node_id,
        "start": start,
        "end": end,
        "before": around.before,
        "after": around.after,
    }

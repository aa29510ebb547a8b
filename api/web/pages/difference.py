"""Two verifications of a claim side by side: what was set otherwise, and where they part."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.http.access import needs
from veritrail_graph.api.http.names import ClaimId, ProcessId
from veritrail_graph.api.web.rendering import render
from veritrail_graph.api.web.views.marks import mark_now, mark_of
from veritrail_graph.api.web.views.steps import ENDINGS
from veritrail_graph.graph.comparing import Changed, Part, RoundSide, compare
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Termination, Verdict

router = APIRouter(include_in_schema=False)

MOST = 50
"""Nodes or sentences of one side that are listed."""

WORDS: Mapping[str, str] = {
    "claim": "Claim",
    "engine": "Engine",
    "model": "Model",
    "q": "q",
    "content_hash": "Content",
    "status": "Status",
    "verdict": "Verdict",
    "score": "Score",
    "termination": "Why it ended",
    "error_stages": "Error stages",
    "error_nodes": "Where it came in",
    "error": "Reason of the failure",
}
"""What differs, in words; anything else keeps its name."""

PARTS: Mapping[Part, str] = {
    Part.NODES: "other nodes were read",
    Part.EVIDENCE: "other sentences were selected",
    Part.VERDICT: "the interim verdict is another",
    Part.LENGTH: "one check had ended",
}
"""How rounds differ, in words."""

Name = Annotated[str, Query(min_length=1, max_length=200)]


@router.get(
    "/processes/{process_id}/claims/{claim_id}/difference", dependencies=[needs(Scope.READ)]
)
async def show_difference(
    request: Request, process_id: ProcessId, claim_id: ClaimId, a: Name, b: Name
) -> HTMLResponse:
    """Two verifications of one claim.

    Raises:
        NotFound: One of them is not stored (any more), or belongs to another claim.
    """
    store = await request.app.state.graph.store()
    process = await store.processes.get(process_id)
    found = {one.verification_id: one for one in await store.trails.read(list({a, b}))}
    for name in (a, b):
        one = found.get(name)
        if one is None or (one.process_id, one.claim.claim_id) != (process_id, claim_id):
            raise NotFound(
                f"No verification {name!r} of this claim is stored; it may have been deleted. Go "
                "back to the claim and choose another one."
            )
    difference = compare(found[a], found[b])
    parting = difference.parting
    return render(
        request,
        "difference.html",
        process=process,
        claim=found[a].claim,
        sides=[(one, mark_now(one)) for one in (found[a], found[b])],
        changed=[_row(one) for one in (*difference.claim, *difference.outcome)],
        settings=[_row(one) for one in difference.settings],
        parting=parting,
        parts=[PARTS[one] for one in parting.parts] if parting else [],
        rounds=[_side(parting.a), _side(parting.b)] if parting else [],
    )


def _row(one: Changed) -> tuple[str, str, str]:
    return WORDS.get(one.name, one.name), _words(one.name, one.a), _words(one.name, one.b)


def _words(name: str, value: Any) -> str:
    if value is None or value == []:
        return "none"
    if name == "verdict":
        return mark_of(Verdict(value)).word
    if name == "termination":
        return ENDINGS[Termination(value)].capitalize()
    if isinstance(value, str):
        return value[:2_000]
    if isinstance(value, list) and all(isinstance(one, str | int) for one in value):
        more = f" and {len(value) - MOST} more" if len(value) > MOST else ""
        return ", ".join(str(one) for one in value[:MOST]) + more
    return json.dumps(value, ensure_ascii=False)[:2_000]


def _side(side: RoundSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "mark": mark_of(side.verdict),
        "reasoning": side.reasoning[:3_000],
        "checked": side.checked[:MOST],
        "more_checked": max(len(side.checked) - MOST, 0),
        "selected": [one.sentence for one in side.selected[:MOST]],
        "more_selected": max(len(side.selected) - MOST, 0),
    }

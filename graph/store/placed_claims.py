"""The claims of a text where they stand in it, and how all claims of a process stand.

Source: VeriTrail 3.2 (what verdicts are about).
"""

from __future__ import annotations

from veritrail_graph.graph.model import Status, Usage, Verdict
from veritrail_graph.graph.model.listed import Outlay, PlacedClaim, Tally
from veritrail_graph.graph.store.database import Database

MOST = 3_000
"""Claims of one part of a text that are read."""


async def claims_in_text(
    database: Database, process_id: str, node_id: str, start: int, end: int
) -> tuple[list[PlacedClaim], bool]:
    """Claims that stand in a part of a text, those whose place is not known, and if all are here.

    Args:
        database: Runs the statement.
        process_id: The process; one that is not ready has no claims.
        node_id: The node.
        start: Where the part begins, in code points.
        end: The offset just behind it.
    """
    rows = await database.read(
        "claims/in_text",
        process_id=process_id,
        node_id=node_id,
        start=start,
        end=end,
        limit=MOST + 1,
    )
    return [_placed(*row) for row in rows[:MOST]], len(rows) <= MOST


async def tally(database: Database, process_id: str) -> Tally:
    """How the claims of a process stand."""
    states: dict[str, int] = {}
    together: dict[tuple[int, ...], int] = {}
    without_stage = indicative = 0
    rows = await database.read("claims/tally", process_id=process_id)
    for state, error_stages, is_indicative, claims in rows:
        states[state] = states.get(state, 0) + claims
        indicative += claims if is_indicative else 0
        if state == Verdict.NOT_FULLY_SUPPORTED.value and not error_stages:
            without_stage += claims
        if error_stages:
            together[tuple(error_stages)] = together.get(tuple(error_stages), 0) + claims
    return Tally(states, together, without_stage, indicative)


async def spent_on(database: Database, process_id: str) -> Outlay:
    """What the verifications of a process came to together."""
    ((verifications, *rest),) = await database.read("process/spent", process_id=process_id)
    calls, cached, tokens_in, cached_in, tokens_out, cost, unpriced, modelled, unmetered = rest
    usage = Usage(
        calls=calls,
        cached_calls=cached,
        input_tokens=tokens_in,
        cached_input_tokens=cached_in,
        output_tokens=tokens_out,
        cost_usd=None if unpriced else cost,
        unpriced_calls=unpriced,
    )
    return Outlay(verifications, usage, modelled, unmetered)


async def nodes_with_claims(
    database: Database, process_id: str, limit: int
) -> list[tuple[str, int]]:
    """The nodes that most claims are about, with how many these are."""
    rows = await database.read("claims/nodes", process_id=process_id, limit=limit)
    return [(node_id, claims) for node_id, claims in rows]


def _placed(
    claim_id: str,
    text: str,
    start: int | None,
    end: int | None,
    also: list[int] | None,
    position: int,
    verdict: str | None,
    indicative: bool | None,
    error_stages: list[int] | None,
    status: str | None,
    error: str | None,
) -> PlacedClaim:
    further = also or []
    return PlacedClaim(
        claim_id,
        text,
        start,
        end,
        tuple(zip(further[::2], further[1::2], strict=True)),
        position,
        Verdict(verdict) if verdict else None,
        bool(indicative),
        tuple(error_stages or ()),
        Status(status) if status else None,
        error,
    )

"""Two runs over all claims: what was gained and lost, what moved, the table and the picture."""

from __future__ import annotations

import csv
import io
from typing import Any

from veritrail_graph.api.app.runs import Change, RunComparison, compared
from veritrail_graph.api.show.runs import comparison_csv, flow_of
from veritrail_graph.graph.store.trails import FoundOfClaim

YES, NO, MAYBE = "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE"


def found(claim_id: str, verdict: str | None, *stages: int, **other: Any) -> FoundOfClaim:
    facts: dict[str, Any] = {
        "claim_id": claim_id,
        "claim": f"=Claim {claim_id}.",
        "verification_id": f"v-{claim_id}",
        "status": "succeeded" if verdict else "failed",
        "verdict": verdict,
        "error_stages": list(stages),
        "run_id": "r",
        "engine": "openai",
        "model": "m",
        "q": 3,
        "indicative": False,
        "created_at": "2026-01-01T00:00:00Z",
        "calls": 2,
        "cost_usd": 0.25,
        "unpriced_calls": 0,
        **other,
    }
    return FoundOfClaim(**facts)


def both() -> RunComparison:
    a = [
        found("k1", YES), found("k2", NO, 2), found("k3", NO, 2), found("k4", MAYBE),
        found("k5", YES), found("k6", YES), found("k7", None),
    ]  # fmt: skip
    b = [
        found("k1", NO, 3), found("k2", YES), found("k3", NO, 3), found("k4", NO, 2),
        found("k5", YES), found("k6", None), found("k7", None), found("k8", YES, cost_usd=None,
                                                                        unpriced_calls=1),
        found("k9", YES, calls=0, cost_usd=None),  # it has a part of the call of k8
    ]  # fmt: skip
    order = {f"k{number}": number for number in range(1, 10)}
    return compared("p", ("r-a", ("run", a)), ("r-b", ("run", b)), order)


def test_every_claim_is_told_by_what_became_of_it() -> None:
    changes = {one.claim_id: one.change for one in both().claims}
    assert changes == {
        "k1": Change.LOST,
        "k2": Change.GAINED,
        "k3": Change.MOVED,
        "k4": Change.OTHER,
        "k5": Change.SAME,
        "k6": Change.ONLY_FIRST,
        "k8": Change.ONLY_SECOND,
        "k9": Change.ONLY_SECOND,
        "k7": Change.NEITHER,
    }
    assert next(iter(changes)) == "k1"  # what was lost comes first
    assert both().changes[Change.LOST] == 1


def test_a_cost_that_is_not_known_is_never_a_number() -> None:
    result = both()
    assert result.a.spent.cost_usd == 1.75
    assert result.b.spent.cost_usd is None
    rows = list(csv.DictReader(io.StringIO(comparison_csv(result))))
    costs = {one["claim_id"]: one["cost_usd_b"] for one in rows}
    assert (costs["k1"], costs["k8"], costs["k9"]) == ("0.25", "", "")
    assert rows[0]["claim"] == "'=Claim k1."  # no formula for a spreadsheet


def test_the_picture_holds_every_claim_with_two_verdicts() -> None:
    flow = flow_of(both().pairs)
    assert flow is not None
    assert flow.total == 5 == sum(band.claims for band in flow.bands)
    assert [band.differs for band in flow.bands].count(False) == 2  # k3 and k5
    assert sum(block.claims for block in flow.left) == sum(block.claims for block in flow.right)
    assert flow_of({YES: {YES: 0}}) is None

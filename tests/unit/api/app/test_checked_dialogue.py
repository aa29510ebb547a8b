"""What a check tells of the turns of a dialogue."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fakes.dialogues import gold_run

from veritrail_graph.api.app.checked_dialogue import (
    CheckedClaims,
    checked_turns,
    dialogue_request,
    failures_of_turns,
)
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.show.findings import counts_words, finding_lines, plain
from veritrail_graph.graph.model import NodeRef, Status
from veritrail_graph.graph.model.conversation import ClaimPlace
from veritrail_graph.graph.model.dialogue import DialogueRun, TurnVerification
from veritrail_graph.graph.model.finding import FindingCounts


class Graph:
    """A graph of turns that came with a document, but for some.

    Args:
        run: What was found of the turns.
        bare: Turns without a document.
    """

    def __init__(self, run: DialogueRun, bare: Sequence[str] = ()) -> None:
        self.bare = {f"turn/{name}" for name in bare}
        self.said = {
            claim.claim_id: ClaimPlace(claim.claim_id, claim.claim, f"turn/{turn.turn_id}", 1)
            for turn in run.turns
            for claim in turn.claims
        }
        self.dialogues = self.nodes = self

    async def documents(self, _name: str, nodes: Sequence[str]) -> dict[str, tuple[NodeRef, ...]]:
        return {name: (NodeRef.named("document/d"),) for name in nodes if name not in self.bare}

    async def places(self, _name: str, claims: Sequence[str]) -> dict[str, ClaimPlace]:
        return {name: self.said[name] for name in claims}

    async def with_metadata(self, _name: str, _nodes: Sequence[str]) -> list[Any]:
        return []


def checked(run: DialogueRun, bare: Sequence[str] = ()) -> CheckedClaims:
    process = SimpleNamespace(process_id=run.dialogue_id, stage_names={})
    return asyncio.run(checked_turns(cast("Any", Graph(run, bare)), cast("Any", process), run))


@pytest.fixture(scope="module")
def gold() -> DialogueRun:
    """What a careful reader finds: a person, so the run is not indicative."""
    return gold_run().model_copy(update={"indicative": False})


def test_contradicted_and_unsupported_claims_are_findings_and_have_no_verdict(
    gold: DialogueRun,
) -> None:
    found = checked(gold)
    counts = FindingCounts.of(found.results)
    assert counts_words(counts, len(found.results)) == (
        "30 claims: 5 wrong, 19 right, 5 out of scope, 1 abstention"
    )
    assert {one.verdict for one in (*found.results, *found.wrong)} == {None}
    contradicted = next(one for one in found.wrong if one.source is not None)
    lines = [plain(line) for line in finding_lines(contradicted)]
    assert lines[:4] == [
        "✗ The Lindholm Tram Museum is open on Mondays.",
        "    contradicted in  turn/t24",
        "    source  turn/t4  The Lindholm Tram Museum is *closed* on Mondays.",
        "    wrote            The Lindholm Tram Museum is *open* on Mondays.",
    ]
    assert contradicted.culprit is None


def test_what_words_alone_do_not_find_and_what_no_document_could_say_is_undecided(
    gold: DialogueRun,
) -> None:
    by_words = FindingCounts.of(checked(gold.model_copy(update={"indicative": True})).results)
    assert (by_words.wrong, by_words.LACKING_EVIDENCE, by_words.undecided) == (2, 0, 3)
    turn = gold.turns[0]
    open_ = turn.claims[0].replace(
        status=Status.UNDECIDED, category=None, label=None, reason="words do not tell"
    )
    of_now = gold.model_copy(update={"turns": (turn.replace(claims=(open_,)),)})
    (one,) = checked(of_now).results
    assert (one.status, one.category, one.reason) == (Status.UNDECIDED, None, "words do not tell")
    bare = [turn.turn_id for turn in gold.turns]
    found = checked(gold, bare)
    assert FindingCounts.of(found.results).undecided == 3
    (reason,) = {one.reason for one in found.results if one.is_undecided}
    assert reason is not None
    assert reason.startswith("No document came with its turn")


def test_a_turn_that_failed_before_it_had_claims_is_a_failure_and_named_once_for_a_reason(
    gold: DialogueRun,
) -> None:
    lost = [
        TurnVerification(turn_id=name, status=Status.OVER_BUDGET, error="the budget is spent")
        for name in ("t8", "t10")
    ]
    run = gold.model_copy(update={"turns": (gold.turns[0], *lost)})
    ((where, error),) = failures_of_turns("log.json", run)
    assert (where, str(error)) == ("log.json, turn t8 and 1 more", "the budget is spent")


def test_a_job_of_turns_is_asked_with_the_options_of_the_check() -> None:
    asked = VerifyRequest(process_id="d", model="m", budget_usd=0.5, again=True)
    request = dialogue_request(asked)
    assert (request.dialogue_id, request.model, request.budget_usd) == ("d", "m", 0.5)

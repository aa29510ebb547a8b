"""Dialogues without a model: what words alone can tell."""

from __future__ import annotations

import asyncio

import pytest
from fakes.dialogues import TextInMemory, document, sample_dialogue
from fakes.judging import SPLITTER

from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    DialogueLabel,
    Speaker,
    Turn,
    TurnVerification,
)
from veritrail_graph.verifier.dialogue.background import Fact, Remembered
from veritrail_graph.verifier.dialogue.lexical import LexicalDialogueJudge
from veritrail_graph.verifier.dialogue.port import NO_HISTORY, TurnMaterial
from veritrail_graph.verifier.dialogue.vista import Vista
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import JudgeError

JUDGE = LexicalDialogueJudge(SPLITTER.split)
HOURS = document("hours", "The museum is open from ten to five. It is closed on Mondays.")
SAID = Remembered((Fact("The tower is 80 metres high.", "turn/t2", "c-1"),))


def category(claim: str, material: TurnMaterial) -> ClaimCategory | None:
    async def found() -> ClaimCategory | None:
        said = await JUDGE.verify(claim, material, Meter())
        if said.label is DialogueLabel.VERIFIED:
            return ClaimCategory.VERIFIED
        if said.label is None:
            return None
        return (await JUDGE.categorise(claim, material, Meter())).category

    return asyncio.run(found())


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The museum is open from ten to five.", ClaimCategory.VERIFIED),
        ("The tower is 80 metres high.", ClaimCategory.VERIFIED),
        ("The tower is 90 metres high.", ClaimCategory.CONTRADICTED),
        ("The museum director is open from ten to five.", None),
        ("The old tower is at most 90 metres high.", None),
        ("I don't know when it was built.", ClaimCategory.ABSTENTION),
        ("I'm not sure about the price.", ClaimCategory.ABSTENTION),
        ("I cannot help with that.", ClaimCategory.ABSTENTION),
        ("I love old towers.", ClaimCategory.OUT_OF_SCOPE),
        ("I'd recommend the old tower.", ClaimCategory.OUT_OF_SCOPE),
        ("Welcome to the museum.", ClaimCategory.OUT_OF_SCOPE),
        ("On Mondays we are closed.", None),
        ("Our tower has a beautiful view.", None),
        ("I love that the lift dates from 1998.", None),
        ("The harbour was dredged in 1998.", None),
    ],
)
def test_a_claim_gets_a_category_where_words_tell_it(
    claim: str, expected: ClaimCategory | None
) -> None:
    assert category(claim, TurnMaterial((HOURS,), SAID)) is expected


def test_a_contradiction_names_the_fact_that_says_otherwise() -> None:
    found = asyncio.run(
        JUDGE.categorise("The tower is 90 metres high.", TurnMaterial((HOURS,), SAID), Meter())
    )
    assert [one.claim_id for one in found.contradicted] == ["c-1"]


def test_sentences_that_state_something_are_the_claims() -> None:
    text = "It opens at ten. Do you like it? It opens at ten."
    turn = Turn(turn_id="t", role=Speaker.ASSISTANT, text=text)
    found = asyncio.run(JUDGE.extract(turn, NO_HISTORY, Meter()))
    assert found.claims == ("It opens at ten.",)


def test_turns_are_not_checked_as_a_whole() -> None:
    turn = Turn(turn_id="t", role=Speaker.ASSISTANT, text="x")
    with pytest.raises(JudgeError):
        asyncio.run(JUDGE.check(turn, NO_HISTORY, Meter()))


def test_the_sample_runs_through() -> None:
    async def all_turns() -> list[TurnVerification]:
        text = TextInMemory(sample_dialogue())
        return [one async for _, one, _ in Vista(JUDGE).dialogue(text)]

    found = asyncio.run(all_turns())
    assert len(found) == 15
    assert not any(one.error for one in found)
    claims = [claim for turn in found for claim in turn.claims]
    assert {one.label for one in claims if one.status is Status.UNDECIDED} == {None}
    assert ClaimCategory.LACKING_EVIDENCE not in {one.category for one in claims}
    assert JUDGE.indicative

"""Turns that only their conversation makes verifiable: six cases like that of VISTA H.

Single-turn checkers call each of them unverifiable. With the history, extraction resolves what a
word stands for, and the claim is verified by the document of the turn, or by the background.

Source: VISTA H, D.2 (category 5).
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from fakes.asking import ScriptedAsking
from fakes.dialogue_prompts import ShownDialogue
from fakes.dialogues import TextInMemory

from veritrail_graph.graph.model.dialogue import (
    Dialogue,
    DialogueDocument,
    DialogueLabel,
    Speaker,
    Turn,
    TurnVerification,
)
from veritrail_graph.verifier.dialogue.prompted import PromptedDialogueJudge
from veritrail_graph.verifier.dialogue.vista import Ablations, Vista
from veritrail_graph.verifier.models.port import Request, Step
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import load_prompts


@dataclass(frozen=True)
class Case:
    """A conversation whose last turn needs it.

    Attributes:
        before: The turns before the last two, as the assistant's and the user's in turn.
        turn: The last turn.
        document: Its document.
        needed: What the history must show.
        claim: The claim when it does.
        bare: The claim when it does not.
    """

    before: tuple[str, ...]
    turn: str
    document: str
    needed: str
    claim: str
    bare: str


CASES = {
    "a band that is only described": Case(
        ("I adore the Lanterns! The Lanterns are a duo of DJs from Ghent.", "Never heard of them!"),
        "Well, the electro-pop duo broke through in 2014 with Mirrorball.",
        "The Lanterns: the electro-pop duo broke through in 2014 with Mirrorball.",
        "Lanterns",
        "The Lanterns broke through in 2014 with Mirrorball.",
        "An electro-pop duo broke through in 2014 with Mirrorball.",
    ),
    "a pronoun": Case(
        ("Vera Holm painted glass in Lindholm.", "What happened to her kiln?"),
        "It burnt in 1930, and she closed the studio.",
        "The kiln of Vera Holm burnt in 1930. She closed the studio.",
        "kiln",
        "The kiln of Vera Holm burnt in 1930.",
        "Something burnt in 1930.",
    ),
    "a place that was named before": Case(
        ("The Weissensee lies at 930 metres.", "Is it good for swimming?"),
        "Yes, in July the water there reaches 24 degrees.",
        "In July the water of the Weissensee reaches 24 degrees.",
        "Weissensee",
        "In July the water of the Weissensee reaches 24 degrees.",
        "In July the water of some lake reaches 24 degrees.",
    ),
    "an answer of one word": Case(
        ("Cork oaks grow around the Mediterranean.", "Does the harvest kill the cork oak?"),
        "No.",
        "The harvest does not harm the cork oak.",
        "harvest kill the cork oak",
        "The harvest does not kill the cork oak.",
        "The answer is no.",
    ),
    "the second of two": Case(
        ("There are two ferries, the Gull and the Tern.", "Which one takes cars?"),
        "The latter takes twelve.",
        "The Tern takes twelve cars, the Gull takes none.",
        "the Tern",
        "The Tern takes twelve cars.",
        "The latter takes twelve.",
    ),
    "what the assistant said before": Case(
        ("The tram museum is closed on Mondays.", "And today, on Monday?"),
        "As I said, not today.",
        "",
        "closed on Mondays",
        "The tram museum is closed on Mondays.",
        "Something is not the case today.",
    ),
}

PROMPTS = load_prompts()


def verified(case: Case, ablations: Ablations) -> TurnVerification:
    """The last turn of a case, verified by a model that reads what it is shown."""
    first, question = case.before
    said = [first, question, case.turn]
    roles = [Speaker.ASSISTANT, Speaker.USER, Speaker.ASSISTANT]
    documents = [("first",), (), ("last",) if case.document else ()]
    dialogue = Dialogue(
        documents=(
            DialogueDocument(document_id="first", text=first),
            DialogueDocument(document_id="last", text=case.document),
        ),
        turns=tuple(
            Turn(turn_id=f"t{place}", role=role, text=text, documents=names)
            for place, (role, text, names) in enumerate(
                zip(roles, said, documents, strict=True), start=1
            )
        ),
    )

    def answer(request: Request) -> str:
        return json.dumps(reply(case, request.call.step, ShownDialogue.of(request.user)))

    asking = ScriptedAsking(answer)
    judge = PromptedDialogueJudge(
        "openai",
        PromptedStep(PROMPTS[Step.DIALOGUE_EXTRACTION], asking),
        PromptedStep(PROMPTS[Step.DIALOGUE_VERIFICATION], asking),
        PromptedStep(PROMPTS[Step.DIALOGUE_CATEGORISATION], asking),
    )

    async def last() -> TurnVerification:
        vista = Vista(judge, ablations)
        turns = [one async for _, one, _ in vista.dialogue(TextInMemory(dialogue))]
        return turns[-1]

    return asyncio.run(last())


def reply(case: Case, step: str, shown: ShownDialogue) -> Any:
    """What a careful model answers, from what its prompt shows alone."""
    if step == Step.DIALOGUE_EXTRACTION:
        if shown.turn != case.turn:
            return {"claims": [shown.turn]}
        is_clear = any(case.needed in text for _, text in shown.history)
        return {"claims": [case.claim if is_clear else case.bare]}
    if step == Step.DIALOGUE_CATEGORISATION:
        return {"category": "LACKING_EVIDENCE", "reason": "Too little.", "background_ids": []}
    material = " ".join((*shown.excerpts, *shown.background))
    words = {word.strip(".,").casefold() for word in shown.claim.split()}
    held = {word.strip(".,:").casefold() for word in material.split()}
    is_bare = shown.claim == case.bare
    label = "VERIFIED" if not is_bare and len(words & held) >= 0.6 * len(words) else "UNVERIFIABLE"
    return {"label": label, "reason": "As the excerpts say."}


@pytest.mark.parametrize("name", CASES)
def test_the_conversation_makes_the_turn_verifiable(name: str) -> None:
    found = verified(CASES[name], Ablations())
    assert found.label is DialogueLabel.VERIFIED, found.claims
    assert [one.claim for one in found.claims] == [CASES[name].claim]


@pytest.mark.parametrize("name", CASES)
def test_without_its_history_the_turn_is_unverifiable(name: str) -> None:
    found = verified(CASES[name], Ablations(history=False))
    assert found.label is DialogueLabel.UNVERIFIABLE
    assert [one.claim for one in found.claims] == [CASES[name].bare]


def test_what_was_said_before_verifies_where_no_document_is_given() -> None:
    case = CASES["what the assistant said before"]
    assert verified(case, Ablations()).label is DialogueLabel.VERIFIED
    without = verified(case, Ablations(background=False))
    assert without.label is DialogueLabel.UNVERIFIABLE

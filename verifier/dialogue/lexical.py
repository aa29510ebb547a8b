"""Dialogues without a model: sentences as claims, compared by their words. Indicative only.

Nothing is resolved: what "it" stands for stays unknown, so that fewer claims are verified than a
model verifies.

Source: VISTA 3 (what is asked); the method is ours.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import NodeRef
from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel, Turn, TurnCheck
from veritrail_graph.verifier.attribution.attributor import Attribution
from veritrail_graph.verifier.attribution.lexical import attribution
from veritrail_graph.verifier.dialogue.port import (
    Categorised,
    Extracted,
    History,
    Labelled,
    TurnMaterial,
)
from veritrail_graph.verifier.engines.lexical import ByWords
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import JudgeError, ReadNode, Split, SplitNode

VERSION = 5
"""Goes up when the same texts may get other categories."""

_NOT_SAID = (
    "Nothing that was shown says so in these words; whether it says so in others cannot be told "
    "without a model."
)
_WORD = re.compile(r"[^\W_]")
_ABSTAINS = re.compile(
    r"\b(?:(?:do|does|did|can|could|will|am|are|is)(?:n['\u2019]t| not)|cannot|[\u2019']m not)"
    r" (?:\w+ ){0,2}?(?:know|sure|certain|say|tell|help|answer|assist|aware|remember)\b"
    r"|\b(?:unable to|no idea|unsure|uncertain)\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?-i:I)(?:['\u2019](?:d|m|ve))? (?:\w+ )?"
    r"(?:love|like|enjoy|prefer|hope|wish|adore|hate|happy|glad|sorry|recommend|suggest)\b"
    r"|\byou should\b"
    r"|^\W*(?:(?:you(?:['\u2019]re| are) )?welcome|hello|hi|thanks|thank you|sorry|enjoy)\b",
    re.IGNORECASE,
)
"""Feelings, advice and greetings. Who says "we" or "my" may state a fact."""


@dataclass(frozen=True, slots=True)
class LexicalDialogueJudge(ByWords):
    """A `DialogueJudge` by overlap of words, numbers and names.

    Attributes:
        split: Splits a text into sentences.
    """

    split: Split

    version = VERSION

    async def extract(self, turn: Turn, history: History, meter: Meter) -> Extracted:
        """The sentences of the turn that are no questions, each once."""
        del history, meter
        sentences = await asyncio.to_thread(self.split, turn.node_id, turn.text)
        texts = (" ".join(one.text.split()) for one in sentences)
        stated = (text for text in texts if _WORD.search(text) and not text.endswith("?"))
        return Extracted(tuple(dict.fromkeys(stated)))

    def fit(self, claims: Sequence[str], material: TurnMaterial) -> TurnMaterial:
        """All of it."""
        del claims
        return material

    async def verify(self, claim: str, material: TurnMaterial, meter: Meter) -> Labelled:
        """Verified where a sentence of the reference, or a fact, says it in the same words.

        Words decide that it is not where they give the category, too. Of all else they cannot
        tell: the same may be said in other words.
        """
        del meter
        found = await self._compare(claim, material)
        is_said = found.by_words is Faithfulness.FAITHFUL and not _ABSTAINS.search(claim)
        if is_said and found.sentences:
            said = found.sentences[0]
            reason = f"{said.node_id} says so: {said.text}"
            return Labelled(DialogueLabel.VERIFIED, reason, material)
        why = _category(claim, found, material)
        if why is None:
            return Labelled(None, _NOT_SAID, material)
        return Labelled(DialogueLabel.UNVERIFIABLE, why.reason, material)

    async def categorise(self, claim: str, material: TurnMaterial, meter: Meter) -> Categorised:
        """By turns of phrase, and by a sentence that says it otherwise in one place.

        Raises:
            JudgeError: Words do not tell.
        """
        del meter
        why = _category(claim, await self._compare(claim, material), material)
        if why is None:
            raise JudgeError(_NOT_SAID)
        return why

    async def check(self, turn: Turn, history: History, meter: Meter) -> TurnCheck:
        """Turns as a whole are not checked without a model.

        Raises:
            JudgeError: Always.
        """
        raise JudgeError("the engine lexical does not check turns as a whole")

    async def _compare(self, claim: str, material: TurnMaterial) -> Attribution:
        facts = [
            self._node(_fact_node(number), one.text) for number, one in enumerate(_facts(material))
        ]
        return await asyncio.to_thread(attribution, claim, (*material.reference, *facts))

    def _node(self, node_id: str, text: str) -> ReadNode:
        return SplitNode(NodeRef.named(node_id), text, self.split(node_id, text))


def _category(claim: str, found: Attribution, material: TurnMaterial) -> Categorised | None:
    """The category of an unverified claim; None: words do not tell."""
    if _ABSTAINS.search(claim):
        reason = "It says that something is not known, or refuses."
        return Categorised(ClaimCategory.ABSTENTION, reason, material)
    against = [
        one for one in found.sentences if AttributionCategory.CONTRADICTION in one.categories
    ]
    if against and found.by_words is Faithfulness.UNFAITHFUL:
        numbers = {_fact_node(number): number for number in range(len(_facts(material)))}
        denied = (numbers.get(one.node_id) for one in against)
        facts = tuple(_facts(material)[number] for number in denied if number is not None)
        reason = f"It says otherwise: {against[0].text}"
        return Categorised(ClaimCategory.CONTRADICTED, reason, material, facts)
    if _PERSONAL.search(claim) and not any(one.isdigit() for one in claim):
        return Categorised(ClaimCategory.OUT_OF_SCOPE, "It sounds personal.", material)
    return None


def _facts(material: TurnMaterial) -> Sequence[Any]:
    return material.remembered.facts


def _fact_node(number: int) -> str:
    return f"background {number}"

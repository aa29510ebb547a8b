"""Dialogues in tests: the sample, its gold file, and a model that answers from it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fakes.dialogue_prompts import ShownDialogue
from fakes.judging import SPLITTER
from fakes.settings_of import settings_of

from veritrail_graph.api.configured.graph_connection import open_graph
from veritrail_graph.graph.importers.dialogue import process_of, read_dialogue
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import NodeRef
from veritrail_graph.graph.model.dialogue import Dialogue, DialogueRun, Turn, TurnVerification
from veritrail_graph.graph.store.dialogues import RunOfTurns
from veritrail_graph.verifier.dialogue.background import Fact
from veritrail_graph.verifier.ports import ReadNode, SplitNode

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAMPLE = EXAMPLES / "lindholm-dialogue.json"
GOLD = EXAMPLES / "lindholm-dialogue.gold.json"

UNRESOLVED = {
    "She sold it to the town in 1931.": (
        "She sold it to the town in 1931.",
        "Who sold what is not known.",
        "Vera Holm",
    ),
}
"""By the text of a turn: its claim where the history does not name somebody."""


@cache
def sample_dialogue() -> Dialogue:
    """The sample."""
    return read_dialogue(json.loads(SAMPLE.read_text(encoding="utf-8")))


@cache
def gold_run() -> DialogueRun:
    """What a careful reader finds in the sample."""
    return DialogueRun.model_validate_json(GOLD.read_bytes())


@dataclass
class DialogueReader:
    """Answers the steps of dialogues as the gold file says; a `Reader` of the scripted server.

    A claim is verified where the material that the gold file was made with is shown: without
    excerpts and background it is not. A contradiction needs the line that it contradicts.

    Attributes:
        answers: An answer by the text of a turn or a claim, in place of what the gold file says;
            an exception is raised.
    """

    answers: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, step: str, system: str, user: str, request: Any) -> Any:
        """Answer one request."""
        shown = ShownDialogue.of(user)
        text = shown.turn or shown.claim
        if (found := self.answers.get(text)) is not None:
            if isinstance(found, Exception):
                raise found
            return found
        return getattr(self, f"_{step.removeprefix('dialogue_')}")(shown)

    def _extraction(self, shown: ShownDialogue) -> Any:
        claim, _, needed = UNRESOLVED.get(shown.turn, ("", "", ""))
        if claim and not any(needed in text for _, text in shown.history):
            return {"claims": [claim]}
        turns = {turn.text: turn.turn_id for turn in sample_dialogue().turns}
        found = {one.turn_id: one.claims for one in gold_run().turns}
        return {"claims": [one.claim for one in found[turns[shown.turn]]]}

    def _verification(self, shown: ShownDialogue) -> Any:
        claim = _gold_claims().get(shown.claim)
        has_material = bool(shown.excerpts or shown.background)
        is_verified = claim is not None and claim["category"] == "VERIFIED" and has_material
        reason = claim["reason"] if claim is not None else "Nothing says so."
        return {"label": "VERIFIED" if is_verified else "UNVERIFIABLE", "reason": reason}

    def _categorisation(self, shown: ShownDialogue) -> Any:
        claim = _gold_claims().get(shown.claim, {})
        category = claim.get("category", "LACKING_EVIDENCE")
        texts = {one["claim_id"]: one["claim"] for one in _gold_claims().values()}
        denied = [texts[name] for name in claim.get("contradicts", ())]
        ids = [shown.background.index(text) for text in denied if text in shown.background]
        if category == "VERIFIED" or (category == "CONTRADICTED" and not ids):
            category = "LACKING_EVIDENCE"
        reason = claim.get("reason", "Nothing says so.")
        return {"category": category, "reason": reason, "background_ids": ids}

    def _factscore_extraction(self, shown: ShownDialogue) -> Any:
        return self._extraction(shown)

    def _factscore_verification(self, shown: ShownDialogue) -> Any:
        return self._verification(shown)

    def _judge(self, shown: ShownDialogue) -> Any:
        turns = {turn.text: turn.turn_id for turn in sample_dialogue().turns}
        labels = {one.turn_id: one.label for one in gold_run().turns}
        is_faithful = bool(shown.excerpts) and labels[turns[shown.turn]] == "VERIFIED"
        label = "FAITHFUL" if is_faithful else "HALLUCINATED"
        return {"label": label, "reason": f"{len(shown.excerpts)} lines were shown."}

    def _turn_check(self, shown: ShownDialogue) -> Any:
        claims = [one for one in _gold_claims().values() if one["contradicts"]]
        turns = {turn.text: turn.turn_id for turn in sample_dialogue().turns}
        mine = turns.get(shown.turn)
        for run_turn in gold_run().turns:
            if run_turn.turn_id == mine and any(one.contradicts for one in run_turn.claims):
                earlier = "I have never left Lindholm" if "Lisbon" in shown.turn else "On Mondays"
                return {"contradiction": True, "quotes": [shown.turn, earlier]}
        assert claims
        return {"contradiction": False, "quotes": []}


@cache
def _gold_claims() -> dict[str, dict[str, Any]]:
    """The claims of the gold file by their texts."""
    return {claim.claim: claim.json_object() for turn in gold_run().turns for claim in turn.claims}


def store_found(
    environ: Mapping[str, str], dialogue: Dialogue, found: Sequence[TurnVerification]
) -> None:
    """Store a dialogue with what a run found of its turns."""

    async def work() -> None:
        async with open_graph(settings_of(environ)) as store:
            process_id = dialogue.dialogue_id or ""
            content_hash = (await ingest(store, process_of(dialogue))).survey.hash
            run = RunOfTurns(
                process_id, content_hash, f"r-{process_id}", "openai", "m", False,
                "2026-01-01T12:00:00.000000Z", "{}",
            )  # fmt: skip
            turns = {one.turn_id: one for one in dialogue.turns}
            claims = {one.claim_id: one.claim for turn in found for one in turn.claims}
            for one in found:
                quotes = {
                    (claim.claim_id, name): (claim.claim[:80], claims[name][:80])
                    for claim in one.claims
                    for name in claim.contradicts
                }
                position = await store.dialogues.next_position(process_id)
                await store.dialogues.write(run, turns[one.turn_id], one, quotes, position)

    asyncio.run(work())


@dataclass
class TextInMemory:
    """A `DialogueText` in memory.

    Attributes:
        dialogue: The dialogue.
        read: node_ids of the documents that were read, in their order.
    """

    dialogue: Dialogue
    read: list[str] = field(default_factory=list)

    @property
    def turns(self) -> Sequence[Turn]:
        """Its turns."""
        return self.dialogue.turns

    @property
    def knowledge(self) -> Sequence[Fact]:
        """Its initial knowledge."""
        return [
            Fact(text, f"knowledge/{number}")
            for number, text in enumerate(self.dialogue.initial_knowledge)
        ]

    async def reference(self, turn: Turn) -> Sequence[ReadNode]:
        """The documents of a turn."""
        self.read += turn.documents
        texts = {one.document_id: one.text for one in self.dialogue.documents}
        return [document(name, texts[name]) for name in turn.documents]


def document(name: str, text: str) -> ReadNode:
    """A document as it is read."""
    node_id = f"document/{name}"
    return SplitNode(NodeRef.named(node_id), text, SPLITTER.split(node_id, text))


def by_sentences(step: str, _system: str, user: str, _request: Any) -> Any:
    """Answers the steps of dialogues about any text; for measurements.

    Each sentence of a turn is a claim. One that begins with `I ` is out of scope, any other is
    verified; no turn contradicts another.
    """
    shown = ShownDialogue.of(user)
    if step == "dialogue_extraction":
        return {"claims": [f"{one.strip().rstrip('.')}." for one in shown.turn.split(". ")]}
    if step == "dialogue_verification":
        label = "UNVERIFIABLE" if shown.claim.startswith("I ") else "VERIFIED"
        return {"label": label, "reason": "By its first word."}
    if step == "dialogue_turn_check":
        return {"contradiction": False, "quotes": []}
    return {"category": "OUT_OF_SCOPE", "reason": "By its first word.", "background_ids": []}

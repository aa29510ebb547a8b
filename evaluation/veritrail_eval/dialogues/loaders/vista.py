"""The release of VISTA: conversations with claims that people labelled, and its input files.

Source: VISTA 5, 8 (140 conversations); the layout is that of the project's repository.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from veritrail_eval.datasets.loaders.building import Filled, RowModel
from veritrail_eval.dialogues.gold import LabelledTurnClaim, label_of
from veritrail_eval.dialogues.loaders.building import (
    DialogueBuilding,
    DialogueSet,
    Said,
    label_of_support,
)
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.model.dialogue import ClaimCategory, DialogueLabel

NO_DOCUMENT = "N/A"
ASSISTANTS = frozenset({"assistant", "wizard", "agent", "bot"})
USERS = frozenset({"user", "apprentice", "seeker", "human"})
_WORDS: Mapping[str, ClaimCategory] = {
    "verifiable": ClaimCategory.VERIFIED,
    "verified": ClaimCategory.VERIFIED,
    **{one.value.replace("_", " ").casefold(): one for one in ClaimCategory},
}
_LABELS = {"faithful": True, "hallucinated": False}


def _category(value: Any) -> ClaimCategory:
    words = " ".join(value.replace("-", " ").replace("_", " ").split()) if _text(value) else ""
    if words.casefold() not in _WORDS:
        raise PydanticCustomError("category", "is none of " + ", ".join(sorted(_WORDS)))
    return _WORDS[words.casefold()]


def _label(value: Any) -> DialogueLabel | None:
    if value is None:
        return None
    known = _LABELS.get(value.strip().casefold()) if _text(value) else None
    if known is None:
        raise PydanticCustomError("label", "is neither faithful nor hallucinated")
    return label_of_support(is_supported=known)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _role(role: str) -> str:
    if role.casefold() not in ASSISTANTS | USERS:
        raise PydanticCustomError("role", "is none of " + ", ".join(sorted(ASSISTANTS | USERS)))
    return role.casefold()


_Label = Annotated[DialogueLabel | None, BeforeValidator(_label)]


class _Claim(RowModel):
    claim_text: Filled
    human_judgement: Annotated[ClaimCategory, BeforeValidator(_category)]


class _Turn(RowModel):
    role: Annotated[str, AfterValidator(_role)]
    utterance: str
    retrieved_document: str | None = None
    human_claims: list[_Claim] | None = None
    original_dataset_label: _Label = None
    label: _Label = None
    gold_label: _Label = None
    conversation_id: int | str | None = None
    dataset: str | None = None


class VistaLoader:
    """Reads what VISTA released: conversations as lists of turns."""

    name = "vista"
    description = "VISTA: conversations with labelled turns and claims, or its input files"
    layout = "a JSON file: a list of conversations, each a list of turns (role, utterance, …)"
    source = "github.com/ashleylew/VISTA, data"

    def detect(self, path: Path) -> str | None:
        """By the keys of the first turn."""
        first = files.first_record(path) if path.is_file() else None
        turn = first[0] if isinstance(first, list) and first else None
        if not isinstance(turn, dict) or not {"role", "utterance"} <= turn.keys():
            return "it is no list of lists of turns with role and utterance"
        return None

    def load(self, path: Path, *, skip_bad: bool = False) -> DialogueSet:
        """Read it.

        Raises:
            InputError: It cannot be read; the message names the conversation, the turn and the key.
        """
        building = DialogueBuilding(path, self.name, skip_bad=skip_bad)
        for number, value in files.values(path):
            where = f"entry {number}"
            if not isinstance(value, list):
                building.fault(where, "", "must be a list of turns", "wrong_type")
                continue
            turns = [
                building.check(_Turn, turn, f"{where}, turn {place}")
                for place, turn in enumerate(value, 1)
            ]
            known = [turn for turn in turns if turn is not None]
            if len(known) == len(turns):
                _add(building, known, where, number)
        return building.finish(
            "VISTA",
            description="Conversations of four data sets, with claims labelled by three people.",
            licence="none named (the data sets that it takes from: CC BY 4.0, MIT and others)",
        )


def _add(building: DialogueBuilding, turns: Sequence[_Turn], where: str, number: int) -> None:
    named = next((one for one in turns if one.conversation_id is not None), None)
    key = str(number) if named is None else f"{named.dataset or ''}-{named.conversation_id}"
    key = f"vista-{key.strip('-')}"
    said = [_said(building, turn) for turn in turns]
    if not any(one.is_labelled for one in said):
        building.count("conversation without a label: left out")
        return
    building.dialogue(f"{key}-{number}" if building.has(key) else key, said, where)


def _said(building: DialogueBuilding, turn: _Turn) -> Said:
    is_assistant = turn.role in ASSISTANTS
    document = (turn.retrieved_document or "").strip()
    claims = None
    if turn.human_claims is not None:
        claims = [
            LabelledTurnClaim(claim=one.claim_text, category=one.human_judgement)
            for one in turn.human_claims
        ]
        if turn.gold_label is not None and turn.gold_label is not label_of(claims):
            building.count(
                "turn whose gold_label counts claims out of scope and abstentions as faithful: the "
                "claims decide"
            )
    return Said(
        turn.utterance,
        is_assistant,
        documents=[document] if is_assistant and document not in ("", NO_DOCUMENT) else [],
        label=(turn.original_dataset_label or turn.label) if is_assistant else None,
        claims=claims if is_assistant else None,
        metadata={"dataset": turn.dataset} if turn.dataset else {},
    )

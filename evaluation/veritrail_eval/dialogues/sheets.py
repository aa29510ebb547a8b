"""Sheets for people who label the claims of turns: each keeps, edits, deletes and adds claims.

Each annotator gets a folder for each dialogue, with `claims.xlsx` and `dialogue.docx`. Claims are
shown without categories: an annotator who saw those of a method might repeat them.

Source: VISTA 5, C.2 (the interface), in our words.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from veritrail_eval.annotation.articles import write_parts
from veritrail_eval.annotation.writing import (
    LIST,
    HandedOut,
    checked_annotators,
    refuse_filled,
)
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    TurnKey,
    read_gold,
)
from veritrail_eval.workbook import (
    add_choices,
    fill_locked,
    new_workbook,
    write_help,
)
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.dialogue import DialogueImporter, read_dialogue
from veritrail_graph.graph.model.dialogue import ClaimCategory, Dialogue, Speaker
from veritrail_graph.graph.model.noun import Count, Many, Noun, PublicId, Text

FORMAT = "veritrail.dialogue-sheets/1"
SHEET_FILE, TEXT_FILE = "claims.xlsx", "dialogue.docx"
CLAIMS_SHEET = "Claims"
SPARE = 6
"""Rows of a turn for claims that an annotator adds."""

COLUMNS = ("Turn", "Claim no.", "Claim", "What to do", "Edited or new claim", "Label", "Notes")
TURN, NUMBER, CLAIM, ACTION, NEW, LABEL, NOTES = COLUMNS
_WIDTHS = (10, 8, 60, 14, 60, 18, 40)


class Action(StrEnum):
    """An annotator's action on a claim, or answer about a turn. Source: VISTA C.2."""

    KEEP = "keep"
    EDIT = "edit"
    DELETE = "delete"
    ADD = "add"
    NO_CLAIMS = "no claims"


LABEL_WORDS: Mapping[ClaimCategory, str] = {
    ClaimCategory.VERIFIED: "Verifiable",
    ClaimCategory.CONTRADICTED: "Contradicted",
    ClaimCategory.LACKING_EVIDENCE: "Lacking evidence",
    ClaimCategory.OUT_OF_SCOPE: "Out of scope",
    ClaimCategory.ABSTENTION: "Abstention",
}
"""The five labels of a sheet, in the paper's order. Source: VISTA 5."""

_BY_WORDS = {
    name.casefold(): category
    for category, words in LABEL_WORDS.items()
    for name in (words, category.value, category.value.replace("_", " "))
}


def category_of(text: str) -> ClaimCategory | None:
    """The label that words of a sheet mean, or a label's own name; None: none."""
    return _BY_WORDS.get(" ".join(text.split()).casefold())


_INSTRUCTIONS: tuple[tuple[str, str], ...] = (
    ("heading", "What to do"),
    (
        "text",
        "dialogue.docx of the same folder holds the conversation and the documents of each turn. "
        "The sheet Claims lists claims that were taken out of the assistant's turns, by the id of "
        "the turn. Go through the claims of a turn, one after the other, and fill in the columns D "
        "to G. Save the file under its name and send the whole folder back.",
    ),
    ("heading", f"Column D, {ACTION}: choose from the list"),
    ("text", f"{Action.KEEP}: the turn says this, and it can be understood without the turn."),
    (
        "text",
        f"{Action.EDIT}: the turn says something near to it. Write what it says into column E.",
    ),
    ("text", f"{Action.DELETE}: the turn does not say this, or another claim says it already."),
    (
        "text",
        f"{Action.ADD}: in an empty row of the turn. Write a claim that is missing into column E; "
        "what the turn takes for granted, opinions and refusals are claims, too.",
    ),
    ("text", f"{Action.NO_CLAIMS}: in an empty row of a turn that makes no claim at all."),
    ("heading", f"Column F, {LABEL}: for each claim that you keep, edit or add"),
    (
        "text",
        f"{LABEL_WORDS[ClaimCategory.VERIFIED]}: the documents of the turn, or what the assistant "
        "established in earlier turns, say so.",
    ),
    (
        "text",
        f"{LABEL_WORDS[ClaimCategory.CONTRADICTED]}: it cannot be true together with a document, "
        "or with what the assistant said before.",
    ),
    (
        "text",
        f"{LABEL_WORDS[ClaimCategory.LACKING_EVIDENCE]}: it is a fact that could be looked up, and "
        "the documents do not say enough. What you know from elsewhere does not count.",
    ),
    (
        "text",
        f"{LABEL_WORDS[ClaimCategory.OUT_OF_SCOPE]}: an opinion, an experience or advice, which no "
        "document could confirm.",
    ),
    (
        "text",
        f"{LABEL_WORDS[ClaimCategory.ABSTENTION]}: it says that the assistant does not know, or "
        "does not answer.",
    ),
    ("heading", f"Column G, {NOTES}"),
    ("text", "Why you chose the label, above all where you hesitated. May stay empty."),
)


class HandedTurn(Noun):
    """A turn of a folder, with the claims that were proposed."""

    turn_id: Text
    claims: Many[Text]


class HandedDialogue(Noun):
    """A folder that was handed out: a dialogue with the turns to be labelled."""

    code: PublicId
    dialogue_id: PublicId
    turns: Many[HandedTurn]


class HandedDialogues(HandedOut):
    """Folders of dialogues that were handed out."""

    spare: Count
    folders: Many[HandedDialogue]


@dataclass(frozen=True, slots=True)
class WrittenDialogues:
    """The result of writing sheets for dialogues.

    Attributes:
        handed: The list of it.
        left_out: Turns whose claims are labelled already.
        removed: Characters that no XML may hold, left out of what annotators read.
    """

    handed: HandedDialogues
    left_out: int
    removed: int

    @property
    def turns(self) -> int:
        """Turns in the folders of an annotator."""
        return sum(len(one.turns) for one in self.handed.folders)

    @property
    def claims(self) -> int:
        """Claims that were proposed."""
        return sum(len(turn.claims) for one in self.handed.folders for turn in one.turns)


def is_dialogues(path: Path) -> bool:
    """Return whether a file holds dialogues, with labelled turns or without."""
    return is_labelled(path) or DialogueImporter().detect(path) is None


def is_labelled(path: Path) -> bool:
    """Return whether a file has lines of dialogues and of labelled turns.

    Its dialogues name a format.
    """
    if not path.is_file():
        return False
    try:
        first = next(files.json_lines(path), (0, None))[1]
    except InputError:
        return False
    return isinstance(first, dict) and len(first) == 1 and set(first) <= {"dialogue", "turn"}


def read_turns(path: Path) -> DialogueGold:
    """Dialogues with the turns to be labelled: those that a file labels, or all the assistant's.

    Raises:
        InputError: It cannot be read, or breaks rules, which are all listed.
    """
    if is_labelled(path):
        return read_gold(path)
    values = files.values(path) if files.is_lines(path) else [(1, files.document(path))]
    dialogues: dict[str, Dialogue] = {}
    for number, value in values:
        if isinstance(value, InputError):
            raise value
        where = f"{path}, dialogue {number}"
        dialogue = read_dialogue(value, where)
        if dialogue.dialogue_id is None or dialogue.dialogue_id in dialogues:
            raise InputError(f"{where} needs a dialogue_id that no other dialogue of the file has.")
        dialogues[dialogue.dialogue_id] = dialogue
    turns = [
        LabelledTurn(dialogue_id=name, turn_id=turn.turn_id)
        for name, dialogue in dialogues.items()
        for turn in dialogue.turns
        if turn.role is Speaker.ASSISTANT
    ]
    return DialogueGold(dialogues, turns)


def write_dialogue_sheets(
    gold: DialogueGold,
    name: str,
    directory: Path,
    annotators: Sequence[str],
    *,
    proposed: Mapping[TurnKey, Sequence[str]],
    with_labelled: bool = False,
) -> WrittenDialogues:
    """Write the sheets of turns whose claims are not labelled.

    Args:
        gold: The dialogues, and the turns to be labelled.
        name: What they are called.
        directory: A folder that is not there or empty.
        annotators: Who labels every turn.
        proposed: Claims to begin with, by turn.
        with_labelled: Turns whose claims are labelled are handed out, too; their claims are
            proposed where no others are.

    Raises:
        InputError: No turn is to be labelled, a claim is too long, or the folder holds something;
            nothing is written.
    """
    names = checked_annotators(annotators)
    chosen = [turn for turn in gold.turns if with_labelled or turn.claims is None]
    left_out = len(gold.turns) - len(chosen)
    if not chosen:
        raise InputError(
            f"{name}: no turn is to be labelled: the claims of all {left_out} are labelled; --all "
            "hands them out, too."
        )
    refuse_filled(directory)
    groups: dict[str, list[HandedTurn]] = {}
    for turn in chosen:
        known = [one.claim for one in turn.claims or ()]
        texts = tuple(dict.fromkeys(proposed.get(turn.key, known)))
        found = HandedTurn(turn_id=turn.turn_id, claims=texts)
        groups.setdefault(turn.dialogue_id, []).append(found)
    width = max(2, len(str(len(groups))))
    folders = [
        HandedDialogue(code=f"D{number:0{width}}", dialogue_id=one, turns=tuple(turns))
        for number, (one, turns) in enumerate(groups.items(), start=1)
    ]
    handed = HandedDialogues(
        format=FORMAT, dataset=name, annotators=names, spare=SPARE, folders=tuple(folders)
    )
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix=".sheets-") as made:
            removed = 0
            for folder in folders:
                path = Path(made) / folder.code
                path.mkdir()
                removed += _write_sheet(folder, path / SHEET_FILE)
                dialogue = gold.dialogues[folder.dialogue_id]
                removed += _write_text(folder, dialogue, path / TEXT_FILE)
            for annotator in names:
                shutil.copytree(made, directory / annotator)
        text = json.dumps(handed.json_object(), ensure_ascii=False, indent=1)
        (directory / LIST).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{directory} cannot be written: {error.strerror or error}") from None
    return WrittenDialogues(handed, left_out, removed)


def _write_text(folder: HandedDialogue, dialogue: Dialogue, path: Path) -> int:
    """The conversation with the turns to be labelled marked, then the documents of each."""
    asked = {turn.turn_id for turn in folder.turns}
    lines = [
        f"[{turn.turn_id}{', to be labelled' if turn.turn_id in asked else ''}] "
        f"{turn.role.value}: {' '.join(turn.text.split())}"
        for turn in dialogue.turns
    ]
    texts = {one.document_id: one.text for one in dialogue.documents}
    parts = [("Conversation", "\n".join(lines))]
    if dialogue.initial_knowledge:
        parts.append(("Known before the first turn", "\n".join(dialogue.initial_knowledge)))
    of_turns: dict[str, list[str]] = {}
    for turn in dialogue.turns:
        if turn.turn_id in asked:
            for name in turn.documents:
                of_turns.setdefault(name, []).append(turn.turn_id)
    parts += [
        (f"Document {name}, for {', '.join(turns)}", texts[name])
        for name, turns in of_turns.items()
    ]
    return write_parts(f"Folder {folder.code}", dialogue.name, parts, path)


def _write_sheet(folder: HandedDialogue, path: Path) -> int:
    """The workbook of a dialogue.

    Returns:
        How many characters that no XML may hold were left out.

    Raises:
        InputError: openpyxl is not installed, or a claim is too long for a cell.
    """
    book, sheet = new_workbook(CLAIMS_SHEET)
    rows = [
        (turn.turn_id, str(number) if claim is not None else "", claim or "")
        for turn in folder.turns
        for number, claim in enumerate([*turn.claims, *[None] * SPARE], start=1)
    ]
    removed = fill_locked(sheet, COLUMNS, _WIDTHS, rows, lambda row: f"a claim of turn {row[0]!r}")
    choices = {"D": [one.value for one in Action], "F": list(LABEL_WORDS.values())}
    add_choices(book, sheet, len(rows) + 1, choices)
    write_help(book, _INSTRUCTIONS)
    book.save(path)
    return removed

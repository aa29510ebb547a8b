"""Sheets of turns that came back: every row is checked, and every fault named with its place.

Source: VISTA C.2 (a claim is kept, edited, deleted or added, and gets one of five labels).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from veritrail_eval.annotation.wording import alike
from veritrail_eval.annotation.writing import read_handed
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnAnnotation,
    TurnKey,
)
from veritrail_eval.dialogues.sheets import (
    ACTION,
    CLAIM,
    CLAIMS_SHEET,
    COLUMNS,
    FORMAT,
    LABEL,
    LABEL_WORDS,
    NEW,
    NOTES,
    NUMBER,
    SHEET_FILE,
    TURN,
    Action,
    HandedDialogue,
    HandedDialogues,
    HandedTurn,
    category_of,
)
from veritrail_eval.tables import Row
from veritrail_eval.workbook import read_workbook, xml_text
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.model.dialogue import ClaimCategory

_NEEDS_LABEL = frozenset({Action.KEEP, Action.EDIT, Action.ADD})


@dataclass(slots=True)
class DialoguesBack:
    """The content of sheets of turns that came back.

    Attributes:
        labels: What annotators said, by turn, in their order.
        unfinished: Turns that an annotator did not finish, counted once for each annotator.
        faults: What is wrong.
    """

    labels: dict[TurnKey, list[TurnAnnotation]] = field(default_factory=dict)
    unfinished: int = 0
    faults: list[Violation] = field(default_factory=list)


def read_dialogue_sheets(
    gold: DialogueGold, directory: Path, *, is_partial: bool = False
) -> DialoguesBack:
    """The claims in the sheets of a folder.

    Args:
        gold: What the sheets were made from.
        directory: Where they were written.
        is_partial: Turns that are not finished, and missing files, are counted, and no fault.

    Raises:
        InputError: A sheet has faults: `violations` names file, sheet, row and column of each.
    """
    handed = read_handed(directory, HandedDialogues, FORMAT)
    known = {turn.key for turn in gold.turns}
    back = DialoguesBack()
    for folder in handed.folders:
        lost = [one for one in folder.turns if (folder.dialogue_id, one.turn_id) not in known]
        if lost:
            raise InputError(
                f"folder {folder.code}: turn {shown(lost[0].turn_id)} of dialogue "
                f"{shown(folder.dialogue_id)} is not in the file that was named. Name the one that "
                "the sheets were made from."
            )
        for annotator in handed.annotators:
            place = f"{annotator}/{folder.code}/{SHEET_FILE}"
            _Sheet(back, folder, annotator, place, is_partial).read(directory / place)
    if back.faults:
        count = len(back.faults)
        number = "a fault" if count == 1 else f"{count} faults"
        raise InputError(f"{directory} has {number}; no label was taken.", back.faults)
    return back


def with_annotations(
    gold: DialogueGold, labels: Mapping[TurnKey, Sequence[TurnAnnotation]]
) -> DialogueGold:
    """Labelled turns with more annotations; a new one of an annotator replaces the old one."""

    def merged(turn: LabelledTurn) -> LabelledTurn:
        new = labels.get(turn.key, ())
        names = {one.annotator for one in new}
        kept = [one for one in turn.labels if one.annotator not in names]
        return turn.replace(labels=(*kept, *new)) if new else turn

    return replace(gold, turns=tuple(merged(turn) for turn in gold.turns))


@dataclass(slots=True)
class _Sheet:
    """Reads one sheet into what came back."""

    into: DialoguesBack
    folder: HandedDialogue
    annotator: str
    place: str
    is_partial: bool

    def read(self, path: Path) -> None:
        """Read it; a file that is not there is a fault, unless parts are fine."""
        if not path.is_file():
            if self.is_partial:
                self.into.unfinished += len(self.folder.turns)
            else:
                message = "is not there; put it back, or use --partial"
                self._fault("missing_file", self.place, message)
            return
        within = f"{self.place}, sheet {CLAIMS_SHEET}, "
        try:
            table = read_workbook(
                path, COLUMNS, sheet=CLAIMS_SHEET, within=within, may_be_empty=True
            )
        except InputError as error:
            message = str(error).removeprefix(str(path)).strip(" ,:")
            self._fault("not_a_sheet", self.place, message)
            return
        rows: dict[str, list[Row]] = {turn.turn_id: [] for turn in self.folder.turns}
        for row in table.rows:
            turn_id = row.text(TURN)
            if turn_id in rows:
                rows[turn_id].append(row)
            else:
                message = f"{shown(turn_id)} is no turn of folder {self.folder.code}"
                row.fault("unknown_turn", TURN, message)
        for turn in self.folder.turns:
            self._take(turn, rows[turn.turn_id], table.faults)
        self.into.faults += table.in_order

    def _take(self, turn: HandedTurn, rows: Sequence[Row], faults: list[Violation]) -> None:
        before = len(faults)
        proposed = self._proposed(turn, rows)
        claims: dict[str, LabelledTurnClaim] = {}
        notes = []
        open_rows, is_empty = 0, False
        for row in rows:
            number = row.text(NUMBER)
            action = self._action(row, is_proposed=bool(number))
            if action is None:
                open_rows += bool(number)
                continue
            is_empty = is_empty or action is Action.NO_CLAIMS
            claim = self._claim(row, action, proposed.get(number, ""))
            if claim is not None and claims.setdefault(alike(claim.claim), claim) is not claim:
                row.fault("duplicate", NEW, f"the turn has the claim {shown(claim.claim)} already")
            if note := row.text(NOTES):
                notes.append(f"{number}: {note}" if number else note)
        if len(faults) > before:
            return
        if open_rows or not (claims or is_empty or proposed):
            self._unfinished(turn, open_rows)
        elif is_empty and claims:
            message = f"turn {shown(turn.turn_id)}: {Action.NO_CLAIMS!s} is chosen beside claims"
            self._fault("contradictory", f"{self.place}, sheet {CLAIMS_SHEET}", message)
        else:
            found = TurnAnnotation(
                annotator=self.annotator, claims=tuple(claims.values()), notes="\n".join(notes)
            )
            key = self.folder.dialogue_id, turn.turn_id
            self.into.labels.setdefault(key, []).append(found)

    def _proposed(self, turn: HandedTurn, rows: Sequence[Row]) -> dict[str, str]:
        """The claims that were handed out, by number; a changed or missing one is a fault."""
        proposed = {str(number): text for number, text in enumerate(turn.claims, start=1)}
        seen: set[str] = set()
        for row in rows:
            number = row.text(NUMBER)
            if not number:
                continue
            if number not in proposed:
                message = f"{shown(number)} is no claim of turn {shown(turn.turn_id)}"
                row.fault("unknown_claim", NUMBER, message)
            elif number in seen:
                row.fault("duplicate", NUMBER, f"claim {number} of the turn has another row")
            elif alike(row.text(CLAIM)) != alike(xml_text(proposed[number])[0]):
                message = f"the claim was changed; edit it in {shown(NEW)}"
                row.fault("changed", CLAIM, message)
            seen.add(number)
        for number in (one for one in proposed if one not in seen):
            message = f"claim {number} of turn {shown(turn.turn_id)} has no row"
            self._fault("missing_row", f"{self.place}, sheet {CLAIMS_SHEET}", message)
        return proposed

    def _action(self, row: Row, *, is_proposed: bool) -> Action | None:
        """Say what the annotator does; None: the row is empty, or not finished, or has a fault."""
        text = row.text(ACTION).casefold()
        if not text:
            if row.text(NEW) or row.text(LABEL):
                row.fault("missing", ACTION, "is empty, but the row has an answer; choose one")
            return None
        allowed = (
            (Action.KEEP, Action.EDIT, Action.DELETE)
            if is_proposed
            else (Action.ADD, Action.NO_CLAIMS)
        )
        found = next((one for one in allowed if one.value == text), None)
        if found is None:
            message = f"{shown(text)} is none of {', '.join(allowed)} in this row"
            row.fault("unknown_value", ACTION, message)
        return found

    def _claim(self, row: Row, action: Action, proposed: str) -> LabelledTurnClaim | None:
        """The claim of a row; None: it is deleted, or has a fault."""
        new = row.text(NEW)
        writes = action in (Action.EDIT, Action.ADD)
        if writes and not new:
            row.fault("missing", NEW, f"is empty; {shown(action.value)} needs the claim")
        elif new and not writes:
            message = f"holds a text, but {shown(action.value)} is chosen in {shown(ACTION)}"
            row.fault("contradictory", NEW, message)
        if action not in _NEEDS_LABEL:
            return None
        category = self._category(row)
        text = new if writes else proposed
        if category is None or not text:
            return None
        return LabelledTurnClaim(claim=text, category=category)

    def _category(self, row: Row) -> ClaimCategory | None:
        text = row.text(LABEL)
        found = category_of(text)
        if not text:
            row.fault("missing_label", LABEL, "is empty; choose a label")
        elif found is None:
            words = ", ".join(map(shown, LABEL_WORDS.values()))
            row.fault("unknown_value", LABEL, f"{shown(text)} is none of {words}")
        return found

    def _unfinished(self, turn: HandedTurn, open_rows: int) -> None:
        if self.is_partial:
            self.into.unfinished += 1
            return
        what = (
            f"{open_rows} claim(s) without an answer in {shown(ACTION)}"
            if open_rows
            else f"no claim; add some, or choose {shown(Action.NO_CLAIMS.value)}"
        )
        message = f"turn {shown(turn.turn_id)} has {what}; or use --partial"
        self._fault("missing", f"{self.place}, sheet {CLAIMS_SHEET}", message)

    def _fault(self, kind: str, where: str, message: str) -> None:
        self.into.faults.append(Violation(kind, where, message))

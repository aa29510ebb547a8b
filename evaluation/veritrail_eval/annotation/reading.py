"""Sheets that came back: every row is checked, and every fault named with its place.

Source: VeriTrail B.2.3 (labels that need a quote).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from veritrail_eval.annotation.folders import Folder, folder_of
from veritrail_eval.annotation.wording import (
    CLAIM,
    COMMENTS,
    EVIDENCE,
    ID,
    LABEL,
    LABEL_WORDS,
    NO,
    UNCERTAIN,
    YES,
    alike,
    label_of,
)
from veritrail_eval.annotation.workbook import CLAIMS, FILE, read_claims
from veritrail_eval.annotation.writing import HandedFolder, HandedSheets, read_list
from veritrail_eval.datasets.model import (
    Annotation,
    AnnotatorLabel,
    Dataset,
    LabelledClaim,
)
from veritrail_eval.tables import Row
from veritrail_eval.workbook import xml_text
from veritrail_graph.graph.errors import InputError, Violation, shown

_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_GAP = re.compile(r"\[?(?:\.\.\.|…)\]?")
_MARKS = "\"'\u201c\u201d\u201e\u201f\u00ab\u00bb\u2018\u2019\u201a"

Key = tuple[str, str]


@dataclass(slots=True)
class ReadSheets:
    """The content of sheets that came back.

    Attributes:
        labels: Labels by claim, in the order of the annotators.
        unfinished: Rows without a label, and rows of files that are not there.
        warnings: Quotes that are in no document, and files that were not read.
        faults: What is wrong.
    """

    labels: dict[Key, list[Annotation]] = field(default_factory=dict)
    unfinished: int = 0
    warnings: list[str] = field(default_factory=list)
    faults: list[Violation] = field(default_factory=list)


def read_sheets(dataset: Dataset, directory: Path, *, is_partial: bool = False) -> ReadSheets:
    """The labels in the sheets of a folder.

    Args:
        dataset: The data set that the sheets were made from.
        directory: Where they were written.
        is_partial: Rows without a label and missing files are counted, and no fault.

    Raises:
        InputError: A sheet has faults: `violations` names file, sheet, row and column of each.
    """
    handed = read_list(directory)
    claims = {claim.key: claim for claim in dataset.claims}
    read = ReadSheets()
    for entry in handed.folders:
        folder = _folder(dataset, entry, claims)
        text = _Searched(folder)
        for annotator in handed.annotators:
            path = directory / annotator / entry.code / FILE
            place = f"{annotator}/{entry.code}/{FILE}"
            _SheetReader(read, folder, annotator, place, text, is_partial).read(path)
    read.warnings += _strangers(handed, directory)
    if read.faults:
        count = len(read.faults)
        number = "a fault" if count == 1 else f"{count} faults"
        raise InputError(f"{directory} has {number}; no label was taken.", read.faults)
    return read


def _folder(dataset: Dataset, entry: HandedFolder, claims: Mapping[Key, LabelledClaim]) -> Folder:
    found = [claims.get((entry.process_id, claim_id)) for claim_id in entry.claims]
    known = [one for one in found if one is not None]
    if not known or len(known) < len(found):
        lost = next((n for n, one in zip(entry.claims, found, strict=True) if one is None), "-")
        raise InputError(
            f"folder {entry.code}: claim {lost!r} of process {entry.process_id!r} is not in "
            f"{dataset.name!r}. Name the data set that the sheets were made from."
        )
    return folder_of(dataset, entry.code, known)


def _strangers(handed: HandedSheets, directory: Path) -> list[str]:
    known = {
        (directory / name / entry.code / FILE)
        for name in handed.annotators
        for entry in handed.folders
    }
    others = sorted(set(directory.glob(f"*/*/{FILE}")) - known)
    return [f"{path.relative_to(directory)} was not handed out and is not read" for path in others]


class _Searched:
    """The documents of a folder, in which quotes are looked up."""

    def __init__(self, folder: Folder) -> None:
        self._text = alike("\n".join(xml_text(one.text)[0] for one in folder.articles))

    def holds(self, quote: str) -> bool:
        """Return whether a quote is in them; what an ellipsis leaves out is skipped."""
        parts = [alike(part).strip(" .,;:") for part in _GAP.split(quote)]
        return any(parts) and all(part in self._text for part in parts)

    def quotes(self, cell: str) -> tuple[str, ...]:
        """The quotes of a cell: an empty line is between two; where lines fit alone, each line."""
        found: list[str] = []
        for part in _EMPTY_LINE.split(cell.replace("\r\n", "\n").replace("\r", "\n")):
            whole = part.strip().strip(_MARKS).strip()
            lines = [line.strip().strip(_MARKS).strip() for line in part.splitlines()]
            lines = [line for line in lines if line]
            is_list = len(lines) > 1 and not self.holds(whole) and all(map(self.holds, lines))
            found += lines if is_list else [whole] if whole else []
        return tuple(found)


@dataclass(slots=True)
class _SheetReader:
    """Reads one sheet into what was read so far."""

    into: ReadSheets
    folder: Folder
    annotator: str
    place: str
    text: _Searched
    is_partial: bool

    def read(self, path: Path) -> None:
        if not path.is_file():
            self._missing_file()
            return
        try:
            table = read_claims(path, self.place)
        except InputError as error:
            message = str(error).removeprefix(str(path)).strip(" ,:")
            self._fault("not_a_sheet", self.place, message)
            return
        claims = {claim.claim_id: claim for claim in self.folder.claims}
        rows = {row: row.text(ID) for row in table.rows}
        for row, claim_id in rows.items():
            if claim_id in claims:
                self._take(claims[claim_id], row)
            else:
                message = f"{shown(claim_id)} is no claim of folder {self.folder.code}"
                row.fault("unknown_claim", ID, message)
        known = [(row, (name,)) for row, name in rows.items() if name in claims]
        table.refuse_repeats(known, "claim", ID)
        self.into.faults += table.in_order
        there = set(rows.values())
        for claim_id in (one for one in claims if one not in there):
            where = f"{self.place}, sheet {CLAIMS}"
            self._fault("missing_row", where, f"claim {shown(claim_id)} has no row")

    def _missing_file(self) -> None:
        if self.is_partial:
            self.into.unfinished += len(self.folder.claims)
        else:
            message = "is not there; put it back, or use --partial"
            self._fault("missing_file", self.place, message)

    def _take(self, claim: LabelledClaim, row: Row) -> None:
        if alike(row.text(CLAIM)) != alike(xml_text(claim.text)[0]):
            row.fault("changed", CLAIM, f"the claim was changed; it reads {shown(claim.text)}")
            return
        uncertain = row.yes(UNCERTAIN, f"{YES} nor {NO}")
        label = self._label(row)
        if label is None:
            return
        quotes = self.text.quotes(row.text(EVIDENCE))
        if label.needs_quote and not quotes:
            message = f"is empty, but {shown(row.text(LABEL))} needs a quote"
            row.fault("missing_quote", EVIDENCE, message)
        for quote in quotes:
            if not self.text.holds(quote):
                message = f"{row.cell(EVIDENCE)}: no document holds {shown(quote)}"
                self.into.warnings.append(message)
        self.into.labels.setdefault(claim.key, []).append(
            Annotation(
                annotator=self.annotator,
                label=label,
                uncertain=uncertain,
                quotes=quotes,
                comment=row.text(COMMENTS),
            )
        )

    def _label(self, row: Row) -> AnnotatorLabel | None:
        text = row.text(LABEL)
        if not text and self.is_partial:
            self.into.unfinished += 1
            return None
        label = label_of(text)
        if not text:
            row.fault("missing_label", LABEL, "is empty; choose a label, or use --partial")
        elif label is None:
            words = ", ".join(map(shown, LABEL_WORDS.values()))
            row.fault("unknown_value", LABEL, f"{shown(text)} is none of {words}")
        return label

    def _fault(self, kind: str, where: str, message: str) -> None:
        self.into.faults.append(Violation(kind, where, message))


def with_labels(claim: LabelledClaim, labels: Iterable[Annotation]) -> LabelledClaim:
    """A claim with more labels; a new label of an annotator takes the place of the old one."""
    new: Sequence[Annotation] = list(labels)
    names = {one.annotator for one in new}
    kept = [one for one in claim.labels if one.annotator not in names]
    return claim.replace(labels=(*kept, *new)) if new else claim

"""FABLES: claims of summaries of books, labelled by people who had read the book.

The books are not part of it. They are read from text files beside it, one a book.

Source: Kim et al. 2024, "FABLES: Evaluating faithfulness and content selection in book-length
summarization"; VeriTrail B.1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from veritrail_eval.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    annotation,
)
from veritrail_eval.datasets.model import Annotation, AnnotatorLabel, Dataset
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.process_file import reading
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.noun import OneOf

FILE = "FABLES.json"
BOOKS = "books"
LONGEST_CHUNK = 8_000
"""Characters of a chunk of a book; about the 2,048 tokens of B.1."""
_PARAGRAPHS = re.compile(r"\n\s*\n")


class _Label(StrEnum):
    YES = "Yes"
    NO = "No"
    PARTIAL = "PartialSupport"
    INAPPLICABLE = "Inapplicable"


_SAID = {
    _Label.YES: AnnotatorLabel.ALL_SUPPORTED,
    _Label.NO: AnnotatorLabel.REFUTED,
    _Label.PARTIAL: AnnotatorLabel.NOT_FULLY_SUPPORTED,
    _Label.INAPPLICABLE: AnnotatorLabel.INCONCLUSIVE,
}


class _Claim(RowModel):
    claim: Filled
    label: OneOf[_Label]
    evidence: list[str]
    reason: list[str]


class _Summary(RowModel):
    summary: Filled
    general_comment: str = ""
    claims: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BookClaim:
    """A claim of FABLES, with what its annotator said.

    Attributes:
        number: Its key among the claims of the summary.
        text: The claim.
        label: Its label; Inconclusive where FABLES has Inapplicable.
        said: What the annotator said, with the evidence as quotes and the reasons as comment.
        fables_label: The label as FABLES has it.
    """

    number: str
    text: str
    label: Verdict
    said: Annotation
    fables_label: str


@dataclass(frozen=True, slots=True)
class BookSummary:
    """A summary of a book by a model.

    Attributes:
        book: Title of the book.
        model: The model.
        text: The summary.
        comment: What the annotator said of the summary as a whole.
        claims: Its claims.
        where: Its place in the file.
    """

    book: str
    model: str
    text: str
    comment: str
    claims: tuple[BookClaim, ...]
    where: str


class FablesLoader:
    """Reads FABLES with the books."""

    name = "fables"
    description = "FABLES: claims of summaries of books, with evidence and reasons"
    layout = f"a folder of {FILE}, and {BOOKS}/TITLE.txt, one text a book (not part of FABLES)"
    source = "github.com/mungg/FABLES, data (a zip; unpack it); the books: ask its authors"

    def detect(self, path: Path) -> str | None:
        """By the levels book, model, claims."""
        file = _file(path)
        if not file.is_file():
            return f"no {FILE}"
        return None if _books(files.first_value(file)) is not None else "no books with summaries"

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it; the summaries of one book belong to one process.

        Raises:
            InputError: It cannot be read, or the text of a book is not there; with `skip_bad`
                the claims about such a book are left out and counted.
        """
        building = Building(path, self.name, "FABLES", skip_bad=skip_bad)
        texts = _texts(_file(path).parent / BOOKS)
        absent: set[str] = set()
        for summary in summaries_of(path, building):
            text = texts.get(comparable_title(summary.book))
            if text is None:
                if summary.book not in absent:
                    absent.add(summary.book)
                    building.fault(
                        f"book {summary.book!r}", "",
                        f"its text is not there: put it into {BOOKS}/{_file_name(summary.book)} "
                        f"beside {FILE}",
                        "missing_file",
                    )  # fmt: skip
                continue
            _add(building, summary, text)
        return building.finish(description="Claims of summaries of books.", licence="MIT")


def read_summaries(path: Path) -> tuple[BookSummary, ...]:
    """The summaries with their claims, for matching; the books are not needed.

    Args:
        path: FABLES.json, or the folder that it is in.

    Raises:
        InputError: It cannot be read; every fault is named.
    """
    building = Building(path, FablesLoader.name, "FABLES", skip_bad=False)
    found = tuple(summaries_of(path, building))
    building.refuse_faults()
    return found


def summaries_of(path: Path, building: Building) -> Iterator[BookSummary]:
    """The summaries one by one.

    Args:
        path: FABLES.json, or the folder that it is in.
        building: Notes what is wrong.

    Raises:
        InputError: The file cannot be read.
    """
    file = _file(path)
    books = _books(files.document(file))
    if books is None:
        raise InputError(f"{file} does not hold books with the summaries of models.")
    for book, models in books.items():
        for model, value in models.items():
            where = f"{book!r}, {model}"
            summary = building.check(_Summary, value, where)
            if summary is not None:
                claims = tuple(_claims(building, summary, where))
                yield BookSummary(
                    book, model, summary.summary, summary.general_comment, claims, where
                )


def _claims(building: Building, summary: _Summary, where: str) -> Iterator[BookClaim]:
    for number, value in summary.claims.items():
        claim = building.check(_Claim, value, f"{where}, claims.{number}")
        if claim is None:
            continue
        quotes = [one for one in claim.evidence if one.strip() and one.strip().lower() != "n/a"]
        reasons = [one.strip() for one in claim.reason if one.strip()]
        said = annotation("reader", _SAID[claim.label], "\n".join(reasons), quotes=quotes)
        label = _SAID[claim.label].verdict or Verdict.INCONCLUSIVE
        yield BookClaim(number, claim.claim, label, said, claim.label.value)


def _add(building: Building, summary: BookSummary, text: str) -> None:
    chunks = chunks_of(text)
    about = {node_id: {"document": summary.book} for node_id in chunks}
    process = building.process(
        summary.book, chunks, summary.where, name=summary.book, metadata=about
    )
    node = building.answer(
        process,
        f"summary/{summary.model}",
        summary.text,
        summary.where,
        metadata={"model": summary.model, "comment": summary.comment or None},
    )
    for claim in summary.claims:
        building.claim(
            f"{summary.where}, claims.{claim.number}",
            process_id=process,
            claim_id=f"{summary.model}-{claim.number}",
            text=claim.text,
            node_id=node,
            label=claim.label,
            label_origin=f"FABLES: {claim.fables_label}",
            labels=(claim.said,),
        )


def chunks_of(text: str, longest: int = LONGEST_CHUNK) -> dict[str, str]:
    """Whole paragraphs together as chunks; a longer paragraph is a chunk of its own."""
    chunks: list[str] = []
    for paragraph in (one.strip() for one in _PARAGRAPHS.split(text)):
        if not paragraph:
            continue
        if chunks and len(chunks[-1]) + 2 + len(paragraph) <= longest:
            chunks[-1] += f"\n\n{paragraph}"
        else:
            chunks.append(paragraph)
    return {f"chunk/{number}": chunk for number, chunk in enumerate(chunks, 1)}


def _file(path: Path) -> Path:
    if not path.is_dir():
        return path
    return next((path / one for one in (FILE, f"{FILE}.gz") if (path / one).is_file()), path / FILE)


def _books(value: Any) -> dict[str, dict[str, Any]] | None:
    """The books of a file, with or without the canary around them; None: it holds none."""
    if not isinstance(value, dict):
        return None
    value = value.get("FABLES", value)
    if not isinstance(value, dict) or not value:
        return None
    for models in value.values():
        if not isinstance(models, dict) or not models:
            return None
        if not all(isinstance(one, dict) and "claims" in one for one in models.values()):
            return None
    return value


def _texts(folder: Path) -> dict[str, str]:
    """The texts of the books by title, as `comparable_title` makes them comparable.

    Raises:
        InputError: A file is not UTF-8, or two files have the same title.
    """
    found: dict[str, str] = {}
    if not folder.is_dir():
        return found
    for file in sorted(folder.iterdir()):
        if files.suffix_of(file) != ".txt":
            continue
        title = comparable_title(file.name.removesuffix(".gz").removesuffix(".txt"))
        if title in found:
            raise InputError(f"{folder} holds two texts of {file.stem!r}.")
        try:
            with reading.open_bytes(file) as opened:
                found[title] = opened.read().decode("utf-8-sig")
        except (OSError, EOFError, ValueError) as error:
            raise InputError(f"{file} cannot be read as UTF-8 text: {error}") from None
    return found


def comparable_title(text: str) -> str:
    """A title without case, accents and signs."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


def _file_name(title: str) -> str:
    return re.sub(r"[^\w .,'-]+", "-", title).strip() + ".txt"

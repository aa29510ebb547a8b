"""The base of loaders: rows that are checked, processes put together, faults and counts.

A loader asks for rows in a model, adds processes and claims, and finishes. A row that breaks a
rule is a fault, which names its row and column; with `skip_bad` it is left out and counted.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from veritrail_eval.datasets.loaders.rows import RowReading
from veritrail_eval.datasets.model import Annotation, Dataset, LabelledClaim
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header, ProcessInput
from veritrail_graph.graph.model import Origin, Sentence, Verdict
from veritrail_graph.graph.sentences import SentenceSplitter

SOURCE_STEP = "document"
ANSWER_STEP = "answer"
_NO_ID = re.compile(r"[^A-Za-z0-9._:-]+")
_LONGEST_ID = 100
_STAGES = {1: "Documents", 2: "Output"}


def _filled(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is empty")
    return text


def _binary(value: Any) -> bool:
    """0 or 1, as a number or as the text of a cell."""
    known = {"0": False, "1": True, "0.0": False, "1.0": True, "False": False, "True": True}
    found = known.get(str(value).strip()) if isinstance(value, str | int | float) else None
    if found is None:
        raise PydanticCustomError("binary", "is neither 0 nor 1")
    return found


Filled = Annotated[str, Field(min_length=0), AfterValidator(_filled)]
"""A text with something in it, kept as it is."""


Binary = Annotated[bool, BeforeValidator(_binary)]
"""A label of 0 or 1."""


class RowModel(BaseModel):
    """A row of a data set: its keys have exact types, and others are passed over."""

    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)


class Building(RowReading):
    """A data set while it is read.

    Args:
        path: What is read.
        format_name: Name of the loader, which is the source format of the processes.
        name: Name of the data set.
        skip_bad: Whether rows that break rules are left out and counted.
    """

    def __init__(self, path: Path, format_name: str, name: str, *, skip_bad: bool) -> None:
        super().__init__(path, format_name, skip_bad=skip_bad)
        self._name = name
        self._drafts: dict[str, Draft] = {}
        self._read: dict[str, ProcessInput] = {}
        self._claims: dict[tuple[str, str], LabelledClaim] = {}
        self._places: dict[tuple[str, str], str] = {}

    # What is put together

    def process(
        self,
        key: str,
        documents: Mapping[str, str],
        where: str,
        *,
        question: str | None = None,
        name: str | None = None,
        metadata: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> str:
        """Add a process of documents; nothing where it is there already.

        Args:
            key: What tells it from the others.
            documents: Texts of the roots by node_id.
            where: Its place.
            question: What its output answers.
            name: What people call it.
            metadata: What else is known of roots, by node_id.

        Returns:
            Its process_id.
        """
        process_id = public_id(key)
        if process_id not in self._drafts:
            header = Header(
                self._format, process_id, name=name, question=question, stage_names=_STAGES,
                terminals=(),
            )  # fmt: skip
            draft = self._drafts[process_id] = Draft(header)
            for node_id, text in documents.items():
                facts = (metadata or {}).get(node_id)
                draft.node(
                    node_id, text, where, origin=Origin.SOURCE, kind="document", step=SOURCE_STEP,
                    stage=1, metadata=facts,
                )  # fmt: skip
        return process_id

    def has_process(self, key: str) -> bool:
        """Return whether there is a process of this key."""
        process_id = public_id(key)
        return process_id in self._drafts or process_id in self._read

    def read_process(self, process_id: str, process: ProcessInput) -> None:
        """Add a process that an importer has read; its header has this id."""
        self._read[process_id] = process

    def answer(
        self,
        process_id: str,
        node_id: str,
        text: str,
        where: str,
        *,
        question: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        of: Iterable[str] | None = None,
    ) -> str:
        """Add an output to a process, made of all its documents.

        Args:
            process_id: The process.
            node_id: Its node_id.
            text: Its text.
            where: Its place.
            question: What it answers, where the process has outputs for several questions.
            metadata: What else is known of it.
            of: The roots that it was made of; None: all.

        Returns:
            Its node_id, with a number behind it where it was taken.
        """
        draft = self._drafts[process_id]
        found = draft.node(
            node_id, text, where, origin=Origin.GENERATED, kind="answer", step=ANSWER_STEP,
            stage=2, metadata=metadata, question=question,
        )  # fmt: skip
        roots = [one for one, node in draft.nodes.items() if node.origin is Origin.SOURCE]
        for root in roots if of is None else of:
            draft.edge(root, found, where)
        terminals = (*(draft.header.terminals or ()), found)
        draft.header = _with_terminals(draft.header, terminals)
        return found

    def claim(
        self,
        where: str,
        *,
        process_id: str,
        claim_id: str,
        text: str,
        label: Verdict | None,
        **facts: Any,
    ) -> None:
        """Add a claim; a fault where its id is taken."""
        claim = LabelledClaim(
            process_id=process_id, claim_id=public_id(claim_id), text=text, label=label, **facts
        )
        if claim.key in self._places:
            self.fault(where, "", f"is {shown(claim_id)} again, as {self._places[claim.key]} is",
                       "duplicate_claim_id")  # fmt: skip
            return
        self._places[claim.key] = where
        self._claims[claim.key] = claim

    def claim_of_output(
        self,
        where: str,
        *,
        process_id: str,
        node_id: str,
        claim_id: str,
        text: str,
        label: Verdict,
        label_origin: str,
    ) -> None:
        """Add an output that is one claim as a whole."""
        self.claim(
            where,
            process_id=process_id,
            claim_id=claim_id,
            text=text,
            node_id=self.answer(process_id, node_id, text, where),
            label=label,
            label_origin=label_origin,
        )

    def finish(self, *, description: str | None = None, licence: str | None = None) -> Dataset:
        """The data set.

        Args:
            description: What it holds.
            licence: Under which licence it is published.

        Raises:
            InputError: There are faults that are not left out, or it holds no claim.
        """
        self.refuse_faults()
        remarks = self.remarks()
        for key, where in self._places.items():
            if where in self._contradicted:
                self._claims.pop(key, None)
        if not self._claims:
            first = f" {remarks[0]}" if remarks else ""
            raise InputError(f"{self._path} holds no claim that can be used.{first}")
        used = {claim.process_id for claim in self._claims.values()}
        everything = {**self._drafts, **self._read}
        processes = {name: _Kept(one) for name, one in everything.items() if name in used}
        return Dataset(
            self._name, processes, tuple(self._claims.values()), description, licence,
            tuple(remarks),
        )  # fmt: skip


class _Kept:
    """Opens a process that is in memory."""

    def __init__(self, process: ProcessInput) -> None:
        self._process = process

    def __call__(self) -> ProcessInput:
        return self._process


def _with_terminals(header: Header, terminals: tuple[str, ...]) -> Header:
    return replace(header, terminals=terminals)


def verdict_of(is_supported: bool) -> Verdict:
    """The label of a claim that is supported, or is not."""
    return Verdict.FULLY_SUPPORTED if is_supported else Verdict.NOT_FULLY_SUPPORTED


def public_id(text: str) -> str:
    """A text as an id: signs that no id may have become hyphens, and a long id is cut.

    A hash of the whole text is put behind an id that was changed, so that ids stay different.
    """
    plain = _NO_ID.sub("-", text).strip("-._:")
    if plain == text and len(text) <= _LONGEST_ID:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{plain[:_LONGEST_ID]}-{digest}".lstrip("-")


def text_key(text: str) -> str:
    """A short id of a text, for documents that have none."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def numbered(texts: Sequence[str], kind: str = "document") -> dict[str, str]:
    """Texts by node_ids such as `document/1`; texts without a word are left out."""
    return {f"{kind}/{n}": text for n, text in enumerate(texts, 1) if text.strip()}


@cache
def _splitter() -> SentenceSplitter:
    return SentenceSplitter.for_language()


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text with a letter or a digit in them, with their places."""
    found = _splitter().split("text", text)
    return tuple(one for one in found if any(sign.isalnum() for sign in one.text))


def annotation(annotator: str, label: str, comment: str = "", **facts: Any) -> Annotation:
    """Return what an annotator said."""
    return Annotation.model_validate(
        {"annotator": annotator, "label": label, "comment": comment.strip(), **facts}
    )

"""TofuEval: sentences of summaries of dialogues about a topic, labelled by linguists.

The documents are not part of it; its README says how to make the tables that hold them.

Source: Tang et al. 2024, "TofuEval: Evaluating Hallucinations of LLMs on Topic-Focused Dialogue
Summarization".
"""

from __future__ import annotations

import random
from dataclasses import replace
from enum import StrEnum
from itertools import count
from pathlib import Path

from veritrail_eval.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    annotation,
    verdict_of,
)
from veritrail_eval.datasets.loaders.detecting import keys_of, table_files
from veritrail_eval.datasets.model import AnnotatorLabel, Dataset
from veritrail_eval.tables import read_table
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import NodeRecord
from veritrail_graph.graph.model.noun import OneOf

_IDS = ("doc_id", "meeting_id")


class _Label(StrEnum):
    YES = "yes"
    NO = "no"


class _Row(RowModel):
    doc_id: Filled
    topic: Filled
    model_name: Filled
    sent_idx: Filled
    summ_sent: Filled
    sent_label: OneOf[_Label]
    exp: str = ""
    type: str = ""


class TofuEvalLoader:
    """Reads a folder of TofuEval's tables of factual consistency and of its documents."""

    name = "tofueval"
    description = "TofuEval: sentences of summaries of dialogues, labelled by linguists"
    layout = "a folder: *_factual_eval_*.csv, and *_doc.csv of doc_id or meeting_id, source"
    source = "github.com/amazon-science/tofueval (documents: MediaSum, MeetingBank)"

    def detect(self, path: Path) -> str | None:
        """By the columns of its tables."""
        labels, _ = self._tables(path)
        return None if labels else "no table with the columns summ_sent and sent_label"

    def _tables(self, path: Path) -> tuple[list[Path], list[Path]]:
        labels, documents = [], []
        for one in table_files(path if path.is_dir() else path.parent):
            if not path.is_dir() and keys_of(path) is None:
                continue
            keys = keys_of(one) or frozenset()
            if {"summ_sent", "sent_label", "doc_id"} <= keys:
                if path.is_dir() or one == path:
                    labels.append(one)
            elif "source" in keys and not keys.isdisjoint(_IDS):
                documents.append(one)
        return labels, documents

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it; a document's summaries, one a topic and model, belong to one process.

        Raises:
            InputError: It cannot be read, or the documents are not there; the message names the
                row and the column.
        """
        labels, found = self._tables(path)
        if not labels:
            raise InputError(f"{path} holds no table with the columns summ_sent and sent_label.")
        if not found:
            raise InputError(
                f"The documents of TofuEval are not beside {labels[0]}: tables (*_doc.csv) with "
                "the columns doc_id or meeting_id, and source. The README of TofuEval says how to "
                "make them from MediaSum and MeetingBank."
            )
        documents = _documents(found)
        building = Building(path, self.name, "TofuEval", skip_bad=skip_bad)
        numbers = count(1)
        for table in labels:
            summaries: dict[tuple[str, str, str], list[tuple[str, _Row]]] = {}
            for where, row in building.rows(table, _Row):
                if row.doc_id not in documents:
                    building.fault(where, "doc_id", f"{row.doc_id!r} is in no table of documents")
                    continue
                key = (row.doc_id, row.topic, row.model_name)
                summaries.setdefault(key, []).append((where, row))
            for rows in summaries.values():
                self._summary(building, documents, next(numbers), rows)
        return building.finish(description="Sentences of summaries of dialogues.")

    def _summary(
        self,
        building: Building,
        documents: dict[str, str],
        number: int,
        rows: list[tuple[str, _Row]],
    ) -> None:
        first_place, first = rows[0]
        process = building.process(
            first.doc_id, {"document/1": documents[first.doc_id]}, first_place, name=first.doc_id
        )
        rows = self._ordered(building, rows)
        node = building.answer(
            process,
            f"summary/{number}",
            " ".join(row.summ_sent.strip() for _, row in rows),
            first_place,
            question=first.topic,
            metadata={"model_name": first.model_name},
        )
        for where, row in rows:
            is_one = row.sent_label is _Label.YES
            comment = "; ".join(one.strip() for one in (row.type, row.exp) if one.strip())
            said = AnnotatorLabel.FULLY_SUPPORTED if is_one else AnnotatorLabel.NOT_FULLY_SUPPORTED
            building.claim(
                where,
                process_id=process,
                claim_id=f"{number}-{row.sent_idx}",
                text=row.summ_sent,
                node_id=node,
                label=verdict_of(is_one),
                label_origin=f"TofuEval: {row.type.strip()}" if row.type.strip() else "TofuEval",
                labels=(annotation("linguist", said, comment),),
            )

    def _ordered(self, building: Building, rows: list[tuple[str, _Row]]) -> list[tuple[str, _Row]]:
        """The sentences of a summary in their order, each once."""
        found: dict[str, tuple[str, _Row]] = {}
        for where, row in rows:
            before = found.setdefault(row.sent_idx, (where, row))
            if before[0] == where:
                continue
            if before[1] == row:
                building.count("row that repeats another one: kept once")
            else:
                building.fault(where, "sent_idx", f"is {row.sent_idx} again, as in {before[0]}")
        return sorted(found.values(), key=lambda one: (len(one[1].sent_idx), one[1].sent_idx))


class OneSummaryLoader(TofuEvalLoader):
    """Reads one summary of each topic, drawn at random, the same in every call and split.

    Source: Error-tolerant attribution 4.1 (300 summaries; it does not say which).
    """

    name = "tofueval-one"
    description = f"{TofuEvalLoader.description}; one summary of each topic, drawn at random"
    split: str | None = None
    """Which of TofuEval's parts is read, by the names of the tables; None: all."""

    def _tables(self, path: Path) -> tuple[list[Path], list[Path]]:
        labels, documents = super()._tables(path)
        return [one for one in labels if self._is_of_split(one)], documents

    def _is_of_split(self, table: Path) -> bool:
        return self.split is None or f"_{self.split}." in table.name

    def detect(self, path: Path) -> str | None:
        """Never by itself, since `tofueval` reads the same files."""
        return super().detect(path) or "must be named, as tofueval reads the same files"

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read the claims of these summaries; the processes keep the others, too.

        Raises:
            InputError: As `TofuEvalLoader.load` says.
        """
        found = super().load(path, skip_bad=skip_bad)
        nodes: dict[tuple[str, str], list[str]] = {}
        for process_id, opened in found.processes.items():
            for record in opened().records():
                if isinstance(record, NodeRecord) and record.question is not None:
                    nodes.setdefault((process_id, record.question), []).append(record.node_id)
        drawn = {(key[0], _drawn(key, names)) for key, names in nodes.items()}
        claims = tuple(one for one in found.claims if (one.process_id, one.node_id) in drawn)
        return replace(found, name=f"{found.name}, one summary of each topic", claims=claims)


class OneSummaryDevLoader(OneSummaryLoader):
    """Reads the summaries of the 70 documents for development. Source: the same."""

    name = "tofueval-one-dev"
    description = f"{OneSummaryLoader.description}; documents for development"
    split = "dev"


class OneSummaryTestLoader(OneSummaryLoader):
    """Reads the summaries of the 30 documents for tests. Source: the same."""

    name = "tofueval-one-test"
    description = f"{OneSummaryLoader.description}; documents for tests"
    split = "test"


def _drawn(key: tuple[str, str], names: list[str]) -> str:
    """One of the summaries of a document about a topic, whatever else is read.

    Summaries are numbered in the order of the tables, so that these are drawn from by place.
    """
    draw = random.Random("/".join(key))  # noqa: S311  # a sample, not a secret
    return draw.choice(sorted(names, key=lambda name: (len(name), name)))


def _documents(tables: list[Path]) -> dict[str, str]:
    """The documents by id."""
    found: dict[str, str] = {}
    for table in tables:
        read = read_table(table, ["source"])
        name = next(one for one in _IDS if one in read.columns)
        for row in read.rows:
            key, text = row.required(name), row.required("source")
            if key in found and found[key] != text:
                row.fault("duplicate", name, f"{key!r} has another text before")
            found[key] = text
        read.check()
    return found

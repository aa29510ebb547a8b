"""TofuEval as its authors publish it: sentences of summaries with labels, documents beside them.

The labels are in `{mediasum,meetingbank}_factual_eval_{dev,test}.csv`. The documents have other
licences and are not among them; the instructions of TofuEval make `{…}_{dev,test}_doc.csv`, which
have to be below the same folder.

Source: Error-tolerant attribution 4.1; the layout is that of TofuEval's repository.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.evaluation.datasets.model import Dataset, LabelledClaim
from veritrail_graph.evaluation.tables import read_table
from veritrail_graph.graph.contract import FORMAT as PROCESS_FORMAT
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.process_file.importer import document_input
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.model import Verdict

_LABELS = re.compile(r"(?P<name>mediasum|meetingbank)_factual_eval_(?P<split>dev|test)\.csv")
_COLUMNS = ("doc_id", "topic", "model_name", "sent_idx", "summ_sent", "sent_label")
_VERDICTS = {"yes": Verdict.FULLY_SUPPORTED, "no": Verdict.NOT_FULLY_SUPPORTED}
_SEED = 0
_SUMMARY_STAGE = 2
DOCUMENT = "document"
"""The node_id of the document in each process."""


@dataclass(frozen=True)
class _Document:
    """A document with its summaries.

    Attributes:
        process_id: The process that it becomes.
        doc_id: What TofuEval calls it.
        text: Its text.
        summaries: The sentences of each summary by topic and model: text and label, by place.
    """

    process_id: str
    doc_id: str
    text: str
    summaries: dict[tuple[str, str], dict[int, tuple[str, Verdict]]] = field(default_factory=dict)


class TofuEvalLoader:
    """Reads all summaries of TofuEval, or one of each topic.

    A process is a document with its summaries, a claim is a sentence of a summary.
    """

    name = "tofueval"
    description = "TofuEval: a folder with its *_factual_eval_*.csv and *_doc.csv, or one of these"
    per_topic: int | None = None

    def detect(self, path: Path) -> str | None:
        """By the names of its files."""
        return None if _label_files(path) else "no *_factual_eval_dev.csv or …_test.csv in it"

    def load(self, path: Path) -> Dataset:
        """Read it; the file of one split alone gives that split.

        Raises:
            InputError: A table has faults, or no document is there.
        """
        found = _label_files(path)
        if not found:
            raise InputError(f"{path}: {self.detect(path)}")
        documents: list[_Document] = []
        remarks: list[str] = []
        for table in found:
            documents += _read(table, remarks)
        if not documents:
            raise InputError(f"{path}: no document of these summaries is there. " + remarks[0])
        draw = random.Random(_SEED)  # noqa: S311  # a sample, not a secret
        claims: list[LabelledClaim] = []
        for one in documents:
            if self.per_topic is not None:
                _keep(one, self.per_topic, draw)
            claims += _claims(one)
        return Dataset(
            self.name,
            {one.process_id: partial(_opened, path, one) for one in documents},
            tuple(claims),
            description=f"{sum(len(one.summaries) for one in documents):,} summaries of "
            f"{len(documents):,} documents, labelled sentence by sentence.",
            remarks=tuple(remarks),
        )


class OneSummaryLoader(TofuEvalLoader):
    """Reads one summary of each topic, drawn at random, the same in every call.

    Source: Error-tolerant attribution 4.1 (300 summaries; which ones it does not say).
    """

    name = "tofueval-one"
    description = f"{TofuEvalLoader.description}; one summary of each topic, drawn at random"
    per_topic = 1

    def detect(self, path: Path) -> str | None:
        """Never by itself: it has to be named."""
        return "has to be named"


def _label_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if _LABELS.fullmatch(path.name) else []
    if not path.is_dir():
        return []
    below = [*path.glob("*.csv"), *path.glob("*/*.csv")]
    return sorted(one for one in below if _LABELS.fullmatch(one.name))


def _read(path: Path, remarks: list[str]) -> list[_Document]:
    match = _LABELS.fullmatch(path.name)
    name, split = match.groups() if match else ("", "")
    texts = _texts(path, f"{name}_{split}_doc.csv", remarks)
    documents: dict[str, _Document] = {}
    lacking: dict[str, None] = {}
    table = read_table(path, _COLUMNS)
    for row in table.rows:
        doc_id = row.required("doc_id")
        key = row.required("topic"), row.required("model_name")
        text, label = row.required("summ_sent"), row.required("sent_label")
        place = row.number("sent_idx", 0)
        if label and label not in _VERDICTS:
            row.fault("unknown_value", "sent_label", f"{shown(label)} is neither yes nor no")
        if place is None or not place.is_integer():
            row.fault("not_a_number", "sent_idx", "must be a whole number")
        if len(table.faults) or place is None:
            continue
        if doc_id not in texts:
            lacking[doc_id] = None
            continue
        one = documents.setdefault(
            doc_id, _Document(_process_id(name, split, doc_id), doc_id, texts[doc_id])
        )
        sentences = one.summaries.setdefault(key, {})
        if int(place) in sentences:
            remarks.append(f"{path.name}, {row.where}: the sentence is there already, left out")
        else:
            sentences[int(place)] = text, _VERDICTS[label]
    table.check()
    if lacking:
        remarks.append(
            f"{path.name}: {len(lacking)} document(s) have no text, such as "
            f"{shown(next(iter(lacking)))}; "
            f"{name}_{split}_doc.csv (columns doc_id or meeting_id, and source) brings them."
        )
    return list(documents.values())


def _texts(labels: Path, name: str, remarks: list[str]) -> Mapping[str, str]:
    """The documents of a split, beside the labels or in a folder next to theirs."""
    folders = (labels.parent, labels.parent.parent, *sorted(labels.parent.parent.glob("*/")))
    path = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if path is None:
        remarks.append(f"{name} is not there, so {labels.name} has no documents.")
        return {}
    _, header = next(files.delimited(path), (0, []))
    key = "meeting_id" if "meeting_id" in header else "doc_id"
    table = read_table(path, (key, "source"))
    found = {row.required(key): row.required("source") for row in table.rows}
    table.check()
    return found


def _process_id(name: str, split: str, doc_id: str) -> str:
    """`mediasum.dev.NPR-5615`; what an id must not hold becomes a hyphen."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{name}.{split}.{doc_id}")[:128]


def _keep(one: _Document, per_topic: int, draw: random.Random) -> None:
    models: dict[str, list[str]] = {}
    for topic, model in one.summaries:
        models.setdefault(topic, []).append(model)
    kept = {
        (topic, model)
        for topic, names in models.items()
        for model in draw.sample(sorted(names), min(per_topic, len(names)))
    }
    for key in [key for key in one.summaries if key not in kept]:
        del one.summaries[key]


def _claims(one: _Document) -> Iterator[LabelledClaim]:
    for number, ((topic, model), sentences) in enumerate(one.summaries.items(), start=1):
        for place, (text, label) in sorted(sentences.items()):
            unfaithful = label is Verdict.NOT_FULLY_SUPPORTED
            yield LabelledClaim(
                process_id=one.process_id,
                claim_id=f"s{number}.{place}",
                text=text,
                node_id=_summary_id(topic, model),
                label=label,
                label_origin="annotated",
                error_stages=(_SUMMARY_STAGE,) if unfaithful else None,
                documents=(DOCUMENT,),
            )


def _summary_id(topic: str, model: str) -> str:
    return f"{topic} / {model}"


def _opened(path: Path, one: _Document) -> ProcessInput:
    nodes: list[dict[str, Any]] = [
        {"node_id": DOCUMENT, "text": one.text, "stage": 1, "metadata": {"document": one.doc_id}}
    ]
    names: Sequence[str] = [_summary_id(*key) for key in one.summaries]
    for name, ((topic, _), sentences) in zip(names, one.summaries.items(), strict=True):
        text = " ".join(text for _, (text, _) in sorted(sentences.items()))
        question = f"Summarise the document with a focus on: {topic}"
        nodes.append({"node_id": name, "text": text, "stage": _SUMMARY_STAGE, "question": question})
    return document_input(
        path,
        {
            "format": PROCESS_FORMAT,
            "process_id": one.process_id,
            "name": one.doc_id,
            "stages": {"1": "document", "2": "summary"},
            "nodes": nodes,
            "edges": [{"source": DOCUMENT, "target": name} for name in names],
            "terminals": list(names),
        },
    )

"""RAGTruth: answers of six models, with the spans that their sources do not support.

Source: Wu et al. 2023, "RAGTruth: A Hallucination Corpus for Developing Trustworthy
Retrieval-Augmented Language Models".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from veritrail_eval.datasets.loaders.building import (
    Building,
    Filled,
    RowModel,
    annotation,
    verdict_of,
)
from veritrail_eval.datasets.loaders.detecting import keys_of
from veritrail_eval.datasets.loaders.spans import MarkedText
from veritrail_eval.datasets.model import AnnotatorLabel, Dataset
from veritrail_graph.graph.errors import InputError

RESPONSES = "response.jsonl"
SOURCES = "source_info.jsonl"
GOOD = "good"
"""The quality of the responses that RAGTruth's own evaluation takes."""
_PASSAGE = re.compile(r"(?m)^passage \d+:")


def _kind(text: str) -> str:
    if not any(word in text.lower() for word in ("conflict", "baseless")):
        raise PydanticCustomError("kind", "names neither a conflict nor baseless information")
    return text


class _Span(RowModel):
    start: int
    end: int
    text: str
    label_type: Annotated[str, AfterValidator(_kind)]
    meta: str | None = None
    implicit_true: bool | None = None

    @property
    def first(self) -> int:
        return self.start

    @property
    def label(self) -> AnnotatorLabel:
        is_conflict = "conflict" in self.label_type.lower()
        return AnnotatorLabel.REFUTED if is_conflict else AnnotatorLabel.INSUFFICIENT


class _Response(RowModel):
    id: Filled
    source_id: Filled
    model: Filled
    labels: list[_Span]
    response: str
    split: str | None = None
    quality: str | None = None


class _Source(RowModel):
    source_id: Filled
    task_type: Filled
    source_info: Filled | dict[str, Any]


class RagTruthLoader:
    """Reads RAGTruth's responses with their sources."""

    name = "ragtruth"
    description = "RAGTruth: sentences of answers, with the spans that sources do not support"
    layout = f"a folder of {RESPONSES} and {SOURCES}, gzipped or not"
    source = "github.com/ParticleMedia/RAGTruth, dataset"

    def detect(self, path: Path) -> str | None:
        """By the keys of the responses."""
        responses, sources = _files(path)
        if responses is None:
            return f"no {RESPONSES}"
        if not {"source_id", "labels", "response"} <= (keys_of(responses) or frozenset()):
            return f"{responses.name} lacks the keys source_id, labels or response"
        return None if sources is not None else f"no {SOURCES} beside {responses.name}"

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it; the answers from one source belong to one process.

        Raises:
            InputError: It cannot be read; the message names the line and the key.
        """
        responses, sources = _files(path)
        if responses is None or sources is None:
            raise InputError(f"{path} must hold both {RESPONSES} and {SOURCES}.")
        building = Building(path, self.name, "RAGTruth", skip_bad=skip_bad)
        known: dict[str, _Source] = {}
        for where, source in building.rows(sources, _Source):
            if source.source_id in known:
                building.fault(where, "source_id", f"{source.source_id!r} was there before")
            known.setdefault(source.source_id, source)
        seen: set[str] = set()
        for where, row in building.rows(responses, _Response):
            found = known.get(row.source_id)
            if found is None:
                building.fault(where, "source_id", f"{row.source_id!r} is not in {sources.name}")
            elif row.id in seen:
                building.fault(where, "id", f"{row.id!r} is the id of a response before it")
            else:
                seen.add(row.id)
                _add(building, row, found, where)
        return building.finish(description="Sentences of answers from sources.", licence="MIT")


def _files(path: Path) -> tuple[Path | None, Path | None]:
    """The responses, and the sources beside them; the path is a folder or the responses."""
    folder = path if path.is_dir() else path.parent
    found = []
    for name in (RESPONSES, SOURCES):
        names = (name, f"{name}.gz")
        found.append(next((folder / one for one in names if (folder / one).is_file()), None))
    if not path.is_dir() and found[0] != path:
        return None, None
    return found[0], found[1]


def _add(building: Building, row: _Response, source: _Source, where: str) -> None:
    marked = MarkedText(row.response, row.labels)
    for number, span in enumerate(row.labels):
        wrong = marked.why_outside(span)
        if wrong is not None:
            building.fault(where, f"labels.{number}", wrong)
            return
    if row.quality not in (None, GOOD):
        building.count(f"response of the quality {row.quality}: left out")
        return
    if not row.response.strip():
        building.count("response without a text")
        return
    question, documents = _documents(source)
    process = building.process(
        f"source-{row.source_id}", documents, where, question=question, name=source.task_type
    )
    about = {"model": row.model, "split": row.split}
    node = building.answer(process, f"response/{row.id}", row.response, where, metadata=about)
    moved = sum(row.response[one.start : one.end] != one.text for one in row.labels)
    if moved:
        building.count("span whose text is not what is at its place: the place counts", moved)
    if marked.unplaced():
        building.count("span that overlaps no sentence", marked.unplaced())
    for sentence, spans in marked.sentences():
        kinds = sorted({one.label_type for one in spans})
        building.claim(
            where,
            process_id=process,
            claim_id=f"{row.id}-s{sentence.index + 1}",
            text=sentence.text,
            node_id=node,
            label=verdict_of(not spans),
            label_origin=f"RAGTruth: {', '.join(kinds) or 'no span'}",
            labels=_said(spans),
        )


def _said(spans: tuple[_Span, ...]) -> tuple[Any, ...]:
    """Return what the annotators said of a sentence, as one: the data set does not name them."""
    if not spans:
        return ()
    labels = {one.label for one in spans}
    refuted = AnnotatorLabel.REFUTED in labels
    lines = []
    for one in spans:
        note = " ".join((one.meta or "").split())
        true = " (true, but not in the source)" if one.implicit_true else ""
        lines.append(f"{one.label_type}{true}: {json.dumps(one.text, ensure_ascii=False)}. {note}")
    label = AnnotatorLabel.REFUTED if refuted else AnnotatorLabel.INSUFFICIENT
    return (annotation("RAGTruth", label, "\n".join(one.strip() for one in lines)),)


def _documents(source: _Source) -> tuple[str | None, Mapping[str, str]]:
    """The question and the roots of a source: passages, reviews and other facts, or an article."""
    info = source.source_info
    if isinstance(info, str):
        return None, {"document/1": info}
    question, passages = info.get("question"), info.get("passages")
    if isinstance(passages, str) and passages.strip():
        starts = [found.start() for found in _PASSAGE.finditer(passages)] or [0]
        ends = [*starts[1:], len(passages)]
        parts = [passages[first:end].strip() for first, end in zip(starts, ends, strict=True)]
        head = passages[: starts[0]].strip()
        parts = [*([head] if head else []), *parts]
        asked = question.strip() if isinstance(question, str) else ""
        return asked or None, {f"passage/{n}": one for n, one in enumerate(parts, 1) if one}
    reviews = info.get("review_info")
    listed = reviews if isinstance(reviews, list) else []
    facts = {key: value for key, value in info.items() if key != "review_info" or not listed}
    found = {"facts": _as_text(facts)} if facts else {}
    return None, {**found, **{f"review/{n}": _as_text(one) for n, one in enumerate(listed, 1)}}


def _as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)

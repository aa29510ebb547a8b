"""Answers over an index of LightRAG, and what the model was given to write them.

A text file is an answer alone. JSON is one of these, or a list of them (`FILE#N` picks one):

- what `aquery_llm` returns: the answer under `llm_response`, what was given under `data`;
- what `/query` of the server returns, `response` and `references`, with the `data` of
  `/query/data` (`aquery_data`) beside it, or with the text of `only_need_context` as `context`;
- `answer` and `question`, with the same.

Without a file, the answers are those that the cache of the working folder keeps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.answer_file import (
    entries_of,
    parse_json,
    read_text,
    split_option,
)
from veritrail_graph.graph.importers.lightrag.extractions import CachedAnswer

_TEXTS = ("answer", "response", "result")
_QUESTIONS = ("question", "query")
_KNOWN = frozenset({
    *_TEXTS, *_QUESTIONS, "llm_response", "data", "context", "references", "metadata", "status",
    "message", "response_time", "llm_generated", "answer_id", "mode",
})  # fmt: skip
_CITED = re.compile(r"\[(\d{1,6})\]")
_NO_CONTEXT = frozenset({"naive", "bypass"})
"""Modes in which a query is given no descriptions."""

Pair = tuple[tuple[str, ...], str]
"""Names of an entity or relationship, and its description as it was given."""


@dataclass(frozen=True, slots=True)
class GivenChunk:
    """A chunk that an answer was given.

    Attributes:
        key: LightRAG's id, or empty.
        text: Its text, or empty.
        reference: The number by which the answer can cite it, or empty.
    """

    key: str
    text: str
    reference: str


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """An answer, and what is known of what it was given; None: that is not known.

    Attributes:
        text: It.
        where: The place that it was read from.
        question: What it answers.
        described: Entities and relationships that it was given.
        chunks: Chunks that it was given.
        documents: Documents of which it was given chunks.
        own_id: What tells it from others, or None.
        unread: Keys of its file that are not understood.
    """

    text: str
    where: str
    question: str | None = None
    described: tuple[Pair, ...] | None = None
    chunks: tuple[GivenChunk, ...] | None = None
    documents: tuple[str, ...] | None = None
    own_id: str | None = None
    unread: tuple[str, ...] = ()

    @property
    def cited(self) -> frozenset[str]:
        """Return the numbers of the references that its text names."""
        return frozenset(_CITED.findall(self.text))


def read_answers(option: str, cached: Iterable[CachedAnswer]) -> list[QueryAnswer]:
    """Read the answers of a file.

    Args:
        option: `FILE`, or `FILE#N` for entry N of a list.
        cached: The answers that the cache keeps: one of the same text knows the question.

    Raises:
        InputError: It cannot be read, or holds something else.
    """
    questions = {one.text.strip(): one.question for one in cached}
    path, number = split_option(option)
    text = read_text(path)
    if number is None and path.suffix.lower() != ".json":
        if not text.strip():
            raise InputError(f"{path}: the answer is empty; there is nothing to verify.")
        return [QueryAnswer(text.strip(), str(path), questions.get(text.strip()))]
    found = []
    for where, entry in entries_of(path, number, parse_json(path, text)):
        answer = _answer(entry, where)
        if answer.question is None:
            answer = replace(answer, question=questions.get(answer.text.strip()))
        found.append(answer)
    return found


def of_cache(cached: Iterable[CachedAnswer], where: str) -> Iterator[QueryAnswer]:
    """Yield the answers that the cache keeps, each once; what they were given it does not keep."""
    seen = set()
    for one in cached:
        if (one.question, one.text) not in seen:
            seen.add((one.question, one.text))
            described = () if one.mode in _NO_CONTEXT else None
            yield QueryAnswer(one.text, f"{where}, {one.key}", one.question, described)


def _answer(entry: Any, where: str) -> QueryAnswer:
    if isinstance(entry, str):
        entry = {"answer": entry}
    if not isinstance(entry, Mapping):
        raise InputError(
            f"{where}: an answer is a text, or an object with `response` or `answer`, or what "
            "aquery_llm returns."
        )
    text = _text_of(entry, where)
    unread = [f"unknown keys are not read: {some(rest)}"] if (rest := _rest(entry)) else []
    question = next((entry[key] for key in _QUESTIONS if entry.get(key) is not None), None)
    if question is not None and not isinstance(question, str):
        unread.append("the question is no text")
        question = None
    given = _of_data(entry["data"], unread) if entry.get("data") else _Given()
    if isinstance(context := entry.get("context"), str) and context.strip():
        given = given.or_else(_of_context(context, unread))
    elif context is not None and not isinstance(context, str):
        unread.append("`context` is no text")
    given = given.or_else(_of_references(entry.get("references"), unread))
    metadata = entry.get("metadata")
    mode = metadata.get("query_mode") if isinstance(metadata, Mapping) else entry.get("mode")
    if given.described is None and mode in _NO_CONTEXT:
        given = replace(given, described=())
    own = entry.get("answer_id")
    if own is not None and not isinstance(own, str):
        raise InputError(f"{where}: `answer_id` is no text.")
    return QueryAnswer(
        text, where, question, given.described, given.chunks, given.documents, own, tuple(unread)
    )


def _rest(entry: Mapping[str, Any]) -> list[str]:
    return sorted(str(key) for key in entry if key not in _KNOWN)


def _text_of(entry: Mapping[str, Any], where: str) -> str:
    written = entry.get("llm_response")
    text = written.get("content") if isinstance(written, Mapping) else None
    if text is None:
        text = next((entry[key] for key in _TEXTS if entry.get(key) is not None), None)
    if text is None and isinstance(written, Mapping) and written.get("is_streaming"):
        raise InputError(f"{where}: the answer was streamed, and its text is not in the file.")
    if not isinstance(text, str) or not text.strip():
        keys = some([str(key) for key in entry]) or "none"
        raise InputError(
            f"{where}: the text of the answer is needed under `response` or `answer`, or under "
            f"`llm_response`, as aquery_llm returns it; there are: {keys}."
        )
    return text.strip()


@dataclass(frozen=True, slots=True)
class _Given:
    """The texts that an answer was given; None: that is not known."""

    described: tuple[Pair, ...] | None = None
    chunks: tuple[GivenChunk, ...] | None = None
    documents: tuple[str, ...] | None = None

    def or_else(self, other: _Given) -> _Given:
        """Return this, with what another knows in place of what is not known here."""
        return _Given(
            other.described if self.described is None else self.described,
            other.chunks if self.chunks is None else self.chunks,
            other.documents if self.documents is None else self.documents,
        )


def _of_data(data: Any, unread: list[str]) -> _Given:
    """Read what `aquery_data` returns under `data`."""
    if isinstance(data, Mapping) and isinstance(data.get("data"), Mapping):
        data = data["data"]  # the whole result, put beside the answer
    if not isinstance(data, Mapping):
        unread.append("`data` is no object with `entities`, `relationships` and `chunks`")
        return _Given()
    if not {"entities", "relationships", "chunks"} & {*data}:
        return _Given()
    pairs = []
    for group, ends in (("entities", _ENTITY), ("relationships", _RELATIONSHIP)):
        for row in _rows(data, group, unread):
            pairs += _pair(row, ends, group, unread)
    chunks = [_chunk(row) for row in _rows(data, "chunks", unread)]
    return _Given(tuple(pairs), tuple(one for one in chunks if one.key or one.text))


_ENTITY = (("entity_name", "entity"),)
_RELATIONSHIP = (("src_id", "entity1"), ("tgt_id", "entity2"))


def _rows(data: Mapping[str, Any], group: str, unread: list[str]) -> Iterator[Mapping[str, Any]]:
    rows = data.get(group)
    if rows is not None and not isinstance(rows, list):
        unread.append(f"`{group}` is no list")
        return
    for row in rows or ():
        if isinstance(row, Mapping):
            yield row
        else:
            unread.append(f"`{group}` holds an entry that is no object")


def _pair(
    row: Mapping[str, Any], ends: tuple[tuple[str, ...], ...], group: str, unread: list[str]
) -> list[Pair]:
    names = [next((row[key] for key in keys if row.get(key)), None) for keys in ends]
    if not all(isinstance(name, str) for name in names):
        unread.append(f"`{group}` holds an entry without a name")
        return []
    text = row.get("description")
    return [(tuple(str(name) for name in names), text if isinstance(text, str) else "")]


def _chunk(row: Mapping[str, Any]) -> GivenChunk:
    values = (row.get(key) for key in ("chunk_id", "content", "reference_id"))
    key, text, reference = (str(one) if isinstance(one, str | int) else "" for one in values)
    return GivenChunk(key, text, reference)


def _of_context(context: str, unread: list[str]) -> _Given:
    """Read the text that `only_need_context` gives: objects, one a line, or lists of them."""
    pairs: list[Pair] = []
    chunks = []
    for row in _objects(context):
        if "content" in row and "entity" not in row:
            chunks.append(_chunk(row))
        elif "entity1" in row or "src_id" in row:
            pairs += _pair(row, _RELATIONSHIP, "context", unread)
        elif "entity" in row or "entity_name" in row:
            pairs += _pair(row, _ENTITY, "context", unread)
    if not pairs and not chunks:
        unread.append("`context` holds no entities, relationships or chunks that are understood")
        return _Given()
    return _Given(tuple(pairs), tuple(chunks))


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.splitlines():
        begin = line.strip()
        if begin[:1] not in ("{", "["):
            continue
        try:
            value = json.loads(begin)
        except (ValueError, RecursionError):
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Mapping):
                yield one


def _of_references(references: Any, unread: list[str]) -> _Given:
    """Read the references of the server's `/query`: documents, and texts of chunks if asked for."""
    if references is None:
        return _Given()
    if not isinstance(references, list):
        unread.append("`references` is no list")
        return _Given()
    chunks, documents = [], []
    for row in _rows({"references": references}, "references", unread):
        number, contents = str(row.get("reference_id") or ""), row.get("content")
        texts = [contents] if isinstance(contents, str) else contents
        texts = [one for one in texts if isinstance(one, str)] if isinstance(texts, list) else []
        chunks += [GivenChunk("", one, number) for one in texts]
        if isinstance(row.get("file_path"), str):
            documents.append(row["file_path"])
    return _Given(None, tuple(chunks) or None, tuple(documents) or None)

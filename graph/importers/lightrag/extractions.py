"""The cache of a model's answers: what was extracted from each chunk, and how it was summarised.

Today an entry stands under `MODE:TYPE:HASH` and says its `cache_type` and, of an extraction, its
`chunk_id`. Up to 1.3 it stood under its mode and its hash; then an extraction names no chunk, and
the chunk is the one whose text is in the prompt.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.importers.lightrag.folder import SEPARATOR, Chunk

_DELIMITER = re.compile(r"<\|(?:[A-Za-z#]\|)?>")
_RECORD_ENDS = re.compile(r"\n|<\|COMPLETE\|>", re.IGNORECASE)
_EARLIER = "<|>"
"""The delimiter of earlier releases, which ended a record with `##` and gave a relationship's
description before its keywords."""

_HEAD = 80
_FENCE = re.compile(r"^```\w*|```$")
_NAMED = re.compile(r"^(?:Entity|Relation) Name: (.*)$", re.MULTILINE)
_UNSEEN = re.compile(r"</?(?:p|br)\s*/?>|[\s\"'\u2018-\u201d\u300a-\u300f]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Extraction:
    """A description that a model took out of a chunk.

    Attributes:
        names: The name of the entity, or those of the two of a relationship.
        text: The description.
        chunk: Id of the chunk.
    """

    names: tuple[str, ...]
    text: str
    chunk: str


@dataclass(frozen=True, slots=True)
class Summary:
    """A description that a model wrote from several.

    Attributes:
        text: It.
        about: What the prompt says it is about, as a key; empty: it does not say.
        given: The descriptions that it was given; None: they are found in the prompt.
        prompt: The prompt, as a key.
    """

    text: str
    about: str
    given: tuple[str, ...] | None
    prompt: str


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """The answer to a query.

    Attributes:
        text: It.
        question: The query.
        mode: The mode of the query.
        key: Its key in the cache.
    """

    text: str
    question: str | None
    mode: str | None
    key: str


@dataclass(slots=True)
class Calls:
    """The calls of which the cache keeps the answer.

    Attributes:
        extractions: By the keys of their names, in no order.
        summaries: By the key of their text.
        answers: Answers to queries.
        read: Ids of the chunks whose extraction is kept.
        unread: Keys of entries that are not understood.
    """

    extractions: dict[frozenset[str], list[Extraction]] = field(
        default_factory=lambda: defaultdict(list)
    )
    summaries: dict[str, list[Summary]] = field(default_factory=lambda: defaultdict(list))
    answers: list[CachedAnswer] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)

    @property
    def warnings(self) -> Iterator[str]:
        """Yield what of the cache was not understood."""
        if self.unread:
            yield (
                f"{len(self.unread):,} of the entries of the cache are not understood "
                f"({some(self.unread)})."
            )


def key_of(text: str) -> str:
    """Return a text without what LightRAG changes in it before it stores it.

    Spaces between Chinese characters, quotation marks, wide letters, dashes.
    """
    plain = unicodedata.normalize("NFKC", text).replace("—", "-")
    return _UNSEEN.sub("", plain).casefold()


def key_of_names(names: tuple[str, ...]) -> frozenset[str]:
    """Return the names of an entity, or of the two of a relationship, in no order."""
    return frozenset(key_of(name) for name in names)


def read_calls(cache: Mapping[str, Any], chunks: Mapping[str, Chunk]) -> Calls:
    """Read what the cache keeps of extractions, summaries and answers."""
    calls = Calls()
    readers: dict[str, list[str]] = defaultdict(list)
    heads: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks.values():
        heads[_head(chunk.text.strip().splitlines()[0])].append(chunk)
        for name in chunk.calls:
            readers[name].append(chunk.key)
    for key, mode, entry in _entries(cache):
        text, prompt = entry.get("return"), entry.get("original_prompt")
        prompt = prompt if isinstance(prompt, str) else ""
        if not isinstance(text, str):
            calls.unread.append(key)
            continue
        kind = entry.get("cache_type") or _kind(text, prompt, mode)
        if kind == "extract" and "Description List" in prompt and not _DELIMITER.search(text):
            kind = "summary"  # releases before 1.4 kept both under one type
        if kind == "extract":
            named = [*readers[key], entry.get("chunk_id")]
            of = dict.fromkeys(one for one in named if isinstance(one, str) and one in chunks)
            for chunk_key in of or _in_prompt(prompt, heads):
                calls.read.add(chunk_key)
                for names, description in _extracted(text):
                    found = Extraction(names, description, chunk_key)
                    calls.extractions[key_of_names(names)].append(found)
        elif kind == "summary":
            calls.summaries[key_of(text)].append(_summary(text, prompt))
        elif kind == "query" and text.strip():
            calls.answers.append(CachedAnswer(text, prompt or None, mode, key))
    return calls


def _entries(cache: Mapping[str, Any]) -> Iterator[tuple[str, str | None, Mapping[str, Any]]]:
    """Yield key, mode and entry, of today's layout and the earlier one."""
    for key, value in cache.items():
        if not isinstance(value, Mapping):
            yield key, None, {}
        elif "return" in value:
            yield key, key.partition(":")[0] if ":" in key else None, value
        else:
            for inner, entry in value.items():
                yield inner, key, entry if isinstance(entry, Mapping) else {}


def _kind(text: str, prompt: str, mode: str | None) -> str:
    """Return the type of a call of a release that did not write it."""
    if _DELIMITER.search(text):
        return "extract"
    if "Description List" in prompt:
        return "summary"
    return "query" if mode not in (None, "default") else ""


def _head(line: str) -> str:
    return line.strip()[:_HEAD]


def _in_prompt(prompt: str, heads: Mapping[str, list[Chunk]]) -> list[str]:
    """Return the chunk whose text is in a prompt, on lines of its own: the longest."""
    begun = (one for line in prompt.splitlines() for one in heads.get(_head(line), ()))
    held = [one for one in begun if one.text.strip() in prompt]
    return [max(held, key=lambda one: len(one.text)).key] if held else []


def _extracted(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield names and description of each record of an extraction."""
    found = _of_json(text)
    for names, description in _of_lines(text) if found is None else found:
        plain = tuple(name.strip().strip("\"'").strip() for name in names)
        described = description.strip()
        if described[:1] == '"' and described[-1:] == '"':
            described = described[1:-1].strip()
        if all(plain) and described and len(set(plain)) == len(plain):
            yield plain, described


def _of_json(text: str) -> list[tuple[tuple[str, ...], str]] | None:
    """Return the records of an extraction in JSON; None: it is in lines."""
    plain = _FENCE.sub("", text.strip()).strip()
    if not plain.startswith("{"):
        return None
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    found: list[tuple[tuple[str, ...], str]] = []
    for group, ends in (("entities", ("name",)), ("relationships", ("source", "target"))):
        rows = value.get(group)
        for row in rows if isinstance(rows, list) else ():
            values = [row.get(key) for key in (*ends, "description")] if _is_row(row) else []
            texts = [one for one in values if isinstance(one, str)]
            if len(texts) == len(ends) + 1:
                found.append((tuple(texts[:-1]), texts[-1]))
    return found


def _is_row(row: Any) -> bool:
    return isinstance(row, dict)


def _of_lines(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    for line in _RECORD_ENDS.split(text.replace("##", "\n") if _EARLIER in text else text):
        record = line.strip()
        if record.startswith("("):
            record = record[1:].removesuffix(")")
        fields = [one.strip() for one in _DELIMITER.split(record)]
        kind = fields[0].strip("\"' ").lower()
        if "relation" in kind and len(fields) >= 5:
            yield (fields[1], fields[2]), fields[3 if _EARLIER in line else 4]
        elif "entity" in kind and len(fields) == 5:  # LightRAG takes it for a relationship, too
            yield (fields[1], fields[2]), fields[4]
        elif "entity" in kind and len(fields) == 4:
            yield (fields[1],), fields[3]


def _summary(text: str, prompt: str) -> Summary:
    named = _NAMED.search(prompt)
    given = []
    for line in prompt.splitlines():
        if line.startswith('{"Description"'):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and isinstance(value.get("Description"), str):
                given.append(value["Description"].strip())
    about = key_of(named[1]) if named else ""
    return Summary(text, about, tuple(given) or None, key_of(prompt.replace(SEPARATOR, "\n")))

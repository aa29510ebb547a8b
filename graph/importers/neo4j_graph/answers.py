"""The file of an answer to a question that was asked of a graph, and what the answer used of it.

JSON: an object, or a list of them, in one of three forms:

- our own: `answer`, `question`, and ids in `chunks`, `entities`, `relationships`, `communities`;
- the answer of LLM Graph Builder's chat: `message`, and `info` with `nodedetails` and `entities`;
- the result of neo4j-graphrag: `answer`, and `retriever_result` with `items`.

An id is what the graph or this program calls something, or the engine's id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.answer_file import (
    entries_of,
    parse_json,
    read_text,
    split_option,
)
from veritrail_graph.graph.importers.neo4j_graph.shape import (
    CHUNK,
    COMMUNITY,
    ENTITY,
    RELATIONSHIP,
    Shape,
)

Used = list[tuple[str | None, str]]
"""Kind, or None for any, and id of what an answer used."""

_KEYS = {
    "chunks": CHUNK,
    "entities": ENTITY,
    "relationships": RELATIONSHIP,
    "communities": COMMUNITY,
}
_DETAILS = {
    "chunkdetails": CHUNK,
    "entitydetails": ENTITY,
    "communitydetails": COMMUNITY,
    "entityids": ENTITY,
    "relationshipids": RELATIONSHIP,
}
_OURS = {"answer", "response", "question", "query", "answer_id", *_KEYS}
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer and what it was given.

    Attributes:
        node_id: Its id in the process.
        text: It.
        question: What it answers, or None.
        where: The place it was read from.
        sources: element_ids of the texts that it was given.
    """

    node_id: str
    text: str
    question: str | None
    where: str
    sources: tuple[str, ...]


def read_answers(
    option: str, shape: Shape, question: str | None, answer_id: str | None
) -> list[StoredAnswer]:
    """The answers of a file.

    Args:
        option: `FILE`, or `FILE#N` for entry N of a list.
        shape: The graph that they were asked of; gets a warning where something has no text.
        question: The question, in place of the one in the file.
        answer_id: What the answer is called in the process, in place of its digest.

    Raises:
        InputError: It cannot be read, names nothing, or names what is not in the graph.
    """
    path, number = split_option(option)
    document = parse_json(path, read_text(path)) if path.suffix.lower() != ".txt" else None
    if document is None:
        raise InputError(
            f"{path}: a text does not say what the answer was given. A JSON object is needed, "
            "with `answer` and the ids in `chunks`, `entities`, `relationships`, `communities`."
        )
    chosen = entries_of(path, number, document)
    if len(chosen) > 1 and (question is not None or answer_id is not None):
        raise InputError(
            f"{path}: {len(chosen)} answers cannot have one question or id; name one as FILE#N."
        )
    found: dict[str, StoredAnswer] = {}
    for where, entry in chosen:
        answer = _answer(entry, where, shape, question, answer_id)
        if answer.node_id in found:
            raise InputError(
                f"{where}: is the same answer as {found[answer.node_id].where}. Leave one out, or "
                "give each an `answer_id`."
            )
        found[answer.node_id] = answer
    return list(found.values())


def _answer(
    entry: Any, where: str, shape: Shape, question: str | None, answer_id: str | None
) -> StoredAnswer:
    if not isinstance(entry, Mapping):
        raise InputError(f"{where}: an answer is an object with `answer` and what it was given.")
    if isinstance(entry.get("data"), Mapping) and "message" in entry["data"]:
        entry = entry["data"]  # LLM Graph Builder wraps what it sends
    text = next((entry[key] for key in ("answer", "response", "message") if key in entry), None)
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: the text of the answer is needed under `answer`.")
    asked = question or entry.get("question") or entry.get("query")
    if asked is not None and not isinstance(asked, str):
        raise InputError(f"{where}: `question` is no text.")
    used, lenient = _used(entry, where)
    sources = _resolved(used, where, shape, lenient=lenient)
    own = answer_id or entry.get("answer_id")
    if own is not None and not isinstance(own, str):
        raise InputError(f"{where}: `answer_id` is no text.")
    digest = hashlib.sha256(f"{asked or ''}\0{text}".encode(errors="surrogatepass")).hexdigest()
    return StoredAnswer(f"answer:{own or digest[:12]}", text, asked, where, tuple(sources))


def _used(entry: Mapping[str, Any], where: str) -> tuple[Used, bool]:
    """Return what an answer used, and whether a program wrote it, naming what has no text."""
    if "retriever_result" in entry:
        return _of_retriever(entry["retriever_result"], where), True
    if isinstance(entry.get("info"), Mapping):
        info = entry["info"]
        groups = [info.get(key) for key in ("nodedetails", "entities")]
        pairs = ((key, group) for group in groups if isinstance(group, Mapping) for key in group)
        return [
            (_DETAILS[key], one)
            for key, group in pairs
            if key in _DETAILS
            for one in _ids(group[key])
        ], True
    unknown = sorted(str(key) for key in entry if key not in _OURS)
    if unknown:
        raise InputError(
            f"{where}: {', '.join(unknown[:_SHOWN])} is no key of an answer; there are "
            f"{', '.join(sorted(_OURS))}."
        )
    used: Used = []
    for key, kind in _KEYS.items():
        value = entry.get(key, [])
        if not isinstance(value, list):
            raise InputError(f"{where}: `{key}` is no list of ids.")
        named = list(_ids(value))
        if len(named) < len(value):
            raise InputError(f"{where}: `{key}` holds an entry that is no id.")
        used += [(kind, one) for one in named]
    return used, False


def _of_retriever(result: Any, where: str) -> Used:
    items = result.get("items") if isinstance(result, Mapping) else None
    if not isinstance(items, list):
        raise InputError(f"{where}: `retriever_result` holds no list `items`.")
    metadata = [one.get("metadata") if isinstance(one, Mapping) else None for one in items]
    found = [one.get("id") if isinstance(one, Mapping) else None for one in metadata]
    missing = sum(1 for one in found if one is None)
    if missing:
        raise InputError(
            f"{where}: {missing:,} of {len(found):,} items of `retriever_result` have no `id` in "
            "their metadata, so what they are is not known. Let the retriever return the id of the "
            "node, as VectorRetriever does."
        )
    return [(None, str(one)) for one in found]


def _ids(value: Any) -> Iterator[str]:
    """The ids in a list of ids or of objects with an `id`, also inside of objects of such lists."""
    if isinstance(value, Mapping):
        if "id" in value:
            yield from _ids(value["id"])
        else:
            for one in value.values():
                yield from _ids(one)
    elif isinstance(value, list):
        for one in value:
            yield from _ids(one)
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield str(value)


def _resolved(used: Used, where: str, shape: Shape, *, lenient: bool) -> list[str]:
    sources: dict[str, None] = {}
    unknown, several, empty = [], [], []
    for kind, name in used:
        groups = [shape.names[kind]] if kind else list(shape.names.values())
        found = list(dict.fromkeys(one for group in groups for one in group.get(name, ())))
        if not found and kind == RELATIONSHIP and lenient:
            empty.append(name)  # it is there, and has no description
        elif not found:
            unknown.append(f"{name!r} ({kind})" if kind else repr(name))
        elif len(found) > 1:
            several.append(repr(name))
        else:
            texts = shape.texts_of(found[0])
            sources |= dict.fromkeys(texts)
            if texts != found:
                empty.append(name)
    if unknown:
        raise InputError(
            f"{where}: {len(unknown):,} of {len(used):,} ids that the answer names are not in the "
            f"graph: {_some(unknown)}. An id is what the graph calls it (`id`, `name`), the "
            "engine's elementId, or the node_id in VeriTrail."
        )
    if several:
        raise InputError(
            f"{where}: {_some(several)} is the name of several in the graph; name it by its "
            "elementId."
        )
    if not sources:
        raise InputError(
            f"{where}: the answer names no text of the graph that it was given. Name some in "
            "`chunks`, `entities`, `relationships` or `communities`."
        )
    if empty:
        shape.warnings.append(
            f"{where}: {len(empty):,} of what the answer was given holds no text ({_some(empty)}); "
            "the chunks of an entity, and the inputs of a community, take its place."
        )
    return list(sources)


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")

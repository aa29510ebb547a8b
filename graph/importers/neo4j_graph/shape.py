"""The shape of a graph of documents, chunks, entities and communities: ids and edges, no texts.

Read once, relationship type by relationship type. Of the texts only whether there is one is kept;
they are read again, page by page, with the records.

- neo4j-graphrag: `(Chunk {text, index})-[:FROM_DOCUMENT]->(Document {path})`, `NEXT_CHUNK` between
  chunks, `(__Entity__ {name})-[:FROM_CHUNK]->(Chunk)`.
- LLM Graph Builder: `(Chunk {id, text, position})-[:PART_OF]->(Document {fileName})`, `FIRST_CHUNK`
  and `NEXT_CHUNK`, `(Chunk)-[:HAS_ENTITY]->(__Entity__ {id, description})`,
  `(__Entity__)-[:IN_COMMUNITY]->(__Community__ {id, level, title, summary})`, and
  `PARENT_COMMUNITY` from a community to the one above it.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.counted import counted

if TYPE_CHECKING:
    from veritrail_graph.graph.store.source_graph import SourceGraph

CHUNK, ENTITY, RELATIONSHIP, COMMUNITY = "chunk", "entity", "relationship", "community"
STAGES = {
    1: "chunk",
    2: "extracted entity",
    3: "extracted relationship",
    4: "community summary",
    5: "summary of communities",
    6: "answer",
}
"""Names of the stages; the paper's case studies have the same order (VeriTrail B.2.1)."""

_INTERNAL = ("__Entity__", "__KGBuilder__")
_SHOWN = 3
_BY_ID = 1_000
_LONGEST_NAME = 900  # a node_id has at most 1,024 characters


@dataclass(slots=True)
class Held:
    """A text of the graph, which becomes a node.

    Attributes:
        element_id: The engine's id of the node or relationship that holds it.
        node_id: Its id in the process.
        kind: `chunk`, or what the graph calls it.
        stage: Its stage.
        step: The step that wrote it; None: none did.
        property: The property that holds the text.
        metadata: What else is known of it.
        sources: element_ids of what it was written from.
    """

    element_id: str
    node_id: str
    kind: str
    stage: int
    step: str | None
    property: str
    metadata: dict[str, Any]
    sources: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Shape:
    """Ids and edges of the graph.

    Attributes:
        nodes: Texts that nodes hold, by element_id, in the order of the process.
        relationships: Texts that relationships hold, by element_id.
        instead: Of what has no text: element_ids of the texts that take its place.
        names: element_ids by kind, then by every id or name that an answer may give.
        warnings: What the graph does not hold.
    """

    nodes: dict[str, Held] = field(default_factory=dict)
    relationships: dict[str, Held] = field(default_factory=dict)
    instead: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, dict[str, list[str]]] = field(
        default_factory=lambda: {
            kind: defaultdict(list) for kind in (CHUNK, ENTITY, RELATIONSHIP, COMMUNITY)
        }
    )
    warnings: list[str] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    def held(self, element_id: str) -> Held | None:
        """The text of a node or relationship; None: it has none."""
        return self.nodes.get(element_id) or self.relationships.get(element_id)

    def texts_of(self, element_id: str) -> list[str]:
        """element_ids of the text of something, or of those that take its place."""
        known = self.held(element_id) is not None
        return [element_id] if known else self.instead.get(element_id, [])

    def name(self, wanted: str) -> str:
        """A node_id that is not taken yet: the wanted one, or with a number behind it."""
        wanted = wanted[:_LONGEST_NAME]
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted}~{number}", number + 1
        self._taken.add(name)
        return name

    def call(self, kind: str, element_id: str, *names: object) -> None:
        """Note under which ids and names an answer may mean something."""
        known = self.names[kind]
        for name in {element_id, *(str(one) for one in names if one is not None)}:
            known[name].append(element_id)


def read_shape(graph: SourceGraph) -> Shape:
    """Read what a graph holds.

    Raises:
        EngineError: The engine does not answer.
    """
    shape = Shape()
    _read_chunks(graph, shape)
    found = _read_entities(graph, shape)
    _read_relationships(graph, shape, found)
    _read_communities(graph, shape)
    ((chats,),) = graph.rows("source_graph/chats")
    if chats:
        shape.warnings.append(
            f"The graph keeps {counted(chats, 'conversation')}. The messages do not say which "
            "chunks an answer was given, so they are not read: name an answer and what it used in "
            "a file (--answer)."
        )
    return shape


def has_text(value: Any) -> bool:
    """Return whether a property holds a text."""
    return isinstance(value, str) and bool(value.strip())


def _order(element_id: str) -> tuple[str, int]:
    """The place of an engine's id among others: `4:…:12` behind `4:…:9`."""
    head, _, last = element_id.rpartition(":")
    return head, int(last) if last.isdecimal() else 0


def _by_name(names: Mapping[str, Any]) -> list[str]:
    return sorted(names, key=lambda one: (str(names[one] or ""), _order(one)))


def _read_chunks(graph: SourceGraph, shape: Shape) -> None:
    documents, whole = {}, {}
    for element_id, name, text in graph.stream("source_graph/documents"):
        documents[element_id] = name
        if has_text(text):
            whole[element_id] = hashlib.sha256(text.encode()).hexdigest()[:12]
    parts: dict[str, list[str]] = defaultdict(list)
    for chunk, document in graph.stream("source_graph/chunk_documents"):
        parts[chunk].append(document)
        whole.pop(document, None)  # its chunks hold its text
    rank, titles, taken, twice = {}, {}, set(), 0
    for number, document in enumerate(_by_name(documents)):
        name = title = str(documents[document] or "document")[:_LONGEST_NAME]
        count = 2
        while title in taken:
            title, count = f"{name}~{count}", count + 1
        twice += title != name and documents[document] is not None
        taken.add(title)
        rank[document], titles[document] = number, title
    if twice:
        shape.warnings.append(
            counted(
                twice, "document has the name of another one", "documents have the names of others"
            )
            + ": `~2` and so on tell them apart, in the order in which they were stored."
        )
    rows, empty = {}, []
    for element_id, own, place, text, file, page in graph.stream("source_graph/chunks"):
        shape.call(CHUNK, element_id, own)
        if not has_text(text):
            empty.append(str(own or element_id))
            shape.instead[element_id] = []
            continue
        its = sorted(parts.get(element_id, ()), key=rank.__getitem__)
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]
        place = place if isinstance(place, int | float) else None
        rows[element_id] = (its, own, place, file, page, digest)
    if empty:
        shape.warnings.append(
            f"{len(empty):,} of {len(empty) + len(rows):,} chunks hold no text in the property "
            f"`text`, and are no nodes ({_some(empty)})."
        )
    follows = {}
    if any(row[2] is None for row in rows.values()):
        follows = dict(_chain(graph.stream("source_graph/next_chunks")))

    def key(element_id: str) -> tuple[Any, ...]:
        its, _, place, file, *_ = rows[element_id]
        behind = float("inf") if place is None else place
        first = rank[its[0]] if its else len(rank)
        return (first, str(file or ""), behind, follows.get(element_id, 0), _order(element_id))

    for element_id in sorted(rows, key=key):
        its, own, place, file, page, digest = rows[element_id]
        document = titles[its[0]] if its else (str(file) if file is not None else None)
        if document is not None and place is not None:
            wanted = f"{document}#{place}"
        else:
            wanted = f"chunk:{own if own is not None else digest}"
        metadata = {"id": own, "document": document, "place": place, "page": page}
        if len(its) > 1:
            metadata["documents"] = [titles[one] for one in its]
        _hold(shape, CHUNK, Held(element_id, wanted, CHUNK, 1, None, "text", metadata))
    for document in sorted(whole, key=rank.__getitem__):
        metadata = {"document": titles[document]}
        wanted = f"document:{titles[document]}"
        shape.call(CHUNK, document, documents[document])
        _hold(shape, CHUNK, Held(document, wanted, "document", 1, None, "text", metadata))


def _chain(pairs: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, int]]:
    """The place of each chunk in its chain, from 0."""
    after: dict[str, str] = dict(pairs)
    behind, seen = set(after.values()), set[str]()
    for head in [one for one in after if one not in behind]:
        one: str | None = head
        number = 0
        while one is not None and one not in seen:
            seen.add(one)
            yield one, number
            one, number = after.get(one), number + 1


def _hold(shape: Shape, kind: str, held: Held) -> None:
    """Take up a text under a node_id of its own."""
    held.node_id = shape.name(held.node_id)
    held.metadata = {key: value for key, value in held.metadata.items() if _is_plain(value)}
    shape.call(kind, held.element_id, held.node_id)
    (shape.relationships if kind == RELATIONSHIP else shape.nodes)[held.element_id] = held


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | list)


@dataclass(slots=True)
class _Entities:
    """Names and chunks of the entities, by element_id."""

    names: dict[str, str]
    chunks: dict[str, list[str]]


def _read_entities(graph: SourceGraph, shape: Shape) -> _Entities:
    rows = {one[0]: one for one in _entity_rows(graph.stream("source_graph/entities"))}
    chunks: dict[str, set[str]] = defaultdict(set)
    for statement in ("source_graph/has_entity", "source_graph/from_chunk"):
        for entity, chunk in graph.stream(statement):
            chunks[entity].add(chunk)
    others = iter([one for one in chunks if one not in rows])
    while ids := list(islice(others, _BY_ID)):
        for row in _entity_rows(graph.rows("source_graph/entities_by_id", ids=ids)):
            rows[row[0]] = row
    place = {element_id: number for number, element_id in enumerate(shape.nodes)}
    found = _Entities({}, {})
    without = []
    for element_id, name, kind, described in sorted(
        rows.values(), key=lambda one: (one[1], one[2], _order(one[0]))
    ):
        if element_id in place or element_id in shape.instead:
            continue  # a chunk that also carries the label of entities
        its = sorted((one for one in chunks[element_id] if one in place), key=place.__getitem__)
        found.names[element_id], found.chunks[element_id] = name, its
        shape.call(ENTITY, element_id, name)
        if not described:
            without.append(name)
            shape.instead[element_id] = its
            continue
        held = Held(element_id, f"entity:{name}", kind, 2, "extract", "description", {"name": name})
        held.sources = its
        _hold(shape, ENTITY, held)
    if without:
        shape.warnings.append(
            f"{len(without):,} of {len(rows):,} entities hold no description, so they hold no text "
            f"and are no nodes ({_some(without)}). What was written from them has their chunks as "
            "inputs."
        )
    if any(len(found.chunks[one]) > 1 for one in found.chunks if one in shape.nodes):
        shape.warnings.append(
            "The graph does not say which chunk the description of an entity was written from: "
            "each chunk in which it was found counts as an input."
        )
    return found


def _entity_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, str, str, bool]]:
    """element_id, name, kind, and whether it has a description."""
    for element_id, labels, name, description in rows:
        own = sorted(one for one in labels if one not in _INTERNAL)
        kind = own[0] if own else ENTITY
        yield element_id, str(name if name is not None else kind), kind, has_text(description)


def _read_relationships(graph: SourceGraph, shape: Shape, found: _Entities) -> None:
    rows = []
    for element_id, source, type_, target, description in graph.stream(
        "source_graph/relationships"
    ):
        if has_text(description) and source in found.names and target in found.names:
            label = f"{found.names[source]} {type_} {found.names[target]}"
            rows.append((label, _order(element_id), element_id, source, type_, target))
    several = 0
    for label, _, element_id, source, type_, target in sorted(rows):
        ends = {"source": found.names[source], "target": found.names[target]}
        wanted = f"relationship:{label}"
        held = Held(element_id, wanted, type_, 3, "extract", "description", ends)
        theirs = set(found.chunks[target])
        held.sources = [one for one in found.chunks[source] if one in theirs]
        several += len(held.sources) > 1
        shape.call(RELATIONSHIP, element_id, label)
        _hold(shape, RELATIONSHIP, held)
    if several:
        shape.warnings.append(
            "The graph does not say which chunk a relationship was found in: "
            + counted(
                several,
                "description of a relationship has",
                "descriptions of relationships have",
            )
            + " every chunk that holds both ends as an input."
        )


def _read_communities(graph: SourceGraph, shape: Shape) -> None:
    rows = {row[0]: row for row in graph.stream("source_graph/communities")}
    members: dict[str, list[str]] = defaultdict(list)
    below: dict[str, list[str]] = defaultdict(list)
    for member, community in graph.stream("source_graph/members"):
        (below if member in rows else members)[community].append(member)
    order = sorted(rows, key=lambda one: (_level(rows[one]), str(rows[one][1]), _order(one)))
    without = []
    for element_id in order:
        _, own, level, title, summary = rows[element_id]
        shape.call(COMMUNITY, element_id, own)
        if not has_text(summary):
            without.append(str(own if own is not None else element_id))
            continue
        wanted = f"community:{own if own is not None else title or element_id}"
        stage, step = (5, "combine") if below[element_id] else (4, "summarise")
        metadata = {"id": own, "level": level, "title": title}
        _hold(
            shape, COMMUNITY, Held(element_id, wanted, COMMUNITY, stage, step, "summary", metadata)
        )
    place = {one: number for number, one in enumerate(shape.nodes)}
    for element_id in order:
        inputs = _inputs(element_id, members, below, shape)
        known = sorted(dict.fromkeys(inputs), key=place.__getitem__)
        if element_id in shape.nodes:
            shape.nodes[element_id].sources = known
        else:
            shape.instead[element_id] = known
    if without:
        shape.warnings.append(
            f"{len(without):,} of {len(rows):,} communities hold no summary and are no nodes "
            f"({_some(without)})."
        )


def _level(row: tuple[Any, ...]) -> float:
    return row[2] if isinstance(row[2], int | float) else 0


def _inputs(
    community: str, members: Mapping[str, list[str]], below: Mapping[str, list[str]], shape: Shape
) -> list[str]:
    """Return what a community was summarised from.

    LLM Graph Builder writes the summary of a larger community, of whatever level, from those
    summaries that are there when it begins: the ones of the lowest level below it.
    """
    children = below.get(community, [])
    if children:
        lowest, waiting, seen = [], list(children), {community}
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            waiting += below.get(one, [])
            if not below.get(one) and one in shape.nodes:
                lowest.append(one)
        inputs = lowest or [one for one in children if one in shape.nodes]
        if inputs:
            return inputs
    return [text for member in members.get(community, ()) for text in shape.texts_of(member)]


def _some(names: list[str]) -> str:
    shown = ", ".join(name if len(name) <= 60 else f"{name[:59]}…" for name in names[:_SHOWN])
    return f"{shown}, …" if len(names) > _SHOWN else shown

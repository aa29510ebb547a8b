"""The importer itself: from the address of a graph to a process and its records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.neo4j_graph.answers import StoredAnswer, read_answers
from veritrail_graph.graph.importers.neo4j_graph.shape import CHUNK, STAGES, Held, Shape, read_shape
from veritrail_graph.graph.importers.process_file.schema import ID_PATTERN
from veritrail_graph.graph.importers.records import (
    EdgeRecord,
    Header,
    NodeRecord,
    ProcessInput,
    Record,
)
from veritrail_graph.graph.importers.registry import Found, ImportOptions, address_of
from veritrail_graph.graph.model import Origin

if TYPE_CHECKING:
    from veritrail_graph.graph.store.database import DatabaseAddress
    from veritrail_graph.graph.store.source_graph import SourceGraph

NAME = "neo4j"
PAGE = 500
"""Texts that are read at a time."""


@dataclass(frozen=True, slots=True)
class GraphProcess:
    """A process whose texts are read from the graph each time the records are.

    Attributes:
        header: What is said of it as a whole.
        address: Where the graph is.
        shape: Its ids and edges.
        answers: Answers to questions that were asked of it.
    """

    header: Header
    address: DatabaseAddress
    shape: Shape
    answers: tuple[StoredAnswer, ...]

    def records(self) -> Iterator[Record]:
        """Chunks, entities, relationships, communities and answers, each with its edges."""
        with _open(self.address) as graph:
            for name, run in groupby(self.shape.nodes.values(), lambda one: one.property):
                yield from self._of_nodes(graph, name, run)
            yield from self._of_relationships(graph)
        for answer in self.answers:
            yield NodeRecord(
                answer.node_id,
                answer.text,
                answer.where,
                max(STAGES),
                "answer",
                "answer",
                origin=Origin.GENERATED,
                question=answer.question,
            )
            yield from self._edges(answer.sources, answer.node_id, answer.where)

    def stored_at(self, process_id: str) -> str | None:
        """Return when a process was stored in the graph it was read from; None: it was not."""
        with _open(self.address) as graph:
            rows = graph.rows("source_graph/stored_at", process_id=process_id)
        return rows[0][0] if rows else None

    def copies(self) -> Iterator[tuple[str, str]]:
        """The node_id of each node, and the engine's id of what it was copied from."""
        for held in self.shape.nodes.values():
            yield held.node_id, held.element_id

    def _of_nodes(self, graph: SourceGraph, name: str, run: Iterator[Held]) -> Iterator[Record]:
        while page := list(islice(run, PAGE)):
            ids = [held.element_id for held in page]
            found = graph.rows("source_graph/texts", ids=ids, property=name)
            texts: dict[str, object] = dict(found)  # pairs
            for held in page:
                yield from self._of(held, texts.get(held.element_id))

    def _of_relationships(self, graph: SourceGraph) -> Iterator[Record]:
        if not self.shape.relationships:
            return
        for element_id, *_, text in graph.stream("source_graph/relationships"):
            held = self.shape.relationships.get(element_id)
            if held is not None:
                yield from self._of(held, text)

    def _of(self, held: Held, text: object) -> Iterator[Record]:
        where = f"{self.address.uri}, {held.node_id}"
        if not isinstance(text, str):
            raise InputError(f"{where}: the graph was changed while it was read. Try again.")
        origin = Origin.GENERATED if held.step else Origin.SOURCE
        yield NodeRecord(
            held.node_id, text, where, held.stage, held.kind, held.step, held.metadata, origin
        )
        yield from self._edges(held.sources, held.node_id, where)

    def _edges(self, sources: list[str] | tuple[str, ...], to: str, where: str) -> Iterator[Record]:
        for source in sources:
            held = self.shape.held(source)
            if held is not None:
                yield EdgeRecord(held.node_id, to, where)


class Neo4jImporter:
    """Reads a graph of neo4j-graphrag or LLM Graph Builder by its address."""

    name = NAME
    description = "graph of neo4j-graphrag or LLM Graph Builder, by its address (neo4j://host:7687)"
    extra = None
    options = frozenset({"answer", "question", "answer_id"})
    reads_addresses = True

    def detect(self, path: Path) -> str | None:
        """Return why `path` is no address of a graph; None when it is."""
        return None if address_of(path) else "is no address such as neo4j://host:7687"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """The one process of the graph."""
        yield Found(address_of(path) or str(path), partial(self.open, path, options))

    def open(self, path: Path, options: ImportOptions) -> ProcessInput:
        """Read ids, edges and the answers; texts are read with the records.

        Raises:
            InputError: The graph holds no chunks, or nothing that was written from them.
            EngineError: The engine cannot be reached, or does not let us in.
        """
        from veritrail_graph.graph.store.database import DatabaseAddress

        shown = address_of(path)
        if shown is None:
            raise InputError(f"{path}: is no address of a graph, such as neo4j://host:7687")
        address = options.graph or DatabaseAddress(shown)
        if options.answer_id is not None and not re.match(ID_PATTERN, options.answer_id):
            raise InputError(
                f"Answer id {options.answer_id!r}: must be made of letters, digits and . _ : - "
                "(at most 128, a letter or digit first)."
            )
        if options.answer is None and (options.question or options.answer_id):
            raise InputError("A question and an id belong to an answer, and no answer is named.")
        with _open(address) as graph:
            shape = read_shape(graph)
        _check(shape, shown, options)
        answers = []
        if options.answer is not None:
            answers = read_answers(options.answer, shape, options.question, options.answer_id)
        question = answers[0].question if len(answers) == 1 else None
        database = f"{shown}, {address.database}" if address.database else shown
        used = {held.stage for held in (*shape.nodes.values(), *shape.relationships.values())}
        used |= {max(STAGES)} if answers else set()
        header = Header(
            source_format=NAME,
            name=f"Neo4j: {question or database}",
            question=question,
            stage_names={stage: name for stage, name in STAGES.items() if stage in used},
            terminals=tuple(answer.node_id for answer in answers) or None,
            warnings=tuple(shape.warnings),
            name_of_many=f"Neo4j: {database}",
        )
        return GraphProcess(header, address, shape, tuple(answers))


def _open(address: DatabaseAddress) -> SourceGraph:
    from veritrail_graph.graph.store.source_graph import SourceGraph

    return SourceGraph(address)


def _check(shape: Shape, address: str, options: ImportOptions) -> None:
    if not any(held.step is None for held in shape.nodes.values()):
        what = "none of its chunks holds text" if shape.names[CHUNK] else "it holds no chunks"
        raise InputError(
            f"{address}: {what}. Expected are nodes `Chunk` with a property `text`, as "
            "neo4j-graphrag and LLM Graph Builder write them. Is it the right database? A graph of "
            "LightRAG is read with its working folder: veritrail ingest FOLDER ADDRESS."
        )
    is_written = shape.relationships or any(held.step for held in shape.nodes.values())
    if not is_written and options.answer is None:
        raise InputError(
            f"{address}: the graph holds chunks and no text that was written from them: no entity "
            "or relationship has a description, and no community a summary. Name an answer."
        )

"""The importer itself: what is in the folder, which process it makes, and its records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.graphrag.answer import NO_ANSWER, QueryAnswer, read_answer
from veritrail_graph.graph.importers.graphrag.answer_nodes import Choice, Written, write_answer
from veritrail_graph.graph.importers.graphrag.nodes import (
    Index,
    TableNodes,
    place_covariates,
    place_extractions,
    place_text_units,
)
from veritrail_graph.graph.importers.graphrag.reports import Members, place_reports
from veritrail_graph.graph.importers.graphrag.tables import (
    ENTITY,
    RELATIONSHIP,
    TEXT_UNIT,
    IndexLayout,
    Table,
    find_layout,
    metadata_of,
    open_tables,
    text_of,
)
from veritrail_graph.graph.importers.process_file.schema import ID_PATTERN
from veritrail_graph.graph.importers.records import (
    EdgeRecord,
    Header,
    NodeRecord,
    ProcessInput,
    Record,
)
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.model import Origin

NAME = "graphrag"
STAGES = {
    1: "text unit",
    2: "extracted entity, relationship or claim",
    3: "summarized entity or relationship description",
    4: "community report",
    5: "map answer",
    6: "final answer",
}
"""Source: VeriTrail B.2.1."""


@dataclass(frozen=True, slots=True)
class GraphRagProcess:
    """A process whose texts are read from the tables each time the records are."""

    header: Header
    parts: tuple[TableNodes, ...]
    written: tuple[Written, ...]
    titles: dict[str, str]

    def records(self) -> Iterator[Record]:
        """Nodes table by table, each with the edges that lead to it."""
        for part in self.parts:
            try:
                yield from self._of_table(part)
            except InputError as error:
                yield Violation("unreadable_file", str(part.table.path), str(error))
        for written in self.written:
            node = written.node
            yield NodeRecord(
                node.node_id,
                written.text,
                written.where,
                node.stage,
                written.kind,
                node.step,
                written.metadata,
                Origin.GENERATED,
                written.question,
            )
            for source, cited in node.sources.items():
                yield EdgeRecord(source, node.node_id, written.where, cited)

    def _of_table(self, part: TableNodes) -> Iterator[Record]:
        rows = zip(part.table.rows(), part.places, strict=False)
        for place, (row, nodes) in enumerate(rows):
            where = part.table.where(place)
            for node in nodes:
                yield NodeRecord(
                    node.node_id,
                    text_of(part.kind, row, node.part),
                    where,
                    node.stage,
                    part.kind,
                    node.step,
                    metadata_of(part.kind, row, self.titles),
                    Origin.SOURCE if part.kind == TEXT_UNIT else Origin.GENERATED,
                )
                for source, cited in node.sources.items():
                    yield EdgeRecord(source, node.node_id, where, cited)


def index_process(path: Path) -> GraphRagProcess:
    """Stages 1 to 4 alone, without an answer, for those who record one themselves.

    Raises:
        InputError: The folder cannot be read.
    """
    layout = find_layout(path)
    if isinstance(layout, str):
        raise InputError(f"{path}: {layout}.")
    tables = open_tables(layout)
    index = _read_index(layout, tables)
    header = Header(
        source_format=NAME,
        name=f"GraphRAG: {path.resolve().name}",
        stage_names=dict(STAGES),
        warnings=tuple(index.warnings),
    )
    return GraphRagProcess(header, tuple(index.parts), (), _titles(tables))


class GraphRagImporter:
    """Reads the output folder of a GraphRAG index together with one answer."""

    name = NAME
    description = "GraphRAG output folder (parquet or CSV) with an answer"
    extra = None
    options = frozenset({"answer", "question", "answer_id", "community_level", "sources"})

    def detect(self, path: Path) -> str | None:
        """Return why `path` is not a GraphRAG output folder; None when it is."""
        layout = find_layout(path)
        return layout if isinstance(layout, str) else None

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """The one of the index and the answer."""
        yield Found(str(path), partial(self.open, path, options))

    def open(self, path: Path, options: ImportOptions) -> ProcessInput:
        """Read ids, edges and the answer; texts are read with the records.

        Raises:
            InputError: The folder or the answer cannot be read, or there is no answer.
        """
        layout = find_layout(path)
        if isinstance(layout, str):
            raise InputError(f"{path}: {layout}.")
        _check_options(options)
        answer = read_answer(options.answer)
        tables = open_tables(layout)
        index = _read_index(layout, tables)
        if layout.folder != path:
            index.warnings.insert(0, _read_from(layout, path))
        question = options.question or answer.question
        choice = Choice(
            options.community_level,
            options.sources == "cited",
            layout.is_first_generation,
            options.answer_id,
        )
        written = write_answer(index, answer, choice, question, _other_index(layout, path, answer))
        index_name = path.resolve().name
        header = Header(
            source_format=NAME,
            name=f"GraphRAG: {question or index_name}",
            question=question,
            stage_names=dict(STAGES),
            terminals=(written[-1].node.node_id,),
            warnings=tuple(index.warnings),
            name_of_many=f"GraphRAG: {index_name}",
        )
        return GraphRagProcess(header, tuple(index.parts), tuple(written), _titles(tables))


def _read_from(layout: IndexLayout, path: Path) -> str:
    """Return which folder was read, where it is not the one that was named."""
    if not layout.earlier:
        return f"Read from {layout.folder}, the output folder of {path}."
    runs = len(layout.earlier) + 1
    return (
        f"Read from {layout.folder}, the newest of {runs} runs in {path}. To read another run, "
        f"name its folder; the one before it is {layout.earlier[-1]}."
    )


def _check_options(options: ImportOptions) -> None:
    if options.answer is None:
        raise InputError(NO_ANSWER, code="answer_needed")
    if options.sources not in ("given", "cited"):
        raise InputError(f"Sources {options.sources!r}: `given` or `cited` is expected.")
    if options.answer_id is not None and not re.match(ID_PATTERN, options.answer_id):
        raise InputError(
            f"Answer id {options.answer_id!r}: must be made of letters, digits and . _ : - "
            "(at most 128, a letter or digit first)."
        )
    if options.community_level < 0:
        raise InputError(f"Community level {options.community_level}: must be 0 or more.")


def _read_index(layout: IndexLayout, tables: dict[str, Table]) -> Index:
    index = Index()
    units = place_text_units(index, tables["text_units"])
    entities = place_extractions(index, ENTITY, tables, units)
    relationships = place_extractions(index, RELATIONSHIP, tables, units)
    claims = place_covariates(index, tables.get("covariates"), units)
    titles = {row["id"]: row["title"] or "" for row in tables["entities"].rows(["id", "title"])}
    ends = {
        row["id"]: (row["source"] or "", row["target"] or "")
        for row in tables["relationships"].rows(["id", "source", "target"])
    }
    place_reports(index, tables, Members(entities, relationships, titles, ends, claims))
    return index


def _titles(tables: dict[str, Table]) -> dict[str, str]:
    documents = tables.get("documents")
    rows = documents.rows() if documents else ()
    return {row["id"]: row["title"] for row in rows if row.get("title")}


def _other_index(layout: IndexLayout, path: Path, answer: QueryAnswer) -> list[str]:
    """A warning where the answer names another index than the one that is read."""
    if answer.index is None:
        return []
    named = PurePosixPath(answer.index.replace("\\", "/")).parts
    named = tuple(part for part in named if part not in ("/", "."))
    folders = (layout.folder.resolve().parts, path.resolve().parts)
    if not named or any(folder[-len(named) :] == named for folder in folders):
        return []
    return [
        f"{answer.where} names its index {answer.index!r}, which is not {layout.folder}; its "
        "citations may mean other nodes."
    ]

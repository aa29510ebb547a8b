"""Record what GraphRAG indexes and answers, by the callbacks that it takes (3.x).

`RecordedSearch` keeps what a query was given, its map answers and its answer: in a file that
`veritrail ingest INDEX --answer FILE` reads, in the recording of the context, or both.
`RecordedIndexing` records an index when it is built. Neither needs `graphrag` to be there: they
have the methods that it calls. Both read an index with the importer of veritrail-graph; what they
need comes with `veritrail-record[graphrag]`.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from abc import ABCMeta
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from veritrail_record import RecordedSpan, Recording
from veritrail_record.calls import Guard, missing, of, recording
from veritrail_record.faults import LOGGER
from veritrail_record.nodes import Facts

try:
    from veritrail_graph.graph.errors import InputError
    from veritrail_graph.graph.importers.graphrag import GraphRagImporter, index_process
    from veritrail_graph.graph.importers.graphrag.citations import KIND_OF_NAME, read_context
    from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord, ProcessInput
    from veritrail_graph.graph.importers.registry import ImportOptions
    from veritrail_graph.graph.model import Origin
except ImportError as error:
    raise missing("graphrag", "veritrail-graph") from error

_STEPS = {"text_unit": "chunk", "community_report": "create_community_reports"}


class RecordedSearch:
    """Callbacks of one query, as in `with RecordedSearch("When?", path="answer.json") as search:`.

    It is one of the `callbacks` of `graphrag.api` or of a search engine. At its end it writes
    the file, and records in the recording of the context if there is one. For another query, make
    another one.

    Args:
        question: The question; GraphRAG does not hand it to callbacks.
        index: The output folder of the index. With it, the recording gets the whole way from text
            units to the answer, as the importer reads it; without it, the rows that were given.
        path: The file for `veritrail ingest INDEX --answer FILE` to write.
        run: The recording; default: that of the context at its end.
    """

    def __init__(
        self,
        question: str | None = None,
        *,
        index: str | os.PathLike[str] | None = None,
        path: str | os.PathLike[str] | None = None,
        run: Recording | None = None,
    ) -> None:
        self._question = question
        self._index = None if index is None else Path(index)
        self._path = None if path is None else Path(path)
        self._run = run
        self._context: dict[str, list[dict[str, Any]]] = {}
        self._maps: list[dict[str, Any]] = []
        self._tokens: list[str] = []
        self._response: str | None = None
        self._is_closed = False
        _register("query_callbacks", "QueryCallbacks", type(self))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # What GraphRAG calls

    def on_context(self, context: Any) -> None:
        """Keep the rows that the query was given; those of several searches are put together."""
        with self._guard():
            tables = context if isinstance(context, Mapping) else {}
            for name, frame in tables.items():
                known = self._context.setdefault(str(name), [])
                known += (row for row in _records(frame) if row not in known)

    def on_map_response_start(self, map_response_contexts: list[str]) -> None:
        """A global search begins."""

    def on_map_response_end(self, map_response_outputs: Sequence[Any]) -> None:
        """Keep the map answers."""
        with self._guard():
            for one in map_response_outputs:
                given = _plain(of(one, "context_data"))
                self._maps.append({"response": _plain(of(one, "response")), "context_data": given})

    def on_reduce_response_start(self, reduce_response_context: str | dict[str, Any]) -> None:
        """The pieces that came before were not of the final answer."""
        self._tokens.clear()

    def on_reduce_response_end(self, reduce_response_output: str) -> None:
        """Keep the final answer of a DRIFT search."""
        if isinstance(reduce_response_output, str):
            self._response = reduce_response_output

    def on_llm_new_token(self, token: str) -> None:
        """Keep a piece of the answer."""
        if isinstance(token, str):
            self._tokens.append(token)

    # What the program calls

    def answer(self, result: Any) -> None:
        """Take a text, or a `SearchResult` of GraphRAG, as the answer.

        Callbacks do not get the fixed answer of a global search that found nothing, and not
        which question of a DRIFT search was given which rows: its `SearchResult` has that.

        Args:
            result: The answer.
        """
        with self._guard():
            if isinstance(result, str):
                self._response = result
            elif isinstance(response := of(result, "response"), str):
                self._response = response
                given = of(result, "context_data")
                if isinstance(given, Mapping) and given:
                    self._context = _plain(given)
                if of(result, "map_responses"):
                    self._maps = []
                    self.on_map_response_end(of(result, "map_responses"))

    def close(self) -> None:
        """Write and record it; what comes later is not recorded."""
        if self._is_closed:
            return
        self._is_closed = True
        run = recording(self._run)
        if self._path is None and run is None:
            return
        response = "".join(self._tokens) if self._response is None else self._response
        if not response.strip():
            _log(run, "nothing was recorded of a search: it has no answer")
            return
        captured: dict[str, Any] = {"response": response, "context_data": self._context}
        captured |= {"query": self._question} if self._question else {}
        captured |= {"index": str(self._index)} if self._index else {}
        captured |= {"map_responses": self._maps} if self._maps else {}
        if self._path is not None:
            with Guard(run, "graphrag", f"{self._path} could not be written"):
                _write(self._path, captured)
        if run is not None:
            with self._guard(run):
                self._record(run, captured)

    def _record(self, run: Recording, captured: dict[str, Any]) -> None:
        if self._index is None:
            _record_rows(run, captured)
            return
        with tempfile.TemporaryDirectory(prefix="veritrail-") as folder:
            file = Path(folder, "answer.json")
            _write(file, captured)
            try:
                process = GraphRagImporter().open(self._index, ImportOptions(answer=str(file)))
            except InputError as error:
                _log(run, f"the rows of the search were recorded without the index: {error}")
                _record_rows(run, captured)
                return
            nodes = _copy(run, process, self._index)
        for terminal in process.header.terminals or ():
            if terminal in nodes:
                run.final(nodes[terminal])

    def _guard(self, run: Recording | None = None) -> Guard:
        return Guard(run or recording(self._run), "graphrag", "a search could not be recorded")


class RecordedIndexing:
    """Callbacks of an indexing run, for `graphrag.api.build_index(callbacks=[…])`.

    When all workflows succeeded, text units, entities, relationships, claims and reports are
    recorded in the recording of the context, as the importer reads them from the folder.

    Args:
        index: The output folder of the index.
        run: The recording; default: that of the context at the end of the run.
    """

    def __init__(self, index: str | os.PathLike[str], *, run: Recording | None = None) -> None:
        self._index = Path(index)
        self._run = run
        self._has_failed = False
        _register("workflow_callbacks", "WorkflowCallbacks", type(self))

    def pipeline_start(self, names: list[str]) -> None:
        """An indexing run begins."""
        self._has_failed = False

    def pipeline_end(self, results: Sequence[Any]) -> None:
        """Record the index, unless a workflow failed."""
        run = recording(self._run)
        if run is None:
            return
        with Guard(run, "graphrag", "the index could not be recorded"):
            if self._has_failed or any(of(one, "error") is not None for one in results):
                _log(run, "the index was not recorded: a workflow of GraphRAG failed")
            else:
                _copy(run, index_process(self._index), self._index)

    def pipeline_error(self, error: BaseException) -> None:
        """A workflow failed."""
        self._has_failed = True

    def workflow_start(self, name: str, instance: object) -> None:
        """A workflow begins; what it makes is read from the folder at the end."""

    def workflow_end(self, name: str, instance: object) -> None:
        """A workflow ended."""

    def progress(self, progress: Any) -> None:
        """A workflow went on."""


# The recording


@dataclass(slots=True)
class _Waiting:
    """A node and its edges, as they are read."""

    node: NodeRecord
    sources: list[str] = field(default_factory=list)


def _copy(run: Recording, process: ProcessInput, index: Path) -> dict[str, RecordedSpan]:
    """Record the nodes and edges of a process; those of an index that are there stay.

    Returns:
        The nodes by their ids in the process.
    """
    place = str(index.resolve())
    made: dict[str, RecordedSpan] = {}
    waiting: dict[str, list[_Waiting]] = {}
    for read in _with_sources(process):
        ready = [read]
        while ready:
            one = ready.pop()
            missing = next((source for source in one.sources if source not in made), None)
            if missing is not None:  # such as a report that is read after one that cites it
                waiting.setdefault(missing, []).append(one)
            else:
                made[one.node.node_id] = _add(run, one, made, place)
                ready += waiting.pop(one.node.node_id, ())
    return made


def _with_sources(process: ProcessInput) -> Iterator[_Waiting]:
    """The nodes of a process, each with its inputs, which follow it."""
    last: _Waiting | None = None
    for record in process.records():
        if isinstance(record, NodeRecord):
            if last is not None:
                yield last
            last = _Waiting(record)
        elif isinstance(record, EdgeRecord) and last is not None:
            last.sources.append(record.source)
    if last is not None:
        yield last


def _add(
    run: Recording, one: _Waiting, made: Mapping[str, RecordedSpan], place: str
) -> RecordedSpan:
    """Record a node whose inputs are recorded."""
    node, key = one.node, ("graphrag", place, one.node.node_id, hash(one.node.text))
    if known := run.of_id(key):
        return RecordedSpan(next(iter(known)), node.text, run.process_id)
    stage = None if node.origin is Origin.SOURCE else node.stage
    facts = Facts(node.step, node.kind, stage, node.node_id, node.question, metadata=node.metadata)
    if node.origin is Origin.SOURCE:
        span = run.source(
            node.text,
            node_id=facts.node_id,
            kind=facts.kind,
            step=facts.step,
            metadata=facts.metadata,
        )
    else:
        span = run.result(node.text, facts, {made[source].node_id: None for source in one.sources})
    run.know_id(key, span)
    return span


def _record_rows(run: Recording, captured: Mapping[str, Any]) -> None:
    """Record an answer with the rows that it was given, where the index is not at hand."""
    rows: dict[tuple[object, object], str] = {}
    for name, frame in captured["context_data"].items():
        kind = KIND_OF_NAME.get(name.lower())
        for row in frame if kind and isinstance(frame, list) else ():
            if str(row.get("in_context", True)).lower() == "false":
                continue  # it did not fit into the prompt
            if node := _row(run, str(kind), row):
                numbers = [*(read_context({name: [row]}) or {}).values()]
                rows[kind, numbers[0][0] if numbers else node] = node
    inputs: dict[str, str | None] = {}
    for answer in captured.get("map_responses") or ():
        given = read_context(answer["context_data"]) or {}
        nodes = [rows.get((kind, one)) for kind, numbers in given.items() for one in numbers]
        found = dict.fromkeys(filter(None, nodes)) or dict.fromkeys(rows.values(), "order")
        points = answer["response"]
        for point in points if isinstance(points, list) else [points]:
            text = of(point, "answer") if isinstance(point, Mapping) else point
            score = of(point, "score")
            if isinstance(text, str) and text.strip():
                facts = Facts("map", "map_answer", metadata={"score": score})
                span = run.result(text, facts, found)
                inputs |= {} if score is not None and score <= 0 else {span.node_id: None}
    step = "reduce" if inputs else "search"
    facts = Facts(step, "answer", question=captured.get("query"))
    run.final(run.result(captured["response"], facts, inputs or dict.fromkeys(rows.values())))


def _row(run: Recording, kind: str, row: Mapping[str, Any]) -> str | None:
    """Record a row that a query was given: source text, or what a model wrote of it."""
    heading = str(row.get("entity") or row.get("title") or "")
    if "source" in row and "target" in row:
        heading = f"{row['source']} -> {row['target']}"
    body = next((row[key] for key in ("text", "content", "description") if row.get(key)), "")
    is_whole = kind in _STEPS  # a report begins with its title
    text = str(body) if is_whole or not heading else f"{heading}\n{body}"
    if not text.strip():
        return None
    key = ("graphrag row", kind, str(row.get("id")), hash(text))
    if known := run.of_id(key):
        return next(iter(known))
    facts = Facts(_STEPS.get(kind, "extract_graph"), kind, metadata={"id": row.get("id")})
    if kind == "text_unit":
        span = run.source(text, kind=kind, step=facts.step, metadata=facts.metadata)
    else:
        span = run.step(text, kind=kind, step=facts.step, metadata=facts.metadata)
    run.know_id(key, span)
    return span.node_id or None


# Plain values


def _records(frame: Any) -> Iterable[dict[str, Any]]:
    """The rows of a data frame, or of a list of rows."""
    rows = frame.to_dict(orient="records") if hasattr(frame, "to_dict") else frame
    return [_plain(row) for row in rows or () if isinstance(row, Mapping)]


def _plain(value: Any) -> Any:
    """A value as JSON: data frames as rows, what is no number or not known as null."""
    if hasattr(value, "to_dict"):
        return _records(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if hasattr(value, "tolist"):  # of numpy
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _write(path: Path, captured: Mapping[str, Any]) -> None:
    """Write a file; an earlier one is there until the new one is whole."""
    text = json.dumps(captured, ensure_ascii=False, indent=1, allow_nan=False)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text + "\n", encoding="utf-8", errors="replace")
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _log(run: Recording | None, message: str) -> None:
    if run is None:
        LOGGER.warning("graphrag: %s", message)
    else:
        run.faults.log(f"graphrag: {message}", f"graphrag: {message}")


def _register(module: str, name: str, ours: type) -> None:
    """Let GraphRAG take our class for its own, which it checks; without GraphRAG do nothing."""
    with suppress(ImportError):
        theirs = getattr(import_module(f"graphrag.callbacks.{module}"), name, None)
        if isinstance(theirs, ABCMeta):
            theirs.register(ours)

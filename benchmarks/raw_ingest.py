"""What ingest is held against: loops over rows in memory that check nothing.

`merge` is what a script would do with the plain driver; `best` is the fastest recipe that was
found by hand: the driver's accelerator, properties by name, CREATE, edges grouped by their
target and split by a hash of it, 5,000 rows a transaction, four sessions.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.children import BenchmarkError

RAW = "bench-raw"
_MERGE_ROWS, _BEST_ROWS, _SESSIONS = 2_000, 5_000, 4
_ACCELERATOR = "neo4j._rust"

_MERGE_NODES = """
UNWIND $rows AS row
MERGE (s:Span {process_id: $process_id, node_id: row.node_id})
SET s += row.properties
"""
_MERGE_EDGES = """
UNWIND $rows AS row
MATCH (u:Span {process_id: $process_id, node_id: row.source})
MATCH (v:Span {process_id: $process_id, node_id: row.target})
MERGE (u)-[:INPUT_TO]->(v)
"""
_BEST_NODES = """
UNWIND $rows AS row
CREATE (:Span {
  process_id: $process_id, node_id: row[0], text: row[1], stage: row[2], position: row[3],
  kind: row[4], step: row[5], metadata: row[6]
})
"""
_BEST_EDGES = """
UNWIND $rows AS row
MATCH (v:Span {process_id: $process_id, node_id: row[0]})
UNWIND row[1] AS source
MATCH (u:Span {process_id: $process_id, node_id: source})
CREATE (u)-[:INPUT_TO]->(v)
"""
# What deletes a process looks for its node first, and passes by one that is being written.
_PROCESS = "MERGE (p:Process {process_id: $process_id}) SET p.status = 'deleting'"
_CONSTRAINT = (
    "CREATE CONSTRAINT span_key IF NOT EXISTS "
    "FOR (s:Span) REQUIRE (s.process_id, s.node_id) IS UNIQUE"
)

Batch = list[Any]


def merge(login: dict[str, Any], file: str) -> dict[str, float]:
    """MERGE parsed rows, 2,000 at a time, in one session, with the driver as it is in Python."""
    sys.modules[_ACCELERATOR] = None  # type: ignore[assignment]
    nodes, edges = _rows(Path(file))
    return _timed(
        login,
        (_MERGE_NODES, [_batches(nodes, _MERGE_ROWS)]),
        (_MERGE_EDGES, [_batches(edges, _MERGE_ROWS)]),
        accelerated=False,
    )


def best(login: dict[str, Any], file: str) -> dict[str, float]:
    """The fastest recipe found by hand."""
    nodes, edges = _rows(Path(file))
    order = ("text", "stage", "position", "kind", "step", "metadata")
    rows = [[node["node_id"], *map(node["properties"].get, order)] for node in nodes]
    parts = _batches(rows, _BEST_ROWS)
    return _timed(
        login,
        (_BEST_NODES, [parts[lane::_SESSIONS] for lane in range(_SESSIONS)]),
        (_BEST_EDGES, [_grouped(edges, lane) for lane in range(_SESSIONS)]),
        accelerated=True,
    )


def _timed(
    login: dict[str, Any],
    nodes: tuple[str, Sequence[list[Batch]]],
    edges: tuple[str, Sequence[list[Batch]]],
    *,
    accelerated: bool,
) -> dict[str, float]:
    import neo4j
    from neo4j._codec.packstream import v1

    if (getattr(v1, "_rust_pack", None) is not None) != accelerated:
        raise BenchmarkError(f"the driver's accelerator is {'not ' * accelerated}in use")
    auth = (login["username"] or "", login["password"] or "")
    with (
        neo4j.GraphDatabase.driver(login["uri"], auth=auth) as driver,
        ThreadPoolExecutor(_SESSIONS) as threads,
    ):

        def send(statement: str, batches: list[Batch]) -> None:
            with driver.session(database=login["database"]) as session:
                for rows in batches:
                    session.execute_write(_run, statement, rows)

        with driver.session(database=login["database"]) as session:
            session.run(_CONSTRAINT).consume()
            session.run(_PROCESS, process_id=RAW).consume()
        marks = [time.perf_counter()]
        for statement, lanes in (nodes, edges):
            for done in [threads.submit(send, statement, lane) for lane in lanes]:
                done.result()
            marks.append(time.perf_counter())
    start, between, end = marks
    return {"seconds": end - start, "nodes": between - start, "edges": end - between}


def _run(tx: Any, statement: str, rows: Batch) -> None:
    tx.run(statement, process_id=RAW, rows=rows).consume()


def _rows(file: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if "node" in record:
                node = record["node"]
                metadata = json.dumps(node.pop("metadata"))
                properties = {**node, "metadata": metadata, "position": len(nodes)}
                nodes.append({"node_id": properties.pop("node_id"), "properties": properties})
            elif "edge" in record:
                edges.append(record["edge"])
    return nodes, edges


def _grouped(edges: Iterable[dict[str, str]], lane: int) -> list[Batch]:
    """Batches of [target, [source, …]] of the targets of one lane."""
    groups: dict[str, list[str]] = {}
    for edge in edges:
        if zlib.crc32(edge["target"].encode()) % _SESSIONS == lane:
            groups.setdefault(edge["target"], []).append(edge["source"])
    batches: list[Batch] = []
    size = _BEST_ROWS
    for target, sources in groups.items():
        if size >= _BEST_ROWS:
            batches.append([])
            size = 0
        batches[-1].append([target, sources])
        size += len(sources)
    return batches


def _batches(rows: Sequence[Any], most: int) -> list[Batch]:
    return [list(rows[start : start + most]) for start in range(0, len(rows), most)]

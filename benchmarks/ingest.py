"""Ingest: ours, from JSON Lines and with every check, against a raw loop over rows in memory."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j

from benchmarks.children import run_child
from benchmarks.engines import Engine
from benchmarks.report import Line, Report, middle
from graph.importers.process_file import ProcessFileImporter
from graph.importers.registry import ImportOptions
from graph.ingest import read_and_check, store_process
from graph.store import DatabaseAddress, open_store

OURS, RAW = "bench-ours", "bench-raw"
RAW_ROWS = 2_000
MOST_MEMORY_MB = 600
RAW_NODES = """
UNWIND $rows AS row
MERGE (s:Span {process_id: $process_id, node_id: row.node_id})
SET s += row.properties
"""
RAW_EDGES = """
UNWIND $rows AS row
MATCH (u:Span {process_id: $process_id, node_id: row.source})
MATCH (v:Span {process_id: $process_id, node_id: row.target})
MERGE (u)-[:INPUT_TO]->(v)
"""


def measure(report: Report, engine: Engine, file: Path, small: Path, repeats: int) -> None:
    """Ingest the file with ours and with the raw loop, in turn; ours stays stored.

    The small file warms the engine up: compilers of a Java server take their time.
    """
    task = {"login": engine.login}
    run_child("benchmarks.ingest:raw", **task, file=str(small))
    run_child("benchmarks.ingest:remove", **task, process_id=RAW)
    run_child("benchmarks.ingest:ours", **task, file=str(small))
    deleted_small = run_child("benchmarks.ingest:remove", **task, process_id=OURS)
    ours: list[dict[str, Any]] = []
    raw: list[dict[str, Any]] = []
    deleted: list[dict[str, Any]] = []
    for repeat in range(repeats):
        first = repeat % 2 == 0
        if not first:
            raw.append(run_child("benchmarks.ingest:raw", **task, file=str(file)))
        if repeat:  # the last one stays for the benchmarks that follow
            deleted.append(run_child("benchmarks.ingest:remove", **task, process_id=OURS))
        ours.append(run_child("benchmarks.ingest:ours", **task, file=str(file)))
        if first:
            raw.append(run_child("benchmarks.ingest:raw", **task, file=str(file)))
        deleted.append(run_child("benchmarks.ingest:remove", **task, process_id=RAW))

    def of(results: list[dict[str, Any]], key: str) -> float:
        return middle([result[key] for result in results])

    report.add(
        Line(
            f"{engine.name}: ingest against raw MERGE",
            of(ours, "seconds"),
            reference=of(raw, "seconds"),
            target=1.0,
            note=(
                f"ours: check {of(ours, 'check'):.1f} s, store {of(ours, 'store'):.1f} s, "
                f"CPU {of(ours, 'cpu'):.1f} s; raw: nodes {of(raw, 'nodes'):.1f} s, "
                f"edges {of(raw, 'edges'):.1f} s, CPU {of(raw, 'cpu'):.1f} s"
            ),
        )
    )
    peak = max(result["peak_mb"] for result in ours)
    report.add(Line(f"{engine.name}: peak memory of an ingest", peak, "MB", target=MOST_MEMORY_MB))
    growth = of(ours, "elements") / deleted_small["elements"]
    report.add(
        Line(
            f"{engine.name}: deletion, {growth:.1f} x as much",
            of(deleted, "seconds"),
            reference=deleted_small["seconds"],
            target=round(growth * 1.5, 1),
            note="linear when the ratio is the factor in the name",
        )
    )


def clean(engine: Engine) -> None:
    """Remove what is left of the processes."""
    for process_id in (OURS, RAW):
        run_child("benchmarks.ingest:remove", login=engine.login, process_id=process_id)


async def ours(login: dict[str, Any], file: str) -> dict[str, float]:
    """Our whole ingest: two readings, every check, and storing."""
    source = ProcessFileImporter().open(Path(file), ImportOptions())
    async with open_store(DatabaseAddress(**login)) as store:
        start = time.perf_counter()
        found = await read_and_check(source, process_id=OURS)
        checked = time.perf_counter()
        await store_process(store, source, found)
        end = time.perf_counter()
    elements = len(found.topology.ids) + len(found.topology.edge_sources)
    return {
        "seconds": end - start,
        "check": checked - start,
        "store": end - checked,
        "elements": elements,
    }


async def raw(login: dict[str, Any], file: str) -> dict[str, float]:
    """What a script would do: MERGE parsed rows, 2,000 at a time, with nothing checked."""
    address = DatabaseAddress(**login)
    async with open_store(address):  # makes the constraints
        pass
    nodes, edges = _rows(Path(file))
    auth = (address.username or "", address.password or "")
    with (
        neo4j.GraphDatabase.driver(address.uri, auth=auth) as driver,
        driver.session(database=address.database) as session,
    ):
        start = time.perf_counter()
        for rows in _batches(nodes):
            session.execute_write(_merge, RAW_NODES, rows)
        between = time.perf_counter()
        for rows in _batches(edges):
            session.execute_write(_merge, RAW_EDGES, rows)
        end = time.perf_counter()
    return {"seconds": end - start, "nodes": between - start, "edges": end - between}


def _merge(tx: neo4j.ManagedTransaction, statement: str, rows: list[dict[str, Any]]) -> None:
    tx.run(statement, process_id=RAW, rows=rows).consume()


async def remove(login: dict[str, Any], process_id: str) -> dict[str, float]:
    """Remove a process as `veritrail delete` does."""
    async with open_store(DatabaseAddress(**login)) as store:
        state = await store.processes.state(process_id)
        process = await store.processes.get(process_id) if state else None
        start = time.perf_counter()
        await store.processes.delete(process_id)
        end = time.perf_counter()
    elements = process.nodes + process.edges if process else 0
    return {"seconds": end - start, "elements": elements}


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


def _batches(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(rows), RAW_ROWS):
        yield rows[start : start + RAW_ROWS]

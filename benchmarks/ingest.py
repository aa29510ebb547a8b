"""Ingest: ours, from JSON Lines and with every check, against raw loops over rows in memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.children import run_child
from benchmarks.engines import Engine
from benchmarks.processor import processor, server_process
from benchmarks.raw_ingest import RAW
from benchmarks.report import Line, Report, middle
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import read_and_check, store_process
from veritrail_graph.graph.store import DatabaseAddress, open_store
from veritrail_graph.graph.store.states import READY

OURS = "bench-ours"
MOST_MEMORY_MB = 600
MERGE_RATE, BEST_TIME = 2.3, 1.35
"""Ours: least multiple of the rate of the MERGE loop, most multiple of the best time."""


def measure(report: Report, engine: Engine, file: Path, small: Path, repeats: int) -> None:
    """Ingest the file with ours and with the raw loops, in turn; ours stays stored.

    The small file warms the engine up: compilers of a Java server take their time.
    """
    task = {"login": engine.login}
    kinds = ("merge", "best", "ours") if engine.name == "neo4j" else ("merge", "ours")
    tasks = {
        "merge": ("benchmarks.raw_ingest:merge", RAW),
        "best": ("benchmarks.raw_ingest:best", RAW),
        "ours": ("benchmarks.ingest:ours", OURS),
    }
    # The first command that meets a graph makes its constraints; the raw loops need them as well.
    run_child("benchmarks.ingest:remove", **task, process_id=OURS)
    deleted_small: dict[str, Any] = {}
    for kind in kinds:
        name, process_id = tasks[kind]
        run_child(name, **task, file=str(small))
        deleted_small = run_child("benchmarks.ingest:remove", **task, process_id=process_id)
    results: dict[str, list[dict[str, Any]]] = {kind: [] for kind in kinds}
    deleted: list[dict[str, Any]] = []
    for repeat in range(repeats):
        turn = repeat % len(kinds)
        for kind in (*kinds[turn:], *kinds[:turn]):
            name, process_id = tasks[kind]
            results[kind].append(run_child(name, **task, file=str(file)))
            if kind != "ours" or repeat < repeats - 1:  # the last one stays for what follows
                removed = run_child("benchmarks.ingest:remove", **task, process_id=process_id)
                deleted.append(removed) if kind == "ours" else None
    _report_speed(report, engine, results)
    peak = max(result["peak_mb"] for result in results["ours"])
    report.add(Line(f"{engine.name}: peak memory of an ingest", peak, "MB", target=MOST_MEMORY_MB))
    if deleted:
        _report_deletion(report, engine, deleted, deleted_small)


def store(engine: Engine, file: Path) -> None:
    """Store the file for what follows, and measure nothing."""
    run_child("benchmarks.ingest:ours", login=engine.login, file=str(file))


def _report_speed(
    report: Report, engine: Engine, results: Mapping[str, list[dict[str, Any]]]
) -> None:
    def of(kind: str, key: str) -> float:
        return middle([result[key] for result in results[kind]])

    def raw(kind: str) -> str:
        nodes, edges, cpu = (of(kind, key) for key in ("nodes", "edges", "cpu"))
        return f"raw: nodes {nodes:.1f} s, edges {edges:.1f} s, CPU {cpu:.1f} s"

    seconds = of("ours", "seconds")
    own = (
        f"ours: check {of('ours', 'check'):.1f} s, store {of('ours', 'store'):.1f} s, "
        f"CPU {of('ours', 'cpu'):.1f} s; "
    )
    merge = of("merge", "seconds")
    name, target, note = f"{engine.name}: ingest against raw MERGE", 1.0, own + raw("merge")
    if "best" in results:
        target, note = round(1 / MERGE_RATE, 3), f"{merge / seconds:.2f} x its rate; {note}"
    report.add(Line(name, seconds, reference=merge, target=target, note=note))
    if "best" in results:
        name = f"{engine.name}: ingest against the best recipe"
        reference = of("best", "seconds")
        report.add(Line(name, seconds, reference=reference, target=BEST_TIME, note=raw("best")))


def _report_deletion(
    report: Report, engine: Engine, deleted: list[dict[str, Any]], small: dict[str, Any]
) -> None:
    growth = middle([result["elements"] for result in deleted]) / small["elements"]
    seconds = middle([result["seconds"] for result in deleted])
    # What else the machine does cannot be seen in the processor time of the server.
    key = "server_cpu" if small["server_cpu"] else "seconds"
    report.add(
        Line(
            f"{engine.name}: deletion, {growth:.1f} x as much",
            middle([result[key] for result in deleted]),
            reference=small[key],
            target=round(growth * 1.5, 1),
            note="linear when the ratio is at most the factor in the name; "
            + (f"CPU of the server, {seconds:.1f} s passed" if key == "server_cpu" else "seconds"),
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


async def remove(login: dict[str, Any], process_id: str) -> dict[str, float]:
    """Remove a process as `veritrail delete` does."""
    async with open_store(DatabaseAddress(**login)) as store:
        state = await store.processes.state(process_id)
        is_ready = state is not None and state.status == READY
        process = await store.processes.get(process_id) if is_ready else None
        server = server_process(login["uri"])
        before, start = processor(server), time.perf_counter()
        await store.processes.delete(process_id)
        end, after = time.perf_counter(), processor(server)
    elements = process.nodes + process.edges if process else 0
    return {"seconds": end - start, "elements": elements, "server_cpu": after - before}

"""Ingest of a folder of many small processes, against a script that writes each by a transaction.

The script has read the files before its clock starts, splits nothing and checks nothing.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.checks import WARM_UP, write
from benchmarks.children import BenchmarkError, run_child
from benchmarks.engines import Engine
from benchmarks.report import Line, Report, middle
from veritrail_graph.api.app import Application
from veritrail_graph.api.app.answers import Ingested
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.store import DatabaseAddress, open_store

PROCESSES, ROUNDS = 1_000, 3
MOST_OWN = 0.005
"""Seconds of the processor that a process may take of us."""
RATIO = 1.0
"""Ours: most multiple of the script's time, on the clock."""
_RAW = "bench-raw"

_WRITE = """
MERGE (p:Process {process_id: $process_id}) SET p.status = 'deleting', p.name = $name
WITH p
UNWIND $rows AS row
MERGE (s:Span {process_id: $process_id, node_id: row.node_id}) SET s.text = row.text
"""
_JOIN = """
UNWIND $sources AS source
MATCH (v:Span {process_id: $process_id, node_id: 'answer'})
MATCH (u:Span {process_id: $process_id, node_id: source})
MERGE (u)-[:INPUT_TO]->(v)
"""
_REMOVE = "MATCH (n:Process|Span) WHERE n.process_id IN $ids DETACH DELETE n"


def measure(report: Report, engine: Engine, folder: Path, count: int = PROCESSES) -> None:
    """Store folders of small processes with ours and with the script, in turn."""
    results: dict[str, list[dict[str, Any]]] = {"ours": [], "script": []}
    for number in range(ROUNDS):
        place = folder / f"many-{number}"
        write(place, count, first=10_000 * (number + 1))
        for kind in sorted(results, reverse=bool(number % 2)):
            task = f"benchmarks.small_processes:{kind}"
            results[kind].append(run_child(task, login=engine.login, place=str(place)))
    seconds, own, reference = (
        middle([one[key] / count for one in results[kind]])
        for kind, key in (("ours", "seconds"), ("ours", "own"), ("script", "seconds"))
    )
    name = f"{engine.name}: one of {count:,} small processes"
    report.add(
        Line(f"{name}, our CPU", own, target=MOST_OWN, note="with the child that reads the files")
    )
    sizes = f"{results['ours'][0]['transactions']:.0f} transactions"
    report.add(Line(name, seconds, reference=reference, target=RATIO, note=sizes))


async def ours(login: dict[str, Any], place: str) -> dict[str, float]:
    """`veritrail ingest FOLDER`, from its files to the graph."""
    with tempfile.TemporaryDirectory(prefix="veritrail-bench-") as home:
        warm = Path(home) / "warm"
        write(warm, WARM_UP)
        async with (
            open_store(DatabaseAddress(**login)) as store,
            Application.over(store, Settings(home=Path(home) / "home")) as app,
        ):
            stored = await _stored(app, warm)  # libraries are loaded
            spent, calls, start = _processor(), store.database.calls, time.perf_counter()
            stored += await _stored(app, Path(place))
            seconds, own = time.perf_counter() - start, _processor() - spent
            calls = store.database.calls - calls
            await store.database.run_text(_REMOVE, {"ids": stored}, 1, write=True)
    return {"seconds": seconds, "own": own, "transactions": calls}


async def _stored(app: Application, place: Path) -> list[str]:
    ids = []
    async for where, became in app.processes.ingest_each([place]):
        if not isinstance(became, Ingested) or became.status != "created":
            raise BenchmarkError(f"{where}: {became}")
        ids.append(became.process_id)
    return ids


def _processor() -> float:
    """Seconds of processor time of this process and of its children that run."""
    me = psutil.Process()
    return sum(sum(one.cpu_times()[:2]) for one in (me, *me.children()))


def script(login: dict[str, Any], place: str) -> dict[str, float]:
    """What somebody would write: the driver, MERGE, a transaction for each process."""
    import neo4j

    files = sorted(Path(place).iterdir())
    rows = [json.loads(one.read_text(encoding="utf-8")) for one in files]
    auth = (login["username"] or "", login["password"] or "")

    def store(tx: neo4j.ManagedTransaction, process_id: str, row: dict[str, Any]) -> None:
        nodes = [{"node_id": f"c{n}", "text": text} for n, text in enumerate(row["contexts"])]
        sources = [one["node_id"] for one in nodes]
        nodes.append({"node_id": "answer", "text": row["answer"]})
        tx.run(_WRITE, process_id=process_id, name=row["question"], rows=nodes).consume()
        tx.run(_JOIN, process_id=process_id, sources=sources).consume()

    ids = [f"{_RAW}-{number}" for number in range(len(rows))]
    with (
        neo4j.GraphDatabase.driver(login["uri"], auth=auth) as driver,
        driver.session(database=login["database"]) as session,
    ):
        start = time.perf_counter()
        for process_id, row in zip(ids, rows, strict=True):
            session.execute_write(store, process_id, row)
        seconds = time.perf_counter() - start
        session.run(_REMOVE, ids=ids).consume()
    return {"seconds": seconds}

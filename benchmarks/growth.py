"""Seconds and memory by the size of the process: storing, walking, checking, pages, queries.

The processes have the paper's shape, scaled; each is generated straight into a file, stored,
read in every way, and removed again. What grows faster than the process shows in the seconds of an
edge and of a visited node, where a larger size is dearer than a smaller one. Processes of up to
200,000 nodes are stored several times, in turn.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.children import BenchmarkError, run_child
from benchmarks.commands import COMMAND, spend
from benchmarks.engines import Engine
from benchmarks.ingest import MOST_MEMORY_MB, OURS
from benchmarks.processor import peak_mb, processor, server_process
from benchmarks.report import Line, Report, middle
from benchmarks.service_reads import serving
from benchmarks.walk import KINDS, verify
from benchmarks.walking import FixedJudge
from veritrail_eval.simulation.shapes import NODES
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.store import DatabaseAddress
from veritrail_graph.graph.store.database import Database
from veritrail_graph.graph.store.store import Store

SIZES = (10_000, 100_000)
LARGE = 200_000
"""Larger processes are stored once, and want more memory."""
WALKS, WALK_SECONDS = 5, 60.0
WALKED_CLAIMS = (20, 1)
"""So many claims walk at once, by kind of walk: large frontiers are nearly the whole process."""
CHECKED_CLAIMS = 8
PAGES = ("process", "claim")
QUERIES, QUERY_ROUNDS = ("stage_summary", "provenance", "ancestors"), 4
MOST = 1.5

Costs = dict[str, dict[int, list[float]]]


@dataclass(slots=True)
class Sized:
    """A process of one size, and the memory that the programs took which worked on it.

    Attributes:
        size: Its nodes, as they were asked for.
        file: Its process file.
        edges: Its edges.
        peaks: The largest resident memory of each program, in megabytes.
    """

    size: int
    file: Path
    edges: int
    peaks: dict[str, float] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        """Its size by the paper's."""
        return self.size / NODES


@dataclass(frozen=True, slots=True)
class Growth:
    """The measurement on one engine: figures of a size are reported as soon as they are there."""

    report: Report
    engine: Engine
    costs: Costs = field(default_factory=dict)

    def store(self, process: Sized) -> dict[str, Any]:
        """Store a process."""
        before = self._spent()
        stored = run_child(
            "benchmarks.ingest:ours", login=self.engine.login, file=str(process.file)
        )
        stored["engine"] = self._spent() - before
        _say(f"{self.engine.name}, {process.size:,} nodes: stored in {stored['seconds']:.1f} s")
        self._cost("ingest, an edge", process, stored["seconds"] / process.edges)
        process.peaks["ingest"] = stored["peak_mb"]
        return stored

    def remove(self) -> float:
        """Remove the process that is stored; seconds."""
        removed = run_child("benchmarks.ingest:remove", login=self.engine.login, process_id=OURS)
        return float(removed["seconds"])

    def everything(self, process: Sized) -> None:
        """Store a process, read it in every way, and remove it."""
        server = server_process(self.engine.address.uri)
        parts: dict[str, Callable[[Sized], None]] = {
            "ingest": self._ingest,
            "walks": self._walks,
            "check": self._check,
            "pages": self._pages,
            "queries": self._queries,
        }
        try:
            for name, part in parts.items():
                try:
                    part(process)
                except BenchmarkError as error:
                    self.report.fail(f"{self.engine.name}, {process.size:,} nodes: {name}", error)
                    if name == "ingest":
                        return
        finally:
            # What the programs and the engine took is reported also where a part failed.
            self._memory(process, peak_mb(server))
            self._add(process, "removed", self.remove())

    def summarize(self) -> None:
        """Of each cost a size against a smaller one, the worst pair; with a target for Neo4j."""
        for what, by_size in self.costs.items():
            costs = {size: middle(found) for size, found in sorted(by_size.items())}
            smaller, larger = worst_growth(list(costs.values()))
            self.report.add(
                Line(
                    f"{self.engine.name}: {what}",
                    larger * 1e6,
                    "us",
                    reference=smaller * 1e6,
                    target=MOST if self.engine.name == "neo4j" else None,
                    note=", ".join(f"{size:,}: {one * 1e6:.0f} us" for size, one in costs.items()),
                )
            )

    def _ingest(self, process: Sized) -> None:
        stored = self.store(process)
        note = (
            f"{process.edges:,} edges; check {stored['check']:.1f} s, CPU {stored['cpu']:.1f} s, "
            f"of the engine {stored['engine']:.1f} s"
        )
        self._add(process, "ingest", stored["seconds"], note)

    def _walks(self, process: Sized) -> None:
        """Claims that a scripted judge verifies."""
        for kind, claims in zip(KINDS, WALKED_CLAIMS, strict=True):
            walked = run_child("benchmarks.growth:walk", login=self.engine.login, kind=kind)
            note = f"{counted(claims, 'claim')}, {walked['nodes']:,} nodes read"
            self._add(process, f"walk {kind}", walked["seconds"], note)
            a_node = walked["seconds"] / walked["nodes"]
            self._cost(f"walk {kind}, a visited node", process, a_node)
            process.peaks[f"walk {kind}"] = walked["peak_mb"]

    def _check(self, process: Sized) -> None:
        """Sentences of the answer, held against the process by their words."""
        before = self._spent()
        command = (*COMMAND, "check", OURS, "--engine", "lexical", "--json")
        spent = spend(command, self.engine.environment)
        note = (
            f"{CHECKED_CLAIMS} claims; CPU {spent.cpu:.1f} s, of the engine "
            f"{self._spent() - before:.1f} s"
        )
        self._add(process, "check without a model", spent.wall, note)
        process.peaks["check"] = spent.peak_mb

    def _pages(self, process: Sized) -> None:
        """The first HTML of pages, beside the store calls that they need."""
        task = {"login": self.engine.login, "process_id": OURS, "only": PAGES}
        with serving(self.engine) as url:
            service = server_process(url)
            pages = run_child("benchmarks.pages:compare", url=url, **task)["pages"]
            process.peaks["service"] = peak_mb(service)
        for name, page in pages.items():
            self._add(process, f"page of a {name}", page["page"], f"store {page['store']:.3f} s")

    def _queries(self, process: Sized) -> None:
        task = {"login": self.engine.login, "scale": process.scale}
        given = {"rounds": QUERY_ROUNDS, "claims": CHECKED_CLAIMS}
        for name in QUERIES:
            found = run_child("benchmarks.queries:ask", **task, **given, name=name)
            note = f"slowest {found['p95']:.3f} s, {found['rows']:,} rows"
            self._add(process, f"query {name}", found["p50"], note)

    def _memory(self, process: Sized, engine_mb: float) -> None:
        """The peaks of the programs, and of the engine."""
        for name, peak in process.peaks.items():
            self._add(process, f"memory of {name}", peak, unit="MB", target=MOST_MEMORY_MB)
        self._add(process, "memory of the engine", engine_mb, unit="MB")

    def _spent(self) -> float:
        """Seconds of processor time of the engine so far: what a busy machine cannot hide."""
        return processor(server_process(self.engine.address.uri))

    def _cost(self, what: str, process: Sized, seconds: float) -> None:
        self.costs.setdefault(what, {}).setdefault(process.size, []).append(seconds)

    def _add(
        self,
        process: Sized,
        what: str,
        figure: float,
        note: str = "",
        unit: str = "s",
        target: float | None = None,
    ) -> None:
        name = f"{self.engine.name}, {process.size:,}: {what}"
        self.report.add(Line(name, figure, unit, target=target, note=note))


def measure(
    report: Report, engine: Engine, folder: Path, sizes: Sequence[int] = SIZES, repeats: int = 2
) -> None:
    """Store processes of these sizes, in turn, and read each of them the last time."""
    growth = Growth(report, engine)
    with _written(folder, sizes) as processes:
        smallest = min(processes, key=lambda process: process.size)
        warm = Growth(report, engine)  # compilers of a Java server take their time
        warm.store(smallest)
        warm.remove()
        for _ in range(repeats - 1):
            for process in processes:
                if process.size <= LARGE:
                    growth.store(process)
                    growth.remove()
        for process in processes:
            growth.everything(process)
    growth.summarize()


def worst_growth(costs: Sequence[float]) -> tuple[float, float]:
    """The costs of two sizes of which the larger one is dearest, compared with the smaller one.

    Args:
        costs: What each size costs, the smallest size first.
    """
    pairs = list(combinations(costs, 2)) or [(costs[0], costs[0])]
    return max(pairs, key=lambda pair: pair[1] / pair[0])


@contextmanager
def _written(folder: Path, sizes: Sequence[int]) -> Iterator[list[Sized]]:
    """The process files, until the end of the block."""
    found = []
    try:
        for size in sizes:
            file = folder / f"{size}.jsonl"
            found.append(Sized(size, file, 0))
            found[-1].edges = run_child(
                "benchmarks.dag:write",
                path=str(file),
                scale=size / NODES,
                process_id=OURS,
                sentences=CHECKED_CLAIMS,
            )["edges"]
            _say(f"{size:,} nodes: written, {file.stat().st_size / 1e6:,.0f} MB")
        yield found
    finally:
        for process in found:
            process.file.unlink(missing_ok=True)


def _say(what: str) -> None:
    """Tell how far it is: a large size takes many minutes until its first figure."""
    print(f"     {time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


async def walk(login: Mapping[str, Any], kind: str) -> dict[str, float]:
    """Median seconds of a walk of this kind, and the nodes that it reads."""
    database = Database(DatabaseAddress(**login))
    store = Store.of(database)
    claims = dict(zip(KINDS, WALKED_CLAIMS, strict=True))[kind]
    seconds: list[float] = []
    end = time.perf_counter() + WALK_SECONDS
    while len(seconds) <= WALKS and (not seconds or time.perf_counter() < end):
        judge = FixedJudge(Verdict(KINDS[kind]))
        start = time.perf_counter()
        await verify(store, judge, claims)
        seconds.append(time.perf_counter() - start)
    await database.close()
    # The first one fills the engine's caches.
    return {"seconds": middle(seconds[1:] or seconds), "nodes": judge.nodes_read}

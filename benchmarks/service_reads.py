"""Reading over REST against the store calls behind it, and two hundred requests at once.

One process asks both in turn: the service over loopback on one kept connection, and a store of its
own over the same engine. What HTTP adds is so measured with the client's share of it.
"""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from benchmarks import dag
from benchmarks.children import BenchmarkError, run_child
from benchmarks.engines import Engine
from benchmarks.query_trails import VERIFICATIONS, fill
from benchmarks.report import Line, Report, middle
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model.lineage import Direction
from veritrail_graph.graph.model.listed import ClaimFilter
from veritrail_graph.graph.store import DatabaseAddress, Store, open_store

OURS = "bench-reads"
TARGET = 1.5
SECONDS, MOST_ROUNDS, WARM = 10.0, 100, 3
AT_ONCE = 200
START_SECONDS = 300.0  # the machine may be busy
__all__ = ["at_once", "compare", "fill", "measure", "serving", "store"]

Call = Callable[[], Awaitable[Any]]


def measure(
    report: Report, engine: Engine, folder: Path, scale: float, claims: int = VERIFICATIONS
) -> None:
    """Store a process with verifications, and ask for everything both ways.

    Args:
        report: Takes the results.
        engine: The engine.
        folder: A folder for the process file.
        scale: Size of the process; 1: the paper's.
        claims: Claims with a verification.
    """
    login = engine.login
    file = folder / "reads.jsonl"
    run_child("benchmarks.dag:write", path=str(file), scale=scale, process_id=OURS)
    run_child("benchmarks.service_reads:store", login=login, file=str(file))
    filled = {"scale": scale, "process_id": OURS, "count": claims}
    run_child("benchmarks.service_reads:fill", login=login, **filled)
    try:
        _measure(report, engine)
    finally:  # a server of somebody else is left as it was
        run_child("benchmarks.ingest:remove", login=login, process_id=OURS)


def _measure(report: Report, engine: Engine) -> None:
    """One at a time, and many at once."""
    task = {"login": engine.login}
    with serving(engine) as url:
        found = run_child("benchmarks.service_reads:compare", **task, url=url)
        for name, times in found["reads"].items():
            report.add(
                Line(
                    f"{engine.name}: GET {name}",
                    times["rest"],
                    reference=times["store"],
                    target=TARGET,
                    note=(
                        f"p99 {times['p99'] * 1000:.1f} ms; best {times['best'] * 1000:.1f} and "
                        f"{times['best_store'] * 1000:.1f} ms; {times['bytes']:,} bytes"
                    ),
                )
            )
        for name, times in run_child("benchmarks.service_reads:at_once", **task, url=url)[
            "reads"
        ].items():
            report.add(
                Line(
                    f"{engine.name}: {AT_ONCE} x GET {name} at once, all",
                    times["rest"],
                    reference=times["store"],
                    note=(
                        f"{times['failed']} failed; p50 {times['p50'] * 1000:.0f} ms, "
                        f"p99 {times['p99'] * 1000:.0f} ms"
                    ),
                )
            )
            if times["failed"]:
                report.fail(f"{engine.name}: {name}", f"{times['failed']} of {AT_ONCE} failed")


@contextmanager
def serving(engine: Engine) -> Iterator[str]:
    """`veritrail serve` over an engine; gives its address.

    Raises:
        BenchmarkError: It does not start.
    """
    from tests.fakes.ports import free_port

    port = free_port()
    child = subprocess.Popen(
        [str(Path(sys.executable).with_name("veritrail")), "serve", "--port", str(port)],
        env={**os.environ, **engine.environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _until_ready(url, child)
        yield url
    finally:
        child.terminate()
        child.wait(60)


def _until_ready(url: str, child: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while child.poll() is None and time.monotonic() < until:
        try:
            if httpx2.get(f"{url}/readyz", trust_env=False).status_code == 200:
                return
        except httpx2.TransportError:
            time.sleep(0.1)
    raise BenchmarkError("the service did not start")


def _reads(graph: Store, trail: str) -> dict[str, tuple[str, Call]]:
    """Addresses, each with the store call behind it."""
    at = f"/v1/processes/{OURS}"
    end = dag.node_id(5, 0)

    async def stages() -> None:
        await asyncio.gather(
            graph.processes.get(OURS), graph.queries.run("stage_summary", {"process_id": OURS})
        )

    async def verifications() -> None:
        names, _ = await graph.trails.page(OURS, "", 100)
        await graph.trails.headers(names)

    async def texts() -> None:
        nodes, _ = await graph.nodes.page(OURS, limit=100)
        await graph.nodes.contents(OURS, nodes)

    return {
        "processes": ("/v1/processes", lambda: graph.processes.page(limit=101)),
        "process": (at, lambda: graph.processes.overview(OURS)),
        "nodes": (f"{at}/nodes", lambda: graph.nodes.page(OURS, limit=100)),
        "nodes with texts": (f"{at}/nodes?fields=text", texts),
        "lineage, depth 1": (
            f"{at}/lineage?node_id={end}",
            lambda: graph.lineage.read(OURS, end, Direction.UPSTREAM, 1, 500),
        ),
        "lineage, depth 3": (
            f"{at}/lineage?node_id={end}&depth=3",
            lambda: graph.lineage.read(OURS, end, Direction.UPSTREAM, 3, 500),
        ),
        "stages": (f"{at}/stages", stages),
        "claims": (f"{at}/claims", lambda: graph.claims.page(OURS, ClaimFilter(), limit=100)),
        "claim": (f"{at}/claims/claim-0", lambda: graph.claims.get(OURS, "claim-0")),
        "verifications": (f"{at}/verifications", verifications),
        "trail": (f"/v1/verifications/{trail}", lambda: graph.trails.get(trail)),
    }


async def store(login: dict[str, Any], file: str) -> None:
    """Store the process."""
    source = ProcessFileImporter().open(Path(file), ImportOptions())
    async with open_store(DatabaseAddress(**login)) as graph:
        await ingest(graph, source, replace=True)


async def compare(login: dict[str, Any], url: str) -> dict[str, Any]:
    """Median seconds of every read over REST and of its store call, in turn."""
    found: dict[str, dict[str, float]] = {}
    async with (
        open_store(DatabaseAddress(**login)) as graph,
        httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
    ):
        for name, (path, call) in _reads(graph, await _a_trail(graph)).items():
            found[name] = await _both(client, path, call)
    return {"reads": found}


async def _both(client: httpx2.AsyncClient, path: str, call: Call) -> dict[str, float]:
    rest: list[float] = []
    direct: list[float] = []
    size = 0
    end = time.perf_counter() + SECONDS
    while len(rest) < MOST_ROUNDS + WARM and (len(rest) <= WARM or time.perf_counter() < end):
        start = time.perf_counter()
        answer = await client.get(path)
        rest.append(time.perf_counter() - start)
        if answer.status_code != 200:
            raise BenchmarkError(f"{path}: {answer.status_code} {answer.text[:200]}")
        size = len(answer.content)
        start = time.perf_counter()
        await call()
        direct.append(time.perf_counter() - start)
    return {
        "rest": middle(rest[WARM:]),
        "store": middle(direct[WARM:]),
        "p99": _p99(rest[WARM:]),
        "best": min(rest),  # on a busy machine medians tell how long both waited for their turn
        "best_store": min(direct),
        "bytes": size,
    }


async def at_once(login: dict[str, Any], url: str) -> dict[str, Any]:
    """Seconds of many requests at once, and of as many store calls at once."""
    limits = httpx2.Limits(max_connections=AT_ONCE, max_keepalive_connections=AT_ONCE)
    found: dict[str, dict[str, float]] = {}
    async with (
        open_store(DatabaseAddress(**login)) as graph,
        httpx2.AsyncClient(base_url=url, timeout=120, trust_env=False, limits=limits) as client,
    ):
        reads = _reads(graph, await _a_trail(graph))
        for name in ("process", "lineage, depth 1", "trail"):
            path, call = reads[name]
            await _many(client, path)  # the first time opens connections
            whole, times, failed = await _many(client, path)
            start = time.perf_counter()
            await asyncio.gather(*(call() for _ in range(AT_ONCE)))
            direct = time.perf_counter() - start
            found[name] = {
                "rest": whole,
                "store": direct,
                "failed": failed,
                "p50": middle(times),
                "p99": _p99(times),
            }
    return {"reads": found}


async def _many(client: httpx2.AsyncClient, path: str) -> tuple[float, list[float], int]:
    times: list[float] = []
    failed = 0

    async def one() -> None:
        nonlocal failed
        start = time.perf_counter()
        try:
            failed += (await client.get(path)).status_code != 200
        except httpx2.TransportError:
            failed += 1
        times.append(time.perf_counter() - start)

    begun = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(AT_ONCE)))
    return time.perf_counter() - begun, times, failed


async def _a_trail(graph: Store) -> str:
    names, _ = await graph.trails.page(OURS, "", 500)
    found = await graph.trails.headers(names)
    return next(one.verification_id for one in found if one.verdict is not None)


def _p99(times: list[float]) -> float:
    return sorted(times)[math.ceil(0.99 * len(times)) - 1]

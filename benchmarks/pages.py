"""The first HTML of every page beside the store's own time for the same data, and sizes in bytes.

One process asks both in turn, as for the REST reads: the page over loopback on one kept connection,
and a store of its own over the same engine. What the page adds is the difference. The store calls
are the ones that every page needs; whatever else a page reads counts against the page.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import httpx2

from benchmarks import dag, service_reads
from benchmarks.children import BenchmarkError, run_child
from benchmarks.engines import Engine
from benchmarks.report import Line, Report, middle
from veritrail_graph.graph.model.listed import ClaimFilter
from veritrail_graph.graph.store import DatabaseAddress, Store, open_store

OURS = "bench-pages"
CLAIMS = 1_000
FIRST_HTML = 0.3
LARGEST = {"claim": 200_000, "graph": 400_000, "graph at a claim": 400_000}
REPORT_SECONDS = 10.0
SECONDS, MOST_ROUNDS, WARM = 10.0, 60, 3
FORMATS = ("html", "markdown", "csv", "json", "junit")

Call = Callable[[], Awaitable[Any]]


def measure(
    report: Report, engine: Engine, folder: Path, scale: float, claims: int = CLAIMS
) -> None:
    """Store a process with a thousand claims, and open every page of it.

    Args:
        report: Takes the results.
        engine: The engine.
        folder: A folder for the process file and the reports.
        scale: Size of the process; 1: the paper's.
        claims: Claims with a verification.
    """
    login = engine.login
    file = folder / "pages.jsonl"
    run_child("benchmarks.dag:write", path=str(file), scale=scale, process_id=OURS)
    run_child("benchmarks.service_reads:store", login=login, file=str(file))
    filled = {"scale": scale, "process_id": OURS, "count": claims}
    run_child("benchmarks.query_trails:fill", login=login, **filled)
    try:
        with service_reads.serving(engine) as url:
            found = run_child("benchmarks.pages:compare", login=login, url=url)["pages"]
        for name, page in found.items():
            _add(report, f"{engine.name}: {name}", name, page)
        _reports(report, engine, folder, claims)
    finally:  # a server of somebody else is left as it was
        run_child("benchmarks.ingest:remove", login=login, process_id=OURS)


def _add(report: Report, title: str, name: str, page: dict[str, Any]) -> None:
    """One page: what it adds to the store's time, and how much a browser loads."""
    added = max(page["page"] - page["store"], 0.0)
    note = f"page {page['page'] * 1000:.1f} ms, store {page['store'] * 1000:.1f} ms"
    report.add(Line(f"{title}, beside the store", added, target=FIRST_HTML, note=note))
    report.add(
        Line(
            f"{title}, HTML and static files",
            page["bytes"] + page["static"],
            unit="B",
            target=LARGEST.get(name),
            note=f"HTML {page['bytes']:,}, static {page['static']:,}; as sent {page['sent']:,}",
        )
    )


def _reports(report: Report, engine: Engine, folder: Path, claims: int) -> None:
    """Reports of these claims, each as a command of its own."""
    for name in FORMATS:
        path = folder / f"report.{name}"
        start = time.perf_counter()
        ended = subprocess.run(
            [
                str(Path(sys.executable).with_name("veritrail")),
                *("report", OURS, "--format", name, "-o", str(path)),
            ],
            env={**os.environ, **engine.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - start
        if ended.returncode:
            raise BenchmarkError(f"report as {name}: {ended.stderr[-300:]}")
        size = f"{path.stat().st_size:,} bytes"
        title = f"{engine.name}: report of {claims:,} claims as {name}"
        report.add(Line(title, seconds, target=REPORT_SECONDS, note=size))


def _pages(graph: Store, process_id: str, trail: str, claim_id: str) -> dict[str, tuple[str, Call]]:
    """Addresses of pages, each with the store calls that every page needs."""
    at = f"/processes/{process_id}"
    end, middle_node = dag.node_id(5, 0), dag.node_id(2, 0)

    async def whole() -> None:
        await graph.processes.overview(process_id)
        await graph.claims.page(process_id, ClaimFilter(), limit=100)
        await graph.reading.texts(process_id, [end])

    async def claim() -> None:
        await graph.claims.get(process_id, claim_id)
        await graph.trails.get(trail)

    async def stages() -> None:
        await graph.processes.get(process_id)
        await graph.queries.run("stage_summary", {"process_id": process_id})

    async def node() -> None:
        found = await graph.nodes.get(process_id, [middle_node])
        await graph.nodes.contents(process_id, found)

    def listed() -> Awaitable[Any]:
        return graph.claims.page(process_id, ClaimFilter(), limit=100)

    around = f"{at}/graph?claim={claim_id}"
    return {
        "processes": ("/", lambda: graph.processes.page(limit=101)),
        "process": (at, whole),
        "claim": (f"{at}/claims/{claim_id}", claim),
        "graph": (f"{at}/graph", stages),
        "graph at a claim": (around, claim),
        "node": (f"{at}/nodes/{quote(middle_node, safe='')}", node),
        "review": (f"{at}/review", listed),
        "agreement": (f"{at}/agreement", lambda: graph.reviews.states(process_id)),
        "verify": (f"{at}/verify", lambda: graph.processes.get(process_id)),
    }


async def compare(
    login: dict[str, Any], url: str, process_id: str = OURS, only: Sequence[str] = ()
) -> dict[str, Any]:
    """Median seconds of pages (default: all) and of their store calls, in turn, and their bytes."""
    found: dict[str, dict[str, float]] = {}
    async with (
        open_store(DatabaseAddress(**login)) as graph,
        httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
    ):
        trail, claim_id = await _a_trail(graph, process_id)
        for name, (path, call) in _pages(graph, process_id, trail, claim_id).items():
            if not only or name in only:
                found[name] = await _both(client, path, call)
    return {"pages": found}


async def _both(client: httpx2.AsyncClient, path: str, call: Call) -> dict[str, float]:
    pages: list[float] = []
    direct: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(pages) < MOST_ROUNDS + WARM and (len(pages) <= WARM or time.perf_counter() < end):
        start = time.perf_counter()
        answer = await client.get(path)
        pages.append(time.perf_counter() - start)
        if answer.status_code != 200:
            raise BenchmarkError(f"{path}: {answer.status_code} {answer.text[:200]}")
        start = time.perf_counter()
        await call()
        direct.append(time.perf_counter() - start)
    static, sent = await _static(client, path, answer.text)
    return {
        "page": middle(pages[WARM:]),
        "store": middle(direct[WARM:]),
        "bytes": len(answer.content),
        "static": static,
        "sent": sent + answer.num_bytes_downloaded,
    }


async def _static(client: httpx2.AsyncClient, path: str, text: str) -> tuple[int, int]:
    """Bytes of the style sheets, scripts and images of a page, and as they are sent."""
    from tests.fakes.crawling import Links

    urls = {urljoin(path, found).partition("#")[0] for found in Links(text).found}
    answers = await asyncio.gather(*(client.get(u) for u in urls if u.startswith("/static/")))
    missing = [str(got.url) for got in answers if got.status_code != 200]
    if missing:
        raise BenchmarkError(f"{path} asks for what is not there: {missing}")
    return sum(len(got.content) for got in answers), sum(g.num_bytes_downloaded for g in answers)


async def _a_trail(graph: Store, process_id: str) -> tuple[str, str]:
    """A verification with its claim, where there is one of a claim that is not supported."""
    names, _ = await graph.trails.page(process_id, "", 500)
    headers = await graph.trails.headers(names)
    found = max(headers, key=lambda one: (bool(one.error_nodes), one.verdict is not None))
    return found.verification_id, found.claim_id

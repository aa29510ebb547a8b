"""Many workers over one PostgreSQL and one graph: what each takes, and which bound is met first.

The workers are those of `veritrail worker`, on this machine, and PostgreSQL has the connections
that it allows by default. A job of many claims is worked on while all of them live.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg

from benchmarks.children import ROOT, BenchmarkError
from benchmarks.commands import COMMAND
from benchmarks.engines import Engine
from benchmarks.model_runs import MODEL
from benchmarks.models import run_command, scripted_server, without_servers
from benchmarks.processor import processor, server_process
from benchmarks.report import Line, Report
from benchmarks.service_jobs import PROCESS, by_service, service, store_sample

CREWS = (1, 4, 8, 12)
CLAIMS = 60
LATENCY = 0.3
ALLOWED = "100"
"""What PostgreSQL allows by default."""
IDLE_SECONDS = 10.0
START_SECONDS = 120.0


@dataclass(slots=True)
class Seen:
    """The most of each that was seen while a job ran."""

    postgres: int = 0
    graph: int = 0
    memory_mb: float = 0.0


def measure(report: Report, engine: Engine, folder: Path, crews: Sequence[int] = CREWS) -> None:
    """Each number of workers in turn, over the same servers."""
    from tests.postgres_server import launcher

    launcher.OPTIONS["max_connections"] = ALLOWED
    store_sample(engine, folder, CLAIMS)
    try:
        with ExitStack() as stack:
            base_url = stack.enter_context(scripted_server("--latency", str(LATENCY)))
            postgres = stack.enter_context(launcher.start())
            environment = {
                **engine.environment,
                "OPENAI_BASE_URL": base_url,
                "OPENAI_API_KEY": "n",
                "VERITRAIL_MODEL": MODEL,
                "VERITRAIL_CONCURRENCY": "32",
                "VERITRAIL_JOBS_URL": postgres.new_database(),
            }
            # Before the workers: they may leave no connection.
            watching = stack.enter_context(psycopg.connect(postgres.url(), autocommit=True))
            url = stack.enter_context(service(environment, "--no-worker"))
            servers = {
                "PostgreSQL": server_process(postgres.url()),
                "the graph": server_process(engine.address.uri),
            }
            for count in crews:
                _crew(report, engine, environment, url, watching, servers, count)
    except launcher.Unavailable as missing:
        raise BenchmarkError(str(missing)) from missing
    finally:
        run_command(engine, "delete", PROCESS, "--yes")


def _crew(
    report: Report,
    engine: Engine,
    environment: Mapping[str, str],
    url: str,
    watching: psycopg.Connection[Any],
    servers: Mapping[str, psutil.Process | None],
    count: int,
) -> None:
    """A job, and a while without one, with this many workers."""
    name = f"{engine.name}: {count} workers"
    with _working(environment, count) as children:
        left = [child for child in children if child.poll() is None]
        ended = f", {count - len(left)} ended" if len(left) < count else ""
        with _watched(engine, watching, left) as seen:
            job = by_service(url)
        note = f"{CLAIMS} claims of {LATENCY * 1000:.0f} ms a call{ended}"
        report.add(Line(f"{name}: a job", job.wall, note=note))
        for what, most in (("PostgreSQL", seen.postgres), ("the graph", seen.graph)):
            report.add(Line(f"{name}: connections to {what}", most, "", note="the most at once"))
        report.add(Line(f"{name}: memory of a worker", seen.memory_mb, "MB", note="the largest"))
        watched: dict[str, list[psutil.Process | None]] = {
            **{what: [one] for what, one in servers.items()},
            "all workers": [_of(one) for one in left],
        }
        before = {what: _spent(some) for what, some in watched.items()}
        time.sleep(IDLE_SECONDS)
        for what, some in watched.items():
            share = (_spent(some) - before[what]) / IDLE_SECONDS
            words = f"{name}: processor of {what}, idle"
            report.add(Line(words, share * 100, "%", note="of a core"))


def _of(child: subprocess.Popen[bytes]) -> psutil.Process:
    return psutil.Process(child.pid)


def _spent(processes: Sequence[psutil.Process | None]) -> float:
    """Seconds of processor time of some processes and their children."""
    known = [one for one in processes if one is not None]
    return sum(processor(each) for one in known for each in (one, *one.children(recursive=True)))


@contextmanager
def _working(environment: Mapping[str, str], count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Workers that have said that they work, or have ended."""
    children = [
        subprocess.Popen(
            [*COMMAND, "worker"],
            cwd=ROOT,
            env=without_servers(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for _ in range(count)
    ]
    try:
        for child in children:
            _wait(child)
        yield children
    finally:
        for child in children:
            child.terminate()
        for child in children:
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _wait(child: subprocess.Popen[bytes]) -> None:
    """Read what a worker says until it works; the rest is read past."""
    assert child.stderr is not None
    lines = []
    for line in child.stderr:
        lines.append(line.decode("utf-8", "replace"))
        if b"Working as" in line:
            threading.Thread(target=child.stderr.read, daemon=True).start()
            return
    print("".join(lines)[-600:])
    child.wait()


@contextmanager
def _watched(
    engine: Engine, watching: psycopg.Connection[Any], children: Sequence[subprocess.Popen[bytes]]
) -> Iterator[Seen]:
    """Look at connections and memory several times a second until the end of the block."""
    seen, ended = Seen(), threading.Event()
    port = int(engine.address.uri.rpartition(":")[2])

    def look() -> None:
        while not ended.wait(0.2):
            seen.postgres = max(seen.postgres, _backends(watching))
            seen.graph = max(seen.graph, _connected(port))
            sizes = [_of(one).memory_info().rss / 1e6 for one in children if one.poll() is None]
            seen.memory_mb = max(seen.memory_mb, *sizes)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def _backends(connection: psycopg.Connection[Any]) -> int:
    query = "SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'"
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0


def _connected(port: int) -> int:
    """Connections that a server on this port has."""
    return sum(
        1
        for one in psutil.net_connections("tcp")
        if one.status == psutil.CONN_ESTABLISHED and getattr(one.laddr, "port", None) == port
    )

"""Jobs through the service, against the same claims through the command line; delay of events.

Both ask the same scripted server, one after the other in every round, and neither uses the cache
of answers. A command is timed from its start to its end, a job from its submission until
`job.finished` has come over the stream of events.
"""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.children import ROOT, BenchmarkError
from benchmarks.commands import COMMAND
from benchmarks.engines import Engine
from benchmarks.model_runs import MODEL, stats
from benchmarks.models import (
    HARBOUR,
    call_command,
    run_command,
    sample_claims,
    scripted_server,
    without_servers,
)
from benchmarks.report import Line, Report, middle

TARGET = 1.1
LATENCIES = (0.1, 0.3)
CLAIMS = (50, 200)
ROUNDS = 3
START_SECONDS = 300  # the machine may be busy
PROCESS = "bench-jobs"


@dataclass(slots=True)
class Job:
    """A job that has ended.

    Attributes:
        wall: Seconds from its submission to its last event.
        delays: Seconds from each event to its arrival.
        status: How it ended.
    """

    wall: float = 0.0
    delays: list[float] = field(default_factory=list)
    status: str = ""


def measure(report: Report, engine: Engine, folder: Path, most: int = max(CLAIMS)) -> None:
    """Every latency and number of claims up to `most`, on SQLite and PostgreSQL."""
    with ExitStack() as stack:
        urls = {"SQLite": None, **_postgres(report, stack)}
        for latency in LATENCIES:
            base_url = stack.enter_context(scripted_server("--latency", str(latency)))
            asking = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "n", "VERITRAIL_MODEL": MODEL}
            with ExitStack() as serving:
                services = {
                    name: serving.enter_context(
                        service({**engine.environment, **asking, **_url(name, url, folder)})
                    )
                    for name, url in urls.items()
                }
                for count in dict.fromkeys(min(count, most) for count in CLAIMS):
                    _compare(report, engine, folder, services, asking, latency, count)


def _compare(
    report: Report,
    engine: Engine,
    folder: Path,
    services: Mapping[str, str],
    asking: Mapping[str, str],
    latency: float,
    count: int,
) -> None:
    """One number of claims at one latency: the command and every service in turn."""
    store_sample(engine, folder, count)
    base_url = asking["OPENAI_BASE_URL"]
    commands: list[float] = []
    calls: set[int] = set()
    jobs: dict[str, list[Job]] = {name: [] for name in services}
    try:
        for _ in range(ROUNDS):
            stats(base_url, reset=True)
            commands.append(_by_command({**engine.environment, **asking}))
            calls.add(sum(stats(base_url)["calls"].values()))
            for name, url in services.items():
                stats(base_url, reset=True)
                jobs[name].append(by_service(url))
                calls.add(sum(stats(base_url)["calls"].values()))
    finally:
        run_command(engine, "delete", PROCESS, "--yes")
    start = _start_of_a_command({**engine.environment, **asking})
    told = f"{calls.pop():,} calls each" if len(calls) == 1 else f"{min(calls)}-{max(calls)} calls"
    for name, ended in jobs.items():
        wall, command = middle([one.wall for one in ended]), middle(commands)
        delays = sorted(delay for one in ended for delay in one.delays)
        ms = f"{latency * 1000:.0f} ms"
        report.add(
            Line(
                f"{engine.name}, {name}: job of {count} claims, {ms} a call",
                wall,
                reference=command,
                target=TARGET,
                note=(
                    f"{told}; without a command's own start ({start:.2f} s) "
                    f"{wall / (command - start):.2f}; fastest "
                    f"{min(one.wall for one in ended) / min(commands):.2f}"
                ),
            )
        )
        report.add(
            Line(
                f"{engine.name}, {name}: delay of events, {count} claims, {ms}",
                _share(delays, 0.5),
                note=f"p99 {_share(delays, 0.99) * 1000:.0f} ms, of {len(delays):,} events",
            )
        )


def _by_command(environment: Mapping[str, str]) -> float:
    """Seconds that `veritrail verify` takes."""
    began = time.perf_counter()
    call_command(environment, "verify", PROCESS, "--again", "--no-cache", "--json")
    return time.perf_counter() - began


def _start_of_a_command(environment: Mapping[str, str]) -> float:
    """Seconds that a command takes which only looks into the graph."""
    found = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call_command(environment, "list", "--json")
        found.append(time.perf_counter() - began)
    return middle(found)


def by_service(url: str) -> Job:
    """Submit a job and follow its events to the end."""
    job = Job()
    body = {"process_id": PROCESS, "again": True, "use_cache": False}
    with httpx2.Client(base_url=url, timeout=600, trust_env=False) as client:
        began = time.perf_counter()
        answer = client.post("/v1/verifications", json=body)
        if answer.status_code != 202:
            raise BenchmarkError(f"a job was refused: {answer.text[:300]}")
        with client.stream("GET", f"/v1/jobs/{answer.json()['job_id']}/events") as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    arrived, data = time.time(), json.loads(line[6:])
                    job.delays.append(arrived - datetime.fromisoformat(data["at"]).timestamp())
                    job.status = data.get("status", job.status)
        job.wall = time.perf_counter() - began
    if job.status != "succeeded":
        raise BenchmarkError(f"a job ended as {job.status!r}")
    return job


@contextmanager
def service(environment: Mapping[str, str], *arguments: str) -> Iterator[str]:
    """`veritrail serve` on a free port; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    child = subprocess.Popen(
        [*COMMAND, "serve", "--port", str(port), *arguments],
        cwd=ROOT,
        env=without_servers(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(url, child)
        yield url
    finally:
        child.terminate()
        try:
            child.wait(30)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _wait(url: str, child: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            if httpx2.get(f"{url}/readyz", timeout=10, trust_env=False).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        if child.poll() is not None or time.monotonic() > until:
            raise BenchmarkError("the service did not start")
        time.sleep(0.1)


def store_sample(engine: Engine, folder: Path, count: int) -> None:
    """The sample, with a number of claims of its own."""
    texts = json.loads(sample_claims(folder, HARBOUR, count).read_text("utf-8"))
    document = json.loads((ROOT / "examples" / f"{HARBOUR}.json").read_text("utf-8"))
    document["claims"] = [
        {"claim_id": f"c{number}", "text": text} for number, text in enumerate(texts)
    ]
    path = folder / f"{PROCESS}-{count}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    run_command(engine, "ingest", str(path), "--process-id", PROCESS, "--replace")


def _postgres(report: Report, stack: ExitStack) -> dict[str, Any]:
    from tests.postgres_server import launcher

    try:
        return {"PostgreSQL": stack.enter_context(launcher.start())}
    except launcher.Unavailable as missing:
        report.fail("jobs on PostgreSQL", missing)
        return {}


def _url(name: str, server: Any, folder: Path) -> dict[str, str]:
    """Where the service keeps its jobs: each in a database of its own."""
    if server is None:
        return {"VERITRAIL_JOBS_URL": f"sqlite:///{folder / f'{name}-{time.time_ns()}.sqlite3'}"}
    return {"VERITRAIL_JOBS_URL": server.new_database()}


def _share(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]

"""Runs against the scripted server, each in a child process: how long, how many calls, how large.

Every run goes through `api.app`, as the command line does, with a home of its own, so
that no answer comes from an earlier run.
"""

from __future__ import annotations

import asyncio
import json
import resource
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from veritrail_graph.api.app import Application
from veritrail_graph.api.configured.judge import ConfiguredJudge, JudgeOptions, configure_judge
from veritrail_graph.api.configured.models import ModelOptions
from veritrail_graph.api.jobs.submission import LocalOptions
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.importers.claims_file import read_claims_file
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import Status, Usage, Verification
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.store.database import Database, DatabaseAddress, Row, Step, Transaction
from veritrail_graph.graph.store.store import Store

T = TypeVar("T")

MODEL = "scripted"
DECOMPOSITION, SELECTION, VERDICT = "sub_claim_decomposition", "evidence_selection", "verdict"


@dataclass(slots=True)
class GraphTime:
    """How long calls to the graph were on their way.

    Attributes:
        calls: How many there were.
        busy: Seconds in which at least one was on its way.
        total: Seconds of all of them, side by side or not.
    """

    calls: int = 0
    busy: float = 0.0
    total: float = 0.0
    _in_the_air: int = 0
    _since: float = 0.0

    @contextmanager
    def call(self) -> Any:
        """One call."""
        start = time.perf_counter()
        if not self._in_the_air:
            self._since = start
        self._in_the_air += 1
        self.calls += 1
        try:
            yield
        finally:
            end = time.perf_counter()
            self.total += end - start
            self._in_the_air -= 1
            if not self._in_the_air:
                self.busy += end - self._since


class TimedDatabase(Database):
    """A connection that takes the time of its calls, and reads and writes apart."""

    def __init__(self, address: DatabaseAddress) -> None:
        super().__init__(address)
        self.reads, self.writes = GraphTime(), GraphTime()

    async def read(self, name: str, /, **parameters: Any) -> list[Row]:
        """Read."""
        with self.reads.call():
            return await super().read(name, **parameters)

    async def write(self, name: str, /, **parameters: Any) -> list[Row]:
        """Write."""
        with self.writes.call():
            return await super().write(name, **parameters)

    async def write_all(self, steps: Sequence[Step]) -> list[Row]:
        """Write."""
        with self.writes.call():
            return await super().write_all(steps)

    async def write_with(self, work: Callable[[Transaction], T], *, repeatable: bool = False) -> T:
        """Write."""
        with self.writes.call():
            return await super().write_with(work, repeatable=repeatable)


@dataclass(frozen=True, slots=True)
class Given:
    """What a child is given.

    Attributes:
        login: The address of the engine.
        process: The process.
        claims: A file of claims.
        base_url: The scripted server.
        concurrency: The most calls in flight.
        warm: Whether prefixes are warmed: on, off or auto.
        use_cache: Whether the cache of answers is used.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
    """

    login: Mapping[str, Any]
    process: str
    claims: str
    base_url: str
    concurrency: int = 32
    warm: str = "off"
    use_cache: bool = True
    q: int = 3

    @property
    def how(self) -> JudgeOptions:
        """How claims are verified."""
        options = ModelOptions(concurrency=self.concurrency, use_cache=self.use_cache)
        return JudgeOptions("openai", q=self.q, models=options)

    @property
    def request(self) -> VerifyRequest:
        """Which claims are verified."""
        return VerifyRequest(
            process_id=self.process, again=True, engine="openai", q=self.q, use_cache=self.use_cache
        )

    @property
    def records(self) -> list[ClaimRecord]:
        """The claims of the file."""
        return read_claims_file(Path(self.claims))

    def settings(self, home: str) -> Settings:
        """Settings with a home of their own."""
        return Settings(
            home=Path(home),
            model=MODEL,
            warm_prefixes=self.warm,
            OPENAI_BASE_URL=self.base_url,
            OPENAI_API_KEY="none",
        )

    @asynccontextmanager
    async def bench(self) -> AsyncIterator[tuple[Settings, ConfiguredJudge]]:
        """A judge with an empty cache of answers."""
        with tempfile.TemporaryDirectory(prefix="veritrail-bench-") as home:
            settings = self.settings(home)
            async with configure_judge(settings, self.how) as bench:
                yield settings, bench


@dataclass(slots=True)
class Ran:
    """A run, measured.

    Attributes:
        wall: Seconds of the whole run.
        cpu: Seconds of processor time.
        verifications: What it made.
        graph: Seconds at the graph, reads and writes.
    """

    wall: float
    cpu: float
    verifications: list[Verification]
    graph: dict[str, float] = field(default_factory=dict)

    @property
    def usage(self) -> Usage:
        """What all verifications cost."""
        return sum((one.usage for one in self.verifications), Usage())


async def run(**arguments: Any) -> dict[str, Any]:
    """Verify all claims once; give times, calls and what the ideal schedule would need.

    Modules are loaded and tables are read before the clock starts, as they are in a service and for
    the bare loop; what that takes is part of the commands' times.
    """
    given = Given(**arguments)
    async with given.bench():
        SentenceSplitter.for_language("english").split("", "One. Two.")
    ran = await verified(given)
    failed = [one for one in ran.verifications if one.status is not Status.SUCCEEDED]
    usage = ran.usage
    return {
        "wall": ran.wall,
        "cpu_of_run": ran.cpu,
        "claims": len(ran.verifications),
        "failed": len(failed),
        "why": failed[0].error if failed else None,
        "calls": usage.calls,
        "cached_calls": usage.cached_calls,
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "longest": max(longest_chain(one) for one in ran.verifications),
        "visited": _visited(ran.verifications),
        "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        **ran.graph,
    }


async def verified(given: Given) -> Ran:
    """Verify all claims through the graph, from choosing them to the last trail written."""
    database = TimedDatabase(DatabaseAddress(**given.login))
    await database.connect()
    try:
        with tempfile.TemporaryDirectory(prefix="veritrail-bench-") as home:
            here = LocalOptions(given.records, concurrency=given.concurrency)
            async with Application.over(Store.of(database), given.settings(home)) as app:
                start, cpu = time.perf_counter(), time.process_time()
                done = await (await app.jobs.submit_here(given.request, here=here)).carry_out()
                wall, spent = time.perf_counter() - start, time.process_time() - cpu
    finally:
        await database.close()
    graph = {
        "graph_reads": database.reads.calls,
        "graph_writes": database.writes.calls,
        "graph_reading": database.reads.busy,
        "graph_writing": database.writes.busy,
    }
    return Ran(wall, spent, done.verifications, graph)


def longest_chain(verification: Verification) -> int:
    """How many calls of a claim had to follow each other.

    The prompts of one iteration are asked side by side: one step. The scripted reader takes
    a claim apart into two at a time, the second of which it may take apart again, so that
    2 n + 1 calls are n + 1 steps. What is asked again because it did not fit is one step more.
    """
    by_iteration: dict[int, set[str]] = {}
    apart = 0
    for step in verification.steps:
        if step.step == DECOMPOSITION:
            apart += step.usage.calls + step.usage.cached_calls
        else:
            by_iteration.setdefault(step.iteration, set()).add(step.step)
    reruns = sum(iteration.reruns for iteration in verification.iterations)
    return (apart + 1) // 2 + sum(len(steps) for steps in by_iteration.values()) + reruns


def _visited(verifications: Sequence[Verification]) -> float:
    """Nodes that a claim's walk read, on average."""
    nodes = [
        len({ref.node_id for iteration in one.iterations for ref in iteration.checked})
        for one in verifications
    ]
    return sum(nodes) / len(nodes)


def stats(base_url: str, *, reset: bool = False) -> dict[str, Any]:
    """The server's counts; `reset` sets them to zero."""
    with urllib.request.urlopen(f"{base_url}/{'reset' if reset else 'stats'}") as answer:
        told: dict[str, Any] = json.load(answer)
    return told


async def in_turn(ways: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of several ways, one after the other in every round."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            await asyncio.sleep(0.2)  # what the one before left behind is done
            found[name].append(await way())
    return found

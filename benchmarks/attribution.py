"""Attribution with a language model: our own cost a call, and what endpoints can cache.

The sample has the shape of the paper's data: documents of about 950 words, three summaries of
each, three sentences a summary. Source: Error-tolerant attribution 4.1.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.children import BenchmarkError, run_child
from benchmarks.dag import scaled
from benchmarks.engines import Engine
from benchmarks.model_own_cost import bare_loop, recording
from benchmarks.model_runs import MODEL, TimedDatabase, in_turn, stats
from benchmarks.models import OWN_COST_TARGET, run_command, scripted_server
from benchmarks.report import Line, Report, middle
from veritrail_graph.api.app import Application
from veritrail_graph.api.configured.attribution import AttributeOptions, configure_attribution
from veritrail_graph.api.requests.attribute import AttributeParameters
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import SentenceAttribution, SourceMode
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.store.database import DatabaseAddress
from veritrail_graph.graph.store.store import Store
from veritrail_graph.verifier.attribution.run import Attributing
from veritrail_graph.verifier.held_process import HeldNodes, HeldProcess
from veritrail_graph.verifier.models.port import Meter

PROCESS = "bench-attribution"
DOCUMENTS, SUMMARIES, SENTENCES = 50, 3, 3
SOURCE_SENTENCES, WORDS = 60, 16
CALLS_AT_ONCE = 32
NOT_CACHEABLE_TARGET = 20
"""Per cent of the input that no earlier call shares; so at least 80 % can be cached."""
READER = ("--reader", "fakes.attributing:by_words")


def measure(report: Report, engine: Engine, folder: Path, scale: float = 1.0) -> None:
    """Own cost against a bare loop, and the cacheable share of the input by what is asked."""
    path = folder / f"{PROCESS}.json"
    write_sample(path, scaled(DOCUMENTS, scale, 2))
    run_command(engine, "ingest", str(path), "--replace")
    try:
        _own_cost(report, engine, path)
        _cacheable(report, engine)
    finally:
        run_command(engine, "delete", PROCESS, "--yes")


def _own_cost(report: Report, engine: Engine, path: Path) -> None:
    with scripted_server(*READER) as base_url:
        given = {"login": engine.login, "base_url": base_url, "path": str(path)}
        found = run_child("benchmarks.attribution:compare", **given)
    note = (
        f"{found['calls']:,} calls of {found['sentences']} sentences; CPU a call "
        f"{found['cpu_ours'] * 1000:.2f} ms, bare {found['cpu_bare'] * 1000:.2f} ms; ratio of "
        f"the fastest {found['fastest']:.2f}"
    )
    report.add(
        Line(
            "attribute, own cost, 0 ms a call",
            found["ours"],
            reference=found["bare"],
            target=OWN_COST_TARGET,
            note=note,
        )
    )
    report.add(
        Line(
            f"{engine.name}: attribute, 0 ms a call, from graph to graph",
            found["stored"],
            reference=found["bare"],
            note=(
                f"{found['reads']:.0f} reads, busy {found['reading']:.2f} s; writing "
                f"{found['writing']:.2f} s"
            ),
        )
    )


def _cacheable(report: Report, engine: Engine) -> None:
    """What a caching endpoint read anew; calls are warmed, as they are where one is known."""
    for mode in SourceMode:
        with scripted_server(*READER, "--caches-prefixes") as base_url:
            stats(base_url, reset=True)
            ran = run_child(
                "benchmarks.attribution:run_once",
                login=engine.login,
                base_url=base_url,
                mode=mode.value,
            )
            told = stats(base_url)
        whole, cached = told["characters"], told["cached_characters"]
        shares = {step: cached.get(step, 0) / count for step, count in whole.items()}
        anew = 1 - sum(cached.values()) / sum(whole.values())
        each = ", ".join(f"{step} {share:.0%}" for step, share in sorted(shares.items()))
        report.add(
            Line(
                f"attribute --judge --correct, {mode}: input read anew",
                100 * anew,
                "%",
                target=NOT_CACHEABLE_TARGET,
                note=(
                    f"{1 - anew:.0%} of {sum(whole.values()):,} characters of "
                    f"{ran['calls']:,} calls came from the cache of the endpoint: {each}"
                ),
            )
        )


def write_sample(path: Path, documents: int = DOCUMENTS) -> None:
    """The process: sentences of made-up words; a third of the summaries' are copied whole."""
    draw = random.Random(17)
    words = [
        "".join(draw.choice("bdfgklmnprstv") + draw.choice("aeiou") for _ in range(size))
        for size in (2, 3, 4)
        for _ in range(600)
    ]

    def sentence() -> str:
        return f"{' '.join(draw.choices(words, k=WORDS)).capitalize()}."

    nodes: list[dict[str, Any]] = []
    edges = []
    for number in range(documents):
        source = [sentence() for _ in range(SOURCE_SENTENCES)]
        name = f"document-{number}"
        nodes.append({"node_id": name, "text": " ".join(source), "stage": 1})
        for place in range(SUMMARIES):
            written = []
            for _ in range(SENTENCES):
                said = draw.choice(source).rstrip(".").split()
                if draw.random() < 2 / 3:
                    said[draw.randrange(len(said))] = draw.choice(words)
                written.append(f"{' '.join(said).capitalize()}.")
            summary = f"summary-{number}-{place}"
            nodes.append({"node_id": summary, "text": " ".join(written), "stage": 2})
            edges.append({"source": name, "target": summary})
    document = {
        "format": "veritrail.process/1",
        "process_id": PROCESS,
        "nodes": nodes,
        "edges": edges,
    }
    path.write_text(json.dumps(document), encoding="utf-8")


async def compare(
    *, rounds: int = 5, login: dict[str, Any], base_url: str, path: str
) -> dict[str, float]:
    """Median seconds of ours over nodes in memory, and of a bare loop with the same requests.

    One run goes from the graph to the graph.
    """
    process = HeldProcess.read(open_input(Path(path)))
    cpu: dict[str, list[float]] = {"ours": [], "bare": []}
    with recording() as requests:
        await _in_memory(process, base_url, [])
    stored, database = await _attribute(login, base_url)

    async def ours() -> float:
        return await _in_memory(process, base_url, cpu["ours"])

    async def bare() -> float:
        return await bare_loop(base_url, CALLS_AT_ONCE, requests, cpu["bare"])

    found = await in_turn({"ours": ours, "bare": bare}, rounds)
    return {
        "ours": middle(found["ours"]),
        "bare": middle(found["bare"]),
        "fastest": min(found["ours"]) / min(found["bare"]),
        "stored": stored.wall,
        "reads": database.reads.calls,
        "reading": database.reads.busy,
        "writing": database.writes.busy,
        "calls": len(requests),
        "sentences": stored.sentences,
        "cpu_ours": middle(cpu["ours"]) / len(requests),
        "cpu_bare": middle(cpu["bare"]) / len(requests),
    }


async def run_once(*, login: dict[str, Any], base_url: str, mode: str) -> dict[str, float]:
    """Attribute, judge and correct once; prefixes are warmed."""
    ran, _ = await _attribute(login, base_url, warm="on", mode=SourceMode(mode), more=True)
    return {"calls": ran.calls, "wall": ran.wall}


@dataclass(frozen=True, slots=True)
class Ran:
    """A run of the whole operation."""

    wall: float
    calls: int
    sentences: int


async def _in_memory(process: HeldProcess, base_url: str, cpu: list[float]) -> float:
    """Seconds of attributing all terminals, with the steps of the operation and no graph."""
    with tempfile.TemporaryDirectory(prefix="veritrail-bench-") as home:
        nodes = HeldNodes(process, SentenceSplitter.for_language("english"))
        refs = [process.node(name) for name in process.survey.terminals]
        read = await nodes.read(refs)
        of = [(await nodes.source_nodes([ref.node_id])).nodes for ref in refs]
        sources = [await nodes.read(found) for found in of]
        settings = _settings(home, base_url, "off")
        async with configure_attribution(settings, _options()) as made:
            run = Attributing(made.steps, Meter())
            start, spent = time.perf_counter(), time.process_time()
            found = await asyncio.gather(*map(run.node, read, sources))
            wall = time.perf_counter() - start
            cpu.append(time.process_time() - spent)
    _refuse_failures([one for node in found for one in node.sentences])
    return wall


def _settings(home: str, base_url: str, warm: str) -> Settings:
    return Settings(
        home=Path(home),
        model=MODEL,
        warm_prefixes=warm,
        OPENAI_BASE_URL=base_url,
        OPENAI_API_KEY="none",
    )


def _options(mode: SourceMode = SourceMode.ATTRIBUTION, *, more: bool = False) -> AttributeOptions:
    request = AttributeParameters(engine="openai", judge=more, correct=more, mode=mode)
    return AttributeOptions(request, concurrency=CALLS_AT_ONCE)


def _refuse_failures(sentences: Sequence[SentenceAttribution]) -> None:
    left = [one for one in sentences if one.status is not Status.SUCCEEDED]
    if left:
        raise BenchmarkError(f"{len(left)} sentences failed: {left[0].error}")


async def _attribute(
    login: dict[str, Any],
    base_url: str,
    *,
    warm: str = "off",
    mode: SourceMode = SourceMode.ATTRIBUTION,
    more: bool = False,
) -> tuple[Ran, TimedDatabase]:
    """The whole operation, and how long its calls to the graph were on their way.

    Raises:
        BenchmarkError: A sentence failed.
    """
    database = TimedDatabase(DatabaseAddress(**login))
    await database.connect()
    try:
        with tempfile.TemporaryDirectory(prefix="veritrail-bench-") as home:
            settings = _settings(home, base_url, warm)
            async with Application.over(Store.of(database), settings) as app:
                start = time.perf_counter()
                found = await app.attributions.attribute(PROCESS, _options(mode, more=more))
                wall = time.perf_counter() - start
    finally:
        await database.close()
    _refuse_failures(found.run.sentences)
    if found.fault is not None:
        raise found.fault
    return Ran(wall, found.run.usage.calls, len(found.run.sentences)), database

"""Dialogues with a language model: how well they run side by side, and what a longer one costs.

Turns of a dialogue wait for each other, dialogues do not. A turn of the sample is three calls one
after the other (claims, verification, category), and four calls in all.
Source: VISTA 3 (turns one after the other, with what was said before as background).
"""

from __future__ import annotations

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
from benchmarks.model_runs import MODEL, GraphTime, TimedDatabase, stats
from benchmarks.models import CALLS_AT_ONCE, LATENCY, SCHEDULE_TARGET, run_command, scripted_server
from benchmarks.report import Line, Report, middle
from veritrail_graph.api.app import Application
from veritrail_graph.api.configured.dialogue import DialogueOptions, configure_dialogue
from veritrail_graph.api.requests.dialogue import DialogueParameters
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.importers.dialogue import FORMAT
from veritrail_graph.graph.model import NodeRef
from veritrail_graph.graph.model.dialogue import Speaker, Turn, TurnVerification
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.store import open_store
from veritrail_graph.graph.store.database import DatabaseAddress
from veritrail_graph.graph.store.store import Store
from veritrail_graph.verifier.dialogue.background import Fact
from veritrail_graph.verifier.dialogue.vista import Vista
from veritrail_graph.verifier.ports import ReadNode, SplitNode

PREFIX, WARM_UP = "bench-dialogue-", "bench-dialogue-warm-up"
READER = ("--reader", "fakes.dialogues:by_sentences")
FEW, MANY = 16, 64
"""Dialogues side by side: bound by the longest one, and by the calls in flight."""
TURNS = 10
"""The assistant's turns of each of them."""
CHAIN = 3
"""Calls of a turn that wait for each other."""
A_CALL = 1.0
"""Seconds of a call where a target is set: a hosted model hardly answers faster.

With calls of 0.3 s the client alone takes 1.08 times the ideal on two cores, which are then busy
with sending: that shows our own share best, as a ratio against a bare loop, and has no target.
"""
SIZES = (250, 500, 1_000)
"""The assistant's turns of a dialogue that grows."""
LAST = 150
"""Turns at the end of it whose cost is held against that of a shorter one: windows are full."""
GROWTH_TARGET = 1.2
DOCUMENT_SENTENCES, WORDS = 20, 14


def measure(report: Report, engine: Engine, folder: Path, scale: float = 1.0) -> None:
    """Wall time of dialogues side by side against the ideal, and own time a turn by length."""
    few, many = scaled(FEW, scale), scaled(MANY, scale, 2)
    names = [f"{PREFIX}{number}" for number in range(many)]
    draw = random.Random(18)
    path = folder / "dialogues.jsonl"
    samples = [sample(WARM_UP, 1, draw), *(sample(name, TURNS, draw) for name in names)]
    path.write_text("\n".join(map(json.dumps, samples)), encoding="utf-8")
    run_command(engine, "ingest", str(path), "--replace")
    try:
        with scripted_server(*READER) as base_url:  # an engine that was started just now is slow
            _ran(engine, names[:few], base_url, bare=False)
        for count in (few, many):
            _side_by_side(report, engine, names[:count], A_CALL, SCHEDULE_TARGET)
        _side_by_side(report, engine, names[:few], LATENCY)
    finally:
        run_child("benchmarks.dialogues:clean", login=engine.login, names=[WARM_UP, *names])
    _growth(report, [scaled(size, scale, 10) for size in SIZES])


def _side_by_side(
    report: Report,
    engine: Engine,
    names: Sequence[str],
    latency: float,
    target: float | None = None,
) -> None:
    with scripted_server("--latency", str(latency), *READER) as base_url:
        ran = _ran(engine, names, base_url, bare=target is None)
        told = stats(base_url)
    by_calls = ran["calls"] * latency / CALLS_AT_ONCE
    by_chain = TURNS * CHAIN * latency
    note = (
        f"{ran['calls']:,} calls of {latency * 1000:.0f} ms, most in flight "
        f"{told['most_at_once']}; ideal by calls {by_calls:.1f} s, by the longest dialogue "
        f"{by_chain:.1f} s; CPU {ran['cpu_of_run']:.1f} s; graph busy: reads "
        f"{ran['reading']:.2f} s, writes {ran['writing']:.2f} s"
    )
    report.add(
        Line(
            f"{engine.name}: {len(names)} dialogues of {TURNS} turns, {latency:g} s a call",
            ran["wall"],
            reference=max(by_calls, by_chain),
            target=target,
            note=note,
        )
    )
    if target is not None:
        return
    report.add(
        Line(
            f"{engine.name}: {len(names)} dialogues, {latency:g} s a call, against a bare loop",
            ran["wall"],
            reference=ran["bare"],
            note=f"which takes {ran['bare'] / max(by_calls, by_chain):.2f} times the ideal here",
        )
    )


def _ran(engine: Engine, names: Sequence[str], base_url: str, *, bare: bool) -> dict[str, Any]:
    given = {"login": engine.login, "names": list(names), "base_url": base_url, "bare": bare}
    return run_child("benchmarks.dialogues:run", **given)


def _growth(report: Report, sizes: Sequence[int]) -> None:
    """Own time of the last turns of a dialogue, by its length; no graph."""
    found = {}
    with scripted_server(*READER) as base_url:
        run_child("benchmarks.dialogues:grow", base_url=base_url, size=sizes[0] // 5)
        for size in sizes:
            found[size] = run_child("benchmarks.dialogues:grow", base_url=base_url, size=size)
    first = found[sizes[0]]
    for size in sizes:
        one = found[size]
        note = (
            f"CPU a turn over the last {LAST}; over all turns {one['whole'] * 1000:.1f} ms; "
            f"{one['calls']:,} calls; facts that the last prompt left out: {one['left_out']}"
        )
        report.add(
            Line(
                f"own time a turn, dialogue of {size:,} turns",
                one["last"],
                reference=first["last"],
                target=GROWTH_TARGET if size != sizes[0] else None,
                note=note,
            )
        )


def sample(name: str, turns: int, draw: random.Random) -> dict[str, Any]:
    """A dialogue of made-up words: a document a question, a fact and an opinion an answer."""
    words = [
        "".join(draw.choice("bdfgklmnprstv") + draw.choice("aeiou") for _ in range(size))
        for size in (2, 3, 4)
        for _ in range(300)
    ]

    def sentence() -> str:
        return " ".join(draw.choices(words, k=WORDS)).capitalize()

    documents = []
    said: list[dict[str, Any]] = []
    for number in range(turns):
        text = ". ".join(sentence() for _ in range(DOCUMENT_SENTENCES))
        documents.append({"document_id": f"d{number}", "text": f"{text}."})
        said += [
            {"turn_id": f"t{2 * number}", "role": "user", "text": f"{sentence()}?"},
            {
                "turn_id": f"t{2 * number + 1}",
                "role": "assistant",
                "text": f"{sentence()}. I {sentence().lower()}.",
                "documents": [f"d{number}"],
            },
        ]
    return {"format": FORMAT, "dialogue_id": name, "documents": documents, "turns": said}


def _settings(home: str, base_url: str) -> Settings:
    return Settings(
        home=Path(home),
        model=MODEL,
        warm_prefixes="off",
        OPENAI_BASE_URL=base_url,
        OPENAI_API_KEY="none",
    )


_OPTIONS = DialogueOptions(DialogueParameters(engine="openai"), concurrency=CALLS_AT_ONCE)


async def run(
    *, login: dict[str, Any], names: list[str], base_url: str, bare: bool
) -> dict[str, float]:
    """Verify dialogues side by side, from the graph to the graph; if wanted, then a bare loop.

    The bare loop sends what bounds the ideal: all calls, or those of each dialogue that wait for
    each other. It does nothing else, and shows what the machine makes of the ideal.
    """
    database = TimedDatabase(DatabaseAddress(**login))
    await database.connect()
    try:
        with tempfile.TemporaryDirectory(prefix="veritrail-bench-") as home:
            settings = _settings(home, base_url)
            async with Application.over(Store.of(database), settings) as app:
                await app.dialogues.verify([WARM_UP], _OPTIONS)  # libraries are loaded
                database.reads, database.writes = GraphTime(), GraphTime()
                with recording() as requests:
                    start, spent = time.perf_counter(), time.process_time()
                    found = await app.dialogues.verify(names, _OPTIONS)
                    wall, cpu = time.perf_counter() - start, time.process_time() - spent
    finally:
        await database.close()
    _refuse_failures([turn for one in found for turn in one.run.turns])
    waiting = requests[: len(names) * TURNS * CHAIN]
    at_once = min(len(names), CALLS_AT_ONCE)
    if len(requests) / CALLS_AT_ONCE > TURNS * CHAIN:
        waiting, at_once = requests, CALLS_AT_ONCE
    return {
        "wall": wall,
        "bare": await bare_loop(base_url, at_once, waiting, []) if bare else 0.0,
        "cpu_of_run": cpu,
        "calls": sum(one.run.usage.calls for one in found),
        "reading": database.reads.busy,
        "writing": database.writes.busy,
    }


async def clean(*, login: dict[str, Any], names: list[str]) -> dict[str, float]:
    """Remove the dialogues."""
    async with open_store(DatabaseAddress(**login)) as store:
        for name in names:
            await store.processes.delete(name)
    return {}


@dataclass(frozen=True, slots=True)
class _Text:
    """A `DialogueText` in memory."""

    turns: Sequence[Turn]
    documents: dict[str, ReadNode]
    knowledge: Sequence[Fact] = ()

    async def reference(self, turn: Turn) -> Sequence[ReadNode]:
        return [self.documents[name] for name in turn.documents]


def _text(size: int) -> _Text:
    made = sample("grown", size, random.Random(size))
    splitter = SentenceSplitter.for_language("english")
    documents: dict[str, ReadNode] = {}
    for one in made["documents"]:
        name = f"document/{one['document_id']}"
        split = splitter.split(name, one["text"])
        documents[one["document_id"]] = SplitNode(NodeRef.named(name), one["text"], split)
    turns = [
        Turn(
            turn_id=one["turn_id"],
            role=Speaker(one["role"]),
            text=one["text"],
            documents=tuple(one.get("documents", ())),
        )
        for one in made["turns"]
    ]
    return _Text(turns, documents)


async def grow(*, base_url: str, size: int) -> dict[str, float]:
    """Seconds of processor time a turn of one dialogue, over its last turns and over all."""
    text = _text(size)
    spent: list[float] = []
    found: list[TurnVerification] = []
    with tempfile.TemporaryDirectory(prefix="veritrail-bench-") as home:
        async with configure_dialogue(_settings(home, base_url), _OPTIONS) as made:
            since = time.process_time()
            async for _, turn, _ in Vista(made.judge, made.ablations).dialogue(text):
                now = time.process_time()
                spent.append(now - since)
                found.append(turn)
                since = now
    _refuse_failures(found)
    return {
        "last": middle(spent[-LAST:]),
        "whole": sum(spent) / len(spent),
        "calls": sum(one.usage.calls for one in found),
        "left_out": found[-1].background_left_out,
    }


def _refuse_failures(turns: Sequence[TurnVerification]) -> None:
    left = [one for one in turns if not one.status.is_result]
    if left:
        raise BenchmarkError(f"{len(left)} turns failed: {left[0].error}")

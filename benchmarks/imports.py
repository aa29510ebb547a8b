"""Reading traces: time a span of a large trace against that of a small one.

The reference is the same reader on a fifth of the spans: what grows faster than its input shows.
"""

from __future__ import annotations

import gc
import random
import time

from benchmarks.dag import scaled
from benchmarks.report import Line, Report
from veritrail_graph.api.cli.main import COLLECTIONS
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, Trace
from veritrail_graph.graph.importers.traces.process import process_of

SMALL, LARGE, TARGET = 10_000, 50_000, 1.5
_WORDS, _ROUNDS = 5_000, 3


def measure(report: Report, scale: float = 1.0) -> None:
    """Time a span at 50,000 spans, against 10,000, with garbage collected as by `veritrail`."""
    usual = gc.get_threshold()
    gc.set_threshold(*COLLECTIONS)
    try:
        _measure(report, scaled(SMALL, scale, 100), scaled(LARGE, scale, 500))
    finally:
        gc.set_threshold(*usual)


def _measure(report: Report, small: int, large: int) -> None:
    times = {spans: min(_seconds(spans) for _ in range(_ROUNDS)) for spans in (small, large)}
    ours, reference = times[large] / large, times[small] / small
    note = f"{times[large]:.1f} s against {times[small]:.1f} s"
    report.add(Line(f"imports: a span of {large:,}", ours, "s", reference, TARGET, note))


def _seconds(spans: int) -> float:
    trace = _trace(spans)
    started = time.perf_counter()
    draft = process_of(trace, "benchmark", ImportOptions())
    seconds = time.perf_counter() - started
    if draft.header.explained is None or draft.header.explained < 0.9:
        raise RuntimeError("the edges of the trace were not found")
    return seconds


def _trace(spans: int) -> Trace:
    """Rounds of retrieval and summary; half of the summaries read an earlier one."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(_WORDS)]

    def text(length: int) -> str:
        return " ".join(chance.choices(words, k=length))

    calls = [Call("root", "pipeline", CallKind.OTHER, None, 0, 10**12)]
    notes: list[str] = []
    for at in range(1, spans, 2):
        found = [text(80) for _ in range(3)]
        documents = [{"page_content": one, "metadata": {}} for one in found]
        calls.append(Call(f"r{at}", "search", CallKind.RETRIEVER, "root", at, at, None, documents))
        earlier = [chance.choice(notes)] if notes and chance.random() < 0.5 else []
        prompt = {"role": "user", "content": "\n".join(["Summarise:", *found, *earlier])}
        notes.append(text(40))
        said = {"role": "assistant", "content": notes[-1]}
        calls.append(
            Call(f"g{at}", "note", CallKind.GENERATION, "root", at, at + 1, [prompt], said)
        )
    calls[0].made = notes[-1]
    return Trace(calls)

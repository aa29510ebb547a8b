"""A document of what verifying claims would cost.

Source: VeriTrail D (computational cost).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from veritrail_graph.api.show.costs import cost_words, way_words
from veritrail_graph.api.show.document import (
    Block,
    Document,
    Line,
    Remark,
    Style,
    Table,
    name,
    ours,
    quoting,
)
from veritrail_graph.graph.counted import counted

if TYPE_CHECKING:
    from veritrail_graph.api.app.estimation import Estimated
    from veritrail_graph.api.app.kept_estimate import Kept
    from veritrail_graph.graph.model import Usage

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "Estimated.is_exact": "it is one of the assumptions, which JSON lists",
        "Estimated.chosen": "the figures above the ways are those of the chosen one",
        "Kept.left": "the estimate is about these claims",
        "CallMode.prefixes": "the name of the way says it",
        "CallMode.batch": "the name of the way says it",
        "Usage.cached_calls": "answers from the cache are not counted",
        "Usage.reasoning_tokens": "answers are assumed without them",
        "Usage.unpriced_calls": "a cost that is not known says it",
    }
)
"""Fields of an estimate that no writer shows, by class and name, and why."""
LIVE = "live"


class _ByWay(Protocol):
    @property
    def ways(self) -> Mapping[str, Usage]: ...


_BATCHES = (
    "All calls are counted at the price of batches, without cached prefixes; answers that are "
    "asked live (--batch-finish live) cost the whole price."
)
_ASSUMED = (
    "These figures are estimates from assumptions. Prompts are packed as they would be; how many "
    "nodes yield evidence and how long answers are is assumed. Low assumes no evidence, or "
    "evidence in one node a frontier, whichever is cheaper. Likely assumes evidence in one of five "
    "nodes, at most five nodes a frontier, and, where selections may settle verdicts, that they "
    "leave those of one claim in three open. High assumes evidence in every node, and that every "
    "verdict is asked for. --json lists all assumptions. Repeated calls and cached answers are not "
    "counted."
)
_WAYS = (
    "Live: a call a prompt and a claim, as in the paper, and no cached prefix. Shared prompts and "
    "the cascade are ours: measure them with your model (judge check --share N, --escalate-to "
    "NAME)."
)


def estimate_shown(found: Estimated) -> Document:
    """Show an estimate: low, likely and high, and the same claims in every way to ask."""
    about: Line = (
        ours(f"{counted(found.claims, 'claim')} of "),
        name(found.process_id),
        ours(", "),
    )
    model = name(found.model) if found.model else ours("no model named")
    about += (model, ours(": an estimate, no call was made."))
    blocks: list[Block] = [Remark(about, Style.STRONG)]
    if found.kept is not None:
        blocks.append(Remark((quoting(kept_words(found.kept)),)))
    blocks += [_scenarios(found), *_ways(found)]
    if found.estimates.likely.usage.batch_calls:
        blocks.append(Remark((ours(_BATCHES),), Style.QUIET))
    blocks.append(Remark((ours(_ASSUMED),), Style.QUIET))
    if not found.is_priced:
        cure = "give it with --price"
        if any(way.cascade for way in found.ways):
            cure += ", that of the second judge in VERITRAIL_ESCALATION_PRICE"
        words = f"The price is not known, so neither is the cost; {cure}."
        blocks.append(Remark((ours(words),), Style.WARNING))
    return Document(tuple(blocks))


def kept_words(kept: Kept) -> str:
    """Return what an earlier version spares, in a sentence."""
    if kept.claims is None:
        return (
            f"Which verdicts of {kept.since} would be kept is not known, as {kept.why_unknown}: "
            "these figures are those of a whole run."
        )
    verdicts = counted(kept.claims, "verdict")
    return f"{verdicts} of {kept.since} would be kept; these figures are those of all other claims."


def _scenarios(found: Estimated) -> Table:
    rows = []
    sums = found.estimates
    for words, one in (("low", sums.low), ("likely", sums.likely), ("high", sums.high)):
        usage = one.usage
        counts = (usage.calls, usage.input_tokens, usage.cached_input_tokens, usage.output_tokens)
        figures = [f"{count:,}" for count in counts]
        rows.append((words, *figures, cost_words(usage), f"{len(one.visited):,}"))
    columns = ("calls", "input", "cached input", "output", "cost", "nodes read")
    return _table(columns, rows)


def _ways(found: Estimated) -> list[Block]:
    """Show the cost of the same claims in every way to ask, side by side."""
    likely, low, high = found.estimates.likely, found.estimates.low, found.estimates.high
    rows = []
    for way in found.ways:
        if way.name not in likely.ways:
            continue
        part = part_of_live(likely, way.name)
        rows.append(
            (
                way_words(way.name, way.share),
                f"{likely.ways[way.name].calls:,}",
                *(cost_words(one.ways[way.name]) for one in (low, likely, high)),
                "-" if part is None else f"{part:.2f}",
            )
        )
    if not rows:
        return []
    notes = [_WAYS]
    if not found.caches:
        notes.append("This endpoint is not known to cache prefixes.")
    if not any(way.cascade for way in found.ways):
        notes.append("--escalate-to NAME shows a cascade of two judges, too.")
    return [
        Remark((ours("The same claims, side by side:"),), Style.STRONG),
        _table(("calls, likely", "low", "likely", "high", "part of live"), rows),
        Remark((ours(" ".join(notes)),), Style.QUIET),
    ]


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    cells = tuple(tuple((ours(cell),) for cell in row) for row in rows)
    return Table(("", *columns), cells, right=columns)


def part_of_live(likely: _ByWay, way: str) -> float | None:
    """Say what part of the cost of single calls without any cache a way costs; None: not known."""
    live, found = likely.ways[LIVE].cost_usd, likely.ways[way].cost_usd
    return round(found / live, 4) if live and found is not None else None

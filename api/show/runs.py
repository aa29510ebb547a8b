"""Runs as people read them: a list, and two of them over all claims with a table and a picture.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.show.asking import asking_short
from veritrail_graph.api.show.costs import UNKNOWN, money_words
from veritrail_graph.api.show.document import (
    Block as DocumentBlock,
)
from veritrail_graph.api.show.document import (
    Document,
    Line,
    Remark,
    Style,
    Table,
    name,
    ours,
    quoting,
    said,
)
from veritrail_graph.api.show.tables import csv_text
from veritrail_graph.api.show.words import VERDICT_WORDS, Mark, indicative_words, mark_of
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Status, Verdict

if TYPE_CHECKING:
    from veritrail_graph.api.app.runs import ComparedSide, RunComparison, SideOfClaim
    from veritrail_graph.graph.model.run import Run, Spending

CHANGE_WORDS: Mapping[str, str] = {
    "lost": "Lost",
    "gained": "Gained",
    "moved": "Moved to another stage",
    "other": "Other verdict",
    "same": "The same",
    "only-first": "Only in the first",
    "only-second": "Only in the second",
    "neither": "Without a verdict",
}
"""What became of a claim, what is read first in front."""

CHANGE_HINTS: Mapping[str, str] = {
    "lost": "Fully supported in the first, and not in the second.",
    "gained": "Fully supported in the second, and not in the first.",
    "moved": "Not fully supported in both; other stages are named.",
    "other": "The verdicts differ between not fully supported and inconclusive.",
    "same": "Verdict and stages are the same.",
    "only-first": "The second gave no verdict.",
    "only-second": "The first gave no verdict.",
    "neither": "Neither gave a verdict.",
}

COLUMNS = (
    "claim_id", "claim", "change", "same_text", "verdict_a", "status_a", "error_stages_a",
    "cost_usd_a", "verification_id_a", "verdict_b", "status_b", "error_stages_b", "cost_usd_b",
    "verification_id_b",
)  # fmt: skip


RUNS_NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {"Run.engine": "it is the judge where there is no model; a model is named alone"}
)
COMPARISON_NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "RunComparison.pairs": "the page draws them; the claims say the same",
        "ComparedSide.kind": "its name says whether it is a run or a judge",
        "ComparedSide.engine": "it is the judge where there is no model; a model is named alone",
        "SideOfClaim.verification_id": "the table as CSV has it",
        "SideOfClaim.indicative": "each side says it of all its verdicts",
        "SideOfClaim.spent": "each side says it of all its claims; the table as CSV has it",
    }
)
"""Fields of the nouns that no writer shows, by class and name, and why."""


def runs_shown(runs: Sequence[Run], letters: int | None = None) -> Document:
    """Show the runs of a process, newest first.

    Args:
        runs: The runs.
        letters: How many letters of their ids are shown; None: all.
    """
    columns = [VERDICT_WORDS[one].lower() for one in Verdict]
    left = [one for one in Status if any(run.counts.get(one) for run in runs)]
    left = [one for one in left if one is not Status.SUCCEEDED]
    columns += [_status_words(one) for one in left]
    rows = tuple(
        (
            (name(one.run_id[:letters]),),
            (ours(one.created_at[:16].replace("T", " ")),),
            _judge(one),
            (ours("" if one.q is None else str(one.q)),),
            *((ours(f"{one.verdicts.get(verdict, 0):,}"),) for verdict in Verdict),
            *((ours(f"{one.counts.get(status, 0):,}"),) for status in left),
            (ours(f"{one.verifications:,}"),),
            (ours(cost_of(one.spent)),),
            _run_remarks(one),
        )
        for one in runs
    )
    numbers = ("q", *columns, "all", "cost")
    table = Table(
        ("run", "made", "judge", "q", *columns, "all", "cost", ""), rows, numbers, ("judge",),
        ("made", "q", "all"),
    )  # fmt: skip
    blocks: list[DocumentBlock] = [table] if runs else []
    if engines := [one.engine for one in runs if one.indicative]:
        words = f"Verdicts marked so are {indicative_words(*engines)}."
        blocks.append(Remark((quoting(words),), Style.WARNING))
    return Document(tuple(blocks))


def _run_remarks(run: Run) -> Line:
    parts: list[Line] = []
    if run.is_of_record:
        parts.append((ours("run of record"),))
    if run.mode is not None:
        parts.append((ours({"batch": "in batches", "live": "live"}[run.mode]),))
    if run.kept:
        parts.append((ours(f"{run.kept:,} kept"),))
    if run.since:
        parts.append((ours("since "), name(run.since)))
    if run.indicative:
        parts.append((ours("indicative"),))
    return tuple(part for n, one in enumerate(parts) for part in ((ours(", "),) if n else ()) + one)


def _judge(of: Run | ComparedSide) -> Line:
    return (name(of.model or of.engine), ours(asking_short(of.asking)))


def _status_words(status: Status) -> str:
    return status.value.replace("_", " ")


def comparison_shown(found: RunComparison) -> Document:
    """Show two runs or two judges side by side: what changed, and both sides."""
    changed = [one for one in found.claims if one.change.value not in ("same", "neither")]
    rows = tuple(
        (
            (name(one.claim_id),),
            (ours(CHANGE_WORDS[one.change].lower()),),
            _side(one.a),
            _side(one.b),
            (said(one.claim), *(() if one.same_text else (ours(" (other words)"),))),
        )
        for one in changed
    )
    table = Table(("claim_id", "change", "A", "B", "claim"), rows, texts=("claim",))
    numbers = {change.value: number for change, number in found.changes.items()}
    changes = ", ".join(
        f"{numbers.get(change, 0):,} {words.lower()}"
        for change, words in CHANGE_WORDS.items()
        if numbers.get(change) or change in ("lost", "gained")
    )
    total = f"{counted(len(found.claims), 'claim')} of "
    remarks = [
        *(_side_line(letter, side) for letter, side in (("A", found.a), ("B", found.b))),
        (ours(total), name(found.process_id), ours(f": {changes}.")),
    ]
    return Document((*([table] if rows else []), *map(Remark, remarks)))


def _side_line(letter: str, side: ComparedSide) -> Line:
    counts = [
        f"{number:,} {VERDICT_WORDS[Verdict(one)].lower()}" for one, number in side.verdicts.items()
    ]
    counts += [f"{side.undecided:,} undecided"] if side.undecided else []
    left = side.without_verdict - side.undecided
    counts += [f"{left:,} could not be checked"] if left else []
    mark = " (indicative)" if side.indicative else ""
    line: Line = (ours(f"{letter}: "), name(side.name))
    judge = _judge(side)
    line = line if judge[0].text == side.name else (*line, ours(", "), judge[0])
    words = f"{mark}, q = {side.q}, {side.created_at[:16].replace('T', ' ')}, "
    words += f"{counted(side.claims, 'claim')}: {', '.join(counts)}; {cost_of(side.spent)}"
    return (*line, judge[1], ours(words))


def _side(side: SideOfClaim | None) -> Line:
    if side is None:
        return (ours("not verified"),)
    if side.verdict is None:
        return (ours(_status_words(Status(side.status))),)
    stages = f" (stage {', '.join(map(str, side.error_stages))})" if side.error_stages else ""
    return (ours(VERDICT_WORDS[Verdict(side.verdict)].lower() + stages),)


def side_mark(side: SideOfClaim | None) -> Mark | None:
    """The mark of what one side found; None: it did not verify the claim."""
    if side is None:
        return None
    verdict = Verdict(side.verdict) if side.verdict is not None else None
    return mark_of(verdict, Status(side.status), indicative=side.indicative)


def known_cost(spent: Spending) -> float | None:
    """US dollars; None where they are not known, 0 where no model was asked."""
    if spent.cost_usd is not None:
        return spent.cost_usd
    return 0.0 if not spent.calls and not spent.unpriced_calls else None


def cost_of(spent: Spending) -> str:
    """Return a cost in words; an unknown one is never 0."""
    dollars = known_cost(spent)
    return UNKNOWN if dollars is None else money_words(dollars)


def comparison_csv(found: RunComparison) -> str:
    """A row a claim; an empty cost is not known, or the side did not verify the claim."""
    first, second = (side.model is not None for side in (found.a, found.b))
    rows = (
        (
            one.claim_id, one.claim, str(one.change), one.same_text,
            *_cells(one.a, asks_model=first), *_cells(one.b, asks_model=second),
        )
        for one in found.claims
    )  # fmt: skip
    return csv_text(COLUMNS, rows)


def _cells(side: SideOfClaim | None, *, asks_model: bool) -> tuple[Any, ...]:
    if side is None:
        return (None,) * 5
    # Of a shared call, which counts for one claim, the others have a part of the cost alone.
    cost = side.spent.cost_usd if asks_model else known_cost(side.spent)
    return side.verdict, side.status, side.error_stages, cost, side.verification_id


@dataclass(frozen=True, slots=True)
class Block:
    """The claims with one verdict on one side.

    Attributes:
        mark: The verdict.
        claims: How many.
        top: Where the block begins.
        height: How high it is.
    """

    mark: Mark
    claims: int
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class Band:
    """The claims that went from one verdict to another.

    Attributes:
        first: The verdict on the first side.
        second: That on the second.
        claims: How many.
        path: The outline of the band.
        differs: Whether the verdicts differ.
    """

    first: Mark
    second: Mark
    claims: int
    path: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Flow:
    """A picture of how verdicts became others: two columns of blocks, and bands between them.

    Attributes:
        left: The blocks of the first side.
        right: Those of the second.
        bands: What lies between.
        total: How many claims have a verdict on both sides.
        height: How high it is.
    """

    left: tuple[Block, ...]
    right: tuple[Block, ...]
    bands: tuple[Band, ...]
    total: int
    height: float


HIGH, GAP, FROM, TO = 220.0, 12.0, 150.0, 450.0
"""Height of all claims together, between two blocks, and where the bands begin and end."""

_VERDICTS = (Verdict.NOT_FULLY_SUPPORTED, Verdict.INCONCLUSIVE, Verdict.FULLY_SUPPORTED)


def flow_of(pairs: Mapping[str, Mapping[str, int]]) -> Flow | None:
    """The picture; None where no claim has a verdict on both sides.

    Args:
        pairs: Claims by their verdict on the first side, then by that on the second.
    """
    total = sum(sum(row.values()) for row in pairs.values())
    if not total:
        return None
    unit = HIGH / total
    left = {one: sum(pairs[one.value].values()) for one in _VERDICTS}
    right = {one: sum(row[one.value] for row in pairs.values()) for one in _VERDICTS}
    blocks = tuple(_blocks(side, unit) for side in (left, right))
    starts = [{block.mark: block.top for block in side} for side in blocks]
    bands = []
    for one in _VERDICTS:
        for other in _VERDICTS:
            claims = pairs[one.value][other.value]
            if not claims:
                continue
            first, second = mark_of(one), mark_of(other)
            high = claims * unit
            path = _path(starts[0][first], starts[1][second], high)
            bands.append(Band(first, second, claims, path, one is not other))
            starts[0][first] += high
            starts[1][second] += high
    height = max(block.top + block.height for side in blocks for block in side)
    return Flow(blocks[0], blocks[1], tuple(bands), total, height)


def _blocks(claims: Mapping[Verdict, int], unit: float) -> tuple[Block, ...]:
    found, top = [], 0.0
    for verdict, number in claims.items():
        if number:
            found.append(Block(mark_of(verdict), number, top, number * unit))
            top += number * unit + GAP
    return tuple(found)


def _path(left: float, right: float, high: float) -> str:
    """The outline of a band between two heights."""
    middle = (FROM + TO) / 2
    return (
        f"M{FROM:.0f} {left:.1f}C{middle:.0f} {left:.1f} {middle:.0f} {right:.1f} "
        f"{TO:.0f} {right:.1f}V{right + high:.1f}C{middle:.0f} {right + high:.1f} "
        f"{middle:.0f} {left + high:.1f} {FROM:.0f} {left + high:.1f}Z"
    )

"""Two runs over all claims, as people read them: words, a table as CSV, and a picture.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from veritrail_graph.api.show.tables import csv_text
from veritrail_graph.api.show.words import Mark, mark_of
from veritrail_graph.graph.model import Status, Verdict

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


class _Spent(Protocol):
    @property
    def calls(self) -> int: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def unpriced_calls(self) -> int: ...


class _Side(Protocol):
    @property
    def verification_id(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def verdict(self) -> str | None: ...
    @property
    def indicative(self) -> bool: ...
    @property
    def error_stages(self) -> list[int]: ...
    @property
    def spent(self) -> Any: ...


class _Compared(Protocol):
    @property
    def model(self) -> str | None: ...


class _Comparison(Protocol):
    @property
    def a(self) -> _Compared: ...
    @property
    def b(self) -> _Compared: ...
    @property
    def claims(self) -> Sequence[Any]: ...


def side_mark(side: _Side | None) -> Mark | None:
    """The mark of what one side found; None: it did not verify the claim."""
    if side is None:
        return None
    verdict = Verdict(side.verdict) if side.verdict is not None else None
    return mark_of(verdict, Status(side.status), indicative=side.indicative)


def known_cost(spent: _Spent) -> float | None:
    """US dollars; None where they are not known, 0 where no model was asked."""
    if spent.cost_usd is not None:
        return spent.cost_usd
    return 0.0 if not spent.calls and not spent.unpriced_calls else None


def comparison_csv(found: _Comparison) -> str:
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


def _cells(side: _Side | None, *, asks_model: bool) -> tuple[Any, ...]:
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

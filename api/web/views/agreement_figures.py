"""Figures of agreement in words, and the table of which verdicts meet.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.api.web.views.marks import Mark, mark_of
from veritrail_graph.api.web.views.shares import share
from veritrail_graph.graph.agreement import Agreement, AgreementReport
from veritrail_graph.graph.model import Verdict

MOST_FIGURES = 100
"""Reviewers, and pairs of them, that the page has a line for."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What some pairs of verdicts come to, in words.

    Attributes:
        name: Whom it is about.
        reviews: How many reviews; None: not told here.
        unclear: Claims called unclear; None: not told here.
        pairs: How many pairs were compared.
        agreed: How many said the same.
        share: Their share in percent, or why there is none.
        kappa: Cohen's kappa, or why there is none.
        is_small: Whether the pairs are too few to say much.
        interval: Where the share lies with 95 % certainty; empty without a pair.
    """

    name: str
    reviews: int | None
    unclear: int | None
    pairs: int
    agreed: int
    share: str
    kappa: str
    is_small: bool
    interval: str


@dataclass(frozen=True, slots=True)
class Cell:
    """How often a verdict of the model met one of a person.

    Attributes:
        count: How often.
        same: Whether the two are the same verdict.
    """

    count: int
    same: bool


@dataclass(frozen=True, slots=True)
class Confusion:
    """The model's verdicts by row, people's by column.

    Attributes:
        heads: The verdicts, in the order of both.
        rows: The verdict of a row, and its cells.
    """

    heads: tuple[Mark, ...]
    rows: tuple[tuple[Mark, tuple[Cell, ...]], ...]


def confusion_of(found: Agreement) -> Confusion:
    """The table of model against people."""
    heads = tuple(mark_of(verdict) for verdict in Verdict)
    rows = tuple(
        (
            mark_of(one),
            tuple(Cell(found.table.get((one, other), 0), one is other) for other in Verdict),
        )
        for one in Verdict
    )
    return Confusion(heads, rows)


def figures_of(
    name: str, found: Agreement, reviews: int | None = None, unclear: int | None = None
) -> Figures:
    """Figures in words; what is not defined is said to be so, and never 0."""
    kappa = found.kappa
    no_kappa = "not defined: one verdict throughout" if found.pairs else "nothing to compare"
    interval = found.interval
    return Figures(
        name=name,
        reviews=reviews,
        unclear=unclear,
        pairs=found.pairs,
        agreed=found.agreed,
        share="nothing to compare" if found.share is None else share(found.agreed, found.pairs),
        kappa=no_kappa if kappa is None else f"{kappa:.2f}",
        is_small=found.is_small,
        interval="" if interval is None else " to ".join(map(_share_of_one, interval)),
    )


def _share_of_one(value: float) -> str:
    return share(round(value, 9), 1)  # what only rounding keeps from all or nothing is just that


def lines_of(found: AgreementReport) -> list[tuple[str, list[Figures], int]]:
    """Figures by reviewer, by pair of reviewers and by judge; the number is of those left out."""
    people = [
        figures_of(one.reviewer, one.agreement, one.reviews, one.unclear)
        for one in found.reviewers[:MOST_FIGURES]
    ]
    pairs = [
        figures_of(" and ".join(one.reviewers), one.agreement, None, one.unclear)
        for one in found.between[:MOST_FIGURES]
    ]
    judges = [
        figures_of(f"{judge.engine} {judge.model or ''}".strip(), one)
        for judge, one in found.judges.items()
    ]
    parts = (
        ("Each reviewer and the model", people, len(found.reviewers)),
        ("Reviewers with each other", pairs, len(found.between)),
        ("By judge", judges, len(judges)),
    )
    return [(name, lines, total - len(lines)) for name, lines, total in parts if lines]

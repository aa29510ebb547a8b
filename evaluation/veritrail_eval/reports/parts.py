"""The parts of a report's sections: cells, tables, and figures as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from veritrail_eval.figures.bootstrap import Interval
from veritrail_eval.figures.figure import Figure
from veritrail_eval.reporting.run_folder import ConfigurationRun
from veritrail_eval.reports.heat_maps import HeatMap

DASH = "\N{EN DASH}"
MOST_NAMES = 3
"""Names of a list that are written out."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: What it says.
        strong: Whether it is the highest of its column.
        span: An interval below the figure, as text.
    """

    text: str
    strong: bool = False
    span: str = ""


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table.

    Attributes:
        caption: What it shows.
        columns: Names of the columns; the first one names the row.
        rows: The cells.
        texts: Places of columns that hold texts; all others hold numbers.
        notes: What is left out, and why figures are missing.
        folded: Whether it is closed until it is asked for.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: Sequence[int] = (0,)
    notes: Sequence[str] = ()
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report.

    Attributes:
        heading: Its heading.
        words: Paragraphs before the tables.
        tables: Its tables.
        maps: Its heat maps.
    """

    heading: str
    words: Sequence[str] = ()
    tables: Sequence[ShownTable] = ()
    maps: Sequence[HeatMap] = field(default=())


def named(run: ConfigurationRun) -> str:
    """A configuration in a table."""
    return f"{run.title} (indicative)" if run.indicative else run.title


def shown(value: float | None, places: int = 3) -> str:
    """A figure as text."""
    return DASH if value is None else f"{value:z.{places}f}"


def dollars(value: float | None) -> str:
    """US dollars as text."""
    return DASH if value is None else f"{value:,.4f}"


def percent(value: float | None) -> str:
    """A share as text."""
    return DASH if value is None else f"{value * 100:.1f} %"


def span_of(interval: Interval | None) -> str:
    """An interval as text; empty where there is none."""
    ends = interval.as_json() if interval is not None else None
    return "" if ends is None else f"{ends[0]:z.3f} to {ends[1]:z.3f}"


def reasons_of(
    rows: Iterable[tuple[str, Mapping[str, Figure]]], names: Mapping[str, str]
) -> list[str]:
    """Return why figures are missing.

    Each reason once, with the figures and the rows that it is about.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for title, figures in rows:
        lacking: dict[str, list[str]] = {}
        for name, words in names.items():
            reason = figures[name].reason if name in figures else None
            if reason is not None:
                lacking.setdefault(reason, []).append(words)
        for reason, words_of in lacking.items():
            found.setdefault((", ".join(words_of), reason), []).append(title)
    notes = []
    for (words, reason), titles in found.items():
        more = f" and {len(titles) - MOST_NAMES:,} more" if len(titles) > MOST_NAMES else ""
        notes.append(f"{DASH} {words}: {reason} ({'; '.join(titles[:MOST_NAMES])}{more}).")
    return notes


def claims_words(count: int) -> str:
    """A number of claims."""
    return f"{count:,} claim{'' if count == 1 else 's'}"


def some(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = len(names) - MOST_NAMES
    text = "; ".join(names[:MOST_NAMES])
    return f"{text} and {more:,} more" if more > 0 else text

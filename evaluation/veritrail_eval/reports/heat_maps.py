"""A grid of figures as a drawing: places, shades and words, without a library.

Source: VeriTrail E.4 (Figures 2 and 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_eval.reporting.grids import MethodGrid

WIDTH, HEIGHT, LABEL, HEAD = 64, 30, 92, 44
"""Of a cell, of the labels of rows, and of the labels of columns, in pixels."""

DARKEST = 0.42
"""The strongest shade: text on it is still easy to read in light and in dark."""

_MOST_CHARACTERS = 9
_MOST_IN_A_NAME = 24


@dataclass(frozen=True, slots=True)
class MapCell:
    """A cell of a heat map.

    Attributes:
        x: Its left edge.
        y: Its upper edge.
        shade: How dark it is, from 0 to 1; None: no figure.
        text: The figure.
        said: Both settings and the figure, in words.
        is_best: Whether no cell of the map is higher.
    """

    x: int
    y: int
    shade: float | None
    text: str
    said: str
    is_best: bool


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A heat map.

    Attributes:
        caption: What it shows.
        across: The name of the columns' parameter.
        down: The name of the rows' parameter; empty: one row.
        columns: Each column's label and the middle of it.
        rows: Each row's label and the middle of it.
        cells: The cells.
        width: Of the drawing, in pixels.
        height: Of the drawing, in pixels.
        cell_width: Of a cell.
        cell_height: Of a cell.
        left: Where the cells begin.
        missing: Cells without a figure.
    """

    caption: str
    across: str
    down: str
    columns: Sequence[tuple[str, int]]
    rows: Sequence[tuple[str, int]]
    cells: Sequence[MapCell]
    width: int
    height: int
    cell_width: int
    cell_height: int
    left: int
    missing: int


def heat_map(one: MethodGrid) -> HeatMap:
    """The drawing of a grid."""
    grid = one.grid
    known = [value for row in grid.values for value in row if value is not None]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    left = max(LABEL, 8 * len(_short_name(grid.down)) + 28) if grid.down else 2
    cells = []
    for number, row in enumerate(grid.values):
        for place, value in enumerate(row):
            setting = f"{grid.across} = {_words(grid.columns[place])}"
            if grid.down:
                setting = f"{grid.down} = {_words(grid.rows[number])}, {setting}"
            text = "\N{EN DASH}" if value is None else f"{value:.3f}"
            share = 1.0 if high == low else ((value or 0.0) - low) / (high - low)
            cells.append(
                MapCell(
                    left + place * WIDTH,
                    HEAD + number * HEIGHT,
                    None if value is None else round(0.04 + (DARKEST - 0.04) * share, 3),
                    text,
                    f"{setting}: {text}",
                    value is not None and value == high and high > low,
                )
            )
    fixed = ", ".join(f"{name} = {_words(value)}" for name, value in one.fixed.items())
    over = f"{grid.down} and {grid.across}" if grid.down else grid.across
    columns = [
        (_short(value), left + place * WIDTH + WIDTH // 2)
        for place, value in enumerate(grid.columns)
    ]
    rows = [
        (_short(value), HEAD + number * HEIGHT + HEIGHT // 2)
        for number, value in enumerate(grid.rows)
        if grid.down
    ]
    return HeatMap(
        caption=f"{one.label}: macro F1 over {over}{f' ({fixed})' if fixed else ''}",
        across=_short_name(grid.across),
        down=_short_name(grid.down),
        columns=columns,
        rows=rows,
        cells=cells,
        width=max(left + len(columns) * WIDTH + 2, 150),
        height=HEAD + len(grid.values) * HEIGHT + 2,
        cell_width=WIDTH - 2,
        cell_height=HEIGHT - 2,
        left=left,
        missing=len(cells) - len(known),
    )


def _words(value: object) -> str:
    if value is None:
        return "not set"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short_name(name: str) -> str:
    return name if len(name) <= _MOST_IN_A_NAME else f"{name[: _MOST_IN_A_NAME - 1]}…"


def _short(value: object) -> str:
    text = _words(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"

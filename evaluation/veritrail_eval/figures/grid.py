"""Figures of many settings of a method: the best one, and grids for heat maps.

Source: VeriTrail E.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.errors import InputError

Setting = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Configuration:
    """One setting of a method on one data set.

    Attributes:
        dataset: The data set.
        method: The method.
        settings: Its settings by name, such as q, limit, k, tau.
        figures: Its figures by name; None: it cannot be computed.
    """

    dataset: str
    method: str
    settings: Mapping[str, Setting]
    figures: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Best:
    """The configuration of a method that is reported for a data set.

    Attributes:
        configuration: The first of those with the highest figure.
        tied: How many others have the same figure.
        without: How many have no figure, and were not considered.
    """

    configuration: Configuration
    tied: int
    without: int


def best_configurations(
    every: Sequence[Configuration], figure: str = "macro_f1"
) -> dict[tuple[str, str], Best]:
    """The best configuration of each method on each data set, by data set and method.

    A method without any figure on a data set has none there. Source: VeriTrail 4.3.

    Args:
        every: The configurations, in the order in which ties are decided.
        figure: The figure that selects.
    """
    groups: dict[tuple[str, str], list[Configuration]] = {}
    for one in every:
        groups.setdefault((one.dataset, one.method), []).append(one)
    found = {}
    for key, group in groups.items():
        values = [value for one in group if (value := one.figures.get(figure)) is not None]
        if not values:
            continue
        top = [one for one in group if one.figures.get(figure) == max(values)]
        found[key] = Best(top[0], len(top) - 1, len(group) - len(values))
    return found


@dataclass(frozen=True, slots=True)
class Grid:
    """A figure over two settings, as a heat map shows it.

    Attributes:
        figure: The figure.
        across: The setting of the columns.
        down: The setting of the rows.
        columns: Values of the first, ordered.
        rows: Values of the second, ordered.
        values: Row by row; None: not tried, or no figure.
    """

    figure: str
    across: str
    down: str
    columns: Sequence[Setting]
    rows: Sequence[Setting]
    values: Sequence[Sequence[float | None]]


def grid(every: Sequence[Configuration], across: str, down: str, figure: str = "macro_f1") -> Grid:
    """A figure over two settings, of configurations of one method on one data set.

    Args:
        every: The configurations; at most one for two values of the settings.
        across: The setting of the columns.
        down: The setting of the rows.
        figure: The figure.

    Raises:
        InputError: Two configurations differ in a third setting, data set or method alone.
    """
    cells: dict[tuple[Setting, Setting], float | None] = {}
    for one in every:
        place = one.settings.get(down), one.settings.get(across)
        if place in cells:
            raise InputError(
                f"Two configurations have {down}={place[0]} and {across}={place[1]}; "
                "choose those of one data set, one method and one value of every other setting."
            )
        cells[place] = one.figures.get(figure)
    rows = sorted({row for row, _ in cells}, key=_order)
    columns = sorted({column for _, column in cells}, key=_order)
    values = [[cells.get((row, column)) for column in columns] for row in rows]
    return Grid(figure, across, down, columns, rows, values)


def _order(value: Setting) -> tuple[int, float, str]:
    """Numbers by size, then texts, then what is not set."""
    if value is None:
        return 2, 0.0, ""
    return (0, float(value), "") if isinstance(value, int | float) else (1, 0.0, value)

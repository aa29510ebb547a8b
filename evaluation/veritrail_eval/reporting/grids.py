"""Grids of parameters: how macro F1 changes over two of them, for a heat map.

Source: VeriTrail E.4.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from veritrail_eval.figures.grid import Configuration, Grid, Setting, grid
from veritrail_eval.reporting.score_tables import ScoreTable
from veritrail_graph.graph.errors import InputError

MOST_GRIDS = 12
"""Grids of one method on one data set that are shown."""

FIRST = ("q", "k", "threshold", "tau", "max_sentences")
"""Parameters that are axes before others are."""


@dataclass(frozen=True, slots=True)
class MethodGrid:
    """A heat map.

    Attributes:
        label: What tables call the method.
        grid: The values; `down` is empty where one parameter alone was varied.
        fixed: The other varied parameters, which are the same in the whole grid.
    """

    label: str
    grid: Grid
    fixed: Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class MethodGrids:
    """The heat maps of one method.

    Attributes:
        label: What tables call the method.
        shown: The first ones.
        left_out: How many more there are.
    """

    label: str
    shown: Sequence[MethodGrid]
    left_out: int


def method_grids(table: ScoreTable, figure: str = "macro_f1") -> list[MethodGrids]:
    """The heat maps of all methods that were tried with several values of a parameter.

    Args:
        table: All configurations of a data set.
        figure: The figure.
    """
    by_method: dict[tuple[str, str], list[Configuration]] = {}
    for row in table.rows:
        one = row.run.configuration
        settings = {name: _setting(value) for name, value in one.parameters.items()}
        key = one.method, one.label
        made = Configuration(
            row.run.dataset.name, one.label, settings, {figure: row.figures[figure].value}
        )
        by_method.setdefault(key, []).append(made)
    found = []
    for (_, label), own in by_method.items():
        varied = _varied(own)
        if not varied:
            continue
        across, down = varied[0], varied[1] if len(varied) > 1 else ""
        groups: dict[tuple[Setting, ...], list[Configuration]] = {}
        for made in own:
            groups.setdefault(tuple(made.settings.get(name) for name in varied[2:]), []).append(
                made
            )
        grids = []
        for rest, group in list(groups.items())[:MOST_GRIDS]:
            # Values such as 1 and 1.0 are two configurations, but one place of a grid.
            with suppress(InputError):
                fixed = dict(zip(varied[2:], rest, strict=True))
                grids.append(MethodGrid(label, grid(group, across, down, figure), fixed))
        found.append(MethodGrids(label, grids, len(groups) - len(grids)))
    return found


def _varied(every: Sequence[Configuration]) -> list[str]:
    """Parameters with several values: known axes first, then those with most values."""
    names = dict.fromkeys(name for one in every for name in one.settings)
    values = {name: {one.settings.get(name) for one in every} for name in names}
    varied = [name for name in names if len(values[name]) > 1]
    ranks = {name: FIRST.index(name) if name in FIRST else len(FIRST) for name in varied}
    return sorted(varied, key=lambda name: (ranks[name], -len(values[name])))


def _setting(value: Any) -> Setting:
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False)

"""The smallest parts of a text that people read as one: lines, items of lists, cells of tables.

A program that prints an earlier output puts its fields into lines and cells. Each of them may be
found in that output, though the whole table stands in none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BULLET = re.compile(r"^\s*(?:[-*•>]|\(?\d{1,3}[.):]|\[\d{1,3}\])\s+")
_BETWEEN_CELLS = re.compile(r"[|│┃║\t]|\s{2,}")
# No opening sign within: one that is never closed would be looked for from each sign to the end.
_QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^“”\n]+)”|«([^«»\n]+)»|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)"
)
_SIGNS = " \t\r,;\"'`“”«»"
SHORTEST_LINE = 24
"""Characters; a shorter line may be a heading, and such words stand in many texts."""
SHORTEST_CELL = 12


def leaves(text: str) -> Iterator[str]:
    """Cells of the printed tables of a text and its other lines, but for those that say little."""
    for line in text.splitlines():
        bare = _BULLET.sub("", line).strip()
        cells = [cell for one in _BETWEEN_CELLS.split(bare) if (cell := one.strip())]
        shortest = SHORTEST_CELL if len(cells) > 1 or "|" in bare else SHORTEST_LINE
        yield from (cell for cell in cells if len(cell) >= shortest)


def items(text: str) -> Iterator[str]:
    """Whole lines, items of lists and quoted words of a text, without their signs."""
    for line in text.splitlines():
        bare = _BULLET.sub("", line).strip(_SIGNS)
        if bare:
            yield bare
        for found in _QUOTED.finditer(line):
            quoted = next(one for one in found.groups() if one is not None).strip(_SIGNS)
            if quoted and quoted != bare:
                yield quoted

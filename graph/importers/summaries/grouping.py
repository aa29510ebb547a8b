"""The links from the texts of a level to their summaries, where only their order is known.

A level is made of the level below by cutting it into groups of neighbours, one a summary. A text
that stands in both levels was passed on unchanged; it splits the levels in two. Where more than
one way is left to cut, the groups are as even as possible, or as large as the user says.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

SURE = 1.0
"""Score of an edge where the order leaves one way only, or the user named the size of groups."""
GUESSED = 0.5
"""Score of an edge where the order leaves several ways."""


class Link(NamedTuple):
    """A text of the level below is an input of one above; both as places in their levels."""

    below: int
    above: int
    score: float


class _Part(NamedTuple):
    """Neighbours of the level below, and the neighbours above that summarise them."""

    below: range
    above: range


@dataclass(slots=True)
class Grouped:
    """The links between two levels.

    Attributes:
        same: Places of texts above that are texts below passed on unchanged, with their places
            there.
        links: The inputs of all other texts above.
        guessed: Whether there were several ways to group the neighbours.
        misfit: Whether groups of the size that was asked for do not make this many.
    """

    same: dict[int, int] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    guessed: bool = False
    misfit: bool = False


def by_order(below: Sequence[str], above: Sequence[str], size: int | None = None) -> Grouped:
    """Group the neighbours of a level under the texts of the next one.

    Args:
        below: The texts of a level; at least one.
        above: The texts of the next level; at least one.
        size: How many neighbours make a group (the last may be smaller); None: as evenly as
            possible, the first groups being the larger ones.
    """
    found = Grouped(_unchanged(below, above))
    for part in _parts(found.same, len(below), len(above)):
        _link(part, size, found)
    return found


def _unchanged(below: Sequence[str], above: Sequence[str]) -> dict[int, int]:
    """Texts that were passed on, in order, where every other text still finds its group."""
    known: dict[str, list[int]] = {}
    for place, text in enumerate(below):
        if text.strip():
            known.setdefault(text, []).append(place)
    same: dict[int, int] = {}
    last_above, last_below = -1, -1
    for place, text in enumerate(above):
        before, after = place - last_above - 1, len(above) - place - 1
        # Each other text above needs one below, and no text below may be left without one above.
        least = last_below + 1 + before
        most = least if before == 0 else len(below) - 1
        if after == 0:
            least = max(least, len(below) - 1)
        most = min(most, len(below) - 1 - after)
        among = known.get(text, [])
        index = bisect_left(among, least)
        if index < len(among) and among[index] <= most:
            same[place] = last_below = among[index]
            last_above = place
    return same


def _parts(same: dict[int, int], below: int, above: int) -> Iterator[_Part]:
    """Yield what lies between the texts that were passed on."""
    first_above, first_below = 0, 0
    for end_above, end_below in (*same.items(), (above, below)):
        if end_above > first_above:
            yield _Part(range(first_below, end_below), range(first_above, end_above))
        first_above, first_below = end_above + 1, end_below + 1


def _link(part: _Part, size: int | None, found: Grouped) -> None:
    many, few = len(part.below), len(part.above)
    if few >= many:
        sure = many == 1 or few == many
        for number, above in enumerate(part.above):
            below = part.below[number * many // few]
            found.links.append(Link(below, above, SURE if sure else GUESSED))
        found.guessed |= not sure
        return
    asked = size is not None and -(-many // size) == few
    sure = few == 1 or asked
    found.guessed |= not sure
    found.misfit |= size is not None and not sure
    sizes = [size or 0] * few if asked else _even(many, few)
    first = 0
    for above, length in zip(part.above, sizes, strict=True):
        for below in part.below[first : first + length]:
            # The first text can only be in the first group, and the last one in the last group.
            at_the_end = below in (part.below[0], part.below[-1])
            found.links.append(Link(below, above, SURE if sure or at_the_end else GUESSED))
        first += length


def _even(many: int, few: int) -> list[int]:
    """Sizes of groups that differ by one at most, the larger ones first."""
    least, larger = divmod(many, few)
    return [least + 1] * larger + [least] * (few - larger)

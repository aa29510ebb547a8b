"""Many whole numbers in their order, without holding each of them as an object at the same time."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

_MANY = 500_000
_PARTS = 16
_EXACT = 2**53  # integers up to this one are floats, which are sorted faster


def sorted_parts(keys: Iterable[int], end: int, count: int) -> Iterator[list[int]]:
    """Yield numbers in their order, part by part: forty bytes each would they take all at once.

    Args:
        keys: The numbers, from 0 on.
        end: A number above all of them.
        count: How many there are, about.
    """
    kind = "d" if end < _EXACT else "Q"
    if count < _MANY:
        yield list(map(int, sorted(array(kind, keys))))
        return
    size = end // _PARTS + 1
    parts = [array(kind) for _ in range(_PARTS)]
    for key in keys:
        parts[key // size].append(key)
    for number, part in enumerate(parts):
        parts[number] = array(kind)
        yield list(map(int, sorted(part)))

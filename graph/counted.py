"""Numbers with the word for what they count, and the first of many names."""

from __future__ import annotations

from collections.abc import Iterable


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and a word: `1 node`, `1,200 nodes`.

    Args:
        number: The number.
        one: What follows the number 1.
        many: What follows all others; None: `one` with an s.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def some(names: Iterable[str], most: int = 5) -> str:
    """Return the first of some names, each once and none too long, and how many more there are.

    Args:
        names: The names.
        most: How many are named.
    """
    every = list(dict.fromkeys(names))
    first = ", ".join(name if len(name) <= 100 else f"{name[:99]}…" for name in every[:most])
    return first if len(every) <= most else f"{first} and {len(every) - most:,} more"

"""Numbers with the word for what they count."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and a word: `1 node`, `1,200 nodes`.

    Args:
        number: The number.
        one: What follows the number 1.
        many: What follows all others; None: `one` with an s.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"

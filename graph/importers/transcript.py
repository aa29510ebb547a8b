"""A conversation in the order of time, in which tools may repeat what was written or said before.

Logs of agents and chats have no calls with a beginning and an end, as traces have: what is before
a result in the log came before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from veritrail_graph.graph.importers.copied import CopiedWords, Copy, EarlierTexts

T = TypeVar("T")
LONGEST_TURN = 4_000
"""Characters; a longer message of a user is a prompt that a program put together."""
NOT_ALL_COMPARED = (
    "The texts repeat themselves so often that not every result of a tool was compared with what "
    "was written before it."
)
"""The warning of a process where the comparison was bounded."""


@dataclass(frozen=True, slots=True)
class Author(Generic[T]):
    """The author of words that a result repeats.

    Attributes:
        at: When they were written or said.
        text: The text in which they were.
    """

    at: int
    text: T


class Transcript(Generic[T]):
    """The texts of a conversation; all of them are taken before a result is looked at."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, Author[T]]] = []
        self._earlier = EarlierTexts[Author[T], int]()

    def wrote(self, text: str, at: int, author: T) -> None:
        """Take what a model wrote, or handed to a tool."""
        self._texts.append((text, Author(at, author)))

    def said(self, text: str, at: int, author: T) -> None:
        """Take what a user said; words of a long prompt are quotations."""
        if len(text) <= LONGEST_TURN:
            self.wrote(text, at, author)
        else:
            self.shown(text, at)

    def shown(self, text: str, at: int) -> None:
        """Take what models were shown and may quote: source text, instructions."""
        self._earlier.show(text, at)

    @property
    def is_spent(self) -> bool:
        """Return whether texts repeat themselves so much that some were not compared."""
        return self._earlier.is_spent

    def copies(self, text: str, at: int) -> list[Copy[Author[T]]]:
        """Return the parts of a result that were written or said before.

        Args:
            text: What a tool returned.
            at: When it did.
        """
        for earlier, author in sorted(self._texts, key=lambda text: text[1].at):
            self._earlier.add(earlier, author)
        self._texts.clear()
        return self._earlier.copies(text, lambda author, words: self._is_before(author, words, at))

    def _is_before(self, author: Author[T], words: CopiedWords, at: int) -> bool:
        """Return whether some words were written before a result, and were no quotation."""
        return author.at < at and all(shown > author.at for shown in self._earlier.holders(words))

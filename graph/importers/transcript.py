"""A conversation in the order of time, in which tools may repeat what was written or said before.

Logs of agents and chats have no calls with a beginning and an end, as traces have: what stands
before a result came before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from veritrail_graph.graph.importers.copied import Copy, Match, Told

T = TypeVar("T")
LONGEST_TURN = 4_000
"""Characters; a longer message of a user is a prompt that a program put together."""


@dataclass(frozen=True, slots=True)
class Teller(Generic[T]):
    """Whose words stand in a result.

    Attributes:
        at: When they were written or said.
        text: The text in which they were.
    """

    at: int
    text: T


class Transcript(Generic[T]):
    """The texts of a conversation; all of them are taken before a result is looked at."""

    def __init__(self) -> None:
        self._texts: list[tuple[int, str, T]] = []
        self._told = Told[Teller[T], int]()

    def wrote(self, text: str, at: int, teller: T) -> None:
        """Take what a model wrote, or handed to a tool."""
        self._texts.append((at, text, teller))

    def said(self, text: str, at: int, teller: T) -> None:
        """Take what a user said; words of a long prompt are quotations."""
        if len(text) <= LONGEST_TURN:
            self._texts.append((at, text, teller))
        else:
            self.shown(text, at)

    def shown(self, text: str, at: int) -> None:
        """Take what models were shown and may quote: source text, instructions."""
        self._told.show(text, at)

    @property
    def is_spent(self) -> bool:
        """Return whether texts repeat themselves so much that some were not compared."""
        return self._told.is_spent

    def copies(self, text: str, at: int) -> list[Copy[Teller[T]]]:
        """Return the parts of a result that were written or said before.

        Args:
            text: What a tool returned.
            at: When it did.
        """
        for written, said, teller in sorted(self._texts, key=lambda one: one[0]):
            self._told.add(said, Teller(written, teller))
        self._texts.clear()
        return self._told.copies(text, lambda teller, words: self._is_before(teller, words, at))

    def _is_before(self, teller: Teller[T], words: Match, at: int) -> bool:
        """Return whether some words were written before a result, and were no quotation."""
        return teller.at < at and all(shown > teller.at for shown in self._told.holders(words))

"""Numbers of sentences by word, of which memory holds the last ones and an unnamed file the rest.

The words of a million sentences take fifty megabytes, and a claim asks for few of them.
"""

from __future__ import annotations

from array import array

from veritrail_graph.verifier.unnamed_file import UnnamedFile

MOST_HELD = 4_000_000
"""Numbers that are held in memory, four bytes each."""
_LEAST = 8
"""Numbers of a word that are worth a place in the file."""

NONE: array[int] = array("I")
"""No sentences; nothing is added to it."""


class Postings:
    """Numbers of sentences, ascending, by word; one thread at a time may use it.

    Args:
        most_held: How many numbers memory holds.

    Attributes:
        last: By word its numbers that are held, to which the next is appended; `NONE` where they
            are not kept.
    """

    def __init__(self, most_held: int = MOST_HELD) -> None:
        self.last: dict[str, array[int]] = {}
        self._most = most_held
        self._held = 0
        self._parts: dict[str, array[int]] = {}  # where each part begins in the file, and its size
        self._file: UnnamedFile | None = None

    def numbers(self, word: str) -> array[int]:
        """The sentences with a word."""
        last = self.last.get(word, NONE)
        parts = self._parts.get(word)
        if parts is None or self._file is None:
            return last
        found = array("I")
        places = iter(parts)
        for start, size in zip(places, places, strict=True):
            found.frombytes(self._file.read(start, size))
        return found + last

    def added(self, count: int) -> None:
        """Count what was appended; what is too much for memory goes to the file."""
        self._held += count
        if self._held > self._most:
            try:
                self._file_all()
            except OSError:  # nowhere to write: all of it stays in memory
                self._most = self._held * 2

    def _file_all(self) -> None:
        if self._file is None:
            self._file = UnnamedFile()
        words = [word for word, numbers in self.last.items() if len(numbers) >= _LEAST]
        start = self._file.end
        self._file.add([self.last[word].tobytes() for word in words])
        for word in words:
            size = len(self.last[word]) * NONE.itemsize
            self._parts.setdefault(word, array("Q")).extend((start, size))
            start += size
            self.last[word] = array("I")
        self._held = sum(map(len, self.last.values()))
        self._most = max(self._most, 2 * self._held)  # where they are of too many words

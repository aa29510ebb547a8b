"""Texts of nodes in an unnamed file, where memory is not to hold them.

A run over a large process reads each text once from the engine, and every claim reads it again.
The system removes the file with its last user, also where the process is killed.

Source: ours (docs/adr/0013-walking-at-scale.md).
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from veritrail_graph.graph.model import NodeRef, Sentence
from veritrail_graph.verifier.ports import ReadNode, places_of, sentences_at
from veritrail_graph.verifier.unnamed_file import UnnamedFile

_AS = ("utf-8", "surrogatepass")


class TextFile:
    """Texts one after the other in a file, each with the places of its sentences behind it.

    Several threads may read it.

    Raises:
        OSError: No file can be made.
    """

    def __init__(self) -> None:
        self._file = UnnamedFile()
        self._starts = array("Q", (0,))  # of each text, and the end behind them
        self._sizes = array("Q")  # of each text, in bytes
        self._lock = threading.Lock()

    def nodes(
        self,
        refs: Sequence[NodeRef],
        texts: Iterable[str],
        sentences: Iterable[Iterable[Sentence]],
    ) -> list[FiledNode]:
        """Put texts into the file; gives their nodes.

        Raises:
            OSError: It cannot take them.
        """
        said = [text.encode(*_AS) for text in texts]
        places = [places_of(parts).tobytes() for parts in sentences]
        with self._lock:
            first = len(self._sizes)
            self._file.add([part for pair in zip(said, places, strict=True) for part in pair])
            for text, behind in zip(said, places, strict=True):
                self._starts.append(self._starts[-1] + len(text) + len(behind))
                self._sizes.append(len(text))
        numbers = range(first, first + len(said))
        return [FiledNode(ref, self, number) for ref, number in zip(refs, numbers, strict=True)]

    def text(self, number: int) -> str:
        """A text by its number."""
        return self._read(number, self._sizes[number]).decode(*_AS)

    def with_places(self, number: int) -> tuple[str, array[int]]:
        """A text by its number, and where each sentence begins, and the offset behind it."""
        found = self._read(number, self._starts[number + 1] - self._starts[number])
        size = self._sizes[number]
        places = array("I")
        places.frombytes(found[size:])
        return found[:size].decode(*_AS), places

    def _read(self, number: int, size: int) -> bytes:
        with self._lock:
            return self._file.read(self._starts[number], size)


@dataclass(frozen=True, slots=True)
class FiledNode:
    """A node whose text is read from a file at each use: a `ReadNode`.

    Attributes:
        ref: The node.
        file: The file.
        number: The number of the text in it.
    """

    ref: NodeRef
    file: TextFile
    number: int

    @property
    def text(self) -> str:
        """Its whole text."""
        return self.file.text(self.number)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, first to last."""
        text, places = self.file.with_places(self.number)
        return sentences_at(places, self.ref.node_id, text)


UNKNOWN = -1
"""The number of a node that was given none."""


class NumbersOfNodes:
    """A number of each node; those whose texts are in a file take four bytes.

    Args:
        key: What tells the other nodes apart.
    """

    def __init__(self, key: Callable[[ReadNode], Hashable]) -> None:
        self._key = key
        self._held: dict[Hashable, int] = {}
        self._filed: WeakKeyDictionary[TextFile, array[int]] = WeakKeyDictionary()

    def numbers(self, nodes: Iterable[ReadNode]) -> array[int]:
        """The number of each of some nodes, or `UNKNOWN`."""
        held, key = self._held, self._key
        file, numbers = None, array("i")
        found = array("i")
        for node in nodes:
            if not isinstance(node, FiledNode):
                found.append(held.get(key(node), UNKNOWN))
                continue
            if node.file is not file:  # they follow each other: most are in one file
                file, numbers = node.file, self._filed.get(node.file, array("i"))
            found.append(numbers[node.number] if node.number < len(numbers) else UNKNOWN)
        return found

    def put(self, node: ReadNode, number: int) -> None:
        """Give a node its number."""
        if not isinstance(node, FiledNode):
            self._held[self._key(node)] = number
            return
        numbers = self._filed.setdefault(node.file, array("i"))
        if node.number >= len(numbers):
            numbers.extend([UNKNOWN] * (node.number + 1 - len(numbers)))
        numbers[node.number] = number

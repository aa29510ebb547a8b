"""Texts of nodes in an unnamed file, where memory is not to hold them.

A run over a large process reads each text once from the engine, and every claim reads it again.
The system removes the file with its last user, also where the process is killed; nobody else can
open it.

Source: ours (docs/adr/0013-walking-at-scale.md).
"""

from __future__ import annotations

import threading
import weakref
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile

from veritrail_graph.graph.model import NodeRef, Sentence
from veritrail_graph.verifier.ports import places_of, sentences_at

_AS = ("utf-8", "surrogatepass")


class TextFile:
    """Texts one after the other in a file; several threads may read it.

    Raises:
        OSError: No file can be made.
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (open as long as a node of it is used)
        weakref.finalize(self, self._file.close)
        self._end = 0
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
        with self._lock:
            self._file.seek(self._end)
            self._file.writelines(said)
            self._file.flush()
            start, self._end = self._end, self._end + sum(map(len, said))
        found: list[FiledNode] = []
        for ref, one, parts in zip(refs, said, sentences, strict=True):
            found.append(FiledNode(ref, self, start, len(one), places_of(parts)))
            start += len(one)
        return found

    def text(self, start: int, size: int) -> str:
        """The text at a place."""
        with self._lock:
            self._file.seek(start)
            return self._file.read(size).decode(*_AS)


@dataclass(frozen=True, slots=True)
class FiledNode:
    """A node whose text is read from a file at each use: a `ReadNode`.

    Attributes:
        ref: The node.
        places: Where each sentence begins, and the offset behind it, first to last.
    """

    ref: NodeRef
    _file: TextFile
    _start: int
    _size: int
    places: array[int]

    @property
    def text(self) -> str:
        """Its whole text."""
        return self._file.text(self._start, self._size)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, first to last."""
        return sentences_at(self.places, self.ref.node_id, self.text)

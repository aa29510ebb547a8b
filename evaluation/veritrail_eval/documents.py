"""Whole documents, rebuilt from the chunks that a process keeps of them.

Source: VeriTrail 4.2 (direct verification reads whole books and articles), B.2.1 (chunks overlap).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model import NodeRef
from veritrail_graph.verifier.held_process import HeldProcess

DOCUMENT_KEYS = ("document_id", "document_ids", "document", "doc_id", "source", "file", "title")
"""Metadata of a chunk that names its document; the first that is there counts."""

LEAST_OVERLAP = 20
"""Characters that the end of a chunk and the beginning of the next have in common at least."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a process.

    Attributes:
        name: What its chunks call it; of a chunk that names none, the chunk's node_id.
        ref: The first chunk, in whose place the document stands.
        text: Its text.
        chunks: The chunks, in their order.
    """

    name: str
    ref: NodeRef
    text: str
    chunks: tuple[NodeRef, ...]


def documents_of(process: HeldProcess, roots: Sequence[NodeRef]) -> list[Document]:
    """The documents of some chunks, in the order of their first chunks."""
    groups: dict[str, list[NodeRef]] = {}
    for ref in roots:
        named = _document(process.metadata.get(ref.node_id, {}))
        groups.setdefault(named or f"\0{ref.node_id}", []).append(ref)
    return [
        Document(
            name.removeprefix("\0"),
            refs[0],
            joined(process.texts[ref.node_id] for ref in refs),
            tuple(refs),
        )
        for name, refs in groups.items()
    ]


def _document(metadata: Mapping[str, Any]) -> str | None:
    for key in DOCUMENT_KEYS:
        value = metadata.get(key)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return f"{key}={value}"
    return None


def joined(chunks: Iterable[str]) -> str:
    """Chunks as one text; what the end of one and the beginning of the next share stands once."""
    whole = ""
    for chunk in chunks:
        shared = overlap(whole, chunk)
        gap = "" if shared or not whole else "\n"
        whole += gap + chunk[shared:]
    return whole


def overlap(left: str, right: str) -> int:
    """Length of the longest beginning of `right` that `left` ends with; 0 below the least.

    Linear in the shorter text: the borders of `right` are found as in Knuth, Morris and Pratt.
    """
    tail = left[-len(right) :] if right else ""
    borders = [0] * len(right)
    length = 0
    for place in range(1, len(right)):
        while length and right[place] != right[length]:
            length = borders[length - 1]
        length += right[place] == right[length]
        borders[place] = length
    length = 0
    for sign in tail:
        if length == len(right):
            length = borders[length - 1]
        while length and sign != right[length]:
            length = borders[length - 1]
        length += sign == right[length]
    return length if length >= LEAST_OVERLAP else 0

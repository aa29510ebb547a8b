"""The sentences around cited ones in their nodes: one sentence each way.

Only a piece of the text on either side is read, so that a node of ten million characters costs no
more than one of a thousand.

Source: VeriTrail 3.1.2 (sentences of a node); docs/page.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from veritrail_graph.api.show.parts import side_words
from veritrail_graph.graph.model import CitedSentence, EvidenceRole, Verification
from veritrail_graph.graph.sentences import SentenceSplitter

_LOOKED_AT = 400
"""Characters on either side."""

_SHOWN = 300
"""Characters of a sentence that is context."""

Place = tuple[str, int, int]
"""A sentence by its place: node_id, start and end."""

NAMED = 8
"""Nodes of an iteration that are named; more are counted."""


@dataclass(frozen=True, slots=True)
class Around:
    """The sentences before and behind a cited one; None: there is none, or it is cited itself."""

    before: str | None = None
    after: str | None = None


Context = Mapping[Place, Around]
"""The sentences around cited ones; one that is not known is left out."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A cited sentence with its context.

    Attributes:
        index: Its number in the node, counted from 0.
        text: The sentence.
        role: As what it was named: evidence, or context that evidence needs.
        before: The sentence before it, where it is known and not cited.
        after: The sentence behind it.
        gap: Whether sentences were left out between this one and what is shown before it.
        side: What it says of which part of the claim; empty: no judge said it.
    """

    index: int
    text: str
    role: EvidenceRole
    before: str | None = None
    after: str | None = None
    gap: bool = False
    side: str = ""


def quoted(cited: Sequence[CitedSentence], context: Context) -> tuple[Quoted, ...]:
    """Cited sentences of one node, in their order, with their context."""
    found = []
    for place, one in enumerate(cited):
        around = context.get((one.node_id, one.start, one.end), Around())
        # The text between two cited sentences is shown once, behind the first.
        gap = place > 0 and one.sentence > cited[place - 1].sentence + 2
        found.append(
            Quoted(
                one.sentence, one.text, one.role, around.before, around.after, gap, side_words(one)
            )
        )
    return tuple(found)


def cited_in(trails: Iterable[Verification]) -> list[CitedSentence]:
    """Every sentence that trails cite."""
    return [
        cited
        for trail in trails
        for iteration in trail.iterations
        for evidence in iteration.summaries
        for cited in evidence.sentences
    ]


def named_nodes(found: Verification) -> list[str]:
    """The nodes that a trail shows: with evidence, on a path, with an error; each once."""
    names: dict[str, None] = {found.node_id: None}
    for iteration in found.iterations:
        names |= dict.fromkeys(iteration.node_ids_with_evidence)
        names |= dict.fromkeys(node.node_id for node in iteration.carried_roots)
    for path in found.paths:
        names |= dict.fromkeys((path.source, *path.via, path.target))
    names |= dict.fromkeys(node.node_id for node in (*found.error_nodes, *found.propagated_nodes))
    return list(names)


def context_of(cited: Iterable[CitedSentence], texts: Mapping[str, str]) -> dict[Place, Around]:
    """The sentences around cited ones; what is cited itself is no context.

    Args:
        cited: The sentences, in any order.
        texts: Texts by node_id. A node without a text, or with another one by now, has no context.
    """
    places: dict[str, set[tuple[int, int]]] = {}
    for one in cited:
        text = texts.get(one.node_id)
        if text is not None and text[one.start : one.end] == one.text:
            places.setdefault(one.node_id, set()).add((one.start, one.end))
    return {
        (name, *place): around
        for name, each in places.items()
        for place, around in _around(texts[name], sorted(each)).items()
    }


def _around(text: str, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Around]:
    found: dict[tuple[int, int], Around] = {}
    end_before = 0
    for number, (start, end) in enumerate(places):
        next_start = places[number + 1][0] if number + 1 < len(places) else len(text)
        found[start, end] = Around(
            _before(
                text,
                max(end_before, start - _LOOKED_AT),
                start,
                is_shared=number > 0 and start - end_before <= _LOOKED_AT,
            ),
            _after(text, end, min(next_start, end + _LOOKED_AT)),
        )
        end_before = max(end_before, end)
    return found


def _before(text: str, first: int, start: int, *, is_shared: bool) -> str | None:
    piece = text[first:start]
    if not piece.strip():  # the sentence before is cited too, or there is none
        return None
    sentences = _splitter().split("", piece)
    if is_shared and len(sentences) == 1:  # it is shown behind the sentence before already
        return None
    last = sentences[-1]
    is_cut = last.start == 0 and first > 0 and first == start - _LOOKED_AT
    words = last.text if len(last.text) <= _SHOWN else last.text[-_SHOWN:]
    return f"…{words}" if is_cut or words != last.text else words


def _after(text: str, end: int, behind: int) -> str | None:
    piece = text[end:behind]
    if not piece.strip():
        return None
    first = _splitter().split("", piece)[0]
    is_cut = first.end == len(piece) and behind < len(text) and behind == end + _LOOKED_AT
    words = first.text[:_SHOWN]
    return f"{words}…" if is_cut or words != first.text else words


@lru_cache(maxsize=1)
def _splitter() -> SentenceSplitter:
    return SentenceSplitter.for_language()

"""Sentences as a page shows them: cut where they are long, with the sentence before and behind.

What a text may come to is counted in bytes of HTML, as a text of another script, or one full of
angle brackets, comes to several times its characters.

Source: VeriTrail 3.1.2 (sentences of a node); docs/page.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from veritrail_graph.graph.model import CitedSentence, EvidenceRole, Sentence
from veritrail_graph.graph.sentences import SentenceSplitter

SENTENCE_BYTES = 700
"""Bytes of HTML that a sentence may come to."""

CONTEXT_BYTES = 220
"""Bytes of HTML that a sentence before or behind it may come to."""

_AROUND = 400  # code points before and behind a sentence that are looked at


@dataclass(frozen=True, slots=True)
class Clipped:
    """A text that may have been cut.

    Attributes:
        text: What is left of it.
        is_cut: Whether something is missing.
    """

    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A sentence that was selected, with what stands around it.

    Attributes:
        index: Its number in the node, counted from 0.
        text: The sentence.
        role: As what it was named: evidence, or context that evidence needs.
        before: The sentence before it; None: there is none, or it is not known.
        after: The sentence behind it.
        gap: Whether sentences were left out between this one and what is shown before it.
    """

    index: int
    text: Clipped
    role: EvidenceRole
    before: Clipped | None = None
    after: Clipped | None = None
    gap: bool = False


def clip(text: str, most: int) -> Clipped:
    """A text, its end cut off where it comes to too many bytes of HTML."""
    if len(text) * 6 <= most:
        return Clipped(text)
    kept = _fitting(text, most)
    return Clipped(kept, len(kept) < len(text))


def clip_start(text: str, most: int) -> Clipped:
    """A text, its beginning cut off where it comes to too many bytes of HTML."""
    turned = clip(text[::-1], most)
    return Clipped(turned.text[::-1], turned.is_cut)


def shown_sentences(
    cited: Sequence[CitedSentence], text: str | None, most: int = SENTENCE_BYTES
) -> tuple[ShownSentence, ...]:
    """Selected sentences of one node, each with the one before and behind it.

    Args:
        cited: The sentences, in their order.
        text: The text of the node; None: it is not known, and nothing is shown around them.
        most: Bytes of HTML that a sentence may come to.
    """
    shown = []
    for place, one in enumerate(cited):
        index = one.sentence.index
        earlier = cited[place - 1].sentence.index if place else None
        later = cited[place + 1].sentence.index if place + 1 < len(cited) else None
        follows = earlier is not None and earlier + 1 == index
        # What stands between two selected sentences is shown once, behind the first.
        shares = earlier is not None and earlier + 2 == index
        before = None if follows or shares else _before(one.sentence, text)
        after = None if later is not None and later == index + 1 else _after(one.sentence, text)
        gap = earlier is not None and not follows and not shares
        shown.append(
            ShownSentence(index, clip(one.sentence.text, most), one.role, before, after, gap)
        )
    return tuple(shown)


def _before(sentence: Sentence, text: str | None) -> Clipped | None:
    if text is None or not _is_there(sentence, text):
        return None
    first = max(sentence.start - _AROUND, 0)
    found = _splitter().split(sentence.node_id, text[first : sentence.start])
    if not found:
        return None
    clipped = clip_start(found[-1].text, CONTEXT_BYTES)
    return Clipped(clipped.text, clipped.is_cut or (len(found) == 1 and first > 0))


def _after(sentence: Sentence, text: str | None) -> Clipped | None:
    if text is None or not _is_there(sentence, text):
        return None
    last = sentence.end + _AROUND
    found = _splitter().split(sentence.node_id, text[sentence.end : last])
    if not found:
        return None
    clipped = clip(found[0].text, CONTEXT_BYTES)
    return Clipped(clipped.text, clipped.is_cut or (len(found) == 1 and last < len(text)))


def _is_there(sentence: Sentence, text: str) -> bool:
    """Whether a sentence stands where it says; the node may have another text by now."""
    return text[sentence.start : sentence.end] == sentence.text


def _fitting(text: str, most: int) -> str:
    spent = 0
    for place, letter in enumerate(text[:most]):
        spent += len(escape(letter).encode("utf-8", "replace"))
        if spent > most:
            return text[:place]
    return text[:most]


@lru_cache(maxsize=1)
def _splitter() -> SentenceSplitter:
    return SentenceSplitter.for_language()

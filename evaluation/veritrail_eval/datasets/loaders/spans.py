"""Spans that annotators marked in an output, and the sentences that they lie in.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from veritrail_eval.datasets.loaders.building import sentences_of
from veritrail_graph.graph.model import Sentence


class Span(Protocol):
    """A place in a text, in code points."""

    @property
    def first(self) -> int:
        """Return where it begins."""
        ...

    @property
    def end(self) -> int:
        """Return where it ends."""
        ...


AnySpan = TypeVar("AnySpan", bound=Span)


class MarkedText(Generic[AnySpan]):
    """An output with spans marked in it."""

    def __init__(self, text: str, spans: Iterable[AnySpan]) -> None:
        self.text = text
        self.spans = tuple(spans)
        self._sentences = sentences_of(text)

    def why_outside(self, span: AnySpan) -> str | None:
        """Return why a span is no place in the text; None: it is one."""
        if 0 <= span.first < span.end <= len(self.text):
            return None
        return f"{span.first} to {span.end} is no place in a text of {len(self.text)} characters"

    def sentences(self) -> Iterator[tuple[Sentence, tuple[AnySpan, ...]]]:
        """The sentences that can be claims, each with the spans that overlap it.

        A span that touches a sentence with nothing but space does not overlap it.
        """
        for sentence in self._sentences:
            yield sentence, tuple(one for one in self.spans if self._overlap(sentence, one))

    def unplaced(self) -> int:
        """Return how many spans overlap no sentence."""
        return sum(
            not any(self._overlap(one, span) for one in self._sentences) for span in self.spans
        )

    def _overlap(self, sentence: Sentence, span: AnySpan) -> bool:
        return bool(
            self.text[max(sentence.start, span.first) : min(sentence.end, span.end)].strip()
        )

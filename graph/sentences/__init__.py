"""Sentences of a node's text, with offsets into it.

NLTK's Punkt finds them inside blocks, and `boundaries` what it does not know: full stops of other
scripts, more abbreviations, marks of citations. Blank lines, headings, list items and table rows
end a sentence as well.

Source: VeriTrail 3.1.2 (each source node is segmented with NLTK's sentence tokenizer).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from veritrail_graph.graph.model import Sentence
from veritrail_graph.graph.sentences.boundaries import begun
from veritrail_graph.graph.sentences.layout import Block, behind_marker, blocks
from veritrail_graph.graph.sentences.plain_ends import plain_spans
from veritrail_graph.graph.sentences.tables import tokenizer

__all__ = ["RULES", "SentenceSplitter", "trimmed"]

# Punkt can end a sentence only at one of these marks with something behind it.
_POSSIBLE_END = re.compile(
    r"[.?!](?=[\s\u200b\u2060\ufeff)\";}\]*:@'({\[\u2018\u2019\u201c\u201d\xab\xbb?!])"
)
_ODD_SPACE = re.compile(r"[^\S \n]|[\u200b\u2060\ufeff]")
_RUN = re.compile(r"\S+")
_WORD = re.compile(r"[^\W_]")

# Longer runs without whitespace are no words (encoded data, unspaced scripts): their inside
# is hidden from Punkt, which holds every mark of a run in memory at once. The end is not.
_LONGEST_RUN = 1_000
_RUN_END = 60


RULES = 4
"""Version of the rules where sentences end; it changes with them, and what was verified under
other rules counts as verified with other settings."""


class SentenceSplitter:
    """Splits the texts of nodes into sentences, always the same way."""

    def __init__(self, language: str) -> None:
        self.language = language

    @classmethod
    def for_language(cls, language: str = "english") -> SentenceSplitter:
        """A splitter for one of Punkt's languages.

        English is always there and loaded on first use; others are looked for at once.

        Raises:
            InputError: There are no tables of this language on the machine.
        """
        if language != "english":
            tokenizer(language)
        return cls(language)

    def split(self, node_id: str, text: str) -> tuple[Sentence, ...]:
        """The sentences of a node's text, first to last.

        Sentences never overlap, have no outer whitespace, and hold every character of the
        text that is not whitespace; a text without any has no sentences.
        """
        return tuple(
            [
                Sentence(node_id, index, start, end, text[start:end])
                for index, (start, end) in enumerate(self.spans(text))
            ]
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where each sentence of a text begins, and the offset behind it."""
        found = plain_spans(text, self.language)
        if found is None:
            found = [span for block in blocks(text) for span in self._spans(text, block)]
        return found

    def _spans(self, text: str, block: Block) -> Iterator[tuple[int, int]]:
        start, end = trimmed(text, block.start, block.end)
        if start == end:
            return
        starts = [start]
        if not block.whole:
            found: list[int] = []
            if _POSSIBLE_END.search(text, start, end):
                spans = tokenizer(self.language).span_tokenize(_as_punkt_reads(text[start:end]))
                found = [start + first for first, _ in spans]
            words = behind_marker(text, start)
            starts += [place for place in begun(text, start, end, found) if place > words]
        yield from _joined(text, starts, end)


def _as_punkt_reads(block: str) -> str:
    """The block as Punkt is given it: of the same length, so that offsets stay.

    Punkt knows only the ASCII kinds of whitespace as the edge of a word. Blanks without a width
    end a word too.
    """
    block = _ODD_SPACE.sub(" ", block)
    if len(block) <= _LONGEST_RUN:
        return block
    pieces: list[str] = []
    done = 0
    for run in _RUN.finditer(block):
        if run.end() - run.start() > _LONGEST_RUN:
            hidden_until = run.end() - _RUN_END
            pieces += (block[done : run.start()], "x" * (hidden_until - run.start()))
            done = hidden_until
    pieces.append(block[done:])
    return "".join(pieces)


def _joined(text: str, starts: list[int], end: int) -> Iterator[tuple[int, int]]:
    """Spans between these starts; what holds no letter or digit joins its neighbour.

    Sentences are taken from start to start, so that they cover the block whatever a
    tokenizer leaves out.
    """
    opened = starts[0]
    spoken = False
    for first, behind in zip(starts, [*starts[1:], end], strict=True):
        has_word = _WORD.search(text, first, behind) is not None
        if spoken and has_word:
            yield trimmed(text, opened, first)
            opened = first
        spoken = spoken or has_word
    yield trimmed(text, opened, end)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the whitespace at its ends; empty where there is nothing else."""
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return (start, start + len(piece.strip()))

"""Texts cut into chunks of so many tokens, as the tokenizers of OpenAI count them.

A chunk is a piece of the text as it is: no token is decoded into it.

Source: VeriTrail B.1.1 (2,048 tokens of `cl100k_base`), B.2.1 (600 with 100 shared, `o200k_base`).
"""

from __future__ import annotations

import importlib
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from veritrail_eval.building.options import ENCODINGS
from veritrail_graph.graph.errors import InputError


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a text.

    Attributes:
        start: Where it begins, in code points.
        end: Where it ends.
        tokens: Its tokens.
    """

    start: int
    end: int
    tokens: int


class Encoding:
    """A tokenizer of OpenAI.

    Raises:
        InputError: It is not known, or the package that carries it is not installed.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._tokenizer = _tokenizer(name)

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        found: int = self._tokenizer.count(text)
        return found

    def ends(self, text: str) -> list[int]:
        """Return where each token ends, in code points.

        A token that ends within a character ends where the character begins.
        """
        ends: list[int] = []
        pending: list[int] = []
        place = 0
        for token in self._tokenizer.encode(text):
            pending.append(token)
            piece: str | None = self._tokenizer.decode(pending)  # None within a character
            if piece is not None:
                place += len(piece)
                pending = []
            ends.append(place)
        return ends


@cache
def _tokenizer(name: str) -> Any:
    if name not in ENCODINGS:
        raise InputError(f"Unknown encoding {name!r}; known are {', '.join(ENCODINGS)}.")
    try:
        tokenizers: Any = importlib.import_module("rs_bpe").openai
    except ImportError:
        raise InputError(
            "Tokens are counted by rs-bpe: pip install 'veritrail-graph[tokens]'",
            code="extra_missing",
        ) from None
    return getattr(tokenizers, name)()


def token_chunks(
    text: str,
    size: int,
    overlap: int = 0,
    *,
    encoding: Encoding,
    stops: Sequence[int] = (),
) -> list[Chunk]:
    """Cut a text into chunks.

    Args:
        text: The text.
        size: The most tokens of a chunk.
        overlap: How many of them the next chunk begins with, too.
        encoding: Counts tokens.
        stops: Places, ascending, at one of which a chunk ends where there is one within it, such
            as the ends of sentences; with an overlap of 0 only.

    Raises:
        InputError: The sizes do not go together.
    """
    if size < 1 or not 0 <= overlap < size:
        raise InputError(
            f"A chunk of {size} tokens with {overlap} shared: the overlap must be smaller."
        )
    if stops and overlap:
        raise InputError("Chunks that end with sentences have no overlap.")
    ends = encoding.ends(text)
    within = [ends[bisect_left(ends, stop)] for stop in stops if 0 < stop <= len(text)]
    chunks: list[Chunk] = []
    first = 0  # the token that the chunk begins with
    while first < len(ends):
        last = min(first + size, len(ends))
        start = ends[first - 1] if first else 0
        end = ends[last - 1]
        if last < len(ends) and (stop := _last_stop(within, start, end)) is not None:
            end = stop
            last = max(bisect_left(ends, end) + 1, first + 1)
        if end > start:
            chunks.append(Chunk(start, end, last - first))
        if last == len(ends):
            break
        first = last - overlap
    return chunks


def _last_stop(stops: Sequence[int], start: int, end: int) -> int | None:
    place = bisect_right(stops, end) - 1
    return stops[place] if place >= 0 and stops[place] > start else None

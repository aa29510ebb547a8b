"""The number of tokens of a text: counted with the model's tokenizer, else a safe estimate.

Tokenizers are never downloaded: `rs-bpe`, an optional package, carries its tables with it. The
estimate cuts a text at its blanks, and each word into letters, digits and signs, as tokenizers
do. English words cost what English prose costs; words of a text that may not be English cost
what they do in languages that tokenizers know less well.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from veritrail_graph.verifier.models.known_models import known_model

STRETCH = 32  # words that are judged together, English or not
KEPT = 32_768  # words whose cost is remembered
LONG = 64  # characters; such words are not remembered

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\x00-\x7f]|.", re.DOTALL)
_PLAIN = re.compile(r"[^\w\s]*[A-Za-z]?[a-z]*(['’-][a-z]+)*[^\w\s]*")  # noqa: RUF001 - as in prose
_BLANKS = re.compile(r"  +")
_ENGLISH = frozenset(
    {
        "an", "and", "are", "as", "at", "be", "been", "by", "could", "for", "from", "had", "has",
        "have", "if", "into", "it", "its", "no", "not", "of", "or", "such", "than", "that", "the",
        "their", "there", "these", "they", "this", "those", "to", "was", "were", "what", "when",
        "where", "which", "who", "with", "would", "you", "your",
    }
)  # fmt: skip
# The end of a range of characters, and how many tokens one of them may be.
_DEAR = (
    (0x0250, 1.0), (0x0400, 1.4), (0x0530, 1.0), (0x0590, 2.0), (0x0800, 1.4), (0x0B80, 2.0),
    (0x0E00, 2.5), (0x0E80, 2.0), (0x1100, 3.0), (0x1200, 2.0), (0x1E00, 3.0), (0x10000, 2.0),
)  # fmt: skip


def estimate(text: str) -> int:
    """The most tokens that a text has, on ordinary text with any usual tokenizer.

    Measured against OpenAI's tokenizers: 1.1 to 1.35 times too high on English prose, up to 2.3
    times on code, tables and other languages; not too low on long runs without words (base64,
    hexadecimal digits, random letters), and hardly on any script.
    """
    words = text.split()
    tokens = _of_blanks(text, words)
    for start in range(0, len(words), STRETCH):
        stretch = words[start : start + STRETCH]
        is_english = sum(map(_is_of_english, stretch)) * 6 >= len(stretch)
        of_word = _in_english if is_english else _anywhere
        if max(map(len, stretch)) > LONG:
            tokens += sum(map(of_word.__wrapped__, stretch))
        else:
            tokens += sum(map(of_word, stretch))
    return math.ceil(tokens) + 1


def _of_blanks(text: str, words: list[str]) -> float:
    """One blank between words costs nothing, runs and line breaks do."""
    others = len(text) - sum(map(len, words)) - text.count(" ")
    return others + sum(1 + (len(run) - 2) / 8 for run in _BLANKS.findall(text))


@lru_cache(KEPT)
def _is_of_english(word: str) -> bool:
    return word.lower().strip(".,;:!?()\"'") in _ENGLISH


@lru_cache(KEPT)
def _in_english(word: str) -> float:
    """Tokens of a word among English ones."""
    if len(word) > LONG or not _PLAIN.fullmatch(word):
        return _anywhere(word)
    tokens = 0.0
    for piece in _PIECE.findall(word):
        size = len(piece)
        if size > 6 and (size > 14 or piece[0].isupper()):  # a name, or a technical term
            tokens += _of_letters(piece)
        else:
            tokens += 1.03 + max(0, size - 6) * 0.2  # a few short words are two
    return tokens


@lru_cache(KEPT)
def _anywhere(word: str) -> float:
    """Tokens of a word, whatever it is."""
    pieces = _PIECE.findall(word)
    # The blank before it is no part of a number, nor of a word of bytes.
    tokens = (
        1.0 if word[0].isdigit() or "\u0530" <= word[0] < "\u0590" or word[0] > "\u1200" else 0.0
    )
    for piece in pieces:
        if piece.isascii():
            tokens += _of_letters(piece) if piece.isalpha() else len(piece)
        else:
            tokens += _of_character(piece)
    # A long word of many pieces, such as base64, has fewer pieces that a tokenizer knows.
    return tokens * 1.1 if len(word) >= 20 and len(pieces) >= 8 else tokens


def _of_letters(piece: str) -> float:
    size = len(piece)
    if size > 1 and piece.isupper():
        return 0.5 + 0.5 * size
    vowels = sum(map(piece.lower().count, "aeiouy"))
    if size >= 4 and vowels * 4 < size:  # no word of a language
        return 0.75 * size
    return max(1.0, 0.3 + 0.41 * size)


def _of_character(character: str) -> float:
    code = ord(character)
    return next((tokens for end, tokens in _DEAR if code < end), 4.0)


def counter(model: str) -> Callable[[str], int]:
    """Return what counts the tokens of a text for a model."""
    name = known_model(model).tokenizer
    return (_tokenizer(name) if name is not None else None) or estimate


@cache
def _tokenizer(name: str) -> Callable[[str], int] | None:
    """The count of a tokenizer of the optional package; None where it is not installed."""
    try:
        tokenizers: Any = importlib.import_module("rs_bpe").openai
    except ImportError:
        return None
    count: Callable[[str], int] = getattr(tokenizers, name)().count
    return count

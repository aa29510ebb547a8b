"""Signs of a text that tell at once what cannot stand in it.

To read a text (its tokens, figures, names) takes ten times as long as to find its words, and each
value of each claim is looked for in the same sentences. So they are asked first for their signs,
which are remembered: what has none is not read.

Source: ours (docs/adr/0050-value-leads-to-the-culprit.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.values.characters import plain, unaccented
from veritrail_graph.verifier.values.model import Value, ValueKind
from veritrail_graph.verifier.values.reading import STARTING, text_of, without_citations
from veritrail_graph.verifier.values.tokens import TokenKind, tokens

_SPELLED = (
    (frozenset(words.SMALL) - {"a", "one"})
    | words.ORDINALS.keys()
    | {"half", "quarter", "noon", "midday", "midnight"}
)
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_DIGIT = re.compile(r"\d")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_DOTTED = re.compile(r"[^\W\d_]\.[^\W\d_]|[AaPp]\. ?[Mm]\b")  # U.S., 5 p. m.
_UNLIKE_WORDS = re.compile(rf"[^\x00-\x7f]|\d[^\W\d_]|[^\W\d_]\d|{_DOTTED.pattern}|_")  # 5kg, 3D

_REMEMBERED = 16_384
"""Texts whose signs are kept: the sentences of some thousand nodes."""
_LONGEST_REMEMBERED = 600


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of a text.

    Attributes:
        plain: The text in plain characters.
        letters: Its letters without case and accents.
        may_spell: Whether it may have figures or moments in words.
        may_state: Whether it may have any figure, date or time.
    """

    plain: str
    letters: str
    may_spell: bool
    may_state: bool


def signs_of(text: str) -> Signs:
    """Return the signs of a text. Those of sentences of usual length are remembered."""
    return _remembered_signs(text) if len(text) <= _LONGEST_REMEMBERED else _signs_of(text)


def _signs_of(text: str) -> Signs:
    text, _ = plain(text)
    small = text.casefold()
    found = set(_LETTERS.findall(small if small.isascii() else text))
    if not small.isascii():
        found = {word.casefold() for word in found}
    is_unspaced = not small.isascii() and _UNSPACED.search(text) is not None
    may_spell = is_unspaced or not found.isdisjoint(_SPELLED)
    may_state = (
        may_spell
        or not found.isdisjoint(STARTING)
        or _DIGIT.search(text) is not None
        or ("." in text and _DOTTED.search(text) is not None)
    )
    return Signs(text, unaccented(small), may_spell, may_state)


_remembered_signs = lru_cache(maxsize=_REMEMBERED)(_signs_of)


def figures_in(text: str) -> tuple[Value, ...]:
    """Return the figures, dates and times of a text, which is read once for all claims."""
    if not signs_of(text).may_state:
        return ()
    return _remembered_figures(text) if len(text) <= _LONGEST_REMEMBERED else _figures_in(text)


def _figures_in(text: str) -> tuple[Value, ...]:
    found = (placed.value for placed in text_of(text).placed)
    return tuple(one for one in found if one.kind is not ValueKind.NAME)


_remembered_figures = lru_cache(maxsize=_REMEMBERED)(_figures_in)


def shared_at_most(keys: Collection[str], text: str) -> int:
    """Return how many of some keys a text has at most, as `content_keys` gives them."""
    there = _remembered_keys(text) if len(text) <= _LONGEST_REMEMBERED else _keys_in(text)
    return sum(key in keys for key in there)


def _keys_in(text: str) -> tuple[str, ...]:
    """The keys of all words of a text, each once, also of those that content words are not."""
    normal, _ = without_citations(text)
    if _UNLIKE_WORDS.search(normal) is None:
        return tuple({_key_of(form) for form in _WORD.findall(normal)})
    found = tokens(normal)
    pairs = {a.form + b.form for a, b in pairwise(found) if a.kind is b.kind is TokenKind.SIGN}
    return (*{words.key(one.lower) for one in found if one.kind is TokenKind.WORD}, *pairs)


_remembered_keys = lru_cache(maxsize=_REMEMBERED)(_keys_in)


@lru_cache(maxsize=_REMEMBERED)
def _key_of(form: str) -> str:
    return words.key(form.casefold().removesuffix("'s"))

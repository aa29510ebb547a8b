"""The matter of a claim in other sentences, and the other value that stands there instead."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.values.model import NUMERIC, Value, ValueKind
from veritrail_graph.verifier.values.reading import Placed, Text, text_of
from veritrail_graph.verifier.values.tokens import Token, TokenKind
from veritrail_graph.verifier.values.units import dimension

_LEAST_SHARE = 0.34
_LEAST_KEYS = 2
_LOOKED_AT = 4  # tokens to each side of a value
_LONG = 100  # tokens of a text whose keys are kept: it is compared with many, value by value


def same_matter(claim: str, sentence: str, value: Value) -> bool:
    """Return whether a sentence speaks of what a claim says of one of its values.

    It has a good third of the claim's other content words, two at least (all, where the claim has
    fewer); and of a figure that counts something it has the word for what is counted, or a figure
    of the same unit.

    Args:
        claim: The claim.
        sentence: A sentence, or a short text of few.
        value: A value of the claim, as `values` gives it.
    """
    mine, its = text_of(claim), text_of(sentence)
    if value.kind in NUMERIC and not any(comparable(value, placed.value) for placed in its.placed):
        there = content_keys(its, ())
        if value.unit or (value.nouns and not there & set(value.nouns)):
            return False
    ours = content_keys(mine, [placed for placed in mine.placed if placed.value == value])
    shared = len(ours & content_keys(its, ()))
    return shared >= min(_LEAST_KEYS, len(ours)) and shared >= _LEAST_SHARE * len(ours)


def rival(value: Value, claim: str, sentence: str) -> Value | None:
    """Return the value that a sentence has in the place of one of a claim's; None without one.

    There is none where the sentence has the claim's value as well, where it speaks of another
    matter, or where all of its values of that kind and unit are those of the claim.

    Args:
        value: A value of the claim, as `values` gives it.
        claim: The claim.
        sentence: A sentence, or a short text of few.
    """
    mine, its = text_of(claim), text_of(sentence)
    if value.kind is ValueKind.QUOTATION:
        return _other_quotation(value, claim, sentence)
    is_time = value.kind is ValueKind.TIME
    if any(
        value.may_be(placed.value) if is_time else value.agrees(placed.value)
        for placed in its.placed
    ):
        return None
    own = [placed.value for placed in mine.placed]
    others = [
        placed
        for placed in its.placed
        if value.excludes(placed.value)
        and comparable(value, placed.value)
        and not any(other.agrees(placed.value) for other in own)
    ]
    if not others or not same_matter(claim, sentence, value):
        return None
    here = next((placed for placed in mine.placed if placed.value == value), None)
    if here is None:
        return others[0].value
    around = _around(mine.tokens, here)
    scores = [len(around & _around(its.tokens, placed)) for placed in others]
    best = max(range(len(others)), key=scores.__getitem__)
    if value.kind is ValueKind.NAME and not scores[best]:
        return None
    return others[best].value


def other_unit(value: Value, claim: str, sentence: str) -> Value | None:
    """Return the same number in another unit of the same dimension: 45 feet for 45 metres.

    Args:
        value: A value of the claim, as `values` gives it.
        claim: The claim.
        sentence: A sentence, or a short text of few.
    """
    if not value.unit or value.kind not in NUMERIC:
        return None
    its = text_of(sentence)
    number = _digits(value)
    others = [
        placed.value
        for placed in its.placed
        if placed.value.kind is value.kind
        and placed.value.unit != value.unit
        and dimension(placed.value.unit) == dimension(value.unit)
        and _digits(placed.value) == number
    ]
    ours = content_keys(text_of(claim), ())
    shared = len(ours & content_keys(its, ()))
    is_of_it = shared >= min(_LEAST_KEYS, len(ours)) and shared >= _LEAST_SHARE * len(ours)
    return others[0] if len(others) == 1 and is_of_it else None


def _digits(value: Value) -> str:
    return "".join(sign for sign in value.surface if sign.isdecimal())


def comparable(value: Value, other: Value) -> bool:
    """Return whether two values are of one kind and unit, or count the same."""
    if value.kind is not other.kind or value.unit != other.unit:
        return False
    if value.kind is not ValueKind.FIGURE or (value.unit and value.unit != "ordinal"):
        return True
    return bool(set(value.nouns) & set(other.nouns)) or not (value.nouns or other.nouns)


def _other_quotation(value: Value, claim: str, sentence: str) -> Value | None:
    its = text_of(sentence)
    said = " ".join(token.lower for token in its.tokens if token.kind is not TokenKind.MARK)
    if f" {value.canonical} " in f" {said} " or not same_matter(claim, sentence, value):
        return None
    mine = set(value.canonical.split())
    alike = [(len(mine & set(other.canonical.split())), other) for other in its.quotations]
    best = max(alike, key=lambda pair: pair[0], default=(0, None))
    return best[1] if best[0] else None


def content_keys(text: Text, without: Sequence[Placed]) -> frozenset[str]:
    """Return the keys of the content words of a text; signs of unspaced scripts in pairs.

    Figures, dates and times are none, and neither is what stands in `without`.
    """
    if len(text.tokens) < _LONG:
        return _content_keys(text, without)
    asked = tuple(without)
    kept = text.keys.get(asked)
    if kept is None:
        kept = text.keys[asked] = _content_keys(text, without)
    return kept


def _content_keys(text: Text, without: Sequence[Placed]) -> frozenset[str]:
    left_out = {
        place
        for placed in (*text.placed, *without)
        if placed.value.kind is not ValueKind.NAME or placed in without
        for place in range(placed.first, placed.behind)
    }
    keys: set[str] = set()
    before: Token | None = None
    for place, token in enumerate(text.tokens):
        if place in left_out:
            before = None
            continue
        if token.kind is TokenKind.WORD:
            if token.lower not in words.STOP and token.lower not in words.LIGHT:
                keys.add(words.key(token.lower))
        elif token.kind is TokenKind.SIGN and before is not None:
            keys.add(before.form + token.form)
        before = token if token.kind is TokenKind.SIGN else None
    return frozenset(keys)


def _around(found: Sequence[Token], placed: Placed) -> set[str]:
    """The words close to a value, with the side that they stand on."""
    sides = (
        ("<", range(max(0, placed.first - _LOOKED_AT), placed.first)),
        (">", range(placed.behind, min(len(found), placed.behind + _LOOKED_AT))),
    )
    return {
        side + words.key(found[place].lower)
        for side, places in sides
        for place in places
        if found[place].kind in (TokenKind.WORD, TokenKind.SIGN)
    }

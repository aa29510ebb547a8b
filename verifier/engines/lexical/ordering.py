"""A statement with its day and its hour in another order, or at the other end.

"At 7:30 a.m. on 4 March the train left" says what "the train left on 4 March at 7:30 a.m." says.
Words are compared in their order, so a claim with both is compared in each of these orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from veritrail_graph.verifier.engines.lexical.aligning import Sequenced, sequenced
from veritrail_graph.verifier.values.model import ValueKind
from veritrail_graph.verifier.values.reading import Placed, Text
from veritrail_graph.verifier.values.tokens import Token
from veritrail_graph.verifier.vocabulary import word_set

_MOMENTS = {ValueKind.DATE, ValueKind.TIME}
_BEFORE_A_MOMENT = word_set("on at in")
_PARTING = frozenset((",", ";", ":"))
_JOINING = word_set("and but or while when as because if")


def in_other_orders(statement: Sequenced) -> tuple[Sequenced, ...]:
    """Return a statement with its day and hour in each other order and place; often none."""
    text = statement.text
    moments = [placed for placed in text.placed if placed.value.kind in _MOMENTS]
    for day, hour in pairwise(moments):
        start, middle = _first(text, day), _first(text, hour)
        kinds = {day.value.kind, hour.value.kind}
        if kinds != _MOMENTS or not _are_adjoined(text, day.behind, middle):
            continue
        phrases = _words(text, start, day.behind), _words(text, middle, hour.behind)
        before, behind = _words(text, 0, start), _words(text, hour.behind, len(text.tokens))
        orders = [" ".join(phrases), " ".join(reversed(phrases))]
        found = [f"{before} {order} {behind}" for order in orders[1:]]
        if not _is_joined([*text.tokens[:start], *text.tokens[hour.behind :]]):
            rest = f"{before} {behind}".strip(" ,.")
            if not before.strip():
                found += [f"{rest} {order}." for order in orders]
            elif not behind.strip(" ."):
                found += [f"{order} {rest}." for order in orders]
        return tuple(sequenced(one.strip()) for one in found)
    return ()


def _first(text: Text, placed: Placed) -> int:
    """The position of a moment with the small word before it."""
    place = placed.first
    has_word = place and text.tokens[place - 1].lower in _BEFORE_A_MOMENT
    return place - 1 if has_word else place


def _are_adjoined(text: Text, behind: int, first: int) -> bool:
    return all(token.form == "," for token in text.tokens[behind:first]) and first - behind <= 1


def _is_joined(rest: Sequence[Token]) -> bool:
    """Return whether the rest has parts, for one of which alone a moment may stand."""
    inner = rest[1 if rest[:1] and rest[0].form == "," else 0 : -1]
    return any(token.form in _PARTING or token.lower in _JOINING for token in inner)


def _words(text: Text, first: int, behind: int) -> str:
    if first >= behind:
        return ""
    return text.plain[text.tokens[first].start : text.tokens[behind - 1].end]

"""Names in a text, told by their capitals."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.verifier import vocabulary as words
from veritrail_graph.verifier.values.numbers import at
from veritrail_graph.verifier.values.tokens import Token, TokenKind
from veritrail_graph.verifier.values.units import MONEY_SIGNS

_MOSTLY = 0.7
_FEW = 6
_LOOKED_AT = 40
_STARTS_ANEW = frozenset('.!?:\u201c"\u2022')


def name_end(found: Sequence[Token], position: int) -> int:
    """Return the position behind the name that starts here, or the position itself."""
    if not _is_part(found, position) or at(found, position + 1).form in MONEY_SIGNS:
        return position
    behind = position + 1
    while True:
        before, here = found[behind - 1], at(found, behind)
        if here.form in ("-", "&", ".") and _is_capital(found, behind + 1):
            initial = here.form != "." or len(before.form) == 1 or before.lower in words.TITLES
            if initial and at(found, behind + 1).start - here.end < 2:
                behind += 2
                continue
        if here.form == "-" and at(found, behind + 1).kind is TokenKind.WORD:
            behind += 2  # Co-operative
            continue
        if _is_capital(found, behind) and here.start - before.end < 2:
            behind += 1
            continue
        if here.lower in words.NAME_LINKS and _is_capital(found, behind + 1):
            behind += 2
            continue
        return behind


def _is_capital(found: Sequence[Token], position: int) -> bool:
    token = at(found, position)
    return (
        token.kind is TokenKind.WORD
        and token.form[0].isupper()
        and (
            token.lower not in words.STOP
            or token.form == "May"
            or (len(token.form) > 1 and token.form.isupper())
        )
    )


def _is_part(found: Sequence[Token], position: int) -> bool:
    """Return whether a capital means a name: at the start only if more of it or a list follows."""
    if not _is_capital(found, position) or _has_no_case(found, position):
        return False
    token, before = found[position], at(found, position - 1)
    if before.form and before.form not in _STARTS_ANEW and not _is_item(found, position - 1):
        return True
    if len(token.form) > 1 and token.form[:2].isupper():
        return True
    behind = at(found, position + 1)
    if _is_capital(found, position + 1) and behind.start - token.end < 2:
        return True
    listed = before.form == ":" and behind.lower in (",", "and", "or")
    return listed and _is_capital(found, position + 2)


def _is_item(found: Sequence[Token], position: int) -> bool:
    """Return whether a mark opens an item of a list."""
    return position == 0 and found[0].form in ("-", "*", "\u2013")


def _has_no_case(found: Sequence[Token], position: int) -> bool:
    """Return whether capitals say nothing here: in a heading nearly every word has one."""
    near = found[max(0, position - _LOOKED_AT // 2) : position + _LOOKED_AT // 2]
    spelled = [token.form[0].isupper() for token in near if token.kind is TokenKind.WORD]
    return len(spelled) >= _FEW and sum(spelled) > _MOSTLY * len(spelled)

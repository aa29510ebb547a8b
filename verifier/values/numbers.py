"""Figures, sums and shares of a text, whichever way they are written: 1,200, 1.200,50, twelve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from veritrail_graph.verifier.values.model import ValueKind
from veritrail_graph.verifier.values.tokens import NOTHING, Token, TokenKind
from veritrail_graph.verifier.values.units import (
    CASED,
    DOLLARS,
    MEASURES,
    MONEY,
    MONEY_SIGNS,
    SCALE_TAILS,
    SCALES,
)
from veritrail_graph.verifier.vocabulary import ORDINALS, SMALL, STOP, word_set

_LONGEST = 40
_LONGEST_SHARE = 10  # digits of what stands above in a fraction
STARTING_FIGURES = frozenset((*SMALL, *SCALES, *ORDINALS, "half"))
"""The words that a figure may start with."""
HALVES = {"half": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5}
"""The words of the parts that a figure may be in, and how many of them are a whole."""
_ONE_IS_A_PRONOUN_AFTER = word_set("no any every some this that which the each another not only")
_PREFIXES = word_set("mid pre post early late to non sub of from over under up ex")
_LIMITS_BEFORE = {
    "at least": ">=", "no fewer than": ">=", "no less than": ">=", "not less than": ">=",
    "not fewer than": ">=", "a minimum of": ">=", "minimum of": ">=", "as few as": ">=",
    "at most": "<=", "no more than": "<=", "not more than": "<=", "up to": "<=",
    "a maximum of": "<=", "maximum of": "<=", "as many as": "<=", "as much as": "<=",
    "more than": ">", "over": ">", "above": ">", "exceeding": ">", "greater than": ">",
    "higher than": ">", "in excess of": ">", "less than": "<", "fewer than": "<", "under": "<",
    "below": "<", "lower than": "<", "about": "~", "around": "~", "approximately": "~",
    "roughly": "~", "nearly": "~", "almost": "~", "circa": "~", "some": "~", "estimated": "~",
    "close to": "~", "just over": ">", "just under": "<", "well over": ">", "well under": "<",
    ">": ">", "<": "<", "\u2265": ">=", "\u2264": "<=", "~": "~", "\u2248": "~",
    "\u81f3\u5c11": ">=", "\u6700\u591a": "<=", "\u8d85\u8fc7": ">", "\u7ea6": "~",
}  # fmt: skip
_LIMITS_BEHIND = {
    "or more": ">=", "or above": ">=", "and above": ">=", "or less": "<=", "or fewer": "<=",
    "or below": "<=", "and under": "<=", "or so": "~",
}  # fmt: skip
_LONGEST_LIMIT = 3
IN_FIGURES = frozenset((
    *STARTING_FIGURES, *HALVES, *(one.lower() for one in (*MEASURES, *CASED, *MONEY)), *DOLLARS,
    *(word for limit in (*_LIMITS_BEFORE, *_LIMITS_BEHIND) for word in limit.split()),
    *word_set("""and a half minus negative usd eur gbp chf jpy cny inr sek nok dkk dollars euros
    pounds percent percentage pct point points per cent degree degrees square sq cubic"""),
))  # fmt: skip
"""The words that may be a part of a figure."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure at its tokens.

    Attributes:
        kind: Figure, money or percent.
        amount: Its normal form in the common unit.
        unit: The common unit, or "".
        first: Position of its first token.
        behind: Position behind its last token, unit included.
        also: Other normal forms that may be meant.
        factor: What its digits were multiplied by: by a scale word and a unit.
    """

    kind: ValueKind
    amount: str
    unit: str
    first: int
    behind: int
    also: tuple[str, ...] = ()
    factor: Decimal = Decimal(1)


def at(found: Sequence[Token], position: int) -> Token:
    """Return the token at a position; an empty mark outside of the text."""
    return found[position] if 0 <= position < len(found) else NOTHING


def figure_at(found: Sequence[Token], position: int) -> Figure | None:
    """Return the figure whose number starts at a position, with sign and unit; None without."""
    token = at(found, position)
    if _is_of_a_word(found, position):
        return None
    number: Figure | None
    if token.kind is TokenKind.NUMBER:
        number = _in_digits(found, position)
    elif token.kind is TokenKind.WORD:
        number = _in_words(found, position)
    else:
        return None
    return None if number is None else _with_unit(found, _with_sign(found, number))


def _is_of_a_word(found: Sequence[Token], position: int) -> bool:
    """Return whether a hyphen joins a number to a word before it: COVID-19, not mid-2019."""
    hyphen, word = at(found, position - 1), at(found, position - 2)
    return (
        hyphen.form == "-"
        and hyphen.end == at(found, position).start
        and word.kind is TokenKind.WORD
        and word.end == hyphen.start
        and word.lower not in _PREFIXES
        and word.lower not in SMALL
    )


def limit_of(found: Sequence[Token], figure: Figure) -> tuple[str, int, int]:
    """Return the limit of a figure ("" without) and the positions of its first and last word."""
    for number in range(_LONGEST_LIMIT, 0, -1):
        start = figure.first - number
        if start >= 0:
            phrase = " ".join(found[place].lower for place in range(start, figure.first))
            if phrase in _LIMITS_BEFORE:
                return _LIMITS_BEFORE[phrase], start, figure.behind
    signs = "".join(at(found, figure.first - back).form for back in (2, 1))
    if len(signs) == 2 and signs in _LIMITS_BEFORE:
        return _LIMITS_BEFORE[signs], figure.first - 2, figure.behind
    phrase = f"{at(found, figure.behind).lower} {at(found, figure.behind + 1).lower}"
    if phrase in _LIMITS_BEHIND:
        return _LIMITS_BEHIND[phrase], figure.first, figure.behind + 2
    return "", figure.first, figure.behind


def plain_number(digits: str) -> tuple[str, tuple[str, ...]]:
    """Return the normal form of a number in digits, and others that may be meant."""
    body, power, exponent = digits.partition("^")
    body = body.replace(" ", "").replace("'", "")
    points, commas = body.count("."), body.count(",")
    also: tuple[str, ...] = ()
    if points and commas:
        mark = "." if body.rfind(".") > body.rfind(",") else ","
        other = "," if mark == "." else "."
        if body.count(mark) == 1 and _is_grouped(body.split(mark)[0], other):
            body = body.replace(other, "").replace(mark, ".")
    elif commas:
        if _is_grouped(body, ","):
            body = body.replace(",", "")
        elif commas == 1:
            body = body.replace(",", ".")
    elif points > 1 and _is_grouped(body, "."):
        body = body.replace(".", "")
    elif points == 1 and _is_grouped(body, "."):
        whole = body.replace(".", "")
        body, also = (whole, (_shortened(body),)) if body.endswith("00") else (body, (whole,))
    return _shortened(body) + power + exponent, also


def _is_grouped(body: str, mark: str) -> bool:
    """Return whether marks group a number by thousands or, as in India, by hundreds behind them."""
    first, *rest = body.split(mark)
    if not rest or first in ("", "0") or len(first) > 3 or first.startswith("0"):
        return False
    return len(rest[-1]) == 3 and all(len(part) in (2, 3) for part in rest[:-1])


def _shortened(body: str) -> str:
    if body.count(".") > 1 or "," in body or len(body) > _LONGEST:
        return body
    whole, point, part = body.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + part if part else "")


def times(amount: str, factor: Decimal | int) -> str:
    """Return a normal form times a factor."""
    if factor == 1 or len(amount) > _LONGEST or not amount.replace(".", "", 1).isdecimal():
        return amount
    return _written(Decimal(amount) * factor)


def _written(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _in_digits(found: Sequence[Token], position: int) -> Figure:
    token = found[position]
    amount, also = plain_number(token.form)
    behind = position + 1
    if token.tail.lower() in ("st", "nd", "rd", "th"):
        return Figure(ValueKind.FIGURE, amount, "ordinal", position, behind)
    slash, below = at(found, behind), at(found, behind + 1)
    if slash.form == "/" and below.kind is TokenKind.NUMBER and slash.start == token.end:
        return _fraction(token, below, position, behind + 2)
    following = at(found, behind)
    if following.kind is TokenKind.NUMBER and at(found, behind + 1).form == "/":
        part = _fraction(following, at(found, behind + 2), behind, behind + 3)
        if part.amount.startswith("0.") and amount.isdecimal():  # 2 1/2
            return Figure(part.kind, amount + part.amount[1:], "", position, part.behind)
    scale = 1
    if token.tail in SCALE_TAILS:
        scale = SCALE_TAILS[token.tail]
    elif token.tail == "m" and at(found, position - 1).form in MONEY_SIGNS:
        scale = 10**6
    elif not token.tail:
        while at(found, behind).lower.rstrip(".") in SCALES:
            scale *= SCALES[at(found, behind).lower]
            behind += 1
        if scale > 1 and at(found, behind).form == "." and at(found, behind + 1).lower in MONEY:
            behind += 1  # 2 Mio. Euro
    also = tuple(times(each, scale) for each in also)
    scaled = times(amount, scale)
    return Figure(ValueKind.FIGURE, scaled, "", position, behind, also, Decimal(scale))


def _fraction(above: Token, below: Token, first: int, behind: int) -> Figure:
    text = f"{above.form}/{below.form}"
    are_short = len(above.form) < _LONGEST_SHARE and len(below.form) < 4
    if are_short and above.form.isdecimal() and below.form.isdecimal():
        over, under = int(above.form), int(below.form)
        if 0 < over < under and under in (2, 3, 4, 5, 6, 8, 10, 100):
            return Figure(ValueKind.FIGURE, _share(over, under), "", first, behind)
    return Figure(ValueKind.FIGURE, text, "", first, behind)


def _share(over: int, under: int) -> str:
    share = Decimal(over) / Decimal(under)
    return _written(share) if under not in (3, 6) else f"{over}/{under}"


def _in_words(found: Sequence[Token], position: int) -> Figure | None:
    word = found[position].lower
    if word in ORDINALS:
        fraction = at(found, position + 1).lower
        if word == "second" and fraction == "":
            return None
        return Figure(ValueKind.FIGURE, str(ORDINALS[word]), "ordinal", position, position + 1)
    if word == "half" and at(found, position + 1).lower == "a":
        scale = at(found, position + 2).lower
        if scale in SCALES:
            return Figure(ValueKind.FIGURE, times("0.5", SCALES[scale]), "", position, position + 3)
    starts = word in SMALL or (word in SCALES and at(found, position - 1).lower == "a")
    if not starts:
        return None
    total = current = 0
    behind = position
    while True:
        word = at(found, behind).lower
        if word in SMALL:
            if behind > position and not _adds(current, SMALL[word]):
                break
            current += SMALL[word]
        elif word in SCALES and SCALES[word] > 100:
            total, current = total + max(current, 1) * SCALES[word], 0
        elif word in SCALES:
            current = max(current, 1) * SCALES[word]
        elif not _joins(found, behind, word):
            break
        behind += 1
    amount = str(total + current)
    if behind == position + 1:
        below = at(found, behind + (at(found, behind).form == "-")).lower
        if below in HALVES and SMALL.get(found[position].lower, 9) < HALVES[below]:
            end = behind + 1 + (at(found, behind).form == "-")
            share = _share(SMALL[found[position].lower], HALVES[below])
            return Figure(ValueKind.FIGURE, share, "", position, end)
    has_half = [at(found, behind + ahead).lower for ahead in range(3)] == ["and", "a", "half"]
    is_one = behind == position + 1 and found[position].lower == "one"
    if is_one and not has_half and not _is_one_thing(found, position):
        return None
    if has_half:
        amount, behind = f"{amount}.5", behind + 3
        while at(found, behind).lower in SCALES:
            amount, behind = times(amount, SCALES[at(found, behind).lower]), behind + 1
    return Figure(ValueKind.FIGURE, amount, "", position, behind)


def _adds(current: int, word: int) -> bool:
    """Return whether a word goes on with a number: twenty five, not five six."""
    return (current % 100 >= 20 and current % 10 == 0 and word < 10) or current % 100 == 0


def _joins(found: Sequence[Token], position: int, word: str) -> bool:
    """Return whether a word or hyphen is inside a number: two hundred and three, twenty-five."""
    before, behind = at(found, position - 1).lower, at(found, position + 1).lower
    if word == "and":
        return before in SCALES and behind in SMALL
    if word != "-":
        return False
    return (before in SMALL and SMALL[before] >= 20 and SMALL.get(behind, 99) < 10) or (
        before in SMALL and behind in SCALES
    )


def _is_one_thing(found: Sequence[Token], position: int) -> bool:
    """Return whether "one" counts something: one boat, not no one, one of them."""
    behind = at(found, position + 1)
    if at(found, position - 1).lower in _ONE_IS_A_PRONOUN_AFTER or behind.kind is TokenKind.MARK:
        return False
    return behind.kind is TokenKind.WORD and behind.lower not in STOP


def _with_sign(found: Sequence[Token], figure: Figure) -> Figure:
    sign, before = at(found, figure.first - 1), at(found, figure.first - 2)
    touching = sign.end == found[figure.first].start
    parted = before.end < sign.start or before.form in ("(", "[", "\u201c", '"', ":")
    if sign.form in MONEY_SIGNS:
        first, unit = figure.first - 1, MONEY[sign.form]
        if before.form.lower() in DOLLARS and before.end == sign.start:
            first, unit = first - 1, DOLLARS[before.form.lower()]
        sign, before = at(found, first - 1), at(found, first - 2)
        minus = sign.form == "-" and sign.end == found[first].start and before.end < sign.start
        amount = f"-{figure.amount}" if minus else figure.amount
        return replace(figure, kind=ValueKind.MONEY, amount=amount, unit=unit, first=first - minus)
    minus = (sign.form == "-" and touching and parted) or sign.lower in ("minus", "negative")
    if minus and figure.unit != "ordinal":
        also = tuple(f"-{each}" for each in figure.also)
        return replace(figure, amount=f"-{figure.amount}", first=figure.first - 1, also=also)
    if sign.form.upper() in ("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "SEK", "NOK", "DKK"):
        unit = MONEY[sign.lower]
        return replace(figure, kind=ValueKind.MONEY, unit=unit, first=figure.first - 1)
    return figure


def _with_unit(found: Sequence[Token], figure: Figure) -> Figure:
    if figure.kind is ValueKind.MONEY or figure.unit == "ordinal":
        named = at(found, figure.behind).lower in ("dollars", "euros", "pounds")
        return replace(figure, behind=figure.behind + named)
    last = at(found, figure.behind - 1)
    tail = last.tail if last.tail in MEASURES and last.tail not in SCALE_TAILS else ""
    if tail:
        unit, size = MEASURES[tail]
        return _measured(figure, unit, size, figure.behind)
    if last.tail == "s":
        return replace(figure, amount=f"{figure.amount}s")
    place = figure.behind
    if at(found, place).form == "-" and at(found, place + 1).kind is TokenKind.WORD:
        place += 1  # 12-year-old
    word, behind = at(found, place), at(found, place + 1).lower
    if word.form == "%" or word.lower in ("percent", "percentage", "pct"):
        if behind in ("point", "points"):
            return replace(figure, unit="point", behind=place + 2)
        return _share_of(figure, place + 1)
    if word.lower == "per" and behind in ("cent", "100"):
        return _share_of(figure, place + 2)
    if word.form == "\u00b0":
        kind = {"c": "c", "f": "f"}.get(behind, "degree")
        end = place + (1 if kind == "degree" else 2)
        return _measured(figure, kind, Decimal(1), end)
    if word.lower in ("degrees", "degree") and behind in MEASURES:
        return _measured(figure, MEASURES[behind][0], Decimal(1), place + 2)
    two_signs = f"{word.form}{at(found, place + 1).form}"
    if two_signs in MONEY and word.kind is TokenKind.SIGN and len(two_signs) == 2:
        return _paid(figure, MONEY[two_signs], place + 2)
    if word.lower in MONEY and word.lower not in ("mark", "rs"):
        return _paid(figure, MONEY[word.lower], place + 1)
    if word.form == "km" and at(found, place + 1).form == "/":
        return _measured(figure, "kmh", Decimal(1), place + 3)
    if word.lower in ("square", "sq", "cubic") and behind in MEASURES:
        unit, size = MEASURES[behind]
        power = 3 if word.lower == "cubic" else 2
        if unit == "m":
            return _measured(figure, f"m{power}", size**power, place + 2)
        return _measured(figure, f"{unit}{power}", size, place + 2)
    spelling = word.form if word.form in MEASURES or word.form in CASED else word.lower
    if spelling in MEASURES:
        unit, size = MEASURES[spelling]
        return _measured(figure, unit, size, place + 1)
    return figure


def _measured(figure: Figure, unit: str, size: Decimal, behind: int) -> Figure:
    also = tuple(times(each, size) for each in figure.also)
    minus = figure.amount.startswith("-")
    amount = ("-" if minus else "") + times(figure.amount.removeprefix("-"), size)
    factor = figure.factor * size
    return Figure(figure.kind, amount, unit, figure.first, behind, also, factor)


def _share_of(figure: Figure, behind: int) -> Figure:
    return replace(figure, kind=ValueKind.PERCENT, behind=behind)


def _paid(figure: Figure, unit: str, behind: int) -> Figure:
    return replace(figure, kind=ValueKind.MONEY, unit=unit, behind=behind)

"""Dates and times of day of a text, in any of their spellings: 3 May 2024, 2024-05-03, 9:30 p.m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_graph.verifier.values.model import ValueKind
from veritrail_graph.verifier.values.numbers import at
from veritrail_graph.verifier.values.tokens import Token, TokenKind
from veritrail_graph.verifier.vocabulary import word_set

_NAMES = """january february march april may june july august september october november
december"""
MONTHS = {name: number for number, name in enumerate(_NAMES.split(), 1)}
MONTHS |= {name[:3]: number for name, number in list(MONTHS.items()) if name != "may"}
MONTHS |= {"sept": 9}
WEEKDAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_LONG_MONTH = 6
# May and March are other words, too, and a capital may be that of a sentence or a name.
_DOUBTFUL = frozenset(("may", "march", "mar", "jan", "dec", "sun", "april", "june", "august"))
_BEFORE_A_MONTH = word_set(
    """in of since by until till from during between before after through late early mid
    last next this every each to and or early-"""
)
_BEFORE_A_YEAR = word_set(
    """in since by of from until till during before after around circa through to year
    between early late mid spring summer autumn fall winter the for and or - \u2013 ( fiscal
    year's a an"""
)
_NOT_BEFORE_A_YEAR = word_set("least most than about over under nearly almost some with")
_DAY_PARTS = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_HALVES = {"morning": "am", "afternoon": "pm", "evening": "pm"}
_FIRST_NIGHT_HOUR, _SMALL_HOURS = 7, (12, 1, 2, 3, 4)
STARTING_MOMENTS = frozenset((*MONTHS, *WEEKDAYS, *_DAY_PARTS))
"""The words that a date or a time of day may start with."""
IN_MOMENTS = frozenset((*STARTING_MOMENTS, *_HALVES, *word_set("of am pm at night in the")))
"""The words that may be a part of one."""
_LAST_DAY, _LAST_MONTH, _LAST_HOUR, _LAST_MINUTE = 31, 12, 23, 59
_HAN = {
    sign: number
    for number, sign in enumerate("\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341", 1)
}
_YEAR, _MONTH, _DAYS, _HOUR = (
    "\u5e74",
    "\u6708",
    ("\u65e5", "\u53f7", "\u865f"),
    ("\u70b9", "\u9ede", "\u6642", "\u65f6"),
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time of day at its tokens.

    Attributes:
        kind: Date or time.
        canonical: Its normal form.
        first: Position of its first token.
        behind: Position behind its last one.
        also: Other normal forms that may be meant.
    """

    kind: ValueKind
    canonical: str
    first: int
    behind: int
    also: tuple[str, ...] = ()


def moment_at(found: Sequence[Token], position: int) -> Moment | None:
    """Return the date or time that starts at a position; None without one."""
    token = found[position]
    if token.kind is TokenKind.DATE:
        return _dated(token, position)
    if token.kind is TokenKind.CLOCK:
        return _clock(found, position, token.form.split(":"))
    if token.kind is TokenKind.NUMBER:
        return (
            _day_first(found, position)
            or _in_signs(found, position)
            or _hour(found, position)
            or _year(found, position)
        )
    if token.kind is TokenKind.SIGN:
        return _in_signs(found, position)
    if token.kind is TokenKind.WORD:
        return _in_words(found, position)
    return None


def _dated(token: Token, position: int) -> Moment | None:
    parts = [part.zfill(2) for part in token.form.replace("/", "-").replace(".", "-").split("-")]
    if len(parts[0]) == 4:
        year, month, day = parts
    elif "." in token.form or int(parts[0]) > _LAST_MONTH:
        day, month, year = parts
    else:
        month, day, year = parts
    if not (0 < int(month) <= _LAST_MONTH and 0 < int(day) <= _LAST_DAY):
        return Moment(ValueKind.DATE, "-".join(parts), position, position + 1)
    doubtful = "/" in token.form and int(day) <= _LAST_MONTH and day != month
    also = (f"{year}-{day}-{month}",) if doubtful else ()
    return Moment(ValueKind.DATE, f"{year}-{month}-{day}", position, position + 1, also)


def _clock(found: Sequence[Token], position: int, parts: Sequence[str]) -> Moment | None:
    hour, minute = int(parts[0]), int(parts[1])
    if hour > _LAST_HOUR + 1 or minute > _LAST_MINUTE or len(parts) > 2:
        return None
    half, behind = _half(found, position)
    if not half and 0 < hour < 13:
        half, behind = _part_of_day(found, position, hour)
    if half:
        return Moment(ValueKind.TIME, _of_half(hour, minute, half), position, behind)
    written = f"{hour:02}:{minute:02}"
    if 0 < hour < 13 and not parts[0].startswith("0"):
        other = f"{(hour + 12) % 24 if hour != 12 else 0:02}:{minute:02}"
        return Moment(ValueKind.TIME, f"{hour}:{minute:02}", position, behind, (written, other))
    return Moment(ValueKind.TIME, written, position, behind)


def _half(found: Sequence[Token], position: int) -> tuple[str, int]:
    """The half of the day behind a time, and the position behind both."""
    tail = found[position].tail.lower()
    if tail in ("am", "pm"):
        return tail, position + 1
    word = at(found, position + 1).lower
    if word in ("am", "pm") and at(found, position + 1).form != "Am":
        return word, position + 2
    return "", position + 1


def _part_of_day(found: Sequence[Token], position: int, hour: int) -> tuple[str, int]:
    """The half of the day that "in the evening" behind a time tells, and the position behind."""
    following = tuple(at(found, position + step).lower for step in (1, 2, 3))
    if following[:2] == ("at", "night"):
        half = "pm" if _FIRST_NIGHT_HOUR <= hour < 12 else "am" if hour in _SMALL_HOURS else ""
        return half, position + (3 if half else 1)
    half = _HALVES.get(following[2], "") if following[:2] == ("in", "the") else ""
    return half, position + (4 if half else 1)


def _of_half(hour: int, minute: int, half: str) -> str:
    return f"{hour % 12 + (12 if half == 'pm' else 0):02}:{minute:02}"


def _hour(found: Sequence[Token], position: int) -> Moment | None:
    """9 p.m., 9.30pm."""
    half, behind = _half(found, position)
    if not half:
        return None
    hour, _, minute = found[position].form.partition(".")
    if not (hour.isdecimal() and (minute.isdecimal() or not minute)) or len(hour + minute) > 4:
        return None
    if int(hour) > 12 or int(minute or 0) > _LAST_MINUTE:
        return None
    return Moment(ValueKind.TIME, _of_half(int(hour), int(minute or 0), half), position, behind)


def _month(token: Token) -> int:
    if token.kind is not TokenKind.WORD:
        return 0
    number = MONTHS.get(token.lower.rstrip("."), 0)
    return number if number and (token.form[:1].isupper() or len(token.form) >= _LONG_MONTH) else 0


def may_be_in_moment(form: str, lower: str) -> bool:
    """Return whether a word may be a part of a date or a time of day, as it is written.

    Days of the week and short months need a capital: march, mar.

    Args:
        form: The word.
        lower: The same in small letters, without a possessive.
    """
    if lower in WEEKDAYS or (lower in MONTHS and len(form) < _LONG_MONTH):
        return form[:1].isupper()
    return lower in IN_MOMENTS


def _day(token: Token) -> int:
    if token.kind is not TokenKind.NUMBER or token.tail.lower() not in ("", "st", "nd", "rd", "th"):
        return 0
    form = token.form
    return int(form) if form.isdecimal() and len(form) < 3 and 0 < int(form) <= _LAST_DAY else 0


def _is_year(token: Token) -> bool:
    form = token.form
    return (
        token.kind is TokenKind.NUMBER
        and not token.tail
        and len(form) == 4
        and form.isdecimal()
        and 1000 <= int(form) <= 2100
    )


def _with_year(found: Sequence[Token], position: int) -> tuple[str, int]:
    """The year at a position, or behind a comma there, and the position behind it."""
    for skipped in ("", ",", ".", "of"):
        place = position + (1 if skipped else 0)
        if (not skipped or at(found, position).lower == skipped) and _is_year(at(found, place)):
            return found[place].form, place + 1
    return "", position


def _day_first(found: Sequence[Token], position: int) -> Moment | None:
    """3 May 2024, 3rd of May."""
    day = _day(found[position])
    if not day:
        return None
    place = position + 1 + (at(found, position + 1).lower in ("of", "."))
    month = _month(at(found, place))
    if not month:
        return None
    place += 1 + (at(found, place + 1).form == "." and _is_year(at(found, place + 2)))
    year, behind = _with_year(found, place)
    return Moment(ValueKind.DATE, _written(year, month, day), position, behind)


def _written(year: str, month: int, day: int) -> str:
    return (year or "-") + f"-{month:02}" + (f"-{day:02}" if day else "")


def _in_words(found: Sequence[Token], position: int) -> Moment | None:
    token = found[position]
    if token.lower in WEEKDAYS and token.form[:1].isupper():
        return Moment(ValueKind.DATE, token.lower, position, position + 1)
    if token.lower in _DAY_PARTS:
        return Moment(ValueKind.TIME, _DAY_PARTS[token.lower], position, position + 1)
    month = _month(token)
    if not month:
        return None
    place = position + 1
    place += at(found, place).form == "." and len(token.form) < 5
    day = _day(at(found, place))
    if day and not _is_a_count(found, place):
        year, behind = _with_year(found, place + 1)
        return Moment(ValueKind.DATE, _written(year, month, day), position, behind)
    year, behind = _with_year(found, place)
    if year:
        return Moment(ValueKind.DATE, _written(year, month, 0), position, behind)
    before = at(found, position - 1).lower
    if token.lower in _DOUBTFUL and before not in _BEFORE_A_MONTH:
        return None
    return Moment(ValueKind.DATE, _written("", month, 0), position, position + 1)


def _is_a_count(found: Sequence[Token], place: int) -> bool:
    """Return whether a number behind a month is no day: May 3:1, May 5 percent."""
    return at(found, place + 1).form in ("%", ":") or at(found, place + 1).lower == "percent"


def _year(found: Sequence[Token], position: int) -> Moment | None:
    token = found[position]
    if token.tail == "s" and len(token.form) in (2, 4) and token.form.endswith("0"):
        return Moment(ValueKind.DATE, f"{token.form}s", position, position + 1)
    if not _is_year(token):
        return None
    before, behind = at(found, position - 1), at(found, position + 1)
    if before.lower in _NOT_BEFORE_A_YEAR or before.form in (
        "$",
        "\u20ac",
        "\u00a3",
        "\u00a5",
        "/",
    ):
        return None
    if behind.form in ("%", "\u00b0", "/") or behind.lower in ("percent", "per", "million"):
        return None
    counts = (
        behind.kind is TokenKind.WORD
        and (behind.lower.endswith("s") or behind.lower in ("people", "men", "women", "children"))
        and behind.lower not in ("was", "has", "is", "as", "this", "its", "his", "saw", "does")
    )
    if counts and before.lower not in ("in", "since", "the", "during", "year", ","):
        return None
    if before.lower in _BEFORE_A_YEAR or before.kind is TokenKind.MARK or not counts:
        return Moment(ValueKind.DATE, token.form, position, position + 1)
    return None


def _in_signs(found: Sequence[Token], position: int) -> Moment | None:
    """2024\u5e745\u67083\u65e5, \u4e94\u6708."""
    parts: dict[str, int] = {}
    place = position
    for name, ends in (("year", (_YEAR,)), ("month", (_MONTH,)), ("day", _DAYS)):
        number, behind = _counted(found, place)
        if number and at(found, behind).form in ends:
            parts[name], place = number, behind + 1
    if not parts or list(parts) == ["day"]:
        return None
    month, day = parts.get("month", 0), parts.get("day", 0)
    if month > _LAST_MONTH or day > _LAST_DAY:
        return None
    year = str(parts.get("year", ""))
    written = _written(year, month, day) if month else year
    return Moment(ValueKind.DATE, written, position, place)


def _counted(found: Sequence[Token], place: int) -> tuple[int, int]:
    """A number of four figures at most, in digits or in Chinese signs up to 99."""
    token = at(found, place)
    if token.kind is TokenKind.NUMBER and token.form.isdecimal() and len(token.form) < 5:
        return int(token.form), place + 1
    number = 0
    while at(found, place).form in _HAN:
        value = _HAN[found[place].form]
        number = max(number, 1) * 10 if value == 10 else number + value
        place += 1
    return number, place

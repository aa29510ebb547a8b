"""The beginnings of sentences inside a block that Punkt does not know.

Punkt knows `.`, `?` and `!` with a space behind them, and the abbreviations of its tables. This
module takes back what it ends at other abbreviations and at marks inside names, ends sentences at
the full stops of other scripts, and leaves marks of citations with the sentence before them. It
looks at a bounded part of the text around each place, so that the time stays linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from veritrail_graph.graph.sentences.abbreviations import (
    COMPANY,
    DATED,
    INNER,
    MARKED,
    MONTHS,
    NAME_AFTER,
    NEVER_LAST,
    NUMBERED,
    ORDINAL_AFTER,
    ORDINAL_AND,
    STARTERS,
    TITLES,
)
from veritrail_graph.graph.sentences.unmarked import UNSPACED, begun_unmarked

STOPS = "\u037e\u0f0d。｡．！？︒︕︖﹒﹖﹗।॥؟۔։።፧፨။។៕༎᠃᠉܀܁܂߹᱾᱿꯫꧈꧉⁇⁈⁉‼‽"  # noqa: RUF001
"""Marks that end a sentence, besides those of ASCII."""

CLOSERS = "”’»›」』）】》〉〕］｝)]}"  # noqa: RUF001
"""What closes what stands around a sentence, behind its full stop."""

_OTHER_END = re.compile(rf"[{STOPS}][{STOPS}.?!…]{{0,20}}[{re.escape(CLOSERS)}]{{0,5}}")
_ASCII_END = re.compile(
    rf"(?<=[{UNSPACED}])[.?!]{{1,5}}[{re.escape(CLOSERS)}]{{0,5}}(?=[{UNSPACED}])"
)
_GREEK_QUESTION = re.compile(
    rf"(?<=[\u0370-\u037d\u037f-\u03ff\u1f00-\u1fff]{{2}});[{re.escape(CLOSERS)}]{{0,5}}(?=\s)"
)
"""A Greek question mark that is written as a semicolon, behind a word: what is no name in maths."""
_GOES_ON = re.compile(r"[,;:，、；：]")  # noqa: RUF001
_QUOTATIVE = re.compile(r"と|って")

_NUMBERS = r"\^?\d{1,4}[a-z]?(?:\s?[,;\u2013-]\s?\^?\d{1,4}[a-z]?){0,30}"
MARK = (
    rf"(?>\[\[?{_NUMBERS}\]?\](?:\([^()\s]{{1,500}}\))?"
    r"|\[\^?(?:Data|Records?|Sources?|Quellen?|Daten|Reports?|Entities|Relationships?|Claims|"
    r"citation needed|数据|数據|資料|データ|데이터)\b"
    r"[^\[\]\n]{0,500}\]"
    r"|\[\^[^\[\]\s]{1,40}\]"
    r"|\[[^\W\d_][\w.&,' -]{1,60}\b\d{4}[a-z]?\]"
    r"|【[^【】\n]{1,200}】"
    r"|<sup>[^<>\n]{1,40}</sup>"
    r"|[¹²³⁰⁴-⁹]{1,20}(?:[,⁻˒][¹²³⁰⁴-⁹]{1,4}){0,9})"
)
"""A mark that names the source of a sentence: `[1]`, `[Data: Reports (2)]`, `¹`."""

TIGHT_MARK = rf"(?:\({_NUMBERS}\)|（{_NUMBERS}）|\^\[?{_NUMBERS}\]?\^?)"  # noqa: RUF001
"""A mark where it follows the full stop without a space: `.(1)`, `.^1^`."""

_BARE = r"\d{1,3}(?:[,\u2013-]\s?\d{1,3}){0,9}+"
"""Numbers that were superscript before the text lost its form: `It is red.2,3 It runs.`"""

_MARKED_END = re.compile(
    rf"(?P<stop>[.?!…{STOPS}]['\"*_{re.escape(CLOSERS)}]{{0,5}})\u200b?"
    rf"(?P<marks>(?:(?<=[.?!'\"*_{re.escape(CLOSERS)}])(?:{TIGHT_MARK}|(?P<bare>{_BARE})(?=\s|$)))?+"
    rf"(?:[ \t\u00a0]{{0,2}}{MARK}){{0,20}}+)(?<![.?!…{STOPS}'\"*_])"
)
_SPACE = re.compile(r"\s*")
_LOOK = 48
"""Characters before a place that are looked at; an abbreviation is shorter."""
_TOKEN = re.compile(r"(?:^|(?<=[\s(\[{\"'“‘„«/\u2013\u2014]))[^\s(\[{\"'“‘„«/\u2013\u2014]*$")  # noqa: RUF001
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.){1,6}[^\W\d_]{1,3}")
_LETTERS = re.compile(r"[^\W\d_]+")
_ONE_LETTER = re.compile(r"(\w)\.")
_NUMERAL = re.compile(r"[IVXLC]{1,6}\b")
_NAME_MARKS = re.compile(rf"[?!]{{1,3}}['\"*_{re.escape(CLOSERS)}]{{0,5}}$")
"""What stands at the end of a question or a call, or of a name such as `Yahoo!`."""
_OPENED_BEFORE = re.compile(r"[.?!…][^\s\w]{0,5}\s+(?P<quote>[«„“‹‘(\[{¿¡]{1,3})\s*$")  # noqa: RUF001
_CLOSED_HERE = re.compile(rf"['\"*_~{re.escape(CLOSERS)}]{{1,5}}")
_FARTHEST = 2_000
"""Characters before a place in which a mark of emphasis is looked for that it closes."""
_QUOTED_END = re.compile(rf"[.?!…]\s?['\"{re.escape(CLOSERS)}]{{1,3}}\s*$")
_SPLIT_NUMBER = re.compile(r"(?:^|[^\w.,])\d{1,3}\.[ \t]*\r?\n[ \t]*$")
_REST_OF_NUMBER = re.compile(r"\d{1,3}(?![\w.)]|,\d)")
_IN_PARENTHESES = re.compile(r"\([^()]{0,48}$")
_YEAR = re.compile(
    r"(?:(?:c|ca|circa|about|before|after)\b\.?\s)?(?:\d{1,2}\.?\s)?"
    r"(?:[^\W\d_]{3,12}\.?\s)?(?:\d{1,2},\s)?\d{2,4}(?!\w)"
)
"""A year, or a day in one, such as stands behind `(b. `."""
_OPENED = "([{\"'“‘„«¿¡*_"  # noqa: RUF001


def begun(text: str, start: int, end: int, punkt: Iterable[int]) -> list[int]:
    """Return where sentences begin in a block, without its own beginning, in order.

    Args:
        text: The text.
        start: Where the block begins.
        end: The offset behind it.
        punkt: Where Punkt begins sentences in it.
    """
    moved = (_moved(text, start, place, end) for place in punkt)
    places = {place for place in moved if place and not _is_inside(text, start, place, end)}
    is_ascii = text.isascii()
    if not is_ascii:
        places.update(_behind_other_stops(text, start, end))
    for found in _MARKED_END.finditer(text, start, end):
        if found["marks"]:
            _keep_marks(text, start, end, found, places)
    if not is_ascii:
        places.update(begun_unmarked(text, start, end, places))
    return sorted(place for place in places if start < place < end)


def _moved(text: str, start: int, place: int, end: int) -> int | None:
    """Return where a sentence begins that Punkt begins at a place; None: nowhere.

    Punkt takes a mark of emphasis, or a quote, for the beginning of what follows the full stop
    when it closes what stands before, and leaves a quote that opens with the sentence before.
    """
    before = text[max(start, place - _LOOK) : place]
    opened = _OPENED_BEFORE.search(before)
    if opened is not None:
        return place - len(before) + opened.start("quote")
    closed = _CLOSED_HERE.match(text, place, end)
    if closed is None or before[-1:].isspace():
        return place
    mark, behind = closed.group(), closed.end()
    following = text[behind : behind + 1]
    opens_none = text.count(mark[0], max(start, place - _FARTHEST), place) % 2 == 0
    if following and not following.isspace() and opens_none and mark[0] in "*_\"'":
        return place  # it opens what follows
    if following.isalnum() and not following.isupper():
        return None  # what was said is part of a sentence that goes on, as in Korean
    return _next(text, behind, end)


def _behind_other_stops(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where sentences begin behind full stops that Punkt does not know."""
    quotes = 0
    counted = start
    for found in _OTHER_END.finditer(text, start, end):
        behind = found.end()
        if text[found.start()] in "．।" and _is_between_digits(text, found, end):  # noqa: RUF001
            continue
        quotes += text.count('"', counted, behind)
        counted = behind
        if text[behind : behind + 1] == '"' and quotes % 2:
            behind, counted, quotes = behind + 1, behind + 1, quotes + 1
        following = text[behind : min(behind + 2, end)]
        is_said = text[behind - 1] not in "。｡" and _QUOTATIVE.match(following)
        goes_on = text[found.start()] == "\u037e" and _begins_small(text, behind, end)
        if not (is_said or goes_on or _GOES_ON.match(following)):
            yield _next(text, behind, end)
    for found in _GREEK_QUESTION.finditer(text, start, end):
        if not _begins_small(text, found.end(), end):
            yield _next(text, found.end(), end)
    for found in _ASCII_END.finditer(text, start, end):
        yield found.end()


def _is_between_digits(text: str, found: re.Match[str], end: int) -> bool:
    around = text[found.start() - 1 : found.start()] + text[found.end() : min(found.end() + 1, end)]
    return len(around) == 2 and around.isdigit()


def _keep_marks(text: str, start: int, end: int, found: re.Match[str], places: set[int]) -> None:
    """Leave marks behind a full stop with the sentence before them."""
    stop, behind = found.start("stop"), found.end("marks")
    following = _next(text, behind, end)
    if found["bare"] and not _is_bare_mark(text, start, found, following):
        return
    is_lower = text[following : following + 1].islower()
    if is_lower and text[found.start("marks")].isspace():
        return  # the mark is the subject of what follows: "[2] says so"
    inside = [place for place in range(stop + 1, behind + 1) if place in places]
    places.difference_update(inside)
    is_sure = bool(inside) or not (is_lower or _is_short_form(text, start, stop))
    if following < end and is_sure and (following > behind or not is_lower):
        places.add(following)


def without_bare_mark(text: str, start: int, end: int) -> int:
    """Return where a sentence ends without numbers behind its full stop that were a mark."""
    found = _BARE_END.search(text, max(start, end - 2 * _LOOK), end)
    is_mark = found is not None and _is_bare_mark(text, start, found, end)
    return found.end("stop") if found is not None and is_mark else end


_BARE_END = re.compile(rf"(?P<stop>[.?!]['\"*_{re.escape(CLOSERS)}]{{0,5}})(?P<bare>{_BARE})$")


def _is_bare_mark(text: str, start: int, found: re.Match[str], following: int) -> bool:
    """Return whether numbers behind a full stop are no part of a name such as `Fig.3`."""
    stop = found.start("stop")
    first = text[following : following + _LOOK].lstrip(_OPENED)[:1]
    word = _word_before(text, start, stop)
    is_word = word.isalpha() and (len(word) > 2 or word in STARTERS)
    is_short = word in TITLES or word in NUMBERED or _is_short_form(text, start, stop)
    return is_word and not is_short and not (first.islower() or first.isdigit())


def _begins_small(text: str, place: int, end: int) -> bool:
    """Return whether what follows a place begins with a small letter."""
    following = _next(text, place, end)
    return text[following : following + 1].islower()


def _is_short_form(text: str, start: int, stop: int) -> bool:
    """Return whether the word before a full stop is an abbreviation."""
    word = _word_before(text, start, stop)
    is_known = word in NEVER_LAST or word in INNER
    return text[stop] == "." and (is_known or _DOTTED.fullmatch(word) is not None)


def _is_inside(text: str, start: int, place: int, end: int) -> bool:
    """Return whether no sentence begins at a place where Punkt begins one."""
    return (
        _goes_on(text, start, place, end)
        or _is_in_name(text, start, place, end)
        or _is_said(text, start, place, end)
        or _is_in_number(text, start, place, end)
    )


def _is_said(text: str, start: int, place: int, end: int) -> bool:
    """Return whether a sentence goes on behind what it quotes: `"Go." he said`."""
    before = text[max(start, place - _LOOK) : place]
    has_capitals = text[start : start + _LOOK].lower() != text[start : start + _LOOK]
    return has_capitals and text[place : place + 1].islower() and bool(_QUOTED_END.search(before))


def _is_in_number(text: str, start: int, place: int, end: int) -> bool:
    """Return whether a line ends at the point of a number: `4.` and `5 euros`."""
    before = text[max(start, place - _LOOK) : place]
    is_split = _SPLIT_NUMBER.search(before) is not None
    return is_split and _REST_OF_NUMBER.match(text, place, end) is not None


def _is_in_name(text: str, start: int, place: int, end: int) -> bool:
    """Return whether a `?` or `!` belongs to a name or a title: `Yahoo! Inc.`, `Jeopardy! was`.

    What goes on in small letters is the same sentence, where somebody writes with capitals.
    """
    before = text[max(start, place - _LOOK) : place].rstrip()
    found = _NAME_MARKS.search(before)
    following = text[place : min(place + _LOOK, end)].lstrip(f"{_OPENED} ")
    word = _LETTERS.match(following)
    if found is None or word is None:
        return False
    name, first = _TOKEN.search(before[: found.start()]), word.group()
    marked = name.group().strip("*_") if name else ""
    if first.islower():
        return marked[:1].isupper() or text[start : start + 1].isupper()
    behind = first.casefold()
    is_name = behind in COMPANY or (marked.casefold() in MARKED and behind not in STARTERS)
    return is_name and marked[:1].isupper()


def _goes_on(text: str, start: int, place: int, end: int) -> bool:
    """Return whether the sentence before a place goes on there: its last full stop ends nothing."""
    stop = len(text[max(start, place - _LOOK) : place].rstrip()) + max(start, place - _LOOK) - 1
    if stop < start or text[stop] != ".":
        return False
    word = _word_before(text, start, stop)
    following = text[place : min(place + _LOOK, end)].lstrip(_OPENED)
    if not word or not following:
        return False
    if word in NEVER_LAST or (
        word in {"ex", "ej"} and _word_before_that(text, start, stop) in {"p", "par", "por"}
    ):
        return True
    if _is_spaced(text, start, stop, word, following) or _is_dated(
        text, start, stop, word, following
    ):
        return True
    if following[0].isdigit():
        return word in NUMBERED or word in INNER
    first = _LETTERS.match(following)
    name = first.group().casefold() if first else ""
    if following[0].islower():
        return _is_inner(text, start, stop, word, name)
    if word in NUMBERED and _NUMERAL.match(following):
        return True
    if (word in TITLES and name not in STARTERS) or (word in COMPANY and name in COMPANY):
        return True
    if word.isdigit() and len(word) <= 2:
        return name in MONTHS or (
            _word_before_that(text, start, stop) in ORDINAL_AFTER and name not in STARTERS
        )
    if word in {"mio", "mrd", "tsd"}:
        return name not in STARTERS
    return len(word) == 1 and word.isalpha() and _is_initial(text, start, stop, name)


def _is_spaced(text: str, start: int, stop: int, word: str, following: str) -> bool:
    """Return whether a letter is one of an abbreviation with a space in it: "z. B.", "e. g."."""
    if len(word) != 1:
        return False
    behind = _ONE_LETTER.match(following)
    before = _word_before_that(text, start, stop)
    pairs = {f"{before}.{word}", f"{word}.{behind[1].casefold()}" if behind else ""}
    return not pairs.isdisjoint(NEVER_LAST)


def _is_dated(text: str, start: int, stop: int, word: str, following: str) -> bool:
    """Return whether a word stands before a year in parentheses: `(b. 1921; d. 3 May 1980)`."""
    is_word = word in DATED and _YEAR.match(following) is not None
    return is_word and _IN_PARENTHESES.search(text[max(start, stop - _LOOK) : stop]) is not None


def _is_inner(text: str, start: int, stop: int, word: str, following: str) -> bool:
    """Return whether a word with a full stop ends nothing before a lower-case letter."""
    is_known = word in INNER or word in NUMBERED or word in TITLES
    if is_known or (len(word) == 1 and word.isalpha()) or _DOTTED.fullmatch(word):
        return True
    if word.isdigit() and len(word) <= 2:
        return following in ORDINAL_AND
    before = _word_before_that(text, start, stop)
    return len(word) <= 5 and before[-1:].isdigit() and word.isalpha()


def _is_initial(text: str, start: int, stop: int, following: str) -> bool:
    """Return whether a single letter with a full stop is part of a name that goes on."""
    letter = text[stop - 1]
    if not letter.isupper():
        return not letter.islower()  # of a script without case: a title such as that of a doctor
    before = _word_before_that(text, start, stop)
    is_name = before in NAME_AFTER or before in TITLES or not before or before[-1:] in ",("
    is_name = is_name or (len(before) == 1 and before.isalpha() and before not in "ai")
    return is_name and following not in STARTERS


def _word_before(text: str, start: int, stop: int) -> str:
    """The word before a full stop, folded and without it."""
    found = _TOKEN.search(text[max(start, stop - _LOOK) : stop])
    return found.group().casefold().strip("*_") if found else ""


def _word_before_that(text: str, start: int, stop: int) -> str:
    """The word before that word, folded and without a full stop at its end."""
    found = text[max(start, stop - _LOOK) : stop].split()
    return found[-2].casefold().rstrip(".").lstrip("([\"'“‘„«") if len(found) > 1 else ""  # noqa: RUF001


def _next(text: str, place: int, end: int) -> int:
    """Return where the next character stands that is not whitespace."""
    found = _SPACE.match(text, place, end)
    return found.end() if found else place

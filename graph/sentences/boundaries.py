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

STOPS = "。｡．！？︒︕︖﹒﹖﹗।॥؟۔։።፧፨။។៕༎᠃᠉܀܁܂߹᱾᱿꯫꧈꧉⁇⁈⁉‼‽"  # noqa: RUF001
"""Marks that end a sentence, besides those of ASCII."""

CLOSERS = "”’»›」』）】》〉〕］｝)]}"  # noqa: RUF001
"""What closes what stands around a sentence, behind its full stop."""

UNSPACED = (
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u0e00-\u0eff\u1000-\u109f"
    "\u1780-\u17ff\u0f00-\u0fff\U00020000-\U000323af"
)
"""Ranges of letters that are written without spaces between words, for a character class."""

_OTHER_END = re.compile(rf"[{STOPS}][{STOPS}.?!…]{{0,20}}[{re.escape(CLOSERS)}]{{0,5}}")
_ASCII_END = re.compile(
    rf"(?<=[{UNSPACED}])[.?!]{{1,5}}[{re.escape(CLOSERS)}]{{0,5}}(?=[{UNSPACED}])"
)
_GOES_ON = re.compile(r"[,;:，、；：]")  # noqa: RUF001
_QUOTATIVE = re.compile(r"と|って")

_NUMBERS = r"\^?\d{1,4}[a-z]?(?:\s?[,;\u2013-]\s?\^?\d{1,4}[a-z]?){0,30}"
MARK = (
    rf"(?>\[\[?{_NUMBERS}\]?\](?:\([^()\s]{{1,500}}\))?"
    r"|\[(?:Data|Sources?|Quellen?|Reports?|Entities|Relationships?|Claims|citation needed)\b"
    r"[^\[\]\n]{0,500}\]"
    r"|\[[^\W\d_][\w.&,' -]{1,60}\b\d{4}[a-z]?\]"
    r"|【[^【】\n]{1,200}】"
    r"|<sup>[^<>\n]{1,40}</sup>"
    r"|[¹²³⁰⁴-⁹]{1,20}(?:[,⁻˒][¹²³⁰⁴-⁹]{1,4}){0,9})"
)
"""A mark that names the source of a sentence: `[1]`, `[Data: Reports (2)]`, `¹`."""

_MARKED_END = re.compile(
    rf"(?P<stop>[.?!…{STOPS}]['\"*_{re.escape(CLOSERS)}]{{0,5}})"
    rf"(?P<marks>(?:[ \t\u00a0]{{0,2}}{MARK}){{1,20}}+)"
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
_OPENED = "([{\"'“‘„«¿¡*_"  # noqa: RUF001


def begun(text: str, start: int, end: int, punkt: Iterable[int]) -> list[int]:
    """Return where sentences begin in a block, without its own beginning, in order.

    Args:
        text: The text.
        start: Where the block begins.
        end: The offset behind it.
        punkt: Where Punkt begins sentences in it.
    """
    places = {place for place in punkt if not _is_inside(text, start, place, end)}
    places.update(_behind_other_stops(text, start, end))
    for found in _MARKED_END.finditer(text, start, end):
        _keep_marks(text, start, end, found, places)
    return sorted(place for place in places if start < place < end)


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
        if not (is_said or _GOES_ON.match(following)):
            yield _next(text, behind, end)
    for found in _ASCII_END.finditer(text, start, end):
        yield found.end()


def _is_between_digits(text: str, found: re.Match[str], end: int) -> bool:
    around = text[found.start() - 1 : found.start()] + text[found.end() : min(found.end() + 1, end)]
    return len(around) == 2 and around.isdigit()


def _keep_marks(text: str, start: int, end: int, found: re.Match[str], places: set[int]) -> None:
    """Leave marks behind a full stop with the sentence before them."""
    stop, behind = found.start("stop"), found.end("marks")
    following = _next(text, behind, end)
    is_lower = text[following : following + 1].islower()
    if is_lower and text[found.start("marks")].isspace():
        return  # the mark is the subject of what follows: "[2] says so"
    inside = [place for place in range(stop + 1, behind + 1) if place in places]
    places.difference_update(inside)
    is_sure = bool(inside) or not (is_lower or _is_short_form(text, start, stop))
    if following < end and is_sure and (following > behind or not is_lower):
        places.add(following)


def _is_short_form(text: str, start: int, stop: int) -> bool:
    """Return whether the word before a full stop is an abbreviation."""
    word = _word_before(text, start, stop)
    is_known = word in NEVER_LAST or word in INNER
    return text[stop] == "." and (is_known or _DOTTED.fullmatch(word) is not None)


def _is_inside(text: str, start: int, place: int, end: int) -> bool:
    """Return whether no sentence begins at a place where Punkt begins one."""
    return _goes_on(text, start, place, end) or _is_in_name(text, start, place, end)


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
    if _is_spaced(text, start, stop, word, following):
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

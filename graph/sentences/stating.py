"""The sentences of a text that state something, and the words of them that do.

Where no language model extracts claims, these are the claims of an answer. Headings, greetings,
questions, announcements ("Here is the answer:"), lists of references and code state nothing. The
rules look at form and at set phrases; what a sentence means they do not know.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import Sentence
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.sentences.boundaries import (
    CLOSERS,
    MARK,
    STOPS,
    TIGHT_MARK,
    without_bare_mark,
)
from veritrail_graph.graph.sentences.phrases import ASIDE, LEAD_IN, REFERENCES, WHOLE
from veritrail_graph.graph.sentences.unmarked import UNSPACED

FEWEST_WORDS = 3
"""Words of a statement; two are enough where a full stop ends them."""

_MOST_HEADING_WORDS = 6
_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_OPENS = re.compile(
    r"(?:>\s?|#{1,6}\s+|[-*+\u2022\u2023\u25e6\u25aa\u25cf\u25a0\u25c6\u27a4\u2013\u00b7]\s+"
    r"|\[[ xX]\]\s+|\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[A-Za-z]|[ivxIVX]{1,5})[.)]\s+"
    r"|[\u2460-\u2473]\s?|[(\uff08]?\d{1,3}[\u3001\uff0e\uff09]\s?|[一二三四五六七八九十]{1,3}、\s?)"
)
_ITEM = re.compile(
    r"[ \t]*(?:>\s?)*(?:[-*+\u2022\u2023\u25e6\u25aa\u25cf\u25a0\u25c6\u27a4\u2013]\s"
    r"|\(?(?:\d{1,3}|[A-Za-z])[.)]\s|\uff08?\d{1,3}[\u3001\uff0e\uff09])"
)
_EMPHASIS = re.compile(r"\*{1,3}|_{1,3}|~~|`")
_TRAILING_MARKS = re.compile(
    rf"(?:(?<=[.?!'\"*_{re.escape(CLOSERS)}]){TIGHT_MARK}$"
    rf"|(?:\s{{0,2}}{MARK}){{1,20}}+(?P<dots>[.!?…{STOPS}]*)$)"
)
_ENDING = rf"['\"*_{re.escape(CLOSERS)}\s]*$"
_ASKS = re.compile(rf"[?？؟⁇⁈;\u037e፧\u055e]{_ENDING}")  # noqa: RUF001
_ASKS_JAPANESE = re.compile(rf"(?:です|ます|でしょう|ません|ました)か[。？?]?{_ENDING}")  # noqa: RUF001
_ANNOUNCES = re.compile(rf"[:：]{_ENDING}")  # noqa: RUF001
_ENDS = re.compile(rf"[.!…{STOPS}]{_ENDING}")
_FULL_STOP = re.compile(rf"[.{STOPS}]{_ENDING}")
_HEADING = re.compile(r"#{1,6}\s")
_UNDERLINED = re.compile(r"\n[ \t]*(?:={2,}|-{2,})[ \t]*$")
_REFERENCE = re.compile(r"\[\^?\d{1,4}\]:?\s")
_ADDRESS = re.compile(r"(?:!?\[[^\[\]\n]{0,300}\]\([^()\s]{1,1000}\)|<?https?://\S+>?|www\.\S+)")
_BAR = re.compile(r"(?<!\\)\|")
_PAIR = re.compile(r"[^\W\d_][^:：\n]*[:：]\s?\D{0,3}\d")  # noqa: RUF001
"""A name and its figure, `Cars: 48`, which is enough however few words it has."""
_RULED = re.compile(r"\|?[\s:|+-]+$")
_WORD = re.compile(r"[^\W_]+(?:['’.,:/-][^\W_]+)*")  # noqa: RUF001
_UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Statement:
    """A part of a text that states something; `start` and `end` count code points of the text.

    Its words are those of the text, but for a row of a table, to which the names of the columns
    are put: `Ship: Tern, Cars: 48`.
    """

    text: str
    start: int
    end: int


def statements(text: str, splitter: SentenceSplitter) -> list[Statement]:
    """Return what the sentences of a text state, first to last.

    Args:
        text: The text, such as an answer in Markdown.
        splitter: Cuts it into sentences.
    """
    sentences = splitter.split("", text)
    found: list[Statement] = []
    code = list(_code(text))
    starts = [start for start, _ in code]
    in_references = False
    table = _Table()
    for place, sentence in enumerate(sentences):
        is_row = table.read(text, sentence)
        block = bisect_right(starts, sentence.start)
        if block and sentence.start < code[block - 1][1]:
            continue
        is_heading = _is_heading(text, sentences, place)
        if is_heading or _ANNOUNCES.search(sentence.text):
            bare = sentence.text.strip("#*_ \t:：").casefold()  # noqa: RUF001
            if REFERENCES.fullmatch(bare):
                in_references = True
            elif is_heading:
                in_references = False
        if in_references or is_heading:
            continue
        statement = table.stated(text, sentence) if is_row else _stated(text, sentence)
        if statement is not None:
            found.append(statement)
    return found


def word_count(text: str) -> int:
    """Return about how many words a text has, also where no spaces stand between them."""
    unspaced = sum(len(run.group()) for run in _UNSPACED_RUN.finditer(text))
    spaced = _UNSPACED_RUN.sub(" ", text) if unspaced else text
    return sum(1 for _ in _WORD.finditer(spaced)) + (unspaced + 1) // 2


def _code(text: str) -> Iterator[tuple[int, int]]:
    """Yield where blocks of code stand; one that is not closed goes on to the end."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence.group(1).startswith(opened.group(1)):
            yield opened.start(), fence.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


def _is_heading(text: str, sentences: Sequence[Sentence], place: int) -> bool:
    """Return whether a sentence is a heading: by its marks, or as a short line above others."""
    sentence = sentences[place]
    words = sentence.text
    if _HEADING.match(words) or _UNDERLINED.search(words):
        return True
    if not _opens_line(text, sentence.start) or _ITEM.match(words) or words.startswith("|"):
        return False
    bare = words.strip()
    if len(bare) > 120 or _ENDS.search(bare) or _ASKS.search(bare) or _ANNOUNCES.search(bare):
        return False
    is_bold = bare.startswith(("**", "__")) and bare.endswith(("**", "__"))
    if is_bold and bare.count(bare[:2]) == 2:
        return True
    if place + 1 == len(sentences) or "\n" not in text[sentence.end : sentences[place + 1].start]:
        return False
    if bare.isupper():
        return True
    is_short = word_count(bare) <= _MOST_HEADING_WORDS and not any(map(str.isdigit, bare))
    following = sentences[place + 1].text
    is_note = _UNSPACED_RUN.match(bare) and _UNSPACED_RUN.match(following)
    if is_note and 2 * len(bare) > len(following):
        return False  # notes of short lines without a full stop
    return is_short or _is_title_case(bare)


def _is_title_case(words: str) -> bool:
    long = [word.group() for word in _WORD.finditer(words) if len(word.group()) > 3]
    return bool(long) and all(word[0].isupper() or word[0].isdigit() for word in long)


def _opens_line(text: str, start: int) -> bool:
    """Return whether only whitespace stands before a place in its line."""
    return not text[text.rfind("\n", max(0, start - 40), start) + 1 : start].strip()


def _stated(text: str, sentence: Sentence) -> Statement | None:
    """Return what a sentence states; None: nothing."""
    start, end = sentence.start, sentence.end
    if _opens_line(text, start):
        if _REFERENCE.match(text, start, end):
            return None
        while (mark := _OPENS.match(text, start, end)) is not None:
            start = mark.end()
    start, end = _without_marks(text, start, end)
    lead = LEAD_IN.match(text, start, end)
    if lead is not None:
        start = lead.end()
    start, end = _without_marks(text, start, end)
    words = text[start:end]
    if not _LETTER.search(words) or _is_aside(words):
        return None
    return Statement(words, start, end)


class _Table:
    """Reads the rows of tables, top-down: the row above the ruled line names the columns."""

    def __init__(self) -> None:
        self.columns: tuple[str, ...] = ()
        self.is_open = False  # whether the row before is of the same table
        self.has_rows_before = False

    def read(self, text: str, sentence: Sentence) -> bool:
        """Note a sentence; return whether it is a row of a table."""
        if not text.startswith("|", sentence.start):
            self.is_open = self.has_rows_before = False
            self.columns = ()
            return False
        self.has_rows_before = self.is_open
        self.is_open = True
        rows = sentence.text.splitlines()
        if len(rows) > 1 and _RULED.fullmatch(rows[-1].strip()):
            self.columns = tuple(words for words, _, _ in _cells(rows[0]))
        return True

    def stated(self, text: str, sentence: Sentence) -> Statement | None:
        """Return what a row states: one with two cells, or of enough words where it is the first.

        The first row of a table without a ruled line may be the names of its columns.
        """
        rows = sentence.text.splitlines()
        if len(rows) > 1 or _RULED.fullmatch(rows[0]):
            return None
        cells = _cells(rows[0])
        filled = [cell for cell in cells if any(map(str.isalnum, cell[0]))]
        if len(filled) < 2:
            return None
        start, end = sentence.start + filled[0][1], sentence.start + filled[-1][2]
        if len(cells) == len(self.columns):
            named = zip(self.columns, cells, strict=True)
            words = ", ".join(
                f"{name}: {cell[0]}" if name else cell[0] for name, cell in named if cell in filled
            )
        else:
            words = text[start:end]
            if not self.has_rows_before and word_count(words) < FEWEST_WORDS:
                return None
        return Statement(words, start, end) if _LETTER.search(words) else None


def _cells(row: str) -> list[tuple[str, int, int]]:
    """The cells of a row, without emphasis and marks of citations: words, start and end in it."""
    edges = [bar.start() for bar in _BAR.finditer(row)]
    if not row.rstrip().endswith("|") or edges[-1] == 0:
        edges.append(len(row))
    cells = []
    for left, right in itertools.pairwise(edges):
        start, end = _trimmed(row, left + 1, right)
        words = row[slice(*_without_marks(row, start, end))]
        cells.append((" ".join(words.replace("\\|", "|").split()), start, end))
    return cells


def _is_aside(words: str) -> bool:
    """Return whether words state nothing: too few, a question, an announcement, a set phrase."""
    if _ASKS.search(words) or _ASKS_JAPANESE.search(words) or _ANNOUNCES.search(words):
        return True
    count = word_count(words)
    is_short = count < FEWEST_WORDS and not _PAIR.match(words)
    if is_short and not (count == FEWEST_WORDS - 1 and _FULL_STOP.search(words)):
        return True
    bare = " ".join(words.strip(" \"'“”«»*_!.…").replace("’", "'").split())  # noqa: RUF001
    if ASIDE.match(bare) or WHOLE.fullmatch(bare.rstrip(STOPS + CLOSERS + "!.,;~ ")):
        return True
    return not _LETTER.search(_ADDRESS.sub("", words))


def _without_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without emphasis, symbols and marks of citations at its ends."""
    for _ in range(4):
        before = start, end
        marks = _TRAILING_MARKS.search(text, max(start, end - 600), end)
        if marks is not None and not marks.group("dots"):
            end = marks.start()
        end = without_bare_mark(text, start, end)
        start, end = _trimmed(text, start, end)
        while start < end and unicodedata.category(text[start]) in {"So", "Sk", "Cf", "Mn"}:
            start += 1
        start, end = _without_emphasis(text, *_trimmed(text, start, end))
        if (start, end) == before:
            break
    return start, end


def _without_emphasis(text: str, start: int, end: int) -> tuple[int, int]:
    """A span without marks of emphasis at an end that belong to no others inside."""
    opening = _EMPHASIS.match(text, start, end)
    if opening is not None:
        mark = opening.group()
        inner = text.find(mark, opening.end(), end)
        if inner < 0:
            return opening.end(), end
        if inner + len(mark) >= end:
            return opening.end(), inner
        if inner + len(mark) == end - 1 and text[end - 1] in ".!…":
            return start, end  # the full stop stands behind the mark
    for mark in ("***", "**", "__", "~~", "*", "_", "`"):
        if text.endswith(mark, start, end) and text.count(mark, start, end) == 1:
            return start, end - len(mark)
    return start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end

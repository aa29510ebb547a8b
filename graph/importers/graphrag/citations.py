"""The citations of a text, and the rows that a query was given: numbers by table.

Citations are those that GraphRAG asks its models for:
`[Data: Reports (1, 2, +more); Entities (5)]`, and `[records: Entities (5)]` as its prompt tuning
asked for up to 2.0, also as models write them in other languages and without brackets. A row may
be cited by its title, `Entities (HARBOUR)`, a relationship by both: `Relationships (A -> B)`.
Numbers in brackets without a table belong to the table before them:
`[Data: Sources (17), (15)]`; `(52-83)` is each number from 52 to 83. The numbers are those of the
tables in the prompt (column `id` there), which GraphRAG fills from

- Reports: `community` of the report (equal to its `human_readable_id` in all generations),
- Entities, Relationships, Claims: `human_readable_id`,
- Sources: the place of the text unit in its table, counted from 0. It is NOT the
  `human_readable_id`, which counts from 1 before 3.x.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from veritrail_graph.graph.importers.graphrag.tables import (
    COVARIATE,
    ENTITY,
    RELATIONSHIP,
    REPORT,
    TEXT_UNIT,
    as_number,
)

KIND_OF_NAME: Mapping[str, str] = {
    "report": REPORT,
    "reports": REPORT,
    "community reports": REPORT,
    "entity": ENTITY,
    "entities": ENTITY,
    "relationship": RELATIONSHIP,
    "relationships": RELATIONSHIP,
    "source": TEXT_UNIT,
    "sources": TEXT_UNIT,
    "text units": TEXT_UNIT,
    "claim": COVARIATE,
    "claims": COVARIATE,
    "covariate": COVARIATE,
    "covariates": COVARIATE,
    **dict.fromkeys(("berichte", "rapports", "informes", "relatórios", "rapporti"), REPORT),
    **dict.fromkeys(("отчёты", "отчеты", "报告", "社区报告", "報告", "レポート", "보고서"), REPORT),
    **dict.fromkeys(("entitäten", "entités", "entidades", "entità", "сущности"), ENTITY),
    **dict.fromkeys(("实体", "實體", "エンティティ", "엔티티", "개체"), ENTITY),
    **dict.fromkeys(("beziehungen", "relations", "relaciones", "relações"), RELATIONSHIP),
    **dict.fromkeys(("relazioni", "отношения", "关系", "關係", "関係", "관계"), RELATIONSHIP),
    **dict.fromkeys(("quellen", "fuentes", "fontes", "fonti", "источники"), TEXT_UNIT),
    **dict.fromkeys(("来源", "來源", "ソース", "情報源", "출처"), TEXT_UNIT),
}
"""Kind of node by the name of the table in a prompt, in lower case."""

NAME_OF_KIND: Mapping[str, str] = {
    REPORT: "Reports",
    ENTITY: "Entities",
    RELATIONSHIP: "Relationships",
    TEXT_UNIT: "Sources",
    COVARIATE: "Claims",
}
"""How GraphRAG calls a kind of node in a citation."""

_DATA = r"(?:Data|Records?|Daten|Données|Datos|Dados|Dati|Данные|数据|資料|数據|データ|데이터)"
_BLOCK = re.compile(rf"\[\^?\s*{_DATA}\s*[:：]([^\[\]]*)\]", re.IGNORECASE)  # noqa: RUF001
# As some models write them: what the numbers mean is not known.
_FOREIGN = re.compile(
    r"\[\s*((?:Sources?|Reports?|Entities|Relationships|Claims)\s*:[^\[\]]{0,400}\d[^\[\]]{0,400})\]"
    r"|\[\^?\s*([^\W\d_]{1,20}\s?[:：]\s?[^\W\d_]{1,20}\s?[(（]\d{1,6}"  # noqa: RUF001
    r"(?:[,，、;；\s]{1,3}\d{1,6}){0,50}[)）])\^?\s*\]",  # noqa: RUF001
    re.IGNORECASE,
)
_PREFIX = re.compile(rf"^\s*{_DATA}\s*:", re.IGNORECASE)
_DIGITS = re.compile(r"-?[0-9]{1,18}")  # community -1 holds what is in no other (0.9 to 1.1)
_RANGE = re.compile(
    r"([0-9]{1,18})\s{0,9}(?:[-\u2010-\u2015\u2212]|\.{2,3}|to|through)\s{0,9}([0-9]{1,18})"
)
_WIDEST = 1_000
"""Numbers that a range may name; a wider one is no citation of rows that were read."""
_EDGE = " \t\r\n;,.^"
_ASCII = str.maketrans("（）：；，、", "():;,,")  # noqa: RUF001
_PART = re.compile(r"[()]")
_WITHOUT_BRACKETS = re.compile(
    r"([^\d:#,-][^:#,]{0,60}?)\s{0,9}(?:[:#]\s{0,9}(.+)|(-?\d.*))", re.DOTALL
)
_PIECE = re.compile(r"\s*(?:\"([^\"]*)\"|“([^“”]*)”|([^,;]*))\s*(?:[,;]|$)")
_NUMBER_BEHIND = re.compile(r"\s{0,9}\((?:id:?\s{0,9})?\d{1,18}\)$", re.IGNORECASE)
_ENDS = re.compile(r"\s{0,9}(?:<?[-=]{1,2}>|[→↔⟶|\u2013\u2014]|\s-{1,2}\s)\s{0,9}")
_LONGEST_NAME = 6
"""Pieces between commas that a name may have."""

Titles = Callable[[str, str], Sequence[str]]
"""The nodes of a kind that a folded name means."""


def folded_name(name: str) -> str:
    """A name as names are compared: without case, quotes and blanks that say nothing."""
    plain = unicodedata.normalize("NFKC", name).translate(_ASCII).casefold()
    return " ".join(plain.translate(_QUOTES).replace(",", " , ").split())


def folded_ends(source: str, target: str) -> str:
    """The folded name of a relationship."""
    return f"{folded_name(source)} -> {folded_name(target)}"


_QUOTES = str.maketrans("", "", "\"'`´‘’“”„«»「」『』")  # noqa: RUF001


def _no_titles(kind: str, name: str) -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Citations:
    """The citations of a text.

    Attributes:
        numbers: Cited numbers by kind of node, each once, in order of appearance.
        more: Kinds that the text cites with `+more`: it rests on others that it does not name.
        unread: Pieces of citations that name no table, number or title that is known.
        named: Nodes that are cited by their titles, each once.
    """

    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    more: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.numbers or self.named)

    def joined(self, numbers: Mapping[str, tuple[int, ...]]) -> Citations:
        """These citations and those `numbers`."""
        kinds = dict.fromkeys((*self.numbers, *numbers))
        merged = {
            kind: tuple(dict.fromkeys((*self.numbers.get(kind, ()), *numbers.get(kind, ()))))
            for kind in kinds
        }
        return replace(self, numbers=merged)


def parse_citations(text: str, titles: Titles = _no_titles) -> Citations:
    """All citations of a text; what cannot be read is kept as `unread`, never guessed.

    Args:
        text: The text.
        titles: What names mean, where the text may cite by name.
    """
    reader = _Reader(titles)
    for block in _BLOCK.finditer(text):
        reader.read(block.group(1).translate(_ASCII))
    for block in _FOREIGN.finditer(text):
        if not _BLOCK.fullmatch(block.group()):
            reader.unread.append(" ".join((block.group(1) or block.group(2)).split()))
    return Citations(
        {kind: tuple(found) for kind, found in reader.numbers.items() if found},
        frozenset(reader.more),
        tuple(dict.fromkeys(reader.unread)),
        tuple(reader.named),
    )


class _Reader:
    """Reads what stands behind `Data:`, and keeps what it found."""

    def __init__(self, titles: Titles) -> None:
        self.titles = titles
        self.numbers: dict[str, dict[int, None]] = {}
        self.more: set[str] = set()
        self.unread: list[str] = []
        self.named: dict[str, None] = {}

    def read(self, block: str) -> None:
        """Read a block: tables, each with its rows in brackets, or behind its name."""
        kind: str | None = None
        for outside, listed in _parts(block):
            *plain, name = outside.split(";")
            for item in plain:
                kind = self._without_brackets(item, kind)
            if listed is None:
                kind = self._without_brackets(name, kind)
                continue
            name = _PREFIX.sub("", name.strip(_EDGE)).strip(_EDGE)
            if _kind(name) is None and "," in name:
                item, _, name = name.rpartition(",")
                kind = self._without_brackets(item, kind)
            name = name.rstrip(":# ").lstrip()
            kind = _kind(name) if name else kind
            if kind is None:
                self.unread.append(f"{name} ({listed})" if name else f"({listed})")
            else:
                self._read_rows(kind, name or NAME_OF_KIND[kind], listed)

    def _without_brackets(self, item: str, before: str | None) -> str | None:
        """Read `Reports 1, 2` or `Entities: 5`; returns its kind."""
        item = _PREFIX.sub("", item.strip(_EDGE)).strip(_EDGE)
        if not item:
            return before
        if before is not None and all(_is_number(piece) for piece in _pieces(item)):
            self._read_rows(before, NAME_OF_KIND[before], item)
            return before
        found = _WITHOUT_BRACKETS.fullmatch(item)
        kind = _kind(found[1]) if found else None
        if found is None or kind is None:
            self.unread.append(item)
            return None
        self._read_rows(kind, found[1].strip(), found[2] or found[3])
        return kind

    def _read_rows(self, kind: str, name: str, listed: str) -> None:
        """Read the rows of one table; a name may hold commas, so that the longest is tried first.

        Args:
            kind: The kind of the table.
            name: What the text calls it.
            listed: Numbers, ranges and names.
        """
        pieces = _pieces(listed)
        found = self.numbers.setdefault(kind, {})
        has_names = not all(_is_number(piece) for piece in pieces)
        done = 0
        while done < len(pieces):
            most = min(len(pieces), done + _LONGEST_NAME) if has_names else done
            for behind in range(most, done, -1):
                if nodes := self._titled(kind, pieces[done:behind]):
                    self.named |= dict.fromkeys(nodes)
                    done = behind
                    break
            else:
                self._read_number(kind, name, pieces[done], found)
                done += 1

    def _read_number(self, kind: str, name: str, item: str, found: dict[int, None]) -> None:
        if _DIGITS.fullmatch(item):
            found[int(item)] = None
        elif span := _range(item):
            found |= dict.fromkeys(span)
        elif _is_more(item):
            self.more.add(kind)
        else:
            self.unread.append(f"{name} ({item})")

    def _titled(self, kind: str, pieces: Sequence[str]) -> Sequence[str]:
        """Return the nodes of a name; none where it is a number."""
        whole = ", ".join(pieces)
        if _is_number(whole) or len(whole) > _LONGEST:
            return ()
        for name in dict.fromkeys((whole, _NUMBER_BEHIND.sub("", whole))):
            if nodes := self.titles(kind, folded_name(name)):
                return nodes
            ends = [*_ENDS.finditer(name)][:4] if kind == RELATIONSHIP else []
            pairs = [(name[: end.start()], name[end.end() :]) for end in ends]
            if kind == RELATIONSHIP and len(pieces) == 2:
                pairs.append((pieces[0], pieces[1]))
            for source, target in pairs:
                nodes = self.titles(kind, folded_ends(source, target))
                if nodes := nodes or self.titles(kind, folded_ends(target, source)):
                    return nodes
        return ()


_LONGEST = 500
"""Characters of a name."""


def _kind(name: str) -> str | None:
    return KIND_OF_NAME.get(" ".join(name.lower().split()))


def _is_more(item: str) -> bool:
    return item.lower().replace(" ", "") in ("+more", "more", "...", "…")


def _is_number(item: str) -> bool:
    return bool(_DIGITS.fullmatch(item) or _RANGE.fullmatch(item) or _is_more(item))


def _pieces(listed: str) -> list[str]:
    """The pieces between commas and semicolons; quotes hold a piece together."""
    found = (
        next((one for one in piece.groups() if one is not None), "").strip(" \t\r\n^")
        for piece in _PIECE.finditer(listed)
    )
    return [piece for piece in found if piece]


def _parts(block: str) -> Iterator[tuple[str, str | None]]:
    """Yield what stands before each pair of brackets, and what is in it; brackets nest."""
    done = opened = depth = 0
    for bracket in _PART.finditer(block):
        if bracket.group() == "(":
            opened = opened if depth else bracket.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield block[done:opened], block[opened + 1 : bracket.start()]
                done = bracket.end()
    if depth:  # never closed
        yield block[done:opened], block[opened + 1 :]
    else:
        yield block[done:], None


def _range(item: str) -> range | None:
    """Return the numbers of `52-83`, the last one too; None: it is no range."""
    ends = _RANGE.fullmatch(item)
    if ends is None:
        return None
    numbers = range(int(ends[1]), int(ends[2]) + 1)
    return numbers if 0 < len(numbers) <= _WIDEST else None


Given = Mapping[str, tuple[int, ...]]
_HEADING = re.compile(r"^-{4,5}([A-Za-z ]{1,40})-{4,5}[ \t]*$", re.MULTILINE)
_ID_KEYS = ("id", "source_id", "short_id", "human_readable_id")
_DEEPEST = 4


def read_context(value: Any, depth: int = 0) -> Given | None:
    """The numbers of the given rows by kind, or None when `value` holds none.

    A DRIFT search has one such object for each of its questions, by question; they are added up.
    """
    if isinstance(value, str):
        return _from_text(value) or None
    if not isinstance(value, Mapping | list) or depth > _DEEPEST:
        return None
    given: dict[str, tuple[int, ...]] = {}
    named = value.items() if isinstance(value, Mapping) else (("", part) for part in value)
    for name, frame in named:
        kind = KIND_OF_NAME.get(str(name).lower())
        if kind:
            _add(given, {kind: tuple(_numbers(frame))})
        elif isinstance(frame, Mapping | list | str):
            _add(given, read_context(frame, depth + 1) or {})
    return given or None


def _add(given: dict[str, tuple[int, ...]], more: Given) -> None:
    for kind, numbers in more.items():
        if numbers:
            given[kind] = tuple(dict.fromkeys((*given.get(kind, ()), *numbers)))


def _numbers(frame: Any) -> Iterator[int]:
    for record in _records(frame):
        # Local search may list candidates beside what fitted into the prompt.
        if str(record.get("in_context", True)).lower() == "false":
            continue
        value = next((record[key] for key in _ID_KEYS if key in record), None)
        number = as_number(value)
        if number is not None:
            yield number


def _records(frame: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(frame, list):
        return [
            record if isinstance(record, Mapping) else {"id": record}
            for record in frame
            if not isinstance(record, list)
        ]
    if not isinstance(frame, Mapping):
        return ()
    columns = {name: _column(values) for name, values in frame.items()}
    length = max(map(len, columns.values()), default=0)
    return [
        {name: values[place] for name, values in columns.items() if place < len(values)}
        for place in range(length)
    ]


def _column(values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    return values if isinstance(values, list) else []


def _from_text(text: str) -> Given:
    given: dict[str, tuple[int, ...]] = {}
    # The text before the first heading is a batch of a global search: reports only.
    parts = _HEADING.split(text)
    for name, table in zip(["reports", *parts[1::2]], parts[0::2], strict=True):
        if kind := KIND_OF_NAME.get(name.strip().lower()):
            _add(given, {kind: tuple(_first_cells(table))})
    return given


def _first_cells(text: str) -> list[int]:
    try:
        table = [row for row in csv.reader(io.StringIO(text), delimiter="|") if row]
    except csv.Error:
        return []
    if not table or table[0][0].strip().lower() not in _ID_KEYS:
        return []
    numbers = (as_number(row[0]) for row in table[1:])
    return [number for number in numbers if number is not None]

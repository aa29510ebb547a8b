"""The citations of a text, and the rows that a query was given: numbers by table.

Citations are those that GraphRAG asks its models for:
`[Data: Reports (1, 2, +more); Entities (5)]`, and `[records: Entities (5)]` as its prompt tuning
asked for up to 2.0. Numbers in brackets without a table belong to the table before them:
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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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

_BLOCK = re.compile(r"\[\s*(?:Data|Records?)\s*:([^\[\]]*)\]", re.IGNORECASE)
# As some models write them: what the numbers mean is not known.
_FOREIGN = re.compile(
    r"\[\s*((?:Sources?|Reports?|Entities|Relationships|Claims)\s*:[^\[\]]{0,400}\d[^\[\]]{0,400})\]",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"^\s*(?:Data|Records?)\s*:", re.IGNORECASE)
_DIGITS = re.compile(r"-?[0-9]{1,18}")  # community -1 holds what is in no other (0.9 to 1.1)
_RANGE = re.compile(
    r"([0-9]{1,18})\s{0,9}(?:[-\u2010-\u2015\u2212]|\.{2,3}|to|through)\s{0,9}([0-9]{1,18})"
)
_WIDEST = 1_000
"""Numbers that a range may name; a wider one is no citation of rows that were read."""
_EDGE = " \t\r\n;,."


@dataclass(frozen=True, slots=True)
class Citations:
    """The citations of a text.

    Attributes:
        numbers: Cited numbers by kind of node, each once, in order of appearance.
        more: Kinds that the text cites with `+more`: it rests on others that it does not name.
        unread: Pieces of citations that name no table or number that is known.
    """

    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    more: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.numbers)

    def joined(self, numbers: Mapping[str, tuple[int, ...]]) -> Citations:
        """These citations and those `numbers`."""
        kinds = dict.fromkeys((*self.numbers, *numbers))
        merged = {
            kind: tuple(dict.fromkeys((*self.numbers.get(kind, ()), *numbers.get(kind, ()))))
            for kind in kinds
        }
        return Citations(merged, self.more, self.unread)


def parse_citations(text: str) -> Citations:
    """All citations of a text; what cannot be read is kept as `unread`, never guessed."""
    numbers: dict[str, dict[int, None]] = {}
    more: set[str] = set()
    unread: list[str] = []
    for block in _BLOCK.finditer(text):
        # A citation may hold several tables, separated by `;` or `,`: the bracket ends each.
        kind = None
        for part in block.group(1).split(")"):
            if part.strip(_EDGE):
                kind = _read_part(part, kind, numbers, more, unread)
    unread += [" ".join(block.group(1).split()) for block in _FOREIGN.finditer(text)]
    return Citations(
        {kind: tuple(found) for kind, found in numbers.items() if found},
        frozenset(more),
        tuple(dict.fromkeys(unread)),
    )


def _read_part(
    part: str,
    before: str | None,
    numbers: dict[str, dict[int, None]],
    more: set[str],
    unread: list[str],
) -> str | None:
    """Read the numbers of one table; returns its kind, which is `before` where none is named."""
    name, bracket, listed = part.partition("(")
    name = _PREFIX.sub("", name.strip(_EDGE)).strip(_EDGE)
    kind = KIND_OF_NAME.get(" ".join(name.lower().split())) if name else before
    if kind is None or not bracket:
        unread.append(part.strip(_EDGE) + (")" if bracket else ""))
        return None
    found = numbers.setdefault(kind, {})
    for piece in listed.replace(";", ",").split(","):
        item = piece.strip()
        if _DIGITS.fullmatch(item):
            found[int(item)] = None
        elif span := _range(item):
            found |= dict.fromkeys(span)
        elif item.lower().replace(" ", "") == "+more":
            more.add(kind)
        elif item:
            unread.append(f"{name or NAME_OF_KIND[kind]} ({item})")
    return kind


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

"""The answer of a query: a text file, or JSON with what the query recorded about it.

JSON may be an object, or a list of which `FILE#N` picks one, with these keys:

- `answer` or `response`: the text; `query` or `question`: what it answers;
- `index`: the index it was asked of; `cited`: numbers by table, beside those in the text;
- `context_data` (or `context_records`, `context_text`): the rows that were given: data frames by
  name of the table (`reports`, `entities`, `relationships`, `claims`, `sources`), each a list of
  records or an object of columns, or the text of the prompt: tables with `|` between the columns,
  each headed by `-----Reports-----`; of a DRIFT search such an object for each question;
- `map_responses`: the answers that a global search combined, each with `response` (a list
  of points `{answer, score}`, or a text) and its own `context_data`;
- `reduce_context_text` (or `reduce_context_data`): the points that fitted into the last prompt.

These are the fields of GraphRAG's SearchResult and GlobalSearchResult.

A key of these that holds something else, and a key that is not known, is named in
`Answer.unread`.

Citations are those that GraphRAG asks its models for:
`[Data: Reports (1, 2, +more); Entities (5)]`, and `[records: Entities (5)]` as its prompt tuning
asked for up to 2.0. Numbers in brackets without a table belong to the table before them:
`[Data: Sources (17), (15)]`. The numbers are those of the tables in the prompt
(column `id` there), which GraphRAG fills from

- Reports: `community` of the report (equal to its `human_readable_id` in all generations),
- Entities, Relationships, Claims: `human_readable_id`,
- Sources: the place of the text unit in its table, counted from 0. It is NOT the
  `human_readable_id`, which counts from 1 before 3.x.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
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
_DIGITS = re.compile(r"[0-9]{1,18}")
_EDGE = " \t\r\n;,."


@dataclass(frozen=True, slots=True)
class Citations:
    """What a text cites.

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
        elif item.lower().replace(" ", "") == "+more":
            more.add(kind)
        elif item:
            unread.append(f"{name or NAME_OF_KIND[kind]} ({item})")
    return kind


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


NO_ANSWER = (
    "A GraphRAG folder holds no answer, and an answer is what is verified: it is given as a file "
    "of its own."
)
_LISTED = 5


@dataclass(frozen=True, slots=True)
class MapAnswer:
    """A point of a map answer.

    Attributes:
        name: Number of the map answer and of the point in it, from 1, as in `2.1`.
        text: Its text.
        score: Its importance, or None when it has none.
        given: The rows it was written from, or None when that was not kept.
        combined: Whether it stood in the prompt of the final answer.
    """

    name: str
    text: str
    score: float | None
    given: Given | None
    combined: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What the query answered, and what it wrote down of how.

    Attributes:
        text: The final answer.
        where: The place it was read from.
        question: What it answers, or None.
        index: The index it was asked of, as the file names it, or None.
        cited: Numbers by kind that the file names as cited, beside those in the text.
        given: The rows that were given to the query, or None when that was not kept.
        maps: The points of the map answers; empty when they were not kept.
        empty_maps: How many points are empty.
        unread: Keys of the file that are there but were not understood, each with the reason.
    """

    text: str
    where: str
    question: str | None = None
    index: str | None = None
    cited: Given | None = None
    given: Given | None = None
    maps: tuple[MapAnswer, ...] = ()
    empty_maps: int = 0
    unread: tuple[str, ...] = ()

    @property
    def says_what_was_given(self) -> bool:
        """Whether nothing has to be assumed of what the query was given."""
        if self.given:
            return True
        return bool(self.maps) and all(point.given for point in self.maps)


def read_answer(option: str | None) -> Answer:
    """Read an answer file.

    Raises:
        InputError: Nothing is named, or it cannot be read as an answer.
    """
    if option is None:
        raise InputError(NO_ANSWER, code="answer_needed")
    path, number = _split(option)
    text = _read(path)
    if number is None and path.suffix.lower() != ".json":
        return _checked(Answer(text.strip(), str(path)), str(path))
    entry, where = _pick(_parse(path, text), number, path)
    if isinstance(entry, str):
        return _checked(Answer(entry, where), where)
    if not isinstance(entry, Mapping):
        raise InputError(f"{where}: {_kind(entry)} is no answer; an object or a text is expected.")
    return _checked(_from_entry(entry, where), where)


def _split(option: str) -> tuple[Path, int | None]:
    path = Path(option)
    name, mark, number = option.rpartition("#")
    # A file may have `#` in its name: an existing file of that name wins.
    if not mark or not name or path.exists():
        return path, None
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise InputError(f"Answer file {option}: behind `#` the number of an entry is expected.")
    return Path(name), int(number)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"Answer file {path}: no such file.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start}).") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from None


def _parse(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except (RecursionError, ValueError):
        raise InputError(
            f"{path}: JSON that is nested too deeply or holds too long a number."
        ) from None


def _pick(document: Any, number: int | None, path: Path) -> tuple[Any, str]:
    if not isinstance(document, list):
        if number is None:
            return document, str(path)
        raise InputError(
            f"{path}#{number}: the file holds {_kind(document)}, not a list; leave #{number} out."
        )
    if number is None and len(document) == 1:
        number = 0
    if number is None or number >= len(document):
        asked = f"#{number} is not there: it" if number is not None else "the file"
        raise InputError(f"{path}: {asked} holds a list of {_listed(document)}")
    return document[number], f"{path}#{number}"


def _listed(document: list[Any]) -> str:
    lines = []
    for number, entry in enumerate(document[:_LISTED]):
        question = _question(entry) if isinstance(entry, Mapping) else None
        lines.append(f"\n  #{number} {question or ''}".rstrip())
    more = "\n  …" if len(document) > _LISTED else ""
    return f"{len(document)} entries; name one as FILE#N:{''.join(lines)}{more}"


def _question(entry: Mapping[str, Any]) -> str | None:
    values = (entry.get(key) for key in ("query", "question"))
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _from_entry(entry: Mapping[str, Any], where: str) -> Answer:
    key = next((key for key in ("answer", "response") if key in entry), None)
    if key is None:
        keys = ", ".join(map(str, entry)) or "none"
        raise InputError(f"{where}: no key `answer` or `response`; there are: {keys}.")
    if not isinstance(entry[key], str):
        raise InputError(f"{where}: `{key}` is {_kind(entry[key])}; a text is expected.")
    index = entry.get("index")
    points = list(_map_answers(entry))
    return Answer(
        text=entry[key],
        where=where,
        question=_question(entry),
        index=index if isinstance(index, str) else None,
        cited=_cited(entry.get("cited")),
        given=read_context(entry.get("context_data"))
        or read_context(entry.get("context_records"))
        or read_context(entry.get("context_text")),
        maps=tuple(point for point in points if point.text.strip()),
        empty_maps=sum(not point.text.strip() for point in points),
        unread=tuple(_not_understood(entry)),
    )


_NAMED = "answer response query question context_text"
_COUNTS = (
    "completion_time llm_calls prompt_tokens output_tokens "
    "llm_calls_categories prompt_tokens_categories output_tokens_categories"
)
_PASSED_OVER = frozenset((*_NAMED.split(), *_COUNTS.split()))
"""Keys that are read elsewhere, or that GraphRAG writes and that say nothing of sources."""


def _not_understood(entry: Mapping[str, Any]) -> Iterator[str]:
    """Keys of an answer file of which nothing was read, though they hold something."""
    readers: Mapping[str, tuple[str, Callable[[Any], object]]] = {
        "index": ("a text", lambda value: isinstance(value, str)),
        "cited": ("lists of numbers by table", _cited),
        "context_data": ("rows by table", read_context),
        "context_records": ("rows by table", read_context),
        "map_responses": ("a list", lambda value: isinstance(value, list)),
        "reduce_context_text": ("a text", lambda value: _prompt({"reduce_context_text": value})),
        "reduce_context_data": ("a text", lambda value: _prompt({"reduce_context_data": value})),
    }
    unknown = []
    for key, value in entry.items():
        if key not in readers:
            unknown += [] if key in _PASSED_OVER else [str(key)]
            continue
        expected, read = readers[key]
        if value is not None and value != {} and value != [] and value != "" and not read(value):
            yield f"`{key}` holds {_kind(value)} that is not understood; expected: {expected}"
        elif key.startswith("context_") and (names := sorted(_unknown_tables(value))):
            listed = ", ".join(f"`{name}`" for name in names[:_LISTED])
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            yield f"`{key}`: {listed}{more} is no table that is known, and is not read"
    if unknown:
        listed = ", ".join(f"`{key}`" for key in unknown[:_LISTED])
        more = f" and {len(unknown) - _LISTED} more" if len(unknown) > _LISTED else ""
        yield f"unknown keys are not read: {listed}{more}"


def _unknown_tables(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, frame in value.items():
            holds = bool(frame) and not read_context(frame, 1)
            if str(name).lower() not in KIND_OF_NAME and holds:
                yield str(name)[:60]


def _cited(value: Any) -> Given | None:
    if not isinstance(value, Mapping):
        return None
    cited: dict[str, tuple[int, ...]] = {}
    for name, numbers in value.items():
        kind = KIND_OF_NAME.get(str(name).lower())
        if kind and isinstance(numbers, list):
            known = (as_number(number) for number in numbers)
            cited[kind] = tuple(number for number in known if number is not None)
    return cited


def _map_answers(entry: Mapping[str, Any]) -> Iterator[MapAnswer]:
    responses = entry.get("map_responses")
    prompt = _prompt(entry)
    for number, response in enumerate(responses if isinstance(responses, list) else (), start=1):
        if not isinstance(response, Mapping):
            response = {"response": response}
        given = read_context(response.get("context_data")) or read_context(
            response.get("context_text")
        )
        points = response.get("response", response.get("answer"))
        is_list = isinstance(points, list)
        for place, point in enumerate(points if is_list else [points], start=1):
            name = f"{number}.{place}" if is_list else str(number)
            yield _point(name, point, given, prompt)


def _point(name: str, point: Any, given: Given | None, prompt: str) -> MapAnswer:
    text, score = point, None
    if isinstance(point, Mapping):
        text, score = point.get("answer", point.get("description")), _score(point.get("score"))
    text = text if isinstance(text, str) else ""
    # GraphRAG leaves out points of score 0, and the last ones when the prompt is full.
    combined = (score is None or score > 0) and (not prompt or f"\n{text}\n" in f"\n{prompt}\n")
    return MapAnswer(name, text, score, given, combined)


def _score(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    return None


def _prompt(entry: Mapping[str, Any]) -> str:
    for key in ("reduce_context_text", "reduce_context_data"):
        value = entry.get(key)
        if isinstance(value, list):
            value = "\n".join(part for part in value if isinstance(part, str))
        if isinstance(value, str) and value:
            return value
    return ""


def _checked(answer: Answer, where: str) -> Answer:
    if not answer.text.strip():
        raise InputError(f"{where}: the answer is empty; there is nothing to verify.")
    return answer


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")

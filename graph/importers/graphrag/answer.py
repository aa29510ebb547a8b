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
`Answer.unread`, also inside `map_responses`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.answer_file import parse_json, read_text, split_option
from veritrail_graph.graph.importers.graphrag.citations import KIND_OF_NAME, Given, read_context
from veritrail_graph.graph.importers.graphrag.tables import as_number

NO_ANSWER = (
    "A GraphRAG folder holds no answer, and an answer is what is verified: it is given as a file "
    "of its own."
)
_LISTED = 5
_QUESTIONS = ("query", "question")


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

    @property
    def counts(self) -> bool:
        """Return whether GraphRAG may have combined it: its score is above 0, or is not known."""
        return self.score is None or self.score > 0


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to a query, and the record of how it came about.

    Attributes:
        text: The final answer.
        where: The place it was read from.
        question: What it answers, or None.
        index: The index it was asked of, as the file names it, or None.
        cited: Numbers by kind that the file names as cited, beside those in the text.
        given: The rows that were given to the query, or None when that was not kept.
        maps: The points of the map answers; empty when they were not kept.
        empty_maps: How many points are empty.
        unread_maps: How many map answers or points are there but were not understood.
        unread: Keys of the file that are there but were not understood, each with the reason.
        unread_question: Whether the file has a key for the question that was not understood.
    """

    text: str
    where: str
    question: str | None = None
    index: str | None = None
    cited: Given | None = None
    given: Given | None = None
    maps: tuple[MapAnswer, ...] = ()
    empty_maps: int = 0
    unread_maps: int = 0
    unread: tuple[str, ...] = ()
    unread_question: bool = False

    @property
    def says_what_was_given(self) -> bool:
        """Return whether nothing has to be assumed of what the query was given."""
        if self.given:
            return True
        return bool(self.maps) and all(point.given for point in self.maps)


def read_answer(option: str | None) -> QueryAnswer:
    """Read an answer file.

    Raises:
        InputError: Nothing is named, or it cannot be read as an answer.
    """
    if option is None:
        raise InputError(NO_ANSWER, code="answer_needed")
    path, number = split_option(option)
    text = read_text(path)
    if number is None and path.suffix.lower() != ".json":
        return _checked(QueryAnswer(text.strip(), str(path)), str(path))
    entry, where = _pick(parse_json(path, text), number, path)
    if isinstance(entry, str):
        return _checked(QueryAnswer(entry, where), where)
    if not isinstance(entry, Mapping):
        raise InputError(f"{where}: {_kind(entry)} is no answer; an object or a text is expected.")
    return _checked(_from_entry(entry, where), where)


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
    values = (entry.get(key) for key in _QUESTIONS)
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def _from_entry(entry: Mapping[str, Any], where: str) -> QueryAnswer:
    key = next((key for key in ("answer", "response") if key in entry), None)
    if key is None:
        keys = ", ".join(map(str, entry)) or "none"
        raise InputError(f"{where}: no key `answer` or `response`; there are: {keys}.")
    if not isinstance(entry[key], str):
        raise InputError(f"{where}: `{key}` is {_kind(entry[key])}; a text is expected.")
    index = entry.get("index")
    maps = _map_answers(entry)
    given = _given(entry)
    return QueryAnswer(
        text=entry[key],
        where=where,
        question=_question(entry),
        index=index if isinstance(index, str) else None,
        cited=_cited(entry.get("cited")),
        given=given,
        maps=tuple(maps.points),
        empty_maps=maps.empty,
        unread_maps=maps.unread,
        unread=(*_not_understood(entry, given), *maps.told()),
        unread_question=any(not isinstance(entry.get(name), str | None) for name in _QUESTIONS),
    )


_CONTEXTS = ("context_data", "context_records", "context_text")


def _given(entry: Mapping[str, Any]) -> Given | None:
    found = (read_context(entry.get(key)) for key in _CONTEXTS)
    return next(filter(None, found), None)


_COUNTED = ("llm_calls", "prompt_tokens", "output_tokens")
_COUNTS = frozenset(("completion_time", *_COUNTED, *(f"{name}_categories" for name in _COUNTED)))
_PASSED_OVER = _COUNTS | {"answer", "response"}
"""Keys that are read elsewhere, or that GraphRAG writes and that say nothing of sources."""
_MAP_KEYS = _PASSED_OVER | {"context_data", "context_text"}
_POINT_KEYS = frozenset(("answer", "description", "score"))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _not_understood(entry: Mapping[str, Any], given: Given | None) -> Iterator[str]:
    """Keys of an answer file of which nothing was read, though they hold something."""
    readers: Mapping[str, tuple[str, Callable[[Any], object]]] = {
        "query": ("a text", _is_text),
        "question": ("a text", _is_text),
        "index": ("a text", _is_text),
        "cited": ("lists of numbers by table", _cited),
        "context_data": ("rows by table", read_context),
        "context_records": ("rows by table", read_context),
        # A text that only repeats in its own way what the rows say is no loss.
        "context_text": (
            "the tables of the prompt",
            lambda v: read_context(v) or _repeats(v, given),
        ),
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
        if _holds_something(value) and not read(value):
            yield f"`{key}` {_misread(value, expected)}"
        elif key.startswith("context_") and (names := sorted(_unknown_tables(value))):
            yield f"`{key}`: {_some(names)} is no table that is known, and is not read"
        elif key == "cited" and (rest := list(_no_numbers(value))):
            yield f"`cited`: {_some(rest)} is no number of a table that is known, and is not read"
    if unknown:
        yield f"unknown keys are not read: {_some(unknown)}"


def _holds_something(value: Any) -> bool:
    blank = isinstance(value, str) and not value.strip()
    return not (value is None or value == {} or value == [] or blank)


def _misread(value: Any, expected: str) -> str:
    return f"holds {_kind(value)} that is not understood; expected: {expected}"


def _repeats(value: Any, given: Given | None) -> bool:
    return bool(given) and isinstance(value, str | Mapping | list)


def _some(names: list[str]) -> str:
    listed = ", ".join(f"`{name[:60]}`" for name in names[:_LISTED])
    return listed + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")


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


def _no_numbers(value: Mapping[str, Any]) -> Iterator[str]:
    for name, numbers in value.items():
        if str(name).lower() not in KIND_OF_NAME or not isinstance(numbers, list):
            yield str(name)
        else:
            yield from (f"{name} ({one})" for one in numbers if as_number(one) is None)


@dataclass(slots=True)
class _Maps:
    """The map answers read from `map_responses`; each fault is kept with its map answer."""

    points: list[MapAnswer] = field(default_factory=list)
    empty: int = 0
    unread: int = 0
    faults: dict[str, list[str]] = field(default_factory=dict)

    def fault(self, text: str, name: str) -> None:
        self.faults.setdefault(text, []).append(name)

    def unknown(self, keys: Iterable[Any], known: frozenset[str], name: str) -> None:
        for key in keys:
            if key not in known:
                self.fault(f"the key {_some([str(key)])} is not known, and is not read", name)

    def told(self) -> Iterator[str]:
        """The faults, each once."""
        for text, names in self.faults.items():
            yield f"`map_responses`: {text} ({_some(list(dict.fromkeys(names)))})"


def _map_answers(entry: Mapping[str, Any]) -> _Maps:
    maps = _Maps()
    responses = entry.get("map_responses")
    prompt = _prompt(entry)
    for number, response in enumerate(responses if isinstance(responses, list) else (), start=1):
        if not isinstance(response, Mapping):
            response = {"response": response}
        maps.unknown(response, _MAP_KEYS, str(number))
        given = _given(response)
        for key in ("context_data", "context_text"):
            if not given and _holds_something(value := response.get(key)):
                maps.fault(f"`{key}` {_misread(value, 'rows by table')}", str(number))
        points = response.get("response", response.get("answer"))
        is_list = isinstance(points, list)
        for place, point in enumerate(points if is_list else [points], start=1):
            _read_point(maps, f"{number}.{place}" if is_list else str(number), point, given, prompt)
    return maps


def _read_point(maps: _Maps, name: str, point: Any, given: Given | None, prompt: str) -> None:
    text, score, key = point, None, "response"
    if isinstance(point, Mapping):
        maps.unknown(point, _POINT_KEYS, name)
        key = "answer" if "answer" in point else "description"
        text, score = point.get(key), _score(point.get("score"))
        if score is None and point.get("score") is not None:
            maps.fault(f"`score` {_misread(point['score'], 'a number')}", name)
    if _holds_something(text) and not isinstance(text, str):
        maps.unread += 1
        maps.fault(f"`{key}` {_misread(text, 'a text')}", name)
    elif not text or not text.strip():
        maps.empty += 1
    else:
        # GraphRAG leaves out points of score 0, and the last ones when the prompt is full.
        stands = not prompt or f"\n{text}\n" in f"\n{prompt}\n"
        combined = (score is None or score > 0) and stands
        maps.points.append(MapAnswer(name, text, score, given, combined))


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


def _checked(answer: QueryAnswer, where: str) -> QueryAnswer:
    if not answer.text.strip():
        raise InputError(f"{where}: the answer is empty; there is nothing to verify.")
    return answer


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")

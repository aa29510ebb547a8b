"""The answer of a query: a text file, or JSON with what the query wrote down beside it.

JSON may be an object, or a list of which `FILE#N` picks one, with these keys:

- `answer` or `response`: the text; `query` or `question`: what it answers;
- `index`: the index it was asked of; `cited`: numbers by table, beside those in the text;
- `context_data` (or `context_records`): the rows that were given, see `context`;
- `map_responses`: the answers that a global search combined, each with `response` (a list
  of points `{answer, score}`, or a text) and its own `context_data`;
- `reduce_context_text` (or `reduce_context_data`): the points that fitted into the last prompt.

These are the fields of GraphRAG's SearchResult and GlobalSearchResult.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.graphrag.citations import KIND_OF_NAME
from veritrail_graph.graph.importers.graphrag.context import Given, read_context
from veritrail_graph.graph.importers.graphrag.tables import as_number

NO_ANSWER = (
    "A GraphRAG folder holds no answer, and an answer is what is verified. Pass "
    "--answer FILE (a text file, or JSON: FILE#N picks entry N of a list) "
    "and, when the file does not hold the question, --question TEXT."
)
_LISTED = 5


@dataclass(frozen=True, slots=True)
class MapAnswer:
    """A point of a map answer.

    Attributes:
        name: Number of the map answer and of the point in it, from 1, as in `2.1`.
        text: What it says.
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
        empty_maps: How many points say nothing.
    """

    text: str
    where: str
    question: str | None = None
    index: str | None = None
    cited: Given | None = None
    given: Given | None = None
    maps: tuple[MapAnswer, ...] = ()
    empty_maps: int = 0

    @property
    def says_what_was_given(self) -> bool:
        """Whether nothing has to be assumed of what the query was given."""
        if self.given:
            return True
        return bool(self.maps) and all(point.given for point in self.maps)


def read_answer(option: str | None) -> Answer:
    """Read what `--answer` names.

    Raises:
        InputError: Nothing is named, or it cannot be read as an answer.
    """
    if option is None:
        raise InputError(NO_ANSWER)
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
    # A file may have `#` in its name: what exists as it is written wins.
    if not mark or not name or path.exists():
        return path, None
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise InputError(f"--answer {option}: behind `#` the number of an entry is expected.")
    return Path(name), int(number)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"--answer {path}: no such file.") from None
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
        given=read_context(entry.get("context_data")) or read_context(entry.get("context_records")),
        maps=tuple(point for point in points if point.text.strip()),
        empty_maps=sum(not point.text.strip() for point in points),
    )


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
        said = response.get("response", response.get("answer"))
        points = said if isinstance(said, list) else [said]
        for place, point in enumerate(points, start=1):
            name = f"{number}.{place}" if isinstance(said, list) else str(number)
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

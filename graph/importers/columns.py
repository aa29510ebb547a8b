"""Columns of logs of questions, contexts and answers: their names, and rows out of columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError

QUESTION = ("question", "user_input", "input", "query")
CONTEXTS = ("contexts", "retrieved_contexts", "retrieval_context", "context", "documents")
ANSWER = ("answer", "response", "actual_output", "output", "generated_answer")
REFERENCE = ("reference", "ground_truth", "ground_truths", "expected_output")
_KEYS = (("question", QUESTION), ("contexts", CONTEXTS), ("answer", ANSWER))
_LISTS = ("samples", "data", "rows", "examples", "test_cases")
_WRAPPERS = ("test_run_data",)
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a document.

    Attributes:
        rows: The rows, in their order.
        doubts: Of each row what has to be said of it; empty: of none.
        conversations: Those that a test run of DeepEval holds beside.
    """

    rows: Sequence[Any]
    doubts: Sequence[tuple[str, ...]] = ()
    conversations: Sequence[Any] = ()


def spelled(name: str) -> str:
    """Return a name as the known ones are spelled: `Retrieval Context` is `retrieval_context`."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip().lstrip("\ufeff"))
    return re.sub(r"[\s_\-]+", "_", parted).strip("_").lower()


def missing(names: Iterable[str], mapped: Collection[str] = ()) -> str | None:
    """Return which column is missing; None: all that are needed are there.

    Args:
        names: The columns of a table.
        mapped: The meanings for which the caller names a column.
    """
    there = {spelled(name) for name in names}
    for what, known in (("contexts", CONTEXTS), ("answer", ANSWER)):
        if there.isdisjoint(known) and what not in mapped:
            return f"no column of the {what}: {', '.join(known)}"
    return None


def named(row: Mapping[str, Any], known: Sequence[str]) -> str | None:
    """Return the name of the first of some columns that a row fills; None: it fills none.

    A column of exactly the known name comes before one that is spelled otherwise.
    """
    for wanted in known:
        for name in (wanted, *row):
            if spelled(name) == wanted and _is_filled(row.get(name)):
                return name
    return None


def unread(row: Mapping[str, Any], chosen: str | None, known: Sequence[str]) -> list[str]:
    """Return the other columns of the same meaning that a row fills with something else."""
    return [
        name
        for name, value in row.items()
        if spelled(name) in known
        and name != chosen
        and _is_filled(value)
        and (chosen is None or value != row.get(chosen))
    ]


def _is_filled(value: Any) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def rows_of(value: Any) -> Rows | None:
    """Return the rows of a document: a list, one under a usual name, or columns; None: it has none.

    Raises:
        InputError: Its columns cannot be joined to rows.
    """
    if isinstance(value, list):
        return Rows(value)
    if not isinstance(value, dict):
        return None
    by_name = {spelled(name): one for name, one in value.items()}
    for name in _WRAPPERS:
        if isinstance(by_name.get(name), dict):
            return rows_of(by_name[name])
    for name in _LISTS:
        if isinstance(by_name.get(name), list) and by_name[name]:
            others = by_name.get("conversational_test_cases")
            return Rows(by_name[name], (), others if isinstance(others, list) else ())
    columns = {name: one for name, one in value.items() if isinstance(one, (list, dict))}
    several = [name for name in columns if spelled(name) in (*QUESTION, *ANSWER)]
    if missing(columns) is None and len(several) > 1:
        return _joined(value, columns)
    return None


def _joined(value: Mapping[str, Any], columns: Mapping[str, list[Any] | dict[str, Any]]) -> Rows:
    """Return the rows of columns: lists by place, objects by the key of the row.

    Values of a column that has fewer or more than the others are given to no row by their place.
    """
    leading = [name for _, known in _KEYS if (name := _leading(columns, known)) is not None]
    keyed = {name: _by_row(one) for name, one in columns.items()}
    keys = list(dict.fromkeys(key for name in leading for key in keyed[name]))
    lists = {name: len(one) for name, one in columns.items() if isinstance(one, list)}
    uneven = {name: count for name, count in lists.items() if count != len(keys)}
    if any(name in uneven for name in leading):
        counts = ", ".join(f"{name!r} {len(columns[name])}" for name in leading)
        raise InputError(
            f"the columns are not of one length ({counts}), so which values belong to one row is "
            "not known. Write one object for each row"
        )
    doubts: dict[str, list[str]] = {key: [] for key in keys}
    for name, one in keyed.items():
        if name in uneven:
            values = counted(uneven[name], "value", "values")
            said = f"The column {name!r} has {values} for {counted(len(keys), 'row', 'rows')}"
            said += ": it is left out, because which belongs to which row is not known."
            _tell(doubts, keys, said)
            continue
        if name not in leading:
            empty = [key for key in keys if key not in one]
            _tell(doubts, empty, f"The column {name!r} has no value for {len(empty)} of the rows.")
            beyond = [key for key in one if key not in doubts]
            if beyond:
                listed = ", ".join(map(repr, beyond[:_SHOWN]))
                _tell(doubts, keys, f"The column {name!r} has values of no row: {listed}.")
    left = [name for name in value if name not in columns]
    if left:
        listed = ", ".join(map(repr, left[:_SHOWN]))
        _tell(doubts, keys, f"Not read, because they are no columns: {listed}.")
    kept = {name: one for name, one in keyed.items() if name not in uneven}
    rows = [{name: one.get(key) for name, one in kept.items()} for key in keys]
    return Rows(rows, [tuple(doubts[key]) for key in keys])


def _leading(columns: Mapping[str, Any], known: Sequence[str]) -> str | None:
    """Return the column of the question, the contexts or the answer: the first known name."""
    return named({name: one for name, one in columns.items() if one}, known)


def _by_row(column: list[Any] | dict[str, Any]) -> dict[str, Any]:
    """Return a column by the key of the row; pandas writes the place of a row as its key."""
    if isinstance(column, dict):
        return column
    return {str(place): one for place, one in enumerate(column)}


def _tell(doubts: Mapping[str, list[str]], keys: Collection[str], what: str) -> None:
    for key in keys:
        doubts[key].append(what)

"""Logs of question, contexts and answer: one row is one process.

The columns are those of RAGAS, DeepEval and TruLens (`columns`), or those that the caller maps;
results of Promptfoo, OpenAI's evals and TruLens are made into such rows. The contexts are the
source text, the answer is the final output, and each context was an input to it. The question is
the question of the process; a reference answer and all other columns stay in the metadata of the
answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import beside, files, nulled, printed, tables
from veritrail_graph.graph.importers.column_map import COLUMNS_UNKNOWN, ColumnMap, cell
from veritrail_graph.graph.importers.columns import (
    ANSWER,
    CONTEXTS,
    QUESTION,
    REFERENCE,
    Rows,
    missing,
    named,
    rows_of,
    spelled,
    unread,
)
from veritrail_graph.graph.importers.conversations.evaluated import is_conversation
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.evaluations import RecordRow, answers_in, as_row, results_of
from veritrail_graph.graph.importers.process_file.reading import NotJson
from veritrail_graph.graph.importers.records import Header, ProcessInput, is_written
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.model import Origin

NAME = "rag"
_TEXT_KEYS = ("text", "content", "page_content", "document", "chunk")
_LOOKED_AT = 20
"""Rows of a log in which one with contexts and an answer is looked for."""


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A conversation beside the rows of a test run.

    Attributes:
        value: It, as DeepEval writes it.
    """

    value: Any


class RagImporter:
    """Reads logs of question, contexts and answer."""

    name = NAME
    description = "rows of question, contexts and answer: CSV, TSV, JSON, JSON Lines, parquet"
    extra = None
    options = frozenset({"columns"})

    def detect(self, path: Path) -> str | None:
        """By the names of the columns."""
        if not path.is_file():
            return "not a file"
        try:
            names = tables.columns(path) if tables.is_table(path) else []
            rows = _some_rows(path) if missing(names) else []
        except (InputError, OSError, ValueError) as error:
            return str(error)
        if not missing(names):
            return None
        if not rows:
            return missing(names) if names else "no rows in it"
        faults = [missing(list(row)) for row in rows]
        if None not in faults:
            return faults[0]
        asked = [row[name] for row in rows if (name := named(row, QUESTION)) is not None]
        return "its questions are conversations" if any(map(is_conversation, asked)) else None

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a row.

        Raises:
            InputError: The file cannot be read, or a column is missing.
        """
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        columns = options.columns or ColumnMap({})
        if columns.columns and (fault := columns.fault(column_names(path))):
            raise InputError(f"{path}: {fault}", code=COLUMNS_UNKNOWN)
        fault = missing(tables.columns(path), columns.columns) if tables.is_table(path) else None
        if fault and all(missing(list(row), columns.columns) for row in _some_rows(path)):
            raise InputError(f"{path}: {fault}", code=COLUMNS_UNKNOWN)
        for number, row, doubts in _rows(path):
            where = f"{path}#{number}"
            if isinstance(row, _Conversation):
                yield Found(where, partial(_chat, row, where))
                continue
            made = partial(process_of_row, row, where, doubts=doubts, columns=columns)
            yield Found(where, made)


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a file: those of its heading, or of its first row.

    Raises:
        InputError: It cannot be read.
    """
    if tables.is_table(path):
        return tables.columns(path)
    return next((list(row) for row in _some_rows(path)), [])


def _some_rows(path: Path) -> list[Mapping[str, Any]]:
    """Return the first rows of a file; a row that failed may stand before the others."""
    if tables.is_table(path):
        some = [row for _, row, _ in islice(_of_table(path), _LOOKED_AT)]
        return [row for row in some if isinstance(row, dict)]
    first = files.first_value(path)
    if first is None:
        return []
    rows = _held(first)
    some = list(rows.rows[:_LOOKED_AT]) if rows is not None else [as_row(first)]
    if rows is None and isinstance(first, dict) and missing(list(some[0])) and files.is_lines(path):
        some = [as_row(row) for _, row in islice(files.values(path), _LOOKED_AT)]
    return [row for row in some if isinstance(row, dict)]


def _held(value: Any) -> Rows | None:
    """Return the rows of a document; None: it has none."""
    results = results_of(value) if isinstance(value, dict) else None
    rows = Rows(results) if results is not None else rows_of(value)
    if rows is None:
        return None
    about = beside.of_document(value, "the rows", rows.rows, rows.conversations)
    doubts = rows.doubts or [tuple(about)] * len(rows.rows)
    return Rows([as_row(row) for row in rows.rows], doubts, rows.conversations)


def _rows(path: Path) -> Iterator[tuple[int | str, Any, Sequence[str]]]:
    """Number and row, with what has to be said of it; an InputError in place of a bad one."""
    if tables.is_table(path):
        yield from _of_table(path)
    elif files.is_lines(path):
        yield from ((number, as_row(row), ()) for number, row in files.values(path))
    else:
        whole = files.document(path)
        try:
            found = _held(whole) or Rows([as_row(whole)])
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        doubts = found.doubts or [()] * len(found.rows)
        for number, (row, said) in enumerate(zip(found.rows, doubts, strict=True), start=1):
            yield number, row, said
        for number, one in enumerate(found.conversations, start=1):
            yield f"conversation{number}", _Conversation(one), ()


def _chat(conversation: _Conversation, where: str) -> ProcessInput:
    from veritrail_graph.graph.importers.dialogue import chats  # it imports modules of formats

    return chats.chat(conversation.value, where)


def _of_table(path: Path) -> Iterator[tuple[int | str, Any, Sequence[str]]]:
    for number, row in tables.rows(path):
        if isinstance(row, InputError):
            yield number, row, ()
            continue
        answers = answers_in(row)
        for place, one in enumerate(answers, start=1):
            yield f"{number}.{place}" if len(answers) > 1 else number, one, ()
        if not answers:
            yield number, *_parted(as_row(row))


def _parted(row: dict[str, Any]) -> tuple[dict[str, Any], Sequence[str]]:
    """Return a row of a table with the contexts of DeepEval as a list, and what to say of it.

    DeepEval writes `|` between texts. So do tables in Markdown between cells: they stay whole.
    """
    name = named(row, CONTEXTS)
    text = row[name] if name is not None else ""
    if not isinstance(text, str):
        return row, ()
    columns = {spelled(one) for one in row}
    by_deepeval = "retrieval_context" in columns or {"input", "actual_output"} <= columns
    if name is None or spelled(name) not in ("retrieval_context", "context") or not by_deepeval:
        return row, ()
    parts = text.split("|")
    in_markdown = any("--" in line and not line.strip(" \t|:-") for line in text.splitlines())
    is_plain = not printed.looks_like_list(text) and not in_markdown
    if len(parts) == 1 or not is_plain or not all(part.strip() for part in parts):
        return row, ()
    said = (
        f"The column {name!r} holds {len(parts)} texts with `|` between them, as DeepEval writes "
        "them: each is a context of its own."
    )
    return {**row, name: parts}, (said,)


def process_of_row(
    row: Any,
    where: str,
    format_name: str = NAME,
    made_from: Any = None,
    doubts: Sequence[str] = (),
    columns: ColumnMap | None = None,
) -> ProcessInput:
    """The process of one row.

    Args:
        row: Columns by name, or the fault in place of a row.
        where: Where it stands.
        format_name: The format that it was read from.
        made_from: What the row was made from; None: it was read as it is.
        doubts: What has to be said of it.
        columns: The columns that the caller mapped.

    Raises:
        InputError: It is no row of question, contexts and answer.
    """
    if isinstance(row, InputError):
        raise row
    if not isinstance(row, dict):
        raise InputError(f"{where}: a row must be an object, not {type(row).__name__}")
    record = row.record if isinstance(row, RecordRow) else made_from
    mapped = columns.columns if columns is not None else {}
    fault = missing(list(row), mapped)
    if fault:
        raise InputError(f"{where}: {fault}", code=COLUMNS_UNKNOWN)
    try:
        row = nulled.without(row)
    except NotJson as error:
        raise InputError(f"{where}: {error}") from None
    chosen = {
        what: mapped.get(what) or named(row, names)
        for what, names in (
            ("question", QUESTION), ("contexts", CONTEXTS), ("answer", ANSWER),
            ("reference", REFERENCE),
        )
    }  # fmt: skip
    question, given, answer, reference = (
        None if name is None else cell(row, name) for name in chosen.values()
    )
    if not isinstance(answer, str) or not answer.strip():
        raise InputError(f"{where}: the answer is empty or no text")
    if isinstance(question, list) and not is_conversation(question):
        raise InputError(
            f"{where}: the question is a list of {len(question)} values, and which of them was "
            "answered is not known. Write a row for each question."
        )
    if isinstance(question, list):
        raise InputError(
            f"{where}: the question is a list of messages. Such rows are read in the format agents."
        )
    question = str(question).strip() if question is not None else None
    contexts = _Contexts(where)
    contexts.read(given)
    draft = Draft(
        Header(
            format_name,
            name=question[:200] if question else None,
            question=question or None,
            stage_names={1: "context", 2: "answer"},
            terminals=("answer",),
            warnings=(
                *doubts,
                *_remembered(columns),
                *_unread(row, chosen),
                *contexts.doubts(),
                *nulled.remarks(row if made_from is None else made_from),
            ),
        )
    )
    known: dict[str, str] = {}
    for text, about in contexts.texts:
        if text not in known:
            name = f"context/{len(known) + 1}"
            origin = Origin.GENERATED if is_written(about) else Origin.SOURCE
            known[text] = draft.node(
                name, text, where, origin=origin, kind="context", stage=1, metadata=about
            )
    used = {*chosen.values(), ""}
    rest = {key: value for key, value in row.items() if key not in used and value not in ("", None)}
    metadata = {**_plain(rest), "reference": _plain(reference)}
    draft.node(
        "answer", answer, where, origin=Origin.GENERATED, kind="answer", step="generate", stage=2,
        metadata=metadata, question=None,
    )  # fmt: skip
    for name in known.values():
        draft.edge(name, "answer", where)
    if record is None:
        return draft
    return beside.told(draft, record, "question, contexts and answer", beside.EVERY)


def _remembered(columns: ColumnMap | None) -> Iterator[str]:
    if columns is not None and columns.is_remembered:
        yield (
            f"The columns are read as they were mapped for an earlier table with the same columns: "
            f"{columns}. Mapping them anew takes its place."
        )


def _unread(row: Mapping[str, Any], chosen: Mapping[str, str | None]) -> Iterator[str]:
    """Say which columns are kept as metadata, because another one of their meaning is read."""
    for what, known in (("contexts", CONTEXTS), ("answer", ANSWER)):
        for name in unread(row, chosen[what], known):
            yield (
                f"The {what} are read from the column {chosen[what]!r} alone: {name!r} is kept as "
                "metadata of the answer and supports nothing. Put what belongs together into one "
                "column."
                if what == "contexts"
                else f"The answer is read from the column {chosen[what]!r} alone: {name!r} is kept "
                "as metadata of it and is not checked."
            )


class _Contexts:
    """The contexts of a row as texts, each with what else is known of it."""

    def __init__(self, where: str) -> None:
        self.texts: list[tuple[str, dict[str, Any]]] = []
        self._where = where
        self._empty = 0
        self._doubts: list[str] = []

    def read(self, value: Any) -> None:
        """Read the contexts: a text, an object with one, or lists of such.

        Raises:
            InputError: One is no text.
        """
        if isinstance(value, str):
            text = value
            value = printed.unfolded(text)
            if isinstance(value, str) and printed.looks_like_list(text):
                self._doubts.append(
                    "The contexts look like a list, but cannot be read as one: they are taken for "
                    f"one text. It begins with {text.strip()[:40]!r}."
                )
        if value is not None:
            self._add(value)

    def _add(self, value: Any) -> None:
        if isinstance(value, list):
            for one in value:
                self._add(one)
            return
        text, about = value, {}
        if isinstance(value, str):
            value = printed.document(value)
        if isinstance(value, dict):
            key = next((key for key in _TEXT_KEYS if value.get(key) is not None), None)
            if key is None and not any(key in value for key in _TEXT_KEYS):
                keys = ", ".join(map(repr, list(value)[:5])) or "none"
                raise InputError(
                    f"{self._where}: a context must be a text, not an object with the keys {keys}"
                )
            text = None if key is None else value[key]
            about = {name: rest for name, rest in value.items() if name != key}
        if text is None or (isinstance(text, str) and not text.strip()):
            self._empty += 1
        elif isinstance(text, str):
            self.texts.append((text, _plain(about)))
        else:
            raise InputError(f"{self._where}: a context must be a text, not {type(text).__name__}")

    def doubts(self) -> Iterator[str]:
        """Yield what has to be said of them."""
        yield from self._doubts
        if self._empty:
            left = counted(self._empty, "context holds", "contexts hold")
            yield f"{left} no text, and {'is' if self._empty == 1 else 'are'} left out."


def _plain(value: Any) -> Any:
    """A value as JSON holds it: what a parquet file holds besides becomes text."""
    return json.loads(nulled.dumps(value))

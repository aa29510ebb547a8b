"""Logs of question, contexts and answer: one row is one process.

The columns are those of RAGAS, DeepEval and TruLens. The contexts are the source text, the
answer is the final output, and each context was an input to it. The question is the question
of the process; a reference answer stays in the metadata of the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files, nulled, printed
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.process_file.reading import NotJson
from veritrail_graph.graph.importers.records import Header, ProcessInput
from veritrail_graph.graph.importers.registry import Found, ImportOptions
from veritrail_graph.graph.model import Origin

NAME = "rag"
QUESTION = ("question", "user_input", "input", "query")
CONTEXTS = ("contexts", "retrieved_contexts", "retrieval_context", "context", "documents")
ANSWER = ("answer", "response", "actual_output", "output", "generated_answer")
REFERENCE = ("ground_truth", "ground_truths", "reference", "expected_output")
_LISTS = ("samples", "data", "rows", "examples", "test_cases", "testCases")
_TEXT_KEYS = ("text", "content", "page_content", "document", "chunk")


class RagImporter:
    """Reads logs of question, contexts and answer."""

    name = NAME
    description = "rows of question, contexts and answer: CSV, TSV, JSON, JSON Lines, parquet"
    extra = None
    options = frozenset[str]()

    def detect(self, path: Path) -> str | None:
        """By the names of the columns."""
        if not path.is_file():
            return "not a file"
        suffix = files.suffix_of(path)
        if suffix in files.DELIMITERS or suffix == ".parquet":
            try:
                names = _columns(path, suffix)
            except (InputError, OSError, ValueError) as error:
                return str(error)
        else:
            row = _first_row(files.first_value(path))
            if row is None:
                return "no rows in it"
            names = list(row)
        return _missing(names)

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a row.

        Raises:
            InputError: The file cannot be read, or a column is missing.
        """
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        for number, row in _rows(path):
            where = f"{path}#{number}"
            yield Found(where, partial(process_of_row, row, where))


def _missing(names: list[str]) -> str | None:
    """Which column is missing, if any."""
    for what, known in (("contexts", CONTEXTS), ("answer", ANSWER)):
        if not any(name in names for name in known):
            return f"no column of the {what}: {', '.join(known)}"
    return None


def _first_row(value: Any) -> Mapping[str, Any] | None:
    rows = _listed(value)
    row = rows[0] if rows else value
    return row if isinstance(row, dict) else None


def _listed(value: Any) -> list[Any] | None:
    """The rows of a document: a list, or one under a usual name, or columns of equal length."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    for name in _LISTS:
        if isinstance(value.get(name), list) and value[name]:
            return list(value[name])
    columns = [name for name in (*QUESTION, *ANSWER) if isinstance(value.get(name), (list, dict))]
    if _missing(list(value)) is None and len(columns) > 1:
        return _of_columns(value)
    return None


def _of_columns(value: Mapping[str, Any]) -> list[Any]:
    """Rows of columns, as lists or, as pandas writes them, as objects keyed by the row."""
    columns: dict[str, list[Any]] = {}
    for name, column in value.items():
        if isinstance(column, (list, dict)):
            columns[name] = list(column.values()) if isinstance(column, dict) else column
    most = max(map(len, columns.values()))
    whole = {name: column for name, column in columns.items() if len(column) == most}
    return [dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True)]


def _columns(path: Path, suffix: str) -> list[str]:
    if suffix == ".parquet":
        return _parquet(path).schema_arrow.names  # type: ignore[no-any-return]
    return next((row for _, row in files.delimited(path)), [])


def _parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path} is no parquet file: {error}") from None


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Number and row; an InputError in the place of one that cannot be read."""
    suffix = files.suffix_of(path)
    if suffix == ".parquet":
        table = _parquet(path)
        number = 0
        for batch in table.iter_batches(batch_size=100):
            for row in batch.to_pylist():
                number += 1
                yield number, row
    elif suffix in files.DELIMITERS:
        yield from _of_table(path)
    elif files.is_lines(path):
        yield from files.values(path)
    else:
        whole = files.document(path)
        rows = _listed(whole)
        yield from enumerate([whole] if rows is None else rows, start=1)


def _of_table(path: Path) -> Iterator[tuple[int, Any]]:
    rows = (row for _, row in files.delimited(path) if row)
    names = next(rows, [])
    missing = _missing(names)
    if missing:
        raise InputError(f"{path}: {missing}")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            yield number, InputError(f"{path}#{number}: the row has not as many columns")
        else:
            yield number, dict(zip(names, row, strict=True))


def process_of_row(
    row: Any, where: str, format_name: str = NAME, made_from: Any = None
) -> ProcessInput:
    """The process of one row.

    Args:
        row: Columns by name, or the fault in place of a row.
        where: Where it stands.
        format_name: The format that it was read from.
        made_from: What the row was made from; None: it was read as it is.

    Raises:
        InputError: It is no row of question, contexts and answer.
    """
    if isinstance(row, InputError):
        raise row
    if not isinstance(row, dict):
        raise InputError(f"{where}: a row must be an object, not {type(row).__name__}")
    missing = _missing(list(row))
    if missing:
        raise InputError(f"{where}: {missing}")
    try:
        row = nulled.without(row)
    except NotJson as error:
        raise InputError(f"{where}: {error}") from None
    answer = files.first_of(row, ANSWER)
    if not isinstance(answer, str) or not answer.strip():
        raise InputError(f"{where}: the answer is empty or no text")
    question = files.first_of(row, QUESTION)
    if isinstance(question, list):
        raise InputError(
            f"{where}: the question is a list of messages. Such rows are read in the format agents."
        )
    question = str(question).strip() if question is not None else None
    doubts: list[str] = []
    contexts = list(_contexts(files.first_of(row, CONTEXTS), where, doubts))
    draft = Draft(
        Header(
            format_name,
            name=question[:200] if question else None,
            question=question or None,
            stage_names={1: "context", 2: "answer"},
            terminals=("answer",),
            warnings=(*doubts, *nulled.remarks(row if made_from is None else made_from)),
        )
    )
    known: dict[str, str] = {}
    for text, about in contexts:
        if text not in known:
            name = f"context/{len(known) + 1}"
            known[text] = draft.node(
                name, text, where, origin=Origin.SOURCE, kind="context", stage=1, metadata=about
            )
    reference = files.first_of(row, REFERENCE)
    used = {*QUESTION, *CONTEXTS, *ANSWER, *REFERENCE, ""}
    rest = {key: value for key, value in row.items() if key not in used and value not in ("", None)}
    metadata = {**_plain(rest), "reference": _plain(reference)}
    draft.node(
        "answer", answer, where, origin=Origin.GENERATED, kind="answer", step="generate", stage=2,
        metadata=metadata, question=None,
    )  # fmt: skip
    for name in known.values():
        draft.edge(name, "answer", where)
    return draft


def _contexts(value: Any, where: str, doubts: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The contexts as texts, with what else is known of them.

    A text that looks like a list but is none that can be read adds a warning to `doubts`.
    """
    if isinstance(value, str):
        text = value
        value = printed.unfolded(text)
        if isinstance(value, str) and printed.looks_like_list(text):
            doubts.append(
                "The contexts look like a list, but cannot be read as one: they are taken for one "
                f"text. It begins with {text.strip()[:40]!r}."
            )
    if value is None:
        return
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            text = files.first_of(one, _TEXT_KEYS)
            about = {key: rest for key, rest in one.items() if rest is not text}
        else:
            text, about = one, {}
        if not isinstance(text, str):
            raise InputError(f"{where}: a context must be a text, not {type(text).__name__}")
        if text.strip():
            yield text, _plain(about)


def _plain(value: Any) -> Any:
    """A value as JSON holds it: what a parquet file holds besides becomes text."""
    return json.loads(nulled.dumps(value))

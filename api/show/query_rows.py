"""Rows of queries as documents: a table, one row below the other, or a tree.

Source: ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from veritrail_graph.api.show.document import (
    Block,
    Branch,
    Document,
    Line,
    Remark,
    Style,
    Table,
    TextKind,
    TextRun,
    Tree,
    name,
    ours,
    said,
)
from veritrail_graph.api.show.texts import figure, one_line
from veritrail_graph.api.show.words import INDICATIVE_IN_PART, mark_of
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.queried import QueryRows

NOT_SHOWN: Mapping[str, str] = {
    "QueryRows.changes": "the shell of the database says it of a statement that was typed"
}
"""Fields of the noun that no writer shows, and why."""

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)")
_STAGES = frozenset({"stage", "stages", "error_stages", "source_stage", "target_stage"})
_HEADS = ("node_id", "claim_id", "process_id", "verification_id", "stage", "step", "value")
"""What names a row or a part of it, the best first."""
_LINES = ("text", "summary", "sentences", "nodes", "path")

Names = Mapping[int, str]
"""Names of the stages of the process that an answer is about."""


def rows_shown(found: QueryRows, stages: Names | None = None) -> Document:
    """Show rows as a table, and what limits the answer.

    Args:
        found: The rows.
        stages: Names of the stages of the process that the answer is about; None: not read.
    """
    rows = tuple(
        tuple(_named(*one, stages or {}) for one in zip(found.columns, row, strict=True))
        for row in found.rows
    )
    return Document((Table(tuple(found.columns), rows), *remarks(found)))


def tree_shown(found: QueryRows, stages: Names | None = None) -> Document:
    """Show each row as a tree below what names it; maps become branches."""
    names = stages or {}
    trees = []
    for row in found.rows:
        values = dict(zip(found.columns, row, strict=True))
        head = _head(values)
        title = (ours(f"{one_line(head)}: "), *_named(head, values[head], names))
        rest = {key: value for key, value in values.items() if key != head}
        trees.append(Tree(title, tuple(_grown(rest, names))))
    return Document((*trees, *remarks(found)))


def remarks(found: QueryRows) -> Iterator[Block]:
    """Say what limits the answer: no rows, more rows, verdicts that are indicative only."""
    if not found.rows:
        yield Remark((ours("No rows."),), Style.QUIET)
    if found.truncated:
        yield Remark((ours("There are more rows; raise its parameter `limit`."),), Style.WARNING)
    if found.indicative:
        yield Remark((ours(f"Verdicts are {INDICATIVE_IN_PART}."),), Style.WARNING)


def _has_maps(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _head(row: Mapping[str, Any]) -> str:
    known = (key for key in _HEADS if row.get(key) not in (None, "", []))
    return next(known, next(iter(row)))


def _grown(row: Mapping[str, Any], names: Names) -> Iterator[Branch]:
    for key, value in row.items():
        is_said = value not in (None, [], "") and value is not False
        if not is_said or (key == "nodes" and row.get("path")):
            continue
        if _has_maps(value):
            below = (_item(one, names) for one in value if isinstance(one, dict))
            yield Branch((said(key, Style.NOTE),), tuple(below))
        elif isinstance(value, list) and key in _LINES:
            lines = tuple(Branch(_cell(one)) for one in value)
            yield Branch((said(key, Style.NOTE),), lines)
        else:
            yield Branch((said(f"{key}: ", Style.NOTE), *_named(key, value, names)))


def _item(item: Mapping[str, Any], names: Names) -> Branch:
    """A map of a list: a node with its stage and sentences, or any other."""
    if isinstance(item.get("text"), str) and "sentence" in item:
        return Branch((ours(f"{item['sentence']}: "), said(item["text"])))
    head = _head(item)
    title: Line = _named(head, item[head], names)
    rest = {key: value for key, value in item.items() if key != head}
    sentences: Sequence[Any] = ()
    if head == "node_id" and "stage" in rest:
        stage = _named("stage", rest.pop("stage"), names)
        title += (ours("  stage ", Style.QUIET), *stage)
        rest.pop("role", None)
        sentences = rest.pop("sentences", None) or []
    below = [_item(one, names) for one in sentences if isinstance(one, dict)]
    return Branch(title, (*below, *_grown(rest, names)))


def _named(column: str, value: Any, names: Names) -> Line:
    """A cell; stages with their names, as far as these are known."""
    if column in _STAGES and names:
        stages = value if isinstance(value, list) else [value]
        if all(isinstance(one, int) for one in stages):
            words = (f"{one} {one_line(names[one], 40)}" if one in names else str(one)
                     for one in stages)  # fmt: skip
            return (said(", ".join(words)),)
    if column.endswith("_id") and isinstance(value, str):
        return (name(value),)
    return _cell(value)


def _cell(value: Any) -> Line:
    if isinstance(value, str) and value in set(Verdict):
        return (TextRun(value, mark=mark_of(Verdict(value))),)
    is_ours = value is None or isinstance(value, bool | int | float)
    kind = TextKind.OURS if is_ours else TextKind.SAID
    return (TextRun(value_words(value), kind),)


def value_words(value: Any) -> str:
    """A value on one line."""
    if value is None:
        return ""
    if isinstance(value, str):
        return one_line(_MOMENT.sub(r"\1 \2", value) if _MOMENT.fullmatch(value) else value)
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return one_line(", ".join(str(item) for item in value))
    return json.dumps(value, ensure_ascii=False)

"""Answers of queries as a person or a spreadsheet reads them: table, records, tree, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.cli.terminal import console, inert, say, show
from veritrail_graph.api.show.texts import clean, figure, one_line
from veritrail_graph.api.show.words import INDICATIVE_IN_PART

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text
    from rich.tree import Tree

    from veritrail_graph.graph.model.queried import QueryRows


class Form(StrEnum):
    """An output format of a query's answer."""

    TABLE = "table"
    TREE = "tree"
    CSV = "csv"
    JSON = "json"


_BEYOND_ANY_SCREEN = 100_000
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)")
_STAGES = frozenset({"stage", "stages", "error_stages", "source_stage", "target_stage"})
_HEADS = ("node_id", "claim_id", "process_id", "verification_id", "stage", "step", "value")
"""What names a row or a part of one, the best first."""

_LINES = ("text", "summary", "sentences", "nodes", "path")


def tell_result(
    result: QueryRows, form: Form = Form.TABLE, stage_names: Mapping[int, str] | None = None
) -> None:
    """Print rows; in a table that is too wide for a terminal, one below the other.

    What limits the answer is said on stderr: more rows, verdicts that are indicative only.

    Args:
        result: The rows.
        form: Table, tree or CSV.
        stage_names: Names of the stages of the process that the answer is about.
    """
    names = stage_names or {}
    if form is Form.CSV:
        sys.stdout.write(inert(csv_text(result)))
        sys.stdout.flush()
    elif form is Form.TREE:
        for row in result.rows:
            show(_tree(dict(zip(result.columns, row, strict=True)), names))
    else:
        _tell_table(result, names)
    if not result.rows:
        say("No rows.", "dim")
    if result.truncated:
        say("There are more rows; raise `--param limit=N`.", "yellow")
    if result.indicative:
        say(f"Verdicts are {INDICATIVE_IN_PART}.", "yellow")


def _tell_table(result: QueryRows, names: Mapping[int, str]) -> None:
    from rich.text import Text

    table = _table(result, names)
    screen = console()
    boundless = screen.options.update(max_width=_BEYOND_ANY_SCREEN)
    needed = screen.measure(table, options=boundless).maximum
    if screen.is_terminal and needed > screen.width:
        for row in result.rows:
            show(_record(result.columns, row, names))
            show(Text(""))
    else:
        show(table)


def csv_text(result: QueryRows) -> str:
    """The rows as CSV: figures as they are, lists of texts with semicolons, others as JSON."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([_raw(value) for value in row] for row in result.rows)
    return file.getvalue()


def _raw(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return "; ".join(map(str, value))
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False)
    return clean(value) if isinstance(value, str) else value


def _table(result: QueryRows, names: Mapping[int, str]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in result.columns:
        is_name = column.endswith("_id")
        table.add_column(column, overflow="fold", no_wrap=is_name)
    for row in result.rows:
        cells = zip(result.columns, row, strict=True)
        table.add_row(*(Text(_named(column, value, names)) for column, value in cells))
    return table


def _named(column: str, value: Any, names: Mapping[int, str]) -> str:
    """A cell; stages with their names, as far as these are known."""
    if column in _STAGES and names:
        stages = value if isinstance(value, list) else [value]
        if all(isinstance(one, int) for one in stages):
            return ", ".join(
                f"{one} {one_line(names[one], 40)}" if one in names else str(one) for one in stages
            )
    return cell(value)


def _record(columns: Sequence[str], row: Sequence[Any], names: Mapping[int, str]) -> Text:
    """One row as lines of `column: value`; the maps of a list stand below each other."""
    from rich.text import Text

    text = Text()
    for name, value in zip(columns, row, strict=True):
        maps = value if isinstance(value, list) and any(isinstance(i, dict) for i in value) else []
        shown = "" if maps else f" {_named(name, value, names)}"
        text.append(f"{name}:", "bold").append(shown).append("\n")
        for item in maps:
            text.append(f"  - {_trail(item)}\n")
    text.rstrip()
    return text


def _trail(item: Any) -> str:
    """A map on one line: its values by name, the maps inside it in brackets."""
    if not isinstance(item, dict):
        return cell(item)
    parts = []
    for key, value in item.items():
        if isinstance(value, list) and any(isinstance(one, dict) for one in value):
            parts.append(f"{one_line(key)}: " + " ".join(f"({_trail(one)})" for one in value))
        elif value not in (None, [], ""):
            parts.append(f"{one_line(key)}: {cell(value)}")
    return ", ".join(parts)


def _tree(row: Mapping[str, Any], names: Mapping[int, str]) -> Tree:
    """One row: what names it as the head, everything else below; maps become branches."""
    from rich.text import Text
    from rich.tree import Tree

    head = _head(row)
    tree = Tree(Text(f"{head}: {_named(head, row[head], names)}", "bold"), guide_style="dim")
    _grow(tree, {key: value for key, value in row.items() if key != head}, names)
    return tree


def _head(row: Mapping[str, Any]) -> str:
    known = (name for name in _HEADS if row.get(name) not in (None, "", []))
    return next(known, next(iter(row)))


def _grow(branch: Tree, row: Mapping[str, Any], names: Mapping[int, str]) -> None:
    from rich.text import Text

    for key, value in row.items():
        if value in (None, [], "") or (key == "nodes" and row.get("path")):
            continue
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            below = branch.add(Text(one_line(key), "cyan"))
            for item in value:
                if isinstance(item, dict):
                    _grow_item(below, item, names)
        elif isinstance(value, list) and key in _LINES:
            below = branch.add(Text(one_line(key), "cyan"))
            for item in value:
                below.add(Text(cell(item)))
        else:
            branch.add(Text.assemble((f"{one_line(key)}: ", "cyan"), _named(key, value, names)))


def _grow_item(branch: Tree, item: Mapping[str, Any], names: Mapping[int, str]) -> None:
    """A map of a list: a node with its stage and sentences, or any other."""
    from rich.text import Text

    if isinstance(item.get("text"), str) and "sentence" in item:
        number = item["sentence"]
        branch.add(Text(f"{number}: {one_line(item['text'])}"))
        return
    head = _head(item)
    title = Text(_named(head, item[head], names), "cyan")
    rest = {key: value for key, value in item.items() if key != head}
    if head == "node_id" and "stage" in rest:
        title.append(f"  stage {_named('stage', rest.pop('stage'), names)}", "dim")
        rest.pop("role", None)
        sentences = rest.pop("sentences", None) or []
        below = branch.add(title)
        for one in sentences:
            if isinstance(one, dict):
                _grow_item(below, one, names)
        _grow(below, rest, names)
    else:
        _grow(branch.add(title), rest, names)


def cell(value: Any) -> str:
    """A value on one line of a table."""
    if value is None:
        return ""
    if isinstance(value, str):
        return one_line(_MOMENT.sub(r"\1 \2", value) if _MOMENT.fullmatch(value) else value)
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return one_line(", ".join(str(item) for item in value))
    return clean(json.dumps(value, ensure_ascii=False))

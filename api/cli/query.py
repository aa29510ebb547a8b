"""`veritrail query`: the named queries of the library."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.app import Application
from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import console, print_json, say, show
from veritrail_graph.api.views.texts import clean, figure, one_line
from veritrail_graph.api.views.words import INDICATIVE_IN_PART
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from veritrail_graph.cypher import Statement
    from veritrail_graph.graph.model.listed import QueryResult


_BEYOND_ANY_SCREEN = 100_000


def query(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The query; --list shows all.")
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="key=value", help="A parameter; may be repeated."),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="Show every query with its purpose and parameters.")
    ] = False,
    as_cypher: Annotated[
        bool, typer.Option("--cypher", help="Print the statement, ready for Neo4j Browser.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the graph a named question."""
    if list_all:
        if name is not None or param or as_cypher:
            raise InputError("--list shows every query: leave out the name, --param and --cypher.")
        queries = Application().queries
        if as_json:
            print_json({"queries": [queries.described(one) for one in queries.all()]})
        else:
            _tell_library(queries.grouped())
        return
    if name is None:
        raise InputError("Name a query; `veritrail query --list` shows all of them.")
    given = _read(param or [])
    if as_cypher:
        queries = Application().queries
        text = queries.as_text(name, given)
        if as_json:
            print_json({"name": queries.find(name).short_name, "cypher": text})
        else:
            typer.echo(text, nl=False)
        return

    async def asked(app: Application) -> QueryResult:
        app.queries.check(name, given)  # a wrong call starts no engine
        return await app.queries.run(name, given)

    result = ask(asked, as_json=as_json)
    if as_json:
        print_json(
            {
                "columns": list(result.columns),
                "rows": [list(row) for row in result.rows],
                "truncated": result.truncated,
                "indicative": result.indicative,
            }
        )
    else:
        tell_result(result)


def _read(params: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for param in params:
        key, sign, value = param.partition("=")
        if not sign or not key:
            raise InputError(f"--param {param!r}: must be key=value")
        if key in given:
            raise InputError(f"--param {key!r} is given more than once: give it once")
        given[key] = value
    return given


def _tell_library(groups: dict[str, tuple[Statement, ...]]) -> None:
    from rich.table import Table
    from rich.text import Text

    width = max(len(one.short_name) for group in groups.values() for one in group)
    for heading, statements in groups.items():
        show(Text(heading, "bold"))
        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        table.add_column("query", no_wrap=True, style="cyan", min_width=width)
        table.add_column("purpose", overflow="fold")
        for statement in statements:
            parameters = ", ".join(
                parameter.name if parameter.required else f"[{parameter.name}]"
                for parameter in statement.parameters
            )
            purpose = Text(statement.purpose)
            table.add_row(statement.short_name, purpose.append(f"\n{parameters}", "dim"))
        show(table)
        show(Text(""))
    say(
        "Parameters in brackets have a default. --cypher prints the statement, and "
        "docs/queries.md shows every query with its columns and an answer.",
        "dim",
    )


def tell_result(result: QueryResult) -> None:
    """Print rows as a table, or one below the other where a table is too wide for the terminal.

    What limits the answer is said on stderr: more rows, verdicts that are indicative only.
    """
    from rich.text import Text

    table = _table(result)
    screen = console()
    boundless = screen.options.update(max_width=_BEYOND_ANY_SCREEN)
    needed = screen.measure(table, options=boundless).maximum
    if screen.is_terminal and needed > screen.width:
        for row in result.rows:
            show(_record(result.columns, row))
            show(Text(""))
    else:
        show(table)
    if not result.rows:
        say("No rows.", "dim")
    if result.truncated:
        say("There are more rows; raise `--param limit=N`.", "yellow")
    if result.indicative:
        say(f"Verdicts are {INDICATIVE_IN_PART}.", "yellow")


def _table(result: QueryResult) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in result.columns:
        table.add_column(column, overflow="fold")
    for row in result.rows:
        table.add_row(*(Text(cell(value)) for value in row))
    return table


def _record(columns: tuple[str, ...], row: tuple[Any, ...]) -> Text:
    """One row as lines of `column: value`; the maps of a list stand below each other."""
    from rich.text import Text

    text = Text()
    for name, value in zip(columns, row, strict=True):
        maps = value if isinstance(value, list) and any(isinstance(i, dict) for i in value) else []
        text.append(f"{name}:", "bold").append("" if maps else f" {cell(value)}").append("\n")
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


def cell(value: Any) -> str:
    """A value on one line of a table."""
    if value is None:
        return ""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return one_line(", ".join(str(item) for item in value))
    return clean(json.dumps(value, ensure_ascii=False))

"""`veritrail query`: the named queries of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.app import Application
from veritrail_graph.api.cli import completion
from veritrail_graph.api.cli.exits import ask
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.query_output import Form, tell_result
from veritrail_graph.api.cli.terminal import print_json, say, show
from veritrail_graph.graph.errors import InputError, NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from veritrail_graph.cypher import Statement
    from veritrail_graph.graph.model.queried import QueryRows


def query(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="The query; --list shows all.",
            autocompletion=completion.queries,
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[VALUE]…",
            help="Its parameters, in the order of --list.",
            autocompletion=completion.query_values,
        ),
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
    form: Annotated[Form, typer.Option("--format", help="How the answer is printed.")] = Form.TABLE,
    as_json: AsJson = False,
) -> None:
    """Ask the graph a named question.

    Ids of processes, claims and verifications may be short: the first letters, or @last.
    """
    as_json = as_json or form is Form.JSON
    if list_all:
        if name is not None or param or as_cypher:
            raise InputError("--list shows every query: leave out the name, --param and --cypher.")
        queries = Application().queries
        if as_json:
            print_json({"queries": [queries.described(one).json_object() for one in queries.all()]})
        else:
            _tell_library(queries.grouped())
        return
    if name is None:
        raise InputError("Name a query; `veritrail ask --list` shows all of them.")
    given = _read(param or [])
    if values:
        given = _in_order(Application().queries.find(name), values, given)
    if as_cypher:
        queries = Application().queries
        text = queries.as_text(name, given)
        if as_json:
            print_json({"name": queries.find(name).short_name, "cypher": text})
        else:
            typer.echo(text, nl=False)
        return
    result, stage_names = ask(lambda app: _asked(app, name, given, form), as_json=as_json)
    if as_json:
        print_json(result.json_object())
    else:
        tell_result(result, form, stage_names)


async def _asked(
    app: Application, name: str, given: Mapping[str, str], form: Form
) -> tuple[QueryRows, Mapping[int, str]]:
    """The answer, and the names of the stages of the process that it is about."""
    app.queries.check(name, given)  # a wrong call starts no engine
    try:
        result = await app.queries.run(name, given)
    except NotFound:
        meant = await _in_full(app, given)
        if meant == given:
            raise
        given, result = meant, await app.queries.run(name, meant)
    shows_stages = form is Form.TREE or "stage" in result.columns
    if form is Form.JSON or "process_id" not in given or not shows_stages:
        return result, {}
    return result, (await app.processes.get(given["process_id"])).stage_names


async def _in_full(app: Application, given: Mapping[str, str]) -> dict[str, str]:
    """Return the same parameters with ids in full."""
    meant = dict(given)
    if "process_id" in meant:
        meant["process_id"] = await app.names.process(meant["process_id"])
        if "claim_id" in meant:
            claim = await app.names.claim(meant["process_id"], meant["claim_id"])
            meant["claim_id"] = claim.claim_id
    for name in (one for one in meant if one.endswith("verification_id")):
        meant[name] = await app.names.verification(meant[name])
    return meant


def _in_order(statement: Statement, values: list[str], given: Mapping[str, str]) -> dict[str, str]:
    """Parameters that are given by their place, beside those that are given by name.

    Raises:
        InputError: There are more values than parameters.
    """
    names = [one.name for one in statement.parameters if one.required]
    names += [one.name for one in statement.parameters if not one.required]
    free = [name for name in names if name not in given]
    if len(values) > len(free):
        known = ", ".join(names) or "none"
        raise InputError(
            f"{statement.short_name} has fewer parameters than these {len(values)} values. It has: "
            f"{known}."
        )
    return {**dict(zip(free, values, strict=False)), **given}


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

"""Queries of the library as text to paste into Neo4j Browser, and a link that opens it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit, urlunsplit

if TYPE_CHECKING:
    from veritrail_graph.cypher import Statement

HTTP_PORT, HTTPS_PORT = 7474, 7473
_HOSTED = ".databases.neo4j.io"
_HOSTED_BROWSER = "https://browser.neo4j.io/"


def pasteable(statement: Statement, given: Mapping[str, object]) -> str:
    """The statement behind lines that set its parameters, as Neo4j Browser and its shell take it.

    A parameter that must be given and was not has the value of the query's example.
    """
    from veritrail_graph.graph.exporters.cypher_script import literal
    from veritrail_graph.graph.store.queries import MAX_ROWS, example_of, read_parameters

    required = {parameter.name for parameter in statement.parameters if parameter.required}
    examples = {key: value for key, value in example_of(statement).items() if key in required}
    lines = [f"// {statement.purpose}"]
    values = read_parameters(statement, {**examples, **given})
    if "limit" in values:
        values["limit"] = values["limit"] or MAX_ROWS
    lines += [f":param {name} => {literal(value)};" for name, value in values.items()]
    return "\n".join(lines) + f"\n\n{statement.text};\n"


def browser_link(
    uri: str | None, database: str | None, text: str, browser: str | None = None
) -> str | None:
    """The address that opens Neo4j Browser with a statement in its editor; no user, no password.

    Args:
        uri: Where the server listens; None: the graph is no Neo4j server.
        database: Its database, if one is named.
        text: The statement.
        browser: Where Neo4j Browser is; None: beside the server, at its usual port.
    """
    found = urlsplit(uri or "")
    if not found.hostname:
        return None
    host = f"[{found.hostname}]" if ":" in found.hostname else found.hostname
    place = f"{host}:{found.port}" if found.port else host
    parameters = {"dbms": urlunsplit((found.scheme, place, "", "", ""))}
    if database:
        parameters["db"] = database
    parameters |= {"cmd": "edit", "arg": text}
    return f"{browser or _browser(found.scheme, host)}?{urlencode(parameters)}"


def _browser(scheme: str, host: str) -> str:
    if host.endswith(_HOSTED):
        return _HOSTED_BROWSER
    if "+s" in scheme:
        return f"https://{host}:{HTTPS_PORT}/browser/"
    return f"http://{host}:{HTTP_PORT}/browser/"

"""The query library: named questions with typed parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from veritrail_graph.api.app.part import Part

if TYPE_CHECKING:
    from veritrail_graph.cypher import Statement
    from veritrail_graph.graph.model.queried import Query, QueryRows


class Queries(Part):
    """The query library."""

    @staticmethod
    def all() -> tuple[Statement, ...]:
        """Every query, by name."""
        from veritrail_graph.graph.store.queries import library

        return library()

    @staticmethod
    def grouped() -> dict[str, tuple[Statement, ...]]:
        """Every query, by its heading."""
        from veritrail_graph.graph.store.queries import grouped

        return grouped()

    @staticmethod
    def described(statement: Statement) -> Query:
        """Return a query with all that its header says."""
        from veritrail_graph.graph.store.queries import described

        return described(statement)

    @staticmethod
    def find(name: str) -> Statement:
        """A query by its name.

        Raises:
            NotFound: There is none.
        """
        from veritrail_graph.graph.store.queries import find

        return find(name)

    def check(self, name: str, parameters: Mapping[str, Any]) -> None:
        """See that a call is right before the graph is opened.

        Raises:
            NotFound: There is no such query.
            InputError: A parameter is missing, unknown, of another type or out of its bounds.
        """
        from veritrail_graph.graph.store.queries import read_parameters

        read_parameters(self.find(name), parameters)

    async def run(self, name: str, parameters: Mapping[str, Any]) -> QueryRows:
        """Run a query, with parameters as text or as values.

        Raises:
            NotFound: There is no such query, or what it asks about is not stored.
            InputError: A parameter is missing, unknown, of another type or out of its bounds.
        """
        found = await (await self._store()).queries.run(name, parameters)
        return await self._app.in_flight.add_rows(name, parameters, found)

    async def statement(
        self, text: str, parameters: Mapping[str, Any], limit: int, *, write: bool = False
    ) -> QueryRows:
        """Run a statement that a person wrote; at most `limit` rows come back.

        Raises:
            EngineError: The engine refuses it, or takes longer than it may.
        """
        store = await self._store()
        return await store.database.run_text(text, parameters, limit, write=write)

    def as_text(self, name: str, parameters: Mapping[str, Any]) -> str:
        """The statement of a query with its parameters, as Neo4j Browser and its shell take it.

        Raises:
            NotFound: There is no such query.
            InputError: A parameter is unknown or of another type.
        """
        return pasteable(self.find(name), parameters)

    def browser_link(self, text: str) -> str | None:
        """The address that opens Neo4j Browser with a statement; None: there is no server."""
        settings = self._app.settings
        return browser_link(
            settings.neo4j_uri,
            settings.neo4j_database,
            text,
            settings.neo4j_browser,
        )


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

"""The port of tools that keep traces, and how a connection to one is made of the environment."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers.addresses.address import ToolAddress
from veritrail_graph.graph.importers.addresses.connection import Bounds, Login, ToolConnection


@dataclass(frozen=True, slots=True)
class ListedTrace:
    """A trace of a list.

    Attributes:
        trace_id: Its id, which is that of its process.
        is_running: Whether it is still being written.
    """

    trace_id: str
    is_running: bool = False


class Tool(Protocol):
    """A tool that keeps traces.

    Attributes:
        at_once: How many traces one call of `traces` is given at most.
        form: The format of `exporters.verdicts` in which it takes verdicts; None: it takes none.
    """

    at_once: int
    form: str | None

    async def project(self) -> str | None:
        """The project in terms that no other project of the same server shares.

        None where the tool does not tell.

        Raises:
            InputError: There is no such project, or the tool cannot be asked.
        """
        ...

    def listed(self) -> AsyncIterator[ListedTrace]:
        """The traces of the address, the newest first.

        Raises:
            InputError: The tool cannot be asked, or answers with what is no list.
        """
        ...

    async def traces(self, trace_ids: Sequence[str]) -> dict[str, Any]:
        """Traces by their ids, each as the reader of the tool's format reads a line of a file.

        What the tool does not hand out is not among them.

        Raises:
            InputError: The tool cannot be asked, or answers with what is no trace.
        """
        ...

    async def write_back(self, document: bytes) -> int:
        """Write verdicts beside the traces; give how many things were written.

        What was written before is not written twice.

        Args:
            document: The verdicts of a process, in the form of the tool.

        Raises:
            InputError: The tool refuses them, or some of them.
        """
        ...


class Pages:
    """Sees that a tool's pages come to an end.

    Args:
        address: What is read.
    """

    MOST = 100_000

    def __init__(self, address: ToolAddress) -> None:
        self._address = address
        self._cursors: set[str] = set()

    def next(self, cursor: Any) -> str | None:
        """Return the cursor of the next page; None: there is none.

        Raises:
            InputError: It is that of a page that was read, or there are too many.
        """
        if cursor is None or cursor == "":
            return None
        if not isinstance(cursor, str) or cursor in self._cursors:
            words = "is no text" if not isinstance(cursor, str) else "leads back to a page"
            raise InputError(f"{self._address}: the cursor of the next page {words}.")
        if len(self._cursors) >= self.MOST:
            raise InputError(f"{self._address}: there are more than {self.MOST:,} pages.")
        self._cursors.add(cursor)
        return cursor


def entries(page: Any, key: str, address: ToolAddress) -> list[dict[str, Any]]:
    """Return the objects of a page.

    Raises:
        InputError: It holds none.
    """
    found = page.get(key) if isinstance(page, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InputError(f"{address}: an answer holds no list {shown(key)} of objects.")
    return found


def open_tool(
    address: ToolAddress, environ: Mapping[str, str], bounds: Bounds | None = None
) -> tuple[ToolConnection, Tool]:
    """Return a connection to the tool of an address, and the tool.

    Raises:
        InputError: The environment holds no key or no host.
    """
    module = import_module(f"{__package__}.{address.tool}")
    login: Login = module.login(environ)
    connection = ToolConnection(login, bounds)
    tool: Tool = module.open_tool(connection, address)
    return connection, tool


def value_of(environ: Mapping[str, str], *names: str) -> str:
    """Return the first of some variables that is set; empty: none is."""
    return next((found for name in names if (found := environ.get(name, "").strip())), "")


def basic(user: str, password: str) -> str:
    """Return the header of a login by name and password."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

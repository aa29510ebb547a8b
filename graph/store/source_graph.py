"""A graph that another application wrote, read in the thread of an importer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self, TypeVar

from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.store.database import Database, DatabaseAddress, Row

_WAIT = 10.0
T = TypeVar("T")


class SourceGraph:
    """A connection that only reads, open within a `with` block.

    Args:
        address: Where the engine listens.
    """

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address
        self._database = self._named(lambda: Database(address, retry_seconds=_WAIT))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._database.close_here()

    def rows(self, name: str, /, **parameters: Any) -> list[Row]:
        """All rows of a reading statement.

        Raises:
            EngineError: The engine does not answer, or does not let us in.
        """
        return self._named(lambda: self._database.read_here(name, **parameters))

    def stream(self, name: str, /) -> Iterator[Row]:
        """The rows of a reading statement as they arrive, in one transaction.

        Raises:
            EngineError: As `rows` says.
        """
        rows = self._database.stream_here(name)
        while (row := self._named(lambda: next(rows, None))) is not None:
            yield row

    def _named(self, work: Callable[[], T]) -> T:
        """Run something; its faults name the settings that hold the login of this graph."""
        try:
            return work()
        except EngineError as error:
            said = str(error).replace("NEO4J_", self._address.settings)
            raise type(error)(said) from error

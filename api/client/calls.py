"""A call of an operation that is not carried out yet, and lists that are read page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from veritrail_graph.api.client.answers import Listed

if TYPE_CHECKING:
    from pandas import DataFrame

T = TypeVar("T")

Source = str | PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A process: the path of a file, a document, or its lines (`veritrail.process/1`)."""

Read = Callable[[Any], Awaitable[tuple[Sequence[T], Any]]]
"""Reads a page from a cursor on; None: the first. Gives its items and the next cursor."""


class AsyncPages(Generic[T]):
    """A list that is read by the page as it is iterated over; each time anew.

    Args:
        name: What is listed.
        read: Reads a page.
    """

    def __init__(self, name: str, read: Read[T]) -> None:
        self.name = name
        self._read = read

    async def __aiter__(self) -> AsyncIterator[T]:
        items, cursor = await self._read(None)
        while True:
            for item in items:
                yield item
            if cursor is None:
                return
            items, cursor = await self._read(cursor)

    async def all(self) -> Listed[T]:
        """Everything, as a list."""
        return Listed([item async for item in self])

    async def to_pandas(self) -> DataFrame:
        """A row an item, a column a field; pandas must be there."""
        return (await self.all()).to_pandas()

    def __repr__(self) -> str:
        return f"<{self.name}: iterate with `async for`, or await .all()>"


@dataclass(frozen=True, slots=True)
class Call:
    """One operation with its arguments, not carried out yet.

    Attributes:
        name: The operation.
        method: Of HTTP.
        path: Its path, with a place for each id.
        ids: The ids.
        query: Parameters of the address; those that are None are left out.
        body: A JSON body.
        source: A process that is uploaded.
        headers: More headers.
        is_repeatable: Whether it may be sent again when no answer came.
        seconds: How long the answer may take; None: as long as the client waits for any.
    """

    name: str
    method: str
    path: str
    ids: tuple[str, ...] = ()
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    source: Source | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = True
    seconds: float | None = None

    @property
    def url(self) -> str:
        """The path with its ids, which may hold any character."""
        return self.path.format(*(quote(one, safe=":") for one in self.ids))

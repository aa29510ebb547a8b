"""What a call is: an operation with its arguments, described and not yet sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from veritrail_graph.api.client.answers import Answer, Page, page_of

T = TypeVar("T")
A = TypeVar("A", bound=Answer)

Source = str | PathLike[str] | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A process: the path of a file, a document, or its lines (`veritrail.process/1`)."""

PAGE = 100


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One operation with its arguments.

    Attributes:
        name: The operation.
        method: Of HTTP.
        path: Its path; ids in it are encoded.
        read: Makes the answer from JSON.
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
    read: Callable[[Any], T]
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    source: Source | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = True
    seconds: float | None = None

    def behind(self, cursor: str) -> Call[T]:
        """The same list from another place on."""
        return replace(self, query={**self.query, "cursor": cursor})


def get_call(
    name: str, path: str, answer: type[A], query: Mapping[str, Any] | None = None
) -> Call[A]:
    """A call that only reads."""
    return Call(name, "GET", path, answer.model_validate, query or {})


def list_call(name: str, path: str, answer: type[A], query: Mapping[str, Any]) -> Call[Page[A]]:
    """A call that reads a list by the page."""
    return Call(name, "GET", path, partial(page_of, answer, name), query)


def post_call(
    name: str,
    path: str,
    read: Callable[[Any], T],
    body: Mapping[str, Any],
    *,
    is_repeatable: bool = False,
) -> Call[T]:
    """A call that sends a JSON body."""
    return Call(name, "POST", path, read, body=body, is_repeatable=is_repeatable)


def process_path(process_id: str, *more: str) -> str:
    """The path of a process, or of something in it."""
    return "/".join(("/v1/processes", quote(process_id, safe=""), *map(segment, more)))


def segment(text: str) -> str:
    """A part of a path; ids may hold any character."""
    return quote(text, safe=":")

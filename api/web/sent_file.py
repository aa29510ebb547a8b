"""A form with a file, read piece by piece as it comes: neither is ever in memory as a whole."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.datastructures import Headers

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MOST_FIELD = 10_000
"""Bytes of one field that is no file, or of the headers of one part."""

_Event = tuple[str, bytes]


class SentFile:
    """A form whose last field is a file.

    Args:
        request: The request; nothing of its body was read.

    Attributes:
        headers: Its headers.
        fields: The fields before the file, once `begin` was called.
        name: What the sender called the file.

    Raises:
        InputError: It is no form with a file.
    """

    def __init__(self, request: Request) -> None:
        kind, options = parse_options_header(request.headers.get("content-type", ""))
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise InputError("The form was not sent as one with a file. Load the page again.")
        self.headers: Headers = request.headers
        self.fields: dict[str, str] = {}
        self.name = ""
        self._body = request.stream()
        self._events: deque[_Event] = deque()
        callbacks: MultipartCallbacks = {
            "on_part_begin": lambda: self._note("part"),
            "on_header_field": lambda data, start, end: self._note("header", data[start:end]),
            "on_header_value": lambda data, start, end: self._note("value", data[start:end]),
            "on_header_end": lambda: self._note("header_end"),
            "on_headers_finished": lambda: self._note("headers"),
            "on_part_data": lambda data, start, end: self._note("data", data[start:end]),
            "on_part_end": lambda: self._note("part_end"),
            "on_end": lambda: self._note("end"),
        }
        self._parser = MultipartParser(options[b"boundary"], callbacks)
        self._is_over = False

    def _note(self, what: str, data: bytes = b"") -> None:
        self._events.append((what, data))

    async def begin(self) -> None:
        """Read the fields up to the file.

        Raises:
            InputError: It is no form of ours, or has no file.
        """
        header, value, data = bytearray(), bytearray(), bytearray()
        said: dict[str, str] = {}
        field: str | None = None
        while (event := await self._next()) is not None:
            what, piece = event
            if what == "part":
                said, field = {}, None
                data.clear()
            elif what == "header":
                header += piece
            elif what == "value":
                value += piece
            elif what == "header_end":
                said[header.decode("latin-1").lower()] = value.decode("utf-8", "replace")
                header.clear()
                value.clear()
            elif what == "headers":
                field, name = _disposition(said.get("content-disposition", ""))
                if name is not None:
                    self.name = name
                    return
            elif what == "data":
                data += piece
            elif what == "part_end" and field is not None:
                self.fields[field] = data.decode("utf-8", "replace")
            if len(header) + len(value) + len(data) > MOST_FIELD or len(self.fields) > 20:
                raise InputError("The form has more in it than it can have.")
        raise InputError("The form has no file in it. Choose one and send it again.")

    async def stream(self) -> AsyncIterator[bytes]:
        """The bytes of the file, as they come.

        Raises:
            InputError: The form is damaged.
        """
        while (event := await self._next()) is not None:
            what, piece = event
            if what == "data":
                yield piece
            elif what == "part_end":
                break
        else:
            raise InputError("The file did not arrive whole. Send it again.")
        while not self._is_over:  # what comes behind it is nothing that is asked for
            self._events.clear()
            await self._feed()

    async def _next(self) -> _Event | None:
        """The next thing that was read; None: there is nothing more."""
        while not self._events and not self._is_over:
            await self._feed()
        return self._events.popleft() if self._events else None

    async def _feed(self) -> None:
        piece = await anext(self._body, b"")
        if not piece:
            self._is_over = True
            return
        try:
            self._parser.write(piece)
        except FormParserError:
            raise InputError("The form cannot be read. Load the page and send it again.") from None


def _disposition(header: str) -> tuple[str | None, str | None]:
    """Name of a field, and of its file where it is one."""
    _, options = parse_options_header(header.encode("utf-8", "replace"))
    name, file = options.get(b"name"), options.get(b"filename")
    return (
        name.decode("utf-8", "replace") if name is not None else None,
        file.decode("utf-8", "replace") if file is not None else None,
    )

"""Connections to one endpoint: of those that wait, the one that was used last is taken first.

A pool of many looks at each of its waiting connections twice a call, which takes longer than the
call where there are dozens. Here a call looks at its own connection alone.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, NamedTuple

import httpx2

if TYPE_CHECKING:
    import ssl

EXPIRY = 5.0
"""Seconds after which a connection that waits is closed, as the client's own pool has it."""


class _Waiting(NamedTuple):
    """A connection that waits, and since when."""

    connection: httpx2.AsyncHTTPTransport
    since: float


class KeptConnections(httpx2.AsyncBaseTransport):
    """As many connections as calls are in flight.

    Args:
        verify: How the other end is checked.
        most: The most connections that wait for a call.
    """

    def __init__(self, verify: ssl.SSLContext, most: int) -> None:
        self._verify, self._most = verify, most
        self._waiting: deque[_Waiting] = deque()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request over a connection that nothing else uses until its answer is closed."""
        connection = self._waiting.pop().connection if self._waiting else self._made()
        try:
            response = await connection.handle_async_request(request)
        except BaseException:
            await self._put_back(connection)
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101  # it is async
        response.stream = _Answer(response.stream, self, connection)
        return response

    async def aclose(self) -> None:
        """Close the connections that wait."""
        while self._waiting:
            await self._waiting.pop().connection.aclose()

    def _made(self) -> httpx2.AsyncHTTPTransport:
        one = httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=EXPIRY)
        return httpx2.AsyncHTTPTransport(verify=self._verify, limits=one)

    async def _put_back(self, connection: httpx2.AsyncHTTPTransport) -> None:
        """Let another call have a connection; close those that have waited for too long."""
        waiting, moment = self._waiting, time.monotonic()
        waiting.append(_Waiting(connection, moment))
        # While one is closed other calls go on, and may take all that wait.
        while waiting and (len(waiting) > self._most or waiting[0].since < moment - EXPIRY):
            await waiting.popleft().connection.aclose()


class _Answer(httpx2.AsyncByteStream):
    """A body; its connection is put back when it is closed."""

    def __init__(
        self,
        body: httpx2.AsyncByteStream,
        kept: KeptConnections,
        connection: httpx2.AsyncHTTPTransport,
    ) -> None:
        self._body, self._kept, self._connection = body, kept, connection
        self._is_closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._body:
            yield part

    async def aclose(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        try:
            await self._body.aclose()
        finally:
            await self._kept._put_back(self._connection)

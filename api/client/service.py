"""Clients of a service: `Client` waits for its answers, `AsyncClient` is awaited."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
from typing_extensions import override

from veritrail_graph.api.advice import CALLER_HEADER
from veritrail_graph.api.client import uploads
from veritrail_graph.api.client.answers import Event, JobState
from veritrail_graph.api.client.blocking import Blocking
from veritrail_graph.api.client.calls import Call
from veritrail_graph.api.client.faults import (
    Problem,
    StrangeAnswer,
    Unavailable,
    Unreachable,
    problem_of,
)
from veritrail_graph.api.client.operations import AsyncOperations
from veritrail_graph.graph.certificates import trusted_certificates
from veritrail_graph.graph.errors import InputError

T = TypeVar("T")

URL = "http://127.0.0.1:8000"
TIMEOUT = 60.0
PATIENCE = 60.0
"""Seconds for which calls that may be repeated are tried again."""


class AsyncClient(AsyncOperations):
    """The operations over REST, to be awaited.

    Args:
        url: The service; default: VERITRAIL_URL, else the one on this machine.
        key: Its key; default: VERITRAIL_API_KEY. It is sent to this service alone and never shown.
        timeout: Seconds that an answer may take.
        patience: Seconds for which calls that may be repeated are tried again.
        caller: The door whose advice errors give: `python` or `mcp`.

    Raises:
        InputError: The address or the key cannot be one.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
        caller: str = "python",
    ) -> None:
        self.url = _checked_url(url or os.environ.get("VERITRAIL_URL") or URL)
        key = key or os.environ.get("VERITRAIL_API_KEY") or None
        self._has_key = key is not None
        # A proxy of the environment is not asked for what is on this machine.
        trust_env = not _is_this_machine(self.url)
        http = httpx2.AsyncClient(
            base_url=self.url,
            headers={
                CALLER_HEADER: caller,
                **({"Authorization": f"Bearer {_checked_key(key)}"} if key else {}),
            },
            trust_env=trust_env,
            verify=trusted_certificates(trust_env=trust_env),
        )
        self._sender = Sender(http, timeout, patience)

    def __repr__(self) -> str:
        return f"AsyncClient({self.url!r}, {'with' if self._has_key else 'without'} a key)"

    async def aclose(self) -> None:
        """Close the connections."""
        await self._sender.aclose()

    @override
    async def perform(self, call: Call, read: Callable[[Any], T]) -> T:
        return await self._sender.send(call, read)

    @override
    def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        return self._sender.events(job_id, after)


class Client(Blocking):
    """The operations over REST, for plain callers.

    Args:
        url: The service; default: VERITRAIL_URL, else the one on this machine.
        key: Its key; default: VERITRAIL_API_KEY. It is sent to this service alone and never shown.
        timeout: Seconds that an answer may take.
        patience: Seconds for which calls that may be repeated are tried again.

    Raises:
        InputError: The address or the key cannot be one.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(AsyncClient(url, key, timeout=timeout, patience=patience))


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise InputError(f"{url!r} is no address of a service; write it as http://host:8000")
    if parts.username is not None or parts.password is not None:
        raise InputError("the address of the service holds a user name or password; give `key`")
    return url.rstrip("/")


def _checked_key(key: str) -> str:
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise InputError("the key holds characters that no key has; it was not sent")
    return key


def _is_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


LONGEST_PAUSE = 15.0
CONNECT_SECONDS = 10.0
QUIET_SECONDS = 60.0
"""Seconds without a line, not even a heartbeat, after which a stream of events is taken up anew."""
_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
_NOT_JSON = object()


class Sender:
    """Sends calls to one service.

    Args:
        http: The connections, with the address and the key.
        timeout: Seconds that an answer may take.
        patience: Seconds for which calls that may be repeated are tried again.

    Attributes:
        url: The address, as it is named in errors.
    """

    def __init__(self, http: httpx2.AsyncClient, timeout: float, patience: float) -> None:
        self.url = str(http.base_url).rstrip("/")
        self._http = http
        self._timeout = timeout
        self._patience = patience

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, call: Call, read: Callable[[Any], T]) -> T:
        """Send a request and read the JSON of its answer.

        Raises:
            Problem: The service refused, or could not do it.
            Unreachable: It does not answer.
            StrangeAnswer: It answers what no service of ours would.
        """
        document = await self._document(call)
        try:
            return read(document)
        except (ValueError, KeyError, TypeError) as error:
            raise StrangeAnswer(
                f"{self.url} answered {call.name} with something unexpected; is it a service of "
                f"another version? ({type(error).__name__})"
            ) from error

    async def _document(self, call: Call) -> Any:
        """The JSON of the answer; what may be repeated is, for as long as patience lasts."""
        end = asyncio.get_running_loop().time() + self._patience
        may_repeat = call.is_repeatable and (call.source is None or uploads.can_repeat(call.source))
        for attempt in range(1_000):
            pause = _PAUSES[min(attempt, len(_PAUSES) - 1)] * random.uniform(0.7, 1.0)  # noqa: S311
            try:
                return await self._sent(call)
            except Problem as problem:
                # Too many requests: it was not looked at, so it may be sent again in any case.
                comes_again = problem.status == 503 or problem.kind == "job-busy"
                if not (comes_again and may_repeat) and problem.status != 429:
                    raise
                pause = max(pause, min(problem.retry_after or 0.0, LONGEST_PAUSE))
                fault: Exception = problem
            except Unreachable as error:
                never_sent = isinstance(error.__cause__, httpx2.ConnectError)
                if not (may_repeat or (never_sent and call.source is None)):
                    raise
                fault = error
            if asyncio.get_running_loop().time() + pause > end:
                raise fault
            await asyncio.sleep(pause)
        raise AssertionError("patience outlasted a thousand attempts")

    async def _sent(self, call: Call) -> Any:
        headers = {"Accept": "application/json", **call.headers}
        content: AsyncIterator[bytes] | bytes | None = None
        seconds = call.seconds or self._timeout
        # A file may be sent for as long as each piece moves; from its last one on, time counts.
        whole = asyncio.timeout(seconds if call.source is None else None)
        if call.source is not None:
            headers["Content-Type"] = await asyncio.to_thread(uploads.media_type, call.source)
            content = _then(uploads.pieces(call.source), lambda: whole.reschedule(_in(seconds)))
        elif call.body is not None:
            headers["Content-Type"] = uploads.JSON
            content = uploads.written(call.body)
        query = {name: _as_text(value) for name, value in call.query.items() if value is not None}
        try:
            async with whole:
                response = await self._http.request(
                    call.method,
                    call.url,
                    params=query or None,
                    headers=headers,
                    content=content,
                    timeout=httpx2.Timeout(
                        seconds, connect=CONNECT_SECONDS, write=max(self._timeout, TIMEOUT)
                    ),
                )
        except TimeoutError:
            late = f"{self.url} gave no whole answer within {seconds:g} s."
            raise Unreachable(late) from None
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        return self._read(response, response.content)

    def _unreachable(self, error: Exception) -> Unreachable:
        reason = str(error) or type(error).__name__
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return Unreachable(
                f"No service answers at {self.url} ({reason}). Is it running? "
                "`veritrail serve` starts one."
            )
        return Unreachable(f"The connection to {self.url} was lost ({reason}).")

    def _read(self, response: httpx2.Response, content: bytes) -> Any:
        """The JSON of an answer.

        Raises:
            Problem: It is a problem.
            StrangeAnswer: It is no JSON.
        """
        try:
            document = json.loads(content) if content.strip() else None
        except (ValueError, RecursionError):
            document = _NOT_JSON
        if response.is_success and document is not _NOT_JSON:
            return document
        if response.status_code >= 400 and (
            isinstance(document, dict) or response.status_code in {502, 503, 504}
        ):
            details = document if isinstance(document, dict) else {}
            raise problem_of(response.status_code, details, response.headers.get("retry-after", ""))
        raise StrangeAnswer(
            f"{self.url} answered with HTTP status {response.status_code} and something that is "
            "no JSON; is that the address of the service?"
        )

    async def events(self, job_id: str, after: str | None) -> AsyncIterator[Event]:
        """Yield what happens in a job until it is over.

        A connection that is lost is taken up again.

        Raises:
            Problem: There is no such job, or it may not be watched.
            Unreachable: The service does not answer for as long as patience lasts.
        """
        loop, job = asyncio.get_running_loop(), Call("job", "GET", "/v1/jobs/{}", (job_id,))
        last, failures, since = after, 0, loop.time()
        while True:
            before = last
            try:
                # A resumed job has events behind its first end: what says that
                # nothing more comes is the service.
                async with aclosing(self._stream(f"{job.url}/events", last)) as stream:
                    async for event in stream:
                        last, failures, since = event.id or last, 0, loop.time()
                        yield event
                if last == before and (await self.send(job, JobState.model_validate)).is_over:
                    return
                failures, since = 1, loop.time()
                await asyncio.sleep(0.0 if last != before else _PAUSES[0])
            except (Unreachable, Unavailable) as fault:
                failures += 1
                if loop.time() - since > self._patience:
                    raise
                wait = getattr(fault, "retry_after", None) or 0.0
                pause = _PAUSES[min(failures, len(_PAUSES)) - 1]
                await asyncio.sleep(max(pause, min(wait, LONGEST_PAUSE)))

    async def _stream(self, path: str, last: str | None) -> AsyncGenerator[Event, None]:
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if last is not None:
            headers["Last-Event-ID"] = last
        timeout = httpx2.Timeout(QUIET_SECONDS, connect=CONNECT_SECONDS)
        try:
            async with self._http.stream("GET", path, headers=headers, timeout=timeout) as response:
                if response.status_code != 200:
                    self._read(response, await response.aread())
                    return
                async for found in httpx2.EventSource(response):
                    if found.data:
                        yield _event(found)
        except httpx2.SSEError as error:
            raise StrangeAnswer(f"{self.url} sent no events: {error}") from error
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error


def _event(found: httpx2.ServerSentEvent) -> Event:
    data = json.loads(found.data)
    return Event(id=found.id, kind=found.event, data=data if isinstance(data, dict) else {})


async def _then(pieces: AsyncIterator[bytes], done: Callable[[], None]) -> AsyncIterator[bytes]:
    """Pieces, and what happens when the last one was taken."""
    async for piece in pieces:
        yield piece
    done()


def _in(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def _as_text(value: Any) -> str | list[str]:
    if isinstance(value, list):  # a parameter that is repeated
        return [str(one) for one in value]
    return str(value).lower() if isinstance(value, bool) else str(value)

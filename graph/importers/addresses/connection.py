"""One connection to a tool: requests in JSON, within bounds of size, time and pace.

A redirect is not followed, so that no key goes to another host. An answer that asks to wait is
waited for; what breaks off, and faults of the server, are tried again a few times.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from veritrail_graph.graph.certificates import trusted_certificates
from veritrail_graph.graph.errors import InputError, shown

if TYPE_CHECKING:
    import httpx2

_ABSENT = frozenset((404, 405, 501))
_AGAIN = frozenset((429, 500, 502, 503, 504))
_NOT_DONE = frozenset((429, 503))
_REFUSED = frozenset((401, 403))
_REJECTED = frozenset((400, 422))
_REDIRECTS = range(300, 400)
_LONGEST_MESSAGE = 200
_PROBLEM = ("message", "error", "detail", "title")


class NotThere(InputError):
    """A tool answers that there is nothing at this place."""

    code = "tool_has_none"


class TooLong(InputError):
    """An answer, or all of a trace, is longer than it may be."""

    code = "tool_too_long"


class Rejected(InputError):
    """A tool says that what it was sent is not what it takes."""

    code = "tool_rejected"


class _Broken(Exception):
    """An attempt failed, and another may succeed.

    Attributes:
        wait: Seconds to wait first; None: not said.
        may_be_done: Whether the tool may have done what it was asked.
    """

    def __init__(self, words: str, wait: float | None = None, *, may_be_done: bool = True) -> None:
        super().__init__(words)
        self.wait, self.may_be_done = wait, may_be_done


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of one connection.

    Attributes:
        answer: Bytes of one answer.
        together: Bytes of the answers that are in memory together, as those of one trace.
        total: Bytes of all answers.
        attempt: Seconds of one attempt.
        seconds: Seconds of everything.
        attempts: Attempts of one request.
        pause: Seconds before the second attempt; each further one waits twice as long.
    """

    answer: int = 32_000_000
    together: int = 128_000_000
    total: int = 2_000_000_000
    attempt: float = 60.0
    seconds: float = 3_600.0
    attempts: int = 5
    pause: float = 1.0


@dataclass(frozen=True, slots=True)
class Login:
    """The way into a tool.

    Attributes:
        tool: The name of the tool, as people write it.
        url: Where its API is.
        setting: The environment variables that say so.
        keys: The environment variables of its keys.
        headers: Headers that carry them.
        secrets: Texts that no message may hold.
    """

    tool: str
    url: str
    setting: str
    keys: str
    headers: Mapping[str, str]
    secrets: Sequence[str]

    def __repr__(self) -> str:
        return f"Login({self.tool!r}, {self.url!r})"

    def checked(self) -> Login:
        """Return it, if it can be one.

        Raises:
            InputError: The address is none, holds a login, or a key holds signs that none has.
        """
        try:
            parts = urlsplit(self.url)
            is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
            is_whole = is_whole and parts.port != 0
        except ValueError:
            is_whole, parts = False, urlsplit("")
        if "@" in parts.netloc:
            raise InputError(f"{self.setting} holds a login; {self.keys} are for it.")
        if not is_whole:
            raise InputError(f"{self.setting} is no address; write it as https://HOST")
        for one in self.headers.values():
            if not one.isascii() or not one.isprintable():
                raise InputError(f"A key of {self.keys} holds signs that no key has; not sent.")
        return self

    @property
    def host(self) -> str:
        """The host, with its port."""
        return urlsplit(self.url).netloc

    @property
    def warnings(self) -> list[str]:
        """Say so, where keys go over a network that others can read."""
        parts = urlsplit(self.url)
        if not self.headers or parts.scheme == "https" or _is_loopback(parts.hostname or ""):
            return []
        return [f"{self.tool}: the key goes unencrypted to {self.host} (http). Use https."]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


class ToolConnection:
    """Asks a tool, one request after the other.

    Args:
        login: The way in.
        bounds: How much, and how long.
    """

    def __init__(self, login: Login, bounds: Bounds | None = None) -> None:
        self.login = login.checked()
        self._bounds = bounds or Bounds()
        self._client: httpx2.AsyncClient | None = None
        self._until = time.monotonic() + self._bounds.seconds
        self._read = self._mark = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.aclose()

    def begin(self) -> None:
        """Count anew what is in memory together."""
        self._mark = self._read

    async def get(self, path: str, query: Sequence[tuple[str, str]] = ()) -> Any:
        """Return what a tool answers; see `_asked`."""
        return await self._asked("GET", path, query, None)

    async def post(self, path: str, body: Any, *, only_once: bool = False) -> Any:
        """Return what a tool answers to a body; see `_asked`."""
        content = json.dumps(body).encode()
        return await self._asked("POST", path, (), content, only_once=only_once)

    async def _asked(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]],
        body: bytes | None,
        *,
        only_once: bool = False,
    ) -> Any:
        """Ask until there is an answer.

        Args:
            method: The method of HTTP.
            path: The path behind the address of the tool.
            query: The parameters.
            body: What is sent; None: nothing.
            only_once: Whether it is not sent again where the tool may have done it.

        Raises:
            NotThere: There is nothing at this place.
            InputError: It refuses, cannot be reached, or answers with what cannot be read.
        """
        bounds, pause = self._bounds, self._bounds.pause
        for attempt in range(1, bounds.attempts + 1):
            try:
                return await self._once(method, path, query, body)
            except _Broken as error:
                wait = pause * (1 + random.random()) if error.wait is None else error.wait  # noqa: S311
                left = self._until - time.monotonic()
                if only_once and error.may_be_done:
                    words = f"{error}; it may have been written all the same"
                    raise self._fault(words) from None
                if attempt == bounds.attempts:
                    raise self._fault(f"{error}, {attempt} times") from None
                if wait >= left:
                    words = f"{error}; it asks to wait {wait:,.0f} s, longer than is left"
                    raise self._fault(words) from None
            await asyncio.sleep(wait)
            pause *= 2
        raise AssertionError

    async def _once(
        self, method: str, path: str, query: Sequence[tuple[str, str]], body: bytes | None
    ) -> Any:
        import httpx2

        left = self._until - time.monotonic()
        if left <= 0:
            raise self._fault(f"it took longer than {self._bounds.seconds:,.0f} s altogether")
        seconds = min(self._bounds.attempt, left)
        try:
            async with asyncio.timeout(seconds):
                response, content = await self._sent(method, path, query, body)
        except (TimeoutError, httpx2.TimeoutException):
            raise _Broken(f"no answer within {seconds:,.0f} s") from None
        except httpx2.InvalidURL:
            raise InputError(f"{self.login.setting} is no address.") from None
        except httpx2.ConnectError:
            raise _Broken("it cannot be reached", may_be_done=False) from None
        except httpx2.HTTPError as error:
            raise _Broken(f"the answer broke off ({type(error).__name__})") from None
        return self._answer(response, content)

    async def _sent(
        self, method: str, path: str, query: Sequence[tuple[str, str]], body: bytes | None
    ) -> tuple[httpx2.Response, bytes]:
        async with self._opened().stream(
            method,
            f"{self.login.url.rstrip('/')}/{path}",
            params=[*query],
            content=body,
            headers={} if body is None else {"Content-Type": "application/json"},
        ) as response:
            content = bytearray()
            async for part in response.aiter_bytes():
                content += part
                self._read += len(part)
                if len(content) > self._bounds.answer:
                    words = f"an answer is longer than {self._bounds.answer:,} bytes"
                    raise TooLong(self._words(words))
                if self._read - self._mark > self._bounds.together:
                    words = f"it is longer than {self._bounds.together:,} bytes"
                    raise TooLong(self._words(words))
                if self._read > self._bounds.total:
                    words = f"more than {self._bounds.total:,} bytes altogether"
                    raise self._fault(f"{words}; ask for fewer traces, or a shorter time")
        return response, bytes(content)

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            import httpx2

            # A proxy of the environment is not asked for what is on this machine.
            is_here = _is_loopback(urlsplit(self.login.url).hostname or "")
            self._client = httpx2.AsyncClient(
                timeout=self._bounds.attempt,
                verify=trusted_certificates(trust_env=not is_here),
                follow_redirects=False,
                trust_env=not is_here,
                headers={"Accept": "application/json", **self.login.headers},
            )
        return self._client

    def _answer(self, response: httpx2.Response, content: bytes) -> Any:
        status, login = response.status_code, self.login
        if status in _AGAIN:
            raise _Broken(
                f"it answered HTTP {status}",
                _wait(response.headers.get("retry-after")),
                may_be_done=status not in _NOT_DONE,
            )
        if status in _REDIRECTS:
            words = f"it redirects to {_host_of(response.headers.get('location', ''))}"
            words += ", where no key is sent"
            raise self._fault(f"{words}; name the right host in {login.setting}")
        if status in _REFUSED:
            raise InputError(
                f"{login.tool} at {login.host} refuses the key (HTTP {status}). It is read from "
                f"{login.keys}; is it that of this project, and of this host ({login.setting})?",
                code="tool_refused",
            )
        if status >= 400:
            words = self._words(f"HTTP {status}{self._said(content)}")
            if status in _ABSENT:
                raise NotThere(words)
            raise Rejected(words) if status in _REJECTED else InputError(words)
        if not content:
            return None
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            words = f"the answer is no JSON; is {login.host} a server of {login.tool}"
            raise self._fault(f"{words} ({login.setting})?") from None

    def _said(self, content: bytes) -> str:
        """Return what a tool says of a fault, without what is secret."""
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            return ""
        about = found if isinstance(found, dict) else {}
        said = next((about[key] for key in _PROBLEM if isinstance(about.get(key), str)), "")
        for secret in self.login.secrets:
            said = said.replace(secret, "…")
        return f": {shown(said[:_LONGEST_MESSAGE])}" if said else ""

    def _words(self, what: str) -> str:
        return f"{self.login.tool} at {self.login.host}: {what}"

    def _fault(self, what: str) -> InputError:
        return InputError(self._words(what), code="tool_not_read")


def _host_of(url: str) -> str:
    try:
        return shown(urlsplit(url).netloc or "elsewhere")
    except ValueError:
        return "elsewhere"


def _wait(said: str | None) -> float | None:
    """Return the seconds that `Retry-After` asks for; None: it says none."""
    if not said:
        return None
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(said).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None

"""Clients of a service: `Client` waits for its answers, `AsyncClient` is awaited."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
from typing_extensions import override

from veritrail_graph.api.client.blocking import Blocking
from veritrail_graph.api.client.operations import AsyncOperations, Call
from veritrail_graph.api.client.sending import Sender
from veritrail_graph.api.client.trails import Event
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
        self.url = _checked_url(url or os.environ.get("VERITRAIL_URL") or URL)
        key = key or os.environ.get("VERITRAIL_API_KEY") or None
        self._has_key = key is not None
        http = httpx2.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {_checked_key(key)}"} if key else {},
            # A proxy of the environment is not asked for what is on this machine.
            trust_env=not _is_this_machine(self.url),
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

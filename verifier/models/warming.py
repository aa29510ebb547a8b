"""One call warms a prefix before its siblings are let loose.

Endpoints that cache prefixes bill a repeated prefix at a fraction, but only once a first call
with it has been answered: calls sent side by side all pay the whole. Waiting costs the time of
one call, so only the first wave waits.

Source: ADR 0010.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.port import Request

CACHING_HOSTS = ("api.openai.com", "api.deepseek.com")
CACHING_DOMAIN = ".openai.azure.com"
MIN_TOKENS = 1_024  # shorter prefixes are not cached
STAYS_WARM = 300.0  # seconds without use
LONGEST_WAIT = 20.0  # seconds; more than a call takes that goes well
MAX_PREFIXES = 4_096


class Warm(StrEnum):
    """When calls wait for a prefix to be warm."""

    ON = "on"
    OFF = "off"
    AUTO = "auto"


@dataclass(slots=True)
class _Prefix:
    used_at: float
    warmed: asyncio.Event | None = field(default_factory=asyncio.Event)


class Warming:
    """Knows which prefixes are warm."""

    def __init__(
        self,
        when: Warm,
        address: str,
        count: Callable[[str], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        host = urlsplit(address).hostname or ""
        known = host in CACHING_HOSTS or host.endswith(CACHING_DOMAIN)
        self._when = when
        self._caches = when is Warm.ON or known
        self._count = count
        self._clock = clock
        self._prefixes: dict[int, _Prefix] = {}

    async def wait(self, request: Request) -> _Prefix | None:
        """Wait while another call warms the prefix of this one.

        Returns:
            The prefix, if this very call warms it: `done` must follow.
        """
        if self._when is Warm.OFF or not self._caches:
            return None
        key = hash((request.asked.model, request.system, request.user[: request.shared]))
        now = self._clock()
        prefix = self._prefixes.get(key)
        if prefix is None or now - prefix.used_at > STAYS_WARM:
            return self._cold(key, request, now)
        prefix.used_at = now
        if prefix.warmed is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_WAIT):
                    await prefix.warmed.wait()
        return None

    def done(self, prefix: _Prefix | None) -> None:
        """The call that warms a prefix is over, well or not: its siblings may go."""
        if prefix is not None and prefix.warmed is not None:
            prefix.warmed.set()
            prefix.warmed = None

    def seen(self, usage: Usage) -> None:
        """Learn from an answer whether the endpoint caches prefixes."""
        if usage.cached_input_tokens:
            self._caches = True

    def _cold(self, key: int, request: Request, now: float) -> _Prefix | None:
        if len(self._prefixes) >= MAX_PREFIXES:
            self._prefixes = {
                name: prefix
                for name, prefix in self._prefixes.items()
                if prefix.warmed is not None or now - prefix.used_at < STAYS_WARM / 5
            }
        prefix = self._prefixes[key] = _Prefix(now)
        shared = request.system + request.user[: request.shared]
        if self._count(shared) < MIN_TOKENS:
            prefix.warmed = None
            return None
        return prefix

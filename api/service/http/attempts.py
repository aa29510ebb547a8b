"""Keys that are shown: to the guard, or once to open a session; tries that fail are counted."""

from __future__ import annotations

import ipaddress
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from veritrail_graph.api.auth.key_cache import ENVIRONMENT, Admitted, KeyCache, Unauthorized
from veritrail_graph.api.auth.keys import PREFIX

FAILED_PER_MINUTE = 30
"""Keys that do not open, shown from one address."""

MOST_KNOWN = 10_000
"""Addresses that are remembered because a key opened from there."""

PEER = "peer"
"""Where the state of a request has the other end of its connection."""

_NETWORK_BITS = 64  # what one household or server gets of IPv6

LOOKS_LIKE_A_KEY = re.compile(rf"\b{PREFIX}_[a-z2-7]{{8}}_")


class TooManyAttempts(Exception):
    """Too many keys that do not open came from one address.

    Attributes:
        wait: Seconds until another one is looked at.
    """

    def __init__(self, wait: int) -> None:
        super().__init__("Too many keys that do not open came from this address.")
        self.wait = wait


class Attempts:
    """Looks at keys that are shown.

    Tries count for the address of the client, and for that of the peer whose headers named it: a
    header that is made up takes nothing away. A client from whose address a key opened before is
    not held up by what others try through the same proxy.

    Args:
        ring: The keys that open.
    """

    def __init__(self, ring: KeyCache) -> None:
        self._ring = ring
        self._failed = Rates()
        self._opened: OrderedDict[str, None] = OrderedDict()

    async def admit(self, scope: Scope, shown: str) -> Admitted:
        """The caller who shows a key.

        Raises:
            Unauthorized: It does not open; the text says why.
            TooManyAttempts: Too many such keys came from this address.
            EngineUnavailable: The database cannot be reached.
        """
        # A key of ours cannot be guessed, so it opens whatever others at this address (such as a
        # proxy's) tried; the one from outside was thought of by a person.
        is_ours = LOOKS_LIKE_A_KEY.match(shown) is not None
        own = address(scope)
        counted = {own} if is_ours or own in self._opened else {own, peer(scope)}
        waits = [self._failed.wait(name, FAILED_PER_MINUTE) for name in counted]
        if (wait := _longest(waits)) is not None and not is_ours:
            raise TooManyAttempts(wait)
        if self._ring.opens_outside(shown):
            self._note(own)
            return Admitted(ENVIRONMENT)
        try:
            return await self._ring.admit(shown)
        except Unauthorized:
            waits = [self._failed.take(name, FAILED_PER_MINUTE) for name in counted]
            if (wait := _longest(waits)) is not None:
                raise TooManyAttempts(wait) from None
            raise

    def _note(self, name: str) -> None:
        self._opened[name] = None
        self._opened.move_to_end(name)
        if len(self._opened) > MOST_KNOWN:
            self._opened.popitem(last=False)


def _longest(waits: Iterable[int | None]) -> int | None:
    return max((one for one in waits if one is not None), default=None)


def address(scope: Scope) -> str:
    """Return where a request comes from; all addresses of one IPv6 network count as one."""
    return _network(scope.get("client"))


def peer(scope: Scope) -> str:
    """Return where the connection of a request comes from, such as a proxy."""
    return _network(scope.get("state", {}).get(PEER) or scope.get("client"))


def _network(client: tuple[str, int] | None) -> str:
    found = str((client or ("unknown", 0))[0])
    try:
        whole = ipaddress.ip_address(found.partition("%")[0])
    except ValueError:
        return found
    if isinstance(whole, ipaddress.IPv4Address):
        return str(whole)
    if whole.ipv4_mapped is not None:
        return str(whole.ipv4_mapped)
    return str(ipaddress.ip_network((whole, _NETWORK_BITS), strict=False))


class Peer:
    """Notes where a connection comes from, before headers of a proxy say for whom it asks.

    Args:
        app: What answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            scope.setdefault("state", {})[PEER] = scope.get("client")
        await self._app(scope, receive, send)


class Rates:
    """One bucket for each name: it holds a minute's worth and fills evenly.

    Args:
        most: Names that are counted separately; the one unused for longest is dropped first.
        clock: Seconds, never going back.
    """

    def __init__(self, most: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, per_minute: int) -> int | None:
        """Take one; None: there was one, else the seconds until there is one again."""
        left = self._left(name, per_minute)
        if left < 1.0:
            return self._seconds(left, per_minute)
        self._buckets[name] = (left - 1.0, self._clock())
        self._buckets.move_to_end(name)
        while len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        return None

    def wait(self, name: str, per_minute: int) -> int | None:
        """The seconds until there is one, without taking any; None: there is one now."""
        left = self._left(name, per_minute)
        return None if left >= 1.0 else self._seconds(left, per_minute)

    def _left(self, name: str, per_minute: int) -> float:
        if name not in self._buckets:
            return float(per_minute)
        left, at = self._buckets[name]
        return min(float(per_minute), left + (self._clock() - at) * per_minute / 60.0)

    @staticmethod
    def _seconds(left: float, per_minute: int) -> int:
        return max(1, math.ceil((1.0 - left) * 60.0 / per_minute - 1e-6))

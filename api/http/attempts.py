"""Keys that are shown: to the guard, or once to open a session; tries that fail are counted."""

from __future__ import annotations

import ipaddress
import re

from starlette.types import Scope

from veritrail_graph.api.auth.key_cache import ENVIRONMENT, Admitted, KeyCache, Unauthorized
from veritrail_graph.api.auth.keys import PREFIX
from veritrail_graph.api.auth.rates import Rates

FAILED_PER_MINUTE = 30
"""Keys that do not open, shown from one address."""

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

    Args:
        ring: The keys that open.
    """

    def __init__(self, ring: KeyCache) -> None:
        self._ring = ring
        self._failed = Rates()

    async def admit(self, scope: Scope, shown: str) -> Admitted:
        """Whoever shows a key.

        Raises:
            Unauthorized: It does not open; the text says why.
            TooManyAttempts: Too many such keys came from this address.
            EngineUnavailable: The database cannot be reached.
        """
        # A key of ours cannot be guessed, so it opens whatever others at this address (such as a
        # proxy's) tried; the one from outside was thought of by a person.
        is_ours = LOOKS_LIKE_A_KEY.match(shown) is not None
        wait = self._failed.wait(address(scope), FAILED_PER_MINUTE)
        if wait is not None and not is_ours:
            raise TooManyAttempts(wait)
        if self._ring.opens_outside(shown):
            return Admitted(ENVIRONMENT)
        try:
            return await self._ring.admit(shown)
        except Unauthorized:
            wait = self._failed.take(address(scope), FAILED_PER_MINUTE)
            if wait is not None:
                raise TooManyAttempts(wait) from None
            raise


def address(scope: Scope) -> str:
    """Where a request comes from; all addresses of one IPv6 network count as one."""
    found = str((scope.get("client") or ("unknown", 0))[0])
    try:
        whole = ipaddress.ip_address(found.partition("%")[0])
    except ValueError:
        return found
    if isinstance(whole, ipaddress.IPv4Address):
        return str(whole)
    if whole.ipv4_mapped is not None:
        return str(whole.ipv4_mapped)
    return str(ipaddress.ip_network((whole, _NETWORK_BITS), strict=False))

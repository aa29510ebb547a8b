"""The keys that open the service now: looked up in memory, read anew every two seconds."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from veritrail_graph.api.auth.access import EVERYTHING, LOCAL, Caller
from veritrail_graph.api.auth.database import ServiceDatabase, ServiceUnavailable
from veritrail_graph.api.auth.keys import Key, Keys, hash_of, split_key
from veritrail_graph.graph.errors import EngineUnavailable, VeriTrailError

FRESH_SECONDS = 2.0
"""How long a key that was made or revoked elsewhere may go unnoticed."""

FAILED_SECONDS = 1.0

_NO_KEY = hash_of("the secret of no key")

ENVIRONMENT = Caller("environment", "VERITRAIL_API_KEY", EVERYTHING)
"""The caller who shows the one key that is set from outside."""


class Unauthorized(VeriTrailError):
    """No key was shown, or one that does not open."""


class KeyNeeded(Unauthorized):
    """No key was shown."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A caller who is let in.

    Attributes:
        caller: Who it is.
        per_minute: Requests a minute that the key allows; None: it does not say.
    """

    caller: Caller
    per_minute: int | None = None


class KeyCache:
    """Says who shows a key.

    Args:
        service: The database of the service.
        outside: VERITRAIL_API_KEY, if it is set; it opens everything.
        always: Whether a key is needed also where none was ever made.
        clock: The time, in seconds since 1970.
    """

    def __init__(
        self,
        service: ServiceDatabase,
        outside: str | None = None,
        *,
        always: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._keys = Keys(service)
        self._outside = hashlib.sha256(outside.encode()).digest() if outside else None
        self._always = always or outside is not None
        self._clock = clock
        self._known: Mapping[str, Key] = {}
        self._read_at: float | None = None
        self._reading = asyncio.Lock()
        self._seen: dict[str, float] = {}
        self._failed: tuple[float, EngineUnavailable] | None = None

    async def asks(self) -> bool:
        """Return whether a key is needed at all: one was made once, or is set from outside.

        Raises:
            EngineUnavailable: The database cannot be reached, so this is not known.
        """
        return self._always or bool(await self._fresh())

    def opens_outside(self, shown: str) -> bool:
        """Return whether this is the key that is set from outside."""
        given = hashlib.sha256(shown.encode("utf-8", "surrogateescape")).digest()
        return self._outside is not None and hmac.compare_digest(given, self._outside)

    async def admit(self, shown: str | None) -> Admitted:
        """The caller who shows a key of `veritrail keys`; where none was made, none is needed.

        Raises:
            Unauthorized: It does not open; the text says why.
            EngineUnavailable: The database cannot be reached.
        """
        if not await self.asks():
            return Admitted(LOCAL)
        if shown is None:
            raise KeyNeeded("A key is needed: send it as `Authorization: Bearer KEY`.")
        parts = split_key(shown)
        key = (await self._fresh()).get(parts[0]) if parts else None
        # Unknown ids take as long as known ones.
        kept = key.hash if key is not None else _NO_KEY
        is_right = hmac.compare_digest(hash_of(parts[1] if parts else shown), kept)
        if key is None or not is_right:
            raise Unauthorized("This key is not known here.")
        return self._admitted(key)

    async def admit_id(self, key_id: str | None) -> Admitted:
        """The caller who showed a key before, as long as the key is valid.

        Raises:
            Unauthorized: It does not open any more; the text says why.
            EngineUnavailable: The database cannot be reached.
        """
        if key_id == ENVIRONMENT.key_id and self._outside is not None:
            return Admitted(ENVIRONMENT)
        key = (await self._fresh()).get(key_id) if key_id is not None else None
        if key is None:
            raise Unauthorized("This key is not known here.")
        return self._admitted(key)

    @property
    def outside(self) -> bytes:
        """A hash of the key that is set from outside; empty where none is."""
        return self._outside or b""

    def _admitted(self, key: Key) -> Admitted:
        now = self._clock()
        state = key.state(now)
        if state != "active":
            raise Unauthorized(
                f"The key {key.name!r} has {'expired' if state == 'expired' else 'been revoked'}.",
                code="key_not_active",
                name=key.name,
            )
        self._seen[key.key_id] = now
        return Admitted(key.caller(), key.per_minute)

    async def still(self, caller: Caller) -> bool:
        """Return whether somebody who came in a while ago would still be let in.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        if caller == ENVIRONMENT:
            return True
        if caller.key_id is None:
            return not await self.asks()
        key = (await self._fresh()).get(caller.key_id)
        return key is not None and key.state(self._clock()) == "active"

    async def note_uses(self) -> None:
        """Write down when keys were last shown; what fails is tried again with the next ones."""
        seen, self._seen = self._seen, {}
        if not seen:
            return
        try:
            await self._keys.used(seen)
        except EngineUnavailable:
            self._seen = {**seen, **self._seen}

    async def _fresh(self) -> Mapping[str, Key]:
        """The keys, at most two seconds old; one request reads, the others wait for it."""
        if self._is_fresh():
            return self._known
        async with self._reading:
            if not self._is_fresh():
                self._known = await self._read()
                self._read_at = time.monotonic()
        return self._known

    async def _read(self) -> Mapping[str, Key]:
        """The keys in the database; who waited while it failed is not made to wait for it again.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        if self._failed is not None and time.monotonic() - self._failed[0] < FAILED_SECONDS:
            raise ServiceUnavailable(str(self._failed[1]))
        try:
            keys = await self._keys.all()
        except EngineUnavailable as error:
            self._failed = (time.monotonic(), error)
            raise
        self._failed = None
        return {key.key_id: key for key in keys}

    def _is_fresh(self) -> bool:
        return self._read_at is not None and time.monotonic() - self._read_at < FRESH_SECONDS

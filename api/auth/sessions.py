"""Sessions of the page: a key is shown once, a cookie represents it until it ends.

The cookie is 32 random bytes; only their hash is kept, so that a reader of the database can
open nothing. A session allows what its key allows, and ends with it: revoked, expired, or, for
the key that is set from outside, when another one is set.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.database import ServiceDatabase, metadata
from veritrail_graph.api.auth.key_cache import Admitted, KeyCache, Unauthorized
from veritrail_graph.api.auth.keys import hash_of

SECONDS = 12 * 3600
"""How long a session lasts at most."""

MOST_OF_A_KEY = 200
"""Sessions of one key; beyond them the oldest ends."""

_TOKEN_BYTES = 32

page_sessions = sa.Table(
    "page_sessions",
    metadata,
    sa.Column("token_hash", sa.String, primary_key=True),
    sa.Column("key_id", sa.String, nullable=False, index=True),
    sa.Column("proof", sa.String, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
)


class Sessions:
    """The sessions in the database.

    Args:
        service: The database of the service.
        ring: The keys that they stand for.
        clock: The time, in seconds since 1970.
    """

    def __init__(
        self, service: ServiceDatabase, ring: KeyCache, clock: Callable[[], float] = time.time
    ) -> None:
        self._service = service
        self._ring = ring
        self._clock = clock

    async def open(self, key_id: str) -> str:
        """Begin a session of a key that was shown, and give what its cookie holds.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        now = self._clock()
        row: dict[str, str | float] = {
            "token_hash": hash_of(token),
            "key_id": key_id,
            "proof": self._proof(token),
            "created_at": now,
            "expires_at": now + SECONDS,
        }
        await self._service.run(lambda connection: _insert(connection, row, now))
        return token

    async def admit(self, token: str) -> Admitted | None:
        """The caller who shows a cookie; None: its session has ended, or there was none.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        row = await self._service.read(lambda connection: _found(connection, hash_of(token)))
        if row is None or row.expires_at <= self._clock():
            return None
        if not hmac.compare_digest(row.proof, self._proof(token)):
            return None
        try:
            return await self._ring.admit_id(row.key_id)
        except Unauthorized:
            return None

    async def end(self, token: str) -> None:
        """End a session; twice does no harm.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        gone = sa.delete(page_sessions).where(page_sessions.c.token_hash == hash_of(token))
        await self._service.run(lambda connection: connection.execute(gone))

    def _proof(self, token: str) -> str:
        """Changes with the key that is set from outside; the key cannot be guessed from it."""
        return hmac.new(token.encode(), self._ring.outside, hashlib.sha256).hexdigest()


def _found(connection: Connection, token_hash: str) -> sa.Row[str, str, float] | None:
    table = page_sessions.c
    asked = sa.select(table.key_id, table.proof, table.expires_at)
    return connection.execute(asked.where(table.token_hash == token_hash)).one_or_none()


def _insert(connection: Connection, row: dict[str, str | float], now: float) -> None:
    table = page_sessions.c
    connection.execute(sa.delete(page_sessions).where(table.expires_at <= now))
    kept = (
        sa.select(table.token_hash)
        .where(table.key_id == row["key_id"])
        .order_by(table.created_at.desc())
        .limit(MOST_OF_A_KEY - 1)
    )
    surplus = sa.and_(table.key_id == row["key_id"], table.token_hash.not_in(kept))
    connection.execute(sa.delete(page_sessions).where(surplus))
    connection.execute(sa.insert(page_sessions).values(**row))

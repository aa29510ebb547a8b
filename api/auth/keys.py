"""Keys: made, listed, revoked; only a hash of a key is kept.

A key reads `vt_ID_SECRET`. It is found by its id; the secret is 32 random bytes, so one round of
SHA-256 is enough: there is nothing to guess. Rows of keys are never removed, so that revoking the
last key does not open the service to everybody again.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.auth.audit import record_in
from veritrail_graph.api.auth.database import ServiceDatabase, metadata
from veritrail_graph.graph.errors import InputError, NotFound

PREFIX = "vt"
SECRET_BYTES = 32
MOST_CHARACTERS = 100
"""Characters of a name."""

_FORM = re.compile(rf"{PREFIX}_([a-z2-7]{{8}})_([A-Za-z0-9_-]{{43}})")

api_keys = sa.Table(
    "api_keys",
    metadata,
    sa.Column("key_id", sa.String, primary_key=True),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("hash", sa.String, nullable=False),
    sa.Column("scopes", sa.String, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float),
    sa.Column("revoked_at", sa.Float),
    sa.Column("last_used_at", sa.Float),
    sa.Column("budget_usd", sa.Float),
    sa.Column("per_minute", sa.Integer),
)
# A name can be given again once its key is revoked: that is how a key is replaced.
sa.Index(
    "api_keys_name",
    api_keys.c.name,
    unique=True,
    sqlite_where=api_keys.c.revoked_at.is_(None),
    postgresql_where=api_keys.c.revoked_at.is_(None),
)


@dataclass(frozen=True, slots=True)
class Key:
    """A key, without its secret. Times are seconds since 1970.

    Attributes:
        key_id: What it is found by.
        name: A name for people; one living key has it.
        hash: SHA-256 of the secret.
        scopes: What it allows.
        created_at: When it was made.
        expires_at: When it stops to work; None: never.
        revoked_at: When it was revoked; None: it is not.
        last_used_at: When it was last shown, to about a minute.
        budget_usd: What all its jobs may cost together; None: no limit.
        per_minute: Requests a minute; None: what the service allows everybody.
    """

    key_id: str
    name: str
    hash: str = field(repr=False)
    scopes: frozenset[Scope]
    created_at: float
    expires_at: float | None = None
    revoked_at: float | None = None
    last_used_at: float | None = None
    budget_usd: float | None = None
    per_minute: int | None = None

    def state(self, now: float) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"

    def caller(self) -> Caller:
        """The caller who shows this key."""
        return Caller(self.key_id, self.name, self.scopes, self.budget_usd)


@dataclass(frozen=True, slots=True)
class Wish:
    """A key that somebody wants.

    Attributes:
        name: A name for people.
        scopes: What it shall allow.
        seconds: How long it is valid; None: no end.
        budget_usd: What its jobs may cost together.
        per_minute: Requests a minute.
    """

    name: str
    scopes: frozenset[Scope]
    seconds: float | None = None
    budget_usd: float | None = None
    per_minute: int | None = None


def split_key(shown: str) -> tuple[str, str] | None:
    """The id and the secret of a key as it is shown; None: it is none of ours."""
    found = _FORM.fullmatch(shown)
    return (found[1], found[2]) if found else None


def hash_of(secret: str) -> str:
    """Return what is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


class Keys:
    """The keys in the database.

    Args:
        service: The database of the service; its tables are there.
    """

    def __init__(self, service: ServiceDatabase) -> None:
        self._service = service

    async def create(self, wish: Wish, by: Caller) -> tuple[Key, str]:
        """Make a key; gives it and what is shown once.

        Raises:
            InputError: The name is in use, or is none.
            EngineUnavailable: The database cannot be reached.
        """
        _check_name(wish.name)
        key, shown = _make(wish, time.time())

        def insert(connection: Connection) -> None:
            connection.execute(api_keys.insert().values(**_row(key)))
            scopes = sorted(key.scopes)
            record_in(connection, by, "key.create", key.key_id, name=key.name, scopes=scopes)

        try:
            await self._service.run(insert)
        except IntegrityError:
            raise InputError(
                f"There is a key with the name {wish.name!r}. Take another name, or revoke it "
                f"first: veritrail keys revoke {wish.name!r}"
            ) from None
        return key, shown

    async def all(self) -> list[Key]:
        """Every key that was ever made, the oldest first.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        return await self._service.read(all_keys)

    async def revoke(self, key: str, by: Caller) -> Key:
        """Revoke a key, by its id or its name; twice does no harm.

        Raises:
            NotFound: There is no such key.
            EngineUnavailable: The database cannot be reached.
        """
        return await self._service.run(lambda connection: _revoke(connection, key, by))

    async def used(self, seen: dict[str, float]) -> None:
        """Note when keys were last shown.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        await self._service.run(lambda connection: _used(connection, seen))


def all_keys(connection: Connection) -> list[Key]:
    """Every key that was ever made, the oldest first."""
    ordered = sa.select(api_keys).order_by(api_keys.c.created_at, api_keys.c.key_id)
    return [_key(row) for row in connection.execute(ordered).mappings()]


def _make(wish: Wish, now: float) -> tuple[Key, str]:
    key_id = base64.b32encode(secrets.token_bytes(5)).decode().lower()
    secret = secrets.token_urlsafe(SECRET_BYTES)
    key = Key(
        key_id=key_id,
        name=wish.name,
        hash=hash_of(secret),
        scopes=wish.scopes,
        created_at=now,
        expires_at=None if wish.seconds is None else now + wish.seconds,
        budget_usd=wish.budget_usd,
        per_minute=wish.per_minute,
    )
    return key, f"{PREFIX}_{key_id}_{secret}"


def _revoke(connection: Connection, key: str, by: Caller) -> Key:
    table = api_keys.c
    named = sa.or_(table.key_id == key, table.name == key)
    # Of several with one name the living one is meant, else the one that was revoked last.
    order = (table.key_id != key, table.revoked_at.isnot(None), table.revoked_at.desc())
    row = connection.execute(sa.select(api_keys).where(named).order_by(*order)).mappings().first()
    if row is None:
        raise NotFound(f"There is no key {key!r}.", code="key_unknown", key=key)
    found = _key(row)
    if found.revoked_at is not None:
        return found
    now = time.time()
    connection.execute(api_keys.update().where(table.key_id == found.key_id).values(revoked_at=now))
    record_in(connection, by, "key.revoke", found.key_id, name=found.name)
    return _key({**row, "revoked_at": now})


def _used(connection: Connection, seen: dict[str, float]) -> None:
    table = api_keys.c
    for key_id, at in sorted(seen.items()):  # in one order, so that two servers do not deadlock
        later = sa.or_(table.last_used_at.is_(None), table.last_used_at < at)
        connection.execute(
            api_keys.update().where(table.key_id == key_id, later).values(last_used_at=at)
        )


def _check_name(name: str) -> None:
    if not 0 < len(name) <= MOST_CHARACTERS or not name.isprintable() or name != name.strip():
        raise InputError(
            f"a name of a key has 1 to {MOST_CHARACTERS} printable characters, and no blank "
            "at either end"
        )
    if split_key(name) is not None:
        raise InputError("that is a key, and not a name of one")


def _row(key: Key) -> dict[str, Any]:
    row = {name: getattr(key, name) for name in Key.__slots__}
    return {**row, "scopes": " ".join(sorted(key.scopes))}


def _key(row: Any) -> Key:
    return Key(**{**row, "scopes": frozenset(map(Scope, row["scopes"].split()))})

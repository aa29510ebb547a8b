"""Links that show one process to people without a key, until an end; any of them can be revoked.

A link holds 32 random bytes. Of these only a hash is kept, and a signature made with them of the
process, the end and the key that made it: who reads the database can open nothing, and who
changes a row there neither prolongs a link nor leads it to another process. It opens no other
process either that is stored under the id later (`made_for`).

A link ends with the key that made it: when it is revoked or expires or, for the key that is set
from outside, when another one is set. Links of this machine's user end by themselves alone.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.auth.database import ServiceDatabase, made_for, metadata
from veritrail_graph.api.auth.key_cache import ENVIRONMENT
from veritrail_graph.api.auth.keys import api_keys

if TYPE_CHECKING:
    from veritrail_graph.graph.model.version import Version

MOST_OF_A_PROCESS = 200
"""Links of one process that have not ended."""

_TOKEN_BYTES = 32

share_links = sa.Table(
    "share_links",
    metadata,
    sa.Column("share_id", sa.String(64), primary_key=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("process_id", sa.String(128), nullable=False, index=True),
    sa.Column("signature", sa.String(64), nullable=False),
    sa.Column("note", sa.String(200), nullable=False),
    sa.Column("created_by", sa.String(200), nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
    sa.Column("revoked_at", sa.Float),
    sa.Column("key_id", sa.String(64)),
    made_for(),
)


@dataclass(frozen=True, slots=True)
class ShareLink:
    """A link, without what opens it.

    Attributes:
        share_id: Its id.
        process_id: What it shows.
        note: What it is for.
        created_by: Who made it.
        created_at: When, in seconds since 1970.
        expires_at: When it ends.
        revoked_at: When it was revoked; None: it was not.
        key_id: The key that made it; None: the user of this machine.
        key_ends_at: When that key was revoked or expires; None: it does not end, or is the one that
            is set from outside.
        made_for: When the first version of the process was stored; None: an earlier version of this
            program made the link.
    """

    share_id: str
    process_id: str
    note: str
    created_by: str
    created_at: float
    expires_at: float
    revoked_at: float | None
    key_id: str | None = None
    key_ends_at: float | None = None
    made_for: str | None = None

    def shows(self, version: Version) -> bool:
        """Return whether it was made for a process, and not for one that had its id before."""
        if self.made_for is not None:
            return self.made_for == version.first_stored_at
        made_at = datetime.fromtimestamp(self.created_at, UTC)
        return made_at >= datetime.fromisoformat(version.first_stored_at)

    def is_open(self, now: float) -> bool:
        """Return whether it opens the process now."""
        has_key = self.key_ends_at is None or now < self.key_ends_at
        return self.revoked_at is None and now < self.expires_at and has_key

    @property
    def guest(self) -> Caller:
        """The caller who comes with it: may read one process, and nothing else."""
        key = f"share-{self.share_id}"
        ends = (self.expires_at, self.key_ends_at)
        return Caller(
            key,
            "shared link",
            frozenset({Scope.READ}),
            only_process=self.process_id,
            shared_by=None if self.key_id is None else self.created_by,
            shared_until=min(one for one in ends if one is not None),
            shows=self.shows,
        )


class TooManyLinks(Exception):
    """A process has as many links as it may have."""


class Shares:
    """The links in the database.

    Args:
        service: The database of the service.
        outside: The key that is set from outside, if there is one.
        clock: The time, in seconds since 1970.
    """

    def __init__(
        self,
        service: ServiceDatabase,
        outside: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._service = service
        self._outside = hashlib.sha256(outside.encode()).hexdigest() if outside else ""
        self._clock = clock

    async def create(
        self, version: Version, seconds: float, note: str, by: Caller
    ) -> tuple[ShareLink, str]:
        """Make a link to a process; what opens it is given this once.

        Raises:
            TooManyLinks: The process has too many that have not ended.
            EngineUnavailable: The database cannot be reached.
        """
        token, now = secrets.token_urlsafe(_TOKEN_BYTES), self._clock()
        link = ShareLink(
            uuid.uuid4().hex[:16],
            version.process_id,
            note,
            by.name,
            now,
            now + seconds,
            None,
            by.key_id,
            made_for=version.first_stored_at,
        )
        row = {
            "share_id": link.share_id,
            "token_hash": _hash(token),
            "process_id": link.process_id,
            "signature": self._signature(token, link),
            "note": note,
            "created_by": by.name,
            "created_at": now,
            "expires_at": link.expires_at,
            "key_id": by.key_id,
            "made_for": link.made_for,
        }
        await self._service.run(lambda connection: _insert(connection, row, now))
        return link, token

    async def admit(self, token: str) -> ShareLink | None:
        """The link that a token opens; None: it has ended, or there was none.

        Raises:
            EngineUnavailable: The database cannot be reached.
        """
        asked = _asked().where(share_links.c.token_hash == _hash(token))
        row = await self._service.read(lambda connection: connection.execute(asked).one_or_none())
        if row is None:
            return None
        link = _link(row)
        if not hmac.compare_digest(row.signature, self._signature(token, link)):
            return None
        return link if link.is_open(self._clock()) else None

    async def of_process(self, process_id: str) -> list[ShareLink]:
        """The links of a process, newest first, those that have ended too."""
        asked = (
            _asked()
            .where(share_links.c.process_id == process_id)
            .order_by(share_links.c.created_at.desc())
            .limit(2 * MOST_OF_A_PROCESS)
        )
        rows = await self._service.read(lambda connection: connection.execute(asked).all())
        return [_link(row) for row in rows]

    async def revoke(self, process_id: str, share_id: str) -> bool:
        """End a link; False: there is none. Twice does no harm."""
        table = share_links.c
        chosen = sa.and_(table.process_id == process_id, table.share_id == share_id)
        ended = sa.func.coalesce(table.revoked_at, self._clock())
        change = sa.update(share_links).where(chosen).values(revoked_at=ended)
        return await self._service.run(lambda one: one.execute(change).rowcount == 1)

    def _signature(self, token: str, link: ShareLink) -> str:
        said = [link.share_id, link.process_id, repr(link.expires_at)]
        if link.key_id is not None:
            said.append(link.key_id)
        if link.key_id == ENVIRONMENT.key_id:
            said.append(self._outside)
        if link.made_for is not None:
            said.append(link.made_for)
        key = token.encode("utf-8", "surrogateescape")
        return hmac.new(key, " ".join(said).encode(), hashlib.sha256).hexdigest()

    async def forget(self, process_id: str) -> None:
        """Remove the links of a process that was deleted."""
        gone = sa.delete(share_links).where(share_links.c.process_id == process_id)
        await self._service.run(lambda connection: connection.execute(gone))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _asked() -> sa.Select[Any]:
    """Links, each with the ends of the key that made it."""
    keys = api_keys.c
    joined = share_links.outerjoin(api_keys, share_links.c.key_id == keys.key_id)
    ends = (keys.revoked_at.label("key_revoked_at"), keys.expires_at.label("key_expires_at"))
    return sa.select(share_links, *ends).select_from(joined)


def _link(row: sa.Row[Any]) -> ShareLink:
    ends = [at for at in (row.key_revoked_at, row.key_expires_at) if at is not None]
    return ShareLink(
        row.share_id,
        row.process_id,
        row.note,
        row.created_by,
        row.created_at,
        row.expires_at,
        row.revoked_at,
        row.key_id,
        min(ends, default=None),
        row.made_for,
    )


def _insert(connection: Connection, row: dict[str, object], now: float) -> None:
    asked = _asked().where(share_links.c.process_id == row["process_id"])
    links = map(_link, connection.execute(asked))
    if sum(link.is_open(now) for link in links) >= MOST_OF_A_PROCESS:
        raise TooManyLinks
    connection.execute(sa.insert(share_links).values(**row))

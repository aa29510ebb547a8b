"""Links that show one process, read-only, to people without a key; comments on its claims.

Source: ours.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import cached_property

from pydantic import Field

from veritrail_graph.api.app.part import Part
from veritrail_graph.api.auth.access import LOCAL, Caller
from veritrail_graph.api.auth.shares import MOST_OF_A_PROCESS, ShareLink, Shares, TooManyLinks
from veritrail_graph.api.requests.limits import LINK_DAYS, LONGEST_LINK_NOTE, MOST_LINK_DAYS
from veritrail_graph.graph.errors import InputError, NotFound, shown
from veritrail_graph.graph.model.noun import Answer

_DAY = 86_400.0


class Share(Answer):
    """A link, without what opens it."""

    share_id: str
    process_id: str
    note: str
    created_by: str
    created_at: str
    expires_at: str
    revoked_at: str | None
    is_open: bool = Field(description="Whether it opens the process now.")
    key_ended: bool = Field(
        False, description="Whether the key that made it was revoked or has expired."
    )

    @classmethod
    def of(cls, link: ShareLink) -> Share:
        """The answer for a link."""
        at = time.time()
        return cls(
            share_id=link.share_id,
            process_id=link.process_id,
            note=link.note,
            created_by=link.created_by,
            created_at=_when(link.created_at),
            expires_at=_when(link.expires_at),
            revoked_at=_when(link.revoked_at) if link.revoked_at is not None else None,
            is_open=link.is_open(at),
            key_ended=link.key_ends_at is not None and link.key_ends_at <= at,
        )


class NewShare(Share):
    """A link that was just made."""

    path: str = Field(description="Its address on this service; it is shown this once.")


class ShareList(Answer):
    """The links of a process, newest first."""

    process_id: str
    shares: list[Share]


class Sharing(Part):
    """Links to processes."""

    @cached_property
    def links(self) -> Shares:
        """The links in the database."""
        return Shares(self._app.database, self._app.service_key)

    async def create(
        self, process_id: str, *, days: float = LINK_DAYS, note: str = "", by: Caller = LOCAL
    ) -> NewShare:
        """Make a link that shows a process, read-only, until an end.

        Args:
            process_id: The process.
            days: How long it works.
            note: What it is for.
            by: Who makes it.

        Raises:
            NotFound: There is no such process.
            InputError: It would work too long or not at all; or there are too many.
        """
        version = await self._app.versions.get(process_id)
        if not 0 < days <= MOST_LINK_DAYS:
            raise InputError(f"A link works for up to {MOST_LINK_DAYS} days.", code="share_days")
        line = " ".join(note.split())
        if len(line) > LONGEST_LINK_NOTE:
            raise InputError(
                f"The note has more than {LONGEST_LINK_NOTE} characters.", code="share_note"
            )
        try:
            link, token = await self.links.create(version, days * _DAY, line, by)
        except TooManyLinks:
            raise InputError(
                f"The process has {MOST_OF_A_PROCESS} links that have not ended; end some first.",
                code="share_many",
            ) from None
        await self._record(by, "share.create", process_id, share_id=link.share_id)
        return NewShare(**dict(Share.of(link)), path=f"/shared/{token}")

    async def of_process(self, process_id: str) -> ShareList:
        """The links of a process, newest first.

        Raises:
            NotFound: There is no such process.
        """
        version = await self._app.versions.get(process_id)
        found = [one for one in await self.links.of_process(process_id) if one.shows(version)]
        return ShareList(process_id=process_id, shares=[Share.of(one) for one in found])

    async def revoke(self, process_id: str, share_id: str, *, by: Caller = LOCAL) -> None:
        """End a link at once.

        Raises:
            NotFound: The process has no such link.
        """
        if not await self.links.revoke(process_id, share_id):
            raise NotFound(
                f"Process {process_id!r} has no link {shown(share_id)}.", code="share_unknown"
            )
        await self._record(by, "share.revoke", process_id, share_id=share_id)


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

"""What tells a version of a stored process from another one under the same id."""

from __future__ import annotations

from typing import NamedTuple


class Version(NamedTuple):
    """What tells a version of a process from another under the same id.

    Attributes:
        process_id: The process.
        content_hash: Hash of its content.
        created_at: When it was stored.
        first_stored_at: When its first version was stored; a replacement keeps that, a removal
            ends it.
    """

    process_id: str
    content_hash: str
    created_at: str
    first_stored_at: str

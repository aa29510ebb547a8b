"""The key of a version of a stored process, among those under the same id."""

from __future__ import annotations

from typing import NamedTuple


class Version(NamedTuple):
    """The key of a version of a process; no other version under the same id has it.

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

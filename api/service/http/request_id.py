"""The id of a request: the caller's own where it is sane, else one of ours.

It is in every answer, in every line of the log and in every problem, so that the three can be
brought together.
"""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

HEADER = "X-Request-ID"

current: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered here."""

_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")


def taken_or_made(given: str | None) -> str:
    """The id that came with a request, or a new one."""
    return given if given is not None and _SANE.fullmatch(given) else uuid.uuid4().hex

"""Lists by the page: how many, from where on, and where the next page begins.

A cursor holds the place of the last row and a digest of that place and of the list that it
belongs to. It is no secret and grants nothing; the digest tells a cursor that was cut, changed
or taken to another list. Rows that others add or remove meanwhile move no other row to another
page, as a place is a key and no count.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Path, Query
from pydantic_core import to_json

from veritrail_graph.api.service.http.answers import only_known_parameters
from veritrail_graph.graph.errors import InputError, Violation

MOST = 1_000
"""Rows of the longest page."""

LONGEST_CURSOR = 8_000

Limit = Annotated[
    int, Query(ge=1, le=MOST, description=f"At most this many; {MOST:,} is the most.")
]
Cursor = Annotated[
    str | None,
    Query(
        max_length=LONGEST_CURSOR,
        description="Where the page begins: `nextCursor` of the page before, as it was given.",
    ),
]

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A paged list, distinguished from every other list.

    Attributes:
        name: What is listed.
        filters: Everything that says which rows belong to it.
    """

    name: str
    filters: tuple[Any, ...] = ()

    def cursor(self, *place: str | int) -> str:
        """A cursor behind a row."""
        content = to_json([self._digest(place), *place])
        return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")

    def place(self, cursor: str | None, first: Place) -> Any:
        """The place of a cursor; without one, the place before all rows.

        Args:
            cursor: As it was given.
            first: The place before all rows, whose types every place has.

        Raises:
            InputError: It is none of this list.
        """
        if cursor is None:
            return first
        try:
            padded = cursor + "=" * (-len(cursor) % 4)
            digest, *place = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
            alike = [type(value) for value in place] == [type(value) for value in first]
            if not alike or digest != self._digest(place):
                raise _foreign()
        except (ValueError, TypeError, RecursionError, binascii.Error):
            raise _foreign() from None
        return tuple(place)

    def _digest(self, place: Sequence[str | int]) -> str:
        content = to_json([self.name, list(self.filters), list(place)])
        return hashlib.sha256(content).hexdigest()[:16]


def _foreign() -> InputError:
    message = "is no cursor of this list with these filters; begin again without one"
    return InputError(
        "The cursor cannot be used.", [Violation("wrong_cursor", "query.cursor", message)]
    )


ProcessId = Annotated[
    str, Path(description="The process, by its process_id.", examples=["harbour-summary"])
]
ClaimId = Annotated[str, Path(description="The claim, by its claim_id.", examples=["k04"])]
VerificationId = Annotated[
    str,
    Path(
        description="The verification, by its id.",
        examples=["v-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"],
    ),
]

RunId = Annotated[
    str,
    Path(description="The run, by its id.", examples=["r-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11"]),
]

CHECKED: Any = Depends(only_known_parameters)
"""A dependency of every router: it refuses parameters that no route reads."""

PROCESS_ID = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$"
"""A process_id, as a regular expression."""

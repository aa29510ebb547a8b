"""Cursors: opaque, bound to one list, and refused when they are no cursor."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.service.http.pages import Listing
from veritrail_graph.graph.errors import InputError

NODES = Listing("nodes", ("p", None, "root"))


@given(st.text(), st.integers(0, 2**53))
def test_a_cursor_gives_back_the_place_it_was_made_for(text: str, number: int) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    cursor = NODES.cursor(text, number)
    assert cursor.isascii()
    assert not set(cursor) & set("=/+")
    assert NODES.place(cursor, ("", -1)) == (text, number)


def test_without_a_cursor_a_list_begins_at_its_beginning() -> None:
    assert NODES.place(None, (-1, "")) == (-1, "")


@pytest.mark.parametrize(
    "other",
    [
        Listing("claims", ("p", None, "root")),
        Listing("nodes", ("q", None, "root")),
        Listing("nodes", ("p", 1, "root")),
        Listing("nodes"),
    ],
)
def test_a_cursor_of_another_list_is_refused(other: Listing) -> None:
    with pytest.raises(InputError) as told:
        NODES.place(other.cursor(1, 2), (-1, -1))
    assert [one.kind for one in told.value.violations] == ["wrong_cursor"]


@pytest.mark.parametrize(
    "cursor",
    [
        "", "x", "%%%", "ÄÖ", "\ud800", "bnVsbA", "W10", "WzFd", "e30", "WyJhIiwxLDJd",
        base64.urlsafe_b64encode(b"[" * 6_000).decode(),
        base64.urlsafe_b64encode(b'["a", NaN, 1e999]').decode(),
    ],
)  # fmt: skip
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InputError, match="cursor"):
        NODES.place(cursor, (-1, -1))


def test_a_cursor_that_was_cut_changed_or_of_other_types_is_refused() -> None:
    cursor = NODES.cursor(3, 14)
    for start in range(len(cursor) - 1):  # the last bits of the last letter mean nothing
        other = "B" if cursor[start] == "A" else "A"
        with pytest.raises(InputError):
            NODES.place(cursor[:start] + other + cursor[start + 1 :], (-1, -1))
        with pytest.raises(InputError):
            NODES.place(cursor[:start], (-1, -1))
    with pytest.raises(InputError):
        NODES.place(cursor, ("", ""))
    with pytest.raises(InputError):
        NODES.place(NODES.cursor(3, 14, 15), (-1, -1))

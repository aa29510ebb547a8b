"""Who reviews on a page: keys speak for their owners, and a cookie for those who have none."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from fastapi import Request, Response

from veritrail_graph.api.auth.access import EVERYTHING, LOCAL, Caller
from veritrail_graph.api.auth.key_cache import ENVIRONMENT
from veritrail_graph.api.page.pages.review import COOKIE, keep_name, reviewer_of
from veritrail_graph.api.page.views.review import Reviewer


def asked(name: str | None) -> Request:
    value = [] if name is None else [(b"cookie", f"{COOKIE}={name}".encode())]
    return Request({"type": "http", "headers": value})


def test_a_key_speaks_for_its_owner_whatever_a_cookie_says() -> None:
    owner = Caller("k-1", "Ada's desk", EVERYTHING)
    assert reviewer_of(asked("Bo"), owner) == Reviewer("Ada's desk", by_key=True)


@pytest.mark.parametrize("caller", [LOCAL, ENVIRONMENT])
def test_where_nobody_owns_the_key_the_name_is_what_was_typed(caller: Caller) -> None:
    assert reviewer_of(asked(quote(" Zoë, the 2nd ")), caller) == Reviewer("Zoë, the 2nd")
    assert reviewer_of(asked(None), caller) == Reviewer(None)


@pytest.mark.parametrize("name", ["", "%20", "x" * 201, "two%0Alines", "%00", "%E2%80%A8"])
def test_a_cookie_that_holds_no_name_is_none(name: str) -> None:
    assert reviewer_of(asked(name), LOCAL) == Reviewer(None)


def test_a_name_of_any_script_comes_back_as_it_was_typed() -> None:
    answer = Response()
    name = 'אבג "x"; y=1, 你好'
    keep_name(answer, name)
    kept = answer.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=lax" in kept
    value = kept.split(";")[0].partition("=")[2]
    assert reviewer_of(asked(value), LOCAL).name == name

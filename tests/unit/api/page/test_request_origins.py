"""Where requests come from, as their addresses and headers say: also where those are nonsense."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers
from starlette.types import Message

from veritrail_graph.api.page.faults import Form
from veritrail_graph.api.page.links import sent
from veritrail_graph.api.service.http.attempts import address
from veritrail_graph.api.service.http.guard import crosses

NONSENSE = ("http://[", "http://[::1", "//[x")


@pytest.mark.parametrize(
    ("client", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8::a1b2:c3d4:e5f6:1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("unix", "unix"),
    ],
)
def test_all_addresses_of_one_network_count_as_one(client: str, counted: str) -> None:
    assert address({"type": "http", "client": (client, 1)}) == counted


@pytest.mark.parametrize("origin", NONSENSE)
def test_an_origin_that_is_none_is_that_of_another_site(origin: str) -> None:
    assert crosses(Headers({"host": "localhost", "origin": origin}), frozenset())


@pytest.mark.parametrize("referer", NONSENSE)
def test_a_page_that_cannot_be_told_is_the_first_one(referer: str) -> None:
    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    headers = [(b"host", b"localhost"), (b"referer", referer.encode())]
    scope = {"type": "http", "method": "POST", "path": "/upload", "headers": headers}
    assert Form(scope, receive).page == "/"


def test_an_address_is_what_was_sent() -> None:
    scope = {
        "type": "http",
        "path": "/processes/p/nodes/docs/100%",
        "raw_path": b"/processes/p/nodes/docs%2F100%25",
        "query_string": b"piece=2&x=%26",
    }
    assert sent(scope) == "/processes/p/nodes/docs%2F100%25?piece=2&x=%26"
    assert sent({"type": "http", "path": "/jobs", "query_string": b""}) == "/jobs"

"""Where a source is in its document: page, offset, an address that no browser runs."""

from __future__ import annotations

import json

import pytest

from veritrail_graph.api.show.sources import place_of


def test_page_offset_and_address_are_read_as_other_libraries_write_them() -> None:
    metadata = {
        "source": "https://example.org/report.pdf",
        "page": 3,
        "start_index": 120,
        "end_index": 480,
    }
    found = place_of(json.dumps(metadata))
    assert found is not None
    assert found.words == "report.pdf, page 3, characters 120 to 480"
    assert found.href == "https://example.org/report.pdf#page=3"
    nested = place_of({"metadata": {"page_label": "iv", "file_name": "a.pdf"}})
    assert nested is not None
    assert (nested.words, nested.href) == ("a.pdf, page iv", None)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//elsewhere",
        "https://user:secret@example.org/",
        "http://[",
        "https:///x",
        5,
    ],
)
def test_only_addresses_of_the_web_without_a_login_are_links(address: object) -> None:
    found = place_of({"url": address, "page": 1})
    assert found is not None
    assert found.href is None


NOWHERE = [None, "", "no json", "[]", {}, {"page": True}, {"title": "a"}]


@pytest.mark.parametrize("metadata", NOWHERE)
def test_metadata_without_a_place_says_nothing(metadata: object) -> None:
    assert place_of(metadata) is None  # type: ignore[arg-type]

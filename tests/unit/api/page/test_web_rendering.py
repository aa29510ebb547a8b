"""How values are written on pages, and where addresses lead."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.page.links import inside, plain, url
from veritrail_graph.api.show.rendering import (
    ago,
    environment,
    money,
    number,
    size,
    text_of,
)
from veritrail_graph.api.show.texts import shown
from veritrail_graph.api.show.words import share


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "unknown"), (0, "$0"), (0.0, "$0"), (0.00001, "under $0.0001"), (0.0123, "$0.0123"),
     (1.5, "$1.50"), (12345.678, "$12,345.68")],
)  # fmt: skip
def test_money_that_is_not_known_is_not_nothing(value: float | None, words: str) -> None:
    assert money(value) == words


def test_numbers_shares_and_sizes_are_for_people() -> None:
    assert number(1234567) == "1,234,567"
    assert number(None) == "unknown"
    assert share(0, 10) == "0 %"
    assert share(1, 1000) == "under 1 %"
    assert share(999, 1000) == "over 99 %"
    assert share(1, 3) == "33 %"
    assert share(5, 5) == "100 %"
    assert size(2_000_000_000) == "2 GB"
    assert size(1_500_000) == "1.5 MB"
    assert size(999) == "999 bytes"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "just now"), (59, "59 s ago"), (61, "1 min ago"), (7200, "2 h ago"), (86400, "1 day ago"),
     (3 * 86400, "3 days ago")],
)  # fmt: skip
def test_a_moment_is_told_as_people_do(seconds: int, words: str) -> None:
    told = ago(datetime.now(UTC) - timedelta(seconds=seconds))
    assert f">{words}</time>" in told
    assert "UTC" in told


def test_what_would_hide_or_turn_text_is_seen() -> None:
    assert shown("a\u202eb\u2066c\u0000\u001b[1m") == "a⟨RLO⟩b⟨LRI⟩c␀␛[1m"
    assert shown("a\r\nb\tc") == "a\nb\tc"
    assert shown("half \ud800") == "half \N{REPLACEMENT CHARACTER}"
    # Scripts that are written from right to left, joiners and combining marks stay as they are.
    assert shown("שלום\u200f e\u0301 👩\u200d🔬") == "שלום\u200f e\u0301 👩\u200d🔬"


@given(st.text())
def test_whatever_comes_from_outside_can_be_sent_and_holds_nothing_that_turns(text: str) -> None:
    found = shown(text)
    found.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", found)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_an_id_stays_one_segment_and_comes_back(text: str) -> None:
    path = url("processes", "p", "nodes", text)
    segments = path.split("/")
    assert len(segments) == 5
    assert segments[4].isascii()
    assert segments[4] not in (".", "..", "%2e", "%2E")
    assert plain(unquote(segments[4])) == text


@given(st.text())
def test_one_is_never_sent_to_another_site(text: str) -> None:
    found = inside(text)
    assert found.startswith("/")
    assert not found.startswith("//")
    assert "\\" not in found
    assert not re.search(r"[\x00-\x1f]", found)


def test_a_text_from_outside_is_escaped_and_what_is_missing_is_a_fault() -> None:
    made = environment().from_string("<p>{{ text|shown }}</p>")
    assert made.render(text="<script>") == "<p>&lt;script&gt;</p>"
    with pytest.raises(Exception, match="undefined"):
        made.render()


def test_every_icon_that_templates_name_is_there() -> None:
    there = set(re.findall(r'<symbol id="([a-z-]+)"', text_of("icons.svg")))
    loader = environment().loader
    assert loader is not None
    named = set()
    for name in environment().list_templates():
        source, _, _ = loader.get_source(environment(), name)
        named |= set(re.findall(r"""icon\(\s*["']([a-z-]+)["']""", source))
    assert named
    assert named <= there, named - there

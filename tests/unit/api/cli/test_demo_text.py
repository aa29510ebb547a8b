"""What the demo shows of a sentence: the part around the words that differ, on one line."""

from __future__ import annotations

import pytest

from veritrail_graph.api.cli.demo_steps import around
from veritrail_graph.graph.word_diff import Piece

LONG = "word " * 40


@pytest.mark.parametrize("before", ["", "Short ", LONG])
@pytest.mark.parametrize("after", ["", " metres.", f" {LONG}"])
def test_the_words_that_differ_stay_on_the_line(before: str, after: str) -> None:
    pieces = [Piece(before), Piece("84,200", is_changed=True), Piece(after)]
    found = around(pieces, 60)
    text = "".join(one.text for one in found)
    assert len(text) <= 60
    assert [one.text for one in found if one.is_changed] == ["84,200"]
    assert text.startswith("… ") == (before == LONG)
    assert text.endswith(" …") == (after == f" {LONG}")
    if before + after == "Short  metres.":
        assert text == "Short 84,200 metres."

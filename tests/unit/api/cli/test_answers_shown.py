"""The answer that a command speaks of: short, safe for a terminal, within its columns."""

from __future__ import annotations

from veritrail_graph.api.cli.answers import MOST_LINES, short_lines


def test_a_short_text_is_shown_whole_and_a_long_one_is_cut() -> None:
    assert short_lines("The ferry\n\ncarries 42 cars.", 78) == ["The ferry", "carries 42 cars."]
    assert short_lines(" \n", 78) == ["(it is empty)"]
    long = short_lines("The ferry carries 42 cars. " * 200, 78)
    assert len(long) == MOST_LINES
    assert long[-1].endswith(" …")
    assert max(map(len, long)) <= 78


def test_no_text_drives_the_terminal() -> None:
    (line,) = short_lines("The \x1b[31mferry\u202e", 78)
    assert "\x1b" not in line
    assert "\u202e" not in line

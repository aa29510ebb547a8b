"""What is shown of two texts that differ."""

from __future__ import annotations

import pytest

from veritrail_graph.api.app.version_texts import (
    BEFORE_CHANGE,
    MOST_CHARACTERS,
    NodeTexts,
    same_beginning,
)
from veritrail_graph.graph.model.nodes import Node
from veritrail_graph.graph.word_diff import MOST_SHOWN, rewritten

LONG = "The quay was built by people whom nobody remembers, and it has lasted for a long time. " * 3


def marked(before: str, after: str) -> list[str]:
    return [
        "".join(f"*{one.text}*" if one.is_changed else one.text for one in side)
        for side in rewritten(before, after)
    ]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("It cost 48,200 euros.", "It cost 84,200 euros.", ("*48,200*", "*84,200*")),
        ("Rain.", "rain!", ("*Rain.*", "*rain!*")),
        ("The end", "The end came", ("The end", "The end *came*")),
    ],
)
def test_what_differs_is_marked(before: str, after: str, shown: tuple[str, str]) -> None:
    for side, words in zip(marked(before, after), shown, strict=True):
        assert words in side


def test_what_is_the_same_is_cut_to_a_few_words() -> None:
    before, after = marked(f"{LONG}one {LONG}two", f"{LONG}uno {LONG}dos")
    assert before.startswith("… ")
    assert "*one*" in before
    assert "*two*" in before
    assert "*uno*" in after
    assert len(before) < len(LONG)


def test_a_side_is_no_longer_than_what_is_shown() -> None:
    for side in marked("x " * 20_000, "y " * 20_000):
        assert len(side) < MOST_SHOWN + 10


def test_a_long_text_begins_shortly_before_the_difference() -> None:
    node = Node(node_id="n", stage=1)
    same = "a" * 50_000
    found = NodeTexts.of((node, node), same + "b" * 50_000, same + "c")
    assert found.start == len(same) - BEFORE_CHANGE
    assert found.before[BEFORE_CHANGE:] == "b" * (MOST_CHARACTERS - BEFORE_CHANGE)
    assert found.after[BEFORE_CHANGE:] == "c"
    assert (found.length_before, found.length) == (100_000, 50_001)


@pytest.mark.parametrize(
    ("one", "other", "count"), [("", "a", 0), ("ab", "ab", 2), ("abc", "abd", 2)]
)
def test_the_same_beginning_is_counted(one: str, other: str, count: int) -> None:
    assert same_beginning(one, other) == count

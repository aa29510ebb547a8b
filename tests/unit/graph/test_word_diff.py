"""Two wordings of a sentence: where they differ, and how many edits lie between them."""

from __future__ import annotations

import random

import pytest

from veritrail_graph.graph.word_diff import MOST_WORDS, WordChange, edits, word_diff


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ("It may close the quay.", "The quay will close.", [("may close", "will close")]),
        ("Sales rose by 3.5%.", "Sales fell by 3.5%.", [("rose", "fell")]),
        ("He is not well", "He is well", [("not", "")]),
        ("The ferry sails", "The old ferry sails daily", [("", "old"), ("", "daily")]),
        ("One two.", "one TWO", []),
        ("", "New words", []),
    ],
)
def test_what_differs_is_named_in_phrases(
    before: str, after: str, changes: list[tuple[str, str]]
) -> None:
    assert list(word_diff(before, after).changes) == [WordChange(*one) for one in changes]


def test_the_pieces_are_the_texts_whatever_they_hold() -> None:
    chosen = random.Random(7)
    words = ["a", "the", "quay", "será", "3.5", "don't", "…", "\n", "<b>", "😀", "will", "not"]
    for _ in range(300):
        one, other = (" ".join(chosen.choices(words, k=chosen.randrange(12))) for _ in range(2))
        found = word_diff(one, other)
        assert "".join(piece.text for piece in found.before) == one
        assert "".join(piece.text for piece in found.after) == other
        assert 0 <= found.alike <= 1


def slow(one: list[str], other: list[str]) -> int:
    if not one or not other:
        return len(one) + len(other)
    rest = slow(one[1:], other[1:]) + (one[0] != other[0])
    return min(rest, slow(one[1:], other) + 1, slow(one, other[1:]) + 1)


def test_edits_are_the_fewest_there_are() -> None:
    chosen = random.Random(11)
    for _ in range(60):
        one, other = (chosen.choices("abc", k=chosen.randrange(6)) for _ in range(2))
        assert edits(" ".join(one), " ".join(other)) == slow(one, other)


def test_a_text_that_is_no_sentence_is_not_aligned() -> None:
    long = "word " * (MOST_WORDS + 1)
    assert word_diff(long, "another").changes == ()
    assert edits(long, "another") == MOST_WORDS + 1

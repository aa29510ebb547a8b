"""What the lexical engine reads beside values: denials, opposites, pairs of signs."""

from __future__ import annotations

import pytest

from veritrail_graph.verifier.engines.lexical.reading import read


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The ferry does not sail.", {"sail"}),
        ("The ferry never sails, the tram runs.", {"sail"}),
        ("Not only the ferry sails.", set()),
        ("Nobody sails.", {"sail"}),
    ],
)
def test_denials_reach_to_the_end_of_their_clause(text: str, denied: set[str]) -> None:
    assert read(text).denied_first == denied


def test_signs_without_blanks_are_read_in_pairs() -> None:
    reading = read("\u6e2f\u53e3\u8d39\u6da84\u6b27\u5143")
    assert [word.key for word in reading.words] == [
        "\u6e2f\u53e3",
        "\u53e3\u8d39",
        "\u8d39\u6da8",
    ]
    assert [number.value.canonical for number in reading.numbers] == ["4"]

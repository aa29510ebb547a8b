"""The words of two sentences that a picture writes on its broken line."""

from __future__ import annotations

import pytest

from veritrail_graph.api.show.decisive import decisive_words


@pytest.mark.parametrize(
    ("source", "wrote", "words"),
    [
        ("The ferry carries 42 cars, not counting vans.", "The ferry carries 48 cars.",
         ("42", "48")),
        ("The office has not approved the plan for the ridge.",
         "The office has approved the plan of the town.", ("not", "")),
        ("The office has approved the plan.", "The office has never approved the plan.",
         ("", "never")),
        ("The mole was built by Fairlie Marine in one old yard.",
         "The mole was built by Thole & Sons in one new yard.", ("Fairlie Marine", "Thole & Sons")),
        ("The boat was paid for by a legacy of the teacher of that name.",
         "The boat was paid for by a grant of the state.",
         ("legacy", "grant")),
        ("Rheva has withdrawn its plan for a pumped storage station at Steinmoor, "
         "which would have cost 610 million euros.",
         "Rheva withdrew its plan for a pumped storage station at Steinmoor because of a protest "
         "with 21,000 signatures.",
         ("", "because of a protest with 21,000 signatures")),
    ],
)  # fmt: skip
def test_of_all_that_differs_what_matters_most_is_taken(
    source: str, wrote: str, words: tuple[str, str]
) -> None:
    assert decisive_words(source, wrote, wrote) == words


@pytest.mark.parametrize(
    ("source", "wrote", "words"),
    [
        ("The Lady Brae replaced the Island Maid on 1 April.",
         "This ferry was certainly built in Gdańsk.", "Gdańsk"),
        ("Bring power to Quay 2, which costs much.", "Shore power is in use at every quay.",
         "every"),
        ("It cost much.", "The battery was sold to a large company.",
         "battery was sold to a large company"),
    ],
)  # fmt: skip
def test_of_sentences_with_few_words_in_common_names_and_sweeping_words_come_first(
    source: str, wrote: str, words: str
) -> None:
    assert decisive_words(source, wrote, wrote) == ("", words)


def test_another_form_of_a_word_is_no_difference() -> None:
    source, wrote = "The firm has withdrawn its plan.", "The firm withdraws its plan."
    assert decisive_words(source, wrote, wrote) == ("", "")

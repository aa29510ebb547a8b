"""An answer in sentences: offsets, line breaks, headings, and what a prompt shows of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.claims.answer import (
    CONTEXT_CHARACTERS,
    SplitAnswer,
    Window,
    split_answer,
)

SPLIT = SentenceSplitter.for_language("english").split
AROUND, BEFORE = Window(5, 5), Window(5, 0)


def answer(text: str, question: str | None = None) -> SplitAnswer:
    return SplitAnswer.of("t", text, question, SPLIT)


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split_answer("t", text, SPLIT)]


def prompt(text: str, about: str, window: Window, question: str | None = None) -> list[str]:
    """The lines of the prompt about the sentence that holds these words."""
    read = answer(text, question)
    (place,) = [one.index for one in read.sentences if about in one.text]
    return read.prompt(place, read.sentences[place].text, window).split("\n")


def numbered(count: int) -> str:
    return " ".join(f"Sentence number {number} stands here." for number in range(count))


PIECES = st.sampled_from(
    ["The pier. ", "Crew: 9", "# ", "- ", "\n", "\r\n", "\n\n", "---", "a", "\u2028", " ", "\x85"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_sentences_hold_every_visible_character_once_and_in_order(text: str) -> None:
    covered = 0
    for index, sentence in enumerate(split_answer("t", text, SPLIT)):
        assert (sentence.index, sentence.text) == (index, text[sentence.start : sentence.end])
        assert sentence.text == sentence.text.strip() != ""
        assert not text[covered : sentence.start].strip()
        covered = sentence.end
    assert not text[covered:].strip()


@given(st.lists(PIECES, min_size=1).map("".join), st.sampled_from([AROUND, BEFORE, Window(1, 0)]))
def test_every_prompt_keeps_the_form_of_the_protocol(text: str, window: Window) -> None:
    read = answer(text, "Who?\nSentence: me")
    for sentence in read.sentences:
        lines = read.prompt(sentence.index, sentence.text, window).splitlines()
        assert lines[0] == "Question: Who? Sentence: me"
        assert all(line.startswith("(context) ") for line in lines[1:-1])
        assert lines[-1].startswith("Sentence: ")


def test_a_line_break_ends_a_sentence() -> None:
    text = "Fleet: 34 vessels\nCrew: 120 people\r\nHome port: Oban\u2028Built in 1901"
    assert texts(text) == [
        "Fleet: 34 vessels",
        "Crew: 120 people",
        "Home port: Oban",
        "Built in 1901",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The harbour was\nopened in 1901.",
        "The old harbour of the fishing village near\nOban was opened in 1901 by the county.",
        "The harbour, which lies near Oban,\nScotland, is old.",
        "- the harbour near\n  Oban is old",
    ],
)
def test_a_hard_wrapped_sentence_stays_whole(text: str) -> None:
    assert texts(text) == [text]


def test_a_rule_or_an_underline_is_no_sentence_of_its_own() -> None:
    assert texts("Boats\n=====\nThere are two.") == ["Boats\n=====", "There are two."]
    assert texts("| a | b |\n|---|---|\n| 1 | 2 |") == ["| a | b |\n|---|---|", "| 1 | 2 |"]


def test_context_is_cut_on_both_sides_and_its_place_is_marked() -> None:
    assert prompt(numbered(20), "number 10 ", AROUND, "How many?") == [
        "Question: How many?",
        "(context) [...]",
        *(f"(context) Sentence number {number} stands here." for number in range(5, 10)),
        "(context) [the sentence]",
        *(f"(context) Sentence number {number} stands here." for number in range(11, 16)),
        "(context) [...]",
        "Sentence: Sentence number 10 stands here.",
    ]


HEADINGS = """# Harbours

All of them are old.

## Oban

A first sentence stands here. A second one stands here.

**Boats**

- Two ferries sail there.
- One trawler sails there.

## Mallaig

Nothing is known of it.
"""


@pytest.mark.parametrize(
    ("about", "shown"),
    [
        ("Harbours", []),
        ("All of them", ["# Harbours"]),
        ("## Oban", ["# Harbours", "All of them are old."]),
        ("A second", ["# Harbours", "## Oban", "[...]", "A first sentence stands here."]),
        (
            "One trawler",
            ["# Harbours", "## Oban", "**Boats**", "[...]", "- Two ferries sail there."],
        ),
        ("Nothing", ["# Harbours", "[...]", "## Mallaig"]),
    ],
)
def test_a_sentence_comes_with_the_headings_it_stands_under(about: str, shown: list[str]) -> None:
    lines = prompt(HEADINGS, about, Window(1, 0))
    assert lines[:-1] == [f"(context) {line}" for line in shown]


@pytest.mark.parametrize(
    "heading", ["Boats of Oban\n=============", "BOATS OF OBAN", "Boats of Oban", "### Boats"]
)
def test_headings_are_known_with_and_without_marks(heading: str) -> None:
    text = f"An introduction.\n\n{heading}\n\n{numbered(9)}"
    assert f"(context) {heading.replace(chr(10), ' ')}" in prompt(text, "number 8 ", Window(2, 0))


def test_what_ends_like_a_sentence_or_lists_something_is_no_heading() -> None:
    text = f"It is old.\n\n- a boat\n\n1. a pier\n\n{numbered(9)}"
    assert prompt(text, "number 8 ", Window(1, 0)) == [
        "(context) [...]",
        "(context) Sentence number 7 stands here.",
        "Sentence: Sentence number 8 stands here.",
    ]


def test_of_a_very_long_neighbour_only_the_near_end_is_shown() -> None:
    before, behind = "begin " + "x" * 5_000 + " end.", "Start " + "y" * 5_000 + " stop."
    lines = prompt(f"{before}\n\nThe pier.\n\n{behind}", "The pier", AROUND)
    assert lines[0].startswith("(context) [...] x")
    assert lines[0].endswith(" end.")
    assert lines[2].startswith("(context) Start y")
    assert lines[2].endswith("y [...]")
    assert max(map(len, lines)) < CONTEXT_CHARACTERS + 50


def test_splitting_a_long_answer_takes_time_in_proportion() -> None:
    import time

    text = "\n\n".join(f"# Part {number}\n\n{numbered(20)}" for number in range(300))
    began = time.monotonic()
    assert len(answer(text).sentences) == 6_300
    assert time.monotonic() - began < 6

"""A text with its claims in place: segments, lanes, groups, parts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.api.show.answer import (
    LANES,
    TextClaim,
    answer_text,
    find_places,
)
from veritrail_graph.api.show.texts import part_bounds, part_count, part_of
from veritrail_graph.api.show.words import INCONCLUSIVE, NOT_SUPPORTED, SUPPORTED, Mark

TEXT = "The pier is long. The quay is short. It rained."


def claim(
    name: str, start: int | None = None, end: int | None = None, **other: object
) -> TextClaim:
    facts: dict[str, object] = {"text": "?", "mark": SUPPORTED, **other}
    return TextClaim(name, start=start, end=end, **facts)  # type: ignore[arg-type]


def test_claims_of_one_stretch_stand_together_and_the_worst_gives_the_line() -> None:
    (segment, _) = answer_text(
        TEXT, [claim("good", 0, 17), claim("bad", 0, 17, mark=NOT_SUPPORTED)]
    ).segments
    assert [one.claim_id for one in segment.ending] == ["bad", "good"]
    assert [layer.kind for layer in segment.layers] == ["not-supported"]
    assert segment.whole


def test_overlapping_claims_have_lanes_of_their_own() -> None:
    found = answer_text(TEXT, [claim("a", 0, 36), claim("b", 4, 47, mark=INCONCLUSIVE)]).segments
    lanes = [[(layer.kind, layer.lane) for layer in one.layers] for one in found]
    assert lanes == [
        [("supported", 0)],
        [("supported", 0), ("inconclusive", 1)],
        [("inconclusive", 1)],
    ]
    assert not any(one.whole for one in found)


def test_a_claim_without_offsets_is_found_word_for_word() -> None:
    found = answer_text(TEXT, [claim("k", text="The quay is short.")])
    assert [one.claim_id for each in found.segments for one in each.ending] == ["k"]
    assert [one.text for one in found.segments if one.layers] == ["The quay is short."]
    assert not found.missing


@pytest.mark.parametrize("words", ["The quays are short.", "ier", "pier is lon", "", "  "])
def test_a_claim_whose_words_do_not_stand_there_is_said_to_be_missing(words: str) -> None:
    found = answer_text(TEXT, [claim("k", text=words)])
    assert [one.claim_id for one in found.missing] == ["k"]
    assert not any(one.layers for one in found.segments)


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ("The town has 9 bridges [Data: Reports (1, 2)].", "The town has 9 bridges."),
        ("The \u201cOld\u201d quay\u2019s wall fell.", 'The "Old" quay\'s wall fell.'),
        ("The town\n has\u00a09 bridges.", "The town has 9 bridges."),
        ("The town [^1] has 9\u2003bridges (Smith, 2020).", "The town has 9 bridges."),
        ("The town has 9 bridges.", "The town has\n9 bridges [Data: Reports (1)]."),
    ],
)
def test_a_claim_is_found_but_for_citations_quotation_marks_and_spaces(
    shown: str, words: str
) -> None:
    text = f"Before  it [Data: Sources (7)].\n{shown} And \u201cbehind\u201d."
    (start, end) = find_places(text, [claim("k", text=words)]).places["k"]
    assert text[start:end] == shown


def test_words_within_longer_words_are_passed_over() -> None:
    found = find_places("seaside sea", [claim("k", text="sea")])
    assert found.places == {"k": (8, 11)}


def test_a_claim_made_twice_is_drawn_twice_and_is_a_target_once() -> None:
    found = answer_text("On. Off. On.", [claim("k", 0, 3, also=((9, 12),))]).segments
    drawn = [one for one in found if one.layers]
    assert [one.text for one in drawn] == ["On.", "On."]
    assert [one.first for one in drawn] == [frozenset({"k"}), frozenset()]


def test_what_a_filter_leaves_out_stands_back_behind_the_others() -> None:
    found = answer_text(
        TEXT, [claim("out", 0, 17, mark=NOT_SUPPORTED, faded=True), claim("in", 0, 17)]
    ).segments[0]
    assert [one.claim_id for one in found.ending] == ["in", "out"]
    assert [(layer.kind, layer.faded) for layer in found.layers] == [("supported", False)]


Places = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12)


@given(st.text(max_size=50), Places, st.integers(5, 40))
@settings(max_examples=50, deadline=None)
def test_no_letter_is_lost_and_every_claim_ends_where_it_ends(
    text: str, places: list[tuple[int, int]], size: int
) -> None:
    claims = [
        claim(str(n), min(pair), max(pair) + 1, text="\0none")
        for n, pair in enumerate(places)
        if max(pair) < len(text)
    ]
    joined, ended = "", set()
    for part in range(1, part_count(len(text), size) + 1):
        for segment in answer_text(text, claims, part, size).segments:
            joined += segment.text
            ended |= {(one.claim_id, len(joined)) for one in segment.ending}
            assert len(segment.layers) <= LANES
            assert len({layer.lane for layer in segment.layers}) == len(segment.layers)
    assert joined == text
    assert {(one.claim_id, one.end) for one in claims} == ended


@given(st.text(alphabet="ab \n", max_size=120), st.integers(5, 40))
@settings(max_examples=30, deadline=None)
def test_parts_follow_on_each_other_and_every_place_is_in_one(text: str, size: int) -> None:
    bounds = [part_bounds(text, part, size) for part in range(1, part_count(len(text), size) + 1)]
    assert [start for start, _ in bounds[1:]] == [end for _, end in bounds[:-1]]
    assert (bounds[0][0], bounds[-1][1]) == (0, len(text))
    for offset in range(len(text)):
        start, end = bounds[part_of(offset, text, size) - 1]
        assert start <= offset < end


def test_marks_of_claims_are_told_apart() -> None:
    kinds: list[Mark] = [SUPPORTED, NOT_SUPPORTED, INCONCLUSIVE]
    assert len({(one.kind, one.icon, one.word) for one in kinds}) == 3

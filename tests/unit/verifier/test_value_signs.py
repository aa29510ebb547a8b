"""Signs of a text: what they say cannot stand in it does not stand in it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veritrail_graph.verifier.value_reading import Asked
from veritrail_graph.verifier.value_signs import figures_in, shared_at_most, signs_of
from veritrail_graph.verifier.values import Value, ValueKind
from veritrail_graph.verifier.values.derived import may_be_sum
from veritrail_graph.verifier.values.matter import content_keys
from veritrail_graph.verifier.values.reading import text_of
from veritrail_graph.verifier.vocabulary import word_set

PIECES = sorted(
    word_set(
        """Anna Smith's EU U.S. S.I.X. Co-operative may May Monday noon one two twenty-five hundred
        dozen third half quarter 7,516 75 2019 2019-05-03 3/4 9:30 p.m. 5kg km/h % $ per cent a the
        of boats boat's harbours' harbour don't l'eau snake_case caf\u00e9 \u6e2f\u53e3 \u4e94\u6708
        \uff15 COVID-19 3D 3rd \u201cx\u201d (2020) (Smith, 2020) [1] wal[1]k - . ' ''"""
    )
)
TEXT = st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map(" ".join)


@given(TEXT)
@settings(max_examples=400, deadline=None)
def test_a_text_has_no_more_than_its_signs_allow(text: str) -> None:
    read = text_of(text)
    keys = content_keys(read, ())
    assert shared_at_most(keys, text) == len(keys)
    there = tuple(one.value for one in read.placed if one.value.kind is not ValueKind.NAME)
    assert figures_in(text) == there
    assert signs_of(text).may_state or not there


@given(TEXT, TEXT, TEXT)
@settings(max_examples=150, deadline=None)
def test_a_text_may_have_each_value_that_a_part_of_it_has(claim: str, one: str, two: str) -> None:
    asked = Asked.of(claim)
    places = [n for n, value in enumerate(asked.values) if value.kind is not ValueKind.NAME]
    if any(True for _ in asked.held(one, places)):
        assert asked.may_stand_in(f"{one} {two}", places) or any(
            asked.values[place].kind is ValueKind.QUOTATION for place in places
        )


def _figure(amount: int) -> Value:
    return Value(ValueKind.FIGURE, str(amount), "", (), str(amount), 0, 1)


@pytest.mark.parametrize("figures", [(), (0,), (2,), (5,), (3, 4), (6, 6), (1, 9, 30), (8, 2, 40)])
def test_a_sum_is_found_whichever_figure_completes_it(figures: tuple[int, ...]) -> None:
    for total, part in product((7, 10, 12), (3, 5)):
        rests = {total, total - part, total + part}
        added = {sign * one for one in figures for sign in (1, -1)}
        expected = bool((rests - {total}) & added) or any(
            rest == one + other for rest in rests for one, other in product(added, added)
        )
        found = may_be_sum(_figure(total), _figure(part), map(_figure, figures))
        assert found is expected, (total, part)

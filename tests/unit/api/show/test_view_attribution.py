"""What a sentence rests on, as pages show it: marks, windows of sources, and corrections."""

from __future__ import annotations

import pytest

from veritrail_graph.api.mcp.attributions import attributions_text, resting
from veritrail_graph.api.page.views.attribution import (
    MOST_SOURCES,
    lit_of,
    open_view,
    rows_of,
    shown_sources,
    sources_of,
)
from veritrail_graph.api.show import markdown
from veritrail_graph.api.show.attribution import node_shown
from veritrail_graph.api.show.attribution_marks import (
    CATEGORY_MARKS,
    CorrectionChange,
    changes,
    label_mark,
)
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    NOTHING_ATTRIBUTED,
    AttributedSentence,
    AttributionCategory,
    CarriedSentence,
    Faithfulness,
    SentenceAttribution,
)

EVIDENCE, CONTRADICTION = AttributionCategory.EVIDENCE, AttributionCategory.CONTRADICTION


def source(
    text: str, words: str, *categories: AttributionCategory, node: str = "r"
) -> AttributedSentence:
    start = text.index(words)
    return AttributedSentence(
        node_id=node, sentence=0, start=start, end=start + len(words), text=words,
        categories=categories or (EVIDENCE,),
    )  # fmt: skip


def sentence(**other: object) -> SentenceAttribution:
    facts = {"sentence": 0, "start": 0, "end": 5, "text": "It is.", "status": Status.SUCCEEDED}
    return SentenceAttribution.model_validate({**facts, **other})


def test_no_two_categories_have_the_same_word_or_icon() -> None:
    assert set(CATEGORY_MARKS) == set(AttributionCategory)
    assert len({mark.word for mark in CATEGORY_MARKS.values()}) == 4
    assert len({mark.icon for mark in CATEGORY_MARKS.values()}) == 4


def test_a_failed_sentence_is_never_shown_as_resting_on_nothing() -> None:
    failed = sentence(status=Status.FAILED, error="No usable answer.")
    mark = label_mark(failed)
    assert mark.kind == "failed"
    assert "No usable answer." in mark.hint
    assert label_mark(sentence(status=Status.OVER_BUDGET)).word == "over budget"
    assert label_mark(sentence(implied_label=Faithfulness.UNFAITHFUL)).kind == "not-supported"


def test_the_judged_label_is_shown_and_the_implied_one_beside_it() -> None:
    disputed = sentence(implied_label=Faithfulness.UNFAITHFUL, judged_label=Faithfulness.FAITHFUL)
    (row,) = rows_of([disputed], None, None, 0)
    assert row.is_disputed
    assert row.mark.kind == "supported"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("The quay will close.", "The quay may close.", ["“may” in place of “will”"]),
        ("It is so.", "It is so.", []),
        ("It opened in May 1901.", "It opened in 1901.", ["“May” left out"]),
        ("It opened.", "It opened late.", ["“late” added"]),
        ("A b c d.", "A x y d.", ["“x y” in place of “b c”"]),
    ],
)
def test_a_correction_is_shown_by_the_words_that_differ(
    before: str, after: str, words: list[str]
) -> None:
    found = changes(before, after)
    assert "".join(one.kept + one.removed for one in found) == before
    assert "".join(one.kept + one.added for one in found) == after
    assert [one.words for one in found if one.words] == words


def test_very_long_sentences_are_compared_as_a_whole() -> None:
    assert changes("a " * 2_000, "b") == (CorrectionChange(removed="a " * 2_000, added="b"),)


def test_a_short_source_is_shown_whole_with_its_sentences_marked_in_order() -> None:
    text = "First. Second. Third."
    attributed = [source(text, "Third."), source(text, "First.", CONTRADICTION, EVIDENCE)]
    (found,) = sources_of(["r"], {"r": text}, attributed, lit_of(attributed))
    assert found.is_whole
    assert "".join(one.text for one in found.stretches) == text
    lit = [one.lit for one in found.stretches if one.lit]
    assert [one.number for one in lit] == [2, 1]
    assert [mark.word for mark in lit[0].marks] == ["evidence", "contradiction"]


def test_a_long_source_is_shown_around_its_marked_sentences() -> None:
    text = f"{'a ' * 100_000}HERE.{' b' * 100_000}"
    attributed = [source(text, "HERE.")]
    (found,) = sources_of(["r"], {"r": text}, attributed, lit_of(attributed))
    assert not found.is_whole
    assert [bool(one.lit) for one in found.stretches] == [False, True, False]
    assert found.stretches[0].is_gap
    assert sum(len(one.text) for one in found.stretches) < 3_000


def test_of_a_source_that_is_too_long_to_be_read_the_marked_sentences_are_shown() -> None:
    attributed = [source("It is so.", "It is so.")]
    (found,) = sources_of(["r"], {}, attributed, lit_of(attributed))
    assert [(one.text, one.is_gap) for one in found.stretches] == [("It is so.", True)]
    assert not found.is_whole


def test_sources_with_marked_sentences_are_always_among_those_shown() -> None:
    inputs = [f"r{n}" for n in range(40)]
    attributed = [source("A.", "A.", node="r39"), source("A.", "A.", node="root")]
    names = shown_sources(inputs, attributed)
    assert len(names) == MOST_SOURCES
    assert names[-2:] == ["r39", "root"]
    assert names[:3] == ["r0", "r1", "r2"]


def test_text_between_attributed_sentences_is_not_lost() -> None:
    text = "One. Two. Three."
    rows = rows_of(
        [
            sentence(start=0, end=4, text="One.", implied_label=Faithfulness.FAITHFUL),
            sentence(sentence=2, start=10, end=16, text="Three."),
        ],
        2,
        text,
        0,
    )
    assert [row.gap and row.gap.text for row in rows] == [None, "Two."]
    assert [row.is_open for row in rows] == [False, True]


def test_every_place_says_what_became_of_a_correction() -> None:
    revision = {"text": "It may be.", "edits": 1, "outcome": "partly", "rechecked_by": "walk",
                "claims": 2, "supported": 1}  # fmt: skip
    revisions = [{**revision, "mode": "plain", "rank": 1},
                 {**revision, "mode": "attribution", "rank": 1}]  # fmt: skip
    facts = sentence(implied_label=Faithfulness.UNFAITHFUL).__dict__ | {"revisions": revisions}
    facts |= {"run_id": "r-1", "node_id": "t"}
    stored = CarriedSentence.model_validate(facts, strict=False)
    expected = [
        f"1. {mode}: It may be. (partly fixed, verified again by a verification of its "
        "claims: 1 of 2 claims supported)"
        for mode in ("plain", "attribution")
    ]
    assert open_view(stored).proposed == expected
    assert resting(stored).proposed == expected
    told = markdown.text(node_shown("t", [stored]))
    assert all(f"- proposed: {words}" in told for words in expected)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (NOTHING_ATTRIBUTED, "no judge was asked: No source sentence is attributed to it."),
        ("It says more.", "judge: It says more."),
    ],
)
def test_every_place_says_whether_a_judge_was_asked(reason: str, words: str) -> None:
    wrong = Faithfulness.UNFAITHFUL
    facts = sentence(implied_label=wrong, judged_label=wrong, judged_reason=reason).__dict__
    facts |= {"run_id": "r-1", "node_id": "t"}
    stored = CarriedSentence.model_validate(facts, strict=False)
    assert words in markdown.text(node_shown("t", [stored]))
    assert words in attributions_text([stored]).replace('"', "")

"""A trail as columns, its rounds as steps, its routes, and what a check cost."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import pytest
from fakes.trails import FS, NFS, NODES, a_round, a_step, a_trail

from veritrail_graph.api.views.costs import by_step, spent, spent_by, spent_together
from veritrail_graph.api.views.routes import routes_of
from veritrail_graph.api.views.stages import StageCount, stage_bars
from veritrail_graph.api.views.words import ending_words
from veritrail_graph.api.web.views.cited_nodes import MOST_OF_STAGE
from veritrail_graph.api.web.views.excerpts import clip, clip_start, shown_sentences
from veritrail_graph.api.web.views.steps import steps_of
from veritrail_graph.api.web.views.trail import (
    MOST_SENTENCES,
    cards_of_stage,
    cited_in,
    nodes_of_cards,
    nodes_of_stage,
    trail_view,
)
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    ErrorLocation,
    Evidence,
    EvidencePath,
    EvidenceRole,
    Iteration,
    NodeRef,
    Process,
    Role,
    Sentence,
    Status,
    Termination,
    Usage,
    Verification,
)
from veritrail_graph.graph.outline import TrailOutline

T = NodeRef("t", 3, 4, Role.TERMINAL)
NAMES = {1: "source page", 2: "summary"}


def two_rounds() -> Verification:
    return a_trail(
        "v-1",
        a_round(1, FS, "s1 s2", (("s1", 0), ("s1", 1), ("s2", 3))),
        a_round(2, NFS, "c1 c2", (("c1", 0), ("c1", 2), ("c1", 4), ("c1", 5)), dropped_ids=2),
        paths=(
            EvidencePath("s1", "t", 1),
            EvidencePath("s2", "t", 1),
            EvidencePath("c1", "s1", 2),
            EvidencePath("c1", "s2", 2, ("x",)),
        ),
        error=ErrorLocation((NODES["s1"],), (T,)),
        termination=Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
    )


def test_columns_go_from_the_answer_to_the_sources() -> None:
    trail = trail_view(TrailOutline(two_rounds()), NAMES, {})
    assert [(one.stage, one.name, one.nodes) for one in trail.columns] == [
        (2, "summary", 2),
        (1, "source page", 1),
    ]
    assert (trail.nodes, trail.sentences) == (3, 7)
    first, second, third = (card for column in trail.columns for card in column.cards)
    assert [first.node_id, second.node_id, third.node_id] == ["s1", "s2", "c1"]
    assert (first.introduced, first.inherited, trail.columns[0].introduced) == (True, False, True)
    assert [(one.node_id, one.number) for one in third.feeds] == [("s1", 1), ("s2", 2)]
    assert [(one.node_id, one.number) for one in first.feeds] == [("t", 0)]
    assert (len(third.sentences), third.more) == (MOST_SENTENCES, 1)


def test_a_round_shows_the_trail_up_to_it() -> None:
    trail = trail_view(TrailOutline(two_rounds()), NAMES, {}, 1)
    assert [card.node_id for column in trail.columns for card in column.cards] == ["s1", "s2"]
    later = trail_view(TrailOutline(two_rounds()), NAMES, {}, 2)
    assert [card.current for column in later.columns for card in column.cards] == [
        False,
        False,
        True,
    ]


def wide(stages: int, each: int) -> Verification:
    refs = [
        NodeRef(f"n{stage}-{n}", stage, n, Role.ROOT if stage == 1 else Role.INTERMEDIATE)
        for stage in range(1, stages + 1)
        for n in range(each)
    ]
    found = Evidence(
        "They say so.",
        None,
        tuple(CitedSentence(Sentence(ref.node_id, 0, 0, 5, "Words")) for ref in refs),
    )
    return a_trail("v-1", Iteration(1, FS, "Because.", tuple(refs), evidence=(found,)))


def test_what_has_no_card_is_counted_in_its_column() -> None:
    trail = trail_view(TrailOutline(wide(2, 500)), {}, {})
    assert [(len(one.cards), one.more) for one in trail.columns] == [
        (MOST_OF_STAGE, 500 - MOST_OF_STAGE)
    ] * 2
    assert trail.left_out == 1000 - 2 * MOST_OF_STAGE
    assert len(nodes_of_cards(wide(2, 500))) == 2 * MOST_OF_STAGE


def test_no_stage_is_without_a_card_while_there_is_room() -> None:
    trail = trail_view(TrailOutline(wide(30, 4)), {}, {}, most_cards=40)
    shown = [len(one.cards) for one in trail.columns]
    assert (sum(shown), min(shown), max(shown)) == (40, 1, 2)


def test_further_nodes_and_sentences_can_be_had() -> None:
    one = wide(2, 50)
    assert len(nodes_of_stage(one, 2)) == 50
    cards = cards_of_stage(one, 2, 20, 10, {})
    assert [card.node_id for card in cards] == [f"n2-{n}" for n in range(20, 30)]
    assert [found.sentence.index for found in cited_in(two_rounds(), "c1")] == [0, 2, 4, 5]
    assert cited_in(two_rounds(), "unknown") == ()


def test_further_nodes_are_those_of_the_round_that_is_looked_at() -> None:
    one = two_rounds()
    assert nodes_of_stage(one, 1, 1) == ()
    assert nodes_of_stage(one, None, 1) == ("s1", "s2")
    assert [card.node_id for card in cards_of_stage(one, None, 1, 10, {}, 1)] == ["s2"]
    assert [card.current for card in cards_of_stage(one, None, 0, 10, {}, 2)] == [
        False, False, True
    ]  # fmt: skip


def test_sentences_stand_in_their_surroundings_and_nothing_is_shown_twice() -> None:
    text = "One is here. Two is here. Three is here. Four is here. Five is here. Six is here."
    sentences, start = [], 0
    for index, words in enumerate(text.split(". ")):
        whole = words if words.endswith(".") else f"{words}."
        sentences.append(Sentence("n", index, start, start + len(whole), whole))
        start += len(whole) + 1
    cited = [CitedSentence(sentences[index]) for index in (1, 2, 4)]
    shown = shown_sentences(cited, text)
    assert [
        (one.before and one.before.text, one.text.text, one.after and one.after.text)
        for one in shown
    ] == [
        ("One is here.", "Two is here.", None),
        (None, "Three is here.", "Four is here."),
        (None, "Five is here.", "Six is here."),
    ]
    assert [one.gap for one in shown] == [False, False, False]
    assert [one.gap for one in shown_sentences([cited[0], CitedSentence(sentences[5])], text)] == [
        False,
        True,
    ]


def test_a_text_that_changed_gives_no_surroundings() -> None:
    cited = CitedSentence(Sentence("n", 0, 0, 5, "Words"), EvidenceRole.CONTEXT)
    for text in (None, "Other words. And more."):
        (shown,) = shown_sentences([cited], text)
        assert (shown.before, shown.after, shown.text.text) == (None, None, "Words")
        assert shown.role is EvidenceRole.CONTEXT


@pytest.mark.parametrize("text", ["<" * 500, "漢" * 500, "a" * 5_000, "\U0001f600" * 300])
def test_a_long_sentence_is_cut_by_what_it_weighs_in_a_page(text: str) -> None:
    for cut in (clip(text, 400), clip_start(text, 400)):
        weight = len(escape(cut.text).encode())
        assert cut.is_cut
        assert 390 < weight <= 400
    assert clip(text[:20], 400).text == text[:20]


def test_rounds_say_what_they_read_found_and_lacked() -> None:
    first, second = steps_of(TrailOutline(two_rounds(), {1: 90_000}))
    assert (first.read, first.found, first.sentences, first.mark.kind) == (
        90_000,
        2,
        3,
        "supported",
    )
    assert (second.read, second.found, second.dropped, second.is_last) == (2, 1, 2, True)
    assert ending_words(two_rounds()) == "only sources with evidence were left"
    q1 = replace(two_rounds(), termination=Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED, q=1)
    assert "q = 1" in str(ending_words(q1))
    assert ending_words(replace(two_rounds(), termination=None)) is None


def test_every_route_from_a_source_is_told() -> None:
    routes = routes_of(two_rounds())
    assert [[stop.node_id for stop in one.stops] for one in routes.routes] == [
        ["c1", "s1", "t"],
        ["c1", "s2", "t"],
    ]
    assert (routes.total, routes.complete) == (2, 2)
    assert routes.are_all_shown
    assert routes.are_all_complete
    via = [stop.via for stop in routes.routes[1].stops]
    assert via == [("x",), (), ()]
    assert [stop.introduced for stop in routes.routes[0].stops] == [False, True, False]
    assert routes.routes[0].stops[-1].inherited


def test_a_route_that_reaches_no_source_is_told_apart() -> None:
    one = replace(two_rounds(), paths=two_rounds().paths[:3])
    routes = routes_of(one)
    assert [(route.stops[0].node_id, route.complete) for route in routes.routes] == [
        ("c1", True),
        ("s2", False),
    ]
    assert (routes.total, routes.complete, routes.are_all_complete) == (2, 1, False)


def test_routes_beyond_counting_by_hand_are_counted_and_few_are_listed() -> None:
    layers = 30
    paths = [EvidencePath(f"n{layers}-{a}", "t", 1) for a in (0, 1)]
    paths += [
        EvidencePath(f"n{level}-{a}", f"n{level + 1}-{b}", 1)
        for level in range(1, layers)
        for a in (0, 1)
        for b in (0, 1)
    ]
    one = replace(wide(layers, 2), paths=tuple(paths), claim=Claim("k", "So.", "t"))
    routes = routes_of(one, most=7)
    assert (len(routes.routes), routes.total, routes.complete) == (7, 2**layers, 2**layers)
    assert not routes.are_all_shown
    assert len({tuple(stop.node_id for stop in route.stops) for route in routes.routes}) == 7


def test_a_trail_without_evidence_has_no_route() -> None:
    routes = routes_of(a_trail("v-1", a_round(1, NFS, "s1 s2")))
    assert (routes.routes, routes.total) == ((), 0)
    assert trail_view(TrailOutline(a_trail("v-1")), {}, {}).columns == ()


def test_an_unknown_price_is_unknown_and_nothing_asked_is_no_price() -> None:
    def told(usage: Usage) -> tuple[str | None, float | None]:
        cost = spent(usage, modelled=True)
        return cost.words, cost.cost_usd

    assert told(Usage(calls=3)) == ("unknown", None)
    assert told(Usage(calls=3, cost_usd=0.5, unpriced_calls=1)) == ("unknown", None)
    assert told(Usage(calls=3, cost_usd=0.5)) == (None, 0.5)
    assert told(Usage(cached_calls=4)) == ("nothing, all from the cache", 0.0)
    assert told(Usage()) == ("no model has answered", 0.0)
    assert spent(Usage(), modelled=False).words == "no model was asked"


def test_a_verdict_of_a_model_that_tells_no_figures_has_an_unknown_price() -> None:
    of_words = a_trail("v-1", a_round(1, NFS, "s1 s2"), indicative=True)
    of_model = replace(of_words, indicative=False)
    waiting = replace(of_model, verdict=None, status=Status.QUEUED)
    assert spent_by(of_words).words == "no model was asked"
    assert (spent_by(of_model).words, spent_by(of_model).cost_usd) == ("unknown", None)
    assert spent_by(waiting).words == "no model has answered"
    paid = replace(of_model, usage=Usage(calls=1, cost_usd=0.5))
    assert spent_by(paid).cost_usd == 0.5
    assert spent_together([of_words, paid], paid.usage).cost_usd == 0.5
    assert spent_together([of_model, paid], paid.usage).words == "unknown"
    assert spent_together([of_words], Usage()).words == "no model was asked"


def test_what_was_spent_is_told_by_step() -> None:
    steps = [
        a_step(1, "evidence_selection", Usage(calls=1, cost_usd=0.25)),
        a_step(1, "verdict", Usage(calls=1)),
        a_step(2, "evidence_selection", Usage(calls=2, cost_usd=0.5)),
    ]
    selecting, verdict = by_step(steps)
    assert (selecting.name, selecting.spent.cost_usd) == ("Evidence selection", 0.75)
    assert verdict.spent.words == "unknown"


def test_bars_are_as_long_as_what_came_in() -> None:
    process = Process("p", "P", None, "f", "0", {1: 5, 2: 3, 3: 1}, NAMES, ("t",), nodes=9, edges=8)
    bars = stage_bars(process, [StageCount(2, 4), StageCount(3, 1)], unsupported=6, unplaced=1)
    assert [(one.name, one.nodes, one.introduced, one.share) for one in bars.bars] == [
        ("source page", 5, 0, 0.0),
        ("summary", 3, 4, 100.0),
        (None, 1, 1, 25.0),
    ]
    assert bars.worst is not None
    assert bars.worst.stage == 2
    assert stage_bars(process, [], 0).worst is None

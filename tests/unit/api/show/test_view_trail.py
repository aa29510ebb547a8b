"""A trail as columns, its rounds as steps, its routes, and what a check cost."""

from __future__ import annotations

from html import escape

import pytest
from fakes.trails import FS, NFS, NODES, a_round, a_step, a_trail

from veritrail_graph.api.show.context import context_of, quoted
from veritrail_graph.api.show.costs import by_step, spent, spent_by, spent_together
from veritrail_graph.api.show.routes import routes_of
from veritrail_graph.api.show.stages import stage_bars
from veritrail_graph.api.show.texts import clip, clip_start
from veritrail_graph.api.show.trail_view import choose, trail_view
from veritrail_graph.api.show.words import ending_words
from veritrail_graph.graph.model import (
    CitedSentence,
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

T = NodeRef("t", 3, 4, Role.TERMINAL)
NAMES = {1: "source page", 2: "summary"}


def two_rounds() -> Verification:
    return a_trail(
        "v-1",
        a_round(1, FS, "s1 s2", (("s1", 0), ("s1", 1), ("s2", 3))),
        a_round(2, NFS, "c1 c2", (("c1", 0), ("c1", 2), ("c1", 4), ("c1", 5)), dropped_ids=2),
        paths=(
            EvidencePath(source="s1", target="t", iteration=1),
            EvidencePath(source="s2", target="t", iteration=1),
            EvidencePath(source="c1", target="s1", iteration=2),
            EvidencePath(source="c1", target="s2", iteration=2, via=("x",)),
        ),
        error_nodes=(NODES["s1"],),
        propagated_nodes=(T,),
        termination=Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
    )


def test_columns_go_from_the_answer_to_the_sources() -> None:
    trail = trail_view(two_rounds(), NAMES)
    assert [(one.stage, one.name, len(one.nodes), one.introduced) for one in trail.levels] == [
        (2, "summary", 2, True),
        (1, "source page", 1, False),
    ]
    assert (len(trail.nodes), trail.sentences) == (3, 7)
    first, second, third = trail.nodes
    assert [first.node_id, second.node_id, third.node_id] == ["s1", "s2", "c1"]
    assert (first.introduced, first.inherited) == (True, False)
    assert (first.feeds, third.feeds) == (("t",), ("s1", "s2"))
    assert third.summary is not None
    assert (third.summary.text, third.iteration) == ("what they say", 2)
    assert [(one.node_id, one.name) for one in trail.introduced] == [("s1", "summary")]
    assert [one.node_id for one in trail.inherited] == ["t"]
    assert trail.error_stages == ("summary",)


def test_a_round_shows_the_trail_up_to_it() -> None:
    assert [node.node_id for node in trail_view(two_rounds(), NAMES, 1).nodes] == ["s1", "s2"]
    assert [node.iteration for node in trail_view(two_rounds(), NAMES, 2).nodes] == [1, 1, 2]
    assert len(trail_view(two_rounds(), NAMES, 1).iterations) == 2


def wide(stages: int, each: int) -> Verification:
    refs = [
        NodeRef(f"n{stage}-{n}", stage, n, Role.ROOT if stage == 1 else Role.INTERMEDIATE)
        for stage in range(1, stages + 1)
        for n in range(each)
    ]
    found = Evidence(
        text="They say so.",
        missing=None,
        sentences=tuple(CitedSentence.of(Sentence(ref.node_id, 0, 0, 5, "Words")) for ref in refs),
    )
    return a_trail(
        "v-1",
        Iteration(
            number=1, verdict=FS, reasoning="Because.", checked=tuple(refs), summaries=(found,)
        ),
    )


def test_of_too_many_nodes_every_stage_shows_some() -> None:
    two, thirty = trail_view(wide(2, 500)).levels, trail_view(wide(30, 4)).levels
    assert [len(nodes) for nodes in choose(two, 20, of_level=9).values()] == [9, 9]
    shown = [len(nodes) for nodes in choose(thirty, 40).values()]
    assert (sum(shown), min(shown), max(shown)) == (40, 1, 2)


TEXT = "One is here. Two is here. Three is here. Four is here. Five is here. Six is here."


def sentences() -> list[CitedSentence]:
    found, start = [], 0
    for index, words in enumerate(TEXT.split(". ")):
        whole = words if words.endswith(".") else f"{words}."
        found.append(CitedSentence.of(Sentence("n", index, start, start + len(whole), whole)))
        start += len(whole) + 1
    return found


def around(*indexes: int) -> list[tuple[str | None, str, str | None, bool]]:
    every = sentences()
    cited = [every[index] for index in indexes]
    shown = quoted(cited, context_of(cited, {"n": TEXT}))
    return [(one.before, one.text, one.after, one.gap) for one in shown]


def test_sentences_stand_in_their_surroundings_and_nothing_is_shown_twice() -> None:
    assert around(1, 2, 4) == [
        ("One is here.", "Two is here.", None, False),
        (None, "Three is here.", "Four is here.", False),
        (None, "Five is here.", "Six is here.", False),
    ]
    assert around(0, 5) == [
        (None, "One is here.", "Two is here.", False),
        ("Five is here.", "Six is here.", None, True),
    ]


def test_long_neighbours_are_cut_and_say_so() -> None:
    text = f"{'a' * 1_000} b. It rained. {'c' * 1_000}"
    start = text.index("It rained.")
    cited = CitedSentence.of(Sentence("n", 1, start, start + 10, "It rained."))
    (shown,) = quoted([cited], context_of([cited], {"n": text}))
    assert shown.before is not None
    assert shown.after is not None
    assert (shown.before[0], shown.before[-2:], shown.after[-2:]) == ("…", "b.", "c…")
    assert max(len(shown.before), len(shown.after)) <= 301


def test_a_text_that_changed_gives_no_surroundings() -> None:
    cited = CitedSentence.of(Sentence("n", 0, 0, 5, "Words"), EvidenceRole.CONTEXT)
    assert context_of([cited], {}) == context_of([cited], {"n": "Other words. And more."}) == {}
    (shown,) = quoted([cited], {})
    assert (shown.before, shown.after, shown.text) == (None, None, "Words")
    assert shown.role is EvidenceRole.CONTEXT


@pytest.mark.parametrize("text", ["<" * 500, "漢" * 500, "a" * 5_000, "\U0001f600" * 300])
def test_a_long_sentence_is_cut_by_what_it_weighs_in_a_page(text: str) -> None:
    for cut in (clip(text, 400), clip_start(text, 400)):
        weight = len(escape(cut.text).encode())
        assert cut.is_cut
        assert 390 < weight <= 400
    assert clip(text[:20], 400).text == text[:20]


def test_rounds_say_what_they_read_found_and_lacked() -> None:
    view = trail_view(two_rounds(), read={1: 90_000})
    first, second = view.iterations
    assert (first.read, len(first.nodes), first.sentences, first.mark.kind) == (
        90_000, 2, 3, "supported",
    )  # fmt: skip
    assert (second.read, len(second.nodes), second.is_last, first.is_last) == (2, 1, True, False)
    assert second.remarks == ("2 sentence ids that the model made up were dropped.",)
    noted = a_round(1, NFS, "c1", reruns=1, left_out=1, dropped_ids=1)
    assert trail_view(a_trail("v-1", noted)).iterations[0].remarks == (
        "Evidence was selected again 1 time, as it did not fit.",
        "1 sentence of the evidence did not fit and was left out.",
        "1 sentence id that the model made up was dropped.",
    )
    assert ending_words(two_rounds()) == "only sources with evidence were left"
    q1 = two_rounds().replace(termination=Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED, q=1)
    assert "q = 1" in str(ending_words(q1))
    assert ending_words(two_rounds().replace(termination=None)) is None


def test_every_route_from_a_source_is_told() -> None:
    routes = routes_of(two_rounds())
    assert [[stop.node_id for stop in one.stops] for one in routes.routes] == [
        ["c1", "s1", "t"],
        ["c1", "s2", "t"],
    ]
    assert (routes.total, routes.complete) == (2, 2)
    assert routes.are_all_shown
    via = [stop.via for stop in routes.routes[1].stops]
    assert via == [("x",), (), ()]


def test_routes_beyond_counting_by_hand_are_counted_and_few_are_listed() -> None:
    layers = 30
    paths = [EvidencePath(source=f"n{layers}-{a}", target="t", iteration=1) for a in (0, 1)]
    paths += [
        EvidencePath(source=f"n{level}-{a}", target=f"n{level + 1}-{b}", iteration=1)
        for level in range(1, layers)
        for a in (0, 1)
        for b in (0, 1)
    ]
    one = wide(layers, 2).replace(paths=tuple(paths), claim_id="k", claim="So.", node_id="t")
    routes = routes_of(one, most=7)
    assert (len(routes.routes), routes.total, routes.complete) == (7, 2**layers, 2**layers)
    assert not routes.are_all_shown
    assert len({tuple(stop.node_id for stop in route.stops) for route in routes.routes}) == 7


def test_an_unknown_price_is_unknown_and_nothing_asked_is_no_price() -> None:
    def told(usage: Usage) -> tuple[str | None, float | None]:
        cost = spent(usage, modelled=True)
        return cost.words, cost.cost_usd

    assert told(Usage(calls=3)) == ("unknown", None)
    assert told(Usage(calls=3, cost_usd=0.5, unpriced_calls=1)) == ("unknown", None)
    assert told(Usage(calls=3, cost_usd=0.5)) == (None, 0.5)
    assert told(Usage(cached_calls=4)) == ("nothing, all from the cache", 0.0)
    assert told(Usage(cost_usd=0.0)) == ("nothing: the answers were recorded before", 0.0)
    assert told(Usage()) == ("no model has answered", 0.0)
    assert spent(Usage(), modelled=False).words == "no model was asked"


def test_a_verdict_of_a_model_that_tells_no_figures_has_an_unknown_price() -> None:
    of_words = a_trail("v-1", a_round(1, NFS, "s1 s2"), indicative=True)
    of_model = of_words.replace(indicative=False)
    waiting = of_model.replace(verdict=None, status=Status.QUEUED)
    assert spent_by(of_words).words == "no model was asked"
    assert (spent_by(of_model).words, spent_by(of_model).cost_usd) == ("unknown", None)
    assert spent_by(waiting).words == "no model has answered"
    paid = of_model.replace(usage=Usage(calls=1, cost_usd=0.5))
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
    process = Process(
        process_id="p",
        name="P",
        question=None,
        source_format="f",
        content_hash="0",
        stages={1: 5, 2: 3, 3: 1},
        stage_names=NAMES,
        terminals=("t",),
        nodes=9,
        edges=8,
    )
    bars = stage_bars(process, {(2,): 4, (3,): 1}, unsupported=6, unplaced=1)
    assert [(one.name, one.nodes, one.introduced, one.share) for one in bars.bars] == [
        ("source page", 5, 0, 0.0),
        ("summary", 3, 4, 100.0),
        (None, 1, 1, 25.0),
    ]
    assert bars.worst is not None
    assert (bars.worst.stage, bars.is_most) == (2, True)
    assert stage_bars(process, {}, 0).worst is None
    tie = stage_bars(process, {(2,): 2, (3,): 2}, unsupported=4)
    assert (tie.worst, tie.is_most) == (None, False)
    half = stage_bars(process, {(2,): 2, (3,): 1}, unsupported=4)
    assert not half.is_most  # half is not most
    # A claim "at 2 or 3" counts once, in parts; the list behind a stage has it whole.
    several = stage_bars(process, {(2,): 12, (2, 3): 3, (1, 2, 3): 3}, unsupported=18)
    assert [(one.introduced, round(one.counted, 3)) for one in several.bars] == [
        (3, 1.0), (18, 14.5), (6, 2.5),
    ]  # fmt: skip
    assert (several.split, sum(one.counted for one in several.bars)) == (6, pytest.approx(18))

"""The pair that explains a claim, and which stages of its trail are open."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.trails import FS, LEXICAL, NFS, a_round, a_trail, cited, found, path

from veritrail_graph.api.show.columns import columns_of
from veritrail_graph.api.show.contrast import Contrast, contrast_of
from veritrail_graph.api.show.trail_view import TrailView, trail_view
from veritrail_graph.graph.model import Claim, ClaimOrigin, NodeRef, Role, Termination, Verdict
from veritrail_graph.graph.word_diff import Piece

SOURCE = "In May the dredger removed 48,200 cubic metres."
WROTE = "The dredger removed 84,200 cubic metres, which took a month."
CLAIM = Claim(claim_id="k1", text="The dredger removed 84,200 cubic metres.", node_id="t")
STEP, ROOT = NodeRef("s", 2, 1, Role.INTERMEDIATE), NodeRef("c", 1, 0, Role.ROOT)
ANSWER = NodeRef("t", 3, 2, Role.TERMINAL)


def a_view(verdict: Verdict = NFS, wrote: str = WROTE, **other: Any) -> TrailView:
    """A claim of an answer that has a step and a source."""
    return trail_view(
        a_trail(
            "v-1",
            a_round(1, FS, [STEP], [found("", cited("s", 0, 0, wrote), cited("s", 1, 70, "So."))]),
            a_round(2, verdict, [ROOT], [found("", cited("c", 0, 0, "Wet."),
                                               cited("c", 3, 40, SOURCE))]),
            **{
                "claim": CLAIM,
                "paths": [path("s", "t", 1), path("c", "s", 2)],
                "error_nodes": [STEP] if verdict is NFS else [],
                **other,
            },
        ),
        {1: "page", 2: "summary"},
    )  # fmt: skip


def pair(view: TrailView) -> Contrast:
    made = contrast_of(view)
    assert made is not None
    return made


def changed(pieces: tuple[Piece, ...]) -> list[str]:
    return [one.text for one in pieces if one.is_changed]


def test_the_step_at_fault_stands_beside_the_sentence_it_was_made_of() -> None:
    made = pair(a_view())
    assert made.source is not None
    assert (made.source.node_id, made.source.sentence, made.source.is_root) == ("c", 3, True)
    assert (made.wrote.node_id, made.wrote.sentence, made.wrote.place) == ("s", 0, "summary")
    assert made.is_at_fault


def test_only_what_the_claim_says_is_marked_and_told() -> None:
    made = pair(a_view())
    assert made.source is not None
    assert (changed(made.source.pieces), changed(made.wrote.pieces)) == (["48,200"], ["84,200"])
    assert made.words == "The step turned “48,200” into “84,200”."


def test_where_little_is_alike_the_words_of_the_claim_that_are_missing_are_named() -> None:
    claim = CLAIM.replace(text="Rheva owns the dredger.")
    made = pair(a_view(wrote="Rheva owns the dredger and much else.", claim=claim))
    assert made.words == "Not in the earlier sentence: “Rheva”, “owns”."
    assert changed(made.wrote.pieces) == ["Rheva", "owns"]


FAR = "It did not reach the grade good, which it had held in 2021, because of the rain."
NEAR = "In May the dredger {}removed 48,200 cubic metres."


@pytest.mark.parametrize(
    ("source", "wrote", "marked", "words"),
    [
        (NEAR.format(""), NEAR.format("never "), ([], ["never"]), "The step added “never”."),
        (NEAR.format("never "), NEAR.format("").replace("May", "June"),
         (["May", "never"], ["June"]), "The step turned “May” into “June” and left out “never”."),
        (FAR, "The water reached it.", (["not"], ["reached"]),
         "Only in the earlier sentence: “not”."),
        (FAR.replace("did not", "did"), "The water doesn't.", ([], ["doesn't"]),
         "Not in the earlier sentence: “doesn't”."),
    ],
)  # fmt: skip
def test_a_denial_that_differs_is_marked_and_told(
    source: str, wrote: str, marked: tuple[list[str], list[str]], words: str
) -> None:
    trail = a_trail(
        "v-1",
        a_round(1, FS, [STEP], [found("", cited("s", 0, 0, wrote))]),
        a_round(2, NFS, [ROOT], [found("", cited("c", 3, 40, source))]),
        claim=CLAIM.replace(text=wrote),
        paths=[path("s", "t", 1), path("c", "s", 2)],
        error_nodes=[STEP],
    )
    made = pair(trail_view(trail, {1: "page", 2: "summary"}))
    assert made.source is not None
    assert (changed(made.source.pieces), changed(made.wrote.pieces)) == marked
    assert made.words == words


def test_an_error_of_the_answer_itself_is_shown_in_the_words_of_the_claim() -> None:
    made = pair(a_view(error_nodes=[ANSWER]))
    assert made.source is not None
    assert (made.source.node_id, made.wrote.node_id, made.wrote.sentence) == ("s", "t", None)


@pytest.mark.parametrize("verdict", [FS, Verdict.INCONCLUSIVE])
def test_a_claim_that_is_not_refused_has_nothing_marked(verdict: Verdict) -> None:
    made = pair(a_view(verdict))
    assert made.source is not None
    assert (made.source.node_id, made.wrote.node_id) == ("c", "t")
    assert (made.words, changed(made.source.pieces), changed(made.wrote.pieces)) == (None, [], [])


ROOTS = [NodeRef(f"c{number}", 1, number, Role.ROOT) for number in range(3)]


@pytest.mark.parametrize(
    ("read", "other", "told"),
    [
        (ROOTS, {}, "No sentence was selected from the 3 source texts that were read."),
        (ROOTS[:1], {}, "No sentence was selected from the source text that was read."),
        (
            ROOTS,
            LEXICAL,
            "No sentence of the 3 source texts that were read says this in these words.",
        ),
        (
            [],
            LEXICAL,
            "No sentence of the node that was read, which is no source text, says this in "
            "these words.",
        ),
    ],
)
def test_beside_a_step_without_evidence_before_it_stands_what_was_looked_for(
    read: list[NodeRef], other: dict[str, Any], told: str
) -> None:
    one = a_trail(
        "v-1",
        a_round(1, FS, [STEP], [found("", cited("s", 0, 0, WROTE))]),
        a_round(2, NFS, read),
        claim=CLAIM,
        paths=[path("s", "t", 1)],
        error_nodes=[STEP],
        **other,
    )
    made = pair(trail_view(one))
    assert (made.source, made.words, made.wrote.node_id) == (None, None, "s")
    assert (made.source_heading, made.not_found) == ("Looked for", told)


def test_a_source_that_was_found_elsewhere_is_not_denied() -> None:
    made = pair(a_view(paths=[path("s", "t", 1)]))
    assert made.source is None
    assert made.not_found == "No sentence was selected from what this step was made from."


def test_samples_that_did_not_agree_selected_sentences_all_the_same() -> None:
    one = a_trail(
        "v-1", a_round(1, None, [STEP]), verdict=None, termination=Termination.NO_AGREEMENT
    )
    view = trail_view(one)
    assert view.not_found == view.iterations[0].not_found
    assert view.not_found.startswith("Samples selected sentences")


@pytest.mark.parametrize("said", [False, None])
def test_a_question_is_never_shown_as_what_the_answer_says(said: bool | None) -> None:
    asked = CLAIM.replace(origin=ClaimOrigin.ASKED, said=said)
    made = pair(a_view(claim=asked, error_nodes=[ANSWER], **LEXICAL))
    assert (made.wrote_heading, made.is_at_fault, made.words) == ("You asked", False, None)
    told = pair(a_view(claim=CLAIM.replace(origin=ClaimOrigin.ASKED, said=True)))
    assert told.wrote_heading == "The step wrote"


def test_without_a_verdict_or_evidence_there_is_no_pair() -> None:
    assert contrast_of(trail_view(a_trail("v-1", a_round(1, None, [STEP]), verdict=None))) is None
    assert contrast_of(trail_view(a_trail("v-1", a_round(1, NFS, [STEP]), claim=CLAIM))) is None


def deep(stages: int, at_fault: int | None) -> TrailView:
    """A trail with a node of each stage below the answer."""
    refs = [
        NodeRef(f"n{stage}", stage, stage, Role.ROOT if stage == 1 else Role.INTERMEDIATE)
        for stage in range(stages, 0, -1)
    ]
    rounds = [
        a_round(number, NFS, [ref], [found("", cited(ref.node_id, 0, 0, "So."))])
        for number, ref in enumerate(refs, start=1)
    ]
    wrong = [ref for ref in refs if ref.stage == at_fault]
    return trail_view(a_trail("v-1", *rounds, error_nodes=wrong))


@pytest.mark.parametrize(
    ("stages", "at_fault", "open_ones", "folded"),
    [
        (3, 2, [[1, 2, 3]], []),
        (6, 3, [[1], [3]], [[2], [4, 5, 6]]),
        (6, None, [[1], [6]], [[2, 3, 4, 5]]),
        (4, 4, [[1], [4]], [[2, 3]]),
    ],
)
def test_of_many_stages_source_and_culprit_stay_open(
    stages: int, at_fault: int | None, open_ones: list[list[int]], folded: list[list[int]]
) -> None:
    runs = columns_of(deep(stages, at_fault))
    shown = [([level.stage for level in run.levels], run.is_folded) for run in runs]
    assert [one for one, is_folded in shown if not is_folded] == open_ones
    assert [one for one, is_folded in shown if is_folded] == folded
    assert [stage for one, _ in shown for stage in one] == list(range(1, stages + 1))


def test_the_stage_of_the_iteration_that_is_shown_stays_open() -> None:
    one = deep(6, 3).verification
    runs = columns_of(trail_view(one, until=5))
    open_ones = [level.stage for run in runs if not run.is_folded for level in run.levels]
    assert open_ones == [2, 3]

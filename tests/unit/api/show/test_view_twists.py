"""The end of a trail: what the step that went wrong did with which sentence of its sources."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.attributing import gold_sentences
from fakes.trails import FS, NFS, NODES, a_round, a_trail

from veritrail_graph.api.show.trail_view import trail_view
from veritrail_graph.api.show.twists import twist_of
from veritrail_graph.graph.model import Claim, NodeRef, Role, Sentence, Verification
from veritrail_graph.graph.model.attribution import AttributedSentence, CarriedSentence, Revision
from veritrail_graph.graph.word_diff import WordChange, word_diff
from veritrail_graph.verifier.localization import carrying

T = NodeRef("t", 3, 4, Role.TERMINAL)


def carried(number: int, **more: Any) -> CarriedSentence:
    """A sentence of the sample as the graph has it."""
    return CarriedSentence.model_validate(
        {**gold_sentences()[number], "node_id": "summary", "run_id": "r-1", **more}
    )


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "The attribution finds it supported: “The board met on 4 March”."),
        (1, "This sentence turned “may close” into “will close”."),
        (2, "This sentence says the opposite of “The board decided against a higher mooring fee”."),
        (3, "The source would say it here, and does not: “Captain Lund thanked the crew of the "
            "tug”."),
        (4, "No sentence of this step's sources decides it."),
    ],
)  # fmt: skip
def test_each_category_has_words_of_its_own(number: int, words: str) -> None:
    assert twist_of(carried(number)).words == words


def test_sentences_with_little_in_common_are_quoted_as_wholes() -> None:
    words = twist_of(carried(5)).words
    assert words.startswith("This sentence turned “The company plans a second ferry for 2026” into")


def test_what_was_attributed_to_the_roots_does_not_speak_of_the_step() -> None:
    way = "On the whole way from the roots, in this step or before: "
    none = twist_of(carried(4, against="roots")).words
    assert none == f"{way}no sentence of the sources decides it."
    near = twist_of(carried(1, against="roots")).words
    assert near == f"{way}t{twist_of(carried(1)).words[1:]}"


def test_a_part_that_rests_on_nothing_is_named_beside_evidence_for_the_rest() -> None:
    evidence = carried(5).attributed[:1]
    parts = [
        {"spans": [[0, 4]], "text": "The Skerra ferry carried 41,000 passengers last year",
         "attributed": evidence, "implied_label": "FAITHFUL"},
        {"spans": [[0, 4]], "text": "The Skerra ferry … has bought a second ferry",
         "attributed": [], "implied_label": "UNFAITHFUL"},
    ]  # fmt: skip
    one = carried(5, attributed=evidence, propositions=parts)
    assert twist_of(one).words == (
        "No sentence of this step's sources decides “The Skerra ferry … has bought a second ferry”."
    )


SPLIT = "The quay will close in winter, and the fee falls to 40 crowns."
QUAY = {
    "node_id": "a",
    "sentence": 0,
    "start": 0,
    "end": 18,
    "text": "The quay may close in winter.",
}
FEE = {"node_id": "a", "sentence": 1, "start": 19, "end": 50, "text": "The fee rises to 40 crowns."}


def split(fee: list[str], quay: str = "NEAR_MATCH", at: int = 100) -> CarriedSentence:
    """A sentence of two propositions, the first of which rests on another source sentence."""
    parts = [
        {"spans": [[at, at + 29]], "text": SPLIT[:29],
         "attributed": [{**QUAY, "categories": [quay]}], "implied_label": "UNFAITHFUL"},
        {"spans": [[at + 35, at + len(SPLIT)]], "text": SPLIT[35:],
         "attributed": [{**FEE, "categories": fee}], "implied_label": "UNFAITHFUL"},
    ]  # fmt: skip
    attributed = [one for part in parts for one in part["attributed"]]
    return carried(
        5, start=at, end=at + len(SPLIT), text=SPLIT, attributed=attributed, propositions=parts
    )


def test_a_near_match_is_compared_with_its_part_of_the_sentence() -> None:
    twist = twist_of(split(["NEAR_MATCH"]))
    assert twist.words == (
        "This sentence turned “may” into “will”. This sentence turned “rises” into “falls”."
    )
    assert [piece.text for piece in twist.rewritten if piece.is_changed] == ["will", "falls"]
    assert "".join(piece.text for piece in twist.rewritten) == SPLIT
    assert twist.sources[1].heading == "near match of “the fee falls to 40 crowns”"


def test_a_part_with_other_words_is_quoted_without_the_rest_of_the_sentence() -> None:
    one = split(["NEAR_MATCH"])
    source = {**FEE, "text": "Boats pay less from March on.", "categories": ["NEAR_MATCH"]}
    part = one.propositions[1].replace(attributed=(AttributedSentence.model_validate(source),))
    words = twist_of(one.replace(propositions=(one.propositions[0], part))).words
    assert words.endswith("“Boats pay less from March on” into “the fee falls to 40 crowns”.")


def test_a_contradiction_names_the_part_that_it_denies() -> None:
    assert twist_of(split(["CONTRADICTION"], "EXPECTED_SPAN")).words == (
        "This sentence says, in “the fee falls to 40 crowns”, the opposite of “The fee rises to 40 "
        "crowns”. The source would say “The quay will close in winter” here, and does not: “The "
        "quay may close in winter”."
    )


def test_words_between_the_stretches_of_a_part_are_left_alone() -> None:
    text = "The quay, which is old, will close."
    diff = word_diff("The quay may close.", text, [(0, 8), (23, len(text))])
    assert diff.changes == (WordChange("may", "will"),)
    assert [one.text for one in diff.after if one.is_changed] == ["will"]
    assert word_diff("A ferry sails.", text, [(4, 8), (24, 34)]).changes[0].after == (
        "quay … will close"
    )


def test_a_word_that_was_left_out_is_told_where_nothing_else_differs() -> None:
    source = {"node_id": "a", "sentence": 0, "start": 0, "end": 15, "text": "It is not safe."}
    one = carried(0, text="It is safe.", attributed=[{**source, "categories": ["NEAR_MATCH"]}])
    assert twist_of(one).words == "This sentence left out “not”."


def test_the_words_that_differ_are_marked_in_both_sentences() -> None:
    (source,) = twist_of(carried(1)).sources
    assert [piece.text for piece in source.pieces if piece.is_changed] == ["It may close"]
    assert [piece.text for piece in source.rewritten if piece.is_changed] == ["will close"]


def test_a_proposed_wording_says_what_became_of_it() -> None:
    revision = Revision.model_validate(
        {"text": "It may close.", "mode": "plain", "edits": 1, "outcome": "partly",
         "rechecked_by": "walk", "claims": 3, "supported": 2}
    )  # fmt: skip
    twist = twist_of(carried(1, revisions=[revision.json_object()]))
    assert twist.proposed == (
        "It may close. (partly fixed, verified again by a verification of its claims: 2 of 3 "
        "claims supported)"
    )


def trail(**more: Any) -> Verification:
    made = a_trail(
        "v-1",
        a_round(1, FS, "s1 s2", (("s1", 0), ("s1", 1), ("s2", 3))),
        a_round(2, NFS, "c1", (("c1", 0),)),
        error_nodes=(NODES["s1"],),
        propagated_nodes=(T,),
    )
    return made.replace(**more)


def test_a_trail_ends_with_what_its_error_nodes_did() -> None:
    view = trail_view(trail(), carried=[carried(1)])
    assert [one.carried.sentence for one in view.twists] == [1]
    assert trail_view(trail(said=False), carried=[carried(1)]).twists == ()


def test_of_a_node_that_was_read_the_selected_evidence_carried_the_claim() -> None:
    assert [place[:2] for place in carrying(trail(), None, ())] == [("s1", 0), ("s1", 1)]
    assert carrying(trail(said=False), None, ()) == []


def test_of_the_verified_node_the_sentences_of_the_claim_carried_it() -> None:
    text = ["It rains.", "The quay will close in winter.", "The quay is old."]
    sentences, here = [], 0
    for number, one in enumerate(text):
        sentences.append(Sentence("t", number, here, here + len(one), one))
        here += len(one) + 1
    at_terminal = trail().replace(error_nodes=(T,), node_id="t")

    def numbers(**claim: Any) -> list[int]:
        made = Claim.model_validate({"claim_id": "k", "text": "x", "node_id": "t", **claim})
        return [place[1] for place in carrying(at_terminal, made, sentences)]

    assert numbers(start=12, end=20) == [1]
    assert numbers(start=12, end=20, also=[(0, 4)]) == [0, 1]
    assert numbers(text="In winter, the quay closes.") == [1]
    assert numbers(text="The quay.") == [1, 2]
    assert numbers(text="No such thing at all.") == []
    assert carrying(at_terminal, None, ()) == []

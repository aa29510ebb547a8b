"""Why a label and a verdict of the same sentence say different things."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.trails import FS, LEXICAL, NFS, NODES, a_round, a_trail

from veritrail_graph.api.show.two_answers import Verdicted, two_answers
from veritrail_graph.graph.model import NodeRef, Role, Status, Verdict
from veritrail_graph.graph.model.attribution import Against, Faithfulness, StoredSentence

ANSWER = NodeRef("t", 3, 4, Role.TERMINAL)


def sentence(label: Faithfulness | None, **other: Any) -> StoredSentence:
    facts = {"against": Against.INPUTS, "engine": "openai", "model": "m", **other}
    return StoredSentence(
        sentence=0, start=0, end=9, text="It rained.", status=Status.SUCCEEDED, implied_label=label,
        run_id="r-1", **facts,
    )  # fmt: skip


def verdict(of: Verdict | None, error: NodeRef | None = None, **other: Any) -> Verdicted:
    nodes = () if error is None else (error,)
    found = a_trail("v-1", a_round(1, of, "s1"), error_nodes=nodes, **other)
    return Verdicted.of(found, "t")


def test_they_are_told_with_who_compared_what() -> None:
    told = two_answers(sentence(Faithfulness.FAITHFUL), verdict(NFS, ANSWER, **LEXICAL))
    assert told == (
        "Two answers: the attribution calls sentence 0 of t faithful, the claim is Not Fully "
        "Supported. The attribution compared the sentence with the inputs of its node, by m; the "
        "verification looked for the claim step by step back to the sources, by comparing words. "
        "Comparing words cannot tell what is said in other words, so one may be wrong."
    )


@pytest.mark.parametrize(
    ("label", "against", "verdict_of", "why"),
    [
        ("FAITHFUL", "inputs", verdict(NFS, NODES["s1"]), "Both can be right: the sentence may"),
        ("FAITHFUL", "roots", verdict(NFS, NODES["s1"]), "with the sources below its node, by m"),
        ("FAITHFUL", "roots", verdict(NFS, NODES["s1"]), "One of them is wrong: a person has to"),
        ("UNFAITHFUL", "inputs", verdict(FS), "unfaithful, the claim is Fully Supported."),
    ],
)
def test_why_is_as_good_as_it_is_known(
    label: str, against: str, verdict_of: Verdicted, why: str
) -> None:
    told = two_answers(sentence(Faithfulness(label), against=Against(against)), verdict_of)
    assert told is not None
    assert why in told


@pytest.mark.parametrize(
    ("label", "found"),
    [
        (Faithfulness.FAITHFUL, FS),
        (Faithfulness.UNFAITHFUL, NFS),
        (Faithfulness.UNFAITHFUL, Verdict.INCONCLUSIVE),
        (Faithfulness.FAITHFUL, None),
        (None, NFS),
        (None, Verdict.INCONCLUSIVE),
    ],
)
def test_nothing_is_told_where_they_do_not_contradict(
    label: Faithfulness | None, found: Verdict | None
) -> None:
    assert two_answers(sentence(label), verdict(found)) is None

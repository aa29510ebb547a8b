"""Sets of claims: matching, overlap and alpha, against slow references on random sets."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veritrail_eval.dialogues.claim_sets import (
    ClaimAgreement,
    ClaimMatcher,
    Overlap,
    overlap_of,
)
from veritrail_eval.dialogues.gold import (
    DialogueGold,
    LabelledTurn,
    LabelledTurnClaim,
    TurnAnnotation,
)
from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import JudgeError

CATEGORIES = list(ClaimCategory)


@dataclass
class Vectors:
    """An embedding model whose vectors are given by text."""

    of: dict[str, Sequence[float]]
    name: str = "given"

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    async def embed(self, texts: Sequence[str], meter: Meter) -> list[Sequence[float]]:
        return [self.of[text] for text in texts if text in self.of]


def matcher(**vectors: Sequence[float]) -> ClaimMatcher:
    return asyncio.run(ClaimMatcher.of(vectors, Vectors(vectors), Meter()))


def test_claims_are_the_same_by_their_text_and_once_each() -> None:
    plain = ClaimMatcher()
    first = [("It is closed.",), ("It is  Closed",), ("It is open.",)]
    assert plain.pairs(first, ["it is closed", "It was open."]) == [(0, 0)]
    assert plain.words == "equal text"


def test_reworded_claims_are_the_same_above_the_cosine_and_not_at_it() -> None:
    found = matcher(a=(1.0, 0.0), near=(2.0, 0.5), at=(0.9, 0.19**0.5), far=(1.0, 1.0))
    pairs = found.pairs([("a",)], ["far", "at", "near"])
    assert pairs == [(0, 2)]
    assert found.pairs([("a",)], ["far", "at"]) == []
    assert "given" in found.words
    # The most alike pair is taken first, whatever the order.
    assert matcher(a=(1, 0), b=(1, 0.1), c=(1, 0.02)).pairs([("a",), ("b",)], ["c"]) == [(0, 0)]


def test_a_model_that_gives_other_vectors_is_refused() -> None:
    with pytest.raises(JudgeError):
        asyncio.run(ClaimMatcher.of(["a", "b"], Vectors({"a": (1.0,)}), Meter()))
    zero = matcher(a=(0.0, 0.0), b=(0.0, 0.0))
    assert zero.pairs([("a",)], ["b"]) == []


@given(st.sets(st.sampled_from("abcdefgh")), st.sets(st.sampled_from("abcdefgh")))
def test_overlap_is_that_of_the_sets(first: set[str], second: set[str]) -> None:
    found = overlap_of(sorted(first), sorted(second, reverse=True), ClaimMatcher())
    if not first | second:
        assert found.jaccard.value is found.f1.value is None
        return
    jaccard = len(first & second) / len(first | second)
    assert found.jaccard.value == pytest.approx(jaccard)
    assert found.f1.value == pytest.approx(2 * jaccard / (1 + jaccard))


def test_overlaps_of_turns_are_counted_together() -> None:
    # Table 6 of the paper has F1 = 2 J / (1 + J) in every row, as counts of all turns together do.
    whole = Overlap(1, 1, 1, 1) + Overlap(1, 3, 1, 0)
    assert (whole.turns, whole.jaccard.value, whole.f1.value) == (2, 0.2, 2 / 6)


@pytest.mark.parametrize("seed", range(3))
def test_alpha_and_overlaps_are_those_of_slow_references(seed: int) -> None:
    import krippendorff
    import numpy as np

    rng = random.Random(seed)
    names = ["a", "b", "c"][: rng.choice((2, 3))]
    turns, ratings, sets = [], [], []
    for number in range(12):
        said = {name: rng.sample(range(6), rng.randint(0, 6)) for name in names}
        labels = {(name, claim): rng.choice(CATEGORIES) for name in names for claim in said[name]}
        turns.append(
            LabelledTurn(
                dialogue_id="d",
                turn_id=f"t{number}",
                labels=tuple(
                    TurnAnnotation(
                        annotator=name,
                        claims=tuple(
                            LabelledTurnClaim(claim=f"Claim {one}.", category=labels[name, one])
                            for one in said[name]
                        ),
                    )
                    for name in names
                ),
            )
        )
        sets.append(said)
        ratings += [
            [
                CATEGORIES.index(labels[name, claim]) if (name, claim) in labels else np.nan
                for name in names
            ]
            for claim in range(6)
        ]
    agreement = ClaimAgreement.of(DialogueGold({}, tuple(turns)), ClaimMatcher())
    assert agreement is not None
    found = agreement.as_json(ClaimMatcher())
    expected = krippendorff.alpha(np.array(ratings).T, level_of_measurement="nominal")
    assert found["krippendorff_alpha"] == pytest.approx(expected)
    jaccards = []
    for one, other in combinations(names, 2):
        both = sum(len(set(said[one]) & set(said[other])) for said in sets)
        every = sum(len(set(said[one]) | set(said[other])) for said in sets)
        jaccards.append(both / every)
        assert found["pairs"][f"{one}|{other}"]["jaccard"] == pytest.approx(both / every)
    assert found["jaccard"] == pytest.approx(sum(jaccards) / len(jaccards))
    assert found["matched"] == sum(np.count_nonzero(~np.isnan(row)) > 1 for row in ratings)


def test_a_claim_that_three_reword_is_one_claim() -> None:
    said = {"a": "one", "b": "two", "c": "three"}
    close = matcher(one=(1.0, 0.0), two=(1.0, 0.4), three=(1.0, 0.8))  # a and c are far apart
    labels = tuple(
        TurnAnnotation(
            annotator=name,
            claims=(LabelledTurnClaim(claim=text, category=ClaimCategory.VERIFIED),),
        )
        for name, text in said.items()
    )
    turn = LabelledTurn(dialogue_id="d", turn_id="t", labels=labels)
    agreement = ClaimAgreement.of(DialogueGold({}, (turn,)), close)
    assert agreement is not None
    found = agreement.as_json(close)
    assert (found["claims"], found["matched"]) == (1, 1)
    assert found["reasons"] == {"krippendorff_alpha": "one label only"}


def test_there_is_no_agreement_of_one_annotator() -> None:
    one = TurnAnnotation(annotator="a", claims=())
    other = TurnAnnotation(annotator="b")
    turn = LabelledTurn(dialogue_id="d", turn_id="t", labels=(one, other))
    assert ClaimAgreement.of(DialogueGold({}, (turn,)), ClaimMatcher()) is None

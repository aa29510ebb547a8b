"""Claims that say nearly the same, told by their words."""

from __future__ import annotations

import time

import pytest

from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.near_duplicates import near_duplicates


def claims(*texts: str, node_id: str = "t") -> list[Claim]:
    return [
        Claim(claim_id=f"k{number}", text=text, node_id=node_id)
        for number, text in enumerate(texts, start=1)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "In 1901 the harbour of Tarn opened with two long piers.",
        "The harbour of Tarn opened in 1901 with two piers.",
        "The harbour of Tarn opened in 1901 with two long piers [Data: Reports (3)].",
        "Harbour of Tarn opened, in 1901, with two long piers",
    ],
)
def test_a_later_claim_of_nearly_the_same_words_is_named(text: str) -> None:
    first = "The harbour of Tarn opened in 1901 with two long piers."
    (found,) = near_duplicates(claims(first, "Something else.", text))
    assert (found.claim_id, found.like) == ("k3", "k1")
    assert 0.8 <= found.overlap <= 1


@pytest.mark.parametrize(
    "text",
    [
        "The harbour of Tarn opened in 1910 with two long piers.",
        "The harbour of Graz opened in 1901 with two long piers.",
        "The harbour of Tarn never opened in 1901 with two long piers.",
        "The harbour of Tarn opened in 1901 and has a lighthouse.",
    ],
)
def test_another_number_name_or_denial_is_no_repetition(text: str) -> None:
    first = "The harbour of Tarn opened in 1901 with two long piers."
    assert near_duplicates(claims(first, text)) == []


def test_claims_about_different_nodes_are_no_repetition() -> None:
    text = "The harbour opened in 1901."
    assert near_duplicates([*claims(text), *claims(text, node_id="s")]) == []


def test_four_thousand_claims_are_compared_in_seconds() -> None:
    began = time.monotonic()
    words = ["harbour", "pier", "boat", "crane", "quay", "fee", "year", "tide"]
    texts = [f"the {words[n % 8]} of {n} {words[n // 8 % 8]} was w{n}x" for n in range(4_000)]
    assert near_duplicates(claims(*texts)) == []
    assert time.monotonic() - began < 4

"""Claims that say nearly the same, told by their words."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from veritrail_graph.graph import near_duplicates as module
from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.near_duplicates import LEAST_OVERLAP, near_duplicates


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


def test_an_index_finds_what_comparing_all_pairs_finds() -> None:
    lots = random.Random(7)
    words = ["Harbour", "harbour", "two", "piers", "2", "3", "not", "the", "Ship", "ship", "x", "y"]
    long = [f"word{number}" for number in range(45)]
    for _ in range(120):
        texts = [" ".join(lots.choices(words, k=lots.randint(1, 12))) for _ in range(25)]
        texts += [" ".join(lots.sample(long, lots.randint(36, 45))) for _ in range(6)]
        found = near_duplicates(claims(*texts))
        assert [(one.claim_id, one.like, one.overlap) for one in found] == list(compared(texts))


def compared(texts: list[str]) -> Iterator[tuple[str, str, float]]:
    """The most alike earlier text of each, by comparing all of them."""
    split = [module._split(text) for text in texts]
    for place, (words, strict) in enumerate(split):
        shares = [
            (len(words & others) / max(len(words | others), 1), -other)
            for other, (others, must) in enumerate(split[:place])
            if not (words ^ others) & (strict | must)
        ]
        share, other = max(shares, default=(0.0, 0))
        if share >= LEAST_OVERLAP:
            yield f"k{place + 1}", f"k{1 - other}", round(share, 2)


def test_the_comparisons_grow_with_the_claims_and_not_with_their_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lots = random.Random(3)
    some = [f"{one}{other}" for one in "bdfgk" for other in "aeiouy"]

    def comparisons(number: int) -> int:
        count = 0

        def overlap(one: frozenset[str], other: frozenset[str]) -> float:
            nonlocal count
            count += 1
            return len(one & other) / len(one | other)

        monkeypatch.setattr(module, "_overlap", overlap)
        texts = [" ".join(lots.sample(some, 9)) for _ in range(number)]
        near_duplicates(claims(*texts))
        return count

    assert comparisons(4_000) <= 6 * comparisons(1_000) + 4_000

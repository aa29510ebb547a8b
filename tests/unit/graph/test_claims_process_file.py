"""Further places of a claim in a process file: `also`, beside `start` and `end`."""

from __future__ import annotations

from typing import Any

import pytest
from fakes.process_files import document, only_violation, read, violations

TEXT = "The tide went out before noon."


def with_claim(**fields: Any) -> dict[str, Any]:
    return document(claims=[{"claim_id": "k", "text": "The tide went.", "node_id": "t", **fields}])


def test_further_places_are_read() -> None:
    (claim,) = read(with_claim(start=0, end=3, also=[[4, 8], [9, len(TEXT)]])).claims
    assert (claim.start, claim.end, claim.also) == (0, 3, ((4, 8), (9, len(TEXT))))


def test_a_claim_without_further_places_has_none() -> None:
    assert read(with_claim(start=0, end=3)).claims[0].also == ()
    assert read(with_claim(start=0, end=3, also=[])).claims[0].also == ()


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"also": [[0, 3]]}, "single_offset", "start and end give the first"),
        ({"start": 0, "also": [[0, 3]]}, "single_offset", "are given together"),
        ({"start": 0, "end": 3, "also": [[4, 3]]}, "reversed_offsets", "also[0]: start 4"),
        ({"start": 0, "end": 3, "also": [[0, 31]]}, "offset_out_of_range", "30 characters"),
        ({"start": 0, "end": 3, "also": [[-1, 3]]}, "out_of_range", "0 or more"),
        ({"start": 0, "end": 3, "also": [[1]]}, "wrong_value", "also.0 must hold two"),
        ({"start": 0, "end": 3, "also": [[1, 2, 3]]}, "wrong_value", "also.0 must hold two"),
        ({"start": 0, "end": 3, "also": [1]}, "wrong_type", "must be a list"),
        ({"start": 0, "end": 3, "also": [["1", 2]]}, "wrong_type", "must be an integer"),
        ({"start": 0, "end": 3, "also": "1-2"}, "wrong_type", "must be a list"),
    ],
)
def test_wrong_places_are_refused_by_name(fields: dict[str, Any], kind: str, message: str) -> None:
    told = only_violation(with_claim(**fields))
    assert (told.kind, told.where) == (kind, "claims[0] 'k'")
    assert message in told.message


def test_every_wrong_place_is_named() -> None:
    told = violations(with_claim(start=5, end=2, also=[[0, 99], [1, 2], [3, 0]]))
    assert [one.kind for one in told] == [
        "reversed_offsets",
        "offset_out_of_range",
        "reversed_offsets",
    ]

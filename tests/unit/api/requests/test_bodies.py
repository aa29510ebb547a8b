"""Bodies of requests take a value of the type that the description names, and no other."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from veritrail_graph.api.requests.bodies import ReviewOfTable, RoundWanted, ShareWanted

ROUND = {"reviewers": ["Ada", "Bo"], "size": 5}
REVIEW = {"claim_id": "k1", "verdict": "UNCLEAR"}


@pytest.mark.parametrize(
    ("body", "given", "wrong"),
    [
        (RoundWanted, ROUND, {"seed": False}),
        (RoundWanted, ROUND, {"size": True}),
        (RoundWanted, ROUND, {"each": "1"}),
        (ShareWanted, {}, {"days": True}),
        (ReviewOfTable, REVIEW, {"blind": "yes"}),
        (ReviewOfTable, REVIEW, {"adjudicates": 1}),
    ],
)
def test_what_is_no_number_or_truth_value_is_refused(
    body: type[BaseModel], given: dict[str, Any], wrong: dict[str, Any]
) -> None:
    body.model_validate(given)
    with pytest.raises(ValidationError):
        body.model_validate(given | wrong)

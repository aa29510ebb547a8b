"""The request to verify claims: which values its fields take, whatever door they come through."""

from __future__ import annotations

import json

import jsonschema
import pytest

from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.graph.errors import InputError

LIMITS = ("max_root_sentences", "max_sentences", "verdict_sentences", "verdict_root_sentences")


@pytest.mark.parametrize("limit", LIMITS)
def test_none_and_null_both_mean_no_limit(limit: str) -> None:
    assert getattr(VerifyRequest.checked({"process_id": "p", limit: 7}), limit) == 7
    by_word = VerifyRequest.model_validate_json(json.dumps({"process_id": "p", limit: "none"}))
    by_null = VerifyRequest.model_validate_json(json.dumps({"process_id": "p", limit: None}))
    assert getattr(by_word, limit) is None
    assert by_word.to_json() == by_null.to_json()


def test_of_thousands_of_faults_some_are_listed_and_the_rest_counted() -> None:
    with pytest.raises(InputError) as refused:
        VerifyRequest.checked({"process_id": "p"} | {f"x{i}{'y' * 999}": 1 for i in range(3_000)})
    faults = refused.value.violations
    assert len(faults) == 1_001
    assert max(len(one.where) for one in faults) == 200
    assert faults[-1].message == "and 2,000 more of this kind"


@pytest.mark.parametrize("value", [0, -1, 10**9, "7", "all", "", True, 1.5])
def test_other_limits_are_refused_by_the_request_and_by_its_schema(value: object) -> None:
    body = {"process_id": "p", "verdict_sentences": value}
    with pytest.raises(InputError):
        VerifyRequest.checked(body)
    schema = VerifyRequest.model_json_schema()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(body, schema)
    jsonschema.validate(body | {"verdict_sentences": "none"}, schema)

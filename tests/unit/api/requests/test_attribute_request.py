"""The request to attribute sentences, and the rows of its job."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from veritrail_graph.api.client.attributions import JudgeWith
from veritrail_graph.api.jobs.chosen import sentence_rows
from veritrail_graph.api.jobs.events import finished
from veritrail_graph.api.jobs.model import EventKind, JobHeader, kind_of
from veritrail_graph.api.requests.attribute import MAX_SENTENCES, AttributeRequest
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.attribution import Against, JudgeName
from veritrail_graph.graph.model.job import JobKind

HEADER = '{"kind": "attribution", "nodes": ["a", "b.1"]}'


def test_equal_requests_have_equal_texts_and_are_read_back() -> None:
    short = AttributeRequest.checked({"process_id": "p", "against": "roots"})
    spelt = AttributeRequest.checked(
        {"process_id": "p", "against": Against.ROOTS, "judge": False, "mode": "attribution"}
    )
    assert short.to_json() == spelt.to_json()
    assert AttributeRequest.model_validate_json(short.to_json()) == short


@pytest.mark.parametrize(
    ("values", "where"),
    [
        ({"node_ids": []}, "body.node_ids"),
        ({"node_ids": [""]}, "body.node_ids.0"),
        ({"node_ids": ["x" * 1_025]}, "body.node_ids.0"),
        ({"node_ids": "summary"}, "body.node_ids"),
        ({"mode": "all"}, "body.mode"),
        ({"judge": "yes"}, "body.judge"),
        ({"budget_usd": -1}, "body.budget_usd"),
        ({"base_url": "http://example.org"}, "body.base_url"),
    ],
)
def test_values_out_of_bounds_are_named(values: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as refused:
        AttributeRequest.checked({"process_id": "p", **values}, "body.")
    assert refused.value.violations[0].where == where


def test_a_row_says_which_sentence_it_is() -> None:
    rows = sentence_rows([[0, 1], [0]])
    places = [JobHeader.of(HEADER).sentence(row["claim_id"]) for row in rows]
    assert places == [("a", 0), ("a", 1), ("b.1", 0)]
    assert len({row["verification_id"] for row in rows}) == 3
    assert all(row["verification_id"].startswith("s-") for row in rows)


def test_too_many_sentences_are_refused() -> None:
    with pytest.raises(InputError, match="at most 100,000") as refused:
        sentence_rows([range(MAX_SENTENCES), [4]])
    assert refused.value.code == "too_many_sentences"


def test_the_header_of_a_job_says_what_it_does_and_how_its_ends_are_told() -> None:
    to_verify = '{"q": 3, "engine": "lexical"}'
    assert (kind_of(HEADER), kind_of(to_verify)) == (JobKind.ATTRIBUTION, JobKind.VERIFICATION)
    event = {"verification_id": "x", "claim_id": None, "verdict": None, "status": "cancelled"}
    told = finished(JobHeader.of(HEADER), "s-1", "1.4", event)
    assert told == (
        EventKind.SENTENCE_FINISHED, {"node_id": "b.1", "sentence": 4, "status": "cancelled"}
    )  # fmt: skip
    told = finished(JobHeader.of(to_verify), "v-1", "k1", event)
    assert told == (EventKind.CLAIM_FINISHED, {**event, "claim_id": "k1"})
    told = finished(JobHeader.of(to_verify), "x-1", "", event)
    assert told == (EventKind.EXPLANATION_FINISHED, {"sentences": {}, "status": "cancelled"})


def test_the_client_names_the_judges_that_there_are() -> None:
    assert set(get_args(JudgeWith)) == {one.value for one in JudgeName}

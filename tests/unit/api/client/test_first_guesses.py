"""Names that people try first: those that work, and errors that name the call that is meant."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fakes.answering_client import Answering

import veritrail_graph
from veritrail_graph.api.client.answers import Claim, JobState, Listed, Verification
from veritrail_graph.api.client.calls import AsyncPages
from veritrail_graph.api.client.following import Following
from veritrail_graph.graph.model import NodeRef

QUERY = {
    "name": "error_origin",
    "purpose": "Where errors came in.",
    "parameters": [
        {"name": name, "type": "str", "required": True, "default": None, "choices": [],
         "bounds": None, "meaning": ""}
        for name in ("process_id", "claim_id")
    ],
}  # fmt: skip


def test_a_process_is_made_of_no_file() -> None:
    with pytest.raises(AttributeError, match=r"'from_file': .* Local\(\)\.ingest"):
        _ = veritrail_graph.Process.from_file
    assert not hasattr(veritrail_graph.Process, "nothing")


@pytest.mark.parametrize(
    ("owner", "name", "meant"),
    [
        (veritrail_graph, "evaluate", r"check\(rows\)"),
        (veritrail_graph, "load", r"check\(path\)"),
        (Answering(), "gate", "assert_supported"),
        (Claim.model_construct(claim_id="k"), "error_nodes", r"client\.verification"),
        (Verification.model_construct(verification_id="v"), "draw", r"svg\(\)"),
        (NodeRef.named("n"), "text", "nodes_by_id"),
    ],
)
def test_an_error_names_the_call_that_is_meant(owner: Any, name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=rf"{name}'.*: .*{meant}"):
        getattr(owner, name)
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        owner.nothing  # noqa: B018


def test_a_process_file_is_no_stored_process() -> None:
    with pytest.raises(TypeError, match=r"ingest\(document\)"):
        veritrail_graph.Process(format="veritrail.process/1", nodes=[])  # type: ignore[arg-type]


def test_a_job_says_what_to_iterate_over() -> None:
    job = Following(JobState.model_validate({"job_id": "j", "status": "queued"}))
    with pytest.raises(TypeError, match=r"wait\(\)\.verifications\(\)"):
        list(job)


def test_parameters_of_a_query_may_come_in_their_order() -> None:
    rows = {"columns": ["stage"], "rows": [[1]]}
    client = Answering(queries={"queries": [QUERY]}, query=rows)
    asyncio.run(client.query("error-origin", "library", claim_id="cost"))
    assert client.calls[-1].body == {"params": {"process_id": "library", "claim_id": "cost"}}
    for values, named in ((("a", "b", "c"), {}), (("a",), {"process_id": "b"})):
        with pytest.raises(TypeError, match="takes process_id, claim_id, each once"):
            asyncio.run(client.query("error_origin", *values, **named))


def test_a_claim_without_a_verdict_cannot_be_shown_and_the_error_says_what_verifies_it() -> None:
    claim = {"claim_id": "cost", "process_id": "library", "text": "x", "node_id": "n"}
    client = Answering(claim=claim)
    with pytest.raises(LookupError, match=r"verify\('library'\)"):
        asyncio.run(client.show("library", "cost"))


def test_an_answer_is_given_once_and_with_its_sources() -> None:
    for given in ({}, {"what": "a", "answer": "b"}, {"answer": "b"}):
        with pytest.raises(TypeError, match=r"check\(answer, sources\)"):
            asyncio.run(Answering().check(**given))  # type: ignore[arg-type]


def test_pages_become_a_data_frame() -> None:
    async def read(_cursor: Any) -> tuple[list[NodeRef], None]:
        return [], None

    pages = AsyncPages("claims", read)
    assert isinstance(asyncio.run(pages.all()), Listed)
    assert len(asyncio.run(pages.to_pandas())) == 0

"""Sub-claims: the queue, what it skips, and that it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from fakes.asking import ScriptedAsking
from fakes.claim_answers import parts_of, sub_claim_step

from veritrail_graph.verifier.claims.steps import ATTEMPTS, decompose
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter, Request, TransportFault

Table = Callable[[str], Sequence[str]]


def take_apart(claim: str, table: Table) -> tuple[tuple[str, ...], list[Request]]:
    asking = ScriptedAsking(parts_of(table))
    found = asyncio.run(decompose(claim, sub_claim_step(asking), Meter()))
    return found, asking.requests


def test_a_claim_that_comes_back_alone_has_no_sub_claims_and_takes_one_call() -> None:
    found, requests = take_apart("The harbour has two piers.", lambda claim: [claim])
    assert found == ("The harbour has two piers.",)
    assert [request.user for request in requests] == ["Claim: The harbour has two piers."]
    assert requests[0].call.step == "sub_claim_decomposition"
    assert requests[0].call.temperature == 0


def test_parts_are_taken_apart_until_each_comes_back_alone() -> None:
    tree = {"A, B and C": ["A and B", "C"], "A and B": ["A", "B"]}
    found, requests = take_apart("A, B and C", lambda claim: tree.get(claim, [claim]))
    assert found == ("C", "A", "B")
    asked = [request.user.removeprefix("Claim: ") for request in requests]
    assert asked == ["A, B and C", "A and B", "C", "A", "B"]


def test_an_empty_list_counts_as_the_text_itself() -> None:
    tree = {"A and B": ["A", "B"]}
    assert take_apart("A and B", lambda claim: tree.get(claim, []))[0] == ("A", "B")


def test_what_was_processed_before_is_skipped_whatever_its_case_and_spaces() -> None:
    tree = {"A and B": ["Alpha is", "beta"], "Alpha is": ["alpha   IS", "beta "]}
    found, requests = take_apart("A and B", lambda claim: tree.get(claim, [claim]))
    assert found == ("Alpha is", "beta")
    assert len(requests) == 3


def test_the_claim_is_not_listed_as_a_part_of_itself() -> None:
    tree = {"A and B": ["A and B", "A", "B"]}
    assert take_apart("A and B", lambda claim: tree.get(claim, [claim]))[0] == ("A", "B")


def test_an_endpoint_that_gives_the_same_list_for_ever_ends() -> None:
    found, requests = take_apart("A and B", lambda _claim: ["A", "B"])
    assert found == ("A", "B")
    assert len(requests) == 3


def test_after_twenty_attempts_the_queue_is_kept_as_it_is() -> None:
    found, requests = take_apart("x", lambda claim: [f"{claim}0", f"{claim}1"])
    assert len(requests) == ATTEMPTS == 20
    # 20 texts of a binary tree were taken apart: 21 are left, each asked about or not.
    assert len(found) == len(set(found)) == 21
    assert set(found).isdisjoint(request.user.removeprefix("Claim: ") for request in requests)


def test_parts_of_one_round_are_asked_about_side_by_side() -> None:
    tree = {"A to D": ["A", "B", "C", "D"]}
    asking = ScriptedAsking(parts_of(lambda claim: tree.get(claim, [claim])))
    asyncio.run(decompose("A to D", sub_claim_step(asking), Meter()))
    assert asking.most_at_once == 4


@pytest.mark.parametrize("fault", [TransportFault("cut off"), InvalidAnswer("no JSON")])
def test_a_call_that_fails_goes_up_with_what_was_spent(fault: Exception) -> None:
    def answer(request: Request) -> str:
        if request.user != "Claim: A and B":
            raise fault
        return parts_of(lambda _claim: ["A", "B"])(request)

    meter = Meter()
    with pytest.raises(type(fault), match=str(fault)):
        asyncio.run(decompose("A and B", sub_claim_step(ScriptedAsking(answer)), meter))
    assert meter.total.calls == 1

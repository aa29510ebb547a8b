"""Pairs of claims that a person found: each names claims that there are, and each claim once."""

import asyncio

import pytest

from veritrail_graph.api.jobs.earlier import check_pairs, version_for
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.graph.errors import InputError

NAMES = ("old", "new")


def faults(pairs, now):
    with pytest.raises(InputError) as refused:
        check_pairs(NAMES, pairs, {"a1", "a2"}, now)
    return [(one.kind, one.where, one.message) for one in refused.value.violations]


def test_pairs_of_claims_that_there_are_can_be_used():
    check_pairs(NAMES, [("a1", "b1"), ("a2", "b2")], {"a1", "a2"}, {"b1", "b2"})


def test_every_fault_is_named_with_its_place():
    assert faults([("a1", "b9"), ("a9", "b2"), ("a1", "b2")], {"b1", "b2"}) == [
        ("unknown_claim", "match[0].claim_id", "'new' has no claim 'b9'"),
        ("unknown_claim", "match[1].earlier", "'old' has no claim 'a9'"),
        ("repeated_claim", "match[2].earlier", "'a1' is in another pair, too"),
        ("repeated_claim", "match[2].claim_id", "'b2' is in another pair, too"),
    ]


def test_claims_that_are_not_known_yet_are_not_looked_for():
    assert [where for _, where, _ in faults([("a9", "anything")], None)] == ["match[0].earlier"]


def test_pairs_need_an_earlier_version():
    async def opened():
        raise AssertionError("no graph is needed to see that")

    pairs = [{"earlier": "a1", "claim_id": "b1"}]
    request = VerifyRequest.checked({"process_id": "new", "match": pairs})
    with pytest.raises(InputError, match="name that, too"):
        asyncio.run(version_for(opened, request, set()))

"""Steps that cannot change text are never where an error came in."""

from __future__ import annotations

import asyncio

import pytest
from fakes.dag import Dag

from veritrail_graph.graph.importers.process_file.schema import read_node
from veritrail_graph.graph.model import ErrorLocation, Iteration, Verdict
from veritrail_graph.verifier.copying import (
    at_generative_steps,
    at_writing_steps,
    copies_among,
    is_copy,
)

# v was written from two passages that were cut out of a summary, and of a chunk.
DAG = Dag.of({"v": ["cut", "quote"], "cut": ["sorted"], "sorted": ["summary"], "summary": ["r1"],
              "quote": ["r2"]})  # fmt: skip
SOURCES = {"v": ("cut", "quote"), "cut": ("sorted",), "sorted": ("summary",), "summary": ("r1",),
           "quote": ("r2",)}  # fmt: skip


def rounds(*names: str) -> list[Iteration]:
    checked = tuple(DAG.refs[name] for name in names)
    return [Iteration(number=1, verdict=Verdict.FULLY_SUPPORTED, reasoning="", checked=checked)]


WALK = rounds("cut", "quote", "sorted", "summary", "r1", "r2")


def placed(*names: str, copies: frozenset[str]) -> tuple[list[str], list[str]]:
    error = ErrorLocation(tuple(DAG.refs[name] for name in names), (DAG.refs["v"],))
    found = at_generative_steps(error, DAG.refs["v"], WALK, SOURCES, copies)
    return [ref.node_id for ref in found.nodes], [ref.node_id for ref in found.propagated]


@pytest.mark.parametrize(
    ("nodes", "copies", "introduced", "propagated"),
    [
        (["cut"], [], ["cut"], ["v"]),
        (["cut"], ["sorted"], ["cut"], ["v"]),  # another one is a copy
        (["cut"], ["cut"], ["sorted"], ["cut", "v"]),
        (["cut"], ["cut", "sorted"], ["summary"], ["cut", "sorted", "v"]),
        (["quote"], ["quote"], ["v"], []),  # taken from source text: what came after it erred
        (["cut", "quote"], ["cut", "sorted", "quote"], ["summary", "v"], ["cut", "sorted"]),
        (["v"], ["v"], ["cut", "quote"], ["v"]),
        (["quote"], ["quote", "v"], [], []),  # nothing on the way writes
    ],
)
def test_an_error_belongs_to_the_nearest_step_that_writes(nodes, copies, introduced, propagated):
    assert placed(*nodes, copies=frozenset(copies)) == (introduced, propagated)


class Knows:
    def __init__(self, copies):
        self.known, self.asked = set(copies), []

    async def copies(self, node_ids):
        self.asked.append(sorted(node_ids))
        return frozenset(self.known.intersection(node_ids))


def test_all_nodes_of_a_walk_are_asked_about_only_where_an_error_node_is_a_copy():
    error = ErrorLocation((DAG.refs["cut"],))

    def among(nodes):
        return asyncio.run(copies_among(nodes, error, DAG.refs["v"], WALK))

    none, one = Knows(["quote"]), Knows(["cut", "quote"])
    assert (among(none), none.asked) == (frozenset(), [["cut"]])
    assert among(one) == {"cut", "quote"}
    assert len(one.asked) == 2


def test_an_error_has_no_place_where_it_cannot_be_read_which_nodes_are_copies():
    class Lost:
        async def copies(self, node_ids):
            raise OSError(f"nothing is read of {node_ids}")

    error = ErrorLocation((DAG.refs["cut"],), (DAG.refs["v"],))
    placed = at_writing_steps(error, DAG.refs["v"], WALK, SOURCES, Lost())
    assert asyncio.run(placed) == ErrorLocation()


def test_a_node_of_a_process_file_says_whether_its_step_can_change_text():
    plain = {"node_id": "n", "text": "T."}
    assert not is_copy(read_node(plain, "").metadata)
    assert not is_copy(read_node({**plain, "generative": True}, "").metadata)
    assert is_copy(read_node({**plain, "generative": False}, "").metadata)
    assert is_copy(read_node({**plain, "metadata": {"generative": False}}, "").metadata)
    (fault, _) = read_node({**plain, "generative": "no"}, "")
    assert "generative" in f"{fault.where} {fault.message}"

"""A process in memory is walked like a stored one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.model import Role
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.engines import Parts, engine_named
from veritrail_graph.verifier.held_process import HeldNodes, HeldProcess
from veritrail_graph.verifier.limits import Limits, Samples

ROOT = Path(__file__).resolve().parents[3]
SPLITTER = SentenceSplitter.for_language()


@pytest.fixture(scope="module")
def held() -> HeldProcess:
    return HeldProcess.read(open_input(ROOT / "examples/harbour-summary.json"))


def test_nodes_have_the_stages_and_roles_of_an_ingest(held: HeldProcess) -> None:
    assert [ref.node_id for ref in held.nodes if ref.role is Role.TERMINAL] == list(
        held.survey.terminals
    )
    assert [ref.known_stage for ref in held.nodes] == sorted(ref.known_stage for ref in held.nodes)
    assert held.roots
    assert all(ref.is_root for ref in held.roots)
    assert held.by_id.keys() == held.texts.keys()


def test_roots_below_a_node_are_those_that_lead_to_it(held: HeldProcess) -> None:
    terminal = held.survey.terminals[0]
    assert set(held.roots_below(terminal)) <= set(held.roots)
    one = next(ref for ref in held.nodes if ref.role is Role.INTERMEDIATE)
    direct = held.adjacency.source_nodes([one.node_id]).nodes
    assert set(held.roots_below(one.node_id)) == set(direct)  # its inputs are chunks
    with pytest.raises(InputError, match="has no node 'nowhere'"):
        held.node("nowhere")


def test_a_claim_is_verified_over_it_as_over_a_stored_process(held: HeldProcess) -> None:
    judge = engine_named("lexical").judge(Parts(SPLITTER.split, Limits(), Samples()))
    claim = held.claims[0]
    task = Task(claim, held.node(claim.node_id))

    async def run() -> None:
        ended = await verify_claim(task, held.process_id, judge, HeldNodes(held, SPLITTER))
        assert ended.verdict is claim.label
        assert ended.iterations[0].checked == held.adjacency.source_nodes([claim.node_id]).nodes

    asyncio.run(run())


def test_sources_that_were_checked_are_left_out(held: HeldProcess) -> None:
    terminal = held.survey.terminals[0]
    nodes = HeldNodes(held, SPLITTER)
    everything = asyncio.run(nodes.source_nodes([terminal]))
    rest = asyncio.run(nodes.source_nodes([terminal], everything.nodes[:1]))
    assert rest.nodes == everything.nodes[1:]
    assert rest.sources == everything.sources
    assert not set(asyncio.run(nodes.left([terminal], everything.nodes)).nodes) - set(
        everything.nodes
    )

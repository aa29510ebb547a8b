"""The walk in Cypher against the walk of everybody: random processes, the same verifications."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any

import pytest
from fakes.dag import Dag, dags
from fakes.processes import process
from fakes.scripted_judge import FS, INC, NFS, Script, ScriptedJudge
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Claim, Verification
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.reading import EDGES, NodeReader
from veritrail_graph.verifier.copying import GENERATIVE
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.frontiers import CypherNodes
from veritrail_graph.verifier.nodes import ProcessChanged, SharedNodes
from veritrail_graph.verifier.ports import NodeSource, WalkState
from veritrail_graph.verifier.run import Run

pytestmark = pytest.mark.engine

SPLITTER = SentenceSplitter.for_language()
CLAIMS = 3
OF_THE_RUN = {"run_id", "verification_id", "created_at", "usage", "steps"}


@dataclass(frozen=True)
class Case:
    """A process, a node of it, q, a script a claim, how many edges a call follows, and copies."""

    dag: Dag
    target: str
    q: int
    scripts: dict[str, Script]
    edges: int
    copies: set[str]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A case: nodes that are no source text may come from steps that cannot change text."""
    dag, target = draw(dags())
    scripts = {}
    for number in range(CLAIMS):
        silent = draw(st.sets(st.sampled_from(sorted(dag.sources))))
        finds = draw(st.sampled_from([silent, dag.sources.keys() - silent]))
        said = draw(st.lists(st.sampled_from([NFS, NFS, FS, INC, None]), min_size=1, max_size=5))
        scripts[f"k{number}"] = Script(dict.fromkeys(finds, (0,)), said)  # type: ignore[arg-type]
    copies = draw(st.sets(st.sampled_from(sorted(dag.sources.keys() - dag.roots))))
    return Case(
        dag, target, draw(st.integers(1, 3)), scripts, draw(st.sampled_from([EDGES, 3])), copies
    )


def both(store: Store, arun: Any, case: Case) -> None:
    """Verify the claims in both ways over the stored process, and compare all that was found."""
    dag, target, scripts = case.dag, case.target, case.scripts
    name = f"walk-{uuid.uuid4().hex[:12]}"
    texts = {node: f"What {node} says." for node in dag.sources}
    given_process = process(texts, sorted(dag.edges), process_id=name)
    given_process.nodes = [
        replace(one, metadata={GENERATIVE: False}) if one.node_id in case.copies else one
        for one in given_process.nodes
    ]
    reader = NodeReader(store.database, edges=case.edges)

    async def work() -> None:
        await ingest(store, given_process)
        node, _ = await store.reading.node(name, target)
        tasks = [Task(Claim(claim_id=one, text=one, node_id=target), node) for one in scripts]
        ways = (SharedNodes(reader, name, SPLITTER), CypherNodes(reader, name, SPLITTER))
        found = [await verified(name, nodes, tasks, case.q, scripts) for nodes in ways]
        await store.processes.delete(name)
        event(f"stops: {found[0][0]['termination']}")
        event(f"error nodes: {len(found[0][0]['error_nodes'])}")
        assert found[1] == found[0]

    arun(work())


async def verified(
    process_id: str, nodes: NodeSource, tasks: list[Task], q: int, scripts: dict[str, Script]
) -> list[dict[str, Any]]:
    async def write(*_verifications: Verification) -> None:
        return

    judge = ScriptedJudge(by_claim=scripts)
    return list(map(plain, await Run(process_id, judge, nodes, write, q=q).verify(tasks)))


def plain(verification: Verification) -> dict[str, Any]:
    """All of a verification but what says which one it is, and when it was made."""
    found = {k: v for k, v in verification.json_object().items() if k not in OF_THE_RUN}
    assert found["status"] in ("succeeded", "undecided"), found
    return found


@settings(
    max_examples=6,
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
    phases=[Phase.generate],
)
@given(case=cases())
def test_both_walks_find_the_same(store: Store, arun: Any, case: Case) -> None:
    both(store, arun, case)


@pytest.mark.soak
@settings(
    max_examples=400,
    suppress_health_check=[HealthCheck.too_slow],
    deadline=None,
    phases=[Phase.generate],
)
@given(case=cases())
def test_both_walks_find_the_same_on_many_processes(store: Store, arun: Any, case: Case) -> None:
    both(store, arun, case)


def test_the_walk_in_cypher_notices_a_process_that_was_removed(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(ingest(store, process({"r": "R", "m": "M", "t": "T"}, [("r", "m"), ("m", "t")],
                               {"k": "K"}, process_id=process_id)))  # fmt: skip
    nodes = CypherNodes(store.reading, process_id, SPLITTER)
    first = arun(nodes.source_nodes(["t"]))
    state = WalkState((FS,), 3, first.nodes, ("m",), first.nodes)
    arun(store.processes.delete(process_id))
    for asked in (nodes.next_frontier(["m"], state), nodes.left(["m"], ())):
        with pytest.raises(ProcessChanged):
            arun(asked)

"""A stored process as OpenLineage events: JSON Lines, one RunEvent for each step.

Nodes are datasets, named by their ids in a namespace of the process. No text leaves the graph:
a facet of ours says which node a dataset is and how long its text is, and another one which
verdicts its claims have.

Source: OpenLineage 2-0-2 (the object model); VeriTrail 2 (processes).
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from veritrail_graph.graph.exporters.process_file import Write, json_text
from veritrail_graph.graph.model import EdgeFacts, Origin, Role, Status
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
PARENT_SCHEMA = "https://openlineage.io/spec/facets/1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet"
# No address of ours is public: these say where our documentation describes them.
PRODUCER = "https://veritrail.example.org/veritrail-graph"
FACETS = "https://veritrail.example.org/docs/export.md#/facets"

_RUNS = UUID("6f2c1b0e-3d0a-5b1f-9a53-0b7b1f0c6c41")
"""The namespace of the ids of runs, which follow from the content."""


class _Node(NamedTuple):
    """The facts of a node that an event carries."""

    stage: int
    role: str
    length: int
    kind: str | None
    step: str | None
    model: str | None
    is_made: bool


async def write_events(store: Store, stored: StoredProcess, write: Write) -> dict[str, int]:
    """Write one event a line; give how many events, inputs, verified and undecided claims are."""
    nodes = [_node(span) async for spans in stored.spans() for span in spans]
    claims = await _verdicts(store, stored)
    events = _Events(stored, nodes, claims)
    counts = {"events": 0, "inputs": 0}
    async for target, inputs in _steps(stored, nodes):
        write(events.line(target, inputs))
        counts["events"] += 1
        counts["inputs"] += len(inputs)
    return {**counts, "verified claims": events.verified, "undecided claims": events.undecided}


async def _steps(
    stored: StoredProcess, nodes: Sequence[_Node]
) -> AsyncIterator[tuple[int, list[tuple[int, EdgeFacts]]]]:
    """Every node that a step made, as its number, with its inputs; in the order of the nodes."""
    alone = deque(number for number, node in enumerate(nodes) if node.is_made)
    async for edges in stored.edges():
        for target, group in groupby(edges, key=itemgetter(1)):
            while alone and alone[0] < target:
                yield alone.popleft(), []
            yield target, [(source, facts) for source, _, facts in group]
    for number in alone:
        yield number, []


def _node(span: Mapping[str, Any]) -> _Node:
    # A generated node whose inputs are not known was made by a step all the same.
    is_made = span["role"] == Role.UNSOURCED and span.get("origin") != Origin.GIVEN
    said = (span.get("kind"), span.get("step"), span.get("model"))
    return _Node(span["stage"], span["role"], len(span["text"]), *said, is_made)


async def _verdicts(store: Store, stored: StoredProcess) -> dict[str, list[dict[str, Any]]]:
    """Claims with a result by node_id, each with the one that counts: undecided has no verdict."""
    found: dict[str, list[dict[str, Any]]] = {}
    async for page in stored.claims():
        # Questions that somebody asked are no claims of the answer.
        names = [claim["claim_id"] for claim in page if claim.get("origin") is None]
        judged = await store.claims.judged(stored.process_id, names)
        for claim_id in names:
            one = judged.get(claim_id)
            if one is None or one.verification_id is None:
                continue
            status = Status.UNDECIDED if one.verdict is None else Status.SUCCEEDED
            said = {
                "claim_id": claim_id,
                "status": status.value,
                "verdict": one.verdict.value if one.verdict else None,
                "indicative": bool(one.indicative),
                "error_stages": list(one.error_stages),
                "verification_id": one.verification_id,
            }
            found.setdefault(one.node_id, []).append(said)
    return found


class _Events:
    """Makes the events of one process.

    Attributes:
        verified: How many claims with a verdict the events hold.
        undecided: How many that were verified and have none.
    """

    def __init__(
        self,
        stored: StoredProcess,
        nodes: Sequence[_Node],
        claims: Mapping[str, list[dict[str, Any]]],
    ) -> None:
        facts = stored.properties
        self._ids = stored.ids
        self._nodes = nodes
        self._claims = claims
        self.verified = 0
        self.undecided = 0
        self._namespace = f"veritrail://{stored.process_id}"
        # When a step ran is not recorded: the events carry the time of storing.
        self._time = facts["created_at"]
        self._runs = uuid5(_RUNS, json_text([stored.process_id, facts["content_hash"]]))
        self._parent = {
            **_about(PARENT_SCHEMA),
            "run": {"runId": str(self._runs)},
            "job": {"namespace": self._namespace, "name": stored.process_id},
        }

    def line(self, target: int, inputs: Iterable[tuple[int, EdgeFacts]]) -> bytes:
        """The event of the step that made a node."""
        node_id, node = self._ids[target], self._nodes[target]
        made = self._dataset(target)
        if node_id in self._claims:
            claims = {**_facet("veritrail_claims"), "claims": self._claims[node_id]}
            decided = sum(claim["verdict"] is not None for claim in self._claims[node_id])
            self.verified += decided
            self.undecided += len(self._claims[node_id]) - decided
            made["outputFacets"] = {"veritrail_claims": claims}
        event = {
            "eventType": "COMPLETE",
            "eventTime": self._time,
            "run": {"runId": str(uuid5(self._runs, node_id)), "facets": {"parent": self._parent}},
            "job": {
                "namespace": self._namespace,
                "name": node.step or node.kind or f"stage {node.stage}",
            },
            "inputs": list(self._inputs(inputs)),
            "outputs": [made],
            "producer": PRODUCER,
            "schemaURL": SCHEMA,
        }
        return f"{json_text(event)}\n".encode()

    def _inputs(self, inputs: Iterable[tuple[int, EdgeFacts]]) -> Iterator[dict[str, Any]]:
        for source, facts in inputs:
            read = self._dataset(source)
            if facts.given:
                edge = {**_facet("veritrail_edge"), **facts.given}
                read["inputFacets"] = {"veritrail_edge": edge}
            yield read

    def _dataset(self, number: int) -> dict[str, Any]:
        node = self._nodes[number]
        span = {
            "node_id": self._ids[number],
            "stage": node.stage,
            "role": node.role,
            "text_length": node.length,
            "kind": node.kind,
            "model": node.model,
        }
        known = {key: value for key, value in span.items() if value is not None}
        return {
            "namespace": self._namespace,
            "name": self._ids[number],
            "facets": {"veritrail_span": {**_facet("veritrail_span"), **known}},
        }


def _facet(name: str) -> dict[str, str]:
    return _about(f"{FACETS}/{name}")


def _about(schema: str) -> dict[str, str]:
    """Return what every facet says of itself."""
    return {"_producer": PRODUCER, "_schemaURL": schema}

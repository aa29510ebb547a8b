"""What an engine does while Java watches it: the work of a first command, many times over.

Java keeps which classes that took and which of its parts ran often, so that an engine that starts
with it need not find that out again. Nothing of the user's is in it: the process is made up here.
"""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import ClaimRecord, Header
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    EvidencePath,
    Iteration,
    NodeRef,
    Origin,
    Sentence,
    Status,
    Termination,
    Verdict,
    Verification,
)
from veritrail_graph.graph.store import Store

PROCESS = "rehearsal"
ROUNDS = 60
"""So often a part of the engine has to run until Java takes it for one that runs often."""
_ROOTS, _WIDTH = 24, 4
_TEXT = "The rehearsal reads this sentence. It reads another one, and keeps both of them. "


async def rehearse(store: Store, rounds: int = ROUNDS) -> None:
    """Store a small process, verify its claim again and again, and look at what came of it."""
    await ingest(store, _process())
    for number in range(rounds):
        await _verify(store, number)
        await store.processes.page(limit=10)


def _process() -> Draft:
    """Roots, what was made of some of them each, and one text that was made of all that."""
    draft = Draft(Header("json", process_id=PROCESS))
    for root in range(_ROOTS):
        draft.node(f"root-{root}", _TEXT, "", origin=Origin.SOURCE)
    for middle in range(_ROOTS // _WIDTH):
        name = draft.node(f"middle-{middle}", _TEXT, "", origin=Origin.GENERATED)
        for root in range(middle * _WIDTH, middle * _WIDTH + _WIDTH):
            draft.edge(f"root-{root}", name, "")
    final = draft.node("final", _TEXT, "", origin=Origin.GENERATED)
    for middle in range(_ROOTS // _WIDTH):
        draft.edge(f"middle-{middle}", final, "")
    draft.claims.append(ClaimRecord("It reads this sentence.", "", "claim", final))
    return draft


async def _verify(store: Store, number: int) -> None:
    """Read what a walk reads, and write what it found."""
    process = await store.processes.get(PROCESS)
    (claim,) = await store.claims.by_id(PROCESS, ["claim"])
    final, _ = await store.reading.node(PROCESS, claim.node_id)
    middle = await store.reading.source_nodes(PROCESS, [final.node_id], with_texts=True)
    names = [node.node_id for node in middle.nodes]
    roots = await store.reading.source_nodes(PROCESS, names, with_texts=True)
    await store.reading.candidates(PROCESS, names, [final.node_id])
    await store.reading.topology(PROCESS, process.nodes, process.edges)
    await store.reading.texts(PROCESS, names)
    rounds = tuple(_iteration(at + 1, read.nodes) for at, read in enumerate((middle, roots)))
    await store.trails.write(_verification(number, claim, rounds))
    await store.claims.judged(PROCESS, [claim.claim_id])


def _iteration(number: int, nodes: Sequence[NodeRef]) -> Iteration:
    sentence = _TEXT.partition(". ")[0]
    cited = tuple(
        CitedSentence.of(Sentence(node.node_id, 0, 0, len(sentence), sentence)) for node in nodes
    )
    return Iteration(
        number=number,
        verdict=Verdict.FULLY_SUPPORTED,
        reasoning="It is there.",
        checked=tuple(nodes),
        summaries=(Evidence(text="What they say.", sentences=cited),),
    )


def _verification(number: int, claim: Claim, rounds: tuple[Iteration, ...]) -> Verification:
    return Verification.of_claim(
        claim,
        verification_id=f"v-{PROCESS}-{number}",
        process_id=PROCESS,
        q=len(rounds),
        engine="lexical",
        model=None,
        indicative=True,
        created_at=now(),
        status=Status.SUCCEEDED,
        verdict=Verdict.FULLY_SUPPORTED,
        reasoning="It is there.",
        termination=Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
        iterations=rounds,
        paths=tuple(
            EvidencePath(source=node.node_id, target=claim.node_id, iteration=one.number)
            for one in rounds
            for node in one.checked
        ),
    )

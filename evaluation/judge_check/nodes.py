"""Pairs as one process of two stages in memory: source nodes, and an answer node a claim."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.evaluation.held_process import HeldProcess
from veritrail_graph.evaluation.judge_check.pairs import Pair
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import ClaimRecord, Header
from veritrail_graph.graph.model import Origin
from veritrail_graph.verifier.driver import Task

PROCESS = "judge-check"


def held_pairs(pairs: Sequence[Pair]) -> HeldProcess:
    """The process of these pairs; the claim of pair number n is called `pn`.

    Raises:
        InvalidProcess: A text is longer than a node's may be.
    """
    draft = Draft(Header(PROCESS, PROCESS))
    for number, pair in enumerate(pairs, start=1):
        where = f"pair {pair.pair_id}"
        answer = draft.node(
            f"p{number}/answer", pair.claim, where, origin=Origin.GENERATED, stage=2
        )
        for place, text in enumerate(pair.source, start=1):
            name = f"p{number}/source/{place}"
            draft.edge(draft.node(name, text, where, origin=Origin.SOURCE, stage=1), answer, where)
        draft.claims.append(ClaimRecord(pair.claim, where, f"p{number}", answer))
    return HeldProcess.read(draft)


def tasks_of(process: HeldProcess) -> list[Task]:
    """The claims of these pairs, to be verified, in the order of the pairs."""
    claims = {claim.claim_id: claim for claim in process.claims}
    named = [claims[f"p{number}"] for number in range(1, len(claims) + 1)]
    return [
        Task(claim, process.node(claim.node_id), place=place)
        for place, claim in enumerate(named, start=1)
    ]

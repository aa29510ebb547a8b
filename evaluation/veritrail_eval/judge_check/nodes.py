"""Pairs as one process of two stages in memory: source nodes, and an answer node a claim."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_eval.judge_check.pairs import Pair
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import ClaimRecord, Header
from veritrail_graph.graph.model import Origin
from veritrail_graph.verifier.driver import Task
from veritrail_graph.verifier.held_process import HeldProcess

PROCESS = "judge-check"


def held_pairs(pairs: Sequence[Pair], together: int = 1) -> HeldProcess:
    """The process of these pairs; the claim of pair number n is called `pn`.

    Args:
        pairs: The pairs.
        together: So many pairs in a row have their sources in one frontier, each source once: the
            claims of all of them read the sources of all of them.

    Raises:
        InvalidProcess: A text is longer than a node's may be.
    """
    draft = Draft(Header(PROCESS, PROCESS))
    for first in range(0, len(pairs), together):
        sources: dict[str, str] = {}  # names by text
        answers: list[tuple[str, str]] = []
        for number, pair in enumerate(pairs[first : first + together], start=first + 1):
            where = f"pair {pair.pair_id}"
            answer = draft.node(
                f"p{number}/answer", pair.claim, where, origin=Origin.GENERATED, stage=2
            )
            answers.append((answer, where))
            for place, text in enumerate(pair.source, start=1):
                if text not in sources or together == 1:
                    name = f"p{number}/source/{place}"
                    made = draft.node(name, text, where, origin=Origin.SOURCE, stage=1)
                    sources[text if together > 1 else name] = made
            draft.claims.append(ClaimRecord(pair.claim, where, f"p{number}", answer))
        for answer, where in answers:
            for name in sources.values():
                draft.edge(name, answer, where)
    return HeldProcess.read(draft)


def tasks_of(process: HeldProcess) -> list[Task]:
    """The claims of these pairs, to be verified, in the order of the pairs."""
    claims = {claim.claim_id: claim for claim in process.claims}
    named = [claims[f"p{number}"] for number in range(1, len(claims) + 1)]
    return [
        Task(claim, process.node(claim.node_id), place=place)
        for place, claim in enumerate(named, start=1)
    ]

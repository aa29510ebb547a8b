"""Many stored verifications of the generated process, as walks of the paper's size leave them.

Source: VeriTrail 3.2, B.2.1 (claims and stages of the runs that are imitated).
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import dag
from benchmarks.walking import claim_number
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    EvidencePath,
    Iteration,
    NodeRef,
    Role,
    Sentence,
    Status,
    StepRecord,
    Termination,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.graph.store import DatabaseAddress, open_store

VERIFICATIONS = 560
AT_A_TIME = 8
# How many of twenty claims end this way; the rest has no verdict yet, or none at all.
VERDICTS = (
    *(Verdict.FULLY_SUPPORTED,) * 9,
    *(Verdict.NOT_FULLY_SUPPORTED,) * 7,
    *(Verdict.INCONCLUSIVE,) * 3,
)
UNFINISHED = (Status.FAILED, Status.CANCELLED, Status.OVER_BUDGET, Status.RUNNING)
EVIDENCE_NODES = 4
SENTENCES = 2


@dataclass(frozen=True, slots=True)
class Walkable:
    """The generated process in memory: what the walk would read."""

    sources: dict[str, list[NodeRef]]
    terminal: NodeRef

    @classmethod
    def of(cls, scale: float) -> Walkable:
        """The process that `dag.write` writes at this scale."""
        shape = dag.Shape.of(scale)
        refs: dict[str, NodeRef] = {}
        for stage, count in enumerate(shape.stages):
            role = Role.ROOT if stage == 0 else Role.INTERMEDIATE
            role = Role.TERMINAL if stage == len(shape.stages) - 1 else role
            for place in range(count):
                name = dag.node_id(stage, place)
                refs[name] = NodeRef(name, stage + 1, len(refs), role)
        sources: dict[str, list[NodeRef]] = defaultdict(list)
        for source, target in dag.edges(shape):
            sources[target].append(refs[source])
        return cls(dict(sources), next(reversed(refs.values())))


async def fill(
    login: dict[str, Any],
    scale: float,
    process_id: str,
    count: int = VERIFICATIONS,
    first: int = 0,
) -> dict[str, float]:
    """Store as many claims as verifications, and the verifications.

    Args:
        login: The engine.
        scale: The scale at which the process was written.
        process_id: The process.
        count: How many there are.
        first: The number of the first claim and of its verification.

    Returns:
        How many sentences they cite, how many nodes they read, and how many seconds they took to
        be stored.
    """
    walkable = Walkable.of(scale)
    claims = [claim_number(number, walkable.terminal) for number in range(first, first + count)]
    async with open_store(DatabaseAddress(**login)) as store:
        content_hash = (await store.processes.get(process_id)).content_hash
        made = [
            one.replace(content_hash=content_hash)  # as every run says it
            for one in verifications(walkable, process_id, claims, first)
        ]
        await store.claims.add(process_id, claims)
        begin = time.perf_counter()
        for start in range(0, len(made), AT_A_TIME):
            await store.trails.write(*made[start : start + AT_A_TIME])
        seconds = time.perf_counter() - begin
    rounds = [iteration for verification in made for iteration in verification.iterations]
    return {
        "seconds": seconds,
        "verifications": len(made),
        "checked": sum(len(iteration.checked) for iteration in rounds),
        "cited": sum(len(found.sentences) for each in rounds for found in each.summaries),
    }


def verifications(
    walkable: Walkable, process_id: str, claims: Sequence[Claim], first: int = 0
) -> Iterator[Verification]:
    """One verification a claim, always the same ones."""
    draw = random.Random("trails")  # nothing secret
    for number, claim in enumerate(claims, first):
        place = number % 20
        iterations, paths = _walk(walkable, draw)
        done = place < len(VERDICTS)
        verdict = VERDICTS[place] if done else None
        # A verification that failed stopped half-way.
        kept = iterations if done else iterations[: len(iterations) // 2]
        links = paths if done else []
        error_nodes: tuple[NodeRef, ...] = ()
        if verdict is Verdict.NOT_FULLY_SUPPORTED:
            error_nodes = draw.choice(kept[:4]).nodes_with_evidence[:2]
        yield Verification.of_claim(
            claim,
            verification_id=f"v-queries-{number}",
            process_id=process_id,
            q=3,
            engine="fixed",
            model="none",
            indicative=True,
            created_at=f"2026-01-01T{number // 60 % 24:02}:{number % 60:02}:00.000000Z",
            status=Status.SUCCEEDED if done else UNFINISHED[number // 20 % len(UNFINISHED)],
            verdict=verdict,
            reasoning="The reasons for it." if done else None,
            termination=Termination.NO_CANDIDATES if done else None,
            iterations=tuple(kept),
            paths=tuple(links),
            error_nodes=error_nodes,
            propagated_nodes=(walkable.terminal,) if error_nodes else (),
            error=None if done else "The model was away.",
            steps=_steps(kept),
        )


def _walk(walkable: Walkable, draw: random.Random) -> tuple[list[Iteration], list[EvidencePath]]:
    """Rounds from the terminal node to the roots, with a few nodes of each as evidence."""
    iterations: list[Iteration] = []
    paths: list[EvidencePath] = []
    found = [walkable.terminal]
    seen: set[str] = set()
    while True:
        frontier: dict[str, list[str]] = defaultdict(list)
        refs: dict[str, NodeRef] = {}
        for target in found:
            for ref in walkable.sources.get(target.node_id, ()):
                frontier[ref.node_id].append(target.node_id)
                refs[ref.node_id] = ref
        checked = sorted((r for r in refs.values() if r.node_id not in seen), key=_order)
        if not checked:
            return iterations, paths
        seen.update(ref.node_id for ref in checked)
        found = sorted(draw.sample(checked, min(EVIDENCE_NODES, len(checked))), key=_order)
        number = len(iterations) + 1
        cited = tuple(
            CitedSentence.of(
                Sentence(ref.node_id, index, index * 20, index * 20 + 20, "So it says.")
            )
            for ref in found
            for index in sorted(draw.sample(range(6), SENTENCES))
        )
        evidence = (Evidence(text="What they say together.", sentences=cited),)
        iterations.append(
            Iteration(
                number=number,
                verdict=Verdict.FULLY_SUPPORTED,
                reasoning="So it is.",
                checked=tuple(checked),
                summaries=evidence,
            )
        )
        paths += [
            EvidencePath(source=ref.node_id, target=target, iteration=number)
            for ref in found
            for target in frontier[ref.node_id]
        ]


def _order(ref: NodeRef) -> tuple[int, int]:
    return ref.stage, ref.position


def _steps(iterations: Sequence[Iteration]) -> tuple[StepRecord, ...]:
    usage = Usage(
        calls=3,
        cached_calls=1,
        input_tokens=9_000,
        cached_input_tokens=4_000,
        output_tokens=300,
        cost_usd=0.01,
    )
    return tuple(
        StepRecord(
            iteration=iteration.number,
            step=step,
            prompt=f"{step}.v1",
            prompt_hash="0f" * 32,
            model="none",
            temperature=0.0,
            usage=usage,
        )
        for iteration in iterations
        for step in ("evidence_selection", "verdict")
    )

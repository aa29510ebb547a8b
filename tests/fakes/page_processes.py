"""Processes with trails that are too large to make by hand, for tests of pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from fakes.processes import MemoryInput
from fakes.settings_of import settings_of

from veritrail_graph.api.configured.graph_connection import open_graph
from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.ingest import ingest
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
    Termination,
    Verdict,
    Verification,
)

WORDS = ("First it says this. ", "Then it says that. ", "In between it rains. ", "At last it ends.")


def store_process(
    environ: Mapping[str, str],
    process_id: str,
    nodes: Mapping[str, str],
    edges: Iterable[tuple[str, str]],
    claims: Iterable[ClaimRecord],
    verifications: Iterable[Verification] = (),
    **header: Any,
) -> None:
    """Store a process with verifications as a run leaves them."""

    async def work() -> None:
        async with open_graph(settings_of(environ)) as store:
            source = MemoryInput(
                [NodeRecord(name, text, "nodes") for name, text in nodes.items()],
                [EdgeRecord(source, target, "edges") for source, target in edges],
                list(claims),
                Header("memory", process_id=process_id, **header),
            )
            await ingest(store, source)
            made = list(verifications)
            if made:
                await store.trails.write(*made)

    asyncio.run(work())


def verification(process_id: str, claim: Claim, name: str, **other: Any) -> Verification:
    """A verification by a model that succeeded, but for what is said otherwise."""
    facts: dict[str, Any] = {
        "q": 3,
        "engine": "openai",
        "model": "a-model",
        "indicative": False,
        "created_at": "2026-01-31T09:30:00.000000Z",
        "status": Status.SUCCEEDED,
        "verdict": Verdict.NOT_FULLY_SUPPORTED,
        **other,
    }
    return Verification.of_claim(
        claim, verification_id=f"{process_id}-{name}", process_id=process_id, **facts
    )


def a_hub(process_id: str, sources: int, cited: int) -> tuple[dict[str, str], Verification]:
    """Texts of a node with sources, and its trail: four sentences of some of them each."""
    texts = {f"r{n}": f"Source {n}. {''.join(WORDS)}" for n in range(sources)} | {"t": "It is so."}
    refs = tuple(NodeRef(f"r{n}", 1, n, Role.ROOT) for n in range(sources))
    evidence = []
    for n in range(cited):
        begin, sentences = len(f"Source {n}. "), []
        for index, words in enumerate(WORDS, start=1):
            found = Sentence(f"r{n}", index, begin, begin + len(words.strip()), words.strip())
            sentences.append(CitedSentence.of(found))
            begin += len(words)
        evidence.append(
            Evidence(text=f"Summary of {n}.", missing="the colour", sentences=tuple(sentences))
        )
    iteration = Iteration(
        number=1,
        verdict=Verdict.NOT_FULLY_SUPPORTED,
        reasoning="Why. " * 50,
        checked=refs,
        carried_roots=(),
        summaries=tuple(evidence),
    )
    return texts, verification(
        process_id,
        Claim(claim_id="k1", text="It is so.", node_id="t"),
        "hub",
        termination=Termination.NO_CANDIDATES,
        reasoning="Not all of it.",
        iterations=(iteration,),
        paths=tuple(EvidencePath(source=f"r{n}", target="t", iteration=1) for n in range(cited)),
    )


def a_heavy_trail(process_id: str) -> tuple[dict[str, str], Verification]:
    """Six layers of six nodes, all with evidence, all linked, and every text of angle brackets."""
    words = "<" * 3_000
    layers = [[f"{layer}/{'x' * 60}/{n}" for n in range(6)] for layer in range(1, 7)]
    texts = {name: f"{words} {words} {words}" for names in layers for name in names}
    texts["t"] = f"{words} {words}"
    iterations, paths, place = [], [], 0
    for number, layer in enumerate(reversed(layers), start=1):
        stage = 7 - number
        role = Role.ROOT if stage == 1 else Role.INTERMEDIATE
        refs = tuple(NodeRef(name, stage, place + n, role) for n, name in enumerate(layer))
        place += len(layer)
        found = tuple(
            Evidence(
                text=words,
                missing=words,
                sentences=tuple(
                    CitedSentence.of(Sentence(name, n, n * 3_001, n * 3_001 + 3_000, words))
                    for n in range(3)
                ),
            )
            for name in layer
        )
        iterations.append(
            Iteration(
                number=number,
                verdict=Verdict.FULLY_SUPPORTED,
                reasoning=words * 4,
                checked=refs,
                carried_roots=(),
                summaries=found,
            )
        )
        targets = ["t"] if number == 1 else layers[stage]
        paths += [
            EvidencePath(source=source, target=target, iteration=number)
            for source in layer
            for target in targets
        ]
    return texts, verification(
        process_id,
        Claim(claim_id="k1", text=words, node_id="t", sub_claims=(words,) * 30),
        "heavy",
        reasoning=words * 4,
        iterations=tuple(iterations),
        paths=tuple(paths),
    )

"""One small process with everything that the query library can be asked about.

    c1   c2   HOSTILE     stage 1, roots
      \\ /  \\ /
      s1    s2            stage 2
        \\  / |
         m1   |           stage 3
           \\ |
            t             stage 4, terminal

- `k1` is fully supported, after a first round that found nothing: s1 is evidence for t via m1.
- `k2` is not supported, its error came in at s2 and m1; an older verification said otherwise,
  and a newer one failed.
- `k3` is inconclusive.
- `k4` is a claim of m1 that nobody verified.
- `k5` is not supported by anything, so that its error came in at t itself.

And what people said of it, where a test asks for that: Ada confirms k1, calls k3 unclear, and
overrides k2, first by the latest verdict and then by reading the old verification again; Bo
confirms k2 and overrides k5.
"""

from __future__ import annotations

from itertools import pairwise

from fakes.processes import MemoryInput

from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    EvidencePath,
    EvidenceRole,
    Iteration,
    NodeRef,
    Review,
    ReviewVerdict,
    Role,
    Sentence,
    Status,
    StepRecord,
    Termination,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.graph.store import Store

HOSTILE = "c3'\"}) DETACH DELETE n //"
"""A node_id that would end a string, a map and a pattern, were it ever put into one."""

TEXTS = {
    "c1": "The harbour opened in 1901. The Docks Company built it.",
    "c2": "In 2024 the harbour handled 310 ships. Traffic fell in winter.",
    HOSTILE: "The quay was closed in May.",
    "s1": "It opened in 1901. It handled 310 ships in 2024.",
    "s2": "Some 320 ships came. " + "😀" * 250,
    "m1": "Opened in 1901, the harbour handled 320 ships in 2024.",
    "t": "The harbour, opened in 1901, handled 320 ships in 2024 and won a prize.",
}
EDGES = [
    ("c1", "s1", True),
    ("c2", "s1", False),
    ("c2", "s2", None),
    (HOSTILE, "s2", None),
    ("s1", "m1", None),
    ("s2", "m1", None),
    ("s2", "t", None),
    ("m1", "t", None),
]
CLAIMS = {
    "k1": ("The harbour opened in 1901.", "t"),
    "k2": ("The harbour handled 320 ships in 2024.", "t"),
    "k3": ("The harbour is old.", "t"),
    "k4": ("The harbour handled ships.", "m1"),
    "k5": ("The harbour won a prize.", "t"),
}
REFS = {
    name: NodeRef(name, stage, position, Role(role))
    for position, (name, stage, role) in enumerate(
        [
            ("c1", 1, "root"),
            ("c2", 1, "root"),
            (HOSTILE, 1, "root"),
            ("s1", 2, "intermediate"),
            ("s2", 2, "intermediate"),
            ("m1", 3, "intermediate"),
            ("t", 4, "terminal"),
        ]
    )
}


async def store_harbour(store: Store, process_id: str) -> None:
    """Store the process with its verifications; their ids are `process_id/v…`."""
    await ingest(store, _process(process_id))
    for verification in _verifications(process_id):
        await store.trails.write(verification)


async def store_reviews(store: Store, process_id: str) -> None:
    """Store what people said of the process; the ids of the reviews are `process_id/r…`."""
    fs, nfs, inc = Verdict
    said: list[tuple[str, int, str, str, Verdict, str, str, str | None]] = [
        ("k1", 5, "Ada", "v1", fs, fs, "", None),
        ("k2", 5, "Ada", "v2", nfs, fs, "It counts boats.", None),
        ("k2", 6, "Bo", "v2", nfs, nfs, "310 it is.", "desk"),
        ("k2", 7, "Ada", "v2-old", fs, fs, "m1 says so.", None),
        ("k3", 5, "Ada", "v3", inc, "UNCLEAR", "What is old?", None),
        ("k5", 6, "Bo", "v5", nfs, inc, "No list of prizes.", "desk"),
    ]
    reviews = [
        Review(
            review_id=f"{process_id}/r{number}",
            process_id=process_id,
            claim_id=claim_id,
            claim=CLAIMS[claim_id][0],
            verdict=ReviewVerdict(verdict),
            reviewer=reviewer,
            created_at=f"2026-01-{day:02}T00:00:00.000000Z",
            reason=reason,
            overrides=f"{process_id}/{verification}",
            model_verdict=model_verdict,
            recorded_by=recorded_by,
        )
        for number, (
            claim_id,
            day,
            reviewer,
            verification,
            model_verdict,
            verdict,
            reason,
            recorded_by,
        ) in enumerate(said, start=1)
    ]
    assert await store.reviews.restore(process_id, reviews) == len(reviews)


async def store_ladder(store: Store, process_id: str, depth: int) -> None:
    """Store two nodes a stage, each made from both before it, all of them evidence for one claim.

    There are 2 ** depth paths from the roots to the terminal node.
    """
    stages = [[f"a{number}", f"b{number}"] for number in range(depth)] + [["t"]]
    links = [
        (source, target)
        for before, after in pairwise(stages)
        for target in after
        for source in before
    ]
    names = [name for stage in stages for name in stage]
    source = MemoryInput(
        [NodeRecord(name, f"{name}.", name) for name in names],
        [EdgeRecord(u, v, u) for u, v in links],
        [ClaimRecord("Up it goes.", "k", claim_id="k")],
        Header("memory", process_id),
    )
    await ingest(store, source)
    iterations = []
    for number, stage in enumerate(reversed(stages[:-1]), start=1):
        role = Role.ROOT if number == depth else Role.INTERMEDIATE
        refs = tuple(NodeRef(u, depth + 1 - number, names.index(u), role) for u in stage)
        found = Evidence(
            text="summary", missing=None, sentences=tuple(_cite(u, 0, f"{u}.") for u in stage)
        )
        iterations.append(
            Iteration(
                number=number,
                verdict=Verdict.FULLY_SUPPORTED,
                reasoning="yes",
                checked=refs,
                carried_roots=(),
                summaries=(found,),
            )
        )
    number_of = {ref.node_id: round_.number for round_ in iterations for ref in round_.checked}
    verification = Verification.of_claim(
        Claim(claim_id="k", text="Up it goes.", node_id="t"),
        verification_id=f"{process_id}/v",
        process_id=process_id,
        q=3,
        engine="lexical",
        model=None,
        indicative=True,
        created_at="2026-01-01T00:00:00.000000Z",
        status=Status.SUCCEEDED,
        verdict=Verdict.FULLY_SUPPORTED,
        reasoning="yes",
        iterations=tuple(iterations),
        paths=tuple(EvidencePath(source=u, target=v, iteration=number_of[u]) for u, v in links),
    )
    await store.trails.write(verification)


def _process(process_id: str) -> MemoryInput:
    about = {
        "m1": ("draft", "write", {"model": "writer-1", "prompt": "Write it up."}),
        "s2": ("summary", "summarise", {"model": "writer-0"}),
    }
    return MemoryInput(
        [
            NodeRecord(name, text, name, None, *about.get(name, ("text", None, {})))
            for name, text in TEXTS.items()
        ],
        [EdgeRecord(source, target, source, cited) for source, target, cited in EDGES],
        [ClaimRecord(text, key, key, node) for key, (text, node) in CLAIMS.items()],
        Header("memory", process_id, terminals=("t",)),
    )


def _verifications(process_id: str) -> list[Verification]:
    def verification(name: str, claim_id: str, day: int, **rest: object) -> Verification:
        text, node_id = CLAIMS[claim_id]
        values: dict[str, object] = {
            "verification_id": f"{process_id}/{name}",
            "process_id": process_id,
            "claim_id": claim_id,
            "claim": text,
            "node_id": node_id,
            "q": 2,
            "engine": "lexical",
            "model": None,
            "indicative": True,
            "created_at": f"2026-01-{day:02}T00:00:00.000000Z",
            "status": Status.SUCCEEDED,
            **rest,
        }
        return Verification(**values)  # type: ignore[arg-type]

    return [
        verification(
            "v1",
            "k1",
            1,
            verdict=Verdict.FULLY_SUPPORTED,
            reasoning="c1 says so.",
            termination=Termination.NO_CANDIDATES,
            iterations=(
                _round(1, Verdict.NOT_FULLY_SUPPORTED, ["s2", "m1"]),
                _round(
                    2,
                    Verdict.FULLY_SUPPORTED,
                    ["c2", HOSTILE, "s1"],
                    Evidence(
                        text="It opened in 1901.", missing=None, sentences=(_sentence("s1", 0),)
                    ),
                ),
                _round(
                    3,
                    Verdict.FULLY_SUPPORTED,
                    ["c1"],
                    Evidence(
                        text="Opened in 1901.",
                        missing="Who opened it.",
                        sentences=(_sentence("c1", 0), _sentence("c1", 1, EvidenceRole.CONTEXT)),
                    ),
                ),
            ),
            paths=(
                EvidencePath(source="s1", target="t", iteration=2, via=("m1",)),
                EvidencePath(source="c1", target="s1", iteration=3),
            ),
        ),
        verification(
            "v2-old",
            "k2",
            1,
            verdict=Verdict.FULLY_SUPPORTED,
            reasoning="m1 says so.",
            termination=Termination.NO_CANDIDATES,
            iterations=(
                _round(
                    1,
                    Verdict.FULLY_SUPPORTED,
                    ["s2", "m1"],
                    Evidence(text="320 ships.", missing=None, sentences=(_sentence("m1", 0),)),
                ),
            ),
            paths=(EvidencePath(source="m1", target="t", iteration=1),),
        ),
        verification(
            "v2",
            "k2",
            2,
            engine="openai",
            model="judge-1",
            indicative=False,
            verdict=Verdict.NOT_FULLY_SUPPORTED,
            reasoning="It was 310.",
            termination=Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
            iterations=(
                _round(
                    1,
                    Verdict.FULLY_SUPPORTED,
                    ["s2", "m1"],
                    Evidence(
                        text="320 ships.",
                        missing=None,
                        sentences=(_sentence("s2", 0), _sentence("m1", 0)),
                    ),
                ),
                _round(
                    2,
                    Verdict.NOT_FULLY_SUPPORTED,
                    ["c2", HOSTILE, "s1"],
                    Evidence(
                        text="310 ships in 2024.", missing=None, sentences=(_sentence("c2", 0),)
                    ),
                    Evidence(
                        text="310 ships.", missing="The source.", sentences=(_sentence("s1", 1),)
                    ),
                ),
            ),
            paths=(
                EvidencePath(source="s2", target="m1", iteration=1),
                EvidencePath(source="s2", target="t", iteration=1),
                EvidencePath(source="m1", target="t", iteration=1),
                EvidencePath(source="c2", target="s1", iteration=2),
                EvidencePath(source="c2", target="s2", iteration=2),
                EvidencePath(source="s1", target="m1", iteration=2),
            ),
            error_nodes=(REFS["s2"], REFS["m1"]),
            propagated_nodes=(REFS["t"],),
            steps=(
                _step(
                    1,
                    "evidence_selection",
                    Usage(
                        calls=2,
                        cached_calls=1,
                        input_tokens=100,
                        cached_input_tokens=50,
                        output_tokens=20,
                        cost_usd=0.25,
                    ),
                ),
                _step(
                    1,
                    "verdict",
                    Usage(
                        calls=1,
                        cached_calls=0,
                        input_tokens=40,
                        cached_input_tokens=0,
                        output_tokens=10,
                        cost_usd=0.5,
                    ),
                ),
                _step(
                    2,
                    "evidence_selection",
                    Usage(
                        calls=1,
                        cached_calls=0,
                        input_tokens=60,
                        cached_input_tokens=10,
                        output_tokens=5,
                        cost_usd=0.5,
                    ),
                ),
            ),
        ),
        verification(
            "v2-failed",
            "k2",
            3,
            status=Status.FAILED,
            error="The model was away.",
            steps=(
                _step(0, "sub_claim_decomposition", Usage(calls=0, cached_calls=1)),
                _step(
                    1,
                    "evidence_selection",
                    Usage(
                        calls=1,
                        cached_calls=0,
                        input_tokens=9,
                        cached_input_tokens=0,
                        output_tokens=1,
                        cost_usd=0.125,
                    ),
                ),
                _step(
                    1,
                    "verdict",
                    Usage(
                        calls=1,
                        cached_calls=0,
                        input_tokens=8,
                        cached_input_tokens=0,
                        output_tokens=1,
                        cost_usd=None,
                        reasoning_tokens=0,
                        unpriced_calls=1,
                    ),
                ),
            ),
        ),
        verification(
            "v3",
            "k3",
            1,
            verdict=Verdict.INCONCLUSIVE,
            reasoning="Old is vague.",
            termination=Termination.NO_CANDIDATES,
            iterations=(
                _round(
                    1,
                    Verdict.INCONCLUSIVE,
                    ["s2", "m1"],
                    Evidence(
                        text="From 1901.",
                        missing="What counts as old.",
                        sentences=(_sentence("m1", 0),),
                    ),
                ),
                _round(2, Verdict.INCONCLUSIVE, ["s1"]),
            ),
            paths=(EvidencePath(source="m1", target="t", iteration=1),),
        ),
        verification(
            "v5",
            "k5",
            1,
            verdict=Verdict.NOT_FULLY_SUPPORTED,
            reasoning="Nothing on a prize.",
            termination=Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED,
            iterations=(
                _round(1, Verdict.NOT_FULLY_SUPPORTED, ["s2", "m1"]),
                _round(2, Verdict.NOT_FULLY_SUPPORTED, ["c2", HOSTILE, "s1"]),
            ),
            error_nodes=(REFS["t"],),
        ),
    ]


def _step(iteration: int, step: str, usage: Usage) -> StepRecord:
    return StepRecord(
        iteration=iteration,
        step=step,
        prompt=f"{step}.v1",
        prompt_hash="0f" * 32,
        model="judge-1",
        temperature=0.0,
        usage=usage,
    )


def _round(number: int, verdict: Verdict, checked: list[str], *evidence: Evidence) -> Iteration:
    return Iteration(
        number=number,
        verdict=verdict,
        reasoning="because",
        checked=tuple(REFS[n] for n in checked),
        carried_roots=(),
        summaries=evidence,
    )


def _sentence(
    node_id: str, index: int, role: EvidenceRole = EvidenceRole.EVIDENCE
) -> CitedSentence:
    sentences = TEXTS[node_id].split(". ")
    text = sentences[index] + ("" if sentences[index].endswith(".") else ".")
    return _cite(node_id, index, text, role, start=TEXTS[node_id].index(text))


def _cite(
    node_id: str,
    index: int,
    text: str,
    role: EvidenceRole = EvidenceRole.EVIDENCE,
    start: int = 0,
) -> CitedSentence:
    return CitedSentence.of(Sentence(node_id, index, start, start + len(text), text), role)

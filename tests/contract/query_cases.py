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

from fakes.processes import MemoryInput, process
from fakes.trails import LEXICAL, a_round, a_step, a_trail, cited, found, path, spent

from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    Iteration,
    NodeRef,
    Review,
    ReviewVerdict,
    Role,
    Status,
    StepRecord,
    Termination,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.attribution import NodeAttribution
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


ATTRIBUTED = {
    "m1": [("s1", 0, "It opened in 1901.", ["EVIDENCE"]),
           ("s1", 1, "It handled 310 ships in 2024.", ["CONTRADICTION"]),
           ("s2", 0, "Some 320 ships came.", ["EVIDENCE"])],
    "t": [("m1", 0, TEXTS["m1"], ["EVIDENCE", "EXPECTED_SPAN"])],
    "s2": [],
}  # fmt: skip
"""What the first sentence of some nodes is attributed to."""
LABELS = {
    "m1": ("UNFAITHFUL", "FAITHFUL", None),
    "t": ("UNFAITHFUL", "UNFAITHFUL", "The harbour opened in 1901."),
    "s2": ("UNFAITHFUL", None, None),
}
"""Implied label, judged label and correction of each of them."""
REVISIONS = [
    {"text": "The harbour opened.", "mode": "plain", "edits": 2, "outcome": "partly",
     "rechecked_by": "walk", "claims": 2, "supported": 1, "rank": 2},
    {"text": "The harbour opened in 1901.", "mode": "attribution", "edits": 3, "outcome": "fixed",
     "rechecked_by": "walk", "claims": 1, "supported": 1, "rank": 1},
]  # fmt: skip
"""What was proposed for each with a correction."""


async def store_attributions(store: Store, process_id: str) -> None:
    """Store what the first sentences of some nodes rest on, found in the run `process_id/a1`."""
    nodes = []
    for node_id, sources in ATTRIBUTED.items():
        text = TEXTS[node_id].split("!")[0]
        attributed = [
            {
                "node_id": source,
                "sentence": number,
                "start": TEXTS[source].index(said),
                "end": TEXTS[source].index(said) + len(said),
                "text": said,
                "categories": categories,
            }
            for source, number, said, categories in sources
        ]
        implied, judged, correction = LABELS[node_id]
        sentence = {
            "sentence": 0,
            "start": 0,
            "end": len(text),
            "text": text,
            "status": "succeeded",
            "attributed": attributed,
            "implied_label": implied,
            "judged_label": judged,
            "correction": correction,
            "revisions": REVISIONS if correction is not None else [],
            "propositions": []
            if node_id != "m1"
            else [
                {
                    "spans": [[0, 3]],
                    "text": text[:3],
                    "attributed": attributed[:1],
                    "implied_label": "FAITHFUL",
                },
                {
                    "spans": [[0, 3], [5, 9]],
                    "text": "a … b",
                    "attributed": attributed[1:2],
                    "implied_label": "UNFAITHFUL",
                },
            ],
        }
        nodes.append(NodeAttribution.model_validate({"node_id": node_id, "sentences": [sentence]}))
    hash_ = (await store.processes.get(process_id)).content_hash
    run = {"run": f"{process_id}/a1", "engine": "openai", "indicative": False}
    await store.attributions.write(process_id, hash_, nodes, **run, corrects=True)


async def store_ladder(store: Store, process_id: str, depth: int) -> None:
    """Store two nodes a stage, each made from both before it, all of them evidence for one claim.

    There are 2 ** depth paths from the roots to the terminal node.
    """
    stages = [[f"a{number}", f"b{number}"] for number in range(depth)] + [["t"]]
    steps = pairwise(stages)
    links = [(u, v) for before, after in steps for v in after for u in before]
    names = [name for stage in stages for name in stage]
    source = process(
        {n: f"{n}." for n in names}, links, {"k": "Up it goes."}, process_id=process_id
    )
    await ingest(store, source)
    iterations, number_of = [], {}
    for number, stage in enumerate(reversed(stages[:-1]), start=1):
        role = Role.ROOT if number == depth else Role.INTERMEDIATE
        refs = [NodeRef(u, depth + 1 - number, names.index(u), role) for u in stage]
        evidence = found("summary", *(cited(u, 0, 0, f"{u}.") for u in stage))
        iterations.append(a_round(number, Verdict.FULLY_SUPPORTED, refs, [evidence]))
        number_of |= dict.fromkeys(stage, number)
    paths = tuple(path(u, v, number_of[u]) for u, v in links)
    claim = Claim(claim_id="k", text="Up it goes.", node_id="t")
    facts = {"process_id": process_id, "claim": claim, "paths": paths, **LEXICAL}
    await store.trails.write(a_trail(f"{process_id}/v", *iterations, **facts))


async def store_dead_end(store: Store, process_id: str) -> None:
    """Store a trail with evidence in two summaries, and in the source of only the second."""
    names = ["c1", "c2", "s1", "s2", "t"]
    links = [("c1", "s1"), ("c2", "s2"), ("s1", "t"), ("s2", "t")]
    source = process({n: f"{n}." for n in names}, links, {"k": "So it is."}, process_id=process_id)
    await ingest(store, source)
    iterations = []
    for number, found_in in enumerate((["s1", "s2"], ["c2"]), start=1):
        role = Role.ROOT if number == 2 else Role.INTERMEDIATE
        refs = [NodeRef(u, 3 - number, names.index(u), role) for u in found_in]
        evidence = found("summary", *(cited(u, 0, 0, f"{u}.") for u in found_in))
        iterations.append(a_round(number, Verdict.FULLY_SUPPORTED, refs, [evidence]))
    paths = (path("s1", "t", 1), path("s2", "t", 1), path("c2", "s2", 2))
    claim = Claim(claim_id="k", text="So it is.", node_id="t")
    facts = {"process_id": process_id, "claim": claim, "paths": paths, **LEXICAL}
    await store.trails.write(a_trail(f"{process_id}/v", *iterations, **facts))


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

    fs, nfs, inc = Verdict
    c1 = ("c2", HOSTILE, "s1")
    first = "Opened in 1901."
    both = (_sentence("c1", 0), _sentence("c1", 1, "context"))
    m1 = found("320 ships.", _sentence("m1", 0))
    selection, judging = "evidence_selection", "verdict"
    return [
        verification(
            "v1",
            "k1",
            1,
            verdict=fs,
            reasoning="c1 says so.",
            termination=Termination.NO_CANDIDATES,
            iterations=(
                _round(1, nfs, ("s2", "m1")),
                _round(2, fs, c1, found("It opened in 1901.", _sentence("s1", 0))),
                _round(3, fs, ("c1",), found(first, *both, missing="Who opened it.")),
            ),
            paths=(path("s1", "t", 2, "m1"), path("c1", "s1", 3)),
        ),
        verification(
            "v2-old",
            "k2",
            1,
            verdict=fs,
            reasoning="m1 says so.",
            termination=Termination.NO_CANDIDATES,
            iterations=(_round(1, fs, ("s2", "m1"), m1),),
            paths=(path("m1", "t", 1),),
        ),
        verification(
            "v2",
            "k2",
            2,
            engine="openai",
            model="judge-1",
            indicative=False,
            verdict=nfs,
            reasoning="It was 310.",
            termination=Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
            iterations=(
                _round(
                    1,
                    fs,
                    ("s2", "m1"),
                    found("320 ships.", _sentence("s2", 0), _sentence("m1", 0)),
                ),
                _round(
                    2,
                    nfs,
                    c1,
                    found("310 ships in 2024.", _sentence("c2", 0)),
                    found("310 ships.", _sentence("s1", 1), missing="The source."),
                ),
            ),
            paths=(
                *(path(source, target, 1) for source, target in (("s2", "m1"), ("s2", "t"))),
                path("m1", "t", 1),
                *(path(*ends, 2) for ends in (("c2", "s1"), ("c2", "s2"), ("s1", "m1"))),
            ),
            error_nodes=(REFS["s2"], REFS["m1"]),
            propagated_nodes=(REFS["t"],),
            steps=(
                _step(1, selection, spent(2, 1, (100, 50, 20), 0.25)),
                _step(1, judging, spent(1, 0, (40, 0, 10), 0.5)),
                _step(2, selection, spent(1, 0, (60, 10, 5), 0.5)),
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
                _step(1, selection, spent(1, 0, (9, 0, 1), 0.125)),
                _step(1, judging, spent(1, 0, (8, 0, 1), None, unpriced_calls=1)),
            ),
        ),
        verification(
            "v3",
            "k3",
            1,
            verdict=inc,
            reasoning="Old is vague.",
            termination=Termination.NO_CANDIDATES,
            iterations=(
                _round(
                    1,
                    inc,
                    ("s2", "m1"),
                    found("From 1901.", _sentence("m1", 0), missing="What counts as old."),
                ),
                _round(2, inc, ("s1",)),
            ),
            paths=(path("m1", "t", 1),),
        ),
        verification(
            "v5",
            "k5",
            1,
            reused_from=f"{process_id}/v2-old",
            reuse_reason="It reads the same.",
            saved_calls=3,
            verdict=nfs,
            reasoning="Nothing on a prize.",
            termination=Termination.MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED,
            iterations=(_round(1, nfs, ("s2", "m1")), _round(2, nfs, c1)),
            error_nodes=(REFS["t"],),
        ),
    ]


def _step(iteration: int, step: str, usage: Usage) -> StepRecord:
    return a_step(iteration, step, usage, prompt_hash="0f" * 32, model="judge-1")


def _round(
    number: int, verdict: Verdict, checked: tuple[str, ...], *evidence: Evidence
) -> Iteration:
    refs = [REFS[name] for name in checked]
    return a_round(number, verdict, refs, evidence, reasoning="because")


def _sentence(node_id: str, index: int, role: str = "evidence") -> CitedSentence:
    sentences = TEXTS[node_id].split(". ")
    text = sentences[index] + ("" if sentences[index].endswith(".") else ".")
    return cited(node_id, index, TEXTS[node_id].index(text), text, role)

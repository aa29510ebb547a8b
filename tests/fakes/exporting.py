"""A process that holds everything that an export must carry, with texts that hurt."""

from __future__ import annotations

import io
from typing import Any

from fakes.processes import MemoryInput
from fakes.trails import a_place, marked

from veritrail_graph.graph.exporters.openlineage import write_events
from veritrail_graph.graph.exporters.process_file import write_document, write_lines
from veritrail_graph.graph.exporters.prov import write_prov
from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    EvidencePath,
    EvidenceRole,
    Inference,
    Iteration,
    NodeRef,
    Origin,
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
from veritrail_graph.graph.model.attribution import NodeAttribution
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.export import StoredProcess

NASTY = (
    "=1+1\t\"quoted\", 'single' \\ back\\u0041slash \\n\r\nnew line\rreturn\n\n"
    "\x01\x1f\x7f\x85\u2028\u2029 \u202eright to left\u202c \u200bhidden "
    "😀 e\u0301 \ufdd1 ]]> <b>&amp;</b> $limit ${x} `tick` -- /* */ // ;\n"
)
ROOT = "a'\"\\ 😀\n]]><\u202e"
A = NodeRef(ROOT, 1, 0, Role.ROOT)
S = NodeRef("$limit", 2, 1, Role.INTERMEDIATE)
T = NodeRef("t;|", 3, 2, Role.TERMINAL)
VERDICT = Verdict.NOT_FULLY_SUPPORTED


def nasty_input(process_id: str, nul: str = "") -> MemoryInput:
    """A process of three nodes with two claims."""
    texts = {ROOT: f"One. {NASTY}{nul}", S.node_id: NASTY, T.node_id: "=T. 😀 Ende"}
    metadata = {"model": "m", "prompt": NASTY, "page": 3.0, "deep": {"ü": [None, True, 1e-7]}}
    return MemoryInput(
        [
            NodeRecord(ROOT, texts[ROOT], "n", 1, "", "split", metadata, Origin.SOURCE),
            NodeRecord(S.node_id, texts[S.node_id], "n", 2, NASTY, None, {"model": 7}),
            NodeRecord(T.node_id, texts[T.node_id], "n", 3, question=f"which {NASTY}"),
        ],
        [
            EdgeRecord(ROOT, S.node_id, "e", cited=True),
            EdgeRecord(ROOT, T.node_id, "e", cited=False, inferred=Inference.OVERLAP, score=0.25),
            EdgeRecord(S.node_id, T.node_id, "e"),
        ],
        [
            ClaimRecord(
                f"k {NASTY}", "c", "k1", T.node_id, 0, 3, ("", NASTY), VERDICT.value, ((4, 5),)
            ),
            ClaimRecord("another", "c", "k2", S.node_id),
        ],
        Header(
            "graphrag",
            process_id,
            f"name {NASTY}",
            f"question {NASTY}",
            {1: NASTY, 3: "end"},
            (T.node_id,),
            (f"bridged {NASTY}",),
        ),
    )


def _cited(node: str, index: int, start: int, text: str, role: str = "evidence") -> CitedSentence:
    sentence = Sentence(node, index, start, start + len(text), text)
    return CitedSentence.of(sentence, EvidenceRole(role))


def nasty_verification(process_id: str, name: str, content_hash: str | None) -> Verification:
    """A verification with everything that one can have."""
    return Verification.of_claim(
        Claim(claim_id="k1", text=f"k {NASTY}", node_id=T.node_id, sub_claims=(NASTY, "b")),
        verification_id=f"v-{process_id}-{name}",
        process_id=process_id,
        q=2,
        engine="openai",
        model=f"m{NASTY}",
        indicative=False,
        created_at=f"2026-01-01T00:00:00.00000{name}Z",
        status=Status.SUCCEEDED,
        verdict=VERDICT,
        reasoning=NASTY,
        score=0.1 + 0.2,
        termination=Termination.ONLY_ROOTS_WITH_EVIDENCE_LEFT,
        iterations=(
            Iteration(
                number=1,
                verdict=Verdict.FULLY_SUPPORTED,
                reasoning=NASTY,
                checked=(A, S),
                carried_roots=(),
                summaries=(
                    Evidence(
                        text=NASTY, missing=NASTY, sentences=(_cited(S.node_id, 0, 0, NASTY[:9]),)
                    ),
                    Evidence(
                        text="", missing=None, sentences=(_cited(ROOT, 0, 0, "One.", "context"),)
                    ),
                    Evidence(text="again", missing=None, sentences=(_cited(ROOT, 0, 0, "One."),)),
                ),
            ),
            Iteration(
                number=2,
                verdict=VERDICT,
                reasoning="no",
                checked=(),
                carried_roots=(A,),
                summaries=(),
                score=0.1 + 0.2,
                dropped_ids=2,
                reruns=1,
                judged=(Evidence(text=NASTY, sentences=(_cited(ROOT, 0, 0, "One."),)),),
                left_out=7,
                left_out_roots=(ROOT,),
            ),
        ),
        paths=(
            EvidencePath(source=ROOT, target=S.node_id, iteration=1),
            EvidencePath(source=S.node_id, target=T.node_id, iteration=1),
        ),
        error_nodes=(S,),
        propagated_nodes=(T,),
        value_place=a_place(
            marked(1, _cited(ROOT, 0, 0, "One."), "One"),
            marked(2, _cited(S.node_id, 0, 0, NASTY[:9]), NASTY[1:3]),
            T.node_id,
        ),
        usage=Usage(
            calls=3,
            cached_calls=1,
            input_tokens=100,
            cached_input_tokens=50,
            output_tokens=20,
            cost_usd=0.1,
            reasoning_tokens=6,
            unpriced_calls=1,
        ),
        content_hash=content_hash,
        run_id=f"r-{process_id}",
        settings='{"engine":"openai","q":2}',
        run_options='{"budget_usd":null,"max_calls":null,"price":null}',
        steps=(
            StepRecord(
                iteration=1,
                step="evidence_selection",
                prompt="p.v1",
                prompt_hash="0f" * 32,
                model=NASTY,
                temperature=0.2,
                usage=Usage(calls=2),
            ),
            StepRecord(
                iteration=2,
                step="verdict",
                prompt="p.v1",
                prompt_hash="0f" * 32,
                model="m",
                temperature=None,
                effort="low",
                usage=Usage(calls=1, cost_usd=0.25),
            ),
        ),
    )


async def store_nasty(store: Store, process_id: str, *, nul: str = "") -> str:
    """Store the process with extracted sentences and verifications; give its content hash."""
    report = await ingest(store, nasty_input(process_id, nul))
    digest = report.survey.hash
    sentences = [
        ExtractedSentence(
            node_id=T.node_id,
            position=0,
            start=0,
            end=3,
            text="=T.",
            outcome=SentenceOutcome.CLAIMS,
            reason=None,
            claim_ids=("k1", "k2"),
        ),
        ExtractedSentence(
            node_id=T.node_id,
            position=1,
            start=4,
            end=5,
            text="😀",
            outcome=SentenceOutcome.FAILED,
            reason=NASTY,
        ),
    ]
    await store.claims.keep_extraction(process_id, digest, T.node_id, sentences, ())
    whole = nasty_verification(process_id, "1", digest)
    failed = whole.replace(
        verification_id=f"v-{process_id}-2",
        created_at="2026-01-02T00:00:00Z",
        status=Status.FAILED,
        verdict=None,
        score=None,
        termination=None,
        error=NASTY,
        paths=(),
        error_nodes=(),
        propagated_nodes=(),
        located_by=None,
        value_place=None,
        iterations=whole.iterations[:1],
    )
    queued = failed.replace(verification_id=f"v-{process_id}-3", status=Status.QUEUED)
    queued = queued.replace(error=None, iterations=(), steps=(), usage=Usage())
    # Their places differ from their ages; another program may have left one that is queued.
    placed = [one.replace(place=place) for place, one in enumerate((failed, whole, queued))]
    await store.trails.write(*placed)
    await store.reviews.restore(process_id, nasty_reviews(whole))
    return digest


async def store_nasty_attributions(store: Store, process_id: str) -> None:
    """The same, and what a sentence of the terminal rests on."""
    digest = await store_nasty(store, process_id)
    run = {"run": f"a-{process_id}", "engine": "openai", "indicative": False}
    nodes = [_nasty_attribution()]
    await store.attributions.write(process_id, digest, nodes, **run, corrects=True)


def _nasty_attribution() -> NodeAttribution:
    place = {"sentence": 0, "start": 0, "end": 3, "text": "=T."}
    source = {**place, "text": NASTY, "categories": ["NEAR_MATCH", "EVIDENCE"]}
    sentence = {
        **place,
        "status": "succeeded",
        "attributed": [{"node_id": ROOT, **source}],
        "implied_label": "UNFAITHFUL",
        "judged_label": "FAITHFUL",
        "correction": NASTY,
        "revisions": [{"text": NASTY, "mode": "plain", "edits": 3, "outcome": "not"}],
    }
    return NodeAttribution.model_validate({"node_id": T.node_id, "sentences": [sentence]})


def nasty_reviews(about: Verification) -> list[Review]:
    """Reviews of every kind, one of them of a claim that was not verified."""
    name, process_id, claim = about.verification_id, about.process_id, about.claim
    said = [
        ("k1", claim, ReviewVerdict.FULLY_SUPPORTED, NASTY, name, VERDICT, "key '\"\\"),
        ("k1", claim, ReviewVerdict(VERDICT), "", name, VERDICT, None),
        ("k2", "another", ReviewVerdict.UNCLEAR, NASTY, None, None, None),
    ]
    return [
        Review(
            review_id=f"review-{process_id}-{number}",
            process_id=process_id,
            claim_id=claim_id,
            claim=text,
            verdict=verdict,
            reviewer='Zoë "😀" $limit',
            created_at=f"2026-02-0{number}T00:00:00.000000Z",
            reason=reason,
            overrides=verification,
            model_verdict=model_verdict,
            recorded_by=recorded_by,
        )
        for number, (
            claim_id,
            text,
            verdict,
            reason,
            verification,
            model_verdict,
            recorded_by,
        ) in enumerate(said, start=1)
    ]


async def lines_of(store: Store, process_id: str) -> bytes:
    """The export as JSON Lines."""
    return await _written(store, process_id, write_lines)


async def document_of(store: Store, process_id: str) -> bytes:
    """The export as one JSON document."""
    return await _written(store, process_id, write_document)


async def prov_of(store: Store, process_id: str) -> bytes:
    """The export as PROV-JSON."""
    return await _written(store, process_id, write_prov)


async def events_of(store: Store, process_id: str) -> bytes:
    """The export as OpenLineage events."""
    return await _written(store, process_id, write_events)


async def _written(store: Store, process_id: str, write: Any) -> bytes:
    stored = await StoredProcess.open(store.database, process_id)
    out = io.BytesIO()
    await write(store, stored, out.write)
    await stored.check_unchanged()
    return out.getvalue()


def statements(store: Store, arun: Any, script: str) -> Any:
    """Statements of a script with their parameters, as a shell runs them."""
    parameters: dict[str, Any] = {}
    statement: list[str] = []
    for line in script.split("\n"):
        if line.startswith(":param "):
            name, _, value = line.removeprefix(":param ").removesuffix(";").partition(" => ")
            # The engine itself reads the literal, as it does for cypher-shell.
            rows = arun(store.database.run_text(f"RETURN {value} AS value", {}, 1)).rows
            parameters[name] = rows[0][0]
        elif not line.startswith("//"):
            statement.append(line)
            if line.endswith(";"):
                yield "\n".join(statement).removesuffix(";"), dict(parameters)
                statement = []
    assert not "".join(statement)

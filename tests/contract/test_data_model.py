"""What the statements leave in a graph is what the data model says, on both engines."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from fakes.processes import MemoryInput, process
from fakes.trails import (
    FS,
    NFS,
    a_place,
    a_round,
    a_step,
    a_trail,
    cited,
    found,
    marked,
    path,
    spent,
)

from veritrail_graph.graph.importers.dialogue import process_of
from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, Header, NodeRecord
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import (
    Appeal,
    AppealKind,
    Claim,
    ClaimOrigin,
    Inference,
    JudgedPart,
    LocatedBy,
    NodeRef,
    PartVerdict,
    Role,
    Says,
    Side,
    Status,
    Termination,
    Verification,
)
from veritrail_graph.graph.model.attribution import NodeAttribution
from veritrail_graph.graph.model.dialogue import (
    ClaimCategory,
    Dialogue,
    DialogueLabel,
    Speaker,
    Turn,
    TurnCheck,
    TurnClaim,
    TurnVerification,
)
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome
from veritrail_graph.graph.reviewing import NewReview
from veritrail_graph.graph.schema import NODES, RELATIONSHIPS, RelationshipType
from veritrail_graph.graph.schema.rules import schema_rules
from veritrail_graph.graph.store import Store
from veritrail_graph.graph.store.dialogues import RunOfTurns
from veritrail_graph.graph.store.rows import short

pytestmark = pytest.mark.engine

ROOT = NodeRef("a", 1, 0, Role.ROOT)
SUMMARY = NodeRef("s", 2, 1, Role.INTERMEDIATE)
TERMINAL = NodeRef("t", 3, 2, Role.TERMINAL)
TYPES = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, float),
    "boolean": lambda value: isinstance(value, bool),
    "list of strings": lambda value: is_list(value, str),
    "list of integers": lambda value: is_list(value, int),
}
TRANSIENT = {
    ("Process", "owner"),
    ("Process", "beat"),
    ("Process", "replaces"),
    ("Process", "plan"),
    ("Process", "first_stored_at"),
    ("VeriTrailSchema", "owner"),
    ("VeriTrailSchema", "beat"),
    ("VeriTrailSchema", "asked"),
}
"""What a node has only while somebody writes, or once it was replaced."""

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "data-model.md").read_text("utf-8")
STATEMENTS = re.findall(r"```cypher\n(.*?)```", PAGE, re.DOTALL)
# Nodes of one process: other tests leave theirs in the same graph, and foreign ones too.
OURS = "coalesce(n.process_id, n.verification_id, n.evidence_id) STARTS WITH $p"
SAMPLE = "RETURN labels(n), key, collect(DISTINCT n[key])[..5]"
LINKS = "RETURN labels(n)[0], type(r), labels(m)[0], collect(r)[..20]"
ODD_TEXTS = (
    "One\r\ntwo\n\nthree\rfour.",
    "x" * 39 + "\n",
    "x" * 40,
    "x" * 40 + "y",
    "x" + "\r\n" * 45,
    "😀\n" * 21,
)
"""Texts with line breaks, as long as a caption may be, and longer."""
LONG = "The pier is 80 metres long, and it was built of oak from the forest. It stands."


def is_list(value: Any, type_: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, type_) for item in value)


def source(process_id: str) -> MemoryInput:
    """A process in which everything that may be given is given."""
    metadata = {"model": "a-model", "prompt": "Summarise.", "page": 3}
    header = Header(
        "memory", process_id, "A name", "A question?", {1: "text"}, ("t",), ("a warning",),
        project="piers", tags=("oak",),
    )  # fmt: skip
    return MemoryInput(
        [
            NodeRecord("a", LONG, "1", 1, "chunk", "split"),
            NodeRecord("s", LONG, "2", 2, "summary", "summarise", metadata),
            NodeRecord("t", LONG, "3", 3, "summary", "merge", metadata, question="How long?"),
        ],
        [
            EdgeRecord("a", "s", "1", cited=True),
            EdgeRecord("s", "t", "2", inferred=Inference.EXACT, score=0.5),
        ],
        [
            ClaimRecord(
                LONG, "1", "k1", "t", 0, 10, ("It is long.",), "FULLY_SUPPORTED", ((12, 20),)
            ),
            ClaimRecord("Is it oak?", "2", "k2", "t", origin=ClaimOrigin.ASKED, said=True),
        ],
        header,
    )


def trail(process_id: str) -> Verification:
    """A verification in which everything that may be set is set."""
    usage = spent(1, 1, (10, 5, 3), 0.5, reasoning_tokens=1)
    sides = (Side(part=1, says=Says.FOR), Side(part=2, says=Says.AGAINST))
    said = cited("a", 0, 0, LONG[:68]).replace(part=2, says=Says.BOTH, sides=sides)
    evidence = found("It is 80 metres long.", said, missing="The oak.")
    parts = (
        JudgedPart(part=1, verdict=PartVerdict.SUPPORTED, reason="It says so."),
        JudgedPart(part=2, verdict=PartVerdict.CONTRADICTED, reason="It is oak."),
    )
    return a_trail(
        f"{process_id}/v",
        a_round(
            1,
            FS,
            [SUMMARY, ROOT],
            [evidence, found("It was built.", cited("s", 0, 0, "A summary."))],
            score=0.5,
            dropped_ids=1,
            reruns=1,
            judged=(evidence,),
            left_out=1,
            left_out_roots=("a",),
            judged_by="a-strong-model",
            first_verdict=NFS,
            first_reasoning="The oak is not named.",
            parts=parts,
            looked_for="The oak.",
        ),
        a_round(2, NFS, [ROOT], carried_roots=(ROOT,)),
        process_id=process_id,
        claim=Claim(claim_id="k1", text=LONG, node_id="t", sub_claims=("It is long.",)),
        created_at="2026-01-01T00:00:00.000000Z",
        reasoning="because",
        parts=parts,
        score=0.5,
        termination=Termination.NO_CANDIDATES,
        paths=(path("a", "s", 1, "s"), path("s", "t", 1)),
        error_nodes=(SUMMARY,),
        propagated_nodes=(TERMINAL,),
        value_place=a_place(
            marked(1, cited("a", 0, 0, LONG[:68]), LONG[:4]),
            marked(2, cited("s", 0, 0, LONG[:68]), LONG[:4]),
            "t",
        ),
        appeals=(Appeal(node_id="a", sentence=0, why=(AppealKind.ORDER,)),),
        appeals_read=2,
        usage=usage,
        run_id=f"{process_id}-run",
        share=2,
        settings="{}",
        run_options="{}",
        steps=(a_step(1, "verdict", usage, effort="none"),),
    )


async def fill(store: Store, process_id: str) -> None:
    stored = await ingest(store, source(process_id))
    sentence = ExtractedSentence(
        node_id="t",
        position=0,
        start=0,
        end=20,
        text=LONG[:20],
        outcome=SentenceOutcome.FAILED,
        reason="a reason",
        claim_ids=("k1",),
    )
    keep = store.claims.keep_extraction
    await keep(process_id, stored.survey.hash, "t", [sentence], [])
    whole = trail(process_id).replace(
        content_hash=stored.survey.hash,
        reused_from=f"{process_id}/f",
        compared_with=f"{process_id}/f",
        reuse_reason="the walk reads the same",
        correction="it opened in 1921",
        saved_calls=2,
    )
    failed = whole.replace(
        verification_id=f"{process_id}/f",
        status=Status.FAILED,
        verdict=None,
        iterations=(),
        paths=(),
        error_nodes=(),
        propagated_nodes=(),
        located_by=None,
        value_place=None,
        steps=(),
        error="the model is away",
        reused_from=None,
    )
    offered = failed.replace(
        verification_id=f"{process_id}/o",
        status=Status.SUCCEEDED,
        verdict=NFS,
        located_by=LocatedBy.VALUE,
        value_place=whole.value_place,
        place=2,
    )
    await store.trails.write(whole.replace(place=0), failed.replace(place=1), offered)
    said = NewReview(
        "FULLY_SUPPORTED", "I read it.", "Ada", whole.verification_id, "desk", True, True
    )
    await store.reviews.add(process_id, "k1", said)
    place = {"sentence": 0, "start": 0, "end": 68, "text": LONG[:68]}
    sentence = {
        **place,
        "status": "succeeded",
        "attributed": [{"node_id": "a", **place, "categories": ["EVIDENCE"]}],
        "implied_label": "FAITHFUL",
        "judged_label": "FAITHFUL",
        "correction": "It is 80 metres long.",
        "judged_reason": "The source says so.",
        "corrected_label": "FAITHFUL",
        "dropped_ids": 1,
        "propositions": [
            {
                "spans": [[0, 10], [20, 30]],
                "text": "a … b",
                "attributed": [{"node_id": "a", **place, "categories": ["EVIDENCE"]}],
                "implied_label": "FAITHFUL",
            }
        ],
        "revisions": [
            {
                "text": "It is 80 metres long.",
                "mode": "plain",
                "edits": 2,
                "outcome": "partly",
                "rechecked_by": "walk",
                "claims": 2,
                "supported": 1,
                "rank": 1,
            },
        ],
    }
    node = NodeAttribution.model_validate({"node_id": "t", "sentences": [sentence]})
    run = {"run": f"{process_id}-a", "engine": "openai", "model": "m", "indicative": False}
    await store.attributions.write(process_id, stored.survey.hash, [node], **run, corrects=True)
    await fill_dialogue(store, f"{process_id}-d")


async def fill_dialogue(store: Store, process_id: str) -> None:
    """A dialogue with results in which everything is set that may be set."""
    turns = [Turn(turn_id=name, role=Speaker.ASSISTANT, text=LONG) for name in ("t1", "t2")]
    given = Dialogue(dialogue_id=process_id, turns=tuple(turns))
    hash_ = (await ingest(store, process_of(given))).survey.hash
    usage = spent(1, 1, (10, 5, 3), 0.5, reasoning_tokens=1)
    first = TurnClaim(
        claim_id="d1", claim=LONG, category=ClaimCategory.VERIFIED, label=DialogueLabel.VERIFIED
    )
    second = TurnClaim(
        claim_id="d2", claim="It fell.", category=ClaimCategory.CONTRADICTED, reason="a reason",
        label=DialogueLabel.UNVERIFIABLE, compared_with=("d1",), contradicts=("d1",),
        contradicts_knowledge=("knowledge/0",),
    )  # fmt: skip
    failed = TurnClaim(
        claim_id="d3", claim="It burnt.", status=Status.FAILED, error="the model is away"
    )
    open_ = TurnClaim(
        claim_id="d4", claim="It leans.", status=Status.UNDECIDED, reason="words do not tell"
    )
    check = TurnCheck(contradiction=True, quotes=("a", "b"), turn_id="t1", reason="r", model="m")
    made = "2026-01-01T00:00:00.000000Z"
    for run, *results in (
        ("r-1", TurnVerification.of_claims("t1", [first], usage=usage),
         TurnVerification.of_claims("t2", [second, open_], turn_check=check)),
        ("r-2", TurnVerification.of_claims("t1", [first, failed])),
    ):  # fmt: skip
        of = RunOfTurns(process_id, hash_, run, "openai", "a-model", False, made, "{}")
        for turn, one in zip(turns, results, strict=False):
            quotes = {("d2", "d1"): ("It fell.", "It stands.")}
            await store.dialogues.write(of, turn, one, quotes, 0)


@pytest.fixture
def filled(store: Store, arun: Any, process_id: str) -> str:
    arun(fill(store, process_id))
    arun(store.trails.pin(process_id, "r-any"))
    place = "langfuse https://traces.example dams"
    arun(store.database.write("process/note_fetched_from", process_id=process_id, place=place))
    return process_id


async def rows(store: Store, text: str, **parameters: Any) -> list[tuple[Any, ...]]:
    return (await store.database.run_text(text, parameters, 10_000)).rows


def test_every_label_and_property_of_the_graph_is_in_the_model(
    store: Store, arun: Any, filled: str
) -> None:
    text = f"MATCH (n) WHERE {OURS} OR n:VeriTrailSchema UNWIND keys(n) AS key " + SAMPLE
    found = arun(rows(store, text, p=filled))
    model = {(node.label, prop.name): prop.type for node in NODES for prop in node.properties}
    for labels, key, values in found:
        (label,) = labels
        assert (label, key) in model
        for value in values:
            assert TYPES[model[label, key]](value), (label, key, value)
    seen = {(labels[0], key) for labels, key, _ in found}
    assert set(model) - seen <= TRANSIENT


def test_every_relationship_of_the_graph_is_in_the_model(
    store: Store, arun: Any, filled: str
) -> None:
    model: dict[tuple[str, str, str], RelationshipType] = {
        (one.source, one.type, one.target): one for one in RELATIONSHIPS
    }
    text = f"MATCH (n)-[r]->(m) WHERE {OURS} " + LINKS
    found = arun(rows(store, text, p=filled))
    seen: set[tuple[str, str, str, str]] = set()
    for *ends, some in found:
        start, type_, end = ends
        types = {prop.name: prop.type for prop in model[start, type_, end].properties}
        for relationship in some:
            for key, value in dict(relationship.items()).items():
                assert TYPES[types[key]](value), (type_, key, value)
                seen.add((start, type_, end, key))
    assert {(start, type_, end) for start, type_, end, _ in found} == set(model)
    known = {(*ends, p.name) for ends, one in model.items() for p in one.properties}
    assert known == seen


def test_every_node_with_a_caption_reads_well(store: Store, arun: Any, filled: str) -> None:
    captions: dict[str, list[str]] = {}
    texts = {
        "Iteration": "MATCH (n:Iteration) WHERE n.verification_id STARTS WITH $p",
        "Verification": "MATCH (n:Verification) WHERE n.process_id = $p",
        "TrailNode": "MATCH (n:TrailNode) WHERE n.process_id = $p",
        "Step": "MATCH (n:Step) WHERE n.verification_id STARTS WITH $p",
        "Evidence": "MATCH (n:Evidence) WHERE n.evidence_id STARTS WITH $p",
        "Claim": "MATCH (n:Claim) WHERE n.process_id = $p",
        "Span": "MATCH (n:Span) WHERE n.process_id = $p",
        "Sentence": "MATCH (n:Sentence) WHERE n.process_id = $p",
        "Extraction": "MATCH (n:Extraction) WHERE n.process_id = $p",
        "Review": "MATCH (n:Review) WHERE n.process_id = $p",
        "Revision": "MATCH (n:Revision) WHERE n.process_id = $p",
        "TurnVerification": "MATCH (n:TurnVerification) WHERE n.process_id STARTS WITH $p",
    }
    assert set(texts) == {node.label for node in NODES if node.caption == "caption"}
    for label, text in texts.items():
        found = arun(rows(store, f"{text} RETURN n.caption ORDER BY n.caption", p=filled))
        captions[label] = [caption for (caption,) in found]
        assert captions[label]
        assert all(caption and len(caption) <= 40 for caption in captions[label])
    assert captions["Verification"] == ["Failed", *["Not Fully Supported"] * 2]
    assert captions["Iteration"] == ["1: Fully Supported", "2: Not Fully Supported"]
    assert captions["Span"] == [f"{LONG[:39]}…"] * 3
    assert captions["Sentence"] == ["A summary.", *[f"{LONG[:39]}…"] * 2]
    assert captions["Evidence"] == ["It is 80 metres long.", "It was built."]
    assert captions["TrailNode"] == ["A summary.", f"{LONG[:39]}…"]
    assert captions["Step"] == ["1: verdict"]
    assert captions["TurnVerification"] == ["t1: Failed", "t1: Verified", "t2: Unverifiable"]
    assert captions["Review"] == ["Overridden: Fully Supported"]


def test_a_caption_is_one_short_line_whoever_makes_it(
    store: Store, arun: Any, process_id: str
) -> None:
    texts = {f"n{number}": text for number, text in enumerate(ODD_TEXTS)}
    claims = {f"k{number}": text for number, text in enumerate(ODD_TEXTS)}
    edges = [(name, "t") for name in texts]
    written = process({**texts, "t": "T."}, edges, claims, process_id=process_id)
    stored = arun(ingest(store, written))
    outcome = SentenceOutcome.NO_VERIFIABLE_CLAIMS
    sentences = [
        ExtractedSentence(
            node_id="t",
            position=number,
            start=0,
            end=1,
            text=text,
            outcome=outcome,
            reason=None,
            claim_ids=(),
        )
        for number, text in enumerate(ODD_TEXTS)
    ]
    own = store.claims
    arun(own.keep_extraction(process_id, stored.survey.hash, "t", sentences, []))
    expected = {short(text) for text in ODD_TEXTS}
    assert all(len(caption) <= 40 and not set("\r\n") & set(caption) for caption in expected)

    def captions(label: str) -> set[str]:
        text = f"MATCH (n:{label}) WHERE n.process_id = $p RETURN n.caption"
        return {caption for (caption,) in arun(rows(store, text, p=process_id))}

    assert captions("Span") == expected | {"T."}
    assert captions("Claim") == captions("Extraction") == expected
    for claim_id, text in claims.items():
        arun(own.edit(process_id, claim_id, f"Or {text}"))
    assert captions("Claim") == {short(f"Or {text}") for text in ODD_TEXTS}


@pytest.mark.parametrize("text", STATEMENTS)
def test_the_statements_of_the_page_say_something(
    store: Store, arun: Any, filled: str, text: str
) -> None:
    here = text.replace("'library'", "$process_id").replace("'note'", "'t'")
    found = arun(rows(store, here, process_id=filled, verification_id=f"{filled}/v"))
    assert found


def test_constraints_and_indexes_have_the_names_that_the_page_lists(
    store: Store, arun: Any
) -> None:
    async def names(text: str) -> set[str]:
        return {name for (name,) in await rows(store, text)}

    async def both() -> tuple[set[str], set[str]]:
        constraints = "SHOW CONSTRAINTS YIELD name RETURN name"
        indexes = "SHOW INDEXES YIELD name RETURN name"
        one, other = await asyncio.gather(names(constraints), names(indexes))
        return one, other

    constraints, indexes = arun(both())
    listed = schema_rules()
    assert {rule.name for rule in listed if rule.unique} == constraints
    assert {rule.name for rule in listed if not rule.unique} <= indexes
    ours = {name for name in indexes if name.startswith("veritrail_")}
    assert ours <= {rule.name for rule in listed}

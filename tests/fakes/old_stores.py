"""Stores as each version wrote them: their statements from `tests/data/stores`, and rows.

Version 1 knew no steps, runs or extractions, and had an index that version 2 gave up; version 3
writes captions, and a trail in one statement; version 4 knows reviews. What a version wrote stays
here as it was; nothing is taken from the code of today but the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from veritrail_graph import cypher
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    ErrorLocation,
    Evidence,
    EvidencePath,
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

STORES = Path(__file__).resolve().parents[1] / "data" / "stores"
HASH = "12" * 32
SUMMARY = "Two harbours are named in the sources, and both of them freeze in winter."
TEXTS = {"a": "One. Two.", "é'\"😀": "😀" * 60, "s": "Sum. Mary.", "t": ""}
ROLES = {"a": "root", "é'\"😀": "root", "s": "intermediate", "t": "terminal"}

Step = tuple[str, dict[str, Any]]


def statements(version: int, process_id: str) -> Iterator[Step]:
    """Everything that makes and fills a graph of a version, in its order."""
    folder = STORES / f"v{version}"
    for file in sorted((folder / "schema").iterdir()):
        yield _text(file), {}
    steps = [("set_schema_version", {"version": version}), *_process(version, process_id)]
    trail = _trail if version < 3 else _trail_of_3
    reviews = () if version < 4 else _reviews(process_id)
    for name, parameters in (*steps, *trail(version, process_id), *reviews):
        yield _text(folder / "write" / f"{name}.cypher"), parameters


def _text(file: Path) -> str:
    return cypher.parse(file.stem, file.read_text("utf-8")).text


def the_trail(version: int, process_id: str) -> Verification:
    """The verification that stands in such a graph, as it is read back today."""
    a, b, s, t = (
        NodeRef(name, stage, position, Role(ROLES[name]))
        for name, stage, position in zip(TEXTS, (1, 1, 2, 3), range(4), strict=True)
    )
    found = Evidence(SUMMARY, "an age", (CitedSentence(Sentence("a", 0, 0, 4, "One.")),))
    none = Evidence("", None, (CitedSentence(Sentence(b.node_id, 0, 0, 60, "😀" * 60)),))
    usage = Usage(1, 0, 40, 25, 5, 0.5)
    later: dict[str, Any] = {}
    if version > 1:
        later = {
            "run_id": f"{process_id}-r",
            "settings": '{"q": 2}',
            "steps": (
                StepRecord(1, "evidence_selection", "evidence_selection.v1", "0f" * 32, "m", 0.2,
                           usage),
            ),
        }  # fmt: skip
    return Verification(
        verification_id=f"{process_id}/v",
        process_id=process_id,
        claim=Claim("k", "A claim.", "t", sub_claims=("A part.",)),
        q=2,
        engine="openai",
        model="m",
        indicative=False,
        created_at="2026-01-01T00:00:00.000000Z",
        status=Status.SUCCEEDED,
        verdict=Verdict.NOT_FULLY_SUPPORTED,
        reasoning="because",
        score=0.5,
        termination=Termination.NO_CANDIDATES,
        content_hash=HASH,
        iterations=(
            Iteration(1, Verdict.INCONCLUSIVE, "yes", (b, s), (), (none,)),
            Iteration(2, Verdict.NOT_FULLY_SUPPORTED, "no", (a,), (b,), (found,)),
        ),
        paths=(EvidencePath(b.node_id, "t", 1), EvidencePath("a", "t", 2, ("s",))),
        error=ErrorLocation((s,), (t,)),
        usage=usage,
        **later,
    )


def _process(version: int, process_id: str) -> Iterator[Step]:
    ids = {"process_id": process_id}
    properties = {
        **ids, "name": "Harbours", "question": None, "source_format": "memory",
        "content_hash": HASH, "stages": [1, 2, 3], "stage_counts": [2, 1, 1], "stage_names": "{}",
        "terminals": ["t"], "nodes": 4, "edges": 3, "warnings": [], "status": "loading",
        "owner": "host/1/0", "beat": "2026-01-01T00:00:00.000000Z",
        "created_at": "2026-01-01T00:00:00.000000Z",
    }  # fmt: skip
    yield "begin", {"properties": properties}
    stages = dict(zip(TEXTS, (1, 1, 2, 3), strict=True))
    spans = [
        [name, text, stages[name], place, ROLES[name], None, None, None, None, None]
        for place, (name, text) in enumerate(TEXTS.items())
    ]
    b = list(TEXTS)[1]
    edges: list[list[Any]] = [["s", [["a", None], [b, True]]], ["t", [["s", None]]]]
    writer = {}
    if version > 2:
        edges = [["s", None, ["a"]], ["s", True, [b]], ["t", None, ["s"]]]
        writer = {"owner": "host/1/0"}
    yield "spans", {**ids, **writer, "rows": spans}
    yield "edges", {**ids, **writer, "rows": edges}
    claim = {
        "claim_id": "k", "node_id": "t", "text": "A claim.", "start": None, "end": None,
        "also": None, "sub_claims": ["A part."], "label": None, "position": 0,
    }  # fmt: skip
    yield "claims", {**ids, "rows": [claim, {**claim, "claim_id": "q", "position": 1}]}
    if version > 1:
        row = {"position": 0, "start": 0, "end": 4, "text": "One.", "outcome": "no_claims",
               "reason": None, "claim_ids": []}  # fmt: skip
        yield "extraction", {**ids, "node_id": "a", "rows": [row]}
    yield "finish", ids


def _trail(version: int, process_id: str) -> Iterator[Step]:
    written = the_trail(version, process_id)
    process = {"process_id": process_id}
    ids = {"verification_id": written.verification_id}
    head = {**process, "content_hash": HASH}
    if version > 1:
        queued = {**_properties(version, written), "claim_id": "q", "status": "queued",
                  "verification_id": f"{process_id}/q", "verdict": None, "place": 1}  # fmt: skip
        yield "queue", {**head, "rows": [queued]}
    own = _properties(version, written)
    yield "verification", {**head, **ids, "claim_id": "k", "properties": own}
    rounds = [
        {
            **ids, "number": one.number, "verdict": one.verdict.value, "reasoning": one.reasoning,
            "dropped_ids": 0, "checked_count": len(one.checked), "evidence_count": 1,
            "carried_roots": [root.node_id for root in one.carried_roots],
            "carried_places": [n for ref in one.carried_roots for n in (ref.stage, ref.position)],
            **({"reruns": 0, "left_out": 0} if version > 1 else {}),
        }
        for one in written.iterations
    ]  # fmt: skip
    yield "iterations", {**ids, "rows": rounds}
    checked = [[one.number, [ref.node_id for ref in one.checked]] for one in written.iterations]
    yield "checked", {**process, **ids, "rows": checked}
    evidence, sentences = [], []
    for one in written.iterations:
        key = {"evidence_id": f"{written.verification_id}/{one.number}/0"}
        (found,) = one.evidence
        evidence.append({**key, "number": one.number, "position": 0, "summary": found.summary,
                         "missing": found.missing})  # fmt: skip
        (cited,) = found.sentences
        place = cited.sentence
        sentences.append({**key, "node_id": place.node_id, "index": place.index, "end": place.end,
                          "start": place.start, "text": place.text, "role": "evidence",
                          "position": 0})  # fmt: skip
    yield "evidence", {**ids, "rows": evidence}
    yield "sentences", {**process, "rows": sentences}
    paths = [
        {"source": path.source, "target": path.target, "iteration": path.iteration,
         "via": list(path.via)}
        for path in written.paths
    ]  # fmt: skip
    yield "paths", {**process, **ids, "rows": paths}
    for number, step in enumerate(written.steps):
        row = {**ids, "position": number, "iteration": step.iteration, "step": step.step,
               "prompt": step.prompt, "prompt_hash": step.prompt_hash, "model": step.model,
               "temperature": step.temperature, **_usage(version, step.usage)}  # fmt: skip
        yield "steps", {**ids, "rows": [row]}
    yield "introduced", {**process, **ids, "node_ids": ["s"]}
    yield "propagated", {**process, **ids, "node_ids": ["t"]}


def _trail_of_3(version: int, process_id: str) -> Iterator[Step]:
    """The same rows as version 2 wrote, put together for one statement."""
    rows = {name: parameters.get("rows", []) for name, parameters in _trail(2, process_id)}
    (queued,) = rows["queue"]
    head = {"process_id": process_id, "content_hash": HASH}
    yield "queue", {**head, "rows": [{**queued, "caption": "Queued"}]}
    written = the_trail(version, process_id)
    captions = {"evidence": (f"{SUMMARY[:39]}…", "Evidence"), "step": "1: evidence_selection"}
    turns = []
    for number, turn in enumerate(rows["iterations"], 1):
        (found,) = (row for row in rows["evidence"] if row["number"] == number)
        (cited,) = (row for row in rows["sentences"] if row["evidence_id"] == found["evidence_id"])
        place = [cited[name] for name in ("node_id", "index", "start", "end", "text")]
        text = cited["text"]
        caption = text if len(text) <= 40 else f"{text[:39]}…"
        evidence = {**found, "caption": captions["evidence"][not found["summary"]]}
        del evidence["number"]
        words = turn["verdict"].replace("_", " ").title()
        turns.append({
            "properties": {**turn, "caption": f"{number}: {words}"},
            "checked": dict(rows["checked"])[number],
            "evidence": [{
                "properties": evidence,
                "sentences": [[*place, caption, "evidence", 0]],
            }],
        })  # fmt: skip
    row = {
        "verification_id": written.verification_id, "claim_id": "k", "iterations": turns,
        "properties": {**_properties(version, written), "caption": "Not Fully Supported"},
        "paths": [["t", [[r["source"], r["iteration"], r["via"]] for r in rows["paths"]]]],
        "steps": [{**step, "caption": captions["step"]} for step in rows["steps"]],
        "introduced": ["s"], "propagated": ["t"],
    }  # fmt: skip
    yield "write", {**head, "cleared": False, "rows": [row]}


def the_reviews(version: int, process_id: str) -> list[Review]:
    """The reviews that stand in such a graph, the latest first, as they are read back today."""
    if version < 4:
        return []
    said = [
        ("k", ReviewVerdict.FULLY_SUPPORTED, f"{process_id}/v", Verdict.NOT_FULLY_SUPPORTED),
        ("q", ReviewVerdict.UNCLEAR, None, None),
    ]
    return [
        Review(
            f"{process_id}/r{number}", process_id, claim_id, "A claim.", verdict, "Zoë",
            f"2026-01-0{9 - number}T00:00:00.000000Z", "as I read it", name, model_verdict, "desk",
        )
        for number, (claim_id, verdict, name, model_verdict) in enumerate(said)
    ]  # fmt: skip


def _reviews(process_id: str) -> Iterator[Step]:
    captions = ("Overridden: Fully Supported", "Unclear")
    rows = [
        {
            "review_id": one.review_id, "process_id": process_id, "claim_id": one.claim_id,
            "claim": one.claim, "kind": caption.partition(":")[0].lower(),
            "verdict": one.verdict.value, "reason": one.reason, "reviewer": one.reviewer,
            "model_verdict": one.model_verdict and one.model_verdict.value,
            "recorded_by": one.recorded_by, "verification_id": one.verification_id,
            "created_at": one.created_at, "caption": caption,
        }
        for one, caption in zip(the_reviews(4, process_id), captions, strict=True)
    ]  # fmt: skip
    yield "review", {"process_id": process_id, "rows": rows}


def _properties(version: int, written: Verification) -> dict[str, Any]:
    own = {
        "verification_id": written.verification_id, "process_id": written.process_id,
        "claim_id": "k", "claim": "A claim.", "sub_claims": ["A part."], "node_id": "t",
        "method": "veritrail", "q": 2, "engine": "openai", "model": "m", "indicative": False,
        "created_at": written.created_at, "status": "succeeded",
        "verdict": "NOT_FULLY_SUPPORTED", "reasoning": "because", "score": 0.5,
        "termination": "no_candidates", "error_stages": [2], "failure": None,
        "content_hash": HASH, **_usage(version, written.usage),
    }  # fmt: skip
    if version > 1:
        own |= {"run_id": written.run_id, "settings": written.settings, "run_options": None}
    return own


def _usage(version: int, usage: Usage) -> dict[str, Any]:
    cost = {
        "calls": usage.calls, "cached_calls": usage.cached_calls, "cost_usd": usage.cost_usd,
        "input_tokens": usage.input_tokens, "cached_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
    }  # fmt: skip
    return {**cost, "reasoning_tokens": 0, "unpriced_calls": 0} if version > 1 else cost

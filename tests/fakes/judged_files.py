"""Process files whose claims were judged already, as an export of a finished run has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from acceptance.command import process_file

TEXTS = {
    "r": "The ferry was built in 1998 and carries 180 people.",
    "s": "The ferry of 1998 carries 180 people.",
    "t": "The ferry carries 180 people.",
}
STAGES = {"r": 1, "s": 2, "t": 3}
VERDICTS = {
    "supported": "FULLY_SUPPORTED",
    "not-supported": "NOT_FULLY_SUPPORTED",
    "inconclusive": "INCONCLUSIVE",
}
FS, NFS = VERDICTS["supported"], VERDICTS["not-supported"]

Judged = tuple[str, str, str, int | None]
"""claim_id, text, state, and the stage at which it went wrong."""


def judged_file(path: Path, claims: Sequence[Judged], **document: Any) -> str:
    """Write a process whose claims stand so: `supported`, `failed`, `unchecked` and so on."""
    # Ids of verifications are those of the whole graph, which other tests share.
    name_of_run = document.get("process_id", path.stem)
    nodes = [{"node_id": name, "stage": STAGES[name], "text": TEXTS[name]} for name in "rst"]
    return process_file(
        path,
        nodes=nodes,
        edges=[{"source": "r", "target": "s"}, {"source": "s", "target": "t"}],
        claims=[{"claim_id": name, "text": text} for name, text, *_ in claims],
        verifications=[
            _verification(f"v-{name_of_run}-{number}", claim)
            for number, claim in enumerate(claims)
            if claim[2] != "unchecked"
        ],
        **document,
    )


def _verification(name: str, claim: Judged) -> dict[str, Any]:
    claim_id, text, state, stage = claim
    verdict = VERDICTS.get(state)
    nowhere = state != "not-supported" or stage is None
    return {
        "verification_id": name,
        "claim_id": claim_id,
        "claim": text,
        "node_id": "t",
        "q": 2,
        "engine": "openai",
        "model": "a-model",
        "indicative": False,
        "created_at": "2026-01-31T09:30:00.000000Z",
        "status": "succeeded" if verdict else "failed",
        "verdict": verdict,
        "reasoning": "Because of what was found." if verdict else None,
        "termination": "only_roots_with_evidence_left" if verdict else None,
        "error_stages": [] if nowhere else [stage],
        "error_nodes": [] if nowhere else [{2: "s", 3: "t"}[stage or 0]],
        "iterations": _iterations(verdict, stage) if verdict else [],
        "error": None if verdict else "no usable answer after 6 attempts",
    }


def _iterations(verdict: str, stage: int | None) -> list[dict[str, Any]]:
    first = {2: FS, 3: NFS}.get(stage or 0, verdict)
    return [_iteration(1, first, "s"), _iteration(2, verdict, "r")]


def _iteration(number: int, verdict: str, node: str) -> dict[str, Any]:
    text = TEXTS[node]
    sentence = {
        "node_id": node, "sentence": 0, "start": 0, "end": len(text), "text": text,
        "role": "evidence",
    }  # fmt: skip
    return {
        "number": number,
        "verdict": verdict,
        "reasoning": "As the sentence says.",
        "checked": [node],
        "carried_roots": [],
        "evidence": [sentence],
        "summaries": [{"text": text, "missing": None, "node_ids": [node], "sentences": [sentence]}],
    }

"""Annotations of spans for Phoenix, which reads traces of OpenInference.

Source: the API of Phoenix (`POST /v1/span_annotations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from veritrail_graph.graph.exporters.process_file import Write, json_text
from veritrail_graph.graph.exporters.verdicts.judged import (
    ORIGIN,
    STATUS,
    VERDICT,
    Judged,
    JudgedClaims,
)


async def write_annotations(claims: JudgedClaims, write: Write) -> dict[str, int]:
    """Write one document; give how many annotations there are."""
    counts = {"annotations": 0, "claims": 0, "claims without a verdict": 0}
    write(b'{"data":[')
    async for one in claims.each():
        counts["claims"] += 1
        counts["claims without a verdict"] += one.verdict is None
        if one.call_id is None:
            counts["outputs without a span"] = counts.get("outputs without a span", 0) + 1
        for annotation in _annotations(one):
            write(b",\n" if counts["annotations"] else b"\n")
            write(json_text(annotation).encode())
            counts["annotations"] += 1
    write(b"\n]}\n")
    return counts


def _annotations(one: Judged) -> Iterator[dict[str, Any]]:
    if one.call_id is not None:
        if one.verdict is None:
            yield _annotation(one, one.call_id, STATUS, one.found.status.value)
        else:
            yield _annotation(one, one.call_id, VERDICT, one.verdict.value, one.found.score)
    for error in one.errors:
        if error.call_id is not None:
            yield _annotation(one, error.call_id, ORIGIN, one.origin)


def _annotation(
    one: Judged, span_id: str, name: str, label: str, score: float | None = None
) -> dict[str, Any]:
    result: dict[str, Any] = {"label": label, "explanation": one.explanation}
    if score is not None:
        result["score"] = score
    return {
        "name": name,
        "annotator_kind": "LLM" if one.is_by_model else "CODE",
        "span_id": span_id,
        "result": result,
        "metadata": one.facts,
        # Phoenix keeps one annotation for each span, name and identifier.
        "identifier": one.found.claim_id,
    }

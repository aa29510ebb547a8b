"""Assessments on traces of MLflow 3, as it writes them under `assessments` of a trace.

Source: MLflow 3 (`mlflow.entities.Feedback`).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from veritrail_graph.graph.exporters.process_file import Write, json_text
from veritrail_graph.graph.exporters.verdicts.judged import SCORE, VERDICT, Judged, JudgedClaims

_HEX = re.compile(r"(0x)?[0-9a-fA-F]{16}")
_SPAN_BYTES = 8


async def write_assessments(claims: JudgedClaims, write: Write) -> dict[str, int]:
    """Write one document; give how many assessments there are."""
    counts = {"assessments": 0, "claims": 0, "claims without a verdict": 0}
    write(f'{{"trace_id":{json_text(claims.trace_id)},"assessments":['.encode())
    async for one in claims.each():
        counts["claims"] += 1
        counts["claims without a verdict"] += one.verdict is None
        for assessment in _assessments(one):
            write(b",\n" if counts["assessments"] else b"\n")
            write(json_text(assessment).encode())
            counts["assessments"] += 1
    write(b"\n]}\n")
    return counts


def _assessments(one: Judged) -> Iterator[dict[str, Any]]:
    if one.verdict is None:
        status = one.found.status.value
        words = one.found.error or f"no verdict: {status}"
        error = {"error_code": status.upper(), "error_message": words}
        yield _assessment(one, VERDICT, {"value": None, "error": error})
        return
    yield _assessment(one, VERDICT, {"value": one.verdict.value})
    if one.found.score is not None:
        yield _assessment(one, SCORE, {"value": one.found.score})


def _assessment(one: Judged, name: str, feedback: dict[str, Any]) -> dict[str, Any]:
    made = {
        "assessment_name": name,
        "trace_id": one.trace_id,
        "span_id": span_id_of(one.place),
        "source": {
            "source_type": "LLM_JUDGE" if one.is_by_model else "CODE",
            "source_id": one.judge,
        },
        "create_time": one.found.created_at,
        "last_update_time": one.found.created_at,
        "feedback": feedback,
        "rationale": one.explanation,
        # MLflow keeps texts alone.
        "metadata": {
            f"veritrail.{key}": value if isinstance(value, str) else json_text(value)
            for key, value in one.facts.items()
        },
    }
    return {key: value for key, value in made.items() if value is not None}


def span_id_of(call_id: str | None) -> str | None:
    """The id of a span as MLflow names it: traces hold it in base64, or with `0x` before it."""
    if call_id is None or _HEX.fullmatch(call_id):
        return call_id.removeprefix("0x").lower() if call_id is not None else None
    try:
        decoded = base64.b64decode(call_id, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded.hex() if len(decoded) == _SPAN_BYTES else None

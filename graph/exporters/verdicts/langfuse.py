"""Scores on traces of Langfuse: requests of its ingestion API, one a line.

Source: the public API of Langfuse (`POST /api/public/ingestion`, events `score-create`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from veritrail_graph.graph.exporters.process_file import Write, json_text
from veritrail_graph.graph.exporters.verdicts.judged import (
    SCORE,
    STATUS,
    VERDICT,
    Judged,
    JudgedClaims,
    stable_id,
)

MOST_BYTES = 3_000_000
"""Of one request: Langfuse refuses more than 3.5 MB."""


async def write_scores(claims: JudgedClaims, write: Write) -> dict[str, int]:
    """Write the scores; give how many there are, and how many claims have no verdict."""
    counts = {"scores": 0, "claims": 0, "claims without a verdict": 0}
    waiting: list[str] = []
    size = 0
    async for one in claims.each():
        counts["claims"] += 1
        counts["claims without a verdict"] += one.verdict is None
        for event in _events(one):
            text = json_text(event)
            length = len(text.encode()) + 1
            if waiting and size + length > MOST_BYTES:
                write(_request(waiting))
                waiting, size = [], 0
            waiting.append(text)
            size += length
            counts["scores"] += 1
    if waiting:
        write(_request(waiting))
    return counts


def _request(events: list[str]) -> bytes:
    return f'{{"batch":[{",".join(events)}]}}\n'.encode()


def _events(one: Judged) -> Iterator[dict[str, Any]]:
    if one.verdict is None:
        yield _event(one, STATUS, one.found.status.value, "CATEGORICAL")
        return
    yield _event(one, VERDICT, one.verdict.value, "CATEGORICAL")
    if one.found.score is not None:
        yield _event(one, SCORE, one.found.score, "NUMERIC")


def _event(one: Judged, name: str, value: str | float, data_type: str) -> dict[str, Any]:
    found = one.found
    score = {
        # A later verdict of the same claim takes the place of an earlier one.
        "id": stable_id(found.process_id, found.claim_id, name),
        "traceId": one.trace_id,
        "observationId": one.place,
        "name": name,
        "value": value,
        "dataType": data_type,
        "comment": one.explanation,
        "metadata": one.facts,
    }
    return {
        "id": stable_id(found.verification_id, name),
        "timestamp": found.created_at,
        "type": "score-create",
        "body": {key: each for key, each in score.items() if each is not None},
    }

"""JSON Schemas of the answers, for endpoints that can be told the shape of an answer.

The model still reasons first: in a field of its own, because a structured answer is one
object and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veritrail_graph.graph.model import Verdict
from veritrail_graph.verifier.models.port import Step

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_IDS = {"type": "array", "items": {"type": "integer"}}
_CLAIMS = {"claims": {"type": "array", "items": _TEXT}}


def _answer(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    everything = {"reasoning": _TEXT, **properties}
    return {
        "type": "object",
        "properties": everything,
        "required": list(everything),
        "additionalProperties": False,
    }


def _outcome(*outcomes: str) -> Mapping[str, Any]:
    return _answer(
        {"outcome": {"type": "string", "enum": list(outcomes)}, "sentence": _TEXT_OR_NULL}
    )


SCHEMAS: Mapping[Step, Mapping[str, Any]] = {
    Step.CLAIM_SELECTION: _outcome("verifiable", "rewritten", "no_verifiable_claims"),
    Step.CLAIM_DISAMBIGUATION: _outcome("clear", "cannot_be_disambiguated"),
    Step.CLAIM_DECOMPOSITION: _answer(_CLAIMS),
    Step.SUB_CLAIM_DECOMPOSITION: _answer(_CLAIMS),
    Step.EVIDENCE_SELECTION: _answer(
        {
            "sentence_ids": _IDS,
            "context_ids": _IDS,
            "summary": _TEXT_OR_NULL,
            "missing": _TEXT_OR_NULL,
        }
    ),
    Step.VERDICT: _answer(
        {"verdict": {"type": "string", "enum": [str(one) for one in Verdict]}, "reason": _TEXT}
    ),
}

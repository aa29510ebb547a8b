"""A comparison of two verifications as a JSON object.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from veritrail_graph.graph.comparing import Changed, Difference, Parting, RoundSide


def difference_json(difference: Difference) -> dict[str, Any]:
    """What `diff --json` prints."""
    return {
        "a": difference.a.verification_id,
        "b": difference.b.verification_id,
        "same": difference.is_same,
        "same_claim": difference.is_same_claim,
        "claim": _changed(difference.claim),
        "settings": _changed(difference.settings),
        "outcome": _changed(difference.outcome),
        "parting": _parting(difference.parting) if difference.parting else None,
    }


def _changed(found: Iterable[Changed]) -> dict[str, Any]:
    return {one.name: {"a": one.a, "b": one.b} for one in found}


def _parting(parting: Parting) -> dict[str, Any]:
    return {
        "iteration": parting.number,
        "parts": [part.value for part in parting.parts],
        "a": _side(parting.a),
        "b": _side(parting.b),
    }


def _side(side: RoundSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "verdict": side.verdict.value if side.verdict else None,
        "reasoning": side.reasoning,
        "checked_only": list(side.checked),
        "selected_only": [cited.json_object() for cited in side.selected],
    }

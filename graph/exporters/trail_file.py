"""Verifications and extracted sentences as a process file carries them: nothing is lost.

The objects are those of `verify --json`, and beside them what only the graph knew.

Source: VeriTrail 3.2 (verdicts, interim verdicts, evidence trail, error localization).
"""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.model.extraction import ExtractedSentence
from veritrail_graph.graph.store.process_rows import extraction_row

METHOD = "veritrail"


def verification_object(verification: Verification, place: int | None = None) -> dict[str, Any]:
    """A verification with everything that is stored of it.

    Args:
        verification: The verification.
        place: Its place in its run, where it has one.
    """
    return verification.replace(place=place).json_object()


def extraction_object(sentence: ExtractedSentence) -> dict[str, Any]:
    """What extraction left of a sentence."""
    return {"node_id": sentence.node_id, **extraction_row(sentence)}

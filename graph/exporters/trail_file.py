"""Verifications and extracted sentences as a process file carries them: nothing is lost.

The objects are those of `verify --json`, and beside them what only the graph knew.

Source: VeriTrail 3.2 (verdicts, interim verdicts, evidence trail, error localization).
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from veritrail_graph.graph.content_hash import canonical
from veritrail_graph.graph.exporters.results import (
    parsed_settings,
    sentence_json,
    verification_json,
)
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
    made = verification_json(verification)
    for shown, iteration in zip(made["iterations"], verification.iterations, strict=True):
        for summary, found in zip(shown["summaries"], iteration.evidence, strict=True):
            summary["sentences"] = [sentence_json(cited) for cited in found.sentences]
    made |= {
        "method": METHOD,
        "content_hash": verification.content_hash,
        "place": place,
        "propagated_nodes": [node.node_id for node in verification.error.propagated],
        "paths": [{**asdict(path), "via": list(path.via)} for path in verification.paths],
        "run_options": parsed_settings(verification.run_options),
    }
    # Settings are compared as texts: one that is spelled in another way is kept as it is.
    for key in ("settings", "run_options"):
        text = getattr(verification, key)
        if text is not None and canonical(json.loads(text)).decode() != text:
            made[f"{key}_text"] = text
    return made


def extraction_object(sentence: ExtractedSentence) -> dict[str, Any]:
    """What extraction left of a sentence."""
    return {"node_id": sentence.node_id, **extraction_row(sentence)}

"""Processes and claims as properties, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graph.model import Claim, Process, Verdict
from graph.survey import Survey


def process_row(survey: Survey) -> dict[str, Any]:
    """A process as properties; maps become parallel lists, which every engine can hold."""
    header = survey.header
    stages: dict[int, int] = {}
    for stage in survey.topology.stages:
        stages[stage] = stages.get(stage, 0) + 1
    return {
        "name": header.name or survey.process_id,
        "question": header.question,
        "source_format": header.source_format,
        "content_hash": survey.hash,
        "stages": sorted(stages),
        "stage_counts": [stages[stage] for stage in sorted(stages)],
        "stage_names": json.dumps({str(key): name for key, name in header.stage_names.items()}),
        "terminals": list(survey.terminals),
        "nodes": len(survey.topology.ids),
        "edges": len(survey.topology.edge_sources),
        "warnings": list(survey.warnings),
    }


def process_from(properties: Mapping[str, Any], claims: int) -> Process:
    """A process from its properties."""
    names = json.loads(properties["stage_names"])
    return Process(
        process_id=properties["process_id"],
        name=properties["name"],
        question=properties.get("question"),
        source_format=properties["source_format"],
        content_hash=properties["content_hash"],
        stages=dict(zip(properties["stages"], properties["stage_counts"], strict=True)),
        stage_names={int(stage): name for stage, name in names.items()},
        terminals=tuple(properties["terminals"]),
        nodes=properties["nodes"],
        edges=properties["edges"],
        claims=claims,
        warnings=tuple(properties.get("warnings") or ()),
    )


def claim_row(claim: Claim) -> dict[str, Any]:
    """Properties of a claim."""
    return {
        "claim_id": claim.claim_id,
        "node_id": claim.node_id,
        "text": claim.text,
        "start": claim.start,
        "end": claim.end,
        "sub_claims": list(claim.sub_claims),
        "label": claim.label.value if claim.label else None,
    }


def claim_from(properties: Mapping[str, Any]) -> Claim:
    """A claim from its properties."""
    label = properties.get("label")
    return Claim(
        claim_id=properties["claim_id"],
        text=properties["text"],
        node_id=properties["node_id"],
        start=properties.get("start"),
        end=properties.get("end"),
        sub_claims=tuple(properties.get("sub_claims") or ()),
        label=Verdict(label) if label else None,
    )

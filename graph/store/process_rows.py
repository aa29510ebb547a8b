"""Processes, claims and extracted sentences as properties, and back."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.model import Claim, Process, Verdict
from veritrail_graph.graph.model.extraction import ExtractedSentence, SentenceOutcome

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest.check import Survey

_log = logging.getLogger("veritrail.store")

MOST_ROWS = 1_000
MOST_HELD = 20_000_000
"""Characters of spans and sentences that one statement may make an engine hold."""


_TYPES: Mapping[str, type] = {
    "process_id": str,
    "name": str,
    "source_format": str,
    "content_hash": str,
    "nodes": int,
    "edges": int,
}
_WORDS = {str: "a text", int: "a whole number"}


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
    """A process from its properties.

    Raises:
        EngineError: They do not describe one: somebody else wrote or changed the node.
    """
    try:
        return _process_from(properties, claims)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        lacking = f"it has no `{error.args[0]}`" if isinstance(error, KeyError) else str(error)
        name = properties.get("process_id")
        raise EngineError(
            f"Process {name!r} is damaged: its node in the graph does not describe a process "
            f"({lacking}). Another program made or changed it. Deleting the process removes it "
            "with everything that is stored under this id.",
            code="process_damaged",
            process_id=str(name),
        ) from None


def readable(found: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that describe a process; a warning tells of each other one."""
    whole = []
    for properties in found:
        try:
            process_from(properties, 0)
        except EngineError as error:
            _log.warning("Left out: %s", error)
        else:
            whole.append(properties)
    return whole


def _process_from(properties: Mapping[str, Any], claims: int) -> Process:
    names = json.loads(properties["stage_names"])
    for key, type_ in _TYPES.items():
        if not isinstance(properties[key], type_) or isinstance(properties[key], bool):
            raise TypeError(f"its `{key}` is not {_WORDS[type_]}")
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
        # In turn, start and end of each: not every engine holds lists of lists.
        "also": [offset for place in claim.also for offset in place] or None,
        "sub_claims": list(claim.sub_claims),
        "label": claim.label.value if claim.label else None,
    }


def claim_from(properties: Mapping[str, Any]) -> Claim:
    """A claim from its properties."""
    label = properties.get("label")
    also = properties.get("also") or []
    return Claim(
        claim_id=properties["claim_id"],
        text=properties["text"],
        node_id=properties["node_id"],
        start=properties.get("start"),
        end=properties.get("end"),
        sub_claims=tuple(properties.get("sub_claims") or ()),
        label=Verdict(label) if label else None,
        also=tuple(zip(also[::2], also[1::2], strict=True)),
    )


def extraction_batches(sentences: Sequence[ExtractedSentence]) -> Iterator[list[dict[str, Any]]]:
    """Properties of the sentences of a node, in batches bounded by what the engine has to hold.

    While it links a sentence, an engine holds the text of the whole span beside every row.
    """
    length = max((sentence.end for sentence in sentences), default=0)
    most = max(min(MOST_ROWS, MOST_HELD // max(length, 1)), 1)
    for start in range(0, len(sentences), most):
        yield [extraction_row(sentence) for sentence in sentences[start : start + most]]


def extraction_row(sentence: ExtractedSentence) -> dict[str, Any]:
    """Properties of an extracted sentence beside the node that it stands in."""
    return {
        "position": sentence.position,
        "start": sentence.start,
        "end": sentence.end,
        "text": sentence.text,
        "outcome": sentence.outcome.value,
        "reason": sentence.reason,
        "claim_ids": list(sentence.claim_ids),
    }


def extracted_from(properties: Mapping[str, Any]) -> ExtractedSentence:
    """An extracted sentence from its properties."""
    return ExtractedSentence(
        node_id=properties["node_id"],
        position=properties["position"],
        start=properties["start"],
        end=properties["end"],
        text=properties["text"],
        outcome=SentenceOutcome(properties["outcome"]),
        reason=properties.get("reason"),
        claim_ids=tuple(properties.get("claim_ids") or ()),
    )

"""Verifications as rows and properties, on their way into the graph.

A `caption` is what a person reads on a node in a graph browser; nobody reads it back.
"""

from __future__ import annotations

from typing import Any

from veritrail_graph.graph.model import (
    CitedSentence,
    Evidence,
    EvidencePath,
    Iteration,
    Noun,
    StepRecord,
    Verdict,
    Verification,
)

CAPTION = 40
"""Characters of the longest caption."""


def short(text: str) -> str:
    """A text as it is read on a node: on one line, and the end left out where it is long.

    The statements that store spans, claims and extractions, and the migration that gives
    captions to older graphs, say the same in Cypher.
    """
    line = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    return line if len(line) <= CAPTION else line[: CAPTION - 1] + "…"


def in_words(verdict: Verdict, indicative: bool) -> str:
    """A verdict as it is read: `Not Fully Supported`, or `Not Fully Supported (indicative)`."""
    words = verdict.value.replace("_", " ").title()
    return f"{words} (indicative)" if indicative else words


def verification_caption(verification: Verification) -> str:
    """What came of a verification, in words: its verdict or, without one, its status."""
    if verification.verdict is None:
        return verification.status.value.replace("_", " ").capitalize()
    return in_words(verification.verdict, verification.indicative)


def verification_row(verification: Verification) -> dict[str, Any]:
    """Properties of a verification; what it found are nodes of their own."""
    return {
        **properties(verification, IN_NODES),
        "error_stages": list(verification.error_stages),
        "caption": verification_caption(verification),
        "place": verification.place,
    }


IN_NODES = {
    "iterations": True, "paths": True, "steps": True, "error_nodes": True, "propagated_nodes": True,
    "place": True,
}  # fmt: skip
"""What of a verification the graph keeps as nodes and relationships; the place comes last."""


def properties(noun: Noun, leave_out: dict[str, Any] | None = None) -> dict[str, Any]:
    """A noun as properties of a node.

    No engine holds a map: the usage is made flat, and settings are the text that they are.
    """
    made = noun.model_dump(mode="json", exclude=leave_out)
    made |= made.pop("usage", {})
    return {
        key: getattr(noun, key) if isinstance(value, dict) else value for key, value in made.items()
    }


def iteration_row(verification_id: str, iteration: Iteration, indicative: bool) -> dict[str, Any]:
    """Properties of an iteration of a verification that is indicative, or is not."""
    leave_out = {"checked": True, "evidence": True, "summaries": True, "usage": True}
    return {
        "verification_id": verification_id,
        **properties(iteration, leave_out),
        "checked_count": len(iteration.checked),
        "evidence_count": sum(len(found.sentences) for found in iteration.summaries),
        # Enough to read a carried root back without another look at the process.
        "carried_places": [
            value for root in iteration.carried_roots for value in (root.stage, root.position)
        ],
        "caption": f"{iteration.number}: {in_words(iteration.verdict, indicative)}",
    }


def step_row(verification_id: str, position: int, step: StepRecord) -> dict[str, Any]:
    """Properties of a step, with its place among them; what it cost stands among them."""
    return {
        "verification_id": verification_id,
        "position": position,
        **properties(step),
        "caption": short(f"{step.iteration}: {step.step}"),
    }


def evidence_id(verification_id: str, number: int, position: int) -> str:
    """The key of evidence: its place among that of an iteration."""
    return f"{verification_id}/{number}/{position}"


def evidence_row(key: str, position: int, found: Evidence) -> dict[str, Any]:
    """Properties of evidence."""
    return {
        "evidence_id": key,
        "position": position,
        "summary": found.text,
        "missing": found.missing,
        "caption": short(found.text or "Evidence"),
    }


def sentence_row(position: int, cited: CitedSentence) -> list[Any]:
    """A cited sentence: [node_id, index, start, end, text, caption, role, position]."""
    caption = short(cited.text or cited.node_id)
    place = [cited.node_id, cited.sentence, cited.start, cited.end]
    return [*place, cited.text, caption, cited.role.value, position]


def path_row(path: EvidencePath) -> list[Any]:
    """A link of the evidence trail: [source, target, iteration, via]."""
    return [path.source, path.target, path.iteration, list(path.via)]

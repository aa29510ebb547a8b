"""Rows of cited sentences: where each stands, as what it was selected, and what it says.

Source: VeriTrail 3.2 (selected sentences with their node ids).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from veritrail_graph.graph.model import (
    CitedSentence,
    EvidenceRole,
    Iteration,
    JudgedPart,
    Side,
    Verification,
)
from veritrail_graph.graph.model.part import said_together
from veritrail_graph.graph.store.rows import short

Place = tuple[str, int, int, int]
"""A sentence by its node, its number, its start and its end."""

PART_KEYS = ("part_verdicts", "part_reasons")
"""Where the graph keeps verdicts on parts: two lists, in the order of the parts."""


def place_of(cited: CitedSentence) -> Place:
    """Return where a sentence stands."""
    return cited.node_id, cited.sentence, cited.start, cited.end


def sentence_row(position: int, cited: CitedSentence) -> list[Any]:
    """A cited sentence.

    Returns:
        [node_id, index, start, end, text, caption, role, position, says, part, sides].
    """
    caption = short(cited.text or cited.node_id)
    said = None if cited.says is None else cited.says.value
    sides = [f"{one.part} {one.says}" for one in cited.sides] or None
    what = [cited.text, caption, cited.role.value, position, said, cited.part, sides]
    return [*place_of(cited), *what]


def sides_from(rows: Iterable[str] | None) -> list[dict[str, Any]]:
    """The sides of a sentence on several parts, as its citation keeps them, as JSON."""
    split = (one.partition(" ") for one in rows or ())
    return [
        {"part": int(part) if part.isdigit() else part, "says": says} for part, _, says in split
    ]


def said_in(verification: Verification) -> dict[Place, str]:
    """Return what each sentence of evidence says in a whole trail, where a judge said it."""
    sides: dict[Place, list[Side]] = {}
    for iteration in verification.iterations:
        for cited in _evidence(iteration):
            sides.setdefault(place_of(cited), []).extend(cited.all_sides)
    said = {place: said_together(some) for place, some in sides.items()}
    return {place: one.value for place, one in said.items() if one is not None}


def _evidence(iteration: Iteration) -> Iterable[CitedSentence]:
    for found in iteration.summaries:
        for cited in found.sentences:
            if cited.role is EvidenceRole.EVIDENCE:
                yield cited


def part_lists(parts: Iterable[JudgedPart]) -> dict[str, list[str] | None]:
    """Verdicts on parts as properties; none where a judge gives none."""
    judged = tuple(parts)
    verdicts, reasons = PART_KEYS
    return {
        verdicts: [one.verdict.value for one in judged] or None,
        reasons: [one.reason for one in judged] or None,
    }


def parts_from(properties: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Verdicts on parts from the properties of an iteration or a verification, as JSON."""
    verdicts, reasons = (properties.get(key) or () for key in PART_KEYS)
    return [
        {"part": number, "verdict": verdict, "reason": reasons[number - 1] if reasons else ""}
        for number, verdict in enumerate(verdicts, start=1)
    ]

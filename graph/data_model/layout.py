"""Where everything stands in the drawing of the model: cards by hand, lines by hand.

The process is on the left, the trail that a verification leaves is on the right, so that
relationships between the two run from right to left. Numbers are pixels of the drawing.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, HEIGHT = 1450, 960
CARD_WIDTH = 230
HEADER, ROW, FOOT = 36, 20, 12

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Card:
    """A label in the drawing: its left upper corner, and the properties that are shown."""

    x: float
    y: float
    shown: tuple[str, ...]

    def height(self, rows: int) -> float:
        """Height of the card with this many rows."""
        return HEADER + ROW * rows + FOOT


@dataclass(frozen=True, slots=True)
class Line:
    """A relationship in the drawing: its corners from source to target, and its label's centre."""

    points: tuple[Point, ...]
    label: Point


CARDS: dict[str, Card] = {
    "Process": Card(40, 90, ("process_id", "name", "question", "status")),
    "Claim": Card(420, 90, ("process_id", "claim_id", "text", "node_id", "sub_claims")),
    "Verification": Card(
        800,
        90,
        ("verification_id", "claim", "node_id", "status", "verdict", "error_stages", "q"),
    ),
    "Step": Card(1180, 90, ("step", "prompt", "model", "calls", "cost_usd")),
    "Review": Card(
        1180, 290, ("review_id", "verdict", "model_verdict", "kind", "reason", "reviewer")
    ),
    "Span": Card(
        420, 410, ("process_id", "node_id", "text", "stage", "role", "kind", "model", "prompt")
    ),
    "Iteration": Card(800, 410, ("verification_id", "number", "verdict", "reasoning")),
    "Extraction": Card(40, 720, ("process_id", "node_id", "position", "text", "outcome", "reason")),
    "Sentence": Card(420, 720, ("process_id", "node_id", "index", "start", "end", "text")),
    "Evidence": Card(800, 720, ("evidence_id", "summary", "missing")),
    "VeriTrailSchema": Card(1180, 720, ("name", "version")),
}

LINES: dict[str, Line] = {
    "INPUT_TO": Line(((420, 478), (345, 478), (345, 526), (420, 526)), (345, 502)),
    "EVIDENCE_FOR": Line(((420, 556), (345, 556), (345, 604), (420, 604)), (345, 580)),
    "EXTRACTED_FROM": Line(((492, 258), (492, 410)), (492, 320)),
    "EXTRACTION_OF": Line(((270, 790), (345, 790), (345, 632), (420, 632)), (345, 711)),
    "VERIFIES": Line(((800, 170), (650, 170)), (725, 170)),
    "REVIEWS": Line(((1410, 340), (1430, 340), (1430, 70), (535, 70), (535, 90)), (900, 70)),
    "CONSIDERS": Line(((1180, 340), (1105, 340), (1105, 250), (1030, 250)), (1105, 295)),
    "HAS_ITERATION": Line(((950, 298), (950, 410)), (950, 354)),
    "TOOK": Line(((1030, 170), (1180, 170)), (1105, 170)),
    "CHECKED": Line(((800, 502), (650, 502)), (725, 502)),
    "FOUND": Line(((915, 558), (915, 720)), (915, 639)),
    "CITES": Line(((800, 790), (650, 790)), (725, 790)),
    "SENTENCE_OF": Line(((535, 720), (535, 638)), (535, 679)),
    "ERROR_INTRODUCED_AT": Line(((846, 298), (846, 326), (582, 326), (582, 410)), (716, 326)),
    "ERROR_PROPAGATED_THROUGH": Line(((880, 298), (880, 368), (616, 368), (616, 410)), (748, 368)),
}

SHARED: Line = Line(((155, 238), (155, 440), (420, 440)), (155, 339))
"""No relationship: spans name their process by a property."""

LEGEND: Point = (1180, 530)

"""The data model as a drawing (SVG) that reads well on light and on dark pages.

Cards and lines are placed by hand. The process is on the left, the trail that a verification
leaves is on the right, so that relationships between the two run from right to left. Numbers
are pixels of the drawing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot
from xml.sax.saxutils import escape

from veritrail_graph.graph.schema.element_types import NodeType, RelationshipType
from veritrail_graph.graph.schema.model import NODES, RELATIONSHIPS
from veritrail_graph.graph.schema.style import (
    LABELS,
    PLAIN_RELATIONSHIP,
    RELATIONSHIP_COLOURS,
)

WIDTH, HEIGHT = 1450, 1540
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
    "Revision": Card(800, 880, ("revision_id", "text", "mode", "edits", "outcome")),
    "TrailNode": Card(
        800, 1090, ("verification_id", "node_id", "caption", "stage", "role", "iteration")
    ),
    "TurnVerification": Card(
        420, 1300, ("process_id", "node_id", "run_id", "status", "label", "score", "in_force")
    ),
    "VeriTrailSchema": Card(1180, 720, ("name", "version")),
}

LINES: dict[str, tuple[Line, ...]] = {
    "HAS_FINAL_OUTPUT": (Line(((200, 238), (200, 425), (420, 425)), (200, 380)),),
    "INPUT_TO": (Line(((420, 478), (345, 478), (345, 526), (420, 526)), (345, 502)),),
    "EXTRACTED_FROM": (Line(((492, 258), (492, 410)), (492, 320)),),
    "EXTRACTION_OF": (Line(((270, 790), (318, 790), (318, 580), (420, 580)), (318, 680)),),
    "VERIFIES": (Line(((800, 170), (650, 170)), (725, 170)),),
    "COMPARED_WITH": (Line(((800, 230), (650, 230)), (725, 230)),),
    "CONTRADICTS": (Line(((420, 130), (345, 130), (345, 178), (420, 178)), (345, 154)),),
    "OF_TURN": (Line(((420, 1360), (350, 1360), (350, 604), (420, 604)), (350, 1240)),),
    "PART_OF": (Line(((1030, 268), (1112, 268), (1112, 1390), (650, 1390)), (900, 1390)),),
    "IN_FORCE": (Line(((650, 200), (800, 200)), (725, 200)),),
    "REVIEWS": (Line(((1410, 340), (1430, 340), (1430, 70), (535, 70), (535, 90)), (900, 70)),),
    "CONSIDERS": (Line(((1180, 340), (1140, 340), (1140, 245), (1030, 245)), (1086, 245)),),
    "REUSED_FROM": (Line(((1030, 100), (1090, 100), (1090, 140), (1030, 140)), (1090, 120)),),
    "HAS_ITERATION": (Line(((950, 298), (950, 410)), (950, 354)),),
    "TOOK": (Line(((1030, 170), (1180, 170)), (1105, 170)),),
    "CHECKED": (Line(((800, 502), (650, 502)), (725, 502)),),
    "FOUND": (Line(((915, 558), (915, 720)), (915, 639)),),
    "CITES": (
        Line(((800, 790), (650, 790)), (725, 790)),
        Line(((800, 1130), (480, 1130), (480, 908)), (640, 1130)),
    ),
    "AT": (Line(((800, 1170), (395, 1170), (395, 624), (420, 624)), (640, 1170)),),
    "LEADS_TO": (
        Line(((860, 1278), (860, 1310), (970, 1310), (970, 1278)), (915, 1310)),
        Line(((1030, 1130), (1065, 1130), (1065, 285), (1030, 285)), (1065, 640)),
    ),
    "SENTENCE_OF": (Line(((535, 720), (535, 638)), (535, 679)),),
    "ATTRIBUTED_TO": (Line(((650, 850), (725, 850), (725, 895), (650, 895)), (725, 872)),),
    "REVISES": (Line(((800, 945), (535, 945), (535, 908)), (670, 945)),),
    "ERROR_INTRODUCED_AT": (Line(((846, 298), (846, 326), (582, 326), (582, 410)), (716, 326)),),
    "ERROR_OFFERED_AT": (Line(((863, 298), (863, 347), (599, 347), (599, 410)), (732, 347)),),
    "ERROR_PROPAGATED_THROUGH": (
        Line(((880, 298), (880, 368), (616, 368), (616, 410)), (748, 368)),
    ),
}
"""By type: a line for each of its patterns, in the order of the model."""

SHARED: Line = Line(((110, 238), (110, 452), (420, 452)), (110, 320))
"""No relationship: spans name their process by a property."""

LEGEND: Point = (1180, 530)


_CHARACTER = 8.7  # width of a character of a label, in the widest of the fonts
_CORNER = 12.0

_STYLE = """\
.page { fill: #ffffff; stroke: #d4d8de; }
.card { fill: #f7f8fa; stroke-width: 1.6; }
.label { font-size: 16px; font-weight: 700; }
.property { fill: #1f2933; font-size: 13px; font-family: MONO; }
.key { font-weight: 700; }
.more, .note { fill: #5b6675; font-size: 12.5px; }
.type { fill: #5b6675; font-size: 11.5px; text-anchor: end; }
.line { fill: none; stroke-width: 1.9; }
.shared { stroke-dasharray: 2 5; }
.pill { fill: #ffffff; }
.name { fill: #1f2933; font-size: 11.5px; font-weight: 600; font-family: MONO; }
.name { text-anchor: middle; }
.title { fill: #1f2933; font-size: 21px; font-weight: 700; }
@media (prefers-color-scheme: dark) {
  .page { fill: #12171e; stroke: #303946; }
  .card { fill: #1d2530; }
  .property, .name, .title { fill: #e6ebf1; }
  .more, .note, .type { fill: #a3afbe; }
  .pill { fill: #12171e; }
}
""".replace("MONO", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace")

_SANS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
_SHORT = {
    "list of strings": "strings",
    "list of integers": "integers",
}


def drawing() -> str:
    """The drawing as the text of an SVG file."""
    return "\n".join([*_head(), *_lines(), *_cards(), *_legend(), "</svg>"]) + "\n"


def _head() -> Iterator[str]:
    labels = ", ".join(node.label for node in NODES)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="title desc" font-family="{_SANS}">'
    )
    yield '<title id="title">The data model of the graph</title>'
    yield (
        f'<desc id="desc">Labels: {labels}. A process points to its final outputs, claims '
        "and extractions to the span that states them. A verification points to its claim, its "
        "iterations and its steps; a review "
        "to its claim and to the verification that it is about; an iteration to the spans that it "
        "checked and to the evidence that it found; evidence to sentences, and these to their "
        "spans. A node of an evidence trail points to its span, to the sentences that it cites, "
        "and to the next node or to the verification. What was found of a turn of a dialogue "
        "points to the turn, and its verifications "
        "to it and to the claims that they were compared with.</desc>"
    )
    yield f"<style>\n{_STYLE}</style>"
    yield "<defs>"
    for colour in (PLAIN_RELATIONSHIP, *RELATIONSHIP_COLOURS.values()):
        yield (
            f'<marker id="{_marker(colour)}" viewBox="0 0 10 10" refX="9" refY="5" '
            'markerUnits="userSpaceOnUse" markerWidth="12" markerHeight="12" orient="auto">'
            f'<path fill="{colour}" d="M0 0.5 L10 5 L0 9.5 z"/></marker>'
        )
    yield "</defs>"
    yield f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="12"/>'
    yield '<text class="title" x="40" y="52">The data model</text>'


def _marker(colour: str) -> str:
    return f"to-{colour.removeprefix('#').lower()}"


def lines() -> Iterator[tuple[RelationshipType, Line]]:
    """Every relationship of the model with its line."""
    left = {type_: iter(some) for type_, some in LINES.items()}
    for relationship in RELATIONSHIPS:
        yield relationship, next(left[relationship.type])


def _lines() -> Iterator[str]:
    yield f'<path class="line shared" stroke="{PLAIN_RELATIONSHIP}" d="{_path(SHARED.points)}"/>'
    yield from _named("process_id", SHARED)
    for relationship, line in lines():
        colour = RELATIONSHIP_COLOURS.get(relationship.type, PLAIN_RELATIONSHIP)
        yield (
            f'<path class="line" stroke="{colour}" d="{_path(line.points)}" '
            f'marker-end="url(#{_marker(colour)})"/>'
        )
        yield from _named(relationship.type, line)


def _named(name: str, line: Line) -> Iterator[str]:
    (x, y), width = line.label, len(name) * _CHARACTER + 12
    yield (
        f'<rect class="pill" x="{x - width / 2:.1f}" y="{y - 10:.1f}" width="{width:.1f}" '
        'height="20" rx="10"/>'
    )
    yield f'<text class="name" x="{x:.1f}" y="{y + 4:.1f}">{escape(name)}</text>'


def _path(points: Sequence[Point]) -> str:
    """A line through points, its corners rounded."""
    parts = [f"M{_at(points[0])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        parts.append(
            f"L{_at(_towards(corner, before))} Q{_at(corner)} {_at(_towards(corner, after))}"
        )
    return " ".join([*parts, f"L{_at(points[-1])}"])


def _towards(start: Point, end: Point) -> Point:
    length = hypot(end[0] - start[0], end[1] - start[1])
    share = min(_CORNER, length / 2) / length
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def _at(point: Point) -> str:
    return f"{point[0]:g} {point[1]:g}"


def _cards() -> Iterator[str]:
    for node in NODES:
        yield "<g>"
        yield from _card(node)
        yield "</g>"


def _card(node: NodeType) -> Iterator[str]:
    card, colours = CARDS[node.label], LABELS[node.label]
    types = {prop.name: prop.type for prop in node.properties}
    left_out = len(node.properties) - len(card.shown)
    height = card.height(len(card.shown) + (left_out > 0))
    x, y = card.x, card.y
    frame = f'x="{x}" y="{y}" width="{CARD_WIDTH}" rx="9"'
    yield f'<rect class="card" {frame} height="{height}" stroke="{colours.border}"/>'
    yield (
        f'<path fill="{colours.fill}" stroke="{colours.border}" stroke-width="1.6" '
        f'd="M{x} {y + HEADER} V{y + 9} Q{x} {y} {x + 9} {y} H{x + CARD_WIDTH - 9} '
        f'Q{x + CARD_WIDTH} {y} {x + CARD_WIDTH} {y + 9} V{y + HEADER} z"/>'
    )
    yield f'<text class="label" fill="{colours.text}" x="{x + 14}" y="{y + 24}">{node.label}</text>'
    for place, name in enumerate(card.shown):
        line = y + HEADER + 20 + place * ROW
        weight = "property key" if name in node.key else "property"
        short = _SHORT.get(types[name], types[name])
        yield f'<text class="{weight}" x="{x + 14}" y="{line}">{name}</text>'
        yield f'<text class="type" x="{x + CARD_WIDTH - 12}" y="{line}">{short}</text>'
    if left_out:
        line = y + HEADER + 20 + len(card.shown) * ROW
        yield f'<text class="more" x="{x + 14}" y="{line}">and {left_out} more</text>'


def _legend() -> Iterator[str]:
    x, y = LEGEND
    provenance, introduced, offered, carried = RELATIONSHIP_COLOURS.values()
    entries = (
        (provenance, "line", "the evidence trail"),
        (introduced, "line", "where an error came in"),
        (offered, "line", "where its value says that it did"),
        (carried, "line", "where it was carried on"),
        (PLAIN_RELATIONSHIP, "line shared", "a shared property"),
    )
    for place, (colour, kind, words) in enumerate(entries):
        line = y + 18 + place * 26
        yield f'<path class="{kind}" stroke="{colour}" d="M{x} {line} H{x + 40}"/>'
        yield f'<text class="note" x="{x + 52}" y="{line + 4}">{words}</text>'
    line = y + 18 + len(entries) * 26
    yield f'<text class="property key" x="{x}" y="{line + 4}">bold</text>'
    yield f'<text class="note" x="{x + 52}" y="{line + 4}">the key of a node</text>'

"""Pictures of trails and of error stages as SVG: text alone, no script, nothing from elsewhere.

They run from the sources on the left to the answer on the right, as the page does. Every text is
untrusted and escaped; words carry what colours say.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from veritrail_graph.api.show.notebook import COLOURS
from veritrail_graph.api.show.texts import clean, cut_to, id_lines, in_lines
from veritrail_graph.api.show.trail_view import EvidenceNode, trail_view
from veritrail_graph.api.show.words import VERDICT_WORDS, unsaid_in_short
from veritrail_graph.graph.model import Verdict, Verification

WIDTH, GAP_X, GAP_Y, PAD = 210, 60, 16, 16
LINE = 16
NODES = 8
"""Nodes that are drawn of a stage."""

_CHARACTERS = 27
_TEXT_LINES = 3
_WRONG = COLOURS[Verdict.NOT_FULLY_SUPPORTED]
_NEUTRAL = COLOURS[None]
_FONT = "font-family:system-ui,sans-serif;font-size:12px"


@dataclass(frozen=True, slots=True)
class _Box:
    """A box of the picture."""

    x: float
    y: float
    height: float


def trail_svg(found: Verification) -> str:
    """A trail: the nodes with evidence by iteration, what they were made into, and the claim.

    A node is drawn once, at the first iteration that selected from it.

    Args:
        found: The verification.
    """
    view = trail_view(found)
    columns: list[tuple[str, list[EvidenceNode]]] = []
    seen: set[str] = set()
    for one in view.iterations:
        nodes = [node for node in one.nodes if node.node_id not in seen]
        seen |= {node.node_id for node in nodes}
        columns.append((f"iteration {one.number}: {one.mark.word}", nodes))
    columns.reverse()
    boxes: dict[str, _Box] = {}
    parts: list[str] = []
    lowest = 0.0
    for place, (title, nodes) in enumerate(columns):
        x = PAD + place * (WIDTH + GAP_X)
        parts.append(_text(x, PAD + LINE, cut_to(title, 34), bold=True))
        y: float = PAD + 2 * LINE
        for node in nodes[:NODES]:
            drawn, height = _node(node, x, y)
            boxes.setdefault(node.node_id, _Box(x, y, height))
            parts += drawn
            y += height + GAP_Y
        if len(nodes) > NODES:
            parts.append(_text(x, y + LINE, f"and {len(nodes) - NODES:,} more"))
            y += 2 * LINE
        lowest = max(lowest, y)
    x = PAD + len(columns) * (WIDTH + GAP_X)
    answer, height = _answer(found, x, PAD + 2 * LINE)
    answer_box = _Box(x, PAD + 2 * LINE, height)
    parts += [_text(x, PAD + LINE, "the claim", bold=True), *answer]
    lowest = max(lowest, PAD + 2 * LINE + height + GAP_Y)
    lines = [
        _line(boxes[node.node_id], boxes.get(target, answer_box))
        for _, nodes in columns
        for node in nodes[:NODES]
        for target in (node.feeds or (found.node_id,))
        if target in boxes or target == found.node_id
    ]
    words = VERDICT_WORDS[found.verdict] if found.verdict else found.status.value
    label = f"Trail of the claim “{cut_to(clean(found.claim), 200)}”: {words}"
    return _picture(x + WIDTH + PAD, lowest + PAD, label, [*lines, *parts])


def _node(node: EvidenceNode, x: float, y: float) -> tuple[list[str], float]:
    """A node with its first sentence; where an error came in, the words and the colour say so."""
    lines = [line for line in id_lines(clean(node.node_id), _CHARACTERS) if line]
    said = [clean(one.text) for one in node.cited[:1]]
    texts = in_lines(said[0], _CHARACTERS, _TEXT_LINES) if said else ()
    mark = []
    if node.introduced:
        mark = ["perhaps introduced here" if node.among > 1 else "introduced here"]
    elif node.inherited:
        mark = ["carried on here"]
    colour = _WRONG if node.introduced else _NEUTRAL
    height = (len(lines) + len(texts) + len(mark)) * LINE + 12
    drawn = [_rectangle(x, y, height, colour, 2.5 if node.introduced else 1)]
    at = y + LINE
    for line in lines:
        drawn.append(_text(x + 8, at, line, bold=True))
        at += LINE
    for line in texts:
        drawn.append(_text(x + 8, at, line))
        at += LINE
    drawn += [_text(x + 8, at, line, colour=colour, bold=True) for line in mark]
    return drawn, height


def _answer(found: Verification, x: float, y: float) -> tuple[list[str], float]:
    """The claim with its verdict."""
    words = VERDICT_WORDS[found.verdict] if found.verdict else found.status.value
    marks = [words, "indicative"] if found.indicative and found.verdict else [words]
    lines = in_lines(clean(found.claim), _CHARACTERS, 5)
    height = (len(lines) + len(marks)) * LINE + 12
    colour = COLOURS[found.verdict]
    drawn = [_rectangle(x, y, height, colour, 2.5)]
    drawn += [_text(x + 8, y + LINE * place, line) for place, line in enumerate(lines, 1)]
    for place, mark in enumerate(marks, len(lines) + 1):
        drawn.append(_text(x + 8, y + LINE * place, mark, colour=colour, bold=True))
    return drawn, height


def stages_svg(found: Iterable[Verification]) -> str:
    """Where errors came in, by judge: a row a judge, a column a stage, darker for a larger share.

    Args:
        found: Verifications, such as those of several runs or models.
    """
    totals: Counter[str] = Counter()
    wrong: dict[str, Counter[int]] = defaultdict(Counter)
    for one in found:
        if one.verdict is None:
            continue
        judge = one.model or one.engine
        totals[judge] += 1
        if one.verdict is Verdict.NOT_FULLY_SUPPORTED and not unsaid_in_short(one):
            wrong[judge].update(one.error_stages or [0])
    stages = sorted({stage for each in wrong.values() for stage in each})
    parts = []
    side, row = 150, 30
    for place, stage in enumerate(stages):
        title = f"stage {stage}" if stage else "stage not known"
        parts.append(_text(PAD + side + place * 110, PAD + LINE, title))
    for at, judge in enumerate(sorted(totals)):
        y = PAD + 2 * LINE + at * row
        parts.append(_text(PAD, y + LINE, cut_to(clean(judge), 21), bold=True))
        for place, stage in enumerate(stages):
            share = wrong[judge][stage] / totals[judge]
            x = PAD + side + place * 110
            parts.append(
                f'<rect x="{x}" y="{y}" width="104" height="{row - 6}" fill="{_WRONG}" '
                f'fill-opacity="{0.08 + 0.6 * share:.2f}"/>'
            )
            words = f"{wrong[judge][stage]:,} of {totals[judge]:,}"
            parts.append(_text(x + 6, y + LINE, words))
    if not stages:
        parts.append(_text(PAD, PAD + LINE, "No error was found."))
    width = PAD * 2 + side + max(len(stages), 1) * 110
    height = PAD * 2 + 2 * LINE + len(totals) * row
    return _picture(width, height, "Unsupported claims by judge and by error stage", parts)


def _picture(width: float, height: float, label: str, parts: list[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label, quote=True)}" '
        f'style="{_FONT};background:#fff">' + "".join(parts) + "</svg>"
    )


def _rectangle(x: float, y: float, height: float, colour: str, width: float) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{height:g}" rx="5" fill="#fff" '
        f'stroke="{colour}" stroke-width="{width:g}"/>'
    )


def _text(x: float, y: float, words: str, *, colour: str = "#1f2328", bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{colour}"{weight}>{escape(words)}</text>'


def _line(source: _Box, target: _Box) -> str:
    """A curve from a box to one on its right."""
    x1, y1 = source.x + WIDTH, source.y + source.height / 2
    x2, y2 = target.x, target.y + target.height / 2
    middle = (x1 + x2) / 2
    return (
        f'<path d="M{x1:g} {y1:g} C{middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}" '
        f'fill="none" stroke="{_NEUTRAL}" stroke-width="1.2"/>'
    )

"""A picture of error stages as SVG: text alone, no script, nothing from elsewhere.

Every text is untrusted and escaped; words carry what colours say.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from html import escape

from veritrail_graph.api.show.notebook import COLOURS
from veritrail_graph.api.show.texts import clean, cut_to
from veritrail_graph.api.show.words import unsaid_in_short
from veritrail_graph.graph.model import Verdict, Verification

PAD = 16
LINE = 16

_WRONG = COLOURS[Verdict.NOT_FULLY_SUPPORTED]


def stages_svg(found: Iterable[Verification]) -> str:
    """Return where errors came in, by judge.

    A row a judge, a column a stage, darker for a larger share.

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
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" '
        'aria-label="Unsupported claims by judge and by error stage" '
        'style="font-family:system-ui,sans-serif;font-size:12px;background:#fff">'
        f"{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, words: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" fill="#1f2328"{weight}>{escape(words)}</text>'

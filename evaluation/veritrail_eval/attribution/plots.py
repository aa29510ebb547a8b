"""Plots of attributions as SVG: bars side by side in groups. No program is needed to draw them.

Source: Error-tolerant attribution 6.1 (Table 3), 7 (Table 4), 8 (Figure 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from veritrail_eval.attribution.corrections import CorrectionScore
from veritrail_eval.attribution.linked import TENTHS, LinkAnalysis
from veritrail_eval.attribution.setups import Row
from veritrail_eval.figures.figure import Figure
from veritrail_graph.graph.model.attribution import Faithfulness, RevisionOutcome
from veritrail_graph.graph.unseen import spelled

_GREEN, _RED, _AMBER = "#1b7837", "#b2182b", "#b35806"
_COLOURS = ("#2166ac", _AMBER, "#762a83", "#01665e", "#8c510a", "#4d4d4d")
_LEAST_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BASE = 640, 320, 48, 16, 70, 270
_LINE, _KEY, _SLOT = 16, 200, 88
_MOST_LETTERS = 24
"""Letters of a name below the bars."""


@dataclass(frozen=True, slots=True)
class Series:
    """Bars of one colour, one in each group.

    Attributes:
        name: What they are.
        colour: Their colour.
        values: The share in each group, from 0 to 1; None: there is none, so no bar.
    """

    name: str
    colour: str
    values: Sequence[float | None]


def tenths_plot(analysis: LinkAnalysis) -> str:
    """The share of each group of linked source sentences in each tenth of the source."""
    series = []
    for label, colour in zip(Faithfulness, (_GREEN, _RED), strict=True):
        counts = analysis.tenths(label)
        total = sum(counts)
        name = f"{label.lower()}-linked ({total})"
        series.append(Series(name, colour, [count / (total or 1) for count in counts]))
    most = max(0.01, *(value or 0.0 for one in series for value in one.values))
    return bars(
        "Share of linked source sentences in each tenth of the source text",
        "tenth of the source text",
        [(str(place + 1),) for place in range(TENTHS)],
        series,
        most,
    )


def set_ups_plot(rows: Sequence[Row]) -> str:
    """The balanced accuracy of each set-up, by the number of documents.

    Source: Error-tolerant attribution 6.1, Table 3.
    """
    found = {(row.set_up, row.size): row.balanced_accuracy.value for row in rows}
    set_ups = list(dict.fromkeys(row.set_up for row in rows))
    sizes = sorted({row.size for row in rows}, key=lambda size: (size is None, size or 0))
    series = [
        Series(
            _size_words(size),
            _COLOURS[number % len(_COLOURS)],
            [found.get((set_up, size)) for set_up in set_ups],
        )
        for number, size in enumerate(sizes)
    ]
    groups = [(one.value,) for one in set_ups]
    return bars("Balanced accuracy of each set-up", "what the judge sees", groups, series)


def _size_words(size: int | None) -> str:
    return "any documents" if size is None else f"{size:,} document{'s' if size != 1 else ''}"


def corrections_plot(found: Sequence[CorrectionScore]) -> str:
    """The shares fixed, partly and not fixed, by model and mode.

    Source: Error-tolerant attribution 7, Table 4 (fix status).
    """
    colours = {
        RevisionOutcome.FIXED: _GREEN,
        RevisionOutcome.PARTLY: _AMBER,
        RevisionOutcome.NOT: _RED,
    }
    series = [
        Series(outcome.value, colour, [_value(one.outcome(outcome)) for one in found])
        for outcome, colour in colours.items()
    ]
    return bars(
        "Corrections that are fixed, partly fixed and not fixed",
        "what the corrector sees",
        _of_models(found),
        series,
    )


def ranks_plot(found: Sequence[CorrectionScore], ranks: int) -> str:
    """The shares of the relative ranks, by model and mode; rank 1 is the best.

    Source: Error-tolerant attribution 7, Table 4 (ranking).
    """
    series = [
        Series(
            f"rank {rank}",
            _COLOURS[(rank - 1) % len(_COLOURS)],
            [_value(one.rank(rank)) for one in found],
        )
        for rank in range(1, ranks + 1)
    ]
    words = "what the corrector sees"
    return bars("Relative ranks of corrections", words, _of_models(found), series)


def _value(figure: Figure) -> float | None:
    return figure.value


def _of_models(found: Sequence[CorrectionScore]) -> list[tuple[str, ...]]:
    return [(one.mode.value, one.model) for one in found]


def bars(
    title: str,
    axis: str,
    groups: Sequence[tuple[str, ...]],
    series: Sequence[Series],
    most: float = 1.0,
) -> str:
    """Bars of each series side by side in each group.

    Args:
        title: What is shown, for who cannot see it.
        axis: What the groups are.
        groups: The words below each group, a line each.
        series: The bars.
        most: The share at the top of the scale.
    """
    lines = max((len(one) for one in groups), default=1)
    slot = _SLOT if lines > 1 else 0
    width = max(_LEAST_WIDTH, _LEFT + _RIGHT + slot * len(groups), _LEFT + _KEY * len(series))
    height = _HEIGHT + _LINE * (lines - 1)
    step = (width - _LEFT - _RIGHT) / max(len(groups), 1)
    bar = 0.8 / max(len(series), 1)
    parts: list[str] = []
    for number, one in enumerate(series):
        for place, value in enumerate(one.values):
            if value is None:
                continue
            tall = (_BASE - _TOP) * value / most
            left = _LEFT + step * (place + 0.1 + bar * number)
            words = f"{one.name}, {', '.join(groups[place])}: {100 * value:.1f} %"
            parts.append(
                f'<rect x="{left:.1f}" y="{_BASE - tall:.1f}" width="{0.95 * bar * step:.1f}" '
                f'height="{tall:.1f}" fill="{one.colour}"><title>{_safe(words)}</title></rect>'
            )
        parts.append(
            f'<rect x="{_LEFT + _KEY * number}" y="14" width="12" height="12" '
            f'fill="{one.colour}"/><text x="{_LEFT + 18 + _KEY * number}" y="25">'
            f"{_safe(one.name)}</text>"
        )
    for place, words_below in enumerate(groups):
        for line, below in enumerate(words_below):
            parts.append(
                f'<text x="{_LEFT + step * (place + 0.5):.1f}" y="{_BASE + 18 + _LINE * line}" '
                f'text-anchor="middle">{_safe(_short(below, step))}</text>'
            )
    parts += [
        f'<path d="M{_LEFT} 60V{_BASE}H{width - _RIGHT}" fill="none" stroke="#555"/>',
        f'<text x="{_LEFT - 6}" y="{_TOP + 4}" text-anchor="end">{100 * most:.0f} %</text>',
        f'<text x="{_LEFT - 6}" y="{_BASE}" text-anchor="end">0</text>',
        f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle">{_safe(axis)}</text>',
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label={quoteattr(title)} font-family="sans-serif" font-size="13">\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _short(words: str, room: float) -> str:
    """Words that fit below a group; the whole of them is in the titles of its bars."""
    most = max(3, min(_MOST_LETTERS, int(room / 7)))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _safe(words: str) -> str:
    """Words as XML text: what XML cannot hold becomes a space."""
    return escape(spelled(words, lambda _: " "))

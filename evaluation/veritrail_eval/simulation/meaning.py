"""Explain the rows of a simulation in sentences.

Settings are compared for one and the same judge: how good a judge is cannot be chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from veritrail_eval.simulation.figures import Row

NEAR = 0.01
"""Loss of macro F1 or accuracy up to which a cheaper setting is worth naming."""
COMPARED = 6
"""Rows of one judge up to which each is compared with the best."""


def meaning(rows: Sequence[Row]) -> list[str]:
    """Sentences that compare the settings that one can choose, for each judge."""
    varied = varied_settings(rows)
    of_judge = groupby(sorted(rows, key=_judge), key=_judge)
    found = []
    for _, group in of_judge:
        found += _compared(list(group), varied)
    return found


def _judge(row: Row) -> tuple[float, ...]:
    noise = row.configuration.noise
    return (
        noise.recall,
        noise.false_positives,
        noise.flip_supported,
        noise.flip_unsupported,
        noise.inconclusive,
    )


def _compared(rows: list[Row], varied: Sequence[str]) -> list[str]:
    best = max(rows, key=lambda row: (_score(row), -_cost(row)))
    others = [row for row in rows if row is not best]
    if not others:
        return [f"{_name(best, varied)}: {_alone(best)}."]
    if len(rows) > COMPARED:
        others = [row for row in others if _score(row) >= _score(best) - NEAR]
        others = sorted((row for row in others if _cost(row) < _cost(best)), key=_cost)[:1]
        if not others:
            return [f"{_name(best, varied)} is best: {_alone(best)}; no cheaper one comes close."]
    said = [f"{_name(best, varied)} is best: {_alone(best)}."] if len(rows) > COMPARED else []
    return said + [_against(row, best, varied) for row in others]


def _against(row: Row, best: Row, varied: Sequence[str]) -> str:
    points = 100 * (_score(best) - _score(row))
    loses = f"loses {points:.1f} points" if points >= 0.05 else "is as good"
    what = f" of {_measure(best)}" if points >= 0.05 else f" by {_measure(best)}"
    change = _cost(row) / _cost(best) - 1 if _cost(best) else 0.0
    amount = f"{abs(change):.0%}".replace("%", " %")
    if best.figures["cost_per_claim"] is not None:
        price = f"costs {amount} {'less' if change < 0 else 'more'}"
    else:
        price = f"uses {amount} {'fewer' if change < 0 else 'more'} tokens"
    if round(abs(change), 2) == 0:
        price = "costs the same"
    joined = "and" if (change < 0) or points >= 0.05 else "but"
    return f"{_name(row, varied)} {loses}{what} against {_name(best, varied)} {joined} {price}."


def _undecided(row: Row, best: Row) -> str:
    """Scores are over claims with a verdict: many without one are worth a word."""
    here, there = (one.figures["inconclusive"] + one.figures["no_verdict"] for one in (row, best))
    if abs(here - there) < NEAR:
        return ""
    return f"; it leaves {_percent(here)} of claims undecided, against {_percent(there)}"


def _alone(row: Row) -> str:
    figures = row.figures
    low, high = figures["accuracy_interval"]
    right = f"right about {_percent(figures['accuracy'])} of claims"
    interval = f"95 % interval {_percent(low)} to {_percent(high)}"
    return f"{right} ({interval}), {figures['calls']:,.1f} calls a claim"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _measure(row: Row) -> str:
    return "accuracy" if row.figures["macro_f1"] is None else "macro F1"


def _score(row: Row) -> float:
    score = row.figures["macro_f1"]
    return float(row.figures["accuracy"] if score is None else score)


def _cost(row: Row) -> float:
    figures = row.figures
    cost = figures["cost_per_claim"]
    return float(figures["input_tokens"] + figures["output_tokens"] if cost is None else cost)


def _name(row: Row, varied: Sequence[str]) -> str:
    settings = row.configuration.named()
    shown = [f"{name} = {_value(settings[name])}" for name in varied or ("q",)]
    return ", ".join(shown)


def _value(value: object) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def varied_settings(rows: Sequence[Row]) -> list[str]:
    """The settings that differ between rows."""
    named = [row.configuration.named() for row in rows]
    return [name for name in named[0] if len({one[name] for one in named}) > 1]

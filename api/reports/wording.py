"""What is said of all claims of a report together.

Source: VeriTrail 3.2 (verdicts, error localization).
"""

from __future__ import annotations

from veritrail_graph.api.reports.material import Material, State
from veritrail_graph.graph.exporters.costs import counted


def indicative_words(material: Material) -> str | None:
    """Which verdicts no language model gave; None: there are none."""
    judged = [one for one in material.claims if one.verdict is not None]
    indicative = sum(one.is_indicative for one in judged)
    if not indicative:
        return None
    return "All verdicts" if indicative == len(judged) else "Some verdicts"


def open_words(material: Material) -> str:
    """What verdicts leave open about where unsupported content came in; empty: nothing.

    Where no claim is known to be not fully supported, it says what is known instead of a place.
    """
    states = material.counts
    without = {
        "is inconclusive": states[State.INCONCLUSIVE],
        "could not be checked": states[State.FAILED],
        "was not checked": states[State.UNCHECKED],
    }
    left = [_how_many(claims, words) for words, claims in without.items() if claims]
    judged = len(material.claims) - states[State.FAILED] - states[State.UNCHECKED]
    rest = f" {_joined(left)}: nothing can be said of {_them(sum(without.values()))}."
    if states[State.NOT_SUPPORTED]:
        return rest.strip() if left else ""
    if not judged:
        return f"No claim of this report has a verdict.{rest}"
    if not left:
        return "Nowhere: every claim of this report is fully supported."
    return f"No claim of this report is known to be not fully supported.{rest}"


def _how_many(claims: int, words: str) -> str:
    plural = words.replace("is ", "are ", 1).replace("was ", "were ", 1)
    return f"{counted(claims, 'claim')} {words if claims == 1 else plural}"


def _joined(parts: list[str]) -> str:
    return (
        f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0] if parts else ""
    )


def _them(claims: int) -> str:
    return "it" if claims == 1 else "them"

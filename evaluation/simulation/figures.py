"""Figures of one configuration, from whole numbers that are added up in any order.

Source: VeriTrail 4.2 (macro F1, balanced accuracy), 3.2 and H (error stages), D (nodes verified,
cost of a claim).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_graph.evaluation.simulation.configuration import Configuration
from veritrail_graph.evaluation.simulation.walking import WalkResult
from veritrail_graph.graph.model import Verdict

NORMAL_95 = 1.959963984540054
ONE_CLASS = "all claims that got a verdict have the same label"
NO_VERDICT = "no claim got one of the two verdicts"
NO_ERROR = "no claim with an error was found Not Fully Supported"
NO_PRICE = "no price is given"
NOTHING_SHOWN = "no sentence with a fact of a claim was shown"
NOTHING_SELECTED = "no sentence was selected"

_SUMMED = (
    "iterations", "nodes", "calls", "input_tokens", "output_tokens", "shown", "found", "mistaken",
)  # fmt: skip


@dataclass(slots=True)
class Totals:
    """Sums over the claims of one configuration.

    Attributes:
        outcomes: Claims by what is true (supported or not) and by the final verdict.
        sums: Sums of what walks took, by its name.
        located: Claims with an error that were found out: how many there are, and of how many
            the named stages are the right one alone, hold it, or hold the right node.
    """

    outcomes: Counter[tuple[bool, Verdict | None]] = field(default_factory=Counter)
    sums: Counter[str] = field(default_factory=Counter)
    located: Counter[str] = field(default_factory=Counter)

    def add(self, results: Iterable[WalkResult]) -> None:
        """Add claims."""
        for one in results:
            self.outcomes[one.is_supported, one.verdict] += 1
            for name in _SUMMED:
                self.sums[name] += getattr(one, name)
            if not one.is_supported and one.verdict is Verdict.NOT_FULLY_SUPPORTED:
                self.located["all"] += 1
                self.located["exact"] += one.stages == (one.error_stage,)
                self.located["within"] += one.error_stage in one.stages
                self.located["node"] += one.names_node

    @property
    def claims(self) -> int:
        """How many claims."""
        return self.outcomes.total()


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one configuration.

    Attributes:
        configuration: Its settings.
        figures: By name, as JSON; null where there is none.
        reasons: Why a figure is null, by its name.
    """

    configuration: Configuration
    figures: dict[str, Any]
    reasons: dict[str, str]

    def json_object(self) -> dict[str, Any]:
        """Settings and figures in one object."""
        return {**self.configuration.named(), **self.figures, "reasons": self.reasons}


def row(
    configuration: Configuration, totals: Totals, nodes: int, price: Sequence[float] | None
) -> Row:
    """The figures of a configuration.

    Args:
        configuration: Its settings.
        totals: Sums over its claims, at least one.
        nodes: How many nodes the process has.
        price: US dollars per million tokens of prompts and of answers; None: not known.
    """
    claims, sums = totals.claims, totals.sums
    reasons: dict[str, str] = {}

    def share(name: str, part: float, whole: float, why: str) -> float | None:
        if whole == 0:
            reasons[name] = why
            return None
        return part / whole

    def of_verdict(verdict: Verdict | None) -> int:
        return totals.outcomes[True, verdict] + totals.outcomes[False, verdict]

    right = totals.outcomes[True, Verdict.FULLY_SUPPORTED]
    caught = totals.outcomes[False, Verdict.NOT_FULLY_SUPPORTED]
    located = totals.located
    cost = None
    if price is None:
        reasons["cost_per_claim"] = NO_PRICE
    else:
        cost = (sums["input_tokens"] * price[0] + sums["output_tokens"] * price[1]) / 1_000_000
    scores = _scores(totals, reasons)
    figures = {
        "claims": claims,
        "decided": of_verdict(Verdict.FULLY_SUPPORTED) + of_verdict(Verdict.NOT_FULLY_SUPPORTED),
        **scores,
        "accuracy": (right + caught) / claims,
        "accuracy_interval": wilson(right + caught, claims),
        "inconclusive": of_verdict(Verdict.INCONCLUSIVE) / claims,
        "no_verdict": of_verdict(None) / claims,
        "iterations": sums["iterations"] / claims,
        "nodes_visited": sums["nodes"] / claims,
        "nodes_share": sums["nodes"] / claims / nodes,
        "calls": sums["calls"] / claims,
        "input_tokens": sums["input_tokens"] / claims,
        "output_tokens": sums["output_tokens"] / claims,
        "cost_per_claim": None if cost is None else cost / claims,
        "errors_found": located["all"],
        "error_stage_exact": share("error_stage_exact", located["exact"], located["all"], NO_ERROR),
        "error_stage_within": share(
            "error_stage_within", located["within"], located["all"], NO_ERROR
        ),
        "error_node_within": share("error_node_within", located["node"], located["all"], NO_ERROR),
        "selection_recall": share("selection_recall", sums["found"], sums["shown"], NOTHING_SHOWN),
        "selection_precision": share(
            "selection_precision",
            sums["found"],
            sums["found"] + sums["mistaken"],
            NOTHING_SELECTED,
        ),
    }
    return Row(configuration, figures, reasons)


def _scores(totals: Totals, reasons: dict[str, str]) -> dict[str, float | None]:
    """Macro F1 and balanced accuracy over the claims that got one of the two verdicts."""
    verdicts = {True: Verdict.FULLY_SUPPORTED, False: Verdict.NOT_FULLY_SUPPORTED}
    f1, recalls = [], []
    for label, verdict in verdicts.items():
        hit = totals.outcomes[label, verdict]
        missed = totals.outcomes[label, verdicts[not label]]
        wrongly = totals.outcomes[not label, verdict]
        if hit + missed:
            f1.append(2 * hit / (2 * hit + missed + wrongly))
            recalls.append(hit / (hit + missed))
    if len(recalls) < 2:
        why = ONE_CLASS if recalls else NO_VERDICT
        reasons.update(macro_f1=why, balanced_accuracy=why)
        return {"macro_f1": None, "balanced_accuracy": None}
    return {"macro_f1": sum(f1) / 2, "balanced_accuracy": sum(recalls) / 2}


def wilson(hits: int, whole: int) -> list[float]:
    """A 95 % interval of a share. Source: Wilson 1927."""
    share, square = hits / whole, NORMAL_95**2
    middle = (share + square / (2 * whole)) / (1 + square / whole)
    spread = math.sqrt(share * (1 - share) / whole + square / (4 * whole**2))
    half = NORMAL_95 * spread / (1 + square / whole)
    return [max(0.0, middle - half), min(1.0, middle + half)]

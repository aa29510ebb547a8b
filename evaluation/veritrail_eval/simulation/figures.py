"""Figures of one configuration, from whole numbers that are added up in any order.

Source: VeriTrail 4.2 (macro F1, balanced accuracy), 3.2 and H (error stages), D (nodes verified,
cost of a claim).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_eval.figures.confusion import Confusion
from veritrail_eval.simulation.configuration import Configuration
from veritrail_eval.simulation.walking import WalkResult
from veritrail_graph.graph.agreement import wilson_interval
from veritrail_graph.graph.model import Verdict

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
        """Return how many claims."""
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
    confusion = _confusion(totals)
    scores = {"macro_f1": confusion.macro_f1, "balanced_accuracy": confusion.balanced_accuracy}
    reasons |= {name: one.reason for name, one in scores.items() if one.reason is not None}
    figures = {
        "claims": claims,
        "decided": of_verdict(Verdict.FULLY_SUPPORTED) + of_verdict(Verdict.NOT_FULLY_SUPPORTED),
        **{name: one.value for name, one in scores.items()},
        "accuracy": (right + caught) / claims,
        "accuracy_interval": list(wilson_interval(right + caught, claims) or ()),
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


def _confusion(totals: Totals) -> Confusion:
    """The claims that got one of the two verdicts."""
    found, missed = Verdict.NOT_FULLY_SUPPORTED, Verdict.FULLY_SUPPORTED
    return Confusion(
        true_positives=totals.outcomes[False, found],
        false_positives=totals.outcomes[True, found],
        true_negatives=totals.outcomes[True, missed],
        false_negatives=totals.outcomes[False, missed],
    )

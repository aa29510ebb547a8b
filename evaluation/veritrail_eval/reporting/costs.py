"""The cost of configurations for each claim, and the share of nodes that they verify.

Source: VeriTrail D (Table 2), footnote 10.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from veritrail_eval.figures.cost import (
    ClaimCost,
    CostPerClaim,
    cost_anew,
    cost_paid,
    cost_per_claim,
    human_cost_per_claim,
    mean_share_verified,
)
from veritrail_eval.figures.figure import Figure, missing
from veritrail_eval.reporting.run_folder import ConfigurationRun
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import Usage

NO_CALLS = "no call to an endpoint was made"
PREPARED_FROM_CACHE = (
    "answers of the preparation came from the cache, and what they would cost is not known"
)


@dataclass(frozen=True)
class CostRow:
    """A configuration with its cost.

    Attributes:
        run: The configuration.
        cost: Its cost for each claim.
        total: US dollars for a claim, extraction and preparation in.
        calls: Calls to models for a finished claim, as a mean.
        share_verified: The mean share of the nodes of a process that claims were verified against.
        preparations: How often it was prepared.
        spent: What all lines cost together in US dollars, failures in.
    """

    run: ConfigurationRun
    cost: CostPerClaim
    total: Figure
    calls: Figure
    share_verified: Figure
    preparations: int
    spent: Figure


def cost_row(run: ConfigurationRun, extraction_per_claim: float | None = None) -> CostRow:
    """The cost of a configuration.

    Args:
        run: The configuration.
        extraction_per_claim: What the extraction of a claim cost; None: the claims came with
            the data set, so that nothing was paid for them.
    """
    claims = len(run.dataset.claims)
    costs = [
        ClaimCost(
            cost_usd=cost_paid(outcome.usage) if run.asks_models else None,
            is_finished=outcome.status.is_result,
            cached_calls=outcome.usage.cached_calls,
            anew_usd=cost_anew(outcome.usage, run.reused.get(key, Usage())),
        )
        for key, outcome in run.outcomes.items()
    ]
    # Claims that were not judged are in the data set, and share what is paid once.
    costs += [ClaimCost(None, is_finished=False)] * (claims - len(costs))
    found = cost_per_claim(
        costs,
        0.0 if extraction_per_claim is None else extraction_per_claim * claims,
        _sum(run.prepared),
    )
    if not run.asks_models and run.outcomes:
        nothing = missing(NO_CALLS)
        found = replace(found, processing=nothing, uncached=nothing, retries=nothing)
    elif found.retries.value is None:
        found = replace(found, retries=missing("retries are in the cost, not counted apart"))
    if any(one.cached_calls for one in run.prepared):
        found = replace(found, one_time=_prepared_anew(run, claims))
    finished = [one for one in run.outcomes.values() if one.status.is_result]
    calls = sum(one.usage.calls + one.usage.cached_calls for one in finished)
    nodes = {claim.key: claim.nodes for claim in run.dataset.claims}
    verified = [
        (one.nodes_verified, nodes[one.key]) for one in finished if one.nodes_verified is not None
    ]
    is_checked = bool(verified) or not finished
    return CostRow(
        run,
        found,
        found.total,
        Figure(calls / len(finished)) if finished else missing("no finished claim"),
        mean_share_verified(verified) if is_checked else missing("the method checks no nodes"),
        len(run.prepared),
        _spent(run),
    )


def _spent(run: ConfigurationRun) -> Figure:
    if not run.spent.calls and not run.spent.cached_calls:
        return missing(NO_CALLS)
    cost = cost_paid(run.spent)
    return missing("the price of a call is unknown") if cost is None else Figure(cost)


def _prepared_anew(run: ConfigurationRun, claims: int) -> Figure:
    """Return what the preparation costs without the cache, divided among all claims.

    A run that was continued prepares again, mostly from the cache: the dearest one is the whole.
    """
    known = [
        cost_anew(prepared, reused)
        for prepared, reused in zip(run.prepared, run.prepared_reused, strict=True)
    ]
    costs = [one for one in known if one is not None]
    if len(costs) < len(known) or not claims:
        return missing(PREPARED_FROM_CACHE)
    return Figure(max(costs) / claims)


def _sum(prepared: Sequence[Usage]) -> float | None:
    """Return what all preparations cost; None: the price of one is unknown."""
    known = [cost_paid(one) for one in prepared]
    return None if None in known else math.fsum(one for one in known if one is not None)


def dataset_costs(texts: Sequence[str], datasets: Collection[str], option: str) -> dict[str, float]:
    """Return the cost of a claim of each data set, from `2.41`, `1350/560` or `name=2.41`.

    Args:
        texts: The options as typed.
        datasets: Names of the data sets of the run.
        option: The option's name, for messages.

    Raises:
        InputError: One is no amount, or names no data set.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, separator, amount = text.rpartition("=")
        if separator and name not in datasets:
            known = ", ".join(shown(one) for one in datasets)
            raise InputError(f"{option} {shown(text)}: no data set is called {shown(name)}; "
                             f"there are {known}.")  # fmt: skip
        cost = _per_claim(amount)
        if cost is None:
            raise InputError(
                f"{option} {shown(text)}: must be US dollars for a claim, such as 2.41, or a total "
                "and its claims, such as 1350/560; with several data sets NAME=2.41."
            )
        for one in [name] if separator else datasets:
            found[one] = cost
    return found


def _per_claim(text: str) -> float | None:
    """US dollars for a claim, of `2.41` or `1350/560`; None: it is neither."""
    total, separator, claims = text.partition("/")
    cost = _amount(total)
    if cost is None or not separator:
        return cost
    is_number = claims.isascii() and claims.isdecimal() and len(claims) < 10
    return human_cost_per_claim(cost, int(claims)).value if is_number else None


def _amount(text: str) -> float | None:
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def human_figures(costs: Mapping[str, float], dataset: str) -> Figure | None:
    """Return what a person's judgement of a claim of a data set costs; None: it is not known."""
    return Figure(costs[dataset]) if dataset in costs else None

"""The cost of a claim, and the share of the graph that is read for it.

Source: VeriTrail D, footnote 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from veritrail_eval.figures.figure import Figure, mean, missing
from veritrail_graph.graph.model import Usage

ALL_CACHED = "what the answers from the cache would cost is not known; judged with --no-cache it is"


_NO_COST = "no finished claim with a known cost"


@dataclass(frozen=True, slots=True)
class ClaimCost:
    """The cost of one claim.

    Attributes:
        cost_usd: US dollars, every retry of an invalid answer included; None: unknown.
        is_finished: Whether it ended with a result.
        retries_usd: The part of the cost that went into invalid answers; None: unknown.
        cached_calls: Answers that came from the cache of answers and cost nothing now.
        anew_usd: What it would have cost without the cache; None: unknown. A claim without cached
            answers costs what it cost.
    """

    cost_usd: float | None
    is_finished: bool = True
    retries_usd: float | None = None
    cached_calls: int = 0
    anew_usd: float | None = None

    @property
    def uncached_usd(self) -> float | None:
        """US dollars as if nothing had come from the cache; None: unknown."""
        return self.anew_usd if self.cached_calls else self.cost_usd


@dataclass(frozen=True, slots=True)
class CostPerClaim:
    """The cost of a method, for each claim.

    Attributes:
        claims: All claims.
        finished: Those that ended with a result; only they are averaged.
        unpriced: Finished claims whose cost is unknown; they are left out of the mean.
        cached: Finished claims for which at least one answer came from the cache. Their cost is
            lower than what the method costs anew.
        processing: What was paid: the mean of the finished claims whose cost is known.
        uncached: What it costs anew: the mean as if nothing had come from the cache, of the
            finished claims of which that is known.
        retries: The part of `processing` that went into invalid answers.
        extraction: The cost of extracting claims, divided by all claims.
        one_time: A cost paid once, such as embedding all chunks, divided by all claims.
    """

    claims: int
    finished: int
    unpriced: int
    cached: int
    processing: Figure
    uncached: Figure
    retries: Figure
    extraction: Figure
    one_time: Figure

    @property
    def total(self) -> Figure:
        """US dollars for a claim, extraction and the amortised one-time cost included.

        Answers from the cache are counted as if they had been paid.
        """
        judging = self.uncached if self.cached else self.processing
        parts = judging, self.extraction, self.one_time
        for one in parts:
            if one.value is None:
                return one
        return Figure(sum(one.value for one in parts if one.value is not None))


def cost_per_claim(
    costs: Sequence[ClaimCost],
    extraction_usd: float | None = 0.0,
    one_time_usd: float | None = 0.0,
) -> CostPerClaim:
    """The cost of a method for each claim.

    Args:
        costs: What each claim cost.
        extraction_usd: What extracting all claims cost; None: unknown.
        one_time_usd: What was paid once for all claims; None: unknown.
    """
    finished = [one for one in costs if one.is_finished]
    priced = [one for one in finished if one.cost_usd is not None]
    known = [one.retries_usd for one in priced if one.retries_usd is not None]
    retries = mean(known, _NO_COST)
    if len(known) < len(priced):
        retries = missing("the cost of retries is not known for every claim")
    return CostPerClaim(
        claims=len(costs),
        finished=len(finished),
        unpriced=len(finished) - len(priced),
        cached=sum(one.cached_calls > 0 for one in finished),
        processing=_mean_cost(priced, _NO_COST),
        uncached=mean(
            (one.uncached_usd for one in finished if one.uncached_usd is not None),
            ALL_CACHED if any(one.cached_calls for one in finished) else _NO_COST,
        ),
        retries=retries,
        extraction=_spread(extraction_usd, len(costs)),
        one_time=_spread(one_time_usd, len(costs)),
    )


def cost_paid(usage: Usage) -> float | None:
    """US dollars; 0 where no call was paid, such as answers from the cache alone; None: unknown."""
    if usage.cost_usd is None and not usage.calls and not usage.unpriced_calls:
        return 0.0
    return usage.cost_usd


def cost_anew(usage: Usage, reused: Usage) -> float | None:
    """Return what work would have cost without answers that were there already.

    None: that is not known.

    Args:
        usage: What was paid.
        reused: What the answers that were there already would cost.
    """
    paid = cost_paid(usage)
    if not usage.cached_calls:
        return paid
    if paid is None or reused.cost_usd is None or reused.calls < usage.cached_calls:
        return None
    return paid + reused.cost_usd


def human_cost_per_claim(total_usd: float, claims: int) -> Figure:
    """Return what people cost for each claim.

    All that was paid, divided by the claims of the data set.
    """
    return _spread(total_usd, claims)


def mean_share_verified(verified: Iterable[tuple[int, int]]) -> Figure:
    """The mean share of nodes that claims were verified against, from 0 to 1.

    Claims may be about different processes; `graph.model.share_of_nodes` is the same for one.

    Args:
        verified: For each claim the nodes that were read, and the nodes of its process.
    """
    shares = (read / nodes for read, nodes in verified if nodes)
    return mean(shares, "no verified claim")


def _mean_cost(costs: Iterable[ClaimCost], reason: str) -> Figure:
    return mean((one.cost_usd for one in costs if one.cost_usd is not None), reason)


def _spread(usd: float | None, claims: int) -> Figure:
    if usd is None:
        return missing("the price is unknown")
    return Figure(usd / claims) if claims else missing("no claims")

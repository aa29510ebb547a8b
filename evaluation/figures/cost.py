"""What a claim costs, and how much of the graph is read for it.

Source: VeriTrail D, footnote 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from veritrail_graph.evaluation.figures.figure import Figure, mean, missing

ALL_CACHED = "every claim has answers from the cache; judged with --no-cache the cost is known"


@dataclass(frozen=True, slots=True)
class ClaimCost:
    """What one claim cost.

    Attributes:
        cost_usd: US dollars, every retry of an invalid answer included; None: unknown.
        is_finished: Whether it ended with a result.
        retries_usd: The part of the cost that went into invalid answers; None: unknown.
        cached_calls: Answers that came from the cache of answers and cost nothing now.
    """

    cost_usd: float | None
    is_finished: bool = True
    retries_usd: float | None = None
    cached_calls: int = 0


@dataclass(frozen=True, slots=True)
class CostPerClaim:
    """The cost of a method, for each claim.

    Attributes:
        claims: All claims.
        finished: Those that ended with a result; only they are averaged.
        unpriced: Finished claims whose cost is unknown; they are left out of the mean.
        cached: Finished claims for which at least one answer came from the cache. Their cost is
            lower than what the method costs anew.
        processing: The mean of the finished claims whose cost is known.
        uncached: The same, of those without an answer from the cache.
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

        Claims with answers from the cache are left out: they cost less than the method costs.
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
    retries = mean(known, "no finished claim with a known cost")
    if len(known) < len(priced):
        retries = missing("the cost of retries is not known for every claim")
    return CostPerClaim(
        claims=len(costs),
        finished=len(finished),
        unpriced=len(finished) - len(priced),
        cached=sum(one.cached_calls > 0 for one in finished),
        processing=_mean_cost(priced, "no finished claim with a known cost"),
        uncached=_mean_cost([one for one in priced if not one.cached_calls], ALL_CACHED),
        retries=retries,
        extraction=_spread(extraction_usd, len(costs)),
        one_time=_spread(one_time_usd, len(costs)),
    )


def human_cost_per_claim(total_usd: float, claims: int) -> Figure:
    """What people cost for each claim: all that was paid, divided by the claims of the data set."""
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

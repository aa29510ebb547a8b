"""The usage of a run: the sum over its verifications, and the share of the nodes that they read."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from veritrail_graph.graph.model.noun import Count, Noun
from veritrail_graph.graph.model.trail import NO_USAGE, Usage, Verification


def total_usage(verifications: Iterable[Verification]) -> Usage:
    """Return the sum of the costs of verifications; null while the cost of one is unknown."""
    return sum((one.usage for one in verifications), Usage())


class RunUsage(Noun):
    """The cost of a run, apart from the results that it reused. Source: VeriTrail D."""

    usage: Usage = Field(
        description="This run: its claims, whatever their status, retries and extraction included."
    )
    usage_reused: Usage = Field(
        description="Verifications of earlier runs that it shows; they were paid for then."
    )
    finished: Count = Field(
        description="Claims that ended in this run, with a verdict or undecided."
    )

    @classmethod
    def of(
        cls, run_id: str, verifications: Iterable[Verification], extraction: Usage = NO_USAGE
    ) -> RunUsage:
        """The usage of a run.

        Args:
            run_id: The run.
            verifications: What it shows, with what it reused.
            extraction: What its extraction of claims cost.
        """
        every = list(verifications)
        own = [one for one in every if one.run_id == run_id]
        return cls(
            usage=total_usage(own) + extraction,
            usage_reused=total_usage(one for one in every if one.run_id != run_id),
            finished=sum(one.status.is_result for one in own),
        )

    @property
    def usd_per_finished_claim(self) -> float | None:
        """US dollars a claim; None: unknown, or no claim was finished."""
        usd = self.usage.cost_usd
        return usd / self.finished if usd is not None and self.finished else None


def share_of_nodes(verified: Iterable[int], nodes: int) -> float | None:
    """The share of the nodes of a process that a verification reads on average, from 0 to 1.

    Source: VeriTrail D (percentage of nodes verified).

    Args:
        verified: How many nodes each verification read, all iterations together.
        nodes: The nodes of the process.
    """
    counts = list(verified)
    return sum(counts) / len(counts) / nodes if counts and nodes else None

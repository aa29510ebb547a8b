"""Of several verifications: their usage, the one that counts, the nodes that they read."""

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


def in_force(
    verifications: Iterable[Verification], run_of_record: str | None = None
) -> Verification | None:
    """Return the verification of a claim that counts; None: none of them has come to a result.

    A result is a verdict, or that the claim is undecided. Each judge speaks with the one of its
    results that has the highest q, then with the latest. Of the judges that of the run of record
    comes first, then one that decided, then the strongest (a language model, an entailment model,
    then one without a model), then the latest. `claims/put_in_force.cypher` keeps the same rule in
    the graph.

    Args:
        verifications: Verifications of one claim, with or without their trails.
        run_of_record: The run that is pinned, if one is.
    """
    by_judge: dict[tuple[bool, str, str | None], list[Verification]] = {}
    for one in verifications:
        if one.status.is_result:
            is_record = run_of_record is not None and one.run_id == run_of_record
            by_judge.setdefault((is_record, one.engine, one.model), []).append(one)

    def rank(found: tuple[bool, Verification]) -> tuple[bool, bool, int, tuple[str, str]]:
        is_record, one = found
        by_entailment = one.engine.rpartition("+")[2] == "nli"  # the last one gave the verdicts
        strength = 0 if one.indicative else 1 if by_entailment else 2
        return is_record, one.verdict is not None, strength, _time(one)

    said = [(key[0], _said_by_judge(each)) for key, each in by_judge.items()]
    return max(said, key=rank)[1] if said else None


def _said_by_judge(every: list[Verification]) -> Verification:
    """The result of one judge that counts: a lower q never takes the place of a higher one.

    An older text of the claim, or an older content of the process, is no rival of the newest.
    """
    newest = max(every, key=_time)
    same = [
        one
        for one in every
        if one.claim == newest.claim and (one.content_hash or "") == (newest.content_hash or "")
    ]
    return max(same, key=lambda one: (one.q, _time(one)))


def _time(one: Verification) -> tuple[str, str]:
    return one.created_at, one.verification_id


def share_of_nodes(verified: Iterable[int], nodes: int) -> float | None:
    """The share of the nodes of a process that a verification reads on average, from 0 to 1.

    Source: VeriTrail D (percentage of nodes verified).

    Args:
        verified: How many nodes each verification read, all iterations together.
        nodes: The nodes of the process.
    """
    counts = list(verified)
    return sum(counts) / len(counts) / nodes if counts and nodes else None

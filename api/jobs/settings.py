"""The settings of jobs."""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.api.settings import CALLS, Settings
from veritrail_graph.api.settings.values import DAY
from veritrail_graph.api.work.runs import CLAIMS_A_CALL, MOST_CLAIMS
from veritrail_graph.verifier.run import DEFAULT_CONCURRENCY

SHARED_CLAIMS_A_CALL, LEAST_CLAIMS = 2, 4
"""Claims in the hands of one of several workers, for each of its calls, and at least."""


@dataclass(frozen=True, slots=True)
class JobSettings:
    """The settings of jobs.

    Attributes:
        keep_seconds: How long a job that has ended is kept.
        patience_seconds: How long a claim waits for a graph engine that does not answer.
        closing_seconds: How long calls in flight are waited for at a shutdown.
        calls: Concurrent calls to an endpoint, over all workers.
    """

    keep_seconds: float = 30 * DAY
    patience_seconds: float = 3_600.0
    closing_seconds: float = 6.0
    calls: int = CALLS

    @classmethod
    def of(cls, settings: Settings) -> JobSettings:
        """Those of the service."""
        return cls(
            keep_seconds=settings.jobs_keep,
            patience_seconds=settings.jobs_patience,
            calls=settings.concurrency,
        )

    def at_a_time(self, workers: int) -> int:
        """Claims that one worker takes at a time, by the number of workers.

        A worker alone takes what the command line would. Beside others it takes little more than
        it has calls for: else it would hold a whole job, and with it only its share of the calls,
        while the others have nothing to do.
        """
        if workers < 2:
            return max(DEFAULT_CONCURRENCY, min(CLAIMS_A_CALL * self.calls, MOST_CLAIMS))
        return max(LEAST_CLAIMS, SHARED_CLAIMS_A_CALL * self.calls // workers)

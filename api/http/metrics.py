"""Figures for Prometheus: what this process answered, and how the jobs stand.

No label can take more values than there are routes, statuses and states: ids never are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from veritrail_graph.api.app.jobs import Figures

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


class Metrics:
    """The figures of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "veritrail_requests",
            "Requests that were answered",
            ("method", "path", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "veritrail_request_seconds",
            "Time until an answer was whole",
            ("method", "path"),
            buckets=BUCKETS,
            registry=self.registry,
        )
        self._now = Gauge(
            "veritrail_requests_in_progress", "Requests under way", registry=self.registry
        )

    def begin(self) -> None:
        """A request has come."""
        self._now.inc()

    def end(self, method: str, path: str, status: int, seconds: float) -> None:
        """A request was answered.

        Args:
            method: Its method; one that nobody knows counts as `other`.
            path: The template of its path.
            status: The status of the answer.
            seconds: How long it took.
        """
        known = method if method in METHODS else "other"
        self._now.dec()
        self._requests.labels(known, path, str(status)).inc()
        self._seconds.labels(known, path).observe(seconds)

    def text(self, jobs: Figures | None) -> bytes:
        """All figures, in Prometheus' own format.

        Args:
            jobs: How the jobs stand; None: nobody can say now.
        """
        told = generate_latest(self.registry)
        if jobs is not None:
            registry = CollectorRegistry()
            registry.register(_JobFigures(jobs))
            told += generate_latest(registry)
        return told


class _JobFigures(Collector):
    """The figures of jobs; of all workers together, as they stand in the database."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """One gauge for each: with the jobs that retention removes they may fall."""
        found = self._figures
        yield _by("veritrail_jobs", "Jobs that are kept", "status", found.jobs)
        yield _by("veritrail_job_claims", "Claims of these jobs", "status", found.claims)
        yield _by("veritrail_job_tokens", "Tokens that they took", "kind", found.tokens)
        one = GaugeMetricFamily
        yield one("veritrail_job_calls", "Calls of models that they took", value=found.calls)
        if found.cost_usd is not None:  # what is not known is not 0
            yield one("veritrail_job_cost_usd", "Cost where prices are known", value=found.cost_usd)
        yield one(
            "veritrail_job_unpriced_calls", "Calls of no known price", value=found.unpriced_calls
        )
        yield one("veritrail_workers", "Workers that live", value=found.workers)


def _by(name: str, about: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=[label])
    for value, count in sorted(values.items()):
        family.add_metric([value], count)
    return family

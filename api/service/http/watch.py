"""The outermost layer: an id for every request, a line in the log, figures, headers that are safe.

What goes wrong without anybody having thought of it becomes a problem here, and its trace a line
of the log.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from veritrail_graph.api.app.jobs import JobFigures
from veritrail_graph.api.app.traces import TraceFigures
from veritrail_graph.api.service.http import request_id
from veritrail_graph.api.service.http.problems import OWN_FAULT, problem

GONE = 499
"""The status in the log of a request whose client did not wait for the answer."""

ENDING = "The service is ending. Send it again in a moment."
"""What is said to who still sends or waits when the time to end is over."""

QUIET_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines: their lines are for `--log-level debug`."""

SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
"""Headers of every answer that does not say something else itself."""

_log = logging.getLogger("veritrail.requests")


class Watch:
    """Sees every request and every answer.

    Args:
        app: What answers.
        metrics: Where requests are counted.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = request_id.taken_or_made(Headers(scope=scope).get(request_id.HEADER))
        scope.setdefault("state", {})["request_id"] = asked
        token = request_id.current.set(asked)
        answer = _Answer(send, asked)
        begun = time.perf_counter()
        self._metrics.begin()
        try:
            await self._app(scope, receive, answer)
        except ClientDisconnect:
            answer.status = answer.status or GONE
        except asyncio.CancelledError:  # the service ends, and waits for nobody any more
            if answer.status is not None:
                raise
            headers = {"Retry-After": "5", "Connection": "close"}
            await problem(503, "ending", ENDING, headers=headers)(scope, receive, answer)
        except Exception:  # noqa: BLE001  # logged with its trace, and answered
            _log.exception("fault", extra={"fields": {"request_id": asked}})
            if answer.status is None:
                await problem(500, "fault", OWN_FAULT)(scope, receive, answer)
            # Else the client sees the answer end before it is complete.
        finally:
            self._tell(scope, answer.status or GONE, time.perf_counter() - begun)
            request_id.current.reset(token)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        path = template(scope)
        self._metrics.end(scope["method"], path, status, seconds)
        caller = scope["state"].get("caller")
        fields = {
            "method": scope["method"],
            "path": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "key_id": caller.key_id if caller is not None else None,
            "request_id": scope["state"]["request_id"],
        }
        if status in (401, 421, 429) and scope.get("client"):
            fields["address"] = scope["client"][0]
        level = logging.DEBUG if path in QUIET_PATHS and status < 500 else logging.INFO
        _log.log(level, "request", extra={"fields": fields})


class _Answer:
    """Sends what is answered on, with the headers that every answer has."""

    def __init__(self, send: Send, asked: str) -> None:
        self._send = send
        self._id = (request_id.HEADER.lower().encode(), asked.encode())
        self.status: int | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*_with_safe(message.get("headers", ())), self._id]
        await self._send(message)


def _with_safe(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    given = list(headers)
    names = {name.lower() for name, _ in given}
    return [*given, *(one for one in SAFE_HEADERS if one[0] not in names)]


def template(scope: Scope) -> str:
    """The path of the route that answers, with names for ids; an unknown path is not shown."""
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else "unknown"


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
            method: Its method; an unknown one counts as `other`.
            path: The template of its path.
            status: The status of the answer.
            seconds: How long it took.
        """
        known = method if method in METHODS else "other"
        self._now.dec()
        self._requests.labels(known, path, str(status)).inc()
        self._seconds.labels(known, path).observe(seconds)

    def text(self, jobs: JobFigures | None, traces: TraceFigures | None = None) -> bytes:
        """All figures, in Prometheus' own format.

        Args:
            jobs: How many jobs are in each state; None: not known now.
            traces: What was done with spans that were sent; None: nothing takes them.
        """
        metrics_text = generate_latest(self.registry)
        others = [_JobFigures(jobs)] if jobs is not None else []
        for one in (*others, *([_TraceFigures(traces)] if traces is not None else [])):
            registry = CollectorRegistry()
            registry.register(one)
            metrics_text += generate_latest(registry)
        return metrics_text


class _JobFigures(Collector):
    """The figures of jobs; of all workers together, as they stand in the database."""

    def __init__(self, figures: JobFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """One gauge for each: with the jobs that retention removes they may fall."""
        found = self._figures
        yield _by("veritrail_jobs", "Jobs that are kept", "status", found.jobs)
        yield _by(
            "veritrail_job_claims", "Claims and sentences of these jobs", "status", found.claims
        )
        yield _by("veritrail_job_tokens", "Tokens that they took", "kind", found.tokens)
        one = GaugeMetricFamily
        yield one("veritrail_job_calls", "Calls of models that they took", value=found.calls)
        if found.cost_usd is not None:  # what is not known is not 0
            yield one("veritrail_job_cost_usd", "Cost where prices are known", value=found.cost_usd)
        yield one(
            "veritrail_job_unpriced_calls", "Calls of no known price", value=found.unpriced_calls
        )
        yield one("veritrail_workers", "Workers that live", value=found.workers)
        yield one("veritrail_work_to_do", "Claims that are left to workers", value=found.to_do)


class _TraceFigures(Collector):
    """The collector of the figures on spans that this process has received."""

    def __init__(self, figures: TraceFigures) -> None:
        self._figures = figures

    def collect(self) -> Iterator[Metric]:
        """Spans by whether they were taken, traces by what became of them."""
        found = self._figures
        spans = CounterMetricFamily(
            "veritrail_otlp_spans", "Spans and log records received", labels=["result"]
        )
        spans.add_metric(["taken"], found.received)
        spans.add_metric(["rejected"], found.rejected)
        yield spans
        traces = CounterMetricFamily(
            "veritrail_otlp_traces", "Traces taken up, by what became of them", labels=["result"]
        )
        for result, count in sorted(found.stored.items()):
            traces.add_metric([result], count)
        yield traces
        yield GaugeMetricFamily(
            "veritrail_otlp_waiting_traces", "Traces with spans that wait", value=found.waiting
        )


def _by(name: str, about: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(name, about, labels=[label])
    for value, count in sorted(values.items()):
        family.add_metric([value], count)
    return family


class Head:
    """Asks what is below for the answer to GET, and sends its status and headers alone.

    It is outside of compression, so that the length is that of the body that GET sends.

    Args:
        app: What answers GET.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def only_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                # The answer is complete: a stream finds its client disconnected, and ends.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        asked = {**scope, "method": "GET"}
        try:
            await self._app(asked, receive, only_headers)
        finally:
            if "route" in asked:  # for the log and the figures, which say HEAD
                scope["route"] = asked["route"]

"""Every list of the page as a table in CSV, with the filters of the page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from veritrail_graph.api.app import Application
from veritrail_graph.api.app.search import LONGEST_QUERY, MOST_RESULTS, Kind
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.page.downloads import download
from veritrail_graph.api.page.pages.process import LONGEST_SEARCH, Reviewed
from veritrail_graph.api.page.rendering import csv_file
from veritrail_graph.api.page.views import process as views
from veritrail_graph.api.service.http.access import App, needs
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.pages import ProcessId
from veritrail_graph.api.show.tables import csv_text
from veritrail_graph.api.show.words import State
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.model.job import Job
from veritrail_graph.graph.model.listed import ClaimFilter, JudgedClaim, NodeFilter
from veritrail_graph.graph.model.noun import MAX_STAGE

router = APIRouter(route_class=OneVersion, include_in_schema=False)

_READ = [needs(Scope.READ)]
_TOGETHER = 1_000

PROCESS_COLUMNS = (
    "process_id", "name", "nodes", "claims", *(one.value.lower() for one in Verdict), "failed",
    "undecided", "none", "calls", "cost_usd", "changed_at",
)  # fmt: skip
CLAIM_COLUMNS = (
    "claim_id", "text", "node_id", "start", "end", "label", "verdict", "indicative",
    "error_stages", "error_stage_names", "status", "error", "verifications", "verification_id",
    "review", "reviewed_verdict", "reviews", "disputed",
)  # fmt: skip
NODE_COLUMNS = ("node_id", "stage", "role", "kind", "step", "model", "origin", "length")
REVIEW_COLUMNS = (
    "claim_id", "claim", "verdict", "kind", "reason", "reviewer", "created_at", "model_verdict",
    "overrides", "recorded_by", "review_id", "blind", "adjudicates",
)  # fmt: skip
JOB_COLUMNS = (
    "job_id", "process_id", "run_id", "kind", "status", "name", "created_at", "done", "calls",
    "cost_usd",
)  # fmt: skip
MOST_JOBS = 10_000
FOUND_COLUMNS = (
    "kind", "process_id", "process_name", "node_id", "claim_id", "excerpt", "verdict", "status",
    "indicative",
)  # fmt: skip


@router.get("/processes.csv", dependencies=_READ)
async def processes(app: App, q: Annotated[str, Query(max_length=LONGEST_SEARCH)] = "") -> Response:
    """The processes that are found, those that need attention first."""
    order = await app.summaries.order()
    found = views.wanted(order.ranked, q, None)
    rows: list[Sequence[Any]] = []
    for start in range(0, len(found), _TOGETHER):
        some = found[start : start + _TOGETHER]
        known = await app.processes.summaries([one.named.process_id for one in some])
        for one in some:
            outcome = known.get(one.named.process_id)
            if outcome is None:
                continue
            counts = outcome.outcomes
            rows.append(
                (
                    one.named.process_id,
                    one.named.name,
                    one.named.nodes,
                    sum(counts.values()),
                    *(counts.get(verdict.value, 0) for verdict in Verdict),
                    *(counts.get(name, 0) for name in ("failed", "undecided", "none")),
                    outcome.usage.calls,
                    outcome.usage.cost_usd,
                    max(outcome.changed_at or "", one.named.created_at),
                )
            )
    return csv_file("processes.csv", csv_text(PROCESS_COLUMNS, rows))


@router.get("/processes/{process_id}/claims.csv", dependencies=_READ)
async def claims(
    app: App,
    process_id: ProcessId,
    verdict: State | None = None,
    error_stage: Annotated[int | None, Query(ge=0, le=MAX_STAGE)] = None,
    review: Reviewed | None = None,
) -> Response:
    """The claims that pass the filters, in the order of the input."""
    process = await app.processes.get(process_id)
    chosen = views.Wanted(verdict, error_stage, review).filter
    names = process.stage_names
    rows = [_claim(one, names) for one in await _all_claims(app, process_id, chosen)]
    return csv_file(f"{process_id}-claims.csv", csv_text(CLAIM_COLUMNS, rows))


async def _all_claims(app: Application, process_id: str, chosen: ClaimFilter) -> list[JudgedClaim]:
    found: list[JudgedClaim] = []
    place: tuple[int, str] | None = (-1, "")
    while place is not None:
        some, place = await app.claims.page(process_id, chosen, place, _TOGETHER)
        found += some
    return found


def _claim(one: JudgedClaim, names: Mapping[int, str]) -> Sequence[Any]:
    fields = {
        **one.json_object(),
        "error_stage_names": [names.get(stage, "") for stage in one.error_stages],
        "error": one.error,
    }
    return [fields[name] for name in CLAIM_COLUMNS]


@router.get("/processes/{process_id}/nodes.csv", dependencies=_READ)
async def nodes(app: App, process_id: ProcessId) -> Response:
    """All nodes without their texts; they are sent when all of one version were read."""
    await app.processes.get(process_id)
    pieces = _nodes(app, process_id)
    return await download(pieces, f"{process_id}-nodes.csv", "text/csv; charset=utf-8")


async def _nodes(app: Application, process_id: str) -> AsyncIterator[str]:
    after, columns = (-1, -1), NODE_COLUMNS
    yield "\ufeff" + csv_text(columns, ())
    while True:
        page = await app.nodes.page(process_id, NodeFilter(), after, _TOGETHER)
        rows: Iterable[Sequence[Any]] = (
            (
                one.node_id, one.stage, one.role, one.kind, one.step, one.model,
                one.origin, one.length,
            )
            for one in page.nodes
        )  # fmt: skip
        yield csv_text((), rows).partition("\r\n")[2]
        if not page.more:
            return
        after = page.nodes[-1].place


@router.get("/processes/{process_id}/reviews.csv", dependencies=_READ)
async def reviews(app: App, process_id: ProcessId) -> Response:
    """All reviews, newest first; the table can be sent to another service as it is."""
    rows = [
        [one.review.json_object().get(name) for name in REVIEW_COLUMNS]
        for one in await app.reviews.of_process(process_id)
    ]
    return csv_file(f"{process_id}-reviews.csv", csv_text(REVIEW_COLUMNS, rows))


@router.get("/search.csv", dependencies=_READ)
async def found(
    app: App,
    q: Annotated[str, Query(max_length=10 * LONGEST_QUERY)],
    kind: Kind | None = None,
    process: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
) -> Response:
    """Answer with the results of a search, the best first, by the page."""
    results, _ = await app.search.find(q, kind=kind, process_id=process, limit=MOST_RESULTS)
    rows = [[getattr(one, name) for name in FOUND_COLUMNS] for one in results.results]
    return csv_file("search.csv", csv_text(FOUND_COLUMNS, rows))


@router.get("/jobs.csv", dependencies=[needs(Scope.VERIFY)])
async def jobs(app: App, process: Annotated[str | None, Query(max_length=128)] = None) -> Response:
    """Jobs, newest first."""
    found = await app.jobs.page(process_id=process, before=("9999", ""), limit=MOST_JOBS)
    return csv_file("jobs.csv", csv_text(JOB_COLUMNS, map(_job, found)))


def _job(one: Job) -> Sequence[Any]:
    return (
        one.job_id, one.process_id, one.run_id, one.kind.value, one.status.value, one.submitted_by,
        one.created_at, sum(one.counts.get(name.value, 0) for name in Status if name.is_result),
        one.usage.calls, one.usage.cost_usd,
    )  # fmt: skip

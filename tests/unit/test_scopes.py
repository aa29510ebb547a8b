"""Which routes a reviewer's key opens, of REST and page together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.http.access import _Needed
from veritrail_graph.api.server.app import ROUTERS
from veritrail_graph.api.web.pages import ROUTERS as PAGES

REVIEWER = Caller("k", "Ada", frozenset({Scope.REVIEW}))
READS = {
    # Reading that needs a body, or a name for it.
    "/v1/processes/{process_id}/nodes:batchGet",
    "/v1/queries/{name}",
}
ONES_OWN = {"/sign-in", "/sign-out"}
WRITES = {
    ("POST", "/v1/processes/{process_id}/claims/{claim_id}/reviews"),
    ("POST", "/v1/processes/{process_id}/reviews:import"),
    ("POST", "/v1/processes/{process_id}/claims/{claim_id}/reviews:decide"),
    ("POST", "/v1/processes/{process_id}/claims/{claim_id}/comments"),
    ("DELETE", "/v1/processes/{process_id}/comments/{comment_id}"),
    ("POST", "/v1/processes/{process_id}/claims:label"),
    ("POST", "/processes/{process_id}/review"),
    ("POST", "/processes/{process_id}/reviewer"),
    ("POST", "/processes/{process_id}/rounds/decide"),
    ("POST", "/processes/{process_id}/claims/{claim_id}/comments"),
    ("POST", "/processes/{process_id}/claims/{claim_id}/comments/remove"),
    ("POST", "/processes/{process_id}/studies/{study_id}/reader"),
    ("POST", "/processes/{process_id}/studies/{study_id}/timer"),
    ("POST", "/processes/{process_id}/studies/{study_id}/answer"),
    ("POST", "/processes/{process_id}/dialogue/labels/annotator"),
    ("POST", "/processes/{process_id}/dialogue/labels/turn"),
}


def scopes(dependant: Dependant) -> Iterator[Scope]:
    for one in dependant.dependencies:
        call: Any = one.call
        if isinstance(call, _Needed):
            yield call.scope
        yield from scopes(one)


def routes() -> Iterator[tuple[str, APIRoute, list[Scope]]]:
    for router in (*ROUTERS, *PAGES):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            for method in sorted(route.methods):
                yield method, route, list(scopes(route.dependant))


def test_a_reviewer_changes_what_people_say_and_nothing_else() -> None:
    opened = {
        (method, route.path)
        for method, route, needed in routes()
        if method != "GET" and all(map(REVIEWER.may, needed))
    }
    assert {one for one in opened if one[1] not in READS | ONES_OWN} == WRITES


def test_a_reviewer_reads_all_but_jobs_and_what_one_writes_with() -> None:
    closed = {
        route.path
        for method, route, needed in routes()
        if method == "GET" and not all(map(REVIEWER.may, needed))
    }
    # What only leads to a form that writes or costs, and jobs, which have a scope of their own.
    parts = ("/edit", "/verify", "/attribute", "/share", "/shares", "/upload", "/jobs", "/jobs.csv")
    parts += ("/batches", "/events", "/webhooks")
    assert [one for one in sorted(closed) if not any(part in one for part in parts)] == []

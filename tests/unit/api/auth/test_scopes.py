"""Which routes a key with one scope opens, of REST and page together, read from the routes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from veritrail_graph.api.auth.access import Caller, NotAllowed, Scope
from veritrail_graph.api.page.plugin_pages import plugin_routers
from veritrail_graph.api.server.application import ROUTERS
from veritrail_graph.api.service.http.access import Needed

Route = tuple[str, str]

OPEN = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/docs"),
    ("GET", "/docs/{name}"),
    ("GET", "/favicon.ico"),
    ("GET", "/static/{name}"),
    ("GET", "/shared/{token}"),
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    ("POST", "/sign-out"),
}
"""Health, the description, what pages are made of, and where a key or a link is shown."""

READS_BY_POST = {
    ("POST", "/v1/processes/{process_id}/nodes:batchGet"),
    ("POST", "/v1/queries/{name}"),
}
INGESTS = {
    ("POST", "/v1/processes"),
    ("POST", "/v1/otlp/v1/traces"),
    ("POST", "/v1/otlp/v1/logs"),
}
COMMENTS = {
    ("POST", "/v1/processes/{process_id}/claims/{claim_id}/comments"),
    ("DELETE", "/v1/processes/{process_id}/comments/{comment_id}"),
    ("POST", "/v1/processes/{process_id}/claims:label"),
}
REVIEWS = COMMENTS | {
    ("POST", "/v1/processes/{process_id}/claims/{claim_id}/reviews"),
    ("POST", "/v1/processes/{process_id}/reviews:import"),
    ("POST", "/v1/processes/{process_id}/claims/{claim_id}/reviews:decide"),
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
WRITES_UNSEEN = {
    ("DELETE", "/v1/processes/{process_id}"),
    ("POST", "/v1/processes/{process_id}/claims"),
    ("DELETE", "/v1/processes/{process_id}/claims/{claim_id}"),
    ("DELETE", "/v1/processes/{process_id}/review-rounds/{round_id}"),
    ("DELETE", "/v1/processes/{process_id}/shares/{share_id}"),
    ("GET", "/upload"),
    ("POST", "/upload"),
    ("POST", "/sample"),
    ("POST", "/processes/{process_id}/tags"),
}
"""They answer with what was sent, with nothing, or lead to a page that needs `read`."""
STARTS = {
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/{job_id}"),
    ("GET", "/v1/jobs/{job_id}/events"),
    ("POST", "/v1/jobs/{job_id}:cancel"),
    ("POST", "/v1/jobs/{job_id}:resume"),
    ("POST", "/v1/verifications"),
    ("POST", "/v1/attributions"),
    ("POST", "/v1/dialogue-verifications"),
    ("POST", "/v1/runs/{run_id}:pin"),
    ("POST", "/v1/runs/{run_id}:unpin"),
    ("GET", "/jobs"),
    ("GET", "/jobs.csv"),
    ("POST", "/jobs/{job_id}/cancel"),
    ("POST", "/jobs/{job_id}/resume"),
    ("POST", "/jobs/{job_id}/pairs"),
    ("POST", "/jobs/{job_id}/{act}"),
    ("POST", "/processes/{process_id}/runs/{act}"),
}


def scopes(dependant: Dependant) -> Iterator[Scope]:
    for one in dependant.dependencies:
        call: Any = one.call
        if isinstance(call, Needed):
            yield from call.scopes
        yield from scopes(one)


def every_route() -> dict[Route, frozenset[Scope]]:
    """The scopes that each route needs, all of them."""
    found: dict[Route, frozenset[Scope]] = {}
    for router in (*ROUTERS, *plugin_routers()):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            for method in route.methods:
                assert (method, route.path) not in found
                found[method, route.path] = frozenset(scopes(route.dependant))
    return found


ROUTES = every_route()


def opened(*held: Scope) -> set[Route]:
    """The routes that a key with these scopes opens, but for those that need none."""
    caller = Caller("k", "Ada", frozenset(held))
    return {one for one, needed in ROUTES.items() if needed and all(map(caller.may, needed))}


def test_every_route_needs_a_scope_but_those_that_show_nothing_of_what_is_stored() -> None:
    assert {one for one, needed in ROUTES.items() if not needed} == OPEN
    assert opened(Scope.ADMIN) == set(ROUTES) - OPEN


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (Scope.INGEST, INGESTS),
        (Scope.WRITE, INGESTS | COMMENTS | WRITES_UNSEEN),
        (Scope.VERIFY, STARTS),
    ],
)
def test_a_key_that_does_not_read_opens_no_route_that_shows_what_others_stored(
    scope: Scope, expected: set[Route]
) -> None:
    assert opened(scope) == expected


def test_a_key_that_reads_changes_nothing() -> None:
    changes = {(method, path) for method, path in opened(Scope.READ) if method != "GET"}
    assert changes == READS_BY_POST


def test_a_reviewer_reads_and_changes_what_people_say_and_nothing_else() -> None:
    beyond = opened(Scope.REVIEW) - opened(Scope.READ)
    forms = {one for one in beyond if one[0] == "GET"}
    assert beyond - forms == REVIEWS
    assert forms == {
        ("GET", "/processes/{process_id}/studies/{study_id}/read"),
        ("GET", "/processes/{process_id}/dialogue/labels/turn"),
    }


def test_writing_includes_what_it_did_before_there_were_keys_for_less() -> None:
    assert opened(Scope.INGEST, Scope.REVIEW) <= opened(Scope.READ, Scope.WRITE)
    both = opened(Scope.READ, Scope.WRITE, Scope.VERIFY)
    assert both == opened(Scope.ADMIN)


def test_a_key_reviews_as_its_owner_alone_unless_it_may_do_everything() -> None:
    for scope in (Scope.REVIEW, Scope.WRITE):
        caller = Caller("k", "Ada", frozenset({scope}))
        caller.check_reviewer(" Ada ")
        with pytest.raises(NotAllowed, match="reviews as Ada, and not as 'Ben'"):
            caller.check_reviewer("Ben")
    Caller("k", "Ada", frozenset({Scope.ADMIN})).check_reviewer("Ben")
    Caller(None, "local", frozenset({Scope.WRITE})).check_reviewer("Ben")

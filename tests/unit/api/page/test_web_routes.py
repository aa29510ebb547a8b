"""What holds for every route of the page, also for new ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from veritrail_graph.api.page.pages import ROUTERS
from veritrail_graph.api.page.plugin_pages import plugin_routers
from veritrail_graph.api.page.rendering import FromOurPage

CHECKS_ITSELF = {
    ("POST", "/sign-in"),  # there is no token yet; the origin is asked for
    ("POST", "/upload"),  # the token is in a form that is read piece by piece
}


def routes() -> Iterator[APIRoute]:
    for router in (*ROUTERS, *plugin_routers()):
        for route in router.routes:
            assert isinstance(route, APIRoute)
            yield route


def calls(dependant: Dependant) -> Iterator[Any]:
    for one in dependant.dependencies:
        yield one.call
        yield from calls(one)


def test_every_form_that_changes_something_is_one_of_ours() -> None:
    without = {
        (method, route.path)
        for route in routes()
        for method in route.methods - {"GET", "HEAD"}
        if FromOurPage.dependency not in list(calls(route.dependant))
    }
    assert without == CHECKS_ITSELF


def test_no_page_stands_in_the_description_for_programs() -> None:
    assert not [route.path for route in routes() if route.include_in_schema]
    assert not [route.path for route in routes() if route.path.startswith("/v1")]

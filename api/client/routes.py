"""The routes of REST as functions that are called in this process, without HTTP between.

A call is checked by the declarations of its route and answered by the route's own function, so
that both clients get the same answers and are refused with the same words.

Source: ours (docs/adr/0064-client-in-process.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from veritrail_graph.api.client.faults import Problem, problem_of
from veritrail_graph.api.client.uploads import written
from veritrail_graph.api.service.http.access import Needed, application, calling
from veritrail_graph.api.service.http.answers import known_tags
from veritrail_graph.api.service.http.one_version import OneVersion
from veritrail_graph.api.service.http.problems import refusal_of
from veritrail_graph.api.service.rest.resources import ROUTERS

if TYPE_CHECKING:
    from fastapi import Response

    from veritrail_graph.api.app import Application
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.api.client.calls import Call


async def answered(app: Application, caller: Caller, call: Call, advice: Mapping[str, str]) -> Any:
    """Return the JSON that the route of a call answers with.

    Args:
        app: The application that answers.
        caller: Who calls.
        call: The call.
        advice: What refusals advise, by code.

    Raises:
        Problem: The route refuses the call.
        VeriTrailError: It cannot be done.
    """
    try:
        answer = await _routes()[call.method, call.path](app, caller, call)
    except RequestValidationError as error:
        raise problem_from(refusal_of(error.errors(), advice)) from error
    if answer.status_code >= 400:
        raise problem_from(answer)
    return json.loads(bytes(answer.body)) if answer.body else None


def problem_from(answer: Response) -> Problem:
    """Return the exception for an answer that is a problem."""
    document = json.loads(bytes(answer.body))
    return problem_of(answer.status_code, document, answer.headers.get("retry-after", ""))


_ID = re.compile(r"\{[^{}]*\}")


class _Route:
    """A route of REST that is called in this process.

    Args:
        route: The route.
    """

    def __init__(self, route: APIRoute) -> None:
        self._answer: Callable[..., Awaitable[Response]] = route.endpoint
        self._takes: Dependant = route.dependant
        self._names = list(route.param_convertors)
        needed = [part.call for part in route.dependant.dependencies]
        self._scopes = [scope for one in needed if isinstance(one, Needed) for scope in one.scopes]
        self._is_watched = isinstance(route, OneVersion) and route.is_watched

    async def __call__(self, app: Application, caller: Caller, call: Call) -> Response:
        """Carry out a call; one that reads a process or a verification sees one version of it.

        Raises:
            NotAllowed: The caller may not do it.
            RequestValidationError: Values break the bounds of the route; all of them are listed.
            VeriTrailError: It cannot be done.
        """
        for scope in self._scopes:
            caller.expect(scope)
        ids = dict(zip(self._names, call.ids, strict=True))
        given = self._checked(call, ids)
        known: Mapping[Any, Any] = {application: app, calling: caller, known_tags: ""}
        for part in self._takes.dependencies:
            if part.name is not None:
                given[part.name] = known[part.call]
        read: Callable[[], Awaitable[Response]] = partial(self._answer, **given)
        return await (app.versions.of_ids(ids, read) if self._is_watched else read())

    def _checked(self, call: Call, ids: Mapping[str, str]) -> dict[str, Any]:
        """Return the arguments of a call as the function of the route takes them."""
        takes = self._takes
        headers = {name.lower(): value for name, value in call.headers.items()}
        # As it would arrive: what JSON cannot hold is refused, and no type of Python's is left.
        body = None if call.body is None else json.loads(written(call.body))
        sources: Sequence[tuple[str, Sequence[Any], Mapping[str, Any]]] = (
            ("path", takes.path_params, ids),
            ("query", takes.query_params, call.query),
            ("header", takes.header_params, headers),
            ("body", takes.body_params, {field.alias: body for field in takes.body_params}),
        )
        given: dict[str, Any] = {}
        faults: list[Any] = []
        for place, fields, values in sources:
            for field in fields:
                alias = field.alias
                where = (place,) if place == "body" else (place, alias)
                value = values.get(alias)
                if value is None and not field.field_info.is_required():
                    given[field.name] = field.get_default()
                    continue
                given[field.name], found = field.validate(value, {}, loc=where)
                faults += found
        if faults:
            raise RequestValidationError(faults)
        return given


@lru_cache(maxsize=1)
def _routes() -> Mapping[tuple[str, str], _Route]:
    """Return the routes by method and path, with `{}` for each id in the path."""
    return {
        (method, _ID.sub("{}", route.path)): _Route(route)
        for route in _all(ROUTERS)
        for method in route.methods or ()
    }


def _all(routers: Sequence[APIRouter]) -> Iterator[APIRoute]:
    for router in routers:
        yield from (route for route in router.routes if isinstance(route, APIRoute))

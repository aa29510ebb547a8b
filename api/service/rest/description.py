"""The description of the service for programs: OpenAPI 3.1.

Source: OpenAPI Specification 3.1.0.
"""

from __future__ import annotations

import re
from functools import cache
from http import HTTPStatus
from importlib import metadata
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.routing import compile_path

from veritrail_graph.api.service.http.one_version import is_watched
from veritrail_graph.api.service.http.problems import BrokenRule, Problem, described
from veritrail_graph.api.service.rest.call_examples import add_examples

_TEXT = """\
Stores the steps of a language-model pipeline as a graph, checks what its output claims against the
source text, and shows where every claim came from or went wrong.

The page for people is at [/](/).

Every error is a problem details object (RFC 9457) with a stable `type`. Edges point with the flow
of data. Ids are opaque; in a path their characters are percent-encoded. Every answer has the
header `X-Request-ID`.

A call needs a key with the scope that it names. As long as no key was ever made, every call is
allowed without one, but only from the machine of the service: that is the empty alternative (`{}`)
in the security of the calls. With the first key it ends, and the answer without a key is 401.
"""

TAGS = (
    ("processes", "Processes: the steps of a pipeline, with their texts. Upload, list, delete."),
    ("nodes", "Nodes of a process: one text each."),
    ("lineage", "What a node was made of, and what was made of it."),
    ("claims", "Claims about a node, which can be verified."),
    ("verifications", "Start verifying; read stored verifications with their trails."),
    ("attributions", "What sentences rest on, also where they are wrong: read, and looked for."),
    ("dialogues", "The assistant's turns, claim by claim: read, and have them verified."),
    (
        "jobs",
        "What is under way: its state, its events, cancel, resume.",
    ),
    (
        "reviews",
        "What people say about a verdict; it never replaces the verdict.",
    ),
    ("queries", "Questions that are asked often, by name."),
    ("operations", "Health, figures and this description."),
)

_EVERYWHERE = (400, 431, 500)
_BEHIND_THE_GUARD = (401, 421, 422, 429, 503)
_WITH_SCOPE = (403,)
_WITH_BODY = (408, 413, 415)
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_OPEN = ("/healthz", "/readyz")
_TAG = 'W/"4f0c6a6b0b0f6d0c9c3f0c4b6a0f7a11"'
_HEADERS: dict[str, Any] = {
    "Location": {
        "description": "Where to find what was made.",
        "schema": {"type": "string", "format": "uri-reference"},
        "example": "/v1/jobs/j-0b0f6d0c6a6b4f0f9c3f0c4b6a0f7a11",
    },
    "ETag": {
        "description": "Names what is answered; `If-None-Match` asks whether it still holds.",
        "schema": {"type": "string"},
        "example": _TAG,
    },
    "Retry-After": {
        "description": "Seconds after which to come again.",
        "schema": {"type": "integer", "minimum": 1},
        "example": 5,
    },
}
_HEADERS_OF = {
    "201": ["Location"],
    "202": ["Location"],
    "429": ["Retry-After"],
    "503": ["Retry-After"],
}
_PARAMETER = re.compile(r"\{[^{}]*\}")


def operation_id(route: APIRoute) -> str:
    """The name of a call for those who make clients of the description: that of its function."""
    return route.name


ABOUT: dict[str, Any] = {
    "title": "VeriTrail Graph",
    "summary": "Where did that come from, and where did it go wrong?",
    "description": _TEXT,
    "version": metadata.version("veritrail-graph"),
    "license_info": {"name": "MIT", "identifier": "MIT"},
    "openapi_tags": [{"name": name, "description": text} for name, text in TAGS],
    "servers": [{"url": "/", "description": "This service."}],
    "generate_unique_id_function": operation_id,
}


def describe(app: FastAPI) -> None:
    """Let an application tell what it can do, problems included; it is put together once."""

    def whole() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _whole(app)
        return app.openapi_schema

    def methods_at(path: str) -> list[str]:
        return _methods_at(whole(), path)

    app.openapi = whole  # type: ignore[method-assign]
    app.state.methods_at = methods_at


def _whole(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        routes=app.routes,
        tags=app.openapi_tags,
        servers=app.servers,
        license_info=app.license_info,
    )
    document = _by_title(document)
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                _add_problems(path, method, item[method])
    components = document.setdefault("components", {})
    components["headers"] = {
        "RequestId": {
            "description": "The id of the request, as in the log.",
            "schema": {"type": "string"},
        },
        **_HEADERS,
    }
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["BrokenRule"] = BrokenRule.model_json_schema()
    schemas["Problem"] = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas["Problem"].pop("$defs", None)
    for item in document["paths"].values():
        for method in _METHODS:
            if method in item:
                _add_headers(item[method])
    add_examples(document)
    return document


def _by_title(document: dict[str, Any]) -> dict[str, Any]:
    """Let each schema go by its title: the name under which a noun was first described."""
    schemas = document["components"]["schemas"]
    titles = {
        name: schema["title"]
        for name, schema in schemas.items()
        if "title" in schema and "__" not in name
    }

    def renamed(part: Any) -> Any:
        if isinstance(part, list):
            return [renamed(one) for one in part]
        if not isinstance(part, dict):
            return part
        found = {key: renamed(value) for key, value in part.items()}
        if isinstance(part.get("$ref"), str):
            before, _, name = part["$ref"].rpartition("/")
            found["$ref"] = f"{before}/{titles.get(name, name)}"
        return found

    whole: dict[str, Any] = renamed(document)
    named = {titles.get(name, name): one for name, one in whole["components"]["schemas"].items()}
    whole["components"]["schemas"] = dict(sorted(named.items()))
    return whole


def _add_headers(operation: dict[str, Any]) -> None:
    """The headers that mean something with an answer, and the one that asks for 304."""
    has_tag = "304" in operation["responses"]
    tagged = ("200", "304") if has_tag else ()
    for status, response in operation["responses"].items():
        names = ["ETag"] if status in tagged else []
        names += _HEADERS_OF.get(status, [])
        for name in names:
            response["headers"][name] = {"$ref": f"#/components/headers/{name}"}
    if has_tag:
        operation.setdefault("parameters", []).append(
            {
                "name": "If-None-Match",
                "in": "header",
                "required": False,
                "description": "The ETag of the answer that is known; 304 where it still holds.",
                "schema": {"type": "string"},
                "example": _TAG,
            }
        )


def _methods_at(document: dict[str, Any], path: str) -> list[str]:
    """The methods that a path knows; of several templates that fit, the one that says most."""
    fitting = [template for template in document["paths"] if _pattern(template).match(path)]
    if not fitting:
        return []
    item = document["paths"][max(fitting, key=lambda template: len(_PARAMETER.sub("", template)))]
    # Whatever can be got answers HEAD, which no description needs to tell.
    known = {*item, "head"} if "get" in item else item
    return sorted(method.upper() for method in _METHODS if method in known)


@cache
def _pattern(template: str) -> re.Pattern[str]:
    return compile_path(template)[0]


def _add_problems(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add to an operation the problem responses that any call may get."""
    responses = operation["responses"]
    if "application/json" in responses.get("422", {}).get("content", {}):
        del responses["422"]  # a form that is not ours
    statuses = list(_EVERYWHERE)
    if path not in _OPEN:
        statuses += _BEHIND_THE_GUARD
    if operation.get("security"):
        statuses += _WITH_SCOPE
        operation["security"] = [*operation["security"], {}]  # no key was made yet: see `_TEXT`
    if "requestBody" in operation:
        statuses += _WITH_BODY
    if is_watched(path, method.upper()):
        statuses.append(409)
    for status in statuses:
        responses.setdefault(str(status), described(status))
    for status, response in responses.items():
        if response.get("description") == "Successful Response":
            response["description"] = HTTPStatus(int(status)).phrase
        headers = response.setdefault("headers", {})
        headers["X-Request-ID"] = {"$ref": "#/components/headers/RequestId"}
    operation["responses"] = dict(sorted(responses.items()))

"""The OpenAPI document: whole, without names that lead nowhere, every call with what it needs."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from fastapi import FastAPI

from api.rest.app import create_app
from api.rest.examples import example_of
from api.service.access import Scope
from api.settings import Settings

OPEN = {"/healthz", "/readyz"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    app = create_app(Settings(home=Path(tmp_path_factory.mktemp("home"))))
    yield app
    app.state.service.close()


@pytest.fixture(scope="module")
def told(app: FastAPI) -> dict[str, Any]:
    return app.openapi()


def calls(told: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in told["paths"].items():
        for method, call in item.items():
            yield f"{method.upper()} {path}", call


def test_its_types_are_json_schemas_and_every_reference_leads_somewhere(
    told: dict[str, Any],
) -> None:
    assert told["openapi"].startswith("3.1")
    for schema in told["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    references = re.findall(r'"#/components/(\w+)/([^"]+)"', json.dumps(told))
    assert references
    assert [one for one in references if one[1] not in told["components"][one[0]]] == []


def test_every_call_has_a_name_of_its_own_words_and_a_tag_that_is_described(
    told: dict[str, Any],
) -> None:
    names = Counter(call["operationId"] for _, call in calls(told))
    assert [name for name, count in names.items() if count > 1] == []
    tags = {tag["name"] for tag in told["tags"] if tag["description"]}
    for where, call in calls(told):
        assert set(call["tags"]) <= tags, where
        assert call["description"].strip(), where


def test_every_call_says_which_scope_it_needs_but_for_health(told: dict[str, Any]) -> None:
    for where, call in calls(told):
        path = where.partition(" ")[2]
        scopes = [scope for one in call.get("security", ()) for scope in one["key"]]
        if path.startswith("/v1/"):
            assert len(scopes) == 1, where
            assert scopes[0] in set(Scope) - {Scope.ADMIN}, where
            changes = where.startswith(("DELETE", "PATCH", "PUT"))
            assert not changes or scopes == ["write"], where
        else:
            assert path in OPEN or call["security"] == [{"key": []}], where


def test_every_call_tells_what_may_go_wrong_as_a_problem(told: dict[str, Any]) -> None:
    for where, call in calls(told):
        for status, answer in call["responses"].items():
            assert "X-Request-ID" in answer["headers"], where
            assert answer["description"] != "Successful Response", where
            if status >= "400":
                assert list(answer["content"]) == ["application/problem+json"], (where, status)
        if where.partition(" ")[2].startswith("/v1/"):
            assert {"400", "401", "403", "422", "429", "500", "503"} <= set(call["responses"])


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/processes", ["GET", "POST"]),
        ("/v1/processes/a%2Fb", ["DELETE", "GET"]),
        ("/v1/jobs/j-1", ["GET"]),
        ("/v1/jobs/j-1:cancel", ["POST"]),
        ("/v1/processes/x/nodes:batchGet", ["POST"]),
        ("/nothing", []),
    ],
)
def test_a_method_that_is_not_known_is_told_which_are(
    app: FastAPI, path: str, methods: list[str]
) -> None:
    assert app.state.methods_at(path) == methods


def test_every_answer_and_every_body_has_an_example_that_keeps_its_type(
    told: dict[str, Any],
) -> None:
    for where, call in calls(told):
        contents = [*call["responses"].values(), call.get("requestBody", {})]
        for content in contents:
            shown = content.get("content", {}).get("application/json")
            if shown is None or not shown.get("schema"):
                continue
            example = example_of(shown, told)
            assert example is not None, where
            schema = {**shown["schema"], "components": told["components"]}
            jsonschema.Draft202012Validator(schema).validate(example)

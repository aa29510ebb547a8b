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

from veritrail_graph.api.auth.access import Scope
from veritrail_graph.api.server.application import create_app
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.store.queries import described, library

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


@pytest.mark.slow
def test_its_types_are_json_schemas_and_every_reference_leads_somewhere(
    told: dict[str, Any],
) -> None:
    assert told["openapi"].startswith("3.1")
    jsonschema.Draft202012Validator.check_schema({"$defs": told["components"]["schemas"]})
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


def test_every_call_says_which_scopes_it_needs_but_for_health(told: dict[str, Any]) -> None:
    for where, call in calls(told):
        path = where.partition(" ")[2]
        scopes = [scope for one in call.get("security", ()) for scope in one.get("key", ())]
        if path.startswith("/v1/"):
            assert scopes, where
            assert set(scopes) <= set(Scope) - {Scope.ADMIN}, where
            assert {} in call["security"], where  # as long as no key was made
            changes = where.startswith(("DELETE", "PATCH", "PUT"))
            of_review = ("/comments/", "/studies/", "/labels/", "/reviews/")
            may = "review" if any(part in f"{path}/" for part in of_review) else "write"
            assert not changes or {"write", may} & set(scopes), where
        else:
            assert path in OPEN or call["security"] == [{"key": []}, {}], where


def test_every_call_tells_what_may_go_wrong_as_a_problem(told: dict[str, Any]) -> None:
    for where, call in calls(told):
        for status, answer in call["responses"].items():
            assert "X-Request-ID" in answer["headers"], where
            assert answer["description"] != "Successful Response", where
            if status >= "400":
                told_as = ["application/problem+json"]
                if where.startswith("POST /v1/otlp/"):  # a Status, for those who send protobuf
                    told_as.append("application/x-protobuf")
                assert list(answer["content"]) == told_as, (where, status)
        if where.partition(" ")[2].startswith("/v1/"):
            assert {"400", "401", "403", "422", "429", "500", "503"} <= set(call["responses"])


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/processes", ["GET", "HEAD", "POST"]),
        ("/v1/processes/a%2Fb", ["DELETE", "GET", "HEAD", "PATCH"]),
        ("/v1/jobs/j-1", ["GET", "HEAD"]),
        ("/v1/jobs/j-1:cancel", ["POST"]),
        ("/v1/processes/x/nodes:batchGet", ["POST"]),
        ("/nothing", []),
    ],
)
def test_a_method_that_is_not_known_is_told_which_are(
    app: FastAPI, path: str, methods: list[str]
) -> None:
    assert app.state.methods_at(path) == methods


def kept(told: dict[str, Any], schema: dict[str, Any], example: object, where: str) -> None:
    """An example is there and is what its schema says."""
    assert example is not None, where
    assert "…" not in json.dumps(example, ensure_ascii=False), (where, example)
    whole = {**schema, "components": told["components"]}
    jsonschema.Draft202012Validator(whole).validate(example)


def test_every_example_keeps_its_type_and_every_body_has_one(told: dict[str, Any]) -> None:
    for where, call in calls(told):
        for status, part in [*call["responses"].items(), ("", call.get("requestBody", {}))]:
            content = part.get("content", {}).get("application/json")
            if content is None or status >= "300":
                continue
            schema = content["schema"]
            of_one = schema.get("anyOf", [schema])[0]
            name = of_one.get("$ref", "").rsplit("/", 1)[-1]
            model = told["components"]["schemas"].get(name, schema)
            given = [content["example"]] if "example" in content else model.get("examples", [])
            assert given or status, where
            for example in given:
                kept(told, schema, example, where)


def test_examples_of_parameters_and_fields_keep_their_types(told: dict[str, Any]) -> None:
    for where, call in calls(told):
        for one in call.get("parameters", ()):
            for example in one["schema"].get("examples", ()):
                kept(told, one["schema"], example, f"{where} {one['name']}")
    for name, model in told["components"]["schemas"].items():
        for field, schema in model.get("properties", {}).items():
            for example in schema.get("examples", ()):
                kept(told, schema, example, f"{name}.{field}")


def test_headers_that_mean_something_are_described(told: dict[str, Any]) -> None:
    for where, call in calls(told):
        for status, name in (("201", "Location"), ("202", "Location"), ("429", "Retry-After")):
            if status in call["responses"]:
                assert name in call["responses"][status]["headers"], where
    stored = told["paths"]["/v1/verifications/{verification_id}"]["get"]
    assert "ETag" in stored["responses"]["200"]["headers"]
    assert "If-None-Match" in {one["name"] for one in stored["parameters"]}


def test_bounds_are_told_also_where_what_is_beyond_them_is_another_problem(
    told: dict[str, Any],
) -> None:
    call = told["paths"]["/v1/processes/{process_id}/lineage"]["get"]
    bounds = {one["name"]: one["schema"] for one in call["parameters"]}
    assert (bounds["depth"]["minimum"], bounds["depth"]["maximum"]) == (1, 100)
    assert (bounds["limit"]["minimum"], bounds["limit"]["maximum"]) == (1, 5_000)


def test_the_example_of_a_query_is_a_query_of_the_library_with_its_parameters(
    told: dict[str, Any],
) -> None:
    call = told["paths"]["/v1/queries/{name}"]["post"]
    name = call["parameters"][0]["schema"]["examples"][0]
    statement = next(one for one in map(described, library()) if one.name == name)
    schemas = told["components"]["schemas"]
    body = schemas["QueryCall"]["examples"][0]
    known = {one.name: one.required for one in statement.parameters}
    assert set(body["params"]) <= set(known)
    assert {one for one, required in known.items() if required} <= set(body["params"])
    answer = schemas["QueryRows"]["examples"][0]
    assert answer["columns"] == [one.name for one in statement.columns]
    assert all(len(row) == len(answer["columns"]) for row in answer["rows"])


def test_every_call_says_in_words_what_it_does_and_how_curl_makes_it(told: dict[str, Any]) -> None:
    summaries = Counter(call["summary"] for _, call in calls(told))
    assert [words for words, count in summaries.items() if count > 1] == []
    for where, call in calls(told):
        method = where.partition(" ")[0]
        assert call["summary"] != call["operationId"].replace("_", " ").title(), where
        assert " " in call["summary"], where
        shown = call["x-codeSamples"][0]["source"]
        assert shown.startswith("curl -f "), where
        assert "{" not in shown.rpartition("http://")[2], where
        assert (method == "GET") == (" -X " not in shown), where
        assert shown in call["description"], where

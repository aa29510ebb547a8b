"""Errors as people read them on a page: no address, no option, and something to do."""

from __future__ import annotations

import json
import re
from http import HTTPStatus

import pytest

from veritrail_graph.api.http.problems import RETRY_AFTER_SECONDS, told
from veritrail_graph.api.http.wording import worded
from veritrail_graph.api.web.wording import faults_of, plain, words_of
from veritrail_graph.graph.errors import EngineUnavailable, NotFound


@pytest.mark.parametrize(
    "text",
    [
        "No process 'x' is stored. `veritrail list` shows those that are.",
        "No verification 'x' is stored. `veritrail list PROCESS` shows those that are.",
        "Process 'x' is stored with another content. Use --replace to replace it, which removes "
        "its verifications, --append to add to it, or --process-id for another id.",
    ],
)
def test_what_only_programs_use_is_left_out(text: str) -> None:
    found = plain(worded(text))
    assert found.startswith(text.partition(".")[0])
    assert "/v1" not in found
    assert not re.search(r"\?\w+=|--\w+", found)


def test_a_graph_that_is_away_is_told_once_and_with_hope() -> None:
    answer = told(EngineUnavailable("bolt://secret:7687 is away"))
    found = words_of(json.loads(answer.body))
    assert found.heading == "The graph does not answer now"
    assert "Come again" not in found.detail
    assert "try again" in found.todo
    assert "secret" not in found.detail
    assert answer.headers["retry-after"] == str(RETRY_AFTER_SECONDS)


@pytest.mark.parametrize("status", [400, 403, 404, 409, 413, 418, 421, 422, 429, 500, 503, 507])
def test_every_problem_has_a_heading_and_something_to_do(status: int) -> None:
    problem = {"status": status, "title": HTTPStatus(status).phrase, "type": "x", "detail": "Why."}
    found = words_of(problem)
    assert found.heading
    assert found.detail == "Why."
    assert found.todo.endswith(".")


def test_what_is_gone_may_have_been_removed_meanwhile() -> None:
    found = words_of({"status": 404, "title": "", "type": "", "detail": str(NotFound("Gone."))})
    assert "removed while you were looking" in found.todo


@pytest.mark.parametrize(
    ("where", "message", "told"),
    [
        ("query.q", "String should have at most 200 characters",
         ("Search", "is longer than 200 characters")),
        ("query.error_stage", "Input should be a valid integer, unable to parse string as an "
         "integer", ("Stage", "must be a whole number")),
        ("query.stage", "String should match pattern '^\\d{0,10}$'",
         ("Stage", "must be a whole number")),
        ("query.part", "Input should be greater than or equal to 1",
         ("Part of the text", "must be at least 1")),
        ("budget_usd", "must be US dollars, such as 2.50",
         ("Budget", "must be US dollars, such as 2.50")),
        ("query.unheard", "is of a new kind", ("unheard", "is of a new kind")),
    ],
)  # fmt: skip
def test_a_broken_rule_names_the_field_as_the_page_does(
    where: str, message: str, told: tuple[str, str]
) -> None:
    assert faults_of({"violations": [{"where": where, "message": message}]}) == [told]


@pytest.mark.parametrize(
    ("detail", "advice"),
    [
        ("This form is too old, or was not made by this service.", "Load the page again"),
        ("A page from elsewhere may not send this.", "at the address of the service"),
        ("The key 'x' does not have the scope 'write'.", "Sign in with a key that may"),
    ],
)
def test_what_is_refused_says_what_helps(detail: str, advice: str) -> None:
    found = words_of({"status": 403, "type": "urn:x", "title": "Forbidden", "detail": detail})
    assert advice in found.todo

"""Errors are a code and facts; each door adds its own advice to them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.api.advice import PYTHON, REST
from veritrail_graph.api.cli.advice import ADVICE as COMMAND
from veritrail_graph.api.cli.app import command
from veritrail_graph.api.mcp.advice import ADVICE as MCP
from veritrail_graph.api.page.faults import ADVICE as PAGE
from veritrail_graph.api.page.faults import faults_of, words_of
from veritrail_graph.api.requests.value_faults import sentence
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.api.server.application import advice_at
from veritrail_graph.api.service.http.problems import RETRY_AFTER_SECONDS, answer_of
from veritrail_graph.graph.errors import (
    BeingWritten,
    EngineUnavailable,
    InputError,
    NotFound,
    ProcessConflict,
    Violation,
    with_advice,
)
from veritrail_graph.graph.store.queries import find, read_parameters

ROOT = Path(__file__).resolve().parents[3]
OF_A_DOOR = re.compile(
    r"(?<![\w-])--(?!force-reinstall)[a-z]|`veritrail |\?(force|replace|append|process_id)="
)
A_SETTING = re.compile(r"(VERITRAIL|AZURE|OPENAI|NEO4J)_[A-Z]{2}")
BELOW = ("graph", "verifier", "api/app", "api/jobs", "api/work", "api/configured", "api/auth")


def test_what_lies_below_the_doors_gives_no_advice_of_one_door() -> None:
    found = []
    for path in (path for below in BELOW for path in (ROOT / below).rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        if not (OF_A_DOOR.search(code) or A_SETTING.search(code)):
            continue
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Raise):
                texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                found += [f"{path}: {t}" for t in texts if OF_A_DOOR.search(str(t))]
                if path.is_relative_to(ROOT / "verifier"):
                    found += [f"{path}: {t}" for t in texts if A_SETTING.search(str(t))]
    assert not found


COMMANDS: Any = command()
A_CALL = re.compile(r"(?<![\w/-])veritrail (?=[a-z])")
END = re.compile(r"[`;()]|[.,:](?= |$)| and | or | goes on| does so|…(?= )")


def texts_of(code: str) -> Iterator[str]:
    """The texts of a module but its docstrings, whole where they are put together of values."""
    tree = ast.parse(code)
    hidden = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            hidden |= {id(one) for one in node.values}
            values = [one.value if isinstance(one, ast.Constant) else "X" for one in node.values]
            yield "".join(map(str, values))
        elif isinstance(node, ast.Constant) and id(node) not in hidden:
            yield str(node.value)


def advised_calls() -> Iterator[tuple[str, list[str]]]:
    """The words of every call of the command line that a text of the product names."""
    layers = ("api", "graph", "verifier")
    for path in (path for layer in layers for path in (ROOT / layer).rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        for text in texts_of(code) if A_CALL.search(code) else ():
            for found in A_CALL.finditer(text):
                call = END.split(text[found.end() :])[0]
                yield f"{path.relative_to(ROOT)}: {call}", call.split()


def test_every_call_that_is_advised_is_one_that_the_command_line_takes() -> None:
    checked = 0
    for where, words in advised_calls():
        found, given = COMMANDS, list(words)
        while given and given[0] in getattr(found, "commands", {}):
            found = found.commands[given.pop(0)]
        assert found is not COMMANDS, where
        known = {name for one in found.params for name in (*one.opts, *one.secondary_opts)}
        options = {word.partition("=")[0] for word in given if word.startswith("-")}
        assert options <= {*known, "--help", "-"}, where
        # Without --add a claim is a question, which counts nowhere.
        assert found.name != "verify" or "--claim" not in options or "--add" in options, where
        checked += 1
    assert checked > 100


def test_every_code_of_a_table_is_raised_somewhere() -> None:
    raised = set()
    layers = ("graph", "verifier", "evaluation/veritrail_eval", "api")
    for path in (path for below in layers for path in (ROOT / below).rglob("*.py")):
        if not path.name.endswith("advice.py"):
            raised |= set(re.findall(r"[\"']([a-z_]+)[\"']", path.read_text(encoding="utf-8")))
    assert {*COMMAND, *REST, *PYTHON, *MCP, *PAGE} <= raised


def test_a_query_without_what_it_needs_is_answered_with_its_whole_call() -> None:
    with pytest.raises(InputError) as caught:
        read_parameters(find("check_links"), {"limit": "7"})
    said = with_advice(caught.value, COMMAND)
    assert said.endswith("The call is `veritrail ask check_links PROCESS_ID`.")
    with pytest.raises(InputError) as caught:
        read_parameters(find("check_links"), {"process_id": "p", "limit": "none"})
    assert "veritrail ask" not in with_advice(caught.value, COMMAND)


def test_each_door_advises_in_its_own_words() -> None:
    error = ProcessConflict("Process 'p' has other content.", code="other_content", process_id="p")
    said = [with_advice(error, table) for table in (COMMAND, REST, PAGE)]
    assert [one.startswith(str(error)) for one in said] == [True] * 3
    assert "--replace" in said[0]
    assert "--replace --keep" in said[0]
    assert "?replace=true" in said[1]
    assert "?replace=true&keep=true" in said[1]
    assert not OF_A_DOOR.search(said[2])


def test_a_client_and_mcp_advise_what_their_callers_can_do() -> None:
    for code in REST:
        for words in (PYTHON[code], MCP[code]):
            assert "/v1/" not in words, code
            assert not OF_A_DOOR.search(words.replace("`veritrail keys create`", "")), code


@pytest.mark.parametrize(
    ("path", "caller", "advice"),
    [
        ("/v1/processes/x", None, REST),
        ("/v1/processes/x", "python", PYTHON),
        ("/v1/processes/x", "mcp", MCP),
        ("/v1/processes/x", "abacus", REST),
        ("/processes/x", "python", PAGE),
    ],
)
def test_a_caller_names_the_door_whose_advice_it_wants(
    path: str, caller: str | None, advice: object
) -> None:
    headers = {} if caller is None else {"X-Veritrail-Client": caller}
    assert advice_at(path, headers) is advice


@pytest.mark.parametrize(
    ("values", "where", "message"),
    [
        ({"q": 0}, "q", "must be at least 1"),
        ({"q": "3"}, "q", "must be a whole number"),
        ({"again": "true"}, "again", "must be true or false"),
        ({"budget_usd": "1"}, "budget_usd", "must be a number"),
        ({"node_id": ""}, "node_id", "is empty"),
        ({"bogus": 1}, "bogus", "is not known here"),
        ({"claims": []}, "claims", "is empty"),
    ],
)
def test_a_value_that_breaks_a_rule_is_named_in_plain_words(
    values: dict[str, object], where: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        VerifyRequest.checked({"process_id": "p", **values}, "body.")
    (one,) = caught.value.violations
    assert (one.where, one.message) == (f"body.{where}", message)


def test_a_request_has_lists_of_texts_and_whole_numbers_where_numbers_are_wanted() -> None:
    made = VerifyRequest.checked(
        {"process_id": "p", "claims": ["a", {"text": "b"}], "claim_ids": ["k"], "budget_usd": 5}
    )
    assert (len(made.claims or ()), made.claim_ids, made.budget_usd) == (2, ("k",), 5.0)
    assert VerifyRequest.model_validate_json(made.to_json()) == made


def test_a_body_that_is_a_list_is_named_in_plain_words() -> None:
    fault = {"type": "model_attributes_type", "msg": "Input should be a valid dictionary"}
    assert sentence(fault) == "must be a JSON object"
    assert sentence({"type": "new", "msg": "Something else"}) == "something else"


def test_what_a_caller_sent_is_no_template() -> None:
    hostile = "{process_id} {0.__class__} --force"
    error = InputError(
        f"Process {hostile!r} is damaged.", code="process_damaged", process_id=hostile
    )
    assert with_advice(error, COMMAND).endswith(f"`veritrail delete {hostile!r}` does so.")


def test_a_kind_of_violation_has_advice_too() -> None:
    violation = Violation(
        "missing_parameter", "claim_id", "is missing: a claim", {"name": "claim_id"}
    )
    answer = answer_of(InputError("Wrong.", [violation]), COMMAND)
    assert json.loads(bytes(answer.body))["violations"][0]["message"].endswith(
        "(--param claim_id=…)"
    )


def test_rest_does_not_say_who_is_writing_but_when_to_come_again() -> None:
    answer = answer_of(BeingWritten("Process 'p' is being written by vm#17. It is stored."))
    assert (answer.status_code, answer.headers["retry-after"]) == (409, "5")
    content = json.loads(bytes(answer.body))
    assert content["type"] == "urn:veritrail:problem:conflict"
    assert "vm#" not in content["detail"]


def test_a_graph_that_is_away_is_told_once_and_with_hope() -> None:
    answer = answer_of(EngineUnavailable("bolt://secret:7687 is away"), PAGE)
    found = words_of(json.loads(bytes(answer.body)))
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
    assert "may have been removed" in found.todo


@pytest.mark.parametrize(
    ("where", "message", "told"),
    [
        ("query.q", "is longer than 200 characters", ("Search", "is longer than 200 characters")),
        ("query.part", "must be at least 1", ("Part of the text", "must be at least 1")),
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
    ("kind", "advice"),
    [
        ("form-expired", "Load the page again"),
        ("cross-origin", "at the address of the service"),
        ("not-allowed", "Sign in with a key that may"),
    ],
)
def test_what_is_refused_says_what_helps(kind: str, advice: str) -> None:
    problem = {"type": f"urn:veritrail:problem:{kind}", "title": "Forbidden", "detail": "Why."}
    found = words_of({"status": 403, **problem})
    assert advice in found.todo

"""The query library: the same rows in the same order from both engines."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contract.query_cases import (
    store_attributions,
    store_dead_end,
    store_harbour,
    store_ladder,
    store_reviews,
)
from contract.query_graph_answers import GRAPH_CASES
from contract.query_trail_answers import TRAIL_CASES
from contract.query_values import FS
from fakes.graph_dump import dump
from fakes.processes import process
from fakes.trails import a_trail

from veritrail_graph import cypher
from veritrail_graph.graph.errors import InputError, NotFound
from veritrail_graph.graph.ingest import ingest
from veritrail_graph.graph.model import Claim, Status
from veritrail_graph.graph.store import QueryRows, Store
from veritrail_graph.graph.store.queries import (
    GROUPS,
    described,
    example_of,
    find,
    grouped,
    library,
    orders_of,
    plain,
    read_parameters,
    shows_verdicts,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
INJECTION = "x'\"}) DETACH DELETE n // `; RETURN $process_id\n*/"

Ask = Callable[..., QueryRows]


@pytest.fixture(scope="module")
def harbour(store: Store, arun: Any) -> Iterator[str]:
    """The process of `query_cases`, stored once an engine."""
    process_id = f"qlib-{uuid.uuid4().hex[:12]}"
    arun(store_harbour(store, process_id))
    arun(store_reviews(store, process_id))
    arun(store_attributions(store, process_id))
    yield process_id
    arun(store.processes.delete(process_id))


@pytest.fixture
def ask(store: Store, arun: Any, harbour: str) -> Ask:
    """Run a query on the process; `v1` means the id of a verification, in and out."""

    def short(value: Any) -> Any:
        return value.removeprefix(f"{harbour}/") if isinstance(value, str) else value

    def call(name: str, **parameters: str) -> QueryRows:
        declared = {parameter.name for parameter in find(name).parameters}
        given = {"process_id": harbour} if "process_id" in declared else {}
        given |= {key: value.replace("{before}", harbour[:-1]) for key, value in parameters.items()}
        for key in ("verification_id", "other_verification_id"):
            if given.get(key, "").startswith("v"):
                given[key] = f"{harbour}/{given[key]}"
        result: QueryRows = arun(store.queries.run(name, given))
        rows = tuple(tuple(short(value) for value in row) for row in result.rows)
        return result.replace(rows=rows)

    return call


CASES = TRAIL_CASES | GRAPH_CASES
ANY_TEXT = ("after", "reviewer", "value")
"""Parameters for which a text that nothing has is answered without rows."""
ALL = [(name, given, rows) for name, cases in CASES.items() for given, rows in cases]
PYTHON = {"string": str, "integer": int, "float": float, "boolean": bool, "list": list}
GLOBAL = ("processes", "check_orphans", "check_loose_ends")
WITH_LIMIT = [name for name in CASES if "limit" in find(name).defaults and name not in GLOBAL]
BOUNDED = [(s.short_name, p.name) for s in library() for p in s.parameters if p.choices or p.bounds]


def ids(value: Any) -> str | None:
    return "-".join(value.values()) or "all" if isinstance(value, dict) else None


def test_every_query_has_a_case() -> None:
    assert sorted(CASES) == sorted(statement.short_name for statement in library())


@pytest.mark.engine
@pytest.mark.parametrize(("name", "given", "rows"), ALL, ids=ids)
def test_rows(
    ask: Ask, harbour: str, name: str, given: dict[str, str], rows: list[tuple[Any, ...]]
) -> None:
    process_id = harbour
    expected = [
        tuple(process_id if value == "{process}" else value for value in row) for row in rows
    ]
    result = ask(name, **given)
    found = [(*row[:-1], "now") if name == "processes" else row for row in result.rows]
    if name.startswith("check_") and name in GLOBAL:  # other tests break processes of their own
        found = [row for row in found if any(process_id in str(value) for value in row)]
    assert found == expected
    assert result.truncated is (name == "processes" and result.truncated)
    assert list(result.columns) == [column.name for column in find(name).columns]
    for row in result.rows:
        for column, value in zip(find(name).columns, row, strict=True):
            assert value is None or type(value) is PYTHON[column.type], column


@pytest.mark.engine
@pytest.mark.parametrize("name", WITH_LIMIT)
def test_a_limit_cuts_and_says_so(ask: Ask, name: str) -> None:
    given, _ = max(CASES[name], key=lambda case: len(case[1]))
    rows = list(ask(name, **given).rows)
    for limit in sorted({1, max(1, len(rows) - 1), max(1, len(rows)), len(rows) + 1}):
        result = ask(name, **given, limit=str(limit))
        assert list(result.rows) == rows[:limit]
        assert result.truncated == (limit < len(rows))
    assert list(ask(name, **given, limit="null").rows) == rows


@pytest.mark.engine
def test_an_unknown_subject_is_an_error_that_names_it(ask: Ask) -> None:
    with pytest.raises(NotFound, match="No process 'nowhere'"):
        ask("claims", process_id="nowhere")
    with pytest.raises(NotFound, match="no claim 'k99'"):
        ask("provenance", claim_id="k99")
    with pytest.raises(NotFound, match="no node 'x'"):
        ask("impact", node_id="x")
    with pytest.raises(NotFound, match="v-unknown' of claim 'k1'"):
        ask("provenance", claim_id="k1", verification_id="v-unknown")
    with pytest.raises(NotFound, match="/v2' of claim 'k1'"):
        ask("error_origin", claim_id="k1", verification_id="v2")


@pytest.mark.engine
def test_a_hostile_value_is_a_value_and_nothing_else(
    store: Store, arun: Any, ask: Ask, harbour: str
) -> None:
    before = arun(dump(store, harbour))
    tried = 0
    for statement in library():
        given, _ = CASES[statement.short_name][0]
        for one in statement.parameters:
            if one.type == "string" and not one.choices and one.name not in ANY_TEXT:
                tried += 1
                with pytest.raises(NotFound):
                    ask(statement.short_name, **{**given, one.name: INJECTION})
    assert tried > 50
    assert arun(dump(store, harbour)) == before


@pytest.mark.engine
def test_a_value_that_no_node_has_was_seen_nowhere(ask: Ask) -> None:
    assert ask("first_seen", value=INJECTION).rows == ()


@pytest.mark.engine
def test_a_reviewer_who_reviewed_nothing_has_no_reviews(ask: Ask) -> None:
    before = ask("reviews").rows
    for name in ("Cy", "ada", INJECTION):
        assert ask("reviews", reviewer=name).rows == ()
    assert ask("reviews").rows == before


@pytest.mark.engine
@pytest.mark.timeout(60)
def test_a_deep_and_wide_process_is_answered_in_bounded_time(
    store: Store, arun: Any, process_id: str
) -> None:
    depth = 55  # more paths than can be counted one by one
    arun(store_ladder(store, process_id, depth))
    subject = {"process_id": process_id, "claim_id": "k"}
    result = arun(store.queries.run("provenance", {**subject, "limit": "3"}))
    assert result.truncated
    assert [row[1:3] for row in result.rows] == [[True, depth]] * 3
    # The first in the order of the input at every step; the furthest steps change first.
    high = [f"a{number}" for number in range(3, depth)] + ["t"]
    assert [row[3] for row in result.rows] == [
        ["a0", "a1", "a2", *high],
        ["b0", "a1", "a2", *high],
        ["a0", "b1", "a2", *high],
    ]
    assert {tuple(row[5:]) for row in result.rows} == {(10**15, 10**15)}  # where counting stops
    many = arun(store.queries.run("provenance", {**subject, "limit": "500"}))
    assert len({tuple(row[3]) for row in many.rows}) == 500
    result = arun(store.queries.run("impact", {"process_id": process_id, "node_id": "b0"}))
    assert [row[:2] + row[4:6] for row in result.rows] == [["evidence", "k", depth, FS]]
    result = arun(store.queries.run("stage_summary", {"process_id": process_id}))
    assert len(result.rows) == depth + 1


@pytest.mark.engine
def test_paths_that_begin_in_a_root_come_first_and_all_are_counted(
    store: Store, arun: Any, process_id: str
) -> None:
    arun(store_dead_end(store, process_id))
    subject = {"process_id": process_id, "claim_id": "k"}
    first = ["c2", "s2", "t"]
    for limit, nodes in (("1", [first]), ("2", [first, ["s1", "t"]])):
        found = arun(store.queries.run("provenance", {**subject, "limit": limit}))
        assert [row[3] for row in found.rows] == nodes
        assert {tuple(row[5:]) for row in found.rows} == {(2, 1)}


@pytest.mark.parametrize("statement", library(), ids=lambda statement: statement.short_name)
def test_the_example_can_be_run_on_the_sample_process(statement: cypher.Statement) -> None:
    given = example_of(statement)
    assert given
    values = read_parameters(statement, given)
    if values.get("process_id") is None:
        return
    sample = json.loads((EXAMPLES / f"{values['process_id']}.json").read_text("utf-8"))
    claims, nodes = sample.get("claims", ()), sample.get("nodes", ())
    assert values.get("claim_id") in {None, *(claim["claim_id"] for claim in claims)}
    for name in ("node_id", "from_node_id", "to_node_id"):
        assert values.get(name) in {None, *(node["node_id"] for node in nodes)}


def test_every_query_stands_under_a_heading_of_the_library() -> None:
    listed = [statement for group in grouped().values() for statement in group]
    assert sorted(listed, key=lambda statement: statement.name) == list(library())
    assert set(GROUPS) == {statement.group for statement in library()}


@pytest.mark.parametrize("statement", library(), ids=lambda statement: statement.short_name)
def test_every_query_is_bounded(statement: cypher.Statement) -> None:
    bounds = {p.name: p.bounds for p in statement.parameters if p.type == "integer"}
    assert all(bounds.values())
    # One row a stage, a count or a node of one path, or of one error: these end by themselves.
    few = {"stage_summary", "check_counts", "error_origin", "error_path", "shortest_provenance"}
    assert ("limit" in bounds) is (statement.short_name not in {*few, "path_between"})
    assert "INPUT_TO*]" not in statement.text


@pytest.mark.engine
def test_an_answer_says_whether_it_draws_on_indicative_verdicts(ask: Ask) -> None:
    # Of the latest verifications only that of k2 was made by a model.
    assert ask("provenance", claim_id="k1").indicative is True
    assert ask("error_path", claim_id="k2").indicative is False
    assert ask("error_path", claim_id="k1").indicative is True  # no rows: its latest says so
    assert ask("evidence_trail", claim_id="k2").indicative is False
    assert ask("evidence_trail", claim_id="k2", verification_id="v2-old").indicative is True
    assert ask("error_stages").indicative is True
    assert ask("cost").indicative is None
    assert ask("descendants", node_id="c1").indicative is None


@pytest.mark.engine
def test_an_answer_about_a_claim_that_words_leave_open_is_indicative(
    store: Store, arun: Any, process_id: str
) -> None:
    claim = Claim(claim_id="k1", text="A.", node_id="t")
    arun(ingest(store, process({"a": "A.", "t": "A."}, [("a", "t")], process_id=process_id)))
    arun(store.claims.add(process_id, [claim]))
    open_ = {"status": Status.UNDECIDED, "verdict": None, "engine": "lexical", "model": None}
    arun(
        store.trails.write(
            a_trail(f"{process_id}/v", process_id=process_id, claim=claim, **open_, indicative=True)
        )
    )
    found = arun(store.queries.run("error_origin", {"process_id": process_id, "claim_id": "k1"}))
    assert [dict(zip(found.columns, row, strict=True))["indicative"] for row in found.rows] == [
        True
    ]
    assert found.indicative is True


@pytest.mark.parametrize("statement", library(), ids=lambda statement: statement.short_name)
def test_what_shows_a_verdict_says_whether_it_is_indicative(statement: cypher.Statement) -> None:
    columns = {column.name for column in statement.columns}
    if columns & {"verdict", "interim_verdict", "supported", "error_nodes", "claims_with_errors"}:
        assert shows_verdicts(statement)
    assert described(statement).shows_verdicts is shows_verdicts(statement)
    assert [column.name for column in described(statement).columns] == [
        column.name for column in statement.columns
    ]


def test_maps_stand_in_the_order_of_the_header_and_else_sorted() -> None:
    orders = orders_of(find("provenance"))
    sentence = {"text": "x", "sentence": 0, "role": "context"}
    step = {"sentences": [sentence], "via": [], "stage": 1, "role": "root", "node_id": "n"}
    found = plain([step], orders)[0]
    assert list(found) == ["node_id", "stage", "role", "via", "sentences"]
    assert list(found["sentences"][0]) == ["sentence", "role", "text"]
    assert list(plain({"b": 1, "a": 2}, orders)) == ["a", "b"]


@pytest.mark.engine
def test_maps_stand_in_one_order_on_both_engines(ask: Ask) -> None:
    for step in ask("provenance", claim_id="k1").rows[0][4]:
        assert list(step) == ["node_id", "stage", "role", "via", "sentences"]


def test_null_is_a_text_where_any_text_is_taken() -> None:
    given = {"process_id": "p", "claim_id": "null", "status": "null", "limit": "null"}
    values = read_parameters(find("verifications"), given)
    assert values == {"process_id": "p", "claim_id": "null", "status": None, "limit": None}
    given = {"process_id": "p", "claim_id": None}  # type: ignore[dict-item]
    assert read_parameters(find("verifications"), given)["claim_id"] is None


def test_a_name_that_is_nearly_right_is_told() -> None:
    with pytest.raises(NotFound, match="Did you mean provenance or shortest_provenance"):
        find("provenence")
    with pytest.raises(NotFound, match=r"^No query 'zzzz'\.$"):
        find("zzzz")


def test_wrong_parameters_are_listed_all_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read_parameters(find("provenance"), {"limit": "many", "claim": "k1"})
    assert [violation.kind for violation in caught.value.violations] == [
        "unknown_parameter",
        "missing_parameter",
        "missing_parameter",
        "wrong_type",
    ]


@pytest.mark.parametrize(("name", "parameter"), BOUNDED)
def test_what_is_out_of_bounds_is_refused(name: str, parameter: str) -> None:
    (declared,) = [p for p in find(name).parameters if p.name == parameter]
    wrong: list[Any]
    if declared.bounds and declared.type == "string":
        wrong = [" " * declared.bounds[0], "x" * (declared.bounds[1] + 1), 1]
    elif declared.bounds:
        least, most = declared.bounds
        wrong = [str(least - 1), str(most + 1), least - 1, most + 1, "1.0", "1e3", "9" * 30, True]
    else:
        wrong = ["", INJECTION, "Stage", 1]
    if declared.default is not None and parameter != "limit":
        wrong.append("null")
    for value in wrong:
        given = {**example_of(find(name)), parameter: value}
        with pytest.raises(InputError) as caught:
            read_parameters(find(name), given)
        (violation,) = caught.value.violations
        assert violation.where == parameter
        assert violation.kind in {"out_of_range", "wrong_type"}


def test_values_are_taken_as_well_as_what_was_typed() -> None:
    typed = {"process_id": "p", "node_id": "n", "depth": "3", "limit": "7"}
    values = {"process_id": "p", "node_id": "n", "depth": 3, "limit": 7}
    assert read_parameters(find("ancestors"), typed) == values
    assert read_parameters(find("ancestors"), values) == values
    used = {"process_id": "p", "used": False, "limit": None}
    assert read_parameters(find("root_coverage"), used) == used
    for wrong in ({"process_id": 1}, {"process_id": ["p"]}, {"process_id": None}):
        with pytest.raises(InputError):
            read_parameters(find("claims"), wrong)


@pytest.mark.parametrize(
    "name",
    ["../schema/span_key", "queries/claims", "claims.cypher", "%2e%2e/claims", "", ".", "claims\0"],
)
def test_a_path_is_no_name_of_a_query(name: str) -> None:
    with pytest.raises(NotFound, match="No query"):
        find(name)

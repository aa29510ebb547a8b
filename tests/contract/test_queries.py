"""The query library: the same rows in the same order from both engines."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contract.query_cases import HOSTILE, TEXTS, store_harbour, store_ladder

import cypher
from graph.errors import InputError, NotFound
from graph.store import QueryResult, Store
from graph.store.queries import find, library, read_parameters

NFS, FS, INC = "NOT_FULLY_SUPPORTED", "FULLY_SUPPORTED", "INCONCLUSIVE"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
INJECTION = "x'\"}) DETACH DELETE n // `; RETURN $process_id\n*/"

Ask = Callable[..., QueryResult]


@pytest.fixture(scope="module")
def harbour(store: Store, arun: Any) -> Iterator[str]:
    """The process of `query_cases`, stored once an engine."""
    process_id = f"qlib-{uuid.uuid4().hex[:12]}"
    arun(store_harbour(store, process_id))
    yield process_id
    arun(store.processes.delete(process_id))


@pytest.fixture
def ladder(store: Store, arun: Any) -> Iterator[Callable[[int], str]]:
    """Store a ladder of a depth; gives its process_id."""
    process_id = f"qlib-{uuid.uuid4().hex[:12]}"

    def make(depth: int) -> str:
        arun(store_ladder(store, process_id, depth))
        return process_id

    yield make
    arun(store.processes.delete(process_id))


@pytest.fixture
def ask(store: Store, arun: Any, harbour: str) -> Ask:
    """Run a query on the process; `v1` stands for the id of a verification, in and out."""

    def short(value: Any) -> Any:
        return value.removeprefix(f"{harbour}/") if isinstance(value, str) else value

    def call(name: str, **parameters: str) -> QueryResult:
        given = {"process_id": harbour, **parameters}
        if parameters.get("verification_id", "").startswith("v"):
            given["verification_id"] = f"{harbour}/{parameters['verification_id']}"
        result = arun(store.queries.run(name, given))
        rows = tuple(tuple(short(value) for value in row) for row in result.rows)
        return QueryResult(result.columns, rows, result.truncated)

    return call


def step(node_id: str, stage: int, role: str, *sentences: Any, via: Any = ()) -> dict[str, Any]:
    return {
        "node_id": node_id,
        "stage": stage,
        "role": role,
        "via": list(via),
        "sentences": [{"sentence": n, "role": kind, "text": text} for n, kind, text in sentences],
    }


OPENED = "The harbour opened in 1901."
BUILT = "The Docks Company built it."
S1_OPENED = "It opened in 1901."
C2_SHIPS = "In 2024 the harbour handled 310 ships."
S1_SHIPS = "It handled 310 ships in 2024."
S2_SHIPS = "Some 320 ships came."
M1_SHIPS = "Opened in 1901, the harbour handled 320 ships in 2024."
K1, K2, K3, K4, K5 = (
    "The harbour opened in 1901.",
    "The harbour handled 320 ships in 2024.",
    "The harbour is old.",
    "The harbour handled ships.",
    "The harbour won a prize.",
)

T_STEP = step("t", 4, "terminal")
C2_STEP = step("c2", 1, "root", (0, "evidence", C2_SHIPS))
S1_STEP = step("s1", 2, "intermediate", (1, "evidence", S1_SHIPS))
S2_STEP = step("s2", 2, "intermediate", (0, "evidence", S2_SHIPS))
M1_STEP = step("m1", 3, "intermediate", (0, "evidence", M1_SHIPS))

CASES: dict[str, list[tuple[dict[str, str], list[tuple[Any, ...]]]]] = {
    "provenance": [
        (
            {"claim_id": "k1"},
            [
                (
                    "v1",
                    True,
                    2,
                    ["c1", "s1", "t"],
                    [
                        step("c1", 1, "root", (0, "evidence", OPENED), (1, "context", BUILT)),
                        step("s1", 2, "intermediate", (0, "evidence", S1_OPENED), via=["m1"]),
                        T_STEP,
                    ],
                )
            ],
        ),
        (
            {"claim_id": "k2"},
            [
                ("v2", True, 2, ["c2", "s2", "t"], [C2_STEP, S2_STEP, T_STEP]),
                ("v2", True, 3, ["c2", "s1", "m1", "t"], [C2_STEP, S1_STEP, M1_STEP, T_STEP]),
                ("v2", True, 3, ["c2", "s2", "m1", "t"], [C2_STEP, S2_STEP, M1_STEP, T_STEP]),
            ],
        ),
        (
            {"claim_id": "k2", "verification_id": "v2-old"},
            [("v2-old", False, 1, ["m1", "t"], [M1_STEP, T_STEP])],
        ),
        ({"claim_id": "k3"}, [("v3", False, 1, ["m1", "t"], [M1_STEP, T_STEP])]),
        ({"claim_id": "k4"}, []),  # nobody verified it
        ({"claim_id": "k5"}, []),  # no evidence
    ],
    "error_origin": [
        (
            {"claim_id": "k2"},
            [
                ("v2", NFS, False, 2, "s2", "summary", "summarise", "writer-0", None,
                 [S2_SHIPS], ["t"]),
                ("v2", NFS, False, 3, "m1", "draft", "write", "writer-1", "Write it up.",
                 [M1_SHIPS], ["t"]),
            ],
        ),
        (
            {"claim_id": "k5"},
            [("v5", NFS, True, 4, "t", "text", None, None, None, [], [])],
        ),
        (
            {"claim_id": "k1"},
            [("v1", FS, True, None, None, None, None, None, None, [], [])],
        ),
        (
            {"claim_id": "k2", "verification_id": "v2-failed"},
            [("v2-failed", None, True, None, None, None, None, None, None, [], [])],
        ),
        ({"claim_id": "k4"}, []),
    ],
    "unsupported_claims": [
        (
            {},
            [
                ("k2", K2, "t", "v2", [2, 3], ["s2", "m1"], "It was 310.", "openai", False),
                ("k5", K5, "t", "v5", [4], ["t"], "Nothing on a prize.", "lexical", True),
            ],
        ),
    ],
    "source_nodes": [
        (
            {"node_id": "s1"},
            [
                ("c1", 1, "root", "text", True, TEXTS["c1"]),
                ("c2", 1, "root", "text", False, TEXTS["c2"]),
            ],
        ),
        (
            {"node_id": "t"},
            [
                ("s2", 2, "intermediate", "summary", None, "Some 320 ships came. " + "😀" * 179),
                ("m1", 3, "intermediate", "draft", None, TEXTS["m1"]),
            ],
        ),
        ({"node_id": HOSTILE}, []),
    ],
    "impact": [
        (
            {"node_id": "c1"},
            [
                ("evidence", "k1", K1, "t", 3, FS, "v1"),
                ("downstream", "k4", K4, "m1", 2, None, None),
                ("downstream", "k2", K2, "t", 3, NFS, "v2"),
                ("downstream", "k3", K3, "t", 3, INC, "v3"),
                ("downstream", "k5", K5, "t", 3, NFS, "v5"),
            ],
        ),
        (
            {"node_id": "m1"},
            [
                ("evidence", "k2", K2, "t", 1, NFS, "v2"),
                ("evidence", "k3", K3, "t", 1, INC, "v3"),
                ("downstream", "k4", K4, "m1", 0, None, None),
                ("downstream", "k1", K1, "t", 1, FS, "v1"),
                ("downstream", "k5", K5, "t", 1, NFS, "v5"),
            ],
        ),
        (
            {"node_id": HOSTILE},
            [
                ("downstream", "k1", K1, "t", 2, FS, "v1"),
                ("downstream", "k2", K2, "t", 2, NFS, "v2"),
                ("downstream", "k3", K3, "t", 2, INC, "v3"),
                ("downstream", "k4", K4, "m1", 2, None, None),
                ("downstream", "k5", K5, "t", 2, NFS, "v5"),
            ],
        ),
        (
            {"node_id": "t"},
            [
                ("downstream", "k1", K1, "t", 0, FS, "v1"),
                ("downstream", "k2", K2, "t", 0, NFS, "v2"),
                ("downstream", "k3", K3, "t", 0, INC, "v3"),
                ("downstream", "k5", K5, "t", 0, NFS, "v5"),
            ],
        ),
    ],
    "claims": [
        (
            {},
            [
                ("k1", K1, "t", FS, True, "lexical", "v1", "2026-01-01T00:00:00.000000Z", 1),
                ("k2", K2, "t", NFS, False, "openai", "v2", "2026-01-02T00:00:00.000000Z", 3),
                ("k3", K3, "t", INC, True, "lexical", "v3", "2026-01-01T00:00:00.000000Z", 1),
                ("k4", K4, "m1", None, None, None, None, None, 0),
                ("k5", K5, "t", NFS, True, "lexical", "v5", "2026-01-01T00:00:00.000000Z", 1),
            ],
        ),
    ],
    "evidence_trail": [
        (
            {"claim_id": "k1"},
            [
                ("v1", 1, NFS, None, None, None, None, None, None, None),
                ("v1", 2, FS, "s1", 2, 0, "evidence", S1_OPENED, "It opened in 1901.", None),
                ("v1", 3, FS, "c1", 1, 0, "evidence", OPENED, "Opened in 1901.", "Who opened it."),
                ("v1", 3, FS, "c1", 1, 1, "context", BUILT, "Opened in 1901.", "Who opened it."),
            ],
        ),
        (
            {"claim_id": "k2"},
            [
                ("v2", 1, FS, "s2", 2, 0, "evidence", S2_SHIPS, "320 ships.", None),
                ("v2", 1, FS, "m1", 3, 0, "evidence", M1_SHIPS, "320 ships.", None),
                ("v2", 2, NFS, "c2", 1, 0, "evidence", C2_SHIPS, "310 ships in 2024.", None),
                ("v2", 2, NFS, "s1", 2, 1, "evidence", S1_SHIPS, "310 ships.", "The source."),
            ],
        ),
        ({"claim_id": "k2", "verification_id": "v2-failed"}, []),
        ({"claim_id": "k4"}, []),
    ],
    "stage_summary": [
        # c1 twice and c2; s1 twice and s2; m1 once, for two claims. The old verification and
        # its verdict do not count.
        ({}, [(1, 3, 0, 3), (2, 2, 1, 3), (3, 1, 1, 1), (4, 1, 1, 0)]),
    ],
    "cost": [
        # What a failed verification paid counts; one call without a price makes a sum unknown.
        (
            {},
            [
                ("sub_claim_decomposition", "judge-1", "sub_claim_decomposition.v1", 1, 0, 1, 0, 0,
                 0, None, 0),
                ("evidence_selection", "judge-1", "evidence_selection.v1", 2, 4, 1, 169, 60, 26,
                 0.875, 0),
                ("verdict", "judge-1", "verdict.v1", 2, 2, 0, 48, 0, 11, None, 1),
            ],
        ),
    ],
}  # fmt: skip
ALL = [(name, given, rows) for name, cases in CASES.items() for given, rows in cases]
WITH_LIMIT = [name for name in CASES if "limit" in find(name).defaults]


STRINGS = [(s.short_name, p.name) for s in library() for p in s.parameters if p.type == "string"]


def ids(value: Any) -> str | None:
    return "-".join(value.values()) or "all" if isinstance(value, dict) else None


def test_every_query_has_a_case() -> None:
    assert sorted(CASES) == sorted(statement.short_name for statement in library())


@pytest.mark.engine
@pytest.mark.parametrize(("name", "given", "rows"), ALL, ids=ids)
def test_rows(ask: Ask, name: str, given: dict[str, str], rows: list[tuple[Any, ...]]) -> None:
    result = ask(name, **given)
    assert list(result.rows) == rows
    assert not result.truncated
    assert list(result.columns) == [column.name for column in find(name).columns]


@pytest.mark.engine
@pytest.mark.parametrize("name", CASES)
def test_values_are_of_the_type_that_the_header_declares(ask: Ask, name: str) -> None:
    python = {"string": str, "integer": int, "float": float, "boolean": bool, "list": list}
    for given, _ in CASES[name]:
        for row in ask(name, **given).rows:
            for column, value in zip(find(name).columns, row, strict=True):
                assert value is None or type(value) is python[column.type], column


@pytest.mark.engine
@pytest.mark.parametrize("name", WITH_LIMIT)
def test_a_limit_cuts_and_says_so(ask: Ask, name: str) -> None:
    given, rows = max(CASES[name], key=lambda case: len(case[1]))
    for limit in range(1, len(rows) + 2):
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
@pytest.mark.parametrize(("name", "parameter"), STRINGS)
def test_a_hostile_value_is_a_value_and_nothing_else(ask: Ask, name: str, parameter: str) -> None:
    given, rows = CASES[name][0]
    changed = {**given, parameter: INJECTION}
    with pytest.raises(NotFound):
        ask(name, **changed)
    assert list(ask(name, **given).rows) == rows
    assert len(ask("claims").rows) == 5


@pytest.mark.engine
@pytest.mark.timeout(60)
def test_a_deep_and_wide_process_is_answered_in_bounded_time(
    store: Store, arun: Any, ladder: Callable[[int], str]
) -> None:
    depth = 40  # a million million paths
    process_id = ladder(depth)
    subject = {"process_id": process_id, "claim_id": "k"}
    result = arun(store.queries.run("provenance", {**subject, "limit": "3"}))
    assert result.truncated
    assert [row[1:3] for row in result.rows] == [(True, depth)] * 3
    # The first in the order of the input at every step; the furthest steps change first.
    high = [f"a{number}" for number in range(3, depth)] + ["t"]
    assert [row[3] for row in result.rows] == [
        ["a0", "a1", "a2", *high],
        ["b0", "a1", "a2", *high],
        ["a0", "b1", "a2", *high],
    ]
    many = arun(store.queries.run("provenance", {**subject, "limit": "500"}))
    assert len({tuple(row[3]) for row in many.rows}) == 500
    result = arun(store.queries.run("impact", {"process_id": process_id, "node_id": "b0"}))
    assert [row[:2] + row[4:6] for row in result.rows] == [("evidence", "k", depth, FS)]
    result = arun(store.queries.run("stage_summary", {"process_id": process_id}))
    assert len(result.rows) == depth + 1


@pytest.mark.engine
def test_a_path_of_many_links_is_followed_to_its_root(
    store: Store, arun: Any, ladder: Callable[[int], str]
) -> None:
    parameters = {"process_id": ladder(55), "claim_id": "k", "limit": "2"}
    for row in arun(store.queries.run("provenance", parameters)).rows:
        assert row[1:3] == (True, 55)


@pytest.mark.parametrize("statement", library(), ids=lambda statement: statement.short_name)
def test_the_example_can_be_run_on_the_sample_process(statement: cypher.Statement) -> None:
    assert statement.example
    given = dict(part.split("=", 1) for part in statement.example.split())
    values = read_parameters(statement, given)
    sample = json.loads((EXAMPLES / f"{values['process_id']}.json").read_text("utf-8"))
    assert values.get("claim_id") in {None, *(claim["claim_id"] for claim in sample["claims"])}
    assert values.get("node_id") in {None, *(node["node_id"] for node in sample["nodes"])}


def test_wrong_parameters_are_listed_all_at_once() -> None:
    with pytest.raises(InputError) as caught:
        read_parameters(find("provenance"), {"limit": "many", "claim": "k1"})
    assert [violation.kind for violation in caught.value.violations] == [
        "unknown_parameter",
        "missing_parameter",
        "missing_parameter",
        "wrong_type",
    ]

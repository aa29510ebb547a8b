"""What `veritrail query` prints: tables, records, remarks; and calls that it refuses."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from veritrail_graph.api.cli import query
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.store import QueryResult

SENTENCE = {"sentence": 0, "role": "evidence", "text": "It opened\nin 1901."}
STEP = {"node_id": "c1", "stage": 1, "role": "root", "via": [], "sentences": [SENTENCE]}
RESULT = QueryResult(
    ("verification_id", "nodes", "path"), (("v" * 60, ["c1", "t"], [STEP]),), False, True
)


def told(monkeypatch: pytest.MonkeyPatch, result: QueryResult, width: int, *, tty: bool) -> str:
    """The output of a result on a terminal of a width, or in a pipe."""
    screen = Console(file=io.StringIO(), width=width, force_terminal=tty, no_color=True)
    monkeypatch.setattr(query, "console", lambda: screen)
    monkeypatch.setattr(query, "show", screen.print)
    query.tell_result(result)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def plain_lines(text: str) -> list[str]:
    return [
        line.rstrip() for line in text.replace("\x1b[1m", "").replace("\x1b[0m", "").split("\n")
    ]


def test_a_table_that_is_too_wide_for_the_terminal_becomes_records(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = plain_lines(told(monkeypatch, RESULT, 80, tty=True))
    assert lines[0] == f"verification_id: {'v' * 60}"
    assert lines[1] == "nodes: c1, t"
    assert lines[2] == "path:"
    assert " ".join(line.strip() for line in lines[3:]).strip() == (
        "- node_id: c1, stage: 1, role: root, "
        "sentences: (sentence: 0, role: evidence, text: It opened in 1901.)"
    )
    assert "indicative only" in capsys.readouterr().err


@pytest.mark.parametrize(("width", "tty"), [(400, True), (400, False), (80, False)])
def test_a_table_stays_one_where_it_fits_and_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch, width: int, tty: bool
) -> None:
    lines = plain_lines(told(monkeypatch, RESULT, width, tty=tty))
    assert lines[0].split()[0] == "verification_id"
    assert not lines[0].startswith("verification_id:")


@pytest.mark.parametrize("indicative", [False, None])
def test_other_answers_have_no_remark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], indicative: bool | None
) -> None:
    told(monkeypatch, QueryResult(("a",), (("x",),), False, indicative), 80, tty=True)
    assert capsys.readouterr().err == ""


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": "claims", "list_all": True}, "leave out the name"),
    ({"list_all": True, "as_cypher": True}, "leave out the name"),
    ({"list_all": True, "param": ["limit=1"]}, "leave out the name"),
    ({"name": "claims", "param": ["limit=1", "limit=2"]}, "'limit' is given more than once"),
    ({"name": "claims", "param": ["limit"]}, "must be key=value"),
    ({}, "Name a query"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_a_call_that_would_be_half_ignored_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        query.query(**{"name": None, "list_all": False, "as_cypher": False, **given})

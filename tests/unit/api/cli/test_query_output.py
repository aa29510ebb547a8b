"""What `veritrail query` prints: tables, records, remarks; and calls that it refuses."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from veritrail_graph.api.cli import query, query_output, terminal
from veritrail_graph.api.cli.query_output import Form, csv_text, tell_result
from veritrail_graph.api.show.query_rows import value_words
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.store import QueryRows

SENTENCE = {"sentence": 0, "role": "evidence", "text": "It opened\nin 1901."}
STEP = {"node_id": "c1", "stage": 1, "role": "root", "via": [], "sentences": [SENTENCE]}
RESULT = QueryRows(
    columns=["verification_id", "nodes", "path"],
    rows=[["v" * 60, ["c1", "t"], [STEP]]],
    indicative=True,
)


def told(
    monkeypatch: pytest.MonkeyPatch,
    result: QueryRows,
    width: int,
    *,
    tty: bool,
    form: Form = Form.TABLE,
) -> str:
    """The output of a result on a terminal of a width, or in a pipe."""
    screen = Console(file=io.StringIO(), width=width, force_terminal=tty, no_color=True)
    remarks = terminal.console(stderr=True)
    monkeypatch.setattr(query_output, "console", lambda: screen)
    monkeypatch.setattr(terminal, "console", lambda stderr=False: remarks if stderr else screen)
    tell_result(result, form, {1: "source text"})
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def plain_lines(text: str) -> list[str]:
    return [line.rstrip() for line in re.sub(r"\x1b\[\d*m", "", text).split("\n")]


def test_a_table_that_is_too_wide_for_the_terminal_becomes_a_tree_in_which_a_path_reads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = plain_lines(told(monkeypatch, RESULT, 90, tty=True))
    assert lines[0] == f"verification_id: {'v' * 60}"
    assert lines[1] == "└── path"
    assert lines[2].startswith("    └── c1  stage 1")
    assert "It opened in 1901." in lines[3]
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
    told(monkeypatch, QueryRows(columns=["a"], rows=[["x"]], indicative=indicative), 80, tty=True)
    assert capsys.readouterr().err == ""


def test_a_tree_shows_the_parts_of_a_row_below_what_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = plain_lines(told(monkeypatch, RESULT, 100, tty=False, form=Form.TREE))
    assert lines[0] == f"verification_id: {'v' * 60}"
    assert [line.strip(" │├└─") for line in lines[1:4]] == [
        "path",
        "c1  stage 1 source text",
        "0: It opened in 1901.",
    ]


def test_csv_holds_figures_as_they_are_lists_in_one_cell_and_no_formula() -> None:
    rows = [[1 / 3, ["a", "b"], None, True, [{"x": 1}], -2, "=1+1", ["@a", "b"]]]
    text = csv_text(QueryRows(columns=list("stuvwxyz"), rows=rows))
    figures, texts = "0.3333333333333333,a; b,,true", "'=1+1,'@a; b"
    assert text == f's,t,u,v,w,x,y,z\n{figures},"[{{""x"": 1}}]",-2,{texts}\n'


def test_times_are_short_in_tables() -> None:
    assert value_words("2026-11-22T10:38:16.426769Z") == "2026-11-22 10:38:16"
    assert value_words("since 2026-11-22T10:38:16Z") == "since 2026-11-22T10:38:16Z"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": "claims", "list_all": True}, "leave out the name"),
    ({"list_all": True, "as_cypher": True}, "leave out the name"),
    ({"list_all": True, "param": ["limit=1"]}, "leave out the name"),
    ({"name": "claims", "param": ["limit=1", "limit=2"]}, "'limit' is given more than once"),
    ({"name": "claims", "param": ["limit"]}, "must be key=value"),
    ({}, "Name a query"),
    ({"name": "error_origin", "values": list("abcd")}, "process_id, claim_id, verification_id"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_a_call_that_would_be_half_ignored_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        query.query(**{"name": None, "list_all": False, "as_cypher": False, **given})

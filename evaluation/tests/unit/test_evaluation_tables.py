"""Tables of people: every form is read alike, and every fault is named with row and column."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.figure_files import read_annotations, read_judged, read_located
from veritrail_eval.figures.scores import ScoredClaim
from veritrail_eval.tables import read_table
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

FS, NFS, INC = Verdict
HEAD = "claim_id,label,verdict,method,score,cost_usd\n"
LINES = [
    {"claim_id": "k1", "label": "FULLY_SUPPORTED", "verdict": None, "score": 0.25},
    {"claim_id": 2, "label": None, "verdict": "INCONCLUSIVE"},
]
EXPECTED = [ScoredClaim("k1", FS, None, score=0.25), ScoredClaim("2", None, INC)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", "claim_id,label,verdict,score\nk1,FULLY_SUPPORTED,,0.25\n2,,INCONCLUSIVE,\n"),
        (
            "t.csv",
            "\ufeffclaim_id;label;verdict;score\r\n"
            "k1;FULLY_SUPPORTED;;0,25\r\n2;;INCONCLUSIVE;\r\n",
        ),
        (
            "t.tsv",
            "score\tclaim_id\tlabel\tverdict\n.25\tk1\tFULLY_SUPPORTED\t\n\t2\t\tINCONCLUSIVE\n",
        ),
        (
            "t.csv",
            '\n"claim_id", label ,verdict,score\n\n'
            " k1 , FULLY_SUPPORTED ,,25e-2\n,,,\n2,,INCONCLUSIVE,\n",
        ),
        ("t.jsonl", "\n".join(map(json.dumps, LINES))),
        ("t.ndjson", "\ufeff" + "\n\n".join(map(json.dumps, LINES)) + "\n"),
        ("t.json", json.dumps(LINES)),
    ],
    ids=["csv", "semicolons", "tsv", "spaces", "jsonl", "ndjson", "json"],
)  # fmt: skip
def test_every_form_of_a_table_is_read_alike(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8", newline="")
    assert read_judged(path).found == EXPECTED
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert read_judged(packed).found == EXPECTED


FAULTS: list[tuple[str, str, str, str, str]] = [
    ("t.csv", HEAD + "k,MAYBE,,,,\n", "unknown_value", "row 2, column label", "none of FULLY"),
    ("t.csv", HEAD + "k,,supported,,,\n", "unknown_value", "row 2, column verdict", "'supported'"),
    ("t.csv", HEAD + ",,,,,\n ,,,m,,\n", "empty", "row 3, column claim_id", "only spaces"),
    ("t.csv", HEAD + "k,,,,nan,\n", "not_a_number", "row 2, column score", "'nan'"),
    ("t.csv", HEAD + "k,,,,-inf,\n", "not_a_number", "row 2, column score", "'-inf'"),
    ("t.csv", HEAD + "k,,,,1_0,\n", "not_a_number", "row 2, column score", "'1_0'"),
    ("t.csv", HEAD + 'k,,,,"0,5",\n', "not_a_number", "row 2, column score", "'0,5'"),
    ("t.csv", HEAD + "k,,,,1.01,\n", "out_of_range", "row 2, column score", "from 0 to 1"),
    ("t.csv", HEAD + "k,,,,,-1\n", "out_of_range", "row 2, column cost_usd", "at least 0"),
    ("t.csv", HEAD + "k,,,,,cheap\n", "not_a_number", "row 2, column cost_usd", "'cheap'"),
    ("t.csv", HEAD + "k,,,m,,\n\nj,,,,,\n", "empty", "row 4, column method", "other rows"),
    ("t.csv", HEAD + "k,,,m,,\nk,,,m,,\n", "duplicate", "row 3, column claim_id", "row 2 has"),
    ("t.csv", HEAD + 'k,,,"a\nb",,\nj,X,,a,,\n', "unknown_value", "row 3, column label", "'X'"),
    ("t.csv", HEAD + "k,,,,\n", "wrong_columns", "row 2", "5 cells, but there are 6 columns"),
    (
        "t.csv",
        HEAD + "k,FULLY_SUPPORTED,,m,,\nk,NOT_FULLY_SUPPORTED,,n,,\n",
        "conflict",
        "row 3, column label",
        "row 2 says FULLY_SUPPORTED",
    ),
    ("t.jsonl", json.dumps(LINES[0]) + "\n{\n", "not_json", "line 2", "not JSON"),
    ("t.jsonl", json.dumps(LINES[0]) + "\n\n[1]\n", "not_an_object", "line 3", "not a list"),
    (
        "t.jsonl",
        '{"claim_id": "k", "label": true, "verdict": null}',
        "not_text",
        "line 1, column label",
        "not true or false",
    ),
    (
        "t.jsonl",
        '{"claim_id": "\\ud800", "label": null, "verdict": null}',
        "not_text",
        "line 1, column claim_id",
        "half a character",
    ),
    ("t.json", json.dumps([*LINES, 7]), "not_an_object", "entry 3", "not a number"),
]


@pytest.mark.parametrize(("name", "content", "kind", "where", "message"), FAULTS)
def test_every_fault_has_its_row_and_column(
    tmp_path: Path, name: str, content: str, kind: str, where: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8", newline="")
    with pytest.raises(InputError, match="a fault; nothing was computed") as caught:
        read_judged(path)
    (fault,) = caught.value.violations
    assert (fault.kind, fault.where) == (kind, where)
    assert message in fault.message


def test_all_faults_are_listed_in_the_order_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(HEAD + "k,A,B,,2,\nk,,,,,\nj,,\n", encoding="utf-8")
    with pytest.raises(InputError, match="5 faults") as caught:
        read_judged(path)
    rows = [fault.where.split(",")[0] for fault in caught.value.violations]
    assert rows == ["row 2", "row 2", "row 2", "row 3", "row 4"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\n , \n", "is empty"),
        ("t.jsonl", b" \n", "is empty"),
        ("t.json", b"[]", "is empty"),
        ("t.csv", HEAD.encode(), "no rows below its header"),
        ("t.csv", b"claim_id,verdict\nk,\n", "lacks the column label. It has 'claim_id'"),
        ("t.jsonl", b'{"claim_id": "k"}', "lacks the columns label, verdict"),
        ("t.csv", b"claim_id,label,verdict,label\n", "the column 'label' twice"),
        ("t.csv", HEAD.encode() + b"\xff,,,,,\n", "not UTF-8"),
        ("t.csv", HEAD.encode("utf-16"), "not UTF-8"),
        ("t.csv", HEAD.encode() + b'"k,,,,,\n', "cannot be read as a table"),
        ("t.csv.gz", gzip.compress(HEAD.encode(), mtime=0)[:-9], "cannot be read"),
        ("t.json", b"[{]", "cannot be read"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_judged(path)


def test_what_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_judged(path)


def test_a_file_whose_lines_are_all_broken_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("{\n{\n", encoding="utf-8")
    with pytest.raises(InputError, match="2 faults"):
        read_table(path, ["claim_id"])


def test_notes_tell_what_was_not_used_and_what_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "a,FULLY_SUPPORTED,FULLY_SUPPORTED,m,1,,x\nb,FULLY_SUPPORTED,FULLY_SUPPORTED,m,,,\n"
    path.write_text(f"{HEAD.strip()},cost\n{rows}a,,,n,,,\n", encoding="utf-8")
    assert read_judged(path).notes == [
        "Columns that are not used: 'cost'.",
        "Method 'n' has no row for 1 claim(s) that others have.",
        "Method 'm': 1 claim(s) have no score and are left out of its AUROC.",
    ]


Annotations = Callable[..., Any]


@pytest.fixture
def annotations(tmp_path: Path) -> Annotations:
    def read(rows: str, *about: Any) -> Any:
        path = tmp_path / "t.csv"
        path.write_text("claim_id,annotator,label\n" + rows, encoding="utf-8")
        return read_annotations(path, *about)

    return read


def test_empty_labels_and_single_labels_are_told(annotations: Annotations) -> None:
    read = annotations("k,a,x\nk,b,\nj,a,y\n", "nominal")
    assert len(read.found.annotations) == 2
    assert read.notes == [
        "1 row(s) have no label and are left out.",
        "2 claim(s) have one label only and take no part.",
    ]


@pytest.mark.parametrize(
    ("labels", "order", "expected"),
    [
        (["10", "9", "-1.5"], (), ["-1.5", "9", "10"]),
        (["FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED"], (), [NFS, FS]),
        (["INCONCLUSIVE", "FULLY_SUPPORTED"], (), [INC, FS]),
        (["fully_supported", "inconclusive"], (), ["inconclusive", "fully_supported"]),
        (["good", "bad"], ("bad", "fair", "good"), ["bad", "fair", "good"]),
    ],
)
def test_ordinal_labels_have_an_order(
    annotations: Annotations, labels: list[str], order: tuple[str, ...], expected: list[str]
) -> None:
    rows = "".join(f"k{n},a,{label}\n" for n, label in enumerate(labels))
    assert list(annotations(rows, "ordinal", order).found.order) == expected


def test_words_without_an_order_are_refused_where_it_counts(annotations: Annotations) -> None:
    with pytest.raises(InputError, match=r"'good', 'bad' have no order.*--order"):
        annotations("k,a,good\nk,b,bad\n", "ordinal")


@pytest.mark.parametrize(
    ("rows", "order", "where", "message"),
    [
        ("k,a,x\nk,a,y\n", (), "row 3, column claim_id", "same claim and annotator"),
        ("k,a,Fully supported\nk,b,FULLY_SUPPORTED\n", (), "row 3, column label", "row 2 writes"),
        ("k,a,x\nk,b,z\n", ("x", "y"), "row 3, column label", "--order"),
        ("k,,x\n", (), "row 2, column annotator", "is empty"),
    ],
)
def test_faults_of_annotations(
    annotations: Annotations, rows: str, order: tuple[str, ...], where: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        annotations(rows, "nominal", order)
    (fault,) = caught.value.violations
    assert fault.where == where
    assert message in fault.message


LOCATED = "variant,claim_id,label,verdict,error_stages\n"


def test_error_stages_are_joined_by_semicolons(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(LOCATED + "v,a,,,2; 3;3\nv,b,,,\nv,c,,,4\n", encoding="utf-8")
    assert [set(one.error_stages) for one in read_located(path).found] == [{2, 3}, set(), {4}]


def test_error_stages_of_json_may_be_a_list(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = [{"variant": "v", "claim_id": n, "label": None, "verdict": None} for n in range(3)]
    lines = [
        {**row, "error_stages": value} for row, value in zip(rows, ([2, 3], "4", 5), strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert [set(one.error_stages) for one in read_located(path).found] == [{2, 3}, {4}, {5}]


@pytest.mark.parametrize("stage", ["final", "-1", "2.5", "2,3", "²", "[null]", "[true]", "[[2]]"])
def test_a_stage_is_a_whole_number(tmp_path: Path, stage: str) -> None:
    path = tmp_path / "t.jsonl"
    value = stage if stage.startswith("[") else json.dumps(stage)
    row = '{"variant": "v", "claim_id": "k", "label": null, "verdict": null, "error_stages": %s}'
    path.write_text(row % value, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_located(path)
    assert caught.value.violations[0].where == "line 1, column error_stages"


def test_a_claim_is_once_in_a_variant(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(LOCATED + "v,a,,,\nw,a,,,\nv,a,,,\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_located(path)
    assert [one.where for one in caught.value.violations] == ["row 4, column claim_id"]

"""The review of errors: what is drawn, how a sheet comes back, and what is refused."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eval_fakes.judged_runs import FS, NFS, JudgedRun

from veritrail_eval.reporting.options import ReportOptions
from veritrail_eval.reporting.review import (
    Cause,
    ErrorKind,
    keep_review,
    reviewed_runs,
    sample_errors,
)
from veritrail_eval.reporting.review_sheet import (
    CAUSES,
    COLUMNS,
    check_sheet,
    read_sheet,
    write_sheet,
)
from veritrail_eval.reporting.run_folder import read_run_folder
from veritrail_eval.reports.writing import write_report
from veritrail_graph.graph.errors import InputError

FEW = ReportOptions(resamples=5)
FORMULA = "=HYPERLINK(1)"


@pytest.fixture
def run(tmp_path: Path) -> JudgedRun:
    """Three configurations: of each class 20 claims, of which q=1 errs on 12 and q=3 on 4."""
    labels = {f"k{n:02}": FS if n < 20 else NFS for n in range(40)}
    made = JudgedRun(
        tmp_path,
        {"data": labels},
        [("q1", "veritrail", {"q": 1}), ("q3", "veritrail", {"q": 3}), ("d", "direct", {})],
        texts={"k00": FORMULA},
    )
    for name, errors in (("q1", 12), ("q3", 4), ("d", 20)):
        made.judged(name, {
            claim: other(label) if int(claim[1:]) % 20 < errors else label
            for claim, label in labels.items()
        })  # fmt: skip
    return made


def other(label: str) -> str:
    return FS if label == NFS else NFS


def drawn(run: JudgedRun, count: int, seed: int = 0) -> list[Any]:
    return sample_errors(reviewed_runs(read_run_folder(run.folder).runs), count, seed)


def test_half_are_false_positives_and_no_claim_comes_twice(run: JudgedRun) -> None:
    cases = drawn(run, 20)
    assert Counter(one.kind for one in cases) == dict.fromkeys(ErrorKind, 10)
    assert len({one.claim.key for one in cases}) == 20
    assert {one.run.configuration_id for one in cases} == {"q1", "q3"}
    for one in cases:
        assert one.outcome.verdict is not one.claim.label
        assert one.wrong_in == (2 if int(one.claim.claim_id[1:]) % 20 < 4 else 1)
        is_positive = one.kind is ErrorKind.FALSE_POSITIVE
        assert one.claim.label == (FS if is_positive else NFS)


def test_of_each_kind_as_many_come_from_each_configuration(run: JudgedRun) -> None:
    # q1 has three times the errors of q3, whose errors are all among them.
    for seed in range(5):
        cases = drawn(run, 8, seed)
        assert set(Counter((one.kind, one.run.configuration_id) for one in cases).values()) == {2}


def test_the_same_seed_draws_the_same(run: JudgedRun) -> None:
    ids = [[one.claim.key for one in drawn(run, 20, seed)] for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]


def test_where_errors_are_few_all_of_a_kind_are_taken(run: JudgedRun) -> None:
    assert Counter(one.kind for one in drawn(run, 60)) == dict.fromkeys(ErrorKind, 12)
    assert Counter(one.kind for one in drawn(run, 3)) == {
        ErrorKind.FALSE_POSITIVE: 2,
        ErrorKind.FALSE_NEGATIVE: 1,
    }


Change = Callable[[list[dict[str, Any]]], None]


def filled(path: Path, change: Change) -> None:
    """Fill in a sheet as a person does."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        change(rows)
        with path.open("w", newline="") as file:
            written = csv.DictWriter(file, COLUMNS)
            written.writeheader()
            written.writerows(rows)
        return
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(path)
    sheet = book.active
    rows = [
        dict(zip(COLUMNS, (cell.value for cell in row), strict=True))
        for row in sheet.iter_rows(min_row=2)
    ]
    change(rows)
    for number, row in enumerate(rows, 2):
        for place, name in enumerate(COLUMNS, 1):
            sheet.cell(number, place).value = row[name]
    book.save(path)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_a_sheet_comes_back_into_the_report(run: JudgedRun, ending: str) -> None:
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    path = run.folder / f"sheet.{ending}"
    cases = drawn(run, 24)
    write_sheet(path, cases)

    def fill(rows: list[dict[str, Any]]) -> None:
        assert len(rows) == 24
        assert any(FORMULA in row["claim"] for row in rows)
        rows[0][Cause.INVALID_INFERENCE.value] = "x"
        rows[0][Cause.OTHER.value] = "X"
        rows[0]["notes"] = "see <b>there</b>"
        rows[1][Cause.INVALID_INFERENCE.value] = "yes"
        rows[-1][Cause.LABEL_WRONG.value] = 1

    filled(path, fill)
    keep_review(run.folder, read_sheet(path, read_run_folder(run.folder)))
    document = write_report(run.folder, FEW)
    review = document["datasets"][0]["review"]
    assert review["cases"] == {"false positive": 12, "false negative": 12}
    assert review["reviewed"] == {"false positive": 2, "false negative": 1}
    assert review["causes"]["invalid inference"] == {"false positive": 2, "false negative": 0}
    assert review["causes"]["label wrong"] == {"false positive": 0, "false negative": 1}
    assert sum(n for kinds in review["causes"].values() for n in kinds.values()) == 4
    page = (run.folder / "report.html").read_text()
    assert "see &lt;b&gt;there&lt;/b&gt;" in page
    assert "Causes of errors" in page


def test_a_formula_stays_a_text(run: JudgedRun) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    cases = [one for one in drawn(run, 24) if one.claim.claim_id == "k00"]
    write_sheet(run.folder / "s.xlsx", cases)
    cell = openpyxl.load_workbook(run.folder / "s.xlsx").active.cell(2, COLUMNS.index("claim") + 1)
    assert (cell.value, cell.data_type) == (FORMULA, "s")
    write_sheet(run.folder / "s.csv", cases)
    assert f",'{FORMULA}," in (run.folder / "s.csv").read_text()


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_faults_are_named_by_row_and_column(run: JudgedRun, ending: str) -> None:
    get_column_letter = pytest.importorskip("openpyxl.utils").get_column_letter
    path = run.folder / f"sheet.{ending}"
    write_sheet(path, drawn(run, 8))

    def spoil(rows: list[dict[str, Any]]) -> None:
        rows[0]["multi-hop"] = "maybe"
        rows[1]["claim_id"] = "k99"
        rows[2]["configuration_id"] = ""
        rows[3]["kind"] = "true positive"
        rows[5] |= {name: rows[4][name] for name in ("configuration_id", "claim_id")}

    def column(name: str) -> str:
        letter = get_column_letter(COLUMNS.index(name) + 1)
        return f"column {letter} ({name})" if ending == "xlsx" else f"column {name}"

    filled(path, spoil)
    with pytest.raises(InputError, match=r"has 5 faults; nothing was computed") as caught:
        read_sheet(path, read_run_folder(run.folder))
    assert [one.where for one in caught.value.violations] == [
        f"row {row}, {column(name)}"
        for row, name in [
            (2, "multi-hop"),
            (3, "claim_id"),
            (4, "configuration_id"),
            (5, "kind"),
            (7, "claim_id"),
        ]
    ]
    assert not (run.folder / "review.json").exists()


def test_a_sheet_without_a_cause_and_no_workbook_are_refused(run: JudgedRun) -> None:
    folder = read_run_folder(run.folder)
    path = run.folder / "s.csv"
    write_sheet(path, drawn(run, 4))
    path.write_text(path.read_text().replace("multi-hop", "multihop"))
    with pytest.raises(InputError, match="lacks the column multi-hop"):
        read_sheet(path, folder)
    pytest.importorskip("openpyxl")
    for content in (b"no workbook", b""):
        (run.folder / "s.xlsx").write_bytes(content)
        with pytest.raises(InputError, match="no workbook that can be read"):
            read_sheet(run.folder / "s.xlsx", folder)
    with pytest.raises(InputError, match="cannot be read"):
        read_sheet(run.folder / "none.xlsx", folder)


@pytest.mark.parametrize("name", ["sheet.txt", "sheet", "nowhere/sheet.csv"])
def test_a_sheet_has_a_name_that_can_be_written(run: JudgedRun, name: str) -> None:
    with pytest.raises(InputError):
        check_sheet(run.folder / name)


def test_a_sheet_that_was_filled_in_is_not_written_over(run: JudgedRun) -> None:
    path = run.folder / "s.csv"
    check_sheet(path)
    path.write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"is there already, and may hold decisions; name another"):
        check_sheet(path)


def test_cases_that_are_no_errors_any_more_are_counted_apart(run: JudgedRun) -> None:
    path = run.folder / "s.csv"
    cases = drawn(run, 24)
    write_sheet(path, cases)
    filled(path, lambda rows: [row.update({CAUSES[0]: "x"}) for row in rows] and None)
    keep_review(run.folder, read_sheet(path, read_run_folder(run.folder)))
    first = cases[0]
    run.judged(first.run.configuration_id, {first.claim.claim_id: first.claim.label.value})
    review = write_report(run.folder, FEW)["datasets"][0]["review"]
    assert review["no_error_any_more"] == 1
    assert sum(review["reviewed"].values()) == 23


def test_a_kept_review_that_is_damaged_is_refused(run: JudgedRun) -> None:
    (run.folder / "review.json").write_text(json.dumps({"cases": [{"dataset": 1}]}))
    with pytest.raises(InputError, match=r"review\.json cannot be read"):
        write_report(run.folder, FEW)

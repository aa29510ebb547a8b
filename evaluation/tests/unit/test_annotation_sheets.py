"""Sheets of annotators: written, filled in with openpyxl, and read back, with every fault named."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from veritrail_eval.annotation.final_labels import (
    Decision,
    Reason,
    distribution,
    majority,
    read_decisions,
    settled,
)
from veritrail_eval.annotation.folders import folders_of
from veritrail_eval.annotation.grouping import Grouping
from veritrail_eval.annotation.reading import read_sheets, with_labels
from veritrail_eval.annotation.wording import (
    COLUMNS,
    LABEL_WORDS,
    alike,
    label_of,
)
from veritrail_eval.annotation.writing import write_sheets
from veritrail_eval.datasets.dataset_file import read_dataset, write_dataset
from veritrail_eval.datasets.model import (
    Annotation,
    AnnotatorLabel,
    Dataset,
    LabelledClaim,
)
from veritrail_eval.tables import table_of
from veritrail_eval.workbook import xml_text
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict

FS, NFS, INC = Verdict
ALL, REFUTED, INSUFFICIENT, CONFLICTING, LOST = list(AnnotatorLabel)[:5]

SHARED = "The tide table hangs beside the door of the harbour office."
NODES = [
    {
        "node_id": "a1",
        "text": f"The quay opened in 1901.\nIt is 40 m long. {SHARED}",
        "metadata": {"document": "quay.txt"},
    },
    {
        "node_id": "a2",
        "text": f"{SHARED} The “old” crane\x07 was sold.",
        "metadata": {"document": "quay.txt"},
    },
    {"node_id": "b=1", "text": "The ferry leaves at noon — daily."},
    {"node_id": "t", "text": "An answer.", "question": "When did the quay open?"},
    {"node_id": "u", "text": "Another answer."},
]
EDGES = [{"source": one, "target": to} for one in ("a1", "a2", "b=1") for to in ("t", "u")]
CLAIMS: list[dict[str, Any]] = [
    {"claim_id": "k1", "text": "The quay opened in 1901.", "node_id": "t", "documents": ["a1"]},
    {"claim_id": "k2", "text": '=HYPERLINK("http://x","quay")', "node_id": "t"},
    {"claim_id": "k3", "text": "The ferry\x0b leaves _x0041_ daily.", "node_id": "u"},
    {"claim_id": "k4", "text": "It is sold.", "node_id": "u", "label": "FULLY_SUPPORTED"},
]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    path = tmp_path_factory.mktemp("dataset") / "set.jsonl"
    lines = [
        {"format": "veritrail.dataset/1", "name": "Quays"},
        {"process": {"process_id": "p", "nodes": NODES, "edges": EDGES, "terminals": ["t", "u"]}},
        *({"claim": {"process_id": "p", **one}} for one in CLAIMS),
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return read_dataset(path)


Cells = Mapping[str, Any]
GOOD: dict[str, Cells] = {
    "k1": {"C": LABEL_WORDS[ALL], "E": "the QUAY opened\nin 1901", "F": " sure "},
    "k2": {"C": LABEL_WORDS[INSUFFICIENT], "D": True},
    "k3": {"C": LABEL_WORDS[REFUTED], "D": "yes", "E": 'The "old" crane was sold\n\n“at noon - d”'},
}


def fill(path: Path, cells: Mapping[str, Cells]) -> None:
    """Fill in a sheet as a person does: by the id of the claim and the letter of the column."""

    import openpyxl

    workbook = openpyxl.load_workbook(path)
    sheet = workbook["Claims"]
    for row in range(2, sheet.max_row + 1):
        for letter, value in cells.get(sheet[f"A{row}"].value, {}).items():
            sheet[f"{letter}{row}"] = value
    workbook.save(path)


@pytest.fixture(scope="module")
def filled_in(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled-in") / "sheets"
    write_sheets(dataset, folder, ["ann"], Grouping.QUESTION)
    for path in folder.glob("ann/*/claims.xlsx"):
        fill(path, GOOD)
    return folder


@pytest.fixture
def handed(filled_in: Path, tmp_path: Path) -> Path:
    """Sheets of one annotator, filled in without a fault."""
    return shutil.copytree(filled_in, tmp_path / "sheets")


def test_a_folder_holds_a_locked_sheet_with_choices_and_the_documents(
    dataset: Dataset, tmp_path: Path
) -> None:
    import docx
    import openpyxl

    written = write_sheets(dataset, tmp_path / "s", ["ann", "ben b"], Grouping.QUESTION)
    assert [one.code for one in written.folders] == ["Q01", "Q02"]
    assert (written.left_out, written.removed) == (1, 3)  # \x0b once, \x07 in two folders
    workbook = openpyxl.load_workbook(tmp_path / "s/ann/Q01/claims.xlsx")
    sheet = workbook["Claims"]
    assert tuple(cell.value for cell in sheet[1]) == COLUMNS
    assert [sheet[f"A{row}"].value for row in (2, 3)] == ["k1", "k2"]
    assert sheet.protection.sheet
    assert [sheet[f"{letter}2"].protection.locked for letter in "ABCDEF"] == [True] * 2 + [
        False
    ] * 4
    rules = {str(one.sqref): one.formula1 for one in sheet.data_validations.dataValidation}
    assert rules == {"C2:C3": "Lists!$A$1:$A$5", "D2:D3": "Lists!$B$1:$B$2"}
    lists = workbook["Lists"]
    assert lists.sheet_state == "hidden"
    assert [lists[f"A{row}"].value for row in range(1, 6)] == list(LABEL_WORDS.values())
    assert workbook["Instructions"]["A1"].value == "Folder Q01: When did the quay open?"
    document = docx.Document(str(tmp_path / "s/ben b/Q01/articles.docx"))
    headings = [one.text for one in document.paragraphs if one.style.name == "Heading 1"]
    assert headings == ["Document 1: quay.txt", "Document 2: b=1"]
    text = [one.text for one in document.paragraphs if one.style.name == "Normal"]
    assert "It is 40 m long. " + SHARED + " The “old” crane was sold." in text
    assert sum("w:br" in one._p.xml for one in document.paragraphs) == 1


def test_no_text_becomes_a_formula(dataset: Dataset, tmp_path: Path) -> None:
    import openpyxl

    write_sheets(dataset, tmp_path / "s", ["ann"], Grouping.QUESTION)
    path = tmp_path / "s/ann/Q01/claims.xlsx"
    fill(path, {})  # saved again, as a spreadsheet does
    with zipfile.ZipFile(path) as packed:
        for name in packed.namelist():
            if name.startswith("xl/worksheets/sheet"):
                assert b"<f>" not in packed.read(name)
    cell = openpyxl.load_workbook(path)["Claims"]["B3"]
    assert (cell.value, cell.data_type, cell.quotePrefix) == (CLAIMS[1]["text"], "s", True)


def test_labels_come_back(dataset: Dataset, handed: Path) -> None:
    read = read_sheets(dataset, handed)
    assert read.labels == {
        ("p", "k1"): [Annotation(annotator="ann", label=ALL, quotes=("the QUAY opened\nin 1901",),
                                 comment="sure")],
        ("p", "k2"): [Annotation(annotator="ann", label=INSUFFICIENT, uncertain=True)],
        ("p", "k3"): [Annotation(annotator="ann", label=REFUTED, uncertain=True,
                                 quotes=('The "old" crane was sold', "at noon - d"))],
    }  # fmt: skip
    assert (read.warnings, read.unfinished) == ([], 0)


def test_what_was_read_is_written_and_read_again(
    dataset: Dataset, handed: Path, tmp_path: Path
) -> None:
    read = read_sheets(dataset, handed)
    claims = tuple(
        settled(with_labels(one, read.labels.get(one.key, ()))) for one in dataset.claims
    )
    path = tmp_path / "out.jsonl"
    write_dataset(Dataset(dataset.name, dataset.processes, claims), path)
    assert read_dataset(path).claims == claims
    assert [one.label for one in claims] == [FS, NFS, NFS, FS]
    assert [one.label_origin for one in claims] == ["single"] * 3 + [None]
    assert claims[0].label_distribution == {"FULLY_SUPPORTED": 1, "NOT_FULLY_SUPPORTED": 0,
                                            "INCONCLUSIVE": 0}  # fmt: skip
    again = tuple(settled(with_labels(one, read.labels.get(one.key, ()))) for one in claims)
    assert again == claims


@pytest.mark.parametrize(
    ("cells", "faults"),
    [
        (
            {"k1": {"C": None}, "k2": {"C": "Maybe", "D": "perhaps"}},
            [
                ("missing_label", "ann/Q01/claims.xlsx, sheet Claims, row 2, column C (Label)",
                 "is empty"),
                ("unknown_value", "row 3, column C (Label)", "'Maybe' is none of"),
                ("unknown_value", "row 3, column D (Uncertain)", "nor no"),
            ],
        ),
        (
            {"k1": {"E": " \n"}, "k2": {"C": LABEL_WORDS[CONFLICTING]}},
            [
                ("missing_quote", "row 2, column E (Evidence (quotes))",
                 "'Supported in every part' needs a quote"),
                ("missing_quote", "row 3, column E", "needs"),
            ],
        ),
        (
            {"k1": {"B": "The quay opened in 1902."}, "k2": {"C": "=1+1"}},
            [
                ("changed", "row 2, column B (Claim)", "'The quay opened in 1901.'"),
                ("unknown_value", "row 3, column C (Label)", "'=1+1'"),
            ],
        ),
        (
            {"k1": {"A": "k9"}},
            [
                ("unknown_claim", "row 2, column A (Id)", "'k9' is no claim"),
                ("missing_row", "ann/Q01/claims.xlsx, sheet Claims", "'k1' has no"),
            ],
        ),
        (
            {"k1": {"A": "k2"}},
            [("duplicate", "row 3, column A (Id)", "row 2 has the same claim")],
        ),
    ],
)  # fmt: skip
def test_every_fault_names_file_sheet_row_and_column(
    dataset: Dataset, handed: Path, cells: dict[str, Cells], faults: list[tuple[str, str, str]]
) -> None:
    fill(handed / "ann/Q01/claims.xlsx", cells)
    with pytest.raises(InputError, match="no label was taken") as caught:
        read_sheets(dataset, handed)
    for kind, where, said in faults:
        found = [one for one in caught.value.violations if one.kind == kind and where in one.where]
        assert len(found) == 1, (where, caught.value.violations)
        assert said in found[0].message


def test_faults_of_all_sheets_are_listed_at_once(dataset: Dataset, handed: Path) -> None:
    fill(handed / "ann/Q01/claims.xlsx", {"k1": {"C": "x"}, "k2": {"C": "y"}})
    (handed / "ann/Q02/claims.xlsx").unlink()
    with pytest.raises(InputError, match="3 faults") as caught:
        read_sheets(dataset, handed)
    assert caught.value.violations[-1].where == "ann/Q02/claims.xlsx"


def test_unfinished_sheets_are_read_when_asked(dataset: Dataset, handed: Path) -> None:
    fill(handed / "ann/Q01/claims.xlsx", {"k1": {"C": None}})
    (handed / "ann/Q02/claims.xlsx").unlink()
    read = read_sheets(dataset, handed, is_partial=True)
    assert (list(read.labels), read.unfinished) == ([("p", "k2")], 2)


def test_a_quote_that_no_document_holds_is_a_warning(dataset: Dataset, handed: Path) -> None:
    there = (
        "It is 40 m long.",
        "quay opened … 40 m long",
        "The ferry leaves at noon - daily.",
    )
    nowhere = ("the old crane", "quay opened [...] 50 m long", "...")
    fill(handed / "ann/Q01/claims.xlsx", {"k1": {"E": "\n\n".join(there + nowhere)}})
    read = read_sheets(dataset, handed)
    assert read.labels["p", "k1"][0].quotes == there + nowhere
    expected = (
        "ann/Q01/claims.xlsx, sheet Claims, row 2, column E (Evidence (quotes)): no document holds "
    )
    assert len(read.warnings) == len(nowhere)
    for warning, quote in zip(read.warnings, nowhere, strict=True):
        assert warning.startswith(expected)
        assert quote in warning


def test_lines_that_are_quotes_alone_are_several_quotes(dataset: Dataset, handed: Path) -> None:
    fill(handed / "ann/Q01/claims.xlsx", {"k1": {"E": "40 m long\nleaves at noon\n"}})
    read = read_sheets(dataset, handed)
    assert read.labels["p", "k1"][0].quotes == ("40 m long", "leaves at noon")


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:500])


def _other_sheet(path: Path) -> None:
    import openpyxl

    workbook = openpyxl.load_workbook(path)
    workbook["Claims"].title = "Mine"
    workbook.save(path)


def _other_header(path: Path) -> None:
    import openpyxl

    workbook = openpyxl.load_workbook(path)
    workbook["Claims"]["C1"] = "Lable"
    workbook.save(path)


def _bomb(path: Path) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("xl/workbook.xml", "w") as part,
    ):
        part.write(bytes(2_000_001))


def _no_zip(path: Path) -> None:
    path.write_text("Id;Claim;Label", encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_truncate, "no workbook that can be read"),
        (_no_zip, "no workbook that can be read"),
        (_other_sheet, "has no sheet 'Claims'; its sheets: 'Mine'"),
        (_other_header, "lacks the column Label. It has 'Id'"),
        (_bomb, "unpacks to more than"),
    ],
)
def test_a_file_that_is_no_sheet_is_named(
    dataset: Dataset,
    handed: Path,
    spoil: Callable[[Path], None],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("veritrail_eval.workbook.MOST_UNPACKED", 2_000_000)
    spoil(handed / "ann/Q02/claims.xlsx")
    with pytest.raises(InputError) as caught:
        read_sheets(dataset, handed)
    (fault,) = caught.value.violations
    assert fault.where == "ann/Q02/claims.xlsx"
    assert said in fault.message


def test_columns_may_be_moved_and_rows_sorted(dataset: Dataset, handed: Path) -> None:
    import openpyxl

    path = handed / "ann/Q01/claims.xlsx"
    before = read_sheets(dataset, handed).labels
    workbook = openpyxl.load_workbook(path)
    sheet = workbook["Claims"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    moved = [["note", *reversed(row)] for row in (rows[0], rows[2], rows[1])]
    for number, row in enumerate(moved, start=1):
        for column, value in enumerate(row, start=1):
            sheet.cell(number, column).value = value
            if isinstance(value, str):
                sheet.cell(number, column).data_type = "s"
    workbook.save(path)
    assert {**read_sheets(dataset, handed).labels} == before
    fill_all = openpyxl.load_workbook(path)
    fill_all["Claims"]["E3"] = "Maybe"
    fill_all.save(path)
    with pytest.raises(InputError) as caught:
        read_sheets(dataset, handed)
    assert caught.value.violations[0].where.endswith("row 3, column E (Label)")


def test_a_folder_that_was_not_handed_out_is_told(dataset: Dataset, handed: Path) -> None:
    shutil.copytree(handed / "ann", handed / "eve")
    warnings = read_sheets(dataset, handed).warnings
    assert warnings == [
        f"eve/{code}/claims.xlsx was not handed out and is not read" for code in ("Q01", "Q02")
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "is not there"),
        ("{", "is not JSON"),
        ('{"format": "veritrail.sheets/1"}', "is no list of sheets"),
        ('{"format": "v/2", "dataset": "", "by": "", "annotators": [], "folders": []}', "known is"),
        (
            '{"format": "veritrail.sheets/1", "dataset": "", "by": "", "annotators": ["../x"], '
            '"folders": []}',
            "is the name of a folder",
        ),
        (
            '{"format": "veritrail.sheets/1", "dataset": "", "by": "", "annotators": ["a"], '
            '"folders": [{"code": "Q", "process_id": "p", "claims": ["k9"]}]}',
            "claim 'k9' of process 'p' is not in 'Quays'",
        ),
    ],
)
def test_a_list_that_does_not_fit_is_refused(
    dataset: Dataset, tmp_path: Path, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "sheets.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_sheets(dataset, tmp_path)


def test_claims_with_the_same_documents_share_a_folder(dataset: Dataset) -> None:
    folders = folders_of(dataset, dataset.claims, Grouping.DOCUMENT)
    assert [[one.claim_id for one in each.claims] for each in folders] == [
        ["k1"],
        ["k2", "k3", "k4"],
    ]
    assert [one.name for one in folders[0].articles] == ["quay.txt"]
    assert folders[0].articles[0].text == NODES[0]["text"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "at least one"),
        (["a", "A"], "the same name"),
        (["../a"], "begins with"),
        (["a/b"], "begins with"),
        (["."], "begins with"),
        (["a."], "begins with"),
        (["a" * 65], "begins with"),
    ],
)
def test_a_name_of_an_annotator_is_a_name_of_a_folder(
    dataset: Dataset, tmp_path: Path, names: list[str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        write_sheets(dataset, tmp_path / "s", names, Grouping.QUESTION)
    assert not (tmp_path / "s").exists()


def test_labels_of_people_are_never_overwritten(dataset: Dataset, handed: Path) -> None:
    with pytest.raises(InputError, match="holds files already"):
        write_sheets(dataset, handed, ["ann"], Grouping.QUESTION)


def test_a_claim_too_long_for_a_cell_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    long = dataset.claims[0].replace(text="x" * 32_768)
    data = Dataset("long", dataset.processes, (long,))
    with pytest.raises(InputError, match="a cell of a spreadsheet holds 32,767"):
        write_sheets(data, tmp_path / "s", ["ann"], Grouping.QUESTION)
    assert list((tmp_path / "s").iterdir()) == []


def test_nothing_to_annotate_is_said(dataset: Dataset, tmp_path: Path) -> None:
    data = Dataset("done", dataset.processes, dataset.claims[3:])
    with pytest.raises(InputError, match="all 1 claim"):
        write_sheets(data, tmp_path / "s", ["ann"], Grouping.QUESTION)
    written = write_sheets(data, tmp_path / "s", ["ann"], Grouping.QUESTION, with_labelled=True)
    assert len(written.folders) == 1


def _labels(*labels: AnnotatorLabel) -> tuple[Annotation, ...]:
    return tuple(Annotation(annotator=f"a{n}", label=one) for n, one in enumerate(labels))


@pytest.mark.parametrize(
    ("labels", "verdict"),
    [
        ((ALL, ALL, REFUTED), FS),
        ((REFUTED, INSUFFICIENT, ALL), NFS),
        ((ALL, ALL, REFUTED, INSUFFICIENT), None),
        ((ALL, ALL, REFUTED, CONFLICTING), None),
        ((ALL, REFUTED, LOST), None),
        ((ALL, LOST, LOST), FS),
        ((LOST, LOST), None),
        ((CONFLICTING,), INC),
        ((), None),
    ],
)
def test_a_majority_is_more_than_half_of_the_labels_that_count(
    labels: tuple[AnnotatorLabel, ...], verdict: Verdict | None
) -> None:
    assert majority(_labels(*labels)) is verdict


def test_the_distribution_is_over_labels_that_count() -> None:
    shares = distribution(_labels(ALL, REFUTED, INSUFFICIENT, CONFLICTING, LOST))
    assert shares == {FS: 0.25, NFS: 0.5, INC: 0.25}
    assert distribution(_labels(LOST)) is None


def _claim(*labels: AnnotatorLabel, **facts: Any) -> LabelledClaim:
    return LabelledClaim(process_id="p", claim_id="k", text="x", labels=_labels(*labels), **facts)


def test_a_decision_counts_more_than_the_majority_and_is_kept() -> None:
    decided = settled(_claim(ALL, ALL), Decision(INSUFFICIENT, Reason.OTHER_DOCUMENTS))
    assert (decided.label, decided.label_origin) == (NFS, "adjudicated:other_documents")
    assert decided.label_distribution == {FS: 1, NFS: 0, INC: 0}
    assert settled(decided) == decided
    open_claim = settled(_claim(ALL, REFUTED, label=FS, label_origin="given"))
    assert (open_claim.label, open_claim.label_origin) == (None, "unresolved")
    given = _claim(label=FS, label_origin="matched")
    assert settled(given) == given
    shared = settled(
        given.replace(label_distribution={FS: 0.5, NFS: 0.5}), Decision(LOST, Reason.MISAPPLIED)
    )
    assert shared.label_distribution == {FS: 0.5, NFS: 0.5}
    lost = settled(_claim(ALL), Decision(LOST, Reason.MISAPPLIED))
    assert (lost.label, lost.label_origin) == (None, "adjudicated:misapplied")


HEAD = "claim_id,label,reason\n"


@pytest.mark.parametrize(
    ("rows", "where", "said"),
    [
        ("k9,REFUTED,no_majority\n", "row 2, column claim_id", "'k9' is no claim"),
        ("k1,GOOD,misapplied\n", "row 2, column label", "'GOOD' is none of"),
        ("k1,,misapplied\n", "row 2, column label", "is empty"),
        ("k1,REFUTED,because\n", "row 2, column reason", "none of other_documents"),
        ("k1,REFUTED,\n", "row 2, column reason", "is empty"),
        ("k1,REFUTED,no_majority\n", "row 2, column reason", "annotators says FULLY_SUPPORTED"),
        ("k1,REFUTED,misapplied\nk1,REFUTED,misapplied\n", "row 3, column claim_id", "same claim"),
        ("k2,REFUTED,misapplied\n", "row 2, column claim_id", "in 2 processes"),
    ],
)
def test_faults_of_decisions_name_row_and_column(
    tmp_path: Path, rows: str, where: str, said: str
) -> None:
    path = tmp_path / "d.csv"
    path.write_text(HEAD + rows, encoding="utf-8")
    claims = [
        _claim(ALL).replace(claim_id="k1"),
        *(_claim().replace(claim_id="k2", process_id=name) for name in "pq"),
    ]
    with pytest.raises(InputError) as caught:
        read_decisions(path, claims)
    (fault,) = caught.value.violations
    assert fault.where == where
    assert said in fault.message


def test_a_decision_may_name_its_process(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text(
        "claim_id,process_id,label,reason\nk,q,refuted in at least one part,no_majority\n",
        encoding="utf-8",
    )
    claims = [_claim().replace(process_id=name) for name in "pq"]
    expected = {("q", "k"): Decision(REFUTED, Reason.NO_MAJORITY)}
    assert read_decisions(path, claims) == expected


def test_words_are_read_as_people_write_them() -> None:
    for label, words in LABEL_WORDS.items():
        assert label_of(f"  {words.upper()}. ") is label
        assert label_of(label.value) is label
    assert label_of("not fully supported") is AnnotatorLabel.NOT_FULLY_SUPPORTED
    assert label_of("") is None
    answers = {
        place: {"yes": text} for place, text in enumerate(("TRUE", True, "x", " No", "", "?"))
    }
    table = table_of(Path("t"), {"yes": "B"}, list(answers.items()))
    assert [row.yes("yes") for row in table.rows] == [True, True, True, False, False, False]
    assert [one.where for one in table.faults] == ["row 5, column B (yes)"]
    assert xml_text("a\x00b\ud800\uffff\tc\U0001f600") == ("ab\tc\U0001f600", 3)
    assert alike("“Soft\u00adly”  —\u00a0\uff26\uff2f\uff2f") == '"softly" - foo'

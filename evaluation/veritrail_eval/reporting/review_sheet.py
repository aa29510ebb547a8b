"""The sheet of an error review: CSV or a workbook, written for a person and read again.

Each cause has a column of its own; the person writes x where it applies.

Source: VeriTrail G; the sheet is ours.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veritrail_eval.reporting.review import (
    Cause,
    ErrorCase,
    ErrorKind,
    ReviewedCase,
)
from veritrail_eval.reporting.run_folder import RunFolder
from veritrail_eval.tables import Row, Table, read_table
from veritrail_eval.whole_file import written_whole
from veritrail_eval.workbook import is_workbook, read_workbook, write_workbook
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.exporters.cells import guarded

WHICH = ("dataset", "configuration_id", "process_id", "claim_id")
FACTS = ("configuration", "kind", "label", "verdict", "wrong_in", "error_stages")
TEXTS = ("claim", "reasoning")
CAUSES = tuple(cause.value for cause in Cause)
COLUMNS = (*WHICH, *FACTS, *TEXTS, *CAUSES, "notes")
WIDTHS = {"configuration": 28, "claim": 60, "reasoning": 80, "notes": 40, "dataset": 18}


def check_sheet(path: Path) -> None:
    """Find out before any work that a sheet cannot go there.

    Raises:
        InputError: Its ending is neither .csv nor .xlsx, its folder is not there, or a file is
            there already, which a person may have filled in.
    """
    if path.suffix.lower() != ".csv" and not is_workbook(path):
        raise InputError(f"{path}: a sheet is .csv or .xlsx; name it so.")
    if path.is_dir() or not path.resolve().parent.is_dir():
        raise InputError(f"{path} cannot be written: its folder is not there, or it is a folder.")
    if path.exists():
        raise InputError(f"{path} is there already, and may hold decisions; name another file.")


def write_sheet(path: Path, cases: Sequence[ErrorCase]) -> None:
    """Write cases for a person, whole or not at all; a name ending in .xlsx is a workbook.

    Raises:
        InputError: The file cannot be written, or openpyxl is missing.
    """
    rows = [_row(case) for case in cases]
    if is_workbook(path):
        write_workbook(
            path,
            COLUMNS,
            rows,
            title="errors",
            widths=WIDTHS,
            choices=dict.fromkeys(CAUSES, ("x",)),
        )
        return
    with (
        written_whole(path) as draft,
        draft.open("w", encoding="utf-8", errors="replace", newline="") as file,
    ):
        written = csv.writer(file)
        written.writerow(COLUMNS)
        for row in rows:
            written.writerow([guarded(one) if isinstance(one, str) else one for one in row])


def _row(case: ErrorCase) -> list[Any]:
    outcome = case.outcome
    stages = "; ".join(map(str, outcome.error_stages or ()))
    return [
        case.run.dataset.name,
        case.run.configuration_id,
        case.claim.process_id,
        case.claim.claim_id,
        case.run.title,
        case.kind.value,
        case.claim.label.value,
        outcome.verdict.value if outcome.verdict else "",
        case.wrong_in,
        stages,
        case.claim.text,
        outcome.reason or "",
        *("" for _ in CAUSES),
        "",
    ]


def read_sheet(path: Path, run: RunFolder) -> list[ReviewedCase]:
    """Read a sheet that a person has filled in.

    Args:
        path: CSV, JSON Lines or a workbook.
        run: The run that it is about.

    Raises:
        InputError: It cannot be read, or rows have faults; each is named by row and column.
    """
    required = (*WHICH, "kind", *CAUSES)
    table = read_workbook(path, required) if is_workbook(path) else read_table(path, required)
    known = {
        (one.dataset.name, one.configuration_id, *claim.key)
        for one in run.runs
        for claim in one.dataset.claims
    }
    datasets = {one.name for one in run.record.datasets}
    cases = [_case(row, datasets) for row in table.rows]
    for row, case in zip(table.rows, cases, strict=True):
        place = case.dataset, case.configuration_id, case.process_id, case.claim_id
        if all(place) and place not in known:
            row.fault(
                "unknown_value",
                "claim_id",
                f"the run has no claim {shown(case.claim_id)} of this data set and configuration",
            )
    _refuse_repeats(table, cases)
    table.check()
    return cases


def _case(row: Row, datasets: set[str]) -> ReviewedCase:
    dataset = row.required("dataset")
    if dataset not in datasets and dataset.removeprefix("'") in datasets:
        dataset = dataset.removeprefix("'")  # as it was written for spreadsheets
    return ReviewedCase(
        dataset=dataset,
        configuration_id=row.required("configuration_id"),
        process_id=row.required("process_id"),
        claim_id=row.required("claim_id"),
        kind=row.choice("kind", ErrorKind) or ErrorKind.FALSE_POSITIVE,
        causes=tuple(cause for cause in Cause if row.yes(cause.value, "x nor empty")),
        notes=row.text("notes"),
    )


def _refuse_repeats(table: Table, cases: Sequence[ReviewedCase]) -> None:
    keys = [
        (row, (one.dataset, one.configuration_id, one.process_id, one.claim_id))
        for row, one in zip(table.rows, cases, strict=True)
    ]
    table.refuse_repeats(keys, "dataset, configuration and claim")

"""Claims, labels and reviews of a table in CSV: read, with every fault named by its line.

Source: ours (RFC 4180).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence

from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.exporters.cells import unguarded
from veritrail_graph.graph.importers.claims_file import is_offset
from veritrail_graph.graph.importers.records import ClaimRecord
from veritrail_graph.graph.model import ReviewVerdict, Verdict
from veritrail_graph.graph.reviewing import ReviewInTable

MOST_ROWS = 10_000
CLAIM_COLUMNS = ("text", "claim_id", "node_id", "start", "end", "label")
LABEL_COLUMNS = ("claim_id", "label")
REVIEW_COLUMNS = ("claim_id", "verdict", "reason", "reviewer")
_TRUTH = {"": None, "true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_SHORT = {"SUPPORTED": "FULLY_SUPPORTED", "NOT_SUPPORTED": "NOT_FULLY_SUPPORTED"}


def verdict_of(text: str) -> str:
    """A verdict however it is spelled: `Not Fully Supported`, `not-supported`, `inconclusive`."""
    name = re.sub(r"[\s_-]+", "_", text.strip()).upper()
    return _SHORT.get(name, name)


def read_claims(text: str) -> list[ClaimRecord]:
    """Claims of a table with the column `text` or `claim`; other columns are left out.

    Raises:
        InputError: It is no such table, or a claim breaks a rule; all faults are listed.
    """
    from veritrail_graph.graph.importers.process_file.schema import read_claim

    found: list[ClaimRecord] = []
    faults: list[Violation] = []
    for where, cells in _rows(text, ("text",), {"claim": "text"}):
        given: dict[str, str | int] = {
            name: value for name in CLAIM_COLUMNS if (value := cells.get(name, "").strip())
        }
        for name in ("start", "end"):
            if is_offset(str(given.get(name, ""))):
                given[name] = int(given[name])
        if "label" in given:
            given["label"] = verdict_of(str(given["label"]))
        record = read_claim(given, where)
        if isinstance(record, ClaimRecord):
            found.append(record)
        else:
            faults += record
    _refuse(faults)
    return found


def read_labels(text: str) -> dict[str, Verdict | None]:
    """Labels of a table by claim_id; an empty cell takes a label away.

    Raises:
        InputError: It is no such table, or a label is none; all faults are listed.
    """
    found: dict[str, Verdict | None] = {}
    faults: list[Violation] = []
    for where, cells in _rows(text, LABEL_COLUMNS, {}):
        name, label = cells["claim_id"].strip(), cells["label"].strip()
        if not name:
            faults.append(Violation("missing_key", where, "claim_id is empty"))
        elif name in found:
            faults.append(Violation("twice", where, f"claim {shown(name)} is there already"))
        elif label and verdict_of(label) not in set(Verdict):
            words = ", ".join(Verdict)
            faults.append(Violation("unknown_label", where, f"label must be one of {words}"))
        found[name] = Verdict(verdict_of(label)) if label and not faults else None
    _refuse(faults)
    return found


def read_reviews(text: str) -> list[ReviewInTable]:
    """Reviews of a table; all columns but `claim_id` and `verdict` may be missing.

    Rows with `created_at` come oldest first, whatever their order in the table, because the latest
    review of a reviewer counts.

    Raises:
        InputError: It is no such table, or a verdict is none; all faults are listed.
    """
    found: list[tuple[str, ReviewInTable]] = []
    faults: list[Violation] = []
    for where, cells in _rows(text, REVIEW_COLUMNS[:2], {}):
        verdict = verdict_of(cells["verdict"])
        if verdict not in set(ReviewVerdict):
            words = ", ".join(ReviewVerdict)
            faults.append(Violation("unknown_verdict", where, f"verdict must be one of {words}"))
        reviewer = cells.get("reviewer", "").strip()
        reason = cells.get("reason", "")
        truths: dict[str, bool | None] = {}
        for name in ("blind", "adjudicates"):
            cell = cells.get(name, "").strip().lower()
            if cell not in _TRUTH:
                faults.append(Violation("wrong_value", f"{where}, {name}", "must be true or false"))
            truths[name] = _TRUTH.get(cell)
        given = ReviewInTable(
            verdict,
            reason,
            reviewer,
            blind=truths["blind"],
            adjudicates=truths["adjudicates"],
            where=where,
            claim_id=cells["claim_id"].strip(),
        )
        found.append((cells.get("created_at", "").strip(), given))
    _refuse(faults)
    return [given for _, given in sorted(found, key=lambda one: one[0])]


def _refuse(faults: Sequence[Violation]) -> None:
    if faults:
        raise InputError("Nothing was stored: rows break rules.", faults, code="bad_table")


def _rows(
    text: str, needed: Sequence[str], also: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a table by the names of its columns, each with its line.

    Args:
        text: The table.
        needed: Columns that it must have.
        also: Other names of columns.
    """
    text = text.removeprefix("\ufeff")
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] = []
    count = 0
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if not columns:
                columns = _columns(row, needed, also)
                continue
            count += 1
            if count > MOST_ROWS:
                raise InputError(f"A table has at most {MOST_ROWS:,} rows.", code="bad_table")
            cells = [unguarded(cell) for cell in row]
            cells += [""] * (len(columns) - len(cells))
            yield f"line {rows.line_num}", dict(zip(columns, cells, strict=False))
    except csv.Error as error:
        raise InputError(
            f"This is no CSV: {error} at line {rows.line_num}", code="bad_table"
        ) from None
    if not count:
        raise InputError("The table has no rows below its header.", code="bad_table")


def _columns(row: Sequence[str], needed: Sequence[str], also: Mapping[str, str]) -> list[str]:
    names = [cell.strip().lower() for cell in row]
    names = [also[name] if name in also and also[name] not in names else name for name in names]
    lacking = [name for name in needed if name not in names]
    if lacking:
        raise InputError(
            f"The first line must name the columns of the table; it lacks {', '.join(lacking)}.",
            code="bad_table",
        )
    return names

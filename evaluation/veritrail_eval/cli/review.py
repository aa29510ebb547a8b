"""`veritrail eval review`: errors of a run for a person to look at, and the causes back again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from veritrail_eval.cli.options import naming
from veritrail_eval.cli.report import RunFolder
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import print_json, say, table
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.graph.errors import InputError


def review(
    folder: RunFolder,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to write the sheet: .csv or .xlsx."
        ),
    ] = None,
    read: Annotated[
        Path | None,
        typer.Option(
            "--read", metavar="FILE", help="Count the causes of a sheet that was filled in."
        ),
    ] = None,
    count: Annotated[int, typer.Option(min=1, metavar="N", help="Cases of each data set.")] = 60,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed draws the same cases.")] = 0,
    configuration: Annotated[
        list[str] | None,
        typer.Option(
            "--configuration",
            metavar="ID",
            help="Draw from this configuration only, by its configuration_id; may be repeated. "
            "Default: all of the method veritrail, or else all.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw wrong verdicts for a person, and count their causes.

    Half of them are false positives, half false negatives. Write x below the causes of each case,
    then count them into the report of DIR with --read.
    """
    if (output is None) == (read is None):
        raise InputError("Name a sheet to write (-o FILE), or one to read (--read FILE).")
    if output is not None:
        document = _draw(folder, output, count, seed, configuration or ())
    elif read is not None:
        document = _read(folder, read)
        if not as_json:
            _show(document["datasets"])
    if as_json:
        print_json(document)


def _draw(
    folder: Path, path: Path, count: int, seed: int, configurations: Sequence[str]
) -> dict[str, Any]:
    from veritrail_eval.app.review import draw_errors

    with naming("--configuration", "configuration_unknown"):
        drawn = draw_errors(folder, path, count, seed, configurations)
    for name, kinds in drawn.datasets.items():
        parts = ", ".join(f"{number:,} {kind}s" for kind, number in kinds.items())
        say(f"{one_line(name)}: {parts}.")
        if sum(kinds.values()) < count:
            say(f"  There are fewer errors than the {count:,} asked for, or too few of a kind.",
                "yellow")  # fmt: skip
    say(f"Wrote {path}. Write x below the causes, then: veritrail eval review {folder} "
        f"--read {path}", "bold")  # fmt: skip
    return {"sheet": str(path), "cases": drawn.cases, "datasets": drawn.datasets}


def _read(folder: Path, path: Path) -> dict[str, Any]:
    from veritrail_eval.app.review import keep_causes
    from veritrail_eval.reports.writing import options_of, write_report

    keep_causes(folder, path)
    document = write_report(folder, options_of(folder))
    found = {
        one["name"]: one["review"] for one in document["datasets"] if one["review"] is not None
    }
    for name, counts in found.items():
        reviewed, there = sum(counts["reviewed"].values()), sum(counts["cases"].values())
        say(f"{one_line(name)}: {reviewed:,} of {there:,} cases have a cause.")
        if counts["no_error_any_more"]:
            say(f"  {counts['no_error_any_more']:,} more are no errors any more.", "yellow")
    say(f"The report is {document['report']}.", "bold")
    return {"report": document["report"], "datasets": found}


def _show(found: Mapping[str, Any]) -> None:
    rows = [
        [one_line(name), cause, *(f"{number:,}" for number in kinds.values())]
        for name, counts in found.items()
        for cause, kinds in counts["causes"].items()
    ]
    columns = ("data set", "cause", "false positives", "false negatives")
    table(columns, rows, right=columns[2:])

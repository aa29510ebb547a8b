"""`veritrail runs`: the runs of a process; and two of them side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.cli.exits import ask_about
from veritrail_graph.api.cli.options import AsJson, ProcessId
from veritrail_graph.api.cli.terminal import console, print_json, say, show_parts
from veritrail_graph.api.show.document import Room
from veritrail_graph.api.show.runs import comparison_csv, comparison_shown, runs_shown
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.app.runs import RunComparison

LETTERS = 10
"""Letters of the id of a run, which is random, that name it alone."""
ROOM = Room({"row": 40})
"""Claims of a comparison that are shown; --csv and --json have all."""


def runs(process: ProcessId, as_json: AsJson = False) -> None:
    """List the runs of a process, with their verdicts and costs."""
    process, found = ask_about(
        process, lambda app, name: app.runs.of_process(name), as_json=as_json, reads=True
    )
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    if not found.runs:
        say(f"Process {process} has no runs. Verify its claims: veritrail verify {process}")
        return
    show_parts(runs_shown(found.runs, LETTERS if console().is_terminal else None))


def tell_comparison(found: RunComparison, csv: Path | None, *, as_json: bool) -> None:
    """Print two runs or two judges side by side.

    Args:
        found: The comparison.
        csv: A file that takes a row for each claim.
        as_json: Whether one JSON document is printed.

    Raises:
        InputError: The file cannot be written.
    """
    if csv is not None:
        try:
            csv.write_text(comparison_csv(found), encoding="utf-8", newline="")
        except OSError as error:
            raise InputError(f"{csv}: {error.strerror or error}") from None
        say(f"Wrote {csv}.")
    if as_json:
        print_json(found.model_dump(mode="json"))
    else:
        show_parts(comparison_shown(found), ROOM)

"""The review of the errors of a run: a sheet for a person, and the causes back again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_eval.reporting import review, review_sheet
from veritrail_eval.reporting.run_folder import read_run_folder
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_eval.reporting.run_folder import ConfigurationRun, RunFolder


@dataclass(frozen=True, slots=True)
class DrawnErrors:
    """A sheet of wrong verdicts: how many cases, and how many of each kind and data set."""

    cases: int
    datasets: Mapping[str, Mapping[str, int]]


def draw_errors(
    folder: Path, sheet: Path, count: int, seed: int, configurations: Sequence[str] = ()
) -> DrawnErrors:
    """Draw wrong verdicts of a run, and write them as a sheet for a person.

    Raises:
        InputError: A file cannot be used, there is no such configuration, or no wrong verdict.
    """
    review_sheet.check_sheet(sheet)
    run = read_run_folder(folder)
    cases: list[review.ErrorCase] = []
    drawn = {}
    for dataset in run.record.datasets:
        own = review.sample_errors(_chosen(run, dataset.name, configurations), count, seed)
        cases += own
        drawn[dataset.name] = {
            kind.value: sum(one.kind is kind for one in own) for kind in review.ErrorKind
        }
    if not cases:
        raise InputError(f"{folder} holds no wrong verdict of these configurations.")
    review_sheet.write_sheet(sheet, cases)
    return DrawnErrors(len(cases), drawn)


def _chosen(run: RunFolder, dataset: str, configurations: Sequence[str]) -> list[ConfigurationRun]:
    own = [one for one in run.runs if one.dataset.name == dataset]
    if not configurations:
        return review.reviewed_runs(own)
    known = {one.configuration_id: one for one in own}
    for name in configurations:
        if name not in known:
            raise InputError(
                f"{name}: the run has none of this id. There are {', '.join(known)}.",
                code="configuration_unknown",
            )
    return [known[name] for name in configurations]


def keep_causes(folder: Path, sheet: Path) -> None:
    """Keep the causes of errors that a person wrote into a sheet, for the report of a run.

    Raises:
        InputError: A file cannot be used.
    """
    review.keep_review(folder, review_sheet.read_sheet(sheet, read_run_folder(folder)))

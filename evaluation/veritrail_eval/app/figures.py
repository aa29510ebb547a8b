"""Figures of tables that people bring: scores, agreement of annotators, error stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from veritrail_eval import figure_files

if TYPE_CHECKING:
    from veritrail_eval.figure_files import Read
    from veritrail_eval.figures.agreement import AnnotatorAgreement
    from veritrail_eval.figures.alpha import Level
    from veritrail_eval.figures.localization import Localization
    from veritrail_eval.figures.options import Inconclusive, Resampling
    from veritrail_eval.figures.scores import Comparison, MethodScore


@dataclass(frozen=True, slots=True)
class Scored:
    """The scores of methods, tests of every two of them, and what a person should know."""

    methods: Sequence[MethodScore]
    comparisons: Sequence[Comparison]
    notes: Sequence[str]


def score_methods(file: Path, inconclusive: Inconclusive, *, compare: bool) -> Scored:
    """Score the verdicts of a table against its labels.

    Raises:
        InputError: It cannot be read, or rows have faults.
    """
    from veritrail_eval.figures.scores import comparisons, scores

    read = figure_files.read_judged(file)
    found = scores(read.found, inconclusive)
    return Scored(found, comparisons(found) if compare else (), read.notes)


def locate_errors(file: Path, stages: list[int] | None, root_stage: int) -> Read[Localization]:
    """Say how often each stage introduced an error, by the variants of a table.

    Raises:
        InputError: It cannot be read, rows have faults, or an error comes in at no such stage.
    """
    from veritrail_eval.figures.localization import Localization

    read = figure_files.read_located(file)
    found = Localization.of(read.found, stages, root_stage)
    notes = list(read.notes)
    if found.unlocated:
        notes.append(
            f"{found.unlocated:,} claim(s) are rightly called not fully supported, but no error "
            "stage is known: they are left out."
        )
    return figure_files.Read(found, notes)


def labels_in(file: Path) -> Literal["dialogues", "data set", "table"]:
    """Return where a file with labels of annotators has them."""
    from veritrail_eval.annotation.agreement import is_dataset
    from veritrail_eval.dialogues.sheets import is_labelled

    if is_labelled(file):
        return "dialogues"
    return "data set" if is_dataset(file) else "table"


def agreement_in_dataset(
    file: Path, level: Level, order: Sequence[str], *, adjudicator: str | None, as_given: bool
) -> Read[AnnotatorAgreement]:
    """Return how far the annotators of a data set agree; see `read_agreement`.

    Raises:
        InputError: It cannot be read, or holds no such labels.
    """
    from veritrail_eval.annotation.agreement import read_agreement

    return read_agreement(file, level, order, adjudicator=adjudicator, as_given=as_given)


def agreement_in_table(file: Path, level: Level, order: Sequence[str]) -> Read[AnnotatorAgreement]:
    """Return how far the annotators of a table agree; see `read_annotations`.

    Raises:
        InputError: It cannot be read, or rows have faults.
    """
    return figure_files.read_annotations(file, level, order)


def agreement_on_turns(file: Path, how: Resampling | None) -> dict[str, Any]:
    """Return how far the annotators of labelled turns agree; claims of equal text are the same.

    Raises:
        InputError: It cannot be read.
    """
    from veritrail_eval.dialogues.claim_sets import ClaimAgreement, ClaimMatcher
    from veritrail_eval.dialogues.disagreements import disagreements_json
    from veritrail_eval.dialogues.gold import read_gold

    gold, matcher = read_gold(file), ClaimMatcher()
    found = ClaimAgreement.of(gold, matcher)
    return {
        "turns": len(gold.turns),
        "annotators": None if found is None else found.as_json(matcher, how),
        "disagreements": disagreements_json(gold, (), matcher),
    }

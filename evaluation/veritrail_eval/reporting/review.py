"""The review of errors: cases for a person to look at, and the causes that the person found.

Cases are drawn at random, half of them false positives (claims wrongly called Not Fully
Supported), half false negatives, and as many from each configuration.

Source: VeriTrail G.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field

from veritrail_eval.figures.confusion import CLASSES, UNSUPPORTED
from veritrail_eval.methods.method import MethodOutcome
from veritrail_eval.reporting.run_folder import ConfigurationRun, RunFolder
from veritrail_eval.runs.record import RecordedClaim
from veritrail_eval.whole_file import read_kept, write_text_whole
from veritrail_graph.graph.model.noun import Many, Noun, OneOf

NAME = "review.json"
COUNT = 60
"""Cases of a data set, as in the paper."""


class ErrorKind(StrEnum):
    """A kind of wrong verdict. Source: VeriTrail G."""

    FALSE_POSITIVE = "false positive"
    """Supported, and called Not Fully Supported."""
    FALSE_NEGATIVE = "false negative"
    """Not fully supported, and called Fully Supported."""


class Cause(StrEnum):
    """A cause of a wrong verdict; a case may have several.

    Source: VeriTrail G; the last two are ours.
    """

    INVALID_INFERENCE = "invalid inference"
    """The evidence does not imply what the judge concluded."""
    OVERLOOKED_PART = "overlooked part"
    """A part of the claim was passed over."""
    MISSING_CONTEXT = "missing context"
    """The evidence lacks what is needed to understand it."""
    MULTI_HOP = "multi-hop"
    """Several pieces of evidence had to be combined."""
    OUTSIDE_KNOWLEDGE = "outside knowledge"
    """The judge used what no source says."""
    LABEL_WRONG = "label wrong"
    """The verdict is right and the label is not."""
    OTHER = "other"
    """Something else; the notes say what."""


@dataclass(frozen=True)
class ErrorCase:
    """A wrong verdict.

    Attributes:
        run: The configuration.
        claim: The claim with its label.
        outcome: What the configuration said.
        wrong_in: How many of the configurations that were drawn from are wrong on this claim.
    """

    run: ConfigurationRun
    claim: RecordedClaim
    outcome: MethodOutcome
    wrong_in: int

    @property
    def kind(self) -> ErrorKind:
        """Return how it is wrong."""
        return _kind(self.claim)


def _kind(claim: RecordedClaim) -> ErrorKind:
    is_negative = claim.label is UNSUPPORTED
    return ErrorKind.FALSE_NEGATIVE if is_negative else ErrorKind.FALSE_POSITIVE


def _is_wrong(claim: RecordedClaim, outcome: MethodOutcome | None) -> bool:
    return outcome is not None and outcome.verdict in CLASSES and outcome.verdict is not claim.label


def reviewed_runs(runs: Sequence[ConfigurationRun]) -> list[ConfigurationRun]:
    """The configurations whose errors are reviewed: those of VeriTrail, else all."""
    return [run for run in runs if run.configuration.method == "veritrail"] or list(runs)


def sample_errors(runs: Sequence[ConfigurationRun], count: int, seed: int) -> list[ErrorCase]:
    """Draw errors of configurations on one data set; a claim at most once.

    Half are false positives and half false negatives. Where there are fewer of one kind, all of
    them are taken, and not more of the other, so that both stay comparable. Of each kind the
    configurations give as many as they can: they take turns.

    Args:
        runs: The configurations.
        count: How many.
        seed: The same seed draws the same cases.
    """
    wrong: dict[tuple[str, str], list[ErrorCase]] = {}
    for run in runs:
        for claim, outcome in run.pairs():
            if outcome is not None and _is_wrong(claim, outcome):
                wrong.setdefault(claim.key, []).append(ErrorCase(run, claim, outcome, 0))
    draw = random.Random(f"{seed}/review")  # noqa: S311  # a sample, no secret
    found: list[ErrorCase] = []
    halves = {ErrorKind.FALSE_POSITIVE: (count + 1) // 2, ErrorKind.FALSE_NEGATIVE: count // 2}
    for kind, most in halves.items():
        every = [one for cases in wrong.values() for one in cases if one.kind is kind]
        found += [
            ErrorCase(one.run, one.claim, one.outcome, len(wrong[one.claim.key]))
            for one in _in_turns(every, most, draw)
        ]
    return found


def _in_turns(cases: Sequence[ErrorCase], most: int, draw: random.Random) -> list[ErrorCase]:
    """Draw cases by turns from each configuration, a claim once; who has none left is passed."""
    piles: dict[str, list[ErrorCase]] = {}
    for one in sorted(cases, key=lambda one: one.claim.key):
        piles.setdefault(one.run.configuration_id, []).append(one)
    for pile in piles.values():
        draw.shuffle(pile)
    # The one with fewest errors first, as what the others take of them is gone.
    turns = sorted(piles.values(), key=len)
    found: dict[tuple[str, str], ErrorCase] = {}
    while len(found) < most and any(turns):
        for pile in turns:
            while pile and pile[-1].claim.key in found:
                pile.pop()
            if pile and len(found) < most:
                one = pile.pop()
                found[one.claim.key] = one
    return list(found.values())


class ReviewedCase(Noun):
    """A case with the causes that a person found."""

    dataset: str = Field(description="The data set.")
    configuration_id: str = Field(description="The configuration.")
    process_id: str = Field(description="The process.")
    claim_id: str = Field(description="The claim.")
    kind: OneOf[ErrorKind] = Field(description="How the verdict is wrong.")
    causes: Many[OneOf[Cause]] = Field(default=(), description="Why; empty: not reviewed yet.")
    notes: str = Field(default="", description="What else the person says.")


class KeptReview(Noun):
    """The cases of a review, kept beside the outcomes."""

    cases: Many[ReviewedCase] = Field(description="In the order of the sheet.")


@dataclass(frozen=True)
class ReviewCounts:
    """The causes of errors on a data set.

    Attributes:
        cases: Cases of each kind on the sheet.
        reviewed: Those of them with at least one cause.
        causes: For each cause how many cases of each kind have it; a case may have several.
        notes: Notes, with the claim that each is about.
        gone: Cases that are no errors any more, because the run went on; they are not counted.
    """

    cases: Mapping[ErrorKind, int]
    reviewed: Mapping[ErrorKind, int]
    causes: Mapping[Cause, Mapping[ErrorKind, int]]
    notes: Sequence[tuple[str, str]]
    gone: int

    def as_json(self) -> dict[str, Any]:
        """The counts under their words."""
        return {
            "cases": {kind.value: self.cases[kind] for kind in ErrorKind},
            "reviewed": {kind.value: self.reviewed[kind] for kind in ErrorKind},
            "causes": {
                cause.value: {kind.value: self.causes[cause][kind] for kind in ErrorKind}
                for cause in Cause
            },
            "no_error_any_more": self.gone,
        }


def count_review(cases: Iterable[ReviewedCase], runs: RunFolder) -> dict[str, ReviewCounts]:
    """The causes by data set.

    Args:
        cases: The cases.
        runs: The run that they are about.
    """
    wrong = {
        (run.dataset.name, run.configuration_id, *claim.key)
        for run in runs.runs
        for claim, outcome in run.pairs()
        if _is_wrong(claim, outcome)
    }
    by_dataset: dict[str, list[ReviewedCase]] = {}
    for case in cases:
        by_dataset.setdefault(case.dataset, []).append(case)
    found = {}
    for dataset, every in by_dataset.items():
        own = [one for one in every if _place(one) in wrong]
        reviewed = [one for one in own if one.causes]
        found[dataset] = ReviewCounts(
            Counter(one.kind for one in own),
            Counter(one.kind for one in reviewed),
            {
                cause: Counter(one.kind for one in reviewed if cause in one.causes)
                for cause in Cause
            },
            [(one.claim_id, one.notes) for one in own if one.notes],
            len(every) - len(own),
        )
    return found


def _place(case: ReviewedCase) -> tuple[str, str, str, str]:
    return case.dataset, case.configuration_id, case.process_id, case.claim_id


def keep_review(folder: Path, cases: Sequence[ReviewedCase]) -> None:
    """Keep a review in the folder of its run, whole or not at all; one that is there is replaced.

    Raises:
        InputError: It cannot be written.
    """
    text = json.dumps(KeptReview(cases=tuple(cases)).json_object(), ensure_ascii=False, indent=1)
    write_text_whole(folder / NAME, text)


def read_kept_review(folder: Path, runs: RunFolder) -> dict[str, ReviewCounts]:
    """The counts of the review that is kept in a folder, by data set; empty: none is.

    Raises:
        InputError: It cannot be read.
    """
    path = folder / NAME
    if not path.is_file():
        return {}
    advice = f"Read the sheet again with: veritrail eval review {folder} --read FILE"
    kept = read_kept(path, KeptReview, advice)
    return count_review(kept.cases, runs)

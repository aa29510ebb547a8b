"""Answers of a study by how the sources were shown: time a sentence, and how right readers were.

Source: Error-tolerant attribution 6.2 (manual evaluation with and without highlights).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from veritrail_eval.attribution.model import VERDICTS, AttributionFile
from veritrail_eval.figures.confusion import Confusion
from veritrail_eval.figures.figure import Figure, mean, missing, with_reasons
from veritrail_eval.studies.model import ReaderLabel
from veritrail_eval.tables import read_table
from veritrail_graph.graph.errors import shown
from veritrail_graph.graph.exporters.cells import unguarded
from veritrail_graph.graph.model.attribution import Faithfulness, SourceMode

COLUMNS = ("study_id", "process_id", "reader", "document", "mode", "sentence", "label", "seconds")
"""The columns of a study's answers that are read."""

NO_ANSWERS = "no sentence was answered"
NO_GOLD = "no file of right labels was given"


@dataclass(frozen=True, slots=True)
class Answered:
    """A reader's answer about a sentence.

    Attributes:
        reader: The study and the reader.
        mode: How the sources were shown.
        label: What the reader said.
        seconds: How long it took.
        gold: The label that is right; None: it is not known.
    """

    reader: tuple[str, str]
    mode: SourceMode
    label: ReaderLabel
    seconds: float
    gold: Faithfulness | None = None


@dataclass(frozen=True, slots=True)
class ModeScore:
    """The answers in one mode.

    Attributes:
        mode: How the sources were shown.
        answers: The answers.
        has_gold: Whether right labels were given.
    """

    mode: SourceMode
    answers: Sequence[Answered]
    has_gold: bool

    def seconds(self, label: Faithfulness | None = None) -> Figure:
        """The mean time a sentence; of a label, of the sentences for which it is right."""
        if label is not None and not self.has_gold:
            return missing(NO_GOLD)
        chosen = [one for one in self.answers if label is None or one.gold is label]
        none = NO_ANSWERS if label is None else f"no answer is about a sentence that is {label}"
        return mean((one.seconds for one in chosen), none)

    @property
    def median_seconds(self) -> Figure:
        """The median time a sentence."""
        times = [one.seconds for one in self.answers]
        return Figure(median(times)) if times else missing(NO_ANSWERS)

    @property
    def confusion(self) -> Confusion:
        """Labels of readers against right ones; what a reader is unsure of counts as faithful.

        Source: Error-tolerant attribution C.3 (who is not sure says faithful).
        """
        return Confusion.of(
            (VERDICTS[one.gold], VERDICTS[_said(one.label)])
            for one in self.answers
            if one.gold is not None
        )

    @property
    def decided(self) -> Confusion:
        """Return the confusion without the answers of which a reader is unsure. Ours."""
        sure = [one for one in self.answers if one.label is not ReaderLabel.UNSURE]
        return ModeScore(self.mode, sure, self.has_gold).confusion

    @property
    def balanced_accuracy(self) -> Figure:
        """The mean of the recall of both labels."""
        return self.confusion.balanced_accuracy if self.has_gold else missing(NO_GOLD)

    def as_json(self) -> dict[str, Any]:
        """Every figure; null with a reason where there is none."""
        figures = {
            "mean_seconds": self.seconds(),
            "median_seconds": self.median_seconds,
            "mean_seconds_faithful": self.seconds(Faithfulness.FAITHFUL),
            "mean_seconds_unfaithful": self.seconds(Faithfulness.UNFAITHFUL),
            "balanced_accuracy": self.balanced_accuracy,
            "balanced_accuracy_decided": (
                self.decided.balanced_accuracy if self.has_gold else missing(NO_GOLD)
            ),
        }
        document = {
            "mode": self.mode.value,
            "answers": len(self.answers),
            "readers": len({one.reader for one in self.answers}),
            "unsure": sum(one.label is ReaderLabel.UNSURE for one in self.answers),
            "compared": self.confusion.claims,
            **{name: one.value for name, one in figures.items()},
        }
        return with_reasons(document, figures)


def _said(label: ReaderLabel) -> Faithfulness:
    return Faithfulness.FAITHFUL if label is ReaderLabel.UNSURE else Faithfulness(label.value)


@dataclass(frozen=True, slots=True)
class StudyScore:
    """The answers of studies by mode.

    Attributes:
        modes: Those in which anything was answered.
        unknown: Answers about sentences whose right label is not known; of all, where none is.
    """

    modes: Sequence[ModeScore]
    unknown: int

    @property
    def seconds_saved(self) -> Figure:
        """The share of the time a sentence that highlights save; negative: they cost time."""
        by_mode = {one.mode: one.seconds().value for one in self.modes}
        plain, lit = by_mode.get(SourceMode.PLAIN), by_mode.get(SourceMode.HIGHLIGHTED)
        if not plain or lit is None:
            return missing("no answers in both modes, plain and highlighted")
        return Figure(1 - lit / plain)

    def as_json(self) -> dict[str, Any]:
        """The figures of each mode, and what highlights save."""
        document = {
            "answers": sum(len(one.answers) for one in self.modes),
            "unknown": self.unknown,
            "modes": [one.as_json() for one in self.modes],
            "seconds_saved": self.seconds_saved.value,
        }
        return with_reasons(document, {"seconds_saved": self.seconds_saved})


def study_score(answers: Sequence[Answered], *, has_gold: bool) -> StudyScore:
    """The answers by mode.

    Args:
        answers: The answers.
        has_gold: Whether right labels were given.
    """
    found = []
    for mode in SourceMode:
        some = [one for one in answers if one.mode is mode]
        if some:
            found.append(ModeScore(mode, some, has_gold))
    return StudyScore(found, sum(one.gold is None for one in answers))


def read_answers(paths: Sequence[Path], gold: AttributionFile | None) -> list[Answered]:
    """The answers of studies, as their pages give them as CSV.

    Args:
        paths: The files.
        gold: Attributions or annotations with the labels that are right.

    Raises:
        InputError: A file cannot be read or has faults (all are listed), or a reader answered a
            sentence twice.
    """
    found: list[Answered] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for path in paths:
        table = read_table(path, COLUMNS)
        for row in table.rows:
            study, reader, process, document = (
                row.required(name) for name in ("study_id", "reader", "process_id", "document")
            )
            for name in ("mode", "label", "sentence", "seconds"):
                row.required(name)
            mode, label = row.choice("mode", SourceMode), row.choice("label", ReaderLabel)
            row.required("sentence")
            number, seconds = row.number("sentence", 0), row.number("seconds", 0)
            if number is not None and number != int(number):
                row.fault("not_a_number", "sentence", "must be a whole number such as 2")
            if number is None or seconds is None or mode is None or label is None:
                continue
            key = (study, reader, document, str(int(number)))
            seen[key] += 1
            if seen[key] > 1:
                row.fault("duplicate", "sentence", f"{shown(reader)} answered it already")
            right = _right_label(gold, process, document, int(number))
            found.append(Answered((study, reader), mode, label, seconds, right))
        table.check()
    return found


def _right_label(
    gold: AttributionFile | None, process: str, document: str, number: int
) -> Faithfulness | None:
    """The label that is right of a sentence, whose id may begin with its process."""
    if gold is None:
        return None
    name = f"{unguarded(document)}:{number}"
    known = gold.sentences.get(name) or gold.sentences.get(f"{process}/{name}")
    return None if known is None else known.known_label

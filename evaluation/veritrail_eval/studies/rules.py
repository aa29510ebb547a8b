"""The rules of a study: who reads which document how, in which order, and what an answer must say.

Source: Error-tolerant attribution C (half of the documents plain, half highlighted).
"""

from __future__ import annotations

import hashlib

from veritrail_eval.studies.model import ReaderLabel, Study, StudyAnswer, StudyTask
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.model.attribution import Faithfulness, SourceMode, implied_label

MOST_DOCUMENTS = 200
"""Documents of a study."""

MOST_NOTE = 2_000
"""Characters of a note."""

MOST_MARKS = 500
"""Source sentences that a reader marks for one sentence."""


def modes_of(study: Study, place: int) -> dict[str, SourceMode]:
    """Return how each document of a study is shown to a reader.

    The documents are put in an order drawn from the seed; along it the modes take turns. The next
    reader begins with the next mode: each reader has every mode equally often, give or take one,
    and so has each document.

    Args:
        study: The study.
        place: How many readers joined before.
    """
    drawn = sorted(study.nodes, key=lambda name: _draw(study.seed, "mode", name))
    count = len(study.modes)
    return {name: study.modes[(at + place + study.seed) % count] for at, name in enumerate(drawn)}


def order_of(study: Study, place: int) -> list[str]:
    """The documents in the order in which a reader is led through them."""
    return sorted(study.nodes, key=lambda name: _draw(study.seed, f"order {place}", name))


def _draw(seed: int, what: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{what}\0{name}".encode("utf-8", "surrogatepass")).digest()


def check_answer(study: Study, answer: StudyAnswer) -> None:
    """See that an answer can be saved.

    Raises:
        InputError: A label is missing, or the marks and the label contradict each other.
    """
    found = []
    if answer.label is None:
        found.append(Violation("missing", "label", "is missing; choose one"))
    if len(answer.note) > MOST_NOTE:
        message = f"may have {MOST_NOTE:,} characters, and has {len(answer.note):,}"
        found.append(Violation("too_long", "note", message))
    if study.task is StudyTask.ANNOTATE and answer.label is ReaderLabel.FAITHFUL:
        if not answer.marks:
            message = "says faithful, but no source sentence is marked as its evidence"
            found.append(Violation("contradictory", "label", message))
        elif implied_label(answer.marks) is Faithfulness.UNFAITHFUL:
            message = "says faithful, but a marked sentence is more than evidence"
            found.append(Violation("contradictory", "label", message))
        if answer.unfounded:
            message = "says faithful, but words of the sentence rest on nothing"
            found.append(Violation("contradictory", "label", message))
    if (
        study.task is StudyTask.ANNOTATE
        and answer.label is ReaderLabel.UNFAITHFUL
        and not answer.unfounded
        and implied_label(answer.marks) is Faithfulness.FAITHFUL
    ):
        message = (
            "says unfaithful, but all marked sentences are evidence; where a part of the sentence "
            "rests on nothing, write its words down"
        )
        found.append(Violation("contradictory", "label", message))
    if found:
        raise InputError("The answer was not saved", found, code="answer_incomplete")


def stopped(answer: StudyAnswer, at: float, *, paused: bool) -> StudyAnswer:
    """An answer whose timer does not run any more."""
    if answer.running_since is None:
        return answer
    answer = heard(answer, at)
    seconds = max(answer.elapsed(at), answer.seconds)  # a clock may be set back
    return answer.replace(
        seconds=seconds,
        running_since=None,
        seen_at=None,
        has_heartbeat=False,
        pauses=answer.pauses + (1 if paused else 0),
    )


def heard(answer: StudyAnswer, at: float, *, is_heartbeat: bool = False) -> StudyAnswer:
    """An answer whose reader was heard of; after too long a silence, its time goes on from here."""
    if answer.running_since is None:
        return answer
    if answer.is_idle(at):
        counted = answer.elapsed(at)
        ran = answer.seconds + at - answer.running_since
        answer = answer.replace(
            seconds=counted,
            running_since=at,
            idle_seconds=answer.idle_seconds + max(0.0, ran - counted),
        )
    return answer.replace(seen_at=at, has_heartbeat=answer.has_heartbeat or is_heartbeat)

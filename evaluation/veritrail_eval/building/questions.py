"""Questions to ask of documents: those that ask for opinions or need context are marked.

Source: VeriTrail B.2.1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_eval.building.asking import ask, truth_of
from veritrail_eval.building.review import write_review
from veritrail_eval.building.stories import StoryQuestion, questions_in
from veritrail_eval.tables import read_table
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.answers import text_of
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, ModelError, OverBudget
from veritrail_graph.verifier.prompted import PromptedStep, results

AT_ONCE = 16
COLUMNS = ("question", "asks_opinion", "stands_alone", "explanation", "proposal", "keep")


@dataclass(frozen=True, slots=True)
class FilteredQuestion:
    """A question, and what the model says of it.

    Attributes:
        question: The question.
        asks_opinion: Whether it asks for an opinion or a forecast; None: not known.
        stands_alone: Whether it is understood without more context; None: not known.
        explanation: The model's reason, or why there is none.
    """

    question: str
    asks_opinion: bool | None
    stands_alone: bool | None
    explanation: str

    @property
    def is_kept(self) -> bool | None:
        """Return whether the model would keep it; None: not known."""
        if self.asks_opinion is None or self.stands_alone is None:
            return None
        return self.stands_alone and not self.asks_opinion


def read_questions(path: Path) -> list[str]:
    """The column `question` of a table.

    Raises:
        InputError: Rows have faults, or a question comes twice.
    """
    table = read_table(path, ("question",))
    found = [(row, row.required("question")) for row in table.rows]
    first: dict[str, str] = {}
    for row, question in found:
        if question and first.setdefault(question.casefold(), row.where) != row.where:
            message = f"is in {first[question.casefold()]} already"
            row.fault("duplicate", "question", message)
    table.check()
    return [question for _, question in found]


async def filter_questions(
    questions: Sequence[str],
    step: PromptedStep,
    meter: Meter,
    on_question: Callable[[int, int], None] = lambda _done, _total: None,
) -> list[FilteredQuestion]:
    """Ask of each question whether it is to be kept; one whose call fails is marked so.

    Raises:
        EndpointRefused: No call can succeed.
        OverBudget: The budget is used up.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    done = 0

    async def one(question: str) -> FilteredQuestion:
        nonlocal done
        async with slots:
            try:
                user = f"Question: {' '.join(question.split())}"
                found = FilteredQuestion(question, *await ask(step, user, _read, meter))
            except (EndpointRefused, OverBudget):
                raise
            except ModelError as error:
                found = FilteredQuestion(question, None, None, f"no answer: {error}")
        done += 1
        on_question(done, len(questions))
        return found

    works = [one(question) for question in questions]
    return results(await asyncio.gather(*works, return_exceptions=True))


def _read(answer: Mapping[str, Any]) -> tuple[bool, bool, str]:
    return (
        truth_of(answer, "asks_opinion"),
        truth_of(answer, "stands_alone"),
        text_of(answer, "reason") or "",
    )


def write_questions(
    found: Sequence[FilteredQuestion], path: Path, about: Sequence[StoryQuestion] = ()
) -> None:
    """Write questions for review, with an empty column `keep`.

    Args:
        found: What the model says of them.
        path: The table.
        about: Their stories; columns are left out where none is known.

    Raises:
        InputError: The file is there already, or cannot be written.
    """
    stories = {one.question: one.cells() for one in about if one.story or one.documents}
    write_review(
        path,
        (*COLUMNS, "story", "documents") if stories else COLUMNS,
        (
            {
                **(stories.get(one.question, {"story": "", "documents": ""}) if stories else {}),
                "question": one.question,
                "asks_opinion": one.asks_opinion,
                "stands_alone": one.stands_alone,
                "explanation": one.explanation,
                "proposal": {True: "keep", False: "drop", None: ""}[one.is_kept],
                "keep": "",
            }
            for one in found
        ),
    )


def read_kept(path: Path) -> list[StoryQuestion]:
    """The questions that a person kept, with their stories.

    Raises:
        InputError: Rows have faults, or none is kept.
    """
    table = read_table(path, ("question", "keep"))
    yes = [row.yes("keep") for row in table.rows]
    table.check()
    kept = [one for one, is_kept in zip(questions_in(path), yes, strict=True) if is_kept]
    if not kept:
        raise InputError(f"{path}: no row has yes in the column keep.")
    return kept

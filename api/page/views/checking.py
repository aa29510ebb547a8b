"""The form that checks an answer: the answer, what it was made from, and who judges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from veritrail_graph.api.page.views.forms import JobForm
from veritrail_graph.api.page.views.jobs import Filled
from veritrail_graph.api.requests.check import CheckBody, SourceText
from veritrail_graph.api.requests.value_faults import violations_of
from veritrail_graph.graph.errors import InputError, Violation

_PARTING = re.compile(r"^[ \t]*-{3,}[ \t]*$", re.MULTILINE)
"""The line that parts one pasted source from the next."""


@dataclass(frozen=True, slots=True)
class CheckForm(JobForm):
    """The fields of the form, as text.

    Attributes:
        answer: The answer.
        question: What it answers; nothing: not known.
        sources: The texts that were pasted, parted by lines of hyphens.
    """

    answer: str = ""
    question: str = ""
    sources: str = ""

    @property
    def pasted(self) -> list[str]:
        """Return the sources that were pasted."""
        parts = _PARTING.split(_lines(self.sources))
        return [part.strip() for part in parts if part.strip()]

    def body(self, files: Sequence[SourceText]) -> CheckBody:
        """Return what is to be checked.

        Args:
            files: The sources that were sent as files.

        Raises:
            InputError: Answer or sources are missing, or too long.
        """
        wrong = []
        if not self.answer:
            wrong.append(Violation("wrong_value", "answer", "paste the answer"))
        if not self.pasted and not files:
            words = "paste the texts that the answer was made from, or choose their files"
            wrong.append(Violation("wrong_value", "sources", words))
        if wrong:
            raise InputError("Please correct this:", wrong)
        try:
            return CheckBody(
                answer=_lines(self.answer),
                sources=[*self.pasted, *files],
                question=self.question or None,
                options={},
            )
        except ValidationError as error:
            raise InputError("Please correct this:", violations_of(error)) from None

    def verifying(self, claims: int) -> Filled:
        """Return the form that verifies what was stored.

        Args:
            claims: How many claims the process has already.
        """
        return Filled(
            engine=self.engine,
            model=self.model,
            budget_usd=self.budget_usd,
            price=self.price,
            once=self.once,
            which="all" if claims else "answer",
        )


def _lines(text: str) -> str:
    """Return a text of a form with its lines ended as in files; browsers send them as `CRLF`."""
    return text.replace("\r\n", "\n")

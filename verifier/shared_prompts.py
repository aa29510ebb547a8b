"""Prompts about several claims: what they show, and what each claim gets of the answer.

Ours, not the paper's. Claims over the same excerpts share an evidence selection prompt, which shows
the excerpts once. Claims share a verdict prompt whatever their evidence is: each shows its own, and
what they have in common is the instructions, which are most of such a prompt.

Source: ours; docs/adr/0041-shared-prompts.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from veritrail_graph.verifier.answers import (
    SelectionAnswer,
    VerdictAnswer,
    read_selection,
    read_shared,
    read_verdict,
)
from veritrail_graph.verifier.excerpts import Excerpts, claim_lines, one_line
from veritrail_graph.verifier.models.port import Meter, Request
from veritrail_graph.verifier.part_answers import (
    parts_in,
    read_part_verdict,
    read_sided_selection,
)
from veritrail_graph.verifier.prompted import Call, PromptedStep

if TYPE_CHECKING:
    from veritrail_graph.verifier.sharing import Sharing

T = TypeVar("T")

MOST_EVIDENCE = 8_000
"""Tokens of the evidence of all claims of a verdict prompt: beside more of it, the instructions
that are saved count for little."""


@dataclass(frozen=True, slots=True)
class Case:
    """A claim as a prompt shows it.

    Attributes:
        claim: Its text.
        sub_claims: Its sub-claims.
        excerpts: What is shown for it.
    """

    claim: str
    sub_claims: tuple[str, ...]
    excerpts: Excerpts

    @property
    def content(self) -> tuple[str, tuple[str, ...], str]:
        """Return what makes two cases one, and what they are put in order by."""
        return self.claim, self.sub_claims, self.excerpts.text


@dataclass(frozen=True, slots=True)
class SharedPrompt(ABC, Generic[T]):
    """A prompt about several claims.

    Attributes:
        step: The prompt and the model.
        among: Gathers the claims that wait.
    """

    step: PromptedStep
    among: Sharing

    def ask(self, case: Case, sample: int, meter: Meter, alone: Call[T]) -> Coroutine[Any, Any, T]:
        """The answer about a claim, by a prompt that it shares or by one of its own.

        Args:
            case: The claim and its excerpts.
            sample: Number of the sample.
            meter: Records its share of what a prompt costs.
            alone: Asks about the claim alone.

        Raises:
            VeriTrailError: No answer could be had.
        """
        return self.among.ask(self, case, sample, meter, alone)

    def request(self, cases: Sequence[Case], sample: int) -> Request:
        """The call about some claims; about one, it is the key of its part in the cache."""
        user, shared = self.user(cases)
        return Request(
            self.step.call,
            self.step.prompt.text,
            user,
            shared,
            sample,
            self.step.answer_schema,
            len(cases),
            self.step.needs_temperature,
        )

    @abstractmethod
    def in_common(self, case: Case) -> str:
        """Return what claims must have in common to share a prompt."""

    @abstractmethod
    def user(self, cases: Sequence[Case]) -> tuple[str, int]:
        """The user message, and how many characters at its beginning other claims share."""

    @abstractmethod
    def fits(self, cases: Sequence[Case]) -> bool:
        """Return whether the claims fit into one prompt."""

    def parts(self, answer: str, cases: Sequence[Case]) -> Sequence[str | None]:
        """Cut an answer about several claims into the parts of each; None: it has none.

        Raises:
            InvalidAnswer: It is invalid as a whole.
        """
        return read_shared(answer, len(cases))

    @abstractmethod
    def read(self, part: str, case: Case) -> T:
        """Read a claim's part of an answer.

        Raises:
            InvalidAnswer: It is none.
        """


class SharedSelection(SharedPrompt[SelectionAnswer]):
    """Selects evidence for several claims over the same excerpts."""

    __slots__ = ()

    def in_common(self, case: Case) -> str:
        """The excerpts."""
        return case.excerpts.text

    def user(self, cases: Sequence[Case]) -> tuple[str, int]:
        """The excerpts, then the claims."""
        before = f"{cases[0].excerpts.text}\n"
        return before + shared_lines(cases), len(before)

    def fits(self, cases: Sequence[Case]) -> bool:
        """Return whether the claims fit into the window beside the excerpts."""
        tokens = self.step.model.tokens
        excerpts = cases[0].excerpts.text
        return tokens(excerpts) + tokens(shared_lines(cases)) <= self.step.free

    def read(self, part: str, case: Case) -> SelectionAnswer:
        """Read what is selected for a claim."""
        sentences = len(case.excerpts.sentences)
        if self.step.prompt.asks_by_part:
            return read_sided_selection(part, sentences, parts_in(case.sub_claims))
        return read_selection(part, sentences)


class SharedVerdict(SharedPrompt[VerdictAnswer]):
    """Gives verdicts on several claims, each with evidence of its own."""

    __slots__ = ()

    def in_common(self, case: Case) -> str:
        """Nothing but the instructions."""
        del case
        return ""

    def user(self, cases: Sequence[Case]) -> tuple[str, int]:
        """Each claim with its number, and below it its sub-claims, where needed, and excerpts."""
        lines = (
            "\n".join((*_numbered_claim(number, case), case.excerpts.text))
            for number, case in enumerate(cases, start=1)
        )
        return "\n".join(lines), 0

    def fits(self, cases: Sequence[Case]) -> bool:
        """Return whether their evidence is little enough, and fits into the window."""
        tokens = self.step.model.tokens(self.user(cases)[0])
        return tokens <= min(self.step.free, MOST_EVIDENCE)

    def read(self, part: str, case: Case) -> VerdictAnswer:
        """Read the verdict on a claim."""
        if self.step.prompt.asks_by_part:
            return read_part_verdict(part, parts_in(case.sub_claims))
        return read_verdict(part)


def shared_lines(cases: Sequence[Case]) -> str:
    """Return what follows common excerpts: the claims by number, each with its sub-claims."""
    if len(cases) == 1:
        return claim_lines(cases[0].claim, cases[0].sub_claims)
    numbered = (_numbered_claim(number, case) for number, case in enumerate(cases, start=1))
    return "\n".join(line for lines in numbered for line in lines)


def _numbered_claim(number: int, case: Case) -> list[str]:
    """The lines of a claim and of its sub-claims, where there is more than one."""
    lines = [f"Claim {number}: {one_line(case.claim)}"]
    if len(case.sub_claims) > 1:
        lines.append(f"Sub-claims of claim {number}:")
        lines += [f"- {one_line(sub_claim)}" for sub_claim in case.sub_claims]
    return lines

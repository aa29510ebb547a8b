"""The steps of verification as decisions: a statement a sentence, and a choice of three.

What is shown is what a prompt of the same step shows, packed by the same limits. Sentences whose
probability reaches the threshold are evidence; they stand for their own summary. The verdict is the
most probable one, and the probability of Fully Supported is its score.

Source: VeriTrail 3.1.2, 3.1.3, E.2, E.3 (the score); the rest is ours, docs/adr/0076.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Claim, Verdict
from veritrail_graph.verifier import prompts
from veritrail_graph.verifier.decisions.dialects import (
    DIALECTS,
    MOST_QUESTIONS,
    DecisionDialect,
    Option,
    Question,
)
from veritrail_graph.verifier.evidence import EvidenceStep, joined
from veritrail_graph.verifier.excerpts import Excerpts, Unit, claim_lines, halves, pack, render
from veritrail_graph.verifier.models.faults import short_message
from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    Meter,
    Request,
    RequestRejected,
    Step,
)
from veritrail_graph.verifier.ports import Judgement, Selection
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import Prompts
from veritrail_graph.verifier.quoted import quoted
from veritrail_graph.verifier.shared_prompts import Case, SharedPrompt, shared_lines
from veritrail_graph.verifier.verdict import EvidencePiece, PromptVerdict

VERSION = "v1_decision"
"""The version of the questions that are used."""
_OPTION = re.compile(r"^([A-Z_]+): (.+)$", re.MULTILINE)
_NUMBER, _CLAIM = "N", "the claim"
"""What a question has in place of the number of a sentence, and of a claim among several."""
_AROUND = 24
"""Tokens of a question around its instructions."""


def decision_prompts() -> Prompts:
    """The questions, by the step that asks them."""
    steps = (Step.EVIDENCE_SELECTION, Step.VERDICT)
    return prompts.prompts_of(dict.fromkeys(steps, VERSION), prompts.__name__)


@dataclass(frozen=True, slots=True)
class Deciding:
    """The way in which a decision model is asked, and read.

    Attributes:
        dialect: The dialect of its endpoint.
        threshold: From which probability on a sentence is evidence.
    """

    dialect: DecisionDialect = DIALECTS["openai"]
    threshold: float = 0.5


@dataclass(frozen=True)
class DecisionStep(PromptedStep):
    """A step that asks a decision model; its prompt words the questions.

    Attributes:
        how: How the model is asked.
    """

    how: Deciding = Deciding()

    @property
    def settings(self) -> dict[str, Any]:
        """Return what decides the answers, as JSON."""
        how = {"dialect": self.how.dialect.name, "threshold": self.how.threshold}
        return {**super().settings, **how}

    def request(self, text: str, questions: Sequence[Question], claims: int = 1) -> Request:
        """The call with these questions about a text."""
        body = self.how.dialect.body(self.model.model, text, questions)
        return Request(self.call, "", body, claims=claims)


@dataclass(frozen=True, slots=True)
class DecisionsTogether(SharedPrompt[tuple[int, ...]]):
    """Selects evidence for several claims over the same text, in one request.

    A claim has a question for each sentence. What a claim is answered is kept as if it had been
    asked about alone.
    """

    step: DecisionStep

    def questions(self, cases: Sequence[Case]) -> list[Question]:
        """The questions about claims: those of the first claim first."""
        wording = self.step.prompt.text
        return [
            Question(
                f"{number}.{sentence}",
                wording.replace(_NUMBER, str(sentence)).replace(
                    _CLAIM, _CLAIM if len(cases) == 1 else f"claim {number}"
                ),
            )
            for number, case in enumerate(cases, start=1)
            for sentence in range(len(case.excerpts.sentences))
        ]

    def in_common(self, case: Case) -> str:
        """The text."""
        return case.excerpts.text

    def user(self, cases: Sequence[Case]) -> tuple[str, int]:
        """The text, then the claims."""
        return f"{cases[0].excerpts.text}\n{shared_lines(cases)}", 0

    def request(self, cases: Sequence[Case], sample: int) -> Request:
        """The call about some claims."""
        del sample
        return self.step.request(self.user(cases)[0], self.questions(cases), len(cases))

    def fits(self, cases: Sequence[Case]) -> bool:
        """Return whether the questions about the claims fit into one request."""
        questions = self.questions(cases)
        if len(questions) > MOST_QUESTIONS:
            return False
        model = self.step.model
        asked = sum(model.tokens(one.instructions) + _AROUND for one in questions)
        return model.tokens(self.user(cases)[0]) + asked <= self.step.free

    def parts(self, answer: str, cases: Sequence[Case]) -> Sequence[str | None]:
        """Cut an answer into the parts of each claim; None: a question about it was refused."""
        dialect, asked = self.step.how.dialect, self.questions(cases)
        found = dialect.read(answer, asked)
        parts: list[str | None] = []
        start = 0
        for case in cases:
            alone = self.questions([case])
            places = range(start, start + len(alone))
            start += len(alone)
            part = dialect.part(found, places, [one.name for one in alone])
            parts.append(part if self._is_answered(part, case) else None)
        return parts

    def _is_answered(self, part: str, case: Case) -> bool:
        """Return whether no question about a claim was refused: alone, it is refused alone.

        Raises:
            InvalidAnswer: The answer holds what is no probability.
        """
        try:
            self.read(part, case)
        except RequestRejected:
            return False
        return True

    def read(self, part: str, case: Case) -> tuple[int, ...]:
        """Read which sentences are evidence."""
        how, asked = self.step.how, self.questions([case])
        found = how.dialect.read(part, asked)
        return tuple(
            sentence
            for sentence, (question, answer) in enumerate(zip(asked, found.each, strict=True))
            if how.dialect.predicate_of(question, answer) >= how.threshold
        )

    async def alone(self, case: Case, meter: Meter) -> tuple[int, ...]:
        """Ask about one claim."""
        request = self.request([case], 0)
        return await self.step.model.ask(request, partial(self.read, case=case), meter)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionSelection(EvidenceStep):
    """Selects evidence by a statement about each sentence.

    Attributes:
        together: Asks about claims over the same text, several or one at a time.
    """

    together: DecisionsTogether

    def _pack(self, roots: Iterable[Unit], others: Iterable[Unit], room: int) -> list[Excerpts]:
        """Prompts as they are packed for any model, each with a question a sentence."""
        question = self.step.model.tokens(self.step.prompt.text) + _AROUND

        def tokens(text: str) -> int:
            return self.step.model.tokens(text) + question

        limits = (
            MOST_QUESTIONS if limit is None else min(limit, MOST_QUESTIONS)
            for limit in (self.limits.root_sentences, self.limits.other_sentences)
        )
        packed = (
            pack(units, limit, room, tokens)
            for units, limit in zip((roots, others), limits, strict=True)
        )
        return [excerpts for each in packed for excerpts in each]

    async def _ask(
        self, claim: Claim, excerpts: Excerpts, meter: Meter, slots: asyncio.Semaphore
    ) -> Selection:
        """Ask about one text; one that is too long for the endpoint is split in two."""
        self._refuse_hopeless(excerpts)
        case = Case(claim.text, claim.sub_claims, excerpts)
        alone = partial(self.together.alone, case, meter)
        try:
            async with slots:
                chosen = await self.together.ask(case, 0, meter, alone)
        except ContextTooLong as error:
            parts = halves(excerpts)
            if parts is None:
                raise self._too_long(excerpts, str(error)) from None
            return joined([await self._ask(claim, part, meter, slots) for part in parts])
        return Selection(quoted(excerpts.sentences[place] for place in chosen))


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionVerdict(PromptVerdict):
    """Gives verdicts by a choice of three.

    Attributes:
        is_turned: Whether the options are put in the reverse order, to see that it decides nothing.
    """

    step: DecisionStep
    is_turned: bool = False

    @property
    def question(self) -> Question:
        """The choice, with its options in the order in which they are put."""
        text = self.step.prompt.text
        options = [Option(*found.groups()) for found in _OPTION.finditer(text)]
        if self.is_turned:
            options.reverse()
        return Question("1", _OPTION.sub("", text).strip(), tuple(options))

    async def _ask(self, claim: Claim, pieces: Sequence[EvidencePiece], meter: Meter) -> Judgement:
        """Ask for the verdict on what is shown."""
        excerpts = render([piece.unit for piece in pieces])
        text = f"{excerpts.text}\n{claim_lines(claim.text)}"
        question, dialect = self.question, self.step.how.dialect

        def read(answer: str) -> tuple[str | None, dict[str, float]]:
            found = dialect.read(answer, [question])
            return found.model, dialect.choice_of(question, found.each[0])

        request = self.step.request(text, [question])
        named, found = await self.step.model.ask(request, read, meter)
        probabilities = {verdict: found[verdict.value] for verdict in Verdict}
        return Judgement(
            most_probable(probabilities),
            reason_of(named or self.step.model.model, len(excerpts.sentences), probabilities),
            probabilities[Verdict.FULLY_SUPPORTED],
        )


def most_probable(probabilities: Mapping[Verdict, float]) -> Verdict:
    """Return the most probable verdict; where two are equally probable, Inconclusive."""
    highest = max(probabilities.values())
    first, *others = (verdict for verdict, one in probabilities.items() if one == highest)
    return Verdict.INCONCLUSIVE if others else first


def reason_of(model: str, sentences: int, probabilities: Mapping[Verdict, float]) -> str:
    """Put a verdict into words: what it rests on, and how probable each verdict is."""
    likely = sorted(probabilities.items(), key=lambda one: -one[1])
    said = ", ".join(
        f"{verdict.value.replace('_', ' ').title()} {probability:.2f}"
        for verdict, probability in likely
    )
    read = counted(sentences, "sentence")
    return f"{short_message(model)} read {read}; probabilities: {said}."

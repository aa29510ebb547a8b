"""Claims through a model: the stages of extraction, and a claim's sub-claims.

Sub-claims are context for the judge, and never verified themselves.

Source: Claimify (selection, disambiguation, decomposition; a majority of completions decides);
VeriTrail 3.1.1 (sub-claims).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.verifier.answers import final_object, read_claims, read_outcome
from veritrail_graph.verifier.claims.answer import SplitAnswer, Window
from veritrail_graph.verifier.excerpts import one_line
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter, Step
from veritrail_graph.verifier.prompted import PromptedStep, begun, results
from veritrail_graph.verifier.prompts import Prompts

if TYPE_CHECKING:
    from veritrail_graph.verifier.judge import StepModel


@dataclass(frozen=True, slots=True)
class Opinion:
    """The outcome of one completion for a sentence, or of several together.

    Attributes:
        sentence: The sentence to continue with; None where it has no claims.
        words: Why it has none, in the model's words; empty where the model gave no reason.
    """

    sentence: str | None
    words: str = ""


def agreed(opinions: Sequence[Opinion], needed: int) -> Opinion:
    """The outcome of several completions together.

    Of several wordings the most frequent one is kept, of equally frequent ones the earliest. A
    sentence without claims keeps the words of the first completion that found none.

    Args:
        opinions: The outcome of each completion.
        needed: How many of them must have a sentence.
    """
    found = [one.sentence for one in opinions if one.sentence is not None]
    if len(found) >= needed:
        return Opinion(max(found, key=found.count))
    reasons = (one.words for one in opinions if one.sentence is None and one.words)
    return Opinion(None, next(reasons, ""))


COMPLETIONS = Samples(count=3, threshold=2, temperature=0.2, needs_temperature=False)
"""Three completions of selection and disambiguation, of which two must agree."""

MOST_WORDS = 1_000
"""Characters of the model's reasoning that are kept of a sentence without claims."""

SELECTION_WINDOW = Window(before=5, after=5)
LATER_WINDOW = Window(before=5, after=0)

_SELECTION = frozenset(("verifiable", "rewritten", "no_verifiable_claims"))
_DISAMBIGUATION = frozenset(("clear", "cannot_be_disambiguated"))


@dataclass(frozen=True, slots=True)
class ClaimSteps:
    """The stages with their prompts and their model.

    Attributes:
        selection: Keeps of a sentence what can be verified.
        disambiguation: Gives it one meaning.
        decomposition: Breaks it into claims.
        around: Context of selection.
        later: Context of the two later stages.
    """

    selection: PromptedStep
    disambiguation: PromptedStep
    decomposition: PromptedStep
    around: Window = SELECTION_WINDOW
    later: Window = LATER_WINDOW

    @classmethod
    def of(
        cls,
        model: StepModel,
        prompts: Prompts,
        *,
        completions: Samples = COMPLETIONS,
    ) -> ClaimSteps:
        """The stages over one model.

        Args:
            model: The model.
            prompts: The prompts of all steps.
            completions: How many completions selection and disambiguation take, and how many of
                them must agree.
        """

        def step(name: Step, samples: Samples) -> PromptedStep:
            return model.step(prompts[name], samples)

        return cls(
            step(Step.CLAIM_SELECTION, completions),
            step(Step.CLAIM_DISAMBIGUATION, completions),
            step(Step.CLAIM_DECOMPOSITION, Samples()),
        )

    async def select(self, answer: SplitAnswer, place: int, meter: Meter) -> Opinion:
        """Return what of a sentence can be verified, if anything can.

        Raises:
            ModelError: No answer could be had.
        """
        sentence = answer.sentences[place].text

        def read(text: str) -> Opinion:
            outcome, rewritten = read_outcome(text, _SELECTION)
            if outcome == "rewritten" and rewritten is None:
                raise InvalidAnswer("`outcome` is rewritten, but `sentence` is empty")
            if outcome == "no_verifiable_claims":
                return Opinion(None, _words(text))
            # A sentence that is verifiable is kept unchanged, whatever else the answer holds.
            return Opinion(_one_spelling(rewritten if outcome == "rewritten" else sentence))

        user = answer.prompt(place, sentence, self.around)
        calls = self.selection.calls(user, read, meter)
        found = results(await asyncio.gather(*begun(calls), return_exceptions=True))
        return agreed(found, self.selection.samples.threshold)

    async def disambiguate(
        self, answer: SplitAnswer, place: int, sentence: str, meter: Meter
    ) -> Opinion:
        """The sentence with its one meaning, if readers would agree on one.

        Raises:
            ModelError: No answer could be had.
        """

        def read(text: str) -> Opinion:
            outcome, rewritten = read_outcome(text, _DISAMBIGUATION)
            if outcome == "cannot_be_disambiguated":
                return Opinion(None, _words(text))
            return Opinion(_one_spelling(rewritten or sentence))

        user = answer.prompt(place, sentence, self.later)
        calls = self.disambiguation.calls(user, read, meter)
        found = results(await asyncio.gather(*begun(calls), return_exceptions=True))
        return agreed(found, self.disambiguation.samples.threshold)

    async def decompose(
        self, answer: SplitAnswer, place: int, sentence: str, meter: Meter
    ) -> tuple[str, ...]:
        """The claims of a sentence.

        Raises:
            ModelError: No answer could be had.
        """
        user = answer.prompt(place, sentence, self.later)
        calls = self.decomposition.calls(user, claims_of_answer, meter)
        (claims,) = results(await asyncio.gather(*begun(calls), return_exceptions=True))
        return claims


def claims_of_answer(text: str) -> tuple[str, ...]:
    """The claims of a decomposition, each on one line.

    Raises:
        InvalidAnswer: The answer is none, or a claim cannot be stored as text.
    """
    claims = tuple(_one_spelling(claim) for claim in read_claims(text))
    for claim in claims:
        try:
            claim.encode()
        except UnicodeEncodeError:
            raise InvalidAnswer("a claim holds a lone surrogate, which is no character") from None
    return claims


def _one_spelling(text: str | None) -> str:
    """A text on one line, so that equal wordings are equal."""
    return one_line(text or "").strip()


def _words(text: str) -> str:
    """Return why a sentence has no claims: the model's reasoning, in the object or before it."""
    reasoning = final_object(text, "outcome").get("reasoning")
    if not isinstance(reasoning, str):
        reasoning = text[: text.rfind("{")].rstrip().removesuffix("```json").removesuffix("```")
    line = " ".join(reasoning.encode(errors="replace").decode().split())
    return line if len(line) <= MOST_WORDS else f"{line[: MOST_WORDS - 1]}…"


ATTEMPTS = 20
"""The most decompositions of one claim. Source: VeriTrail 3.1.1."""


async def decompose(claim: str, step: PromptedStep, meter: Meter) -> tuple[str, ...]:
    """The sub-claims of a claim in a stable order; the claim alone where it has none.

    Works off a queue. One claim in the answer: it is final. Several: each is queued, but none
    that was processed before; a claim that is among its own parts is final. What the last
    attempt leaves in the queue is final too. Claims of one round do not depend on each other
    and are asked about side by side. A prompt of the second wording takes a claim apart at once.

    Args:
        claim: The claim.
        step: The decomposition prompt with its model.
        meter: Records every call.

    Raises:
        ModelError: An answer could not be had.

    Source: VeriTrail 3.1.1.
    """
    if step.prompt.asks_by_part:
        (parts,) = await _ask([claim], step, meter)
        return _apart(claim, parts)
    queue = [claim]
    processed: set[str] = set()
    final: dict[str, str] = {}
    left = ATTEMPTS
    while queue:
        texts = _not_in(processed, queue)
        now, rest = texts[:left], texts[left:]
        for text in rest:
            final.setdefault(folded(text), text)
        left -= len(now)
        processed.update(map(folded, now))
        queue = []
        for text, parts in zip(now, await _ask(now, step, meter), strict=True):
            if len(parts) == 1:
                final.setdefault(folded(parts[0]), parts[0])
            elif folded(text) in map(folded, parts):
                final.setdefault(folded(text), text)
            if len(parts) > 1:
                queue += _not_in(processed, parts)
    if len(final) > 1:
        final.pop(folded(claim), None)  # a claim is no part of itself
    return tuple(final.values()) or (claim,)


def _apart(claim: str, parts: Iterable[str]) -> tuple[str, ...]:
    """The parts of a claim, each once; the claim alone where no others are left."""
    found = {folded(part): part for part in reversed(tuple(parts)) if part}
    found.pop(folded(claim), None)  # a claim is no part of itself
    return tuple(reversed(found.values())) if len(found) > 1 else (claim,)


def _not_in(processed: Collection[str], texts: Iterable[str]) -> list[str]:
    """The texts that were not processed, each once, in its first spelling."""
    found: dict[str, str] = {}
    for text in texts:
        if folded(text) not in processed:
            found.setdefault(folded(text), text)
    return list(found.values())


async def _ask(texts: list[str], step: PromptedStep, meter: Meter) -> list[tuple[str, ...]]:
    """The parts of each text; the text itself where the answer names none."""
    calls = [
        call
        for text in texts
        for call in step.calls(f"Claim: {one_line(text)}", claims_of_answer, meter)
    ]
    answers = results(await asyncio.gather(*begun(calls), return_exceptions=True))
    return [parts or (text,) for text, parts in zip(texts, answers, strict=True)]


def folded(text: str) -> str:
    """A text without what tells no two claims apart: case, kinds of white space, its full stop."""
    return " ".join(text.split()).casefold().removesuffix(".")

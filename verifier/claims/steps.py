"""The three stages of claim extraction that ask a model, and how their answers are read.

Source: Claimify (selection, disambiguation, decomposition, agreement).
"""

from __future__ import annotations

from dataclasses import dataclass

from veritrail_graph.verifier.answers import last_object, read_claims, read_outcome
from veritrail_graph.verifier.bill import Bill
from veritrail_graph.verifier.claims.agreement import Opinion, agreed
from veritrail_graph.verifier.claims.answer import Answer, Window
from veritrail_graph.verifier.excerpts import one_line
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.port import Asking, InvalidAnswer, Step
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import Prompts

COMPLETIONS = Samples(count=3, threshold=2, temperature=0.2)
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
        model: Asking,
        prompts: Prompts,
        *,
        completions: Samples = COMPLETIONS,
        temperature: float | None = 0.0,
        structured: bool = False,
    ) -> ClaimSteps:
        """The stages over one model.

        Args:
            model: The model.
            prompts: The prompts of all steps.
            completions: How many completions selection and disambiguation take, and how many of
                them must agree.
            temperature: Of decomposition, and of the others where they take one completion.
            structured: Whether the endpoint is told the shape of the answers.
        """

        def step(name: Step, samples: Samples) -> PromptedStep:
            return PromptedStep(prompts[name], model, samples, temperature, structured)

        return cls(
            step(Step.CLAIM_SELECTION, completions),
            step(Step.CLAIM_DISAMBIGUATION, completions),
            step(Step.CLAIM_DECOMPOSITION, Samples()),
        )

    async def select(self, answer: Answer, place: int, bill: Bill) -> Opinion:
        """What of a sentence can be verified, if anything can.

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
            # A sentence that is verifiable stays as it is, whatever else is said of it.
            return Opinion(_one_spelling(rewritten if outcome == "rewritten" else sentence))

        user = answer.prompt(place, sentence, self.around)
        found = await self.selection.draw(user, read, bill)
        return agreed(found, self.selection.samples.threshold)

    async def disambiguate(self, answer: Answer, place: int, sentence: str, bill: Bill) -> Opinion:
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
        found = await self.disambiguation.draw(user, read, bill)
        return agreed(found, self.disambiguation.samples.threshold)

    async def decompose(
        self, answer: Answer, place: int, sentence: str, bill: Bill
    ) -> tuple[str, ...]:
        """The claims of a sentence.

        Raises:
            ModelError: No answer could be had.
        """
        user = answer.prompt(place, sentence, self.later)
        (claims,) = await self.decomposition.draw(user, claims_of_answer, bill)
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
    """Why a model gives a sentence up: its reasoning, in the object or before it, on one line."""
    said = last_object(text).get("reasoning")
    if not isinstance(said, str):
        said = text[: text.rfind("{")].rstrip().removesuffix("```json").removesuffix("```")
    line = " ".join(said.encode(errors="replace").decode().split())
    return line if len(line) <= MOST_WORDS else f"{line[: MOST_WORDS - 1]}…"

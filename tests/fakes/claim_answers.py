"""Answers to the claim steps, from tables; and the steps over a model that gives them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fakes.asking import ScriptedAsking

from veritrail_graph.verifier.claims.steps import COMPLETIONS, ClaimSteps
from veritrail_graph.verifier.judge import StepModel
from veritrail_graph.verifier.limits import Samples
from veritrail_graph.verifier.models.port import Request, Step
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import PAPER, load_prompts

PROMPTS = load_prompts(PAPER)


def words(value: object) -> str:
    """An answer: reasoning first, one JSON object last."""
    return f"I have thought about it.\n```json\n{json.dumps(value)}\n```"


@dataclass
class ClaimAnswers:
    """Every sentence is verifiable, clear and one claim, unless a table says otherwise.

    Attributes:
        selection: Answers by sentence, one for each completion.
        disambiguation: The same for disambiguation.
        claims: Claims by sentence.
    """

    selection: Mapping[str, Sequence[object]] = field(default_factory=dict)
    disambiguation: Mapping[str, Sequence[object]] = field(default_factory=dict)
    claims: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __call__(self, request: Request) -> str:
        sentence = request.user.rpartition("\n")[2].removeprefix("Sentence: ")
        if request.call.step == Step.CLAIM_SELECTION:
            given = self.selection.get(sentence, ())
            usual: object = {"outcome": "verifiable", "sentence": None}
        elif request.call.step == Step.CLAIM_DISAMBIGUATION:
            given = self.disambiguation.get(sentence, ())
            usual = {"outcome": "clear", "sentence": None}
        else:
            return words({"claims": list(self.claims.get(sentence, [sentence]))})
        answer = given[request.sample] if request.sample < len(given) else usual
        return answer if isinstance(answer, str) else words(answer)


def steps_over(asking: ScriptedAsking, completions: Samples = COMPLETIONS) -> ClaimSteps:
    """The stages of extraction over a model."""
    return ClaimSteps.of(StepModel(asking), PROMPTS, completions=completions)


def sub_claim_step(asking: ScriptedAsking) -> PromptedStep:
    """The decomposition of claims over a model."""
    return PromptedStep(PROMPTS[Step.SUB_CLAIM_DECOMPOSITION], asking)


def parts_of(table: Callable[[str], Sequence[str]]) -> Callable[[Request], str]:
    """Answers to decompositions of claims, from a function."""
    return lambda request: words({"claims": list(table(request.user.removeprefix("Claim: ")))})

"""Engine `decisions`: a decision model gives probabilities, and writes nothing.

Source: ours; docs/adr/0076-decision-models.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.engines import EndpointSettings, Engine, Parts

if TYPE_CHECKING:
    from veritrail_graph.verifier.judge import StepModel
    from veritrail_graph.verifier.models.port import Endpoint
    from veritrail_graph.verifier.ports import Judge

NAME = "decisions"


def _check(settings: EndpointSettings) -> None:
    from veritrail_graph.verifier.decisions.dialects import OPENAI_HOST

    if not settings.model:
        raise InputError(
            "Engine decisions needs a decision model, and none is named.",
            code="decision_model_needed",
        )
    host = urlsplit(settings.base_url or "").hostname
    if settings.api_key is None and host == OPENAI_HOST:
        raise InputError(
            f"Engine decisions needs a key for {OPENAI_HOST}, and none is set.",
            code="decision_key_needed",
        )


def _endpoint(settings: EndpointSettings) -> Endpoint:
    from veritrail_graph.verifier.decisions.endpoint import DecisionEndpoint

    _check(settings)
    return DecisionEndpoint(
        settings.base_url or "", settings.api_key, attempt_timeout=settings.attempt_timeout
    )


def _judge(parts: Parts) -> Judge:
    from veritrail_graph.verifier.cascade import SURE_PROBABILITY, CascadeVerdict
    from veritrail_graph.verifier.decisions.steps import (
        Deciding,
        DecisionSelection,
        DecisionStep,
        DecisionsTogether,
        DecisionVerdict,
        decision_prompts,
    )
    from veritrail_graph.verifier.judge import LanguageModelJudge
    from veritrail_graph.verifier.limits import MOST_SHARED
    from veritrail_graph.verifier.models.port import Step
    from veritrail_graph.verifier.sharing import Sharing
    from veritrail_graph.verifier.verdict import PromptVerdict, VerdictStep

    models, prompts = parts.models, parts.prompts
    if models is None or prompts is None:
        raise ValueError(f"engine {NAME} needs models and prompts")
    how, questions = parts.deciding or Deciding(), decision_prompts()

    def step(name: Step, of: StepModel) -> DecisionStep:
        return DecisionStep(questions[name], of.model, temperature=None, how=how)

    # Questions do not see each other's answers, so claims that ask at a time go out together.
    among = Sharing(parts.share if parts.share > 1 else MOST_SHARED)
    selects = step(Step.EVIDENCE_SELECTION, models.selection)
    selection = DecisionSelection(
        step=selects, limits=parts.limits, together=DecisionsTogether(selects, among)
    )
    first = DecisionVerdict(
        step=step(Step.VERDICT, models.verdict),
        selection=selection,
        split=parts.split,
        limits=parts.limits,
    )
    verdicts: VerdictStep = first
    if models.escalation is not None:
        asks = models.escalation.step(prompts[Step.VERDICT])
        second = PromptVerdict(asks, selection, parts.split, parts.limits)
        verdicts = CascadeVerdict(first, second, SURE_PROBABILITY)
    claims = None
    if parts.sub_claims and models.claims.model is not models.selection.model:
        claims = models.claims.step(prompts[Step.SUB_CLAIM_DECOMPOSITION])
    return LanguageModelJudge(NAME, claims, selection, verdicts)


ENGINE = Engine(
    NAME,
    "a decision model, which gives probabilities and writes nothing",
    _judge,
    _endpoint,
    check=_check,
    decides=True,
)

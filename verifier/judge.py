"""The judge of the paper: a language model selects evidence, and gives verdicts on it.

Evidence may come from one engine, and verdicts from another.

Source: VeriTrail 3.1.1 to 3.1.3; G (the verdict step can be replaced with any verifier that
assesses a claim's faithfulness based on evidence).
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from veritrail_graph.graph.model import Claim
from veritrail_graph.graph.model.trail import SHARED
from veritrail_graph.verifier.cascade import CascadeVerdict
from veritrail_graph.verifier.claims.steps import decompose
from veritrail_graph.verifier.evidence import EvidenceStep
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.port import Meter, ModelPort, Step
from veritrail_graph.verifier.part_answers import unaddressed
from veritrail_graph.verifier.ports import (
    Found,
    Judge,
    Judgement,
    ReadNode,
    Selection,
    SharingJudge,
    Split,
)
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import Prompt, Prompts, shared_verdict_of
from veritrail_graph.verifier.shared_prompts import SharedSelection, SharedVerdict
from veritrail_graph.verifier.sharing import Sharing, WaitingRounds
from veritrail_graph.verifier.verdict import PromptVerdict, VerdictStep


@dataclass(frozen=True, slots=True)
class StepModel:
    """A model as one of the steps uses it.

    Attributes:
        model: The model.
        temperature: Of a single answer; None: the endpoint's own.
        structured: Whether the endpoint gets a JSON Schema of the answer.
        effort: How much it may reason; None: as goes with the temperature.
    """

    model: ModelPort
    temperature: float | None = 0.0
    structured: bool = False
    effort: str | None = None

    def step(
        self,
        prompt: Prompt,
        samples: Samples = Samples(),
        schema: Mapping[str, Any] | None = None,
    ) -> PromptedStep:
        """Return a step that asks it.

        Args:
            prompt: The instructions.
            samples: How many answers are drawn.
            schema: The JSON Schema of an answer; None: that of the step of verification.
        """
        return PromptedStep(
            prompt, self.model, samples, self.temperature, self.structured, schema, self.effort
        )


@dataclass(frozen=True, slots=True)
class StepModels:
    """The models of the steps; one model may serve all of them.

    Attributes:
        claims: Extracts claims and takes them apart.
        selection: Selects evidence.
        verdict: Gives verdicts.
        escalation: Gives those of which the one before is not sure; None: there is none.
    """

    claims: StepModel
    selection: StepModel
    verdict: StepModel
    escalation: StepModel | None = None


@dataclass(frozen=True, slots=True)
class LanguageModelJudge:
    """A `Judge` that asks language models.

    Attributes:
        name: The engine's name.
        claims: Takes claims apart; None: they stay whole.
        selection: Selects evidence.
        verdicts: Gives verdicts: a prompt, or a scorer in its place.
    """

    name: str
    claims: PromptedStep | None
    selection: EvidenceStep
    verdicts: VerdictStep

    @classmethod
    def of(
        cls,
        name: str,
        models: StepModels,
        prompts: Prompts,
        split: Split,
        *,
        limits: Limits = Limits(),
        samples: Samples = Samples(),
        verdicts: VerdictStep | None = None,
        sub_claims: bool = True,
        share: int = 1,
        rounds: WaitingRounds | None = None,
    ) -> LanguageModelJudge:
        """A judge from its models and prompts.

        Args:
            name: The engine's name.
            models: The models of the steps.
            prompts: The prompts of all steps.
            split: Splits summaries into sentences.
            limits: How much goes into a prompt.
            samples: How many answers are drawn.
            verdicts: Takes the place of the verdict prompt; None: the prompt gives verdicts.
            sub_claims: Whether claims are taken apart.
            share: Claims that one prompt asks about, at most.
            rounds: Where calls are made in batches, who waits for them.
        """

        def step(name: Step, of: StepModel, samples: Samples = samples) -> PromptedStep:
            return of.step(prompts[name], samples)

        selection = EvidenceStep(step(Step.EVIDENCE_SELECTION, models.selection), limits)
        # What is selected again is an aid to fit a prompt: one answer, not samples of it, and
        # about one claim, because no other has the same evidence.
        again = replace(selection, step=replace(selection.step, samples=Samples()))
        among = Sharing(share, rounds) if share > 1 else None
        if among is not None:
            together = step(Step.EVIDENCE_SELECTION_SHARED, models.selection)
            selection = replace(selection, sharing=SharedSelection(together, among))
            name = f"{name}+{SHARED}"

        def prompt_verdict(of: StepModel) -> PromptVerdict:
            sharing = None
            if among is not None and shared_verdict_of(prompts) is not None:
                sharing = SharedVerdict(step(Step.VERDICT_SHARED, of), among)
            return PromptVerdict(step(Step.VERDICT, of), again, split, limits, sharing)

        if verdicts is None:
            first = prompt_verdict(models.verdict)
            verdicts = first
            if models.escalation is not None:
                verdicts = CascadeVerdict(first, prompt_verdict(models.escalation))
        decomposition = step(Step.SUB_CLAIM_DECOMPOSITION, models.claims, Samples())
        return cls(name, decomposition if sub_claims else None, selection, verdicts)

    @property
    def prompted(self) -> tuple[PromptedStep, ...]:
        """The steps that ask by a prompt."""
        given: list[PromptVerdict] = []
        if isinstance(self.verdicts, PromptVerdict):
            given = [self.verdicts]
        elif isinstance(self.verdicts, CascadeVerdict):
            given = [self.verdicts.first, self.verdicts.second]
        steps = (self.claims, *_with_shared(self.selection))
        verdicts = (step for one in given for step in _with_shared(one))
        return tuple(step for step in (*steps, *verdicts) if step is not None)

    @property
    def sharing(self) -> Sharing | None:
        """Gathers claims that share a prompt; None: one claim a prompt."""
        return self.selection.sharing.among if self.selection.sharing is not None else None

    @property
    def model(self) -> str:
        """The model that gives verdicts, and others where they differ."""
        names = [
            self.selection.step.model.model,
            str(self.verdicts.settings.get("model") or self.verdicts.settings.get("scorer")),
        ]
        if isinstance(self.verdicts, CascadeVerdict):
            names.append(self.verdicts.second.step.model.model)
        return " + ".join(dict.fromkeys(names))

    @property
    def by_part(self) -> bool:
        """Return whether verdicts are given part by part."""
        first = _first(self.verdicts)
        return isinstance(first, PromptVerdict) and first.by_part

    @property
    def settles(self) -> bool:
        """Return whether a selection may settle a verdict, so that it is not asked for."""
        first = _first(self.verdicts)
        by_part = self.selection.step.prompt.asks_by_part
        return by_part and isinstance(first, PromptVerdict) and first.takes_settled

    @property
    def indicative(self) -> bool:
        """False: a model judges."""
        return False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Models, prompts, limits and samples of every step."""
        steps = {
            "sub_claim_decomposition": self.claims.settings if self.claims else None,
            "evidence_selection": self.selection.step.settings,
            "verdict": dict(self.verdicts.settings),
        }
        shared = self.selection.sharing
        if shared is not None:
            claims = {"claims": shared.among.most}
            steps["evidence_selection_shared"] = {**shared.step.settings, **claims}
            for name, one in _shared_verdicts(self.verdicts):
                steps[name] = {**one.settings, **claims}
        return {
            "steps": steps,
            "limits": asdict(self.selection.limits),
            "samples": self.selection.step.samples.settings,
        }

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """Those that the claim brings, else those that the model finds.

        Raises:
            VeriTrailError: No answer could be had.
        """
        if claim.sub_claims or self.claims is None:
            return claim.sub_claims
        return await decompose(claim.text, self.claims, meter)

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """Select the sentences that strongly imply that the claim is true or false."""
        prompts = self.selection.prompts_of(claim, nodes)
        found = await self.selection.select(claim, prompts, meter)
        if found.evidence or not (self.selection.step.prompt.asks_by_part and self.by_part):
            return found
        return replace(found, unaddressed=unaddressed(claim.sub_claims))

    def judge(self, claim: Claim, found: Found, meter: Meter) -> Coroutine[Any, Any, Judgement]:
        """Give a verdict on what was found."""
        return self.verdicts.judge(claim, found, meter)


def _first(verdicts: VerdictStep) -> VerdictStep:
    """Return who is asked for a verdict first."""
    return verdicts.first if isinstance(verdicts, CascadeVerdict) else verdicts


def _with_shared(one: EvidenceStep | PromptVerdict) -> tuple[PromptedStep | None, ...]:
    return one.step, one.sharing.step if one.sharing is not None else None


def _shared_verdicts(verdicts: VerdictStep) -> list[tuple[str, PromptedStep]]:
    """The steps that give verdicts on several claims, as the settings of a trail name them."""
    first = _first(verdicts)
    if not isinstance(first, PromptVerdict) or first.sharing is None:
        return []
    found = [("verdict_shared", first.sharing.step)]
    if isinstance(verdicts, CascadeVerdict) and verdicts.second.sharing is not None:
        found.append(("verdict_shared_escalated", verdicts.second.sharing.step))
    return found


@dataclass(frozen=True, slots=True)
class SplitJudge:
    """A `Judge` of two.

    Attributes:
        evidence: Takes claims apart and selects evidence.
        verdicts: Gives verdicts.
    """

    evidence: Judge
    verdicts: Judge

    @property
    def name(self) -> str:
        """Both engines, such as `openai+nli`: the last one gave the verdicts."""
        return f"{self.evidence.name}+{self.verdicts.name}"

    @property
    def model(self) -> str | None:
        """The models of both, where they have any."""
        names = [one.model for one in (self.evidence, self.verdicts) if one.model]
        return " + ".join(dict.fromkeys(names)) or None

    @property
    def indicative(self) -> bool:
        """Return whether any judge compares words only; then a lack of evidence is a verdict."""
        return self.evidence.indicative or self.verdicts.indicative

    @property
    def sharing(self) -> Sharing | None:
        """Gathers claims that share a prompt, where that is done."""
        return self.evidence.sharing if isinstance(self.evidence, SharingJudge) else None

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of both."""
        return {
            "evidence": {"engine": self.evidence.name, **self.evidence.settings},
            "verdict": {"engine": self.verdicts.name, **self.verdicts.settings},
        }

    def sub_claims(self, claim: Claim, meter: Meter) -> Coroutine[Any, Any, tuple[str, ...]]:
        """Those that the engine of evidence finds."""
        return self.evidence.sub_claims(claim, meter)

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """Select evidence by the engine of evidence."""
        found = await self.evidence.select_evidence(claim, nodes, meter)
        by_part = isinstance(self.verdicts, LanguageModelJudge) and self.verdicts.by_part
        return found if by_part or not found.unaddressed else replace(found, unaddressed=())

    def judge(self, claim: Claim, found: Found, meter: Meter) -> Coroutine[Any, Any, Judgement]:
        """Give a verdict by the engine of verdicts."""
        return self.verdicts.judge(claim, replace(found, settled=None), meter)

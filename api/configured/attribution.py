"""Make attribution ready: an engine with its models and prompts.

What decides the outcome is written down as settings, so that a job goes on as it began.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.attribution import JudgeName, Recheck, SourceMode
from veritrail_graph.graph.model.canonical import canonical

if TYPE_CHECKING:
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.configured.models import ModelOptions, OpenModels
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.requests.attribute import AttributeParameters
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.model import Process
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.verifier.attribution.faithfulness import FaithfulnessJudge
    from veritrail_graph.verifier.attribution.recheck import JudgeRechecker
    from veritrail_graph.verifier.attribution.run import AttributionSteps
    from veritrail_graph.verifier.claims.steps import ClaimSteps
    from veritrail_graph.verifier.engines import Engine
    from veritrail_graph.verifier.judge import StepModels
    from veritrail_graph.verifier.nodes import SharedNodes
    from veritrail_graph.verifier.ports import Judge
    from veritrail_graph.verifier.prompted import PromptedStep
    from veritrail_graph.verifier.prompts import Prompts


@dataclass(frozen=True, slots=True)
class AttributeOptions:
    """Options of an attribution: the request, and options that no request can set.

    Attributes:
        request: The request.
        prompts: A folder of the user's own prompts.
        concurrency: The most calls in flight; None: as the settings say.
        walk_models: The models of a walk that is explained; None: those of the request.
        resume: A run that goes on with what it has not stored; None: a new run.
    """

    request: AttributeParameters
    prompts: Path | str | None = None
    concurrency: int | None = None
    walk_models: ModelOptions | None = None
    resume: str | None = None

    @property
    def models(self) -> ModelOptions:
        """The models that are asked, and what they may cost."""
        from veritrail_graph.api.configured.models import ModelOptions

        return self.walk_models or ModelOptions.asked(self.request, self.concurrency)

    @property
    def checker(self) -> JudgeName | None:
        """The checker that judges; None: none does.

        Raises:
            InputError: It cannot be asked in this mode, or the threshold is none of its scores.
        """
        from veritrail_graph.api.configured.faithfulness import check_checker

        asked = self.request
        if asked.judge_with is not JudgeName.MODEL:
            check_checker(asked.judge_with, asked.mode, asked.judge_threshold)
            return asked.judge_with
        if asked.judge_threshold is not None:
            raise InputError(
                "A threshold is of a judge with scores, and none is named.", code="judge_threshold"
            )
        return None


def explaining(how: JudgeOptions) -> AttributeOptions:
    """Say how sentences are attributed that carried claims: by the engine and models of the walk.

    Args:
        how: How the claims were judged.
    """
    from veritrail_graph.api.requests.attribute import AttributeParameters

    request = AttributeParameters.checked({"engine": how.engine})
    return AttributeOptions(request, how.prompts, walk_models=how.models)


@dataclass(frozen=True, slots=True)
class ConfiguredAttribution:
    """An attribution that is ready to run: its steps, engine and settings.

    Attributes:
        steps: What is done with a sentence.
        engine: The name of the engine.
        splitter: Splits texts into sentences.
        settings: What decides its answers, as canonical JSON.
        warnings: What a person should know.
        walk: What verifies corrections again by walks, where that is asked for.
    """

    steps: AttributionSteps
    engine: str
    splitter: SentenceSplitter
    settings: str
    warnings: Sequence[str] = ()
    walk: WalkParts | None = None

    @property
    def judge(self) -> str | None:
        """Return what the run calls its judge; None: it has none."""
        from veritrail_graph.api.configured.faithfulness import judge_name

        return judge_name(self.steps.judge)

    @property
    def corrects(self) -> bool:
        """Return whether it proposes wordings."""
        return self.steps.corrector is not None

    def steps_for(self, process: Process, nodes: SharedNodes) -> AttributionSteps:
        """The steps, with what verifies corrections of this process again.

        Args:
            process: The process.
            nodes: Where its nodes are read from.
        """
        from veritrail_graph.verifier.attribution.recheck import WalkRechecker

        if self.walk is None:
            return self.steps
        parts = self.walk
        rechecker = WalkRechecker(
            process.process_id,
            parts.judge,
            parts.claims,
            self.splitter.split,
            nodes,
            process.question,
        )
        return replace(self.steps, rechecker=rechecker)


@dataclass(frozen=True, slots=True)
class WalkParts:
    """The judge and the claim stages that verify a correction.

    Attributes:
        judge: Selects evidence and gives verdicts.
        claims: The stages that extract the claims.
    """

    judge: Judge
    claims: ClaimSteps


@asynccontextmanager
async def configure_attribution(
    settings: Settings, options: AttributeOptions, shared: Shared | None = None
) -> AsyncIterator[ConfiguredAttribution]:
    """Make what attributes sentences; its models are closed in the end.

    Args:
        settings: The settings.
        options: How sentences are attributed.
        shared: What its models share with those of others; None: nothing.

    Raises:
        InputError: The engine, a model, a prompt or a setting is wrong.
    """
    from veritrail_graph.api.configured.entailment import open_entailment
    from veritrail_graph.api.configured.faithfulness import open_checker
    from veritrail_graph.api.configured.models import open_models
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.verifier.attribution.lexical import LexicalAttributor
    from veritrail_graph.verifier.attribution.run import AttributionSteps
    from veritrail_graph.verifier.attribution.scored import EntailmentAttributor
    from veritrail_graph.verifier.engines import engine_named
    from veritrail_graph.verifier.models.retrying import Spending
    from veritrail_graph.verifier.prompts import load_prompts

    asked, chosen = options.request, options.models
    check_parameters(asked)
    engine = engine_named(settings.engine_name(asked.engine, chosen.model))
    checker = options.checker
    if not engine.writes:
        _refuse_without_model(engine.name, asked, chosen)
    splitter = SentenceSplitter.for_language(settings.language)
    shared = shared or Shared(Spending(chosen.budget, chosen.max_calls))
    warnings: Sequence[str] = ()
    walk: WalkParts | None = None
    async with AsyncExitStack() as stack:
        judge: FaithfulnessJudge | None = None
        if checker is not None:
            judge = await open_checker(
                settings, checker, asked.judge_threshold, chosen.use_cache, shared, stack
            )
        if engine.writes:
            prompts = load_prompts(options.prompts)
            models = await stack.enter_async_context(open_models(settings, engine, chosen, shared))
            steps = model_steps(engine.name, asked, prompts, models.steps, judge)
            warnings = models.warnings
            if asked.recheck is Recheck.WALK:
                walk = _walk_parts(engine, prompts, models, splitter)
        elif engine.needs_entailment:
            parts = await open_entailment(settings, chosen.use_cache, shared, stack)
            steps = AttributionSteps(EntailmentAttributor(parts.model), judge, mode=asked.mode)
        elif engine.name == LexicalAttributor().name:
            steps = AttributionSteps(LexicalAttributor(), judge, mode=asked.mode)
        else:
            raise InputError(
                f"Engine {engine.name} does not attribute sentences; take one that asks a "
                "model, nli or lexical.",
                code="engine_without_attribution",
            )
        steps = replace(steps, split=splitter.split)
        decides = _settings(settings, asked, engine.name, steps)
        yield ConfiguredAttribution(steps, engine.name, splitter, decides, warnings, walk)


def _walk_parts(
    engine: Engine, prompts: Prompts, models: OpenModels, splitter: SentenceSplitter
) -> WalkParts:
    from veritrail_graph.verifier.claims.steps import ClaimSteps
    from veritrail_graph.verifier.engines import Parts
    from veritrail_graph.verifier.limits import Limits, Samples

    parts = Parts(splitter.split, Limits(), Samples(), models.steps, prompts, True, None)
    return WalkParts(engine.judge(parts), ClaimSteps.of(models.steps.claims, prompts))


def model_steps(
    engine: str,
    asked: AttributeParameters,
    prompts: Prompts,
    models: StepModels,
    judge: FaithfulnessJudge | None,
) -> AttributionSteps:
    """Return what language models do with a sentence.

    Args:
        engine: The name of the engine.
        asked: How sentences are attributed.
        prompts: The instructions.
        models: The models of the steps.
        judge: The checker that judges; None: there is none.
    """
    from veritrail_graph.api.configured.judge import prompted_step
    from veritrail_graph.verifier.attribution.prompted import PromptedAttributor
    from veritrail_graph.verifier.attribution.run import AttributionSteps
    from veritrail_graph.verifier.models.port import Step

    def step(name: Step) -> PromptedStep:
        finds = name in (Step.ATTRIBUTION, Step.PROPOSITIONS)
        of = models.selection if finds else models.verdict
        return prompted_step(prompts[name], of)

    return AttributionSteps(
        PromptedAttributor(engine, step(Step.ATTRIBUTION)),
        step(Step.FAITHFULNESS) if asked.judges_with_model else judge,
        step(Step.CORRECTION) if asked.correct else None,
        asked.mode,
        tuple(SourceMode) if asked.every_mode else (),
        _judge_again(judge or step(Step.FAITHFULNESS), asked),
        step(Step.PROPOSITIONS) if asked.propositions else None,
    )


def _judge_again(judge: FaithfulnessJudge, asked: AttributeParameters) -> JudgeRechecker | None:
    """The judge of corrections, where one is asked for although it judges no sentence."""
    from veritrail_graph.verifier.attribution.recheck import JudgeRechecker

    return JudgeRechecker(judge, asked.mode) if asked.recheck is Recheck.JUDGE else None


def _settings(
    settings: Settings, asked: AttributeParameters, engine: str, steps: AttributionSteps
) -> str:
    own = dict(steps.attributor.settings)
    prompted = {
        "faithfulness": steps.judge,
        "correction": steps.corrector,
        "propositions": steps.propositions,
    }
    of_steps = {name: step.settings for name, step in prompted.items() if step is not None}
    if "attribution" in own:  # it asks a language model
        of_steps["attribution"] = own.pop("attribution")
    from veritrail_graph.graph.sentences import RULES

    decides = {
        "engine": engine,
        "language": settings.language,
        "sentences": RULES,
        "against": asked.against.value,
        "mode": asked.mode.value,
        "steps": of_steps,
        **({"every_mode": True} if asked.every_mode else {}),
        **({"recheck": asked.recheck.value} if asked.recheck is not None else {}),
        **own,
    }
    return canonical(decides).decode()


def check_parameters(asked: AttributeParameters) -> None:
    """See that parameters go together: what is asked of judgements and corrections has some.

    Raises:
        InputError: Sentences are chosen in two ways, nothing is judged, or nothing is corrected.
    """
    if asked.node_ids and asked.is_of_claims:
        raise InputError(
            "Sentences are chosen by their nodes or by the claims that they carried, not by both.",
            code="nodes_and_claims",
        )
    if asked.correct:
        return
    if asked.mode is not SourceMode.ATTRIBUTION and not asked.judges:
        raise InputError(
            "Nothing is judged or corrected, so the mode of what a model sees says nothing.",
            code="nothing_to_judge",
            mode=asked.mode,
        )
    for is_asked, name in ((asked.recheck is not None, "recheck"), (asked.every_mode, "modes")):
        if is_asked:
            raise InputError(
                "Nothing is corrected, so no correction can be verified again or ranked.",
                code="nothing_to_recheck",
                option=name,
            )


def _refuse_without_model(engine: str, asked: AttributeParameters, models: ModelOptions) -> None:
    from veritrail_graph.api.configured.judge import refuse_model

    if asked.propositions:
        raise InputError(
            f"Splitting sentences into propositions needs a language model, and engine {engine} "
            "asks none; it attributes whole sentences.",
            code="extraction_needs_model",
            engine=engine,
        )
    if asked.judges_with_model or asked.correct:
        raise InputError(
            f"Judging and correcting sentences need a language model, and engine {engine} asks "
            "none.",
            code="extraction_needs_model",
            engine=engine,
        )
    refuse_model(engine, models)

"""Make the verification of turns ready: an engine, its models and prompts, and the ablations.

What decides the outcome is written down as settings, so that a run goes on as it began.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.canonical import canonical_text

if TYPE_CHECKING:
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.requests.dialogue import DialogueParameters
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.verifier.dialogue.port import DialogueJudge
    from veritrail_graph.verifier.dialogue.prompted import PromptedDialogueJudge
    from veritrail_graph.verifier.dialogue.vista import Ablations
    from veritrail_graph.verifier.engines import Engine
    from veritrail_graph.verifier.judge import StepModel, StepModels
    from veritrail_graph.verifier.prompted import PromptedStep
    from veritrail_graph.verifier.prompts import Prompts


@dataclass(frozen=True, slots=True)
class DialogueOptions:
    """Options of the verification of turns: the request, and options that no request can set.

    Attributes:
        request: The request.
        prompts: A folder of the user's own prompts.
        concurrency: The most calls in flight; None: as the settings say.
        resume: A run that goes on behind the last turn that it stored; None: a new run.
        reuses: Whether the latest run of the same settings goes on, if there is one.
    """

    request: DialogueParameters
    prompts: Path | str | None = None
    concurrency: int | None = None
    resume: str | None = None
    reuses: bool = False

    @property
    def models(self) -> ModelOptions:
        """The models that are asked, and what they may cost."""
        from veritrail_graph.api.configured.models import ModelOptions

        return ModelOptions.asked(self.request, self.concurrency)


@dataclass(frozen=True, slots=True)
class ConfiguredDialogue:
    """A verification of turns that is ready to run: its judge and its settings.

    Attributes:
        judge: Answers the questions of the stages.
        ablations: What of the method is used.
        splitter: Splits texts into sentences.
        warnings: What a person should know.
    """

    judge: DialogueJudge
    ablations: Ablations
    splitter: SentenceSplitter
    warnings: Sequence[str] = ()

    @property
    def settings(self) -> str:
        """Return what decides the outcome, as canonical JSON."""
        judge = self.judge
        return canonical_text(
            {"engine": judge.name, **self.ablations.settings, "judge": dict(judge.settings)}
        )


def ablations_of(asked: DialogueParameters) -> Ablations:
    """Return what of the method is used."""
    from veritrail_graph.verifier.dialogue.vista import MOST_FACTS, Ablations

    return Ablations(
        asked.background,
        asked.history,
        asked.categories,
        asked.checks_turns,
        MOST_FACTS if asked.facts is None else asked.facts,
    )


@asynccontextmanager
async def configure_dialogue(
    settings: Settings, options: DialogueOptions, shared: Shared | None = None
) -> AsyncIterator[ConfiguredDialogue]:
    """Make what verifies turns; its models are closed in the end.

    Args:
        settings: The settings.
        options: How turns are verified.
        shared: What its models share with those of others; None: nothing.

    Raises:
        InputError: The engine, a model, a prompt or a setting is wrong.
    """
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.verifier.dialogue.lexical import LexicalDialogueJudge
    from veritrail_graph.verifier.engines import engine_named

    asked = options.request
    engine = engine_named(settings.engine_name(asked.engine, asked.model))
    splitter = SentenceSplitter.for_language(settings.language)
    ablations = ablations_of(asked)
    if engine.writes:
        async with AsyncExitStack() as stack:
            judge, warnings = await _prompted(settings, engine, options, shared, stack)
            yield ConfiguredDialogue(judge, ablations, splitter, warnings)
        return
    if engine.name != "lexical":
        raise InputError(
            f"Engine {engine.name} does not verify dialogues; take one that asks a model, or "
            "lexical.",
            code="engine_without_dialogues",
            engine=engine.name,
        )
    _refuse_models(engine.name, options)
    yield ConfiguredDialogue(LexicalDialogueJudge(splitter.split), ablations, splitter)


async def _prompted(
    settings: Settings,
    engine: Engine,
    options: DialogueOptions,
    shared: Shared | None,
    stack: AsyncExitStack,
) -> tuple[DialogueJudge, list[str]]:
    from veritrail_graph.api.configured.models import open_models
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.verifier.models.retrying import Spending
    from veritrail_graph.verifier.prompts import load_prompts

    asked, chosen = options.request, options.models
    prompts = load_prompts(options.prompts)
    shared = shared or Shared(Spending(chosen.budget, chosen.max_calls))
    models = await stack.enter_async_context(open_models(settings, engine, chosen, shared))
    warnings = list(models.warnings)
    checking = models.steps.verdict
    if asked.turn_check_model is not None:
        other = replace(chosen, model=asked.turn_check_model, verdict_model=None)
        opened = await stack.enter_async_context(open_models(settings, engine, other, shared))
        checking = opened.steps.verdict
        warnings += [one for one in opened.warnings if one not in warnings]

    judge = dialogue_judge(
        engine.name, prompts, models.steps, asked, checking if asked.checks_turns else None
    )
    return judge, warnings


def dialogue_judge(
    engine: str,
    prompts: Prompts,
    models: StepModels,
    asked: DialogueParameters,
    checking: StepModel | None = None,
) -> PromptedDialogueJudge:
    """Return who answers the stages of VISTA with language models.

    Args:
        engine: The engine's name.
        prompts: The prompts of all steps.
        models: The models.
        asked: How turns are verified.
        checking: The model that checks turns as a whole; None: they are not checked.

    Raises:
        InputError: A context window is too small for the instructions.
    """
    from veritrail_graph.api.configured.judge import prompted_step
    from veritrail_graph.verifier.dialogue.prompted import MOST_TURNS, PromptedDialogueJudge
    from veritrail_graph.verifier.models.port import Step

    def step(name: Step, of: StepModel) -> PromptedStep:
        prompt = prompts[name].zero_shot if asked.zero_shot else prompts[name]
        return prompted_step(prompt, of)

    return PromptedDialogueJudge(
        engine,
        step(Step.DIALOGUE_EXTRACTION, models.claims),
        step(Step.DIALOGUE_VERIFICATION, models.verdict),
        step(Step.DIALOGUE_CATEGORISATION, models.verdict),
        None if checking is None else step(Step.DIALOGUE_TURN_CHECK, checking),
        MOST_TURNS if asked.history_turns is None else asked.history_turns,
    )


def _refuse_models(engine: str, options: DialogueOptions) -> None:
    """See that nothing is asked of models where the engine asks none.

    Raises:
        InputError: Something is.
    """
    from veritrail_graph.api.configured.judge import refuse_model

    if options.request.checks_turns:
        raise InputError(
            f"Checking turns as a whole needs a language model, and engine {engine} asks none.",
            code="extraction_needs_model",
            engine=engine,
        )
    refuse_model(engine, options.models)

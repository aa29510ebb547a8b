"""Make the verification of claims ready: an engine with its models, prompts and limits.

What decides the outcome of a verification is written down as its settings, so that the same
work is not done twice and a run can go on as it began.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.configured.models import ModelOptions, OpenModels, open_models
from veritrail_graph.graph.comparing import changed_settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.verifier.driver import DEFAULT_Q
from veritrail_graph.verifier.engines import Engine, Parts, engine_named
from veritrail_graph.verifier.judge import SplitJudge
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.prompts import Prompt, Prompts, load_prompts
from veritrail_graph.verifier.run import DEFAULT_CONCURRENCY

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.verifier.correction import Corrector
    from veritrail_graph.verifier.driver import Observer
    from veritrail_graph.verifier.judge import StepModel
    from veritrail_graph.verifier.ports import Judge
    from veritrail_graph.verifier.prompted import PromptedStep


LEAST_ROOM = 64
"""Tokens that the instructions have to leave for excerpts and claim."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Options of the judge that verifies claims.

    Attributes:
        engine: The engine of judgement.
        verdict_engine: Another engine that gives the verdicts; None: the same.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        limits: How much goes into a prompt.
        samples: How many answers are drawn.
        prompts: A folder of the user's own prompts.
        sub_claims: Whether a model takes claims apart.
        share: Claims that one prompt asks about, at most.
        models: The models and what they may cost.
        concurrency: Claims at a time of an engine without models.
        correct: Whether a wording is proposed for what is Not Fully Supported.
    """

    engine: str
    verdict_engine: str | None = None
    q: int = DEFAULT_Q
    limits: Limits = Limits()
    samples: Samples = Samples()
    prompts: Path | str | None = None
    sub_claims: bool = True
    share: int = 1
    models: ModelOptions = field(default_factory=ModelOptions)
    concurrency: int = DEFAULT_CONCURRENCY
    correct: bool = False

    @property
    def engines(self) -> tuple[Engine, ...]:
        """The engine, and the one that gives the verdicts where it is another.

        Raises:
            InputError: There is no such engine.
        """
        names = (self.engine, self.verdict_engine)
        return tuple(engine_named(name) for name in names if name is not None)

    @property
    def asks_models(self) -> bool:
        """Return whether one of the engines asks language models."""
        return any(engine.asks_models for engine in self.engines)

    @property
    def calls_models(self) -> bool:
        """Say whether one of the engines calls language models, so that it may cost something."""
        return any(engine.calls_models for engine in self.engines)

    @property
    def writes(self) -> bool:
        """Return whether one of the engines answers prompts in words."""
        return any(engine.writes for engine in self.engines)

    def models_of(self, engine: Engine) -> ModelOptions:
        """The model options of one of the engines.

        Beside a language model, a decision model is named by its setting, or by the option of its
        step; the option for all steps, and its price, are of the language model.
        """
        if len(self.engines) == 1 or not any(one.decides for one in self.engines):
            return self.models
        if engine.decides and self.writes:
            return replace(self.models, model=None, price=None)
        if engine.writes and engine is self.engines[0]:
            return replace(self.models, verdict_model=None)
        return replace(self.models, selection_model=None) if engine.writes else self.models

    @property
    def gives_recorded(self) -> bool:
        """Return whether one of the engines gives recorded answers."""
        return any(engine.recorded is not None for engine in self.engines)

    @property
    def engine_words(self) -> str:
        """The engines, such as `openai+nli`."""
        return "+".join(engine.name for engine in self.engines)


@dataclass(frozen=True, slots=True)
class ConfiguredJudge:
    """A judge, ready, with what it is made of.

    Attributes:
        judge: The judge.
        how: How it judges.
        prompts: Its prompts.
        splitter: Splits texts into sentences.
        models: Its models; None: it asks none.
        settings: What decides its verdicts, as canonical JSON.
        corrector: Proposes wordings of wrong claims; None: there is none.
    """

    judge: Judge
    how: JudgeOptions
    prompts: Prompts
    splitter: SentenceSplitter
    models: OpenModels | None
    settings: str
    corrector: Corrector | None = None

    @property
    def can_extract(self) -> bool:
        """Return whether one of its models can extract claims."""
        return self.models is not None and self.models.writes

    def watched(self, observer: Observer | None) -> Observer | None:
        """The observer of a run with this judge: it learns there which walks wait for others."""
        from veritrail_graph.verifier.driver import Observer
        from veritrail_graph.verifier.ports import SharingJudge

        judge = self.judge
        sharing = judge.sharing if isinstance(judge, SharingJudge) else None
        return observer if sharing is None else sharing.watched(observer or Observer())


@asynccontextmanager
async def configure_judge(
    settings: Settings, how: JudgeOptions, shared: Shared | None = None
) -> AsyncIterator[ConfiguredJudge]:
    """Make a judge and everything that it needs.

    Args:
        settings: The settings.
        how: How it judges.
        shared: What its models share with those of others; None: nothing.

    Raises:
        InputError: The engine, a model, a prompt or a setting is wrong.
    """
    from veritrail_graph.api.configured.decisions import deciding
    from veritrail_graph.api.configured.entailment import open_entailment
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.verifier.models.retrying import Spending

    engines = how.engines
    check_engines(engines, how)
    _check_worded(settings, how)
    prompts = load_prompts(how.prompts)
    splitter = SentenceSplitter.for_language(settings.language)
    shared = shared or Shared(Spending(how.models.budget, how.models.max_calls))
    async with AsyncExitStack() as stack:
        judges: list[Judge] = []
        opened: list[OpenModels] = []
        for engine in engines:
            models, entailment = None, None
            if engine.asks_models:
                models = await stack.enter_async_context(
                    open_models(
                        settings,
                        engine,
                        how.models_of(engine),
                        shared,
                        escalates=engine is engines[-1],
                    )
                )
                opened.append(models)
            if engine.needs_entailment:
                entailment = await open_entailment(settings, how.models.use_cache, shared, stack)
            steps = models.steps if models else None
            how_decided = deciding(settings) if engine.decides else None
            parts = Parts(
                splitter.split,
                how.limits,
                how.samples,
                steps,
                prompts,
                how.sub_claims,
                entailment,
                how.share if engine is engines[0] else 1,
                shared.rounds,
                how_decided,
            )
            judges.append(engine.judge(parts))
            _check_windows(judges[-1])
            _check_samples(judges[-1])
        judge = judges[0] if len(judges) == 1 else SplitJudge(*judges)
        models = _both(opened)
        corrector = None
        if how.correct:
            writer = models.writer(is_of_engine=how.writes) if models else None
            corrector = _corrector(prompts, writer, splitter)
        yield ConfiguredJudge(
            judge, how, prompts, splitter, models, _settings(settings, how, judge), corrector
        )


def _corrector(prompts: Prompts, writer: StepModel | None, splitter: SentenceSplitter) -> Corrector:
    from veritrail_graph.verifier.correction import Corrector
    from veritrail_graph.verifier.models.port import Step

    step = prompted_step(prompts[Step.CORRECTION], writer) if writer else None
    return Corrector(step, splitter.split)


def _both(opened: Sequence[OpenModels]) -> OpenModels | None:
    """The models of one engine, or of two: what is spent they share; that which writes is first."""
    if not opened:
        return None
    first, *others = sorted(opened, key=lambda one: not one.writes)
    for other in others:
        first.warnings.extend(one for one in other.warnings if one not in first.warnings)
    return replace(
        first,
        is_priced=all(one.is_priced for one in opened),
        concurrency=max(one.concurrency for one in opened),
        prices={name: price for one in opened for name, price in one.prices.items()},
    )


def _check_samples(judge: Judge) -> None:
    """See that models take the temperature that several samples are drawn at.

    Raises:
        InputError: One is known to take none.
    """
    from veritrail_graph.verifier.judge import LanguageModelJudge
    from veritrail_graph.verifier.models.port import NO_TEMPERATURE

    if not isinstance(judge, LanguageModelJudge):
        return
    for step in judge.prompted:
        call = step.call
        if step.needs_temperature and call.temperature is None:
            when = f" with the effort {call.effort}" if call.effort is not None else ""
            raise InputError(
                f"{call.model} takes no temperature{when}, so several samples of an answer would "
                "not be drawn as they are meant: leave the samples out, or name another model.",
                code=NO_TEMPERATURE,
                model=call.model,
            )


def _check_windows(judge: Judge) -> None:
    """See that the instructions leave space for something to judge.

    Raises:
        InputError: They do not; the message names the model and its window.
    """
    from veritrail_graph.verifier.judge import LanguageModelJudge

    if not isinstance(judge, LanguageModelJudge):
        return
    for step in judge.prompted:
        check_window(step)


def check_window(step: PromptedStep) -> None:
    """See that the instructions of a step leave space for something to ask about.

    Raises:
        InputError: They do not; the message names the model and its window.
    """
    if step.free < LEAST_ROOM:
        raise InputError(
            f"The context window of {step.model.model} is too small: beside the answer and the "
            f"instructions of {step.prompt.step} it leaves {max(step.free, 0):,} tokens. Set "
            "VERITRAIL_CONTEXT_TOKENS to the model's window, or take a model with a larger one."
        )


def prompted_step(prompt: Prompt, of: StepModel) -> PromptedStep:
    """A step that asks a model, with space for something to ask about.

    Raises:
        InputError: The context window is too small for the instructions.
    """
    made = of.step(prompt)
    check_window(made)
    return made


def refuse_model(engine: str, chosen: ModelOptions) -> None:
    """See that no model is named where the engine asks none.

    Raises:
        InputError: One is.
    """
    if chosen.model is not None:
        raise InputError(
            f"A model is named, but engine {engine} asks none; leave one of them out.",
            code="model_without_engine",
        )


def check_engines(engines: Sequence[Engine], how: JudgeOptions) -> None:
    """See that nothing is asked of engines that only a language model can do.

    Raises:
        InputError: Samples or a model are named, and no engine asks one.
    """
    if how.share > 1 and not engines[0].asks_models:
        raise InputError(
            f"Claims share prompts only where a model selects evidence; {engines[0].name} asks "
            "none.",
            code="share_needs_model",
            engine=engines[0].name,
        )
    if how.models.escalate_to is not None and not engines[-1].asks_models:
        raise InputError(
            f"Verdicts are escalated from one model to another; {engines[-1].name} asks none.",
            code="escalation_needs_model",
            engine=engines[-1].name,
        )
    if how.samples.is_soft and not how.writes and how.asks_models:
        raise InputError(
            f"{how.engine_words} gives probabilities by itself, so several samples of an answer "
            "would all be the same.",
            code="samples_need_model",
        )
    if any(engine.asks_models for engine in engines):
        return
    engine = engines[0]
    if how.models.in_batches:
        raise InputError(
            f"Batches need an engine that asks a model; {engine.name} asks none.",
            code="batch_needs_model",
            engine=engine.name,
        )
    if how.samples.is_soft:
        raise InputError(
            f"Several samples need an engine that asks a model; {engine.name} asks none.",
            code="samples_need_model",
        )
    refuse_model(engine.name, how.models)


def _check_worded(settings: Settings, how: JudgeOptions) -> None:
    """See that neither prompts nor an effort are named where no model answers in words.

    Raises:
        InputError: One is.
    """
    beside = how.asks_models and (
        how.models.claims_model
        or settings.claims.model
        or how.models.escalate_to
        or settings.escalation.model
    )
    if how.writes or beside:  # a language model takes claims apart, or judges in the end
        return
    for what, given, code in (
        ("Prompts are", how.prompts, "prompts_need_model"),
        ("An effort is", how.models.effort, "effort_needs_model"),
    ):
        if given is not None:
            raise InputError(
                f"{what} of a model that answers in words, and engine {how.engine_words} asks "
                "none; leave one of them out.",
                code=code,
            )


def _settings(settings: Settings, how: JudgeOptions, judge: Judge) -> str:
    from veritrail_graph.graph.sentences import RULES

    decides = {
        "engine": how.engine_words,
        "q": how.q,
        "language": settings.language,
        "sentences": RULES,
        **judge.settings,
        **({"correct": True} if how.correct else {}),
    }
    return canonical(decides).decode()


def judge_options(
    settings: Settings,
    request: VerifyRequest,
    *,
    prompts: Path | str | None = None,
    concurrency: int | None = None,
) -> JudgeOptions:
    """The options of the judge that a request asks for.

    Args:
        settings: The settings; they name the engine where the request does not.
        request: The request.
        prompts: A folder of the user's own prompts.
        concurrency: Concurrent calls, or claims at a time of an engine without models.

    Raises:
        InputError: Its values contradict each other.
    """
    threshold = request.threshold or request.samples // 2 + 1
    if threshold > request.samples:
        raise InputError(f"threshold {threshold} cannot be met by {request.samples} sample(s)")
    engine = settings.engine_name(request.engine, request.named_model)
    return JudgeOptions(
        engine=engine,
        verdict_engine=settings.verdict_engine_name(engine, request.verdict_engine),
        q=request.q,
        limits=Limits(
            request.max_root_sentences,
            request.max_sentences,
            request.verdict_sentences,
            request.max_reruns,
            request.verdict_root_sentences,
        ),
        samples=Samples(request.samples, threshold),
        prompts=prompts,
        sub_claims=request.sub_claims,
        share=request.share,
        models=replace(
            ModelOptions.asked(request, concurrency),
            in_batches=request.mode == "batch",
            finishes_live=request.batch_finish == "live",
            batch_price_factor=request.batch_price_factor,
        ),
        concurrency=concurrency or DEFAULT_CONCURRENCY,
        correct=request.correct,
    )


def differing(stored: str | None, now: str) -> list[str]:
    """The settings that are not as they were, each with what it was and what it is."""
    changed = sorted(changed_settings(stored, now).items(), key=lambda setting: setting[0])
    return [f"{name} was {both.a!r} and is {both.b!r}" for name, both in changed]

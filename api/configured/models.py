"""The models of a run: made from settings and options, shared by all its claims, closed after it.

Nothing here makes a call; a key alone in the environment never does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from veritrail_graph.api.configured.decisions import decision_settings
from veritrail_graph.api.configured.efforts import efforts_of
from veritrail_graph.api.configured.recorded import recorded_settings, refuse_choice
from veritrail_graph.api.settings import ModelSettings, Settings, Use, model_settings
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.engines import engine_named

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.verifier.engines import Engine
    from veritrail_graph.verifier.judge import StepModel, StepModels
    from veritrail_graph.verifier.models.batch_endpoint import BatchOptions
    from veritrail_graph.verifier.models.batch_port import BatchingEndpoint
    from veritrail_graph.verifier.models.batching import Rounds
    from veritrail_graph.verifier.models.cache import AnswerCache
    from veritrail_graph.verifier.models.json_endpoint import JsonEndpoint
    from veritrail_graph.verifier.models.language_model import LanguageModel, Warm
    from veritrail_graph.verifier.models.limits import Limiter
    from veritrail_graph.verifier.models.port import ModelPort
    from veritrail_graph.verifier.models.prices import Price
    from veritrail_graph.verifier.models.recorded_answers import AnswerRecorder
    from veritrail_graph.verifier.models.retrying import Patience, Spending


MOST_IN_BATCHES = 1_000_000
"""Calls of a run that may wait for rounds at a time: there is no reason to hold one back."""


class AsksModels(Protocol):
    """The model fields of every request; a request may also name models of certain steps."""

    @property
    def model(self) -> str | None: ...  # noqa: D102
    @property
    def price(self) -> str | None: ...  # noqa: D102
    @property
    def budget_usd(self) -> float | None: ...  # noqa: D102
    @property
    def max_calls(self) -> int | None: ...  # noqa: D102
    @property
    def structured(self) -> bool: ...  # noqa: D102
    @property
    def effort(self) -> str | None: ...  # noqa: D102
    @property
    def use_cache(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The model options of a command or a request; None: the settings decide.

    Attributes:
        model: The model of all steps that have none of their own.
        claims_model: The model that extracts claims and takes them apart.
        selection_model: The model that selects evidence.
        verdict_model: The model that gives verdicts.
        escalate_to: The model that gives those of which the first one is not sure.
        concurrency: The most calls in flight.
        price: USD per million tokens, as INPUT,OUTPUT[,CACHED].
        budget: USD that the run may cost.
        max_calls: Calls that the run may make.
        structured: Whether endpoints get a schema of the answers.
        effort: How much models may reason: for all steps, or step by step as `verdict=high`.
        use_cache: Whether answers come from the cache of answers, and go into it.
        in_batches: Whether calls are made in batches.
        finishes_live: Whether what had no valid answer in a batch is asked live.
        batch_price_factor: What part of the price a call in a batch costs.
    """

    model: str | None = None
    claims_model: str | None = None
    selection_model: str | None = None
    verdict_model: str | None = None
    escalate_to: str | None = None
    concurrency: int | None = None
    price: str | None = None
    budget: float | None = None
    max_calls: int | None = None
    structured: bool = False
    effort: str | None = None
    use_cache: bool = True
    in_batches: bool = False
    finishes_live: bool = False
    batch_price_factor: float | None = None

    @classmethod
    def asked(cls, request: AsksModels, concurrency: int | None = None) -> ModelOptions:
        """Return what a request says about models; what it cannot say is left to the settings.

        Args:
            request: The request.
            concurrency: The most calls in flight.
        """
        return cls(
            model=request.model,
            claims_model=getattr(request, "claims_model", None),
            selection_model=getattr(request, "selection_model", None),
            verdict_model=getattr(request, "verdict_model", None),
            escalate_to=getattr(request, "escalate_to", None),
            concurrency=concurrency,
            price=request.price,
            budget=request.budget_usd,
            max_calls=request.max_calls,
            structured=request.structured,
            effort=request.effort,
            use_cache=request.use_cache,
        )

    def of(self, use: Use) -> str | None:
        """The model of a step, where an option names one."""
        if use is Use.ESCALATION:
            return self.escalate_to
        own = {
            Use.CLAIMS: self.claims_model,
            Use.SELECTION: self.selection_model,
            Use.VERDICT: self.verdict_model,
        }[use]
        return own or self.model

    def effort_of(self, use: Use) -> str | None:
        """The effort of reasoning of a step, where an option sets it."""
        return efforts_of(self.effort).get(use)


@dataclass(frozen=True, slots=True)
class OpenModels:
    """The models of a run.

    Attributes:
        steps: The models by step.
        spending: What was spent until now.
        warnings: What a person should know, such as a cache that cannot be used.
        is_priced: Whether the price of every model is known.
        concurrency: The most calls in flight to one endpoint.
        prices: What each model costs, with its price in batches; None: not known.
        writes: Whether the model of the claims is a language model, which finds some.
    """

    steps: StepModels
    spending: Spending
    warnings: list[str]
    is_priced: bool
    concurrency: int
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    writes: bool = True

    def writer(self, *, is_of_engine: bool) -> StepModel | None:
        """Return the language model for steps without a model of their own; None: there is none.

        Args:
            is_of_engine: Whether the model that gives verdicts is one.
        """
        if is_of_engine:
            return self.steps.verdict
        return self.steps.claims if self.writes else None


def cache_path(settings: Settings) -> Path:
    """Return where the answers are kept."""
    return settings.home / "cache" / "answers.sqlite"


def all_model_settings(
    settings: Settings, engine: str, options: ModelOptions, *, escalates: bool = False
) -> dict[Use, ModelSettings]:
    """Settings of the model of every step; that of escalation only where one is named.

    Args:
        settings: The settings.
        engine: The engine.
        options: What was asked for.
        escalates: Whether the settings may name a model to escalate to, because verdicts are asked
            for; one that an option names counts anyway.

    Raises:
        InputError: A setting has a value that it cannot have, no model is named, or verdicts are
            to be escalated to the model that gives them first; or one is named where answers were
            recorded.
    """
    if engine_named(engine).decides:
        return decision_settings(settings, options, escalates=escalates)
    label = engine_named(engine).recorded
    if label is not None:
        refuse_choice(engine, options)
        return recorded_settings(settings, label(settings.recorded), options)
    found = {
        use: model_settings(
            settings,
            use,
            engine,
            model=options.of(use),
            concurrency=options.concurrency,
            # The stronger model has a price of its own.
            price=options.price if use is not Use.ESCALATION else None,
            structured=options.structured,
            effort=options.effort_of(use),
        )
        for use in Use
        if use is not Use.ESCALATION
        or options.escalate_to
        or (escalates and settings.escalation.model)
    }
    second = found.get(Use.ESCALATION)
    if second is not None and _is_same_judge(found[Use.VERDICT], second):
        if options.escalate_to:
            raise InputError(
                f"Verdicts are to be escalated to {second.model}, which is also the model that "
                "gives them first.",
                code="escalation_to_itself",
                model=second.model,
            )
        # The settings name a stronger model for every run; this one begins with it.
        del found[Use.ESCALATION]
    return found


def _refuse_others(recorder: AnswerRecorder, file: Path, models: Iterable[ModelSettings]) -> None:
    """See that answers which stand in the recording are those of the models that are asked.

    Raises:
        InputError: They are not.
    """
    from veritrail_graph.verifier.models.recorded_answers import reader_of

    names = {reader_of(one.model) for one in models}
    if others := [one for one in recorder.readers if one not in names]:
        raise InputError(
            f"{file} holds answers of {others[0]}, and {', '.join(sorted(names))} is asked: name "
            "that model, or record into another file."
        )


def _is_same_judge(one: ModelSettings, other: ModelSettings) -> bool:
    """Return whether two models give the same answers, whatever is set of their price and speed."""
    return (one.model, one.base_url, one.temperature, one.reasoning_effort) == (
        other.model,
        other.base_url,
        other.temperature,
        other.reasoning_effort,
    )


@asynccontextmanager
async def open_models(
    settings: Settings,
    engine: Engine,
    options: ModelOptions,
    shared: Shared | None = None,
    *,
    escalates: bool = False,
) -> AsyncIterator[OpenModels]:
    """Make the models of an engine that asks models; close their connections in the end.

    Args:
        settings: The settings.
        engine: The engine.
        options: What was asked for.
        shared: What they share with others that are open at the same time; None: nothing.
        escalates: Whether verdicts are asked for, so that the settings may name a stronger model.

    Raises:
        InputError: A setting is wrong, or a budget is set and a price is not known.
    """
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.verifier.judge import StepModels
    from veritrail_graph.verifier.models.cache import AnswerCache
    from veritrail_graph.verifier.models.recorded_answers import AnswerRecorder
    from veritrail_graph.verifier.models.retrying import Spending

    of_steps = all_model_settings(settings, engine.name, options, escalates=escalates)
    own = own_prices(settings)
    known = {use: price_of(one, own, options) for use, one in of_steps.items()}
    shared = shared or Shared(Spending(options.budget, options.max_calls))
    if shared.spending.budget_usd is not None:
        _require_prices(of_steps, known)
    warnings = retirement_warnings(engine, of_steps.values())
    async with AsyncExitStack() as stack:
        cache: AnswerCache | None = None
        if options.use_cache and engine.calls_models:
            cache = AnswerCache(cache_path(settings), warnings.append)
            stack.push_async_callback(cache.close)
        recorder: AnswerRecorder | None = None
        if settings.record is not None and engine.calls_models:
            replays = settings.recorded == settings.record
            recorder = AnswerRecorder(settings.record, warnings.append, replays=replays)
            stack.callback(recorder.close)
            if replays:
                _refuse_others(recorder, settings.record, of_steps.values())
        workshop = _Workshop(settings, engine, cache, recorder, shared, stack, options)
        made = {use: workshop.model(one, known[use]) for use, one in of_steps.items()}
        steps = StepModels(
            made[Use.CLAIMS], made[Use.SELECTION], made[Use.VERDICT], made.get(Use.ESCALATION)
        )
        priced = all(price is not None for price in known.values())
        concurrency = max(one.concurrency for one in of_steps.values())
        prices = {
            one.model: price_of(one, own, replace(options, in_batches=True))
            for one in of_steps.values()
        }
        writes = not of_steps[Use.CLAIMS].decides
        yield OpenModels(steps, shared.spending, warnings, priced, concurrency, prices, writes)


def retirement_warnings(engine: Engine, chosen: Iterable[ModelSettings]) -> list[str]:
    """Say which models end, or have ended, and which to name in their place.

    Args:
        engine: The engine that asks them; a name at Azure is that of a deployment.
        chosen: The models.
    """
    from veritrail_graph.verifier.models.known_models import retirement_warning

    if not engine.calls_models or engine.name == "azure":
        return []
    today = datetime.now(tz=UTC).date()
    names = dict.fromkeys(one.model for one in chosen)
    return [words for name in names if (words := retirement_warning(name, today))]


class _Workshop:
    """Makes each model once: steps with the same settings share it, and with it its limits."""

    def __init__(
        self,
        settings: Settings,
        engine: Engine,
        cache: AnswerCache | None,
        recorder: AnswerRecorder | None,
        shared: Shared,
        stack: AsyncExitStack,
        options: ModelOptions,
    ) -> None:
        self._options = options
        self._settings = settings
        self._engine = engine
        self._cache = cache
        self._recorder = recorder
        self._shared = shared
        self._stack = stack
        self._patience = patience(settings)
        self._made: dict[ModelSettings, ModelPort] = {}

    def model(self, settings: ModelSettings, price: Price | None) -> StepModel:
        """The model of a step."""
        from veritrail_graph.verifier.judge import StepModel

        if settings not in self._made:
            self._made[settings] = self._make(settings, price)
        return StepModel(
            self._made[settings],
            settings.temperature,
            settings.structured,
            settings.reasoning_effort,
        )

    def _make(self, settings: ModelSettings, price: Price | None) -> ModelPort:
        from veritrail_graph.verifier.engines import EndpointSettings
        from veritrail_graph.verifier.models.batch_port import BatchingEndpoint
        from veritrail_graph.verifier.models.language_model import LanguageModel, Warm
        from veritrail_graph.verifier.models.retrying import Spending

        engine = self._engine
        if engine.decides and not settings.decides:
            engine = engine_named("openai")  # what a decision model cannot do
        if engine.endpoint is None:
            raise ValueError(f"engine {engine.name} asks no model")
        given = EndpointSettings(
            settings.model,
            settings.base_url,
            settings.api_key,
            settings.api_version,
            self._patience.attempt_timeout,
            settings.concurrency,
            self._settings.recorded,
        )
        kept = self._shared.endpoints if not self._options.in_batches else None
        endpoint = engine.endpoint(given) if kept is None else kept.of(engine, given)
        rounds = self._shared.rounds
        limiter = self._shared.limiters.of(endpoint.address, settings)
        if self._options.in_batches:
            if not isinstance(endpoint, BatchingEndpoint):
                raise InputError(
                    f"Engine {engine.name} takes no batches.",
                    code="engine_without_batches",
                    engine=engine.name,
                )
            if rounds is not None:
                return self._in_batches(endpoint, settings, price, rounds, limiter)
        calls = engine.calls_models
        model = LanguageModel(
            endpoint,
            settings.model,
            window=settings.context_tokens,
            max_output_tokens=settings.max_output_tokens,
            patience=self._patience,
            limiter=limiter,
            cache=self._cache,
            # What was recorded is no call, costs nothing, and is the same when it is asked again.
            spending=self._shared.spending if calls else Spending(),
            price=price,
            answer_retries=self._settings.answer_retries if calls else 0,
            warm=_warm(self._settings.warm_prefixes) if calls else Warm.OFF,
            party=self._shared.party,
            recorder=self._recorder,
            closes=kept is None,
        )
        self._stack.push_async_callback(model.close)
        return model

    def _in_batches(
        self,
        endpoint: BatchingEndpoint,
        settings: ModelSettings,
        price: Price | None,
        rounds: Rounds,
        limiter: Limiter,
    ) -> ModelPort:
        """A model whose calls go out in the rounds of a run."""
        from veritrail_graph.verifier.models.batching import BATCH_PATIENCE
        from veritrail_graph.verifier.models.language_model import LanguageModel, Warm
        from veritrail_graph.verifier.models.limits import Limiter
        from veritrail_graph.verifier.models.retrying import Retrying, Spending
        from veritrail_graph.verifier.models.tokens import counter

        live = None
        if self._options.finishes_live:
            live = Retrying(
                endpoint,
                patience=self._patience,
                limiter=limiter,
                spending=Spending(),  # the call is paid where it began
                price=None,
                party=self._shared.party,
            )
        made = rounds.endpoint(endpoint, settings.model, price, counter(settings.model), live)
        model = LanguageModel(
            made,
            settings.model,
            window=settings.context_tokens,
            max_output_tokens=settings.max_output_tokens,
            patience=BATCH_PATIENCE,
            limiter=Limiter(MOST_IN_BATCHES),
            cache=self._cache,
            spending=self._shared.spending,
            price=price,
            answer_retries=self._settings.answer_retries,
            warm=Warm.OFF,
            recorder=self._recorder,
        )
        self._stack.push_async_callback(model.close)
        return rounds.gathered(model)


def open_json_model(
    settings: Settings,
    endpoint: JsonEndpoint,
    pace: ModelSettings,
    shared: Shared,
    stack: AsyncExitStack,
    *,
    price: Price | None = None,
    use_cache: bool = True,
) -> LanguageModel:
    """A model that is posted JSON, with the cache, limits, retries and spending of all models.

    Args:
        settings: The settings.
        endpoint: Where it is asked.
        pace: Its name, and how fast it may be asked.
        shared: What its calls share with those of other models.
        stack: Closes what it needs.
        price: What it costs; None: that is not known.
        use_cache: Whether answers come from the cache of answers, and go into it.
    """
    from veritrail_graph.verifier.models.cache import AnswerCache
    from veritrail_graph.verifier.models.language_model import LanguageModel, Warm

    cache: AnswerCache | None = None
    if use_cache:
        cache = AnswerCache(cache_path(settings))
        stack.push_async_callback(cache.close)
    model = LanguageModel(
        endpoint,
        pace.model,
        patience=patience(settings),
        limiter=shared.limiters.of(endpoint.address, pace),
        cache=cache,
        spending=shared.spending,
        price=price,
        answer_retries=min(settings.answer_retries, 1),
        warm=Warm.OFF,
        party=shared.party,
    )
    stack.push_async_callback(model.close)
    return model


def _warm(text: str) -> Warm:
    from veritrail_graph.verifier.models.language_model import Warm

    if text not in set(Warm):
        raise InputError(f"VERITRAIL_WARM_PREFIXES={text!r}: must be one of {', '.join(Warm)}")
    return Warm(text)


def patience(settings: Settings) -> Patience:
    """Return how long calls are tried."""
    from veritrail_graph.verifier.models.retrying import Patience

    default = Patience()
    deadline = settings.call_deadline or default.deadline
    attempt = settings.attempt_timeout or default.attempt_timeout
    return Patience(deadline=deadline, attempt_timeout=min(attempt, deadline))


def own_prices(settings: Settings) -> dict[str, Price]:
    """The user's own price table.

    Raises:
        InputError: It cannot be read.
    """
    from veritrail_graph.verifier.models.prices import read_table

    return read_table(settings.prices) if settings.prices else {}


def batch_options(settings: Settings, options: ModelOptions) -> BatchOptions:
    """Return how batches are made."""
    from veritrail_graph.verifier.models.batch_endpoint import BatchOptions

    return BatchOptions(
        most_lines=settings.batch_lines,
        most_bytes=settings.batch_bytes,
        poll=settings.batch_poll,
        finishes_live=options.finishes_live,
        keeps_files=settings.batch_keep_files,
        patience=patience(settings),
    )


def price_of(
    settings: ModelSettings, own: dict[str, Price], options: ModelOptions | None = None
) -> Price | None:
    """The price of a model; None where it is not known.

    Args:
        settings: The model.
        own: The user's own price table.
        options: Whether it is asked in batches, which have a price of their own.
    """
    price = _live_price(settings, own)
    if price is None or options is None or not options.in_batches:
        return price
    return price.with_batch(options.batch_price_factor)


def _live_price(settings: ModelSettings, own: dict[str, Price]) -> Price | None:
    from veritrail_graph.verifier.models.openai_endpoint import OPENAI
    from veritrail_graph.verifier.models.prices import Price, decision_price_of
    from veritrail_graph.verifier.models.prices import price_of as known_price

    if settings.price is not None:
        given = settings.price
        return Price(input=given[0], output=given[1], cached_input=given[2 % len(given)])
    if settings.decides:
        return decision_price_of(settings.model, settings.base_url or OPENAI, own)
    return known_price(settings.model, settings.base_url or OPENAI, own)


def _require_prices(of_steps: dict[Use, ModelSettings], known: dict[Use, Price | None]) -> None:
    unknown = sorted({one.model for use, one in of_steps.items() if known[use] is None})
    if unknown:
        raise InputError(
            f"A budget needs the price of {', '.join(unknown)}, which is not known.",
            code="price_unknown",
            models=", ".join(unknown),
        )

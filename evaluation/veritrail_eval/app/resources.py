"""Make the resources of an evaluation's methods from the settings of this program.

All configurations of a run share one answer cache, one budget and the limits of every endpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from veritrail_eval.methods.memory import RunMemory, SharedEmbedder
from veritrail_graph.api.configured.judge import ConfiguredJudge, configure_judge, judge_options
from veritrail_graph.api.requests.verify import VerifyRequest
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.sentences import SentenceSplitter

if TYPE_CHECKING:
    from veritrail_eval.embeddings.port import Embedder
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.judge import StepModels
    from veritrail_graph.verifier.nli.opening import ModelChoice
    from veritrail_graph.verifier.nli.port import EntailmentModel
    from veritrail_graph.verifier.ports import Judge
    from veritrail_graph.verifier.prompts import Prompts


def shared_within(budget_usd: float | None, max_calls: int | None) -> Shared:
    """Say what the configurations of a run share: a budget in US dollars, and a number of calls."""
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.verifier.models.retrying import Spending

    return Shared(Spending(budget_usd, max_calls))


class OpenResources:
    """`Resources` of the evaluation; use it with `async with`.

    Args:
        settings: The settings.
        shared: What all configurations of a run share: the budget, the limits of endpoints.
        use_cache: Whether answers come from the cache of answers, and go into it.
        price: The price of the models, where it is not known.
        concurrency: Calls in flight to an endpoint; None: the settings decide.
        folder: Paths in the options are relative to it.
        memory: What the configurations of a run share; None: nothing.
        warn: Told what a person should know, such as a cache that cannot be used.
    """

    def __init__(
        self,
        settings: Settings,
        shared: Shared,
        *,
        use_cache: bool = True,
        price: str | None = None,
        concurrency: int | None = None,
        folder: Path | None = None,
        memory: RunMemory | None = None,
        warn: Callable[[str], None] = lambda _message: None,
    ) -> None:
        self.splitter = SentenceSplitter.for_language(settings.language)
        self.memory = memory or RunMemory()
        self._settings = settings
        self._shared = shared
        spending = shared.spending
        self._use_cache = use_cache
        self._fixed = {
            "budget_usd": spending.budget_usd,
            "max_calls": spending.max_calls,
            "use_cache": use_cache,
        }
        self._price = price
        self._concurrency = concurrency
        self._folder = folder or Path()
        self._warn = warn
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close what was opened."""
        await self._stack.aclose()

    def path(self, named: object, parameter: str) -> Path:
        """The file or folder that a parameter names, relative to the matrix; see `Resources`.

        Raises:
            InputError: It is no text, or there is none.
        """
        if not (isinstance(named, str) and named.strip()):
            raise InputError(f"{parameter} must be the path of a file, not {named!r}")
        found = self._folder / Path(named).expanduser()
        if not found.exists():
            raise InputError(f"{parameter}: {found}: no such file or folder")
        return found

    async def prompts(self, named: str | None = None) -> Prompts:
        """The prompts of a folder or variant; without a name those of the papers' wording.

        Raises:
            InputError: They cannot be used.
        """
        from veritrail_graph.verifier.prompts import load_prompts

        return load_prompts(self._prompts(named))

    def _prompts(self, named: object) -> Path | str:
        from veritrail_graph.verifier.prompts import PAPER, VARIANTS

        if named is None:
            return PAPER
        if not isinstance(named, str):
            raise InputError(f"prompts must be the name of a folder or a variant, not {named!r}")
        return named if named in VARIANTS else self._folder / named

    def judge_options(self, options: Mapping[str, Any]) -> JudgeOptions:
        """The options of a judge, read as those of `veritrail verify` are.

        Raises:
            InputError: An option is wrong.
        """
        given = {name: one for name, one in options.items() if name != "prompts"}
        given.setdefault("price", self._price)
        request = VerifyRequest.checked({"process_id": "evaluation", **self._fixed, **given})
        how = judge_options(self._settings, request, concurrency=self._concurrency)
        prompts = self._prompts(options.get("prompts"))
        if how.writes:  # a matrix may name a wording for all its engines
            how = replace(how, prompts=prompts)
        if "engine" not in options and not how.asks_models:
            _refuse_without_model(how.engine_words, options)
        return how

    async def _configured(self, options: Mapping[str, Any]) -> ConfiguredJudge:
        """A judge that is open until the run ends.

        Raises:
            InputError: An option is wrong.
        """
        how = self.judge_options(options)
        made = await self._stack.enter_async_context(
            configure_judge(self._settings, how, self._shared)
        )
        if made.models is not None:
            for warning in made.models.warnings:
                self._warn(warning)
        return made

    async def judge(self, options: Mapping[str, Any]) -> Judge:
        """A judge as `veritrail verify` makes it.

        Raises:
            InputError: An option is wrong.
        """
        return (await self._configured(options)).judge

    async def models(self, options: Mapping[str, Any]) -> StepModels:
        """The models of the steps of an engine that asks models.

        Raises:
            InputError: An option is wrong, or the engine asks no model.
        """
        made = await self._configured(options)
        if made.models is None:
            raise InputError(
                f"Engine {made.how.engine} asks no model; name one that does, such as openai."
            )
        return made.models.steps

    async def embedder(self, named: str | None = None) -> Embedder:
        """The embedding model that is named, or the one of the settings; see `Resources`.

        Raises:
            InputError: There is none.
        """
        from veritrail_eval.app.embeddings import open_embedder

        opened = await open_embedder(
            self._settings,
            checked_name(named, "embedding"),
            self._use_cache,
            self._shared,
            self._stack,
            self._folder,
        )
        return SharedEmbedder(opened, self.memory.vectors)

    async def entailment(
        self, named: str | None = None, reading: Mapping[str, Any] | None = None
    ) -> EntailmentModel:
        """The entailment model that is named, or the one of the settings; see `Resources`.

        Raises:
            InputError: There is none.
        """
        from veritrail_graph.api.configured.entailment import open_entailment_model

        choice = entailment_choice(self._settings, named, reading or {}, self._folder)
        return await open_entailment_model(
            self._settings, choice, self._use_cache, self._shared, self._stack
        )


_OF_MODELS = ("prompts", "effort", "samples")
"""Parameters that say how a model is asked."""


def _refuse_without_model(engine: str, options: Mapping[str, Any]) -> None:
    """See that a matrix does not say how a model is asked where none is set.

    Raises:
        InputError: It does, and does not name its engine either.
    """
    given = [name for name in _OF_MODELS if options.get(name, 1) != 1]
    if given:
        raise InputError(
            f"{given[0]} says how a language model is asked, and none is set, so that the engine "
            f"would be {engine}: set VERITRAIL_MODEL (with OPENAI_API_KEY or OPENAI_BASE_URL), or "
            f'name engine = "{engine}" in the matrix if that is meant'
        )


def checked_name(named: object, parameter: str) -> str | None:
    """The name of a model in a matrix.

    Raises:
        InputError: It is none.
    """
    if named is not None and not (isinstance(named, str) and named.strip()):
        raise InputError(f"{parameter} must be the name of a model, not {named!r}")
    return named


def entailment_choice(
    settings: Settings, named: object, reading: Mapping[str, Any], folder: Path
) -> ModelChoice:
    """The entailment model that is named, or that of the settings.

    Args:
        settings: The settings.
        named: A folder, the address of a server, or the name of a fetched model; None: the one of
            the settings.
        reading: `window`, `labels`, `template`; they hold for the one of the settings as well.
        folder: What a path is relative to.

    Raises:
        InputError: None is named, or a value is wrong.
    """
    from dataclasses import replace

    from veritrail_graph.api.configured.entailment import configured_choice
    from veritrail_graph.verifier.nli.opening import ModelChoice

    window = reading.get("window")
    if window is not None and (isinstance(window, bool) or not isinstance(window, int)):
        raise InputError(f"window must be a whole number, not {window!r}")
    for name in ("labels", "template"):
        if reading.get(name) is not None and not isinstance(reading[name], str):
            raise InputError(f"{name} must be a text, not {reading[name]!r}")
    model = checked_name(named, "model")
    if model is None or model == settings.nli.model:
        choice = configured_choice(settings)
    else:
        # How another model reads, and its key, say nothing of this one.
        path = folder / Path(model).expanduser()
        choice = ModelChoice(str(path) if path.exists() else model)
    return replace(choice, **{name: one for name, one in reading.items() if one is not None})

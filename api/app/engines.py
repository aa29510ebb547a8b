"""List the engines that work with the settings of this service, and models for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.engines import Engine
    from veritrail_graph.verifier.nli.fetching import Fetched


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine as it can be chosen here.

    Attributes:
        name: Its name.
        asks_models: Whether it calls models.
        problem: What it lacks; None: it works, once a model is named where it asks one.
        decides: Whether these are decision models, which the settings name, and write nothing.
    """

    name: str
    asks_models: bool
    problem: InputError | None = None
    decides: bool = False

    @property
    def works(self) -> bool:
        """Return whether it lacks nothing."""
        return self.problem is None

    @property
    def writes(self) -> bool:
        """Return whether it calls language models, which find claims."""
        return self.asks_models and not self.decides


def engine_choices(settings: Settings, names: Iterable[str] | None = None) -> list[EngineChoice]:
    """Engines, those first that work here; nothing is opened or asked.

    Args:
        settings: The settings of the service.
        names: These engines; None: all.
    """
    from veritrail_graph.verifier.engines import engine_named, engine_names

    found = []
    for name in engine_names() if names is None else names:
        try:
            engine = engine_named(name)
        except InputError as error:
            found.append(EngineChoice(name, asks_models=False, problem=error))
            continue
        problem = _problem(settings, engine)
        found.append(EngineChoice(name, engine.calls_models, problem, engine.decides))
    return sorted(found, key=lambda one: not one.works)


def asks_model(settings: Settings, engine: str | None = None, model: str | None = None) -> bool:
    """Return whether the engine that these options select asks a model that can extract claims.

    Args:
        settings: The settings; they name the engine where the options do not.
        engine: The engine.
        model: The model.

    Raises:
        InputError: There is no such engine.
    """
    from veritrail_graph.verifier.engines import engine_named

    return engine_named(settings.engine_name(engine, model)).writes


def any_writes(names: Iterable[str]) -> bool:
    """Return whether one of these engines asks models that answer in words.

    Raises:
        InputError: There is no such engine.
    """
    from veritrail_graph.verifier.engines import engine_named

    return any(engine_named(name).writes for name in names)


def usual_engine(settings: Settings, choices: Iterable[EngineChoice]) -> str:
    """The engine to begin with: that of the settings where it works, else the first that does.

    An engine that asks models is begun with only where a model is set up.
    """
    usual = settings.engine_name()
    works = [one for one in choices if one.works and (settings.model or not one.writes)]
    names = [one.name for one in works]
    if usual in names:
        return usual
    return next((one.name for one in works if one.writes), names[0] if names else usual)


def fetch_model(
    settings: Settings,
    name: str,
    revision: str | None = None,
    on_file: Callable[[str], None] = lambda _file: None,
) -> Fetched:
    """Download a model from a hub into the home folder; nothing else ever downloads one.

    Args:
        settings: The settings; they name the home folder.
        name: Its name on the hub.
        revision: A branch, tag or commit; None: the main branch.
        on_file: Called with each file before it is downloaded.

    Raises:
        InputError: There is no such model, or it is none of entailment.
        Unreachable: The hub did not answer.
    """
    from veritrail_graph.verifier.nli.fetching import fetch

    return fetch(name, settings.home, revision=revision, on_file=on_file)


def _problem(settings: Settings, engine: Engine) -> InputError | None:
    from veritrail_graph.api.configured.entailment import configured_choice
    from veritrail_graph.api.settings import Use, endpoint_address
    from veritrail_graph.verifier.engines import EndpointSettings

    try:
        if engine.needs_entailment:
            configured_choice(settings)
        if engine.decides:
            _check_decisions(settings, engine)
        elif engine.recorded is not None:
            engine.recorded(settings.recorded)
        elif engine.check is not None:
            own = getattr(settings, Use.VERDICT.value)
            address, key = endpoint_address(settings, own, Use.VERDICT, engine.name)
            model = settings.model or ""
            engine.check(EndpointSettings(model, address, key, settings.openai_api_version))
    except InputError as error:
        return error
    return None


def _check_decisions(settings: Settings, engine: Engine) -> None:
    from veritrail_graph.api.configured.decisions import decision_settings
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.settings import Use
    from veritrail_graph.verifier.engines import EndpointSettings

    one = decision_settings(settings, ModelOptions())[Use.VERDICT]
    if engine.check is not None:
        engine.check(EndpointSettings(one.model, one.base_url, one.api_key))

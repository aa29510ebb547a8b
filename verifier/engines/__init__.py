"""Engines of judgement: each is one module here, or one that another package brings.

A module holds `ENGINE`. Another package names its module under the entry point group
`veritrail.engines`; nothing of ours has to change for it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.plugins import FAULTS, called, fault_of, loaded, needs, package_of

if TYPE_CHECKING:
    from veritrail_graph.verifier.decisions.steps import Deciding
    from veritrail_graph.verifier.judge import StepModels
    from veritrail_graph.verifier.limits import Limits, Samples
    from veritrail_graph.verifier.measured import Measured
    from veritrail_graph.verifier.models.port import Endpoint
    from veritrail_graph.verifier.nli.port import EntailmentModel
    from veritrail_graph.verifier.ports import Judge, Split
    from veritrail_graph.verifier.prompts import Prompts
    from veritrail_graph.verifier.sharing import WaitingRounds

GROUP = "veritrail.engines"


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """The endpoint of a model, and how it is called.

    Attributes:
        model: The model's name.
        base_url: The endpoint; None: the engine's own default.
        api_key: The key, if one is set; never shown.
        api_version: Version of the endpoint's interface, where it wants one.
        attempt_timeout: Seconds after which one attempt ends.
        connections: The most connections at a time.
        recorded: A file of recorded answers, for an engine that gives them; None: those of the
            samples.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_version: str | None = None
    attempt_timeout: float = 60.0
    connections: int = 256
    recorded: Path | None = None


@dataclass(frozen=True, slots=True)
class EntailmentParts:
    """An entailment model, and how an engine that uses one judges with it.

    Attributes:
        model: The model; it is closed by the caller who opened it.
        threshold: From which probability on a piece of evidence entails or contradicts the claim.
        evidence_threshold: From which probability on a sentence is evidence.
        evidence_sentences: The most sentences of evidence of a node that were selected one by one.
        joint: Whether sentences are judged together where none entails the claim alone.
        adapter: Which checker's way of asking gives verdicts; `pairs`: our own.
        weights: The file of an adapter's trained weights.
    """

    model: EntailmentModel
    threshold: float = 0.5
    evidence_threshold: float = 0.5
    evidence_sentences: int = 5
    joint: bool = True
    adapter: str = "pairs"
    weights: Path | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a judge; `models` and `prompts` are set where the engine asks models.

    `sub_claims` says whether claims are taken apart; `entailment` holds an entailment model where
    the engine needs one. `share` says how many claims one prompt may ask about;
    `rounds` who waits for calls in batches, where they are made so. `deciding` says how a decision
    model is asked, where the engine asks one.
    """

    split: Split
    limits: Limits
    samples: Samples
    models: StepModels | None = None
    prompts: Prompts | None = None
    sub_claims: bool = True
    entailment: EntailmentParts | None = None
    share: int = 1
    rounds: WaitingRounds | None = None
    deciding: Deciding | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine of judgement.

    Attributes:
        name: Its name.
        summary: What it is, in a line.
        judge: Makes the judge.
        endpoint: Makes the endpoint of a model; None: the engine asks no language model.
        decides: Whether its models answer typed questions with probabilities and write nothing:
            they find no claims, and take none apart.
        needs_entailment: Whether it judges with an entailment model.
        check: Sees that the settings suffice, without opening anything, and raises `InputError`
            where they do not; None: opening the endpoint says so.
        recorded: Names the answers of a file, where they take the place of a model's: nobody is
            asked, nothing costs, and no model can be chosen. None: models are asked.
        measured: How often its verdicts are right, to be told beside them; None: it depends on the
            model, and `veritrail judge check` measures it.
    """

    name: str
    summary: str
    judge: Callable[[Parts], Judge]
    endpoint: Callable[[EndpointSettings], Endpoint] | None = None
    needs_entailment: bool = False
    check: Callable[[EndpointSettings], None] | None = None
    recorded: Callable[[Path | None], str] | None = None
    measured: Measured | None = None
    decides: bool = False

    @property
    def asks_models(self) -> bool:
        """Return whether it needs answers, by models or from a recording."""
        return self.endpoint is not None

    @property
    def writes(self) -> bool:
        """Return whether it answers prompts in words, by models or from a recording."""
        return self.endpoint is not None and not self.decides

    @property
    def calls_models(self) -> bool:
        """Return whether models are called: one must be named, and calls cost money."""
        return self.endpoint is not None and self.recorded is None


def engine_names() -> list[str]:
    """Names of all engines, sorted; none of them is imported for it."""
    from importlib import metadata

    return sorted(_own() | {point.name for point in metadata.entry_points(group=GROUP)})


@cache
def _own() -> frozenset[str]:
    """Names of the engines of this package."""
    return frozenset(module.name for module in pkgutil.iter_modules(__path__))


def engine_named(name: str) -> Engine:
    """An engine by its name.

    Raises:
        InputError: There is none, or it cannot be used.
    """
    if name in _own():
        found: Engine = importlib.import_module(f"{__name__}.{name}").ENGINE
        return found
    from importlib import metadata

    points = tuple(metadata.entry_points(group=GROUP, name=name))
    if not points:
        raise InputError(
            f"Unknown engine {name!r}. Engines: {', '.join(engine_names())}.",
            code="unknown_engine",
            engine=name,
        )
    packages = sorted({package_of(point) for point in points})
    if len(packages) > 1:
        raise InputError(f"Engine {name!r} is not usable: {' and '.join(packages)} bring it")
    who = f"Engine {name!r} of the package {packages[0]}"
    try:
        engine = loaded(points[0], partial(_engine, name))
    except FAULTS as error:
        raise InputError(f"{who} is not usable: {fault_of(error)}") from error
    return _guarded(engine, who)


def _engine(name: str, found: Any) -> Engine:
    if not isinstance(found, Engine):
        raise TypeError("what it registers is no Engine")
    if found.name != name or not isinstance(found.summary, str):
        raise ValueError(f"its Engine is called {found.name!r}, or has no summary")
    return found


def _guarded(engine: Engine, who: str) -> Engine:
    """An engine of another package: what its functions raise or print, or answer wrongly, names it.

    What its judge answers is seen where it is asked (`verifier.answered`).
    """

    def judge(parts: Parts) -> Judge:
        return called(who, lambda: _judge(engine.name, engine.judge(parts)))

    endpoint, check, recorded = engine.endpoint, engine.check, engine.recorded
    return replace(
        engine,
        judge=judge,
        endpoint=endpoint and (lambda how: called(who, lambda: _endpoint(endpoint(how)))),
        check=check and (lambda how: called(who, lambda: check(how))),
        recorded=recorded and (lambda file: called(who, lambda: _text(recorded(file)))),
    )


def _judge(name: str, made: Any) -> Judge:
    needs(made, ("name", "model", "indicative", "settings", "sub_claims", "select_evidence"))
    needs(made, ("judge",))
    if made.name != name:
        raise ValueError(f"its judge is called {made.name!r}")
    if not isinstance(made.indicative, bool) or not isinstance(made.model, str | None):
        raise TypeError("`indicative` must be a bool, and `model` a text or None")
    canonical(dict(made.settings))
    judge: Judge = made
    return judge


def _endpoint(made: Any) -> Endpoint:
    needs(made, ("address", "send", "close"))
    _text(made.address)
    endpoint: Endpoint = made
    return endpoint


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, and it gave a {type(value).__name__}")
    return value


def prompted_judge(name: str) -> Callable[[Parts], Judge]:
    """Makes the judge that asks language models, for an engine of this name."""

    def make(parts: Parts) -> Judge:
        from veritrail_graph.verifier.judge import LanguageModelJudge

        if parts.models is None or parts.prompts is None:
            raise ValueError(f"engine {name} needs models and prompts")
        return LanguageModelJudge.of(
            name,
            parts.models,
            parts.prompts,
            parts.split,
            limits=parts.limits,
            samples=parts.samples,
            sub_claims=parts.sub_claims,
            share=parts.share,
            rounds=parts.rounds,
        )

    return make

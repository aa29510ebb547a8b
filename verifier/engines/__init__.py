"""Engines of judgement: each is one module here, or one that another package brings.

A module holds `ENGINE`. Another package names its module under the entry point group
`veritrail.engines`; nothing of ours has to change for it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.plugins import fault_of, package_of

if TYPE_CHECKING:
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
    """Where a model is asked.

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
    """What a judge is made of; `models` and `prompts` where the engine asks models.

    `sub_claims` says whether claims are taken apart; `entailment` holds an entailment model where
    the engine needs one. `share` says how many claims one prompt may ask about;
    `rounds` who waits for calls in batches, where they are made so.
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


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine of judgement.

    Attributes:
        name: Its name.
        summary: What it is, in a line.
        judge: Makes the judge.
        endpoint: Makes the endpoint of a model; None: the engine asks no language model.
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

    @property
    def asks_models(self) -> bool:
        """Whether prompts are answered, by language models or by what was recorded of them."""
        return self.endpoint is not None

    @property
    def calls_models(self) -> bool:
        """Whether language models are called, so that one must be named and costs something."""
        return self.endpoint is not None and self.recorded is None


def engine_names() -> list[str]:
    """Names of all engines, sorted; none of them is imported for it."""
    from importlib import metadata

    return sorted(_own() | {point.name for point in metadata.entry_points(group=GROUP)})


def _own() -> set[str]:
    """Names of the engines of this package."""
    return {module.name for module in pkgutil.iter_modules(__path__)}


def engine_named(name: str) -> Engine:
    """An engine by its name.

    Raises:
        InputError: There is none.
    """
    if name in _own():
        found = importlib.import_module(f"{__name__}.{name}").ENGINE
    else:
        from importlib import metadata

        points = metadata.entry_points(group=GROUP, name=name)
        if not points:
            raise InputError(
                f"Unknown engine {name!r}. Engines: {', '.join(engine_names())}.",
                code="unknown_engine",
                engine=name,
            )
        point = next(iter(points))
        try:
            found = point.load()
        except Exception as error:
            raise InputError(
                f"Engine {name!r} of the package {package_of(point)} is not usable: "
                f"{fault_of(error)}"
            ) from error
    if not isinstance(found, Engine):
        raise InputError(f"Engine {name!r} is not usable: what it registers is no Engine")
    return found


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

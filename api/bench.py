"""How claims are verified: an engine with its models, prompts and limits, made ready to judge.

What decides the outcome of a verification is written down as its settings, so that the same
work is not done twice and a run can go on as it began.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.models import ModelOptions, OpenModels, open_models
from veritrail_graph.api.settings import Settings
from veritrail_graph.graph.comparing import changed_settings
from veritrail_graph.graph.content_hash import canonical
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verification
from veritrail_graph.verifier.driver import DEFAULT_Q
from veritrail_graph.verifier.engines import Engine, Parts, engine_named
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.prompts import Prompts, load_prompts
from veritrail_graph.verifier.run import DEFAULT_CONCURRENCY

if TYPE_CHECKING:
    from veritrail_graph.api.shared import Shared
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.verifier.ports import Judge


LEAST_ROOM = 64
"""Tokens that the instructions have to leave for excerpts and claim."""


@dataclass(frozen=True, slots=True)
class How:
    """How claims are verified.

    Attributes:
        engine: The engine of judgement.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        limits: How much goes into a prompt.
        samples: How many answers are drawn.
        prompts: A folder of the user's own prompts.
        sub_claims: Whether a model takes claims apart.
        models: The models and what they may cost.
        concurrency: Claims at a time of an engine without models.
    """

    engine: str
    q: int = DEFAULT_Q
    limits: Limits = Limits()
    samples: Samples = Samples()
    prompts: Path | None = None
    sub_claims: bool = True
    models: ModelOptions = field(default_factory=ModelOptions)
    concurrency: int = DEFAULT_CONCURRENCY


@dataclass(frozen=True, slots=True)
class Bench:
    """A judge, ready, with what it is made of.

    Attributes:
        judge: The judge.
        how: How it judges.
        prompts: Its prompts.
        splitter: Splits texts into sentences.
        models: Its models; None: it asks none.
        settings: What decides its verdicts, as canonical JSON.
    """

    judge: Judge
    how: How
    prompts: Prompts
    splitter: SentenceSplitter
    models: OpenModels | None
    settings: str


@asynccontextmanager
async def set_up(
    settings: Settings, how: How, shared: Shared | None = None
) -> AsyncIterator[Bench]:
    """Make a judge and everything that it needs.

    Args:
        settings: The settings.
        how: How it judges.
        shared: What its models share with those of others; None: nothing.

    Raises:
        InputError: The engine, a model, a prompt or a setting is wrong.
    """
    from veritrail_graph.graph.sentences import SentenceSplitter

    engine = engine_named(how.engine)
    _check(engine, how)
    prompts = load_prompts(how.prompts)
    splitter = SentenceSplitter.for_language(settings.language)
    parts = Parts(splitter.split, how.limits, how.samples, None, prompts, how.sub_claims)
    if not engine.asks_models:
        judge = engine.judge(parts)
        yield Bench(judge, how, prompts, splitter, None, _settings(settings, how, judge))
        return
    async with open_models(settings, engine, how.models, shared) as models:
        judge = engine.judge(replace(parts, models=models.steps))
        _check_windows(judge)
        yield Bench(judge, how, prompts, splitter, models, _settings(settings, how, judge))


def _check_windows(judge: Judge) -> None:
    """See that the instructions leave room for something to judge.

    Raises:
        InputError: They do not; the message names the model and its window.
    """
    from veritrail_graph.verifier.judge import LanguageModelJudge

    if not isinstance(judge, LanguageModelJudge):
        return
    for step in judge.prompted:
        if step.free < LEAST_ROOM:
            raise InputError(
                f"The context window of {step.model.model} is too small: beside the answer and the "
                f"instructions of {step.prompt.step} it leaves {max(step.free, 0):,} tokens. Set "
                "VERITRAIL_CONTEXT_TOKENS to the model's window, or take a model with a larger one."
            )


def _check(engine: Engine, how: How) -> None:
    if engine.asks_models:
        return
    if how.samples.is_soft:
        raise InputError(f"--samples needs an engine that asks a model; {engine.name} asks none.")
    if how.models.model is not None:
        raise InputError(
            f"--model names a model, but engine {engine.name} asks none; leave one of them out."
        )


def _settings(settings: Settings, how: How, judge: Judge) -> str:
    decides = {
        "engine": how.engine,
        "q": how.q,
        "language": settings.language,
        **judge.settings,
    }
    return canonical(decides).decode()


def how_of(verification: Verification, how: How) -> How:
    """How a stored verification was made, with what is not part of its settings from `how`."""
    values = json.loads(verification.settings or "{}")
    steps = values.get("steps")
    if not steps:
        return replace(how, engine=values.get("engine", verification.engine), q=verification.q)
    options = json.loads(verification.run_options or "{}")
    models = replace(
        how.models,
        model=None,
        price=how.models.price or options.get("price"),
        structured=any(step.get("structured") for step in steps.values() if step),
        claims_model=(steps["sub_claim_decomposition"] or steps["evidence_selection"])["model"],
        selection_model=steps["evidence_selection"]["model"],
        verdict_model=steps["verdict"].get("model"),
    )
    return replace(
        how,
        engine=values["engine"],
        q=verification.q,
        limits=Limits(**values["limits"]),
        samples=Samples(**values["samples"]),
        sub_claims=steps["sub_claim_decomposition"] is not None,
        models=models,
    )


def differing(stored: str | None, now: str) -> list[str]:
    """The settings that are not as they were, each with what it was and what it is."""
    changed = sorted(changed_settings(stored, now), key=lambda one: one.name)
    return [f"{one.name} was {one.a!r} and is {one.b!r}" for one in changed]

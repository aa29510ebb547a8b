"""Judges of faithfulness, made from settings: a language model, or a checker with its model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.attribution import JudgeName, SourceMode

if TYPE_CHECKING:
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.attribution.faithfulness import FaithfulnessJudge
    from veritrail_graph.verifier.attribution.scored import ScoringJudge


def check_checker(name: JudgeName, mode: SourceMode, threshold: float | None) -> None:
    """Refuse what a checker cannot do.

    Raises:
        InputError: The mode needs instructions, or the threshold is not on the checker's scale.
    """
    from veritrail_graph.verifier.attribution.scored import MODES
    from veritrail_graph.verifier.nli.adapters import lowest_score

    if mode not in MODES:
        raise InputError(
            f"The judge {name} takes no instructions, so nothing can be marked in what it reads: "
            f"the mode {mode} is not for it. Take {' or '.join(MODES)}.",
            code="mode_without_instructions",
        )
    lowest = lowest_score(name)
    if threshold is not None and not lowest <= threshold <= 1.0:
        raise InputError(
            f"The scores of {name} go from {lowest:g} to 1; {threshold:g} is no threshold for it.",
            code="judge_threshold",
        )


async def open_checker(
    settings: Settings,
    name: JudgeName,
    threshold: float | None,
    use_cache: bool,
    shared: Shared,
    stack: AsyncExitStack,
) -> ScoringJudge:
    """A checker with the entailment model of the settings; it is closed with the stack.

    Args:
        settings: The settings.
        name: The checker.
        threshold: The score from which a sentence is faithful; None: as the settings say.
        use_cache: Whether answers of a server come from the cache of answers, and go into it.
        shared: What its calls share with those of language models.
        stack: Closes what it needs.

    Raises:
        InputError: No entailment model is named, or it cannot be opened; or the checker needs
            trained weights, and none are named.
    """
    from veritrail_graph.api.configured.entailment import open_entailment
    from veritrail_graph.graph.sentences import SentenceSplitter
    from veritrail_graph.verifier.attribution.scored import ScoringJudge
    from veritrail_graph.verifier.nli.adapters import adapter_named

    if settings.nli.model is None:
        raise InputError(
            f"The judge {name} needs an entailment model, and none is named.",
            code="entailment_model_needed",
        )
    parts = await open_entailment(settings, use_cache, shared, stack)
    split = SentenceSplitter.for_language(settings.language).split
    adapter = adapter_named(name, parts.model, split, parts.weights)
    return ScoringJudge(
        adapter, parts.model.name, parts.threshold if threshold is None else threshold
    )


@asynccontextmanager
async def open_judge(
    settings: Settings,
    name: JudgeName,
    *,
    threshold: float | None = None,
    engine: str | None = None,
    models: ModelOptions | None = None,
    prompts: Path | None = None,
) -> AsyncIterator[tuple[FaithfulnessJudge, list[str]]]:
    """A judge and what a person should know of it; it is closed in the end.

    Args:
        settings: The settings.
        name: The language model, or a checker.
        threshold: Of a checker: the score from which a sentence is faithful.
        engine: The engine that asks the language model; None: as the settings say.
        models: The model, and what it may cost.
        prompts: A folder of the user's own prompts.

    Raises:
        InputError: A model, a prompt or a setting is wrong.
    """
    from veritrail_graph.api.configured.judge import prompted_step
    from veritrail_graph.api.configured.models import ModelOptions, open_models
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.verifier.engines import engine_named
    from veritrail_graph.verifier.models.port import Step
    from veritrail_graph.verifier.models.retrying import Spending
    from veritrail_graph.verifier.prompts import load_prompts

    chosen = models or ModelOptions()
    shared = Shared(Spending(chosen.budget, chosen.max_calls))
    async with AsyncExitStack() as stack:
        if name is not JudgeName.MODEL:
            yield (
                await open_checker(settings, name, threshold, chosen.use_cache, shared, stack),
                [],
            )
            return
        which = engine_named(settings.engine_name(engine, chosen.model))
        if not which.writes:
            raise InputError(
                f"Judging sentences needs a language model, and engine {which.name} asks none.",
                code="extraction_needs_model",
                engine=which.name,
            )
        prompt = load_prompts(prompts)[Step.FAITHFULNESS]
        opened = await stack.enter_async_context(open_models(settings, which, chosen, shared))
        yield prompted_step(prompt, opened.steps.verdict), opened.warnings


def judge_name(judge: FaithfulnessJudge | None) -> str | None:
    """Return what a run calls its judge; None: it has none."""
    from veritrail_graph.verifier.attribution.scored import ScoringJudge

    if judge is None:
        return None
    return judge.name if isinstance(judge, ScoringJudge) else judge.model.model

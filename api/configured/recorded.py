"""The settings of recorded answers, which take the place of a model's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from veritrail_graph.api.settings import ModelSettings, Settings, Use
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.configured.models import ModelOptions


def recorded_settings(
    settings: Settings, label: str, options: ModelOptions
) -> dict[Use, ModelSettings]:
    """Settings of recorded answers, which are given for nothing, as they are."""
    made = ModelSettings(
        label,
        temperature=None,
        context_tokens=settings.context_tokens,
        max_output_tokens=settings.max_output_tokens,
        concurrency=options.concurrency or settings.concurrency,
        price=(0.0, 0.0),
    )
    return {use: made for use in Use if use is not Use.ESCALATION}


def refuse_choice(engine: str, options: ModelOptions) -> None:
    """See that no model is named where answers were recorded.

    Raises:
        InputError: One is.
    """
    named = (options.model, options.claims_model, options.selection_model, options.verdict_model)
    if any((*named, options.escalate_to)):
        raise InputError(
            f"A model is named, but engine {engine} gives recorded answers and asks none; leave "
            "one of them out.",
            code="model_without_engine",
        )

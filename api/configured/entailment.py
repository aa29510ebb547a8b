"""The entailment model of the engine `nli`, made from settings."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.engines import EntailmentParts
    from veritrail_graph.verifier.nli.opening import ModelChoice
    from veritrail_graph.verifier.nli.port import EntailmentModel


async def open_entailment(
    settings: Settings, use_cache: bool, shared: Shared, stack: AsyncExitStack
) -> EntailmentParts:
    """Open the entailment model that the settings name; what it needs is closed with the stack.

    Args:
        settings: The settings.
        use_cache: Whether answers of a server come from the cache of answers, and go into it.
        shared: What its calls share with those of language models.
        stack: Closes what it needs.

    Raises:
        InputError: None is named, it cannot be opened, or a setting is wrong.
    """
    from veritrail_graph.verifier.engines import EntailmentParts

    given = settings.nli
    model = await open_entailment_model(
        settings, configured_choice(settings), use_cache, shared, stack
    )
    return EntailmentParts(
        model,
        given.threshold,
        given.evidence_threshold,
        given.evidence_sentences,
        given.joint,
        given.adapter,
        given.weights,
    )


def configured_choice(settings: Settings) -> ModelChoice:
    """The entailment model that the settings name.

    Raises:
        InputError: They name none.
    """
    from veritrail_graph.verifier.nli.opening import ModelChoice

    given = settings.nli
    if given.model is None:
        raise InputError(
            "Engine nli needs an entailment model, and none is named.",
            code="entailment_model_needed",
        )
    return ModelChoice(given.model, given.window, given.labels, given.template, given.api_key)


async def open_entailment_model(
    settings: Settings, choice: ModelChoice, use_cache: bool, shared: Shared, stack: AsyncExitStack
) -> EntailmentModel:
    """Open an entailment model; what it needs is closed with the stack.

    Args:
        settings: The settings.
        choice: The model.
        use_cache: Whether answers of a server come from the cache of answers, and go into it.
        shared: What its calls share with those of language models.
        stack: Closes what it needs.

    Raises:
        InputError: It cannot be opened, or the choice is wrong.
    """
    from veritrail_graph.verifier.nli.opening import checked_template, folder_of, open_folder

    checked_template(choice.template)
    if choice.is_address:
        return _remote(settings, choice, use_cache, shared, stack)
    return await asyncio.to_thread(open_folder, folder_of(choice, settings.home), choice)


def _remote(
    settings: Settings, choice: ModelChoice, use_cache: bool, shared: Shared, stack: AsyncExitStack
) -> EntailmentModel:
    from veritrail_graph.api.configured.models import open_json_model, patience
    from veritrail_graph.api.settings import ModelSettings, checked_key, checked_url
    from veritrail_graph.api.settings.sources import Setting
    from veritrail_graph.verifier.models.json_endpoint import JsonEndpoint
    from veritrail_graph.verifier.nli.endpoint import RemoteModel

    url = checked_url(choice.model, "VERITRAIL_NLI_MODEL")
    if choice.template is not None:
        raise InputError(
            "VERITRAIL_NLI_TEMPLATE is of models on this machine; a server has its own."
        )
    if shared.spending.budget_usd is not None:
        raise InputError(
            f"A budget cannot be kept with the entailment model at {url}: what its calls cost is "
            "not known. Limit the calls instead.",
            code="entailment_price_unknown",
        )
    key = checked_key(choice.api_key, "VERITRAIL_NLI_API_KEY")
    if key is not None:
        settings.check_told(
            Setting.of("VERITRAIL_NLI_MODEL", "nli", "model"),
            Setting.of("VERITRAIL_NLI_API_KEY", "nli", "api_key"),
        )
    endpoint = JsonEndpoint(url, key, attempt_timeout=patience(settings).attempt_timeout)
    pace = ModelSettings(endpoint.address, concurrency=settings.concurrency)
    model = open_json_model(settings, endpoint, pace, shared, stack, use_cache=use_cache)
    return RemoteModel(model, choice.window, choice.labels)

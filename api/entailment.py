"""The entailment model of the engine `nli`, made from settings."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.shared import Shared
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
    from veritrail_graph.verifier.nli.opening import (
        ModelChoice,
        checked_template,
        folder_of,
        open_folder,
    )

    given = settings.nli
    if given.model is None:
        raise InputError(
            "Engine nli needs an entailment model, and none is named.",
            code="entailment_model_needed",
        )
    choice = ModelChoice(
        given.model, given.window, given.labels, checked_template(given.template), given.api_key
    )
    model: EntailmentModel
    if choice.is_address:
        model = _remote(settings, choice, use_cache, shared, stack)
    else:
        model = await asyncio.to_thread(open_folder, folder_of(choice, settings.home), choice)
    return EntailmentParts(
        model,
        given.threshold,
        given.evidence_threshold,
        given.evidence_sentences,
        given.joint,
        given.adapter,
        given.weights,
    )


def _remote(
    settings: Settings, choice: ModelChoice, use_cache: bool, shared: Shared, stack: AsyncExitStack
) -> EntailmentModel:
    from veritrail_graph.api.models import cache_path, patience
    from veritrail_graph.api.settings import ModelSettings, checked_key, checked_url
    from veritrail_graph.verifier.models.cache import AnswerCache
    from veritrail_graph.verifier.models.language_model import LanguageModel, Warm
    from veritrail_graph.verifier.nli.endpoint import EntailmentEndpoint, RemoteModel

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
    retries = patience(settings)
    endpoint = EntailmentEndpoint(url, key, attempt_timeout=retries.attempt_timeout)
    cache: AnswerCache | None = None
    if use_cache:
        cache = AnswerCache(cache_path(settings))
        stack.push_async_callback(cache.close)
    pace = ModelSettings(endpoint.address, concurrency=settings.concurrency)
    model = LanguageModel(
        endpoint,
        endpoint.address,
        patience=retries,
        limiter=shared.limiters.of(endpoint.address, pace),
        cache=cache,
        spending=shared.spending,
        answer_retries=min(settings.answer_retries, 1),
        warm=Warm.OFF,
        party=shared.party,
    )
    stack.push_async_callback(model.close)
    return RemoteModel(model, choice.window, choice.labels)

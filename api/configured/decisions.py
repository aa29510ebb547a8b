"""The decision models of the engine `decisions`, made from settings and options."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.api.settings import (
    ModelSettings,
    Settings,
    Use,
    checked_key,
    checked_url,
    model_settings,
)
from veritrail_graph.api.settings.sources import Setting
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.verifier.decisions.steps import Deciding

URL, KEY = "VERITRAIL_DECISIONS_URL", "VERITRAIL_DECISIONS_API_KEY"


def decision_address(settings: Settings) -> tuple[str, str | None]:
    """Return the address of the endpoint, as it was given, and its key.

    Without an address it is the endpoint of the language models, with their key. Another server is
    sent its own key alone; OpenAI's key goes to OpenAI's host wherever that is named.

    Raises:
        InputError: One of them cannot be one, or the address may not be told the key.
    """
    from veritrail_graph.verifier.decisions.dialects import OPENAI_HOST
    from veritrail_graph.verifier.models.openai_endpoint import OPENAI

    own = settings.decisions
    place, secret = Setting.of(URL, "decisions", "url"), Setting.of(KEY, "decisions", "api_key")
    usual = Setting.of("OPENAI_API_KEY")
    named = own.url or settings.openai_base_url
    if own.url is None and named is not None:
        place = Setting.of("OPENAI_BASE_URL")
    url = checked_url(named, place.name) if named is not None else OPENAI
    own_key = checked_key(own.api_key, secret.name)
    key = own_key
    if key is None and (own.url is None or _is_of_openai(settings, url, OPENAI_HOST)):
        key, secret = checked_key(settings.openai_api_key, usual.name), usual
    if key is not None and named is not None:
        settings.check_told(place, secret)
    return url, key


def _is_of_openai(settings: Settings, url: str, host: str) -> bool:
    """Return whether an address is OpenAI's, and the usual key is not that of another server."""
    usual = settings.openai_base_url
    return urlsplit(url).hostname == host and (usual is None or urlsplit(usual).hostname == host)


def deciding(settings: Settings) -> Deciding:
    """Return how the decision model is asked.

    Raises:
        InputError: The address is none, or there is no such dialect.
    """
    from veritrail_graph.verifier.decisions.dialects import dialect_of
    from veritrail_graph.verifier.decisions.steps import Deciding

    url, _ = decision_address(settings)
    return Deciding(dialect_of(settings.decisions.dialect, url), settings.decisions.threshold)


def decision_settings(
    settings: Settings, options: ModelOptions, *, escalates: bool = False
) -> dict[Use, ModelSettings]:
    """Return the settings of the model of every step.

    A decision model takes no claim apart, and has no written reasons: models of these steps are
    language models, where they are named. Otherwise that of the claims is the one that selects.

    Args:
        settings: The settings.
        options: What was asked for.
        escalates: Whether the settings may name a model to escalate to.

    Raises:
        InputError: A setting has a value that it cannot have, or no model is named.
    """
    selection = _of_step(settings, options, options.selection_model)
    found = {
        Use.CLAIMS: selection,
        Use.SELECTION: selection,
        Use.VERDICT: _of_step(settings, options, options.verdict_model),
    }
    named = {Use.CLAIMS: options.claims_model or settings.claims.model}
    if options.escalate_to or escalates:
        named[Use.ESCALATION] = options.escalate_to or settings.escalation.model
    for use, model in named.items():
        if model is not None:
            found[use] = model_settings(
                settings,
                use,
                "openai",
                model=model,
                concurrency=options.concurrency,
                structured=options.structured,
                effort=options.effort_of(use),
            )
    return found


def _of_step(settings: Settings, options: ModelOptions, named: str | None) -> ModelSettings:
    from veritrail_graph.api.settings.values import parse_price
    from veritrail_graph.verifier.decisions.dialects import address_of

    own = settings.decisions
    model = named or options.model or own.model
    if model is None or not model.strip():
        raise InputError(
            "Engine decisions needs a decision model, and none is named.",
            code="decision_model_needed",
        )
    url, key = decision_address(settings)
    price = (own.price, 0.0) if own.price is not None else None
    return ModelSettings(
        model,
        base_url=address_of(url, deciding(settings).dialect),
        api_key=key,
        temperature=None,
        context_tokens=own.context_tokens,
        max_output_tokens=1,
        concurrency=options.concurrency or settings.concurrency,
        rpm=settings.rpm,
        tpm=settings.tpm,
        price=parse_price(options.price) if options.price else price,
        decides=True,
    )

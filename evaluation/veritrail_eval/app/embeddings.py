"""The embedding model of retrieval, made from settings."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from veritrail_eval.embeddings.port import Embedder
    from veritrail_graph.api.configured.shared import Shared
    from veritrail_graph.api.settings import ModelSettings, Settings
    from veritrail_graph.verifier.models.prices import Price


def embedding_choice(
    settings: Settings, named: str | None, base: Path = Path()
) -> Path | ModelSettings:
    """The embedding model that is named, or that of the settings: a folder, or one at an endpoint.

    Args:
        settings: The settings.
        named: A folder, the name of a fetched model, the base URL of an endpoint (it is asked for
            the model of the settings), or the name of a model at the endpoint of the settings.
        base: What a path is relative to.

    Raises:
        InputError: None is named, or a setting is wrong.
    """
    from dataclasses import replace

    from veritrail_eval.embeddings.local import embedding_folder
    from veritrail_graph.api.settings import ModelSettings, checked_url, endpoint_address

    own = settings.embedding
    name = named or own.model
    if name is None:
        raise InputError(
            "Retrieval needs an embedding model, and none is named.", code="embedding_model_needed"
        )
    # A path of the settings is relative to the working folder, as paths of all settings are.
    folder = embedding_folder(name, settings.home, base if named else Path())
    if folder is not None:
        return folder
    if _is_path(name, base if named else Path()):
        raise InputError(f"There is no folder {name} of an embedding model.")
    address, key = endpoint_address(settings, own, "embedding")
    found = ModelSettings(
        name,
        address,
        key,
        concurrency=own.concurrency or settings.concurrency,
        rpm=own.rpm,
        tpm=own.tpm,
        price=None if own.price is None else (own.price, 0.0),
    )
    if not name.startswith(("http://", "https://")):
        return found
    if own.model is None or own.model == name:
        raise InputError(
            f"The endpoint {name} is asked for a model by its name, and none is set.",
            code="embedding_model_needed",
        )
    url = checked_url(name, "embedding").rstrip("/")
    is_own = address is not None and address.rstrip("/") == url
    # Another server is not sent the key of the first one.
    return replace(found, model=own.model, base_url=url, api_key=key if is_own else None)


def _is_path(name: str, base: Path) -> bool:
    """Return whether a name means a folder, such as `./mini` or one beside others of `models/`."""
    if name.startswith(("http://", "https://")):
        return False
    path = Path(name).expanduser()
    return name.startswith((".", "/", "~")) or (
        len(path.parts) > 1 and (base / path).parent.is_dir()
    )


def embedding_price(settings: Settings, choice: ModelSettings) -> Price | None:
    """Return what a model costs; None: that is not known."""
    from veritrail_graph.api.configured.models import own_prices
    from veritrail_graph.verifier.models.openai_endpoint import OPENAI
    from veritrail_graph.verifier.models.prices import Price, price_of

    if choice.price is not None:
        rate = choice.price[0]
        return Price(rate, rate, 0.0)
    own = own_prices(settings)
    return price_of(choice.model, choice.base_url or OPENAI, own, answers=False)


async def open_embedder(
    settings: Settings,
    named: str | None,
    use_cache: bool,
    shared: Shared,
    stack: AsyncExitStack,
    base: Path = Path(),
) -> Embedder:
    """Open an embedding model; what it needs is closed with the stack.

    Args:
        settings: The settings.
        named: As in `embedding_choice`.
        use_cache: Whether answers of a server come from the cache of answers, and go into it.
        shared: What its calls share with those of other models.
        stack: Closes what it needs.
        base: What a path is relative to.

    Raises:
        InputError: None is named, it cannot be opened, or a budget needs a price.
    """
    from veritrail_eval.embeddings.endpoint import (
        BATCH,
        LONGEST_ANSWER,
        PATH,
        RemoteEmbedder,
        embedding_usage,
    )
    from veritrail_eval.embeddings.local import open_embedding_folder
    from veritrail_graph.api.configured.models import open_json_model, patience
    from veritrail_graph.verifier.models.json_endpoint import JsonEndpoint
    from veritrail_graph.verifier.models.openai_endpoint import OPENAI

    choice = embedding_choice(settings, named, base)
    if isinstance(choice, Path):
        return await asyncio.to_thread(open_embedding_folder, choice)
    price = embedding_price(settings, choice)
    if shared.spending.budget_usd is not None and price is None:
        raise InputError(
            f"A budget needs the price of {choice.model}, which is not known.",
            code="embedding_price_unknown",
        )
    endpoint = JsonEndpoint(
        f"{(choice.base_url or OPENAI).rstrip('/')}{PATH}",
        choice.api_key,
        attempt_timeout=patience(settings).attempt_timeout,
        longest_answer=LONGEST_ANSWER,
        used=embedding_usage,
    )
    model = open_json_model(
        settings, endpoint, choice, shared, stack, price=price, use_cache=use_cache
    )
    return RemoteEmbedder(model, settings.embedding.batch or BATCH)

"""The prices of calls: a table of the user's own, then the data of `genai-prices`.

Only the prices that come with that package are read; it can also fetch newer ones, which is
never asked of it. A price that is not known is None, never 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.known_models import known_model

BATCH_PRICE_FACTOR = 0.5
"""What part of the price a call in a batch costs, where it is not known better."""
HIGHEST = 1_000_000  # US dollars per million tokens; what is more is a mistake
_DATE = re.compile(r"-(20\d\d-?\d\d-?\d\d)$")
_KEYS = frozenset({"input", "output", "cached_input"})


class InvalidPrices(InputError):
    """A table of prices cannot be used."""

    code = "invalid_prices"


@dataclass(frozen=True, slots=True)
class Price:
    """A price in US dollars per million tokens.

    Attributes:
        input: Of a token of the prompt.
        cached_input: Of one that the endpoint read from its own cache of prefixes.
        output: Of a token of the answer, those of reasoning included.
        above: Prices of calls with longer prompts: above how many tokens, and what; ascending.
        batch: The price of a call in a batch, where it is known and another.
    """

    input: float
    cached_input: float
    output: float
    above: tuple[tuple[int, Price], ...] = ()
    batch: Price | None = None

    def times(self, factor: float) -> Price:
        """Return the same price with all rates multiplied."""
        return Price(
            self.input * factor,
            self.cached_input * factor,
            self.output * factor,
            tuple((start, price.times(factor)) for start, price in self.above),
        )

    def with_batch(self, factor: float | None) -> Price:
        """Return the same price with one for batches.

        Args:
            factor: What part of the price a call in a batch costs; None: the known price of
                batches, else `BATCH_PRICE_FACTOR`.
        """
        if factor is None and self.batch is not None:
            return self
        return replace(self, batch=self.times(BATCH_PRICE_FACTOR if factor is None else factor))

    def cost(self, usage: Usage) -> float:
        """Return what one call cost, in US dollars."""
        price = self
        if usage.batch_calls and self.batch is not None:
            price = self.batch
        for start, higher in price.above:
            if usage.input_tokens > start:
                price = higher
        fresh = usage.input_tokens - usage.cached_input_tokens
        return (
            fresh * price.input
            + usage.cached_input_tokens * price.cached_input
            + usage.output_tokens * price.output
        ) / 1_000_000


def priced(usage: Usage, price: Price | None) -> Usage:
    """The usage of one call with what it cost, or marked as of unknown price."""
    if price is None:
        return usage.replace(cost_usd=None, unpriced_calls=usage.calls)
    return usage.replace(cost_usd=price.cost(usage), unpriced_calls=0)


def price_of(
    model: str, address: str, own: Mapping[str, Price] | None = None, *, answers: bool = True
) -> Price | None:
    """The price of a model at an endpoint, or None where it is not known.

    Args:
        model: Its name as requests carry it.
        address: The endpoint's base URL.
        own: The user's own table, which goes before all else.
        answers: Whether it answers in tokens; embeddings have none, and so no price of them.
    """
    if own and model in own:
        return own[model]
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    try:
        provider = snapshot.find_provider(None, None, address)
    except LookupError:
        return _of_first_party(model, snapshot, answers)
    found = provider.find_model(model, all_providers=snapshot.providers)
    return _price(found, answers)


def decision_price_of(
    model: str, address: str, own: Mapping[str, Price] | None = None
) -> Price | None:
    """The price of a decision model at an endpoint, or None where it is not known.

    Its answers cost nothing, whatever an endpoint counts of them.

    Args:
        model: Its name as requests carry it.
        address: The endpoint's address.
        own: The user's own table, which goes before all else.
    """
    if own and model in own:
        return own[model]
    from genai_prices.data_snapshot import get_snapshot

    snapshot = get_snapshot()
    try:
        provider = snapshot.find_provider(None, None, address)
    except LookupError:
        return _of_first_party(model, snapshot, answers=False)
    if provider.id == "openai":  # the same model answers in words at another price
        provider = next(one for one in snapshot.providers if one.id == "openai-decisions")
    return _price(provider.find_model(model, all_providers=snapshot.providers), answers=False)


def read_table(path: Path) -> dict[str, Price]:
    """Read a table of prices: `{"model": {"input": 1.25, "output": 10, "cached_input": 0.125}}`.

    Raises:
        InvalidPrices: It cannot be read, or holds what is no price; the message says where.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidPrices(f"the table of prices {path} cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise InvalidPrices(f"the table of prices {path} is no JSON object of models")
    return {model: _row(path, model, row) for model, row in found.items()}


def _row(path: Path, model: str, row: Any) -> Price:
    where = f"the table of prices {path}, model {model!r}"
    if not isinstance(row, dict) or not {"input", "output"} <= row.keys() <= _KEYS:
        raise InvalidPrices(
            f"{where}: expected `input`, `output` and, if you like, `cached_input`,"
            " in US dollars per million tokens"
        )
    rates: dict[str, float] = {}
    for key, value in row.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value <= HIGHEST:  # not so for nan
            found = repr(value)
            found = found if len(found) <= 40 else f"{found[:40]}…"
            raise InvalidPrices(
                f"{where}: `{key}` is {found}, not a number of US dollars from 0 to {HIGHEST:,}"
            )
        rates[key] = float(value)
    return Price(rates["input"], rates.get("cached_input", rates["input"]), rates["output"])


def _of_first_party(model: str, snapshot: Any, answers: bool) -> Price | None:
    """The maker's price of a closed model that is named exactly, also through a gateway.

    A name like `llama-3.1-8b` says nothing: it may run on the own machine.
    """
    name, maker = model.lower(), known_model(model).maker
    exact = {name, _DATE.sub("", name)}
    for provider in snapshot.providers:
        if provider.id == maker:
            for found in provider.models:
                if found.id in exact and found.is_match(name):
                    return _price(found, answers)
    return None


def _price(found: Any, answers: bool) -> Price | None:
    """A price from the form that `genai-prices` gives it."""
    if found is None:
        return None
    at = datetime.now(tz=UTC)
    live = _rates(found.get_prices(at), answers)
    batch = _rates(found.get_prices(at, {"processing": "batch"}), answers)
    return live if live is None or batch in (None, live) else replace(live, batch=batch)


def _rates(rates: Any, answers: bool) -> Price | None:
    fresh = _tiers(rates.input_mtok)
    output = _tiers(rates.output_mtok) if answers else {0: 0.0}
    if not fresh or not output:
        return None
    cached = _tiers(rates.cache_read_mtok) or fresh
    steps = [
        (start, Price(_rate(fresh, start), _rate(cached, start), _rate(output, start)))
        for start in sorted({*fresh, *cached, *output})
    ]
    return replace(steps[0][1], above=tuple(steps[1:]))


def _tiers(price: Any) -> dict[int, float]:
    """Prices by the length of prompt above which they hold; empty: there is no price."""
    if price is None:
        return {}
    higher = {int(tier.start): float(tier.price) for tier in getattr(price, "tiers", ())}
    return {0: float(price.base if higher else price), **higher}


def _rate(tiers: Mapping[int, float], start: int) -> float:
    return tiers[max(known for known in tiers if known <= start)]

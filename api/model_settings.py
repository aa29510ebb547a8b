"""Settings of the models: one for all steps, and each step's own on top.

A step's own setting has its name in front: `VERITRAIL_VERDICT_MODEL` beside
`VERITRAIL_MODEL`. A step with an endpoint of its own takes no key that was set for another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from veritrail_graph.graph.errors import InputError


class Use(StrEnum):
    """What a model is used for."""

    CLAIMS = "claims"
    SELECTION = "selection"
    VERDICT = "verdict"


CALLS = 16
"""Calls in the air, where nothing is set."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How one model is asked.

    Attributes:
        model: Its name.
        base_url: The endpoint; None: the engine's default.
        api_key: The key; never shown, logged or stored.
        api_version: Version of the endpoint's interface (Azure).
        temperature: Of a single answer; None: the endpoint's own.
        context_tokens: Its context window; None: the model table, else 128,000.
        max_output_tokens: The longest answer; None: a share of the window.
        concurrency: The most calls in the air.
        rpm: The most calls a minute.
        tpm: The most tokens a minute.
        price: USD per million tokens: input, output and, if given, cached input.
        structured: Whether the endpoint is told the shape of an answer.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    api_version: str | None = None
    temperature: float | None = 0.0
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    concurrency: int = CALLS
    rpm: int | None = None
    tpm: int | None = None
    price: tuple[float, ...] | None = None
    structured: bool = False


def model_settings(
    values: Mapping[str, str],
    use: Use,
    engine: str,
    *,
    model: str | None = None,
    concurrency: int | None = None,
    price: str | None = None,
    structured: bool = False,
) -> ModelSettings:
    """Settings of the model of a step from the environment; what an option says comes first.

    Args:
        values: The environment.
        use: The step.
        engine: The engine; `azure` has settings of its own for address and key.
        model: The model, where an option names it.
        concurrency: Calls in the air, where an option says it.
        price: The price, where an option gives it.
        structured: Whether an option asks for structured answers.

    Raises:
        InputError: A setting has a value that it cannot have, or no model is named.
    """
    of = _Reader(values, use)
    if model is not None and not model.strip():
        raise InputError("the name of a model is empty")
    name = model or of.text("MODEL")
    if name is None:
        raise InputError(f"Engine {engine} needs a model.", code="model_needed", engine=engine)
    address, key = _address(values, of, engine)
    given = price or of.text("PRICE")
    return ModelSettings(
        model=name,
        base_url=address,
        api_key=key,
        api_version=values.get("OPENAI_API_VERSION"),
        temperature=of.temperature(),
        context_tokens=of.whole("CONTEXT_TOKENS"),
        max_output_tokens=of.whole("MAX_OUTPUT_TOKENS"),
        concurrency=concurrency or of.whole("CONCURRENCY") or CALLS,
        rpm=of.whole("RPM"),
        tpm=of.whole("TPM"),
        price=_price(given) if given else None,
        structured=structured or of.flag("STRUCTURED"),
    )


def _address(values: Mapping[str, str], of: _Reader, engine: str) -> tuple[str | None, str | None]:
    """Base URL and key of a step's model."""
    names = ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY")
    url, key = names if engine == "azure" else ("OPENAI_BASE_URL", "OPENAI_API_KEY")
    own = of.own("BASE_URL")
    if own is not None:  # another server: it is not given the first one's key
        return checked_url(own, of.name("BASE_URL")), _own_key(of)
    address = values.get(url)
    found = _own_key(of) or checked_key(values.get(key), key)
    return (checked_url(address, url) if address else None), found


def _own_key(of: _Reader) -> str | None:
    return checked_key(of.own("API_KEY"), of.name("API_KEY"))


def checked_key(key: str | None, name: str) -> str | None:
    """A key that a header can hold: what else there is in it would end up in messages.

    Raises:
        InputError: It cannot be one; the message does not repeat it.
    """
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise InputError(
            f"{name} is no key: it holds a blank, a line break or a character that no key has; "
            "copy it again"
        )
    return key


def checked_url(url: str, name: str) -> str:
    """A base URL that can be one, and that holds no key.

    Raises:
        InputError: It is none; the message does not repeat what may be a password.
    """
    wanted = "write it as https://host/v1 or http://127.0.0.1:8000/v1"
    try:
        if not (url.isascii() and url.isprintable() and " " not in url):
            raise ValueError
        parts = urlsplit(url)
        is_whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise InputError(f"{name} is no address; {wanted}") from None
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{name} holds a user name or password; {wanted}, and set the key apart")
    if not is_whole:
        raise InputError(f"{name} is no address; {wanted}")
    if parts.query or parts.fragment:
        raise InputError(f"{name} holds a query or a fragment (`?` or `#`); {wanted}")
    if parts.path.rstrip("/").endswith("/chat/completions"):
        raise InputError(f"{name} ends with /chat/completions, which is added by itself; {wanted}")
    return url


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads `VERITRAIL_USE_NAME`, else `VERITRAIL_NAME`."""

    values: Mapping[str, str]
    use: Use

    def name(self, name: str) -> str:
        return f"VERITRAIL_{self.use.upper()}_{name}"

    def own(self, name: str) -> str | None:
        return self.values.get(self.name(name))

    def _found(self, name: str) -> tuple[str, str] | None:
        for full in (self.name(name), f"VERITRAIL_{name}"):
            if full in self.values:
                return full, self.values[full]
        return None

    def text(self, name: str) -> str | None:
        found = self._found(name)
        return found[1] if found else None

    def whole(self, name: str) -> int | None:
        found = self._found(name)
        if found is None:
            return None
        if not (found[1].isascii() and found[1].isdigit() and 0 < int(found[1]) < 10**9):
            raise InputError(f"{found[0]}={found[1]!r}: must be a whole number above 0")
        return int(found[1])

    def flag(self, name: str) -> bool:
        found = self._found(name)
        if found is None:
            return False
        if found[1].lower() not in {"on", "off", "1", "0", "true", "false", "yes", "no"}:
            raise InputError(f"{found[0]}={found[1]!r}: must be on or off")
        return found[1].lower() in {"on", "1", "true", "yes"}

    def temperature(self) -> float | None:
        found = self._found("TEMPERATURE")
        if found is None:
            return 0.0
        if found[1].lower() == "none":
            return None
        value = number(found[1], found[0])
        if value > 2:
            raise InputError(f"{found[0]}={found[1]!r}: must lie between 0 and 2, or be none")
        return value


def number(text: str, name: str) -> float:
    """A number that is not negative.

    Raises:
        InputError: It is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise InputError(f"{name}={text!r}: must be a number, 0 or more")
    return value


def _price(text: str) -> tuple[float, ...]:
    """A price as INPUT,OUTPUT or INPUT,OUTPUT,CACHED."""
    parts = text.split(",")
    if len(parts) not in {2, 3}:
        raise InputError(
            f"price {text!r}: write INPUT,OUTPUT or INPUT,OUTPUT,CACHED, in USD per million tokens"
        )
    price = tuple(number(part.strip(), "price") for part in parts)
    from veritrail_graph.verifier.models.prices import HIGHEST

    if max(price) > HIGHEST:
        raise InputError(f"price {text!r}: no model costs so much; it is USD per million tokens")
    return price

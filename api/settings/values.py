"""Reading the texts of settings: numbers, times, sizes, addresses; and the types made of them.

A `ValueError` becomes the error message, after the name of the setting and its value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.walking import Walk as Walk

DAY = 86_400.0
_LONGEST = 86_400.0
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_SIZE_UNITS = {"": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}
_TIME_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": DAY}
_ON, _OFF = ("on", "1", "true", "yes"), ("off", "0", "false", "no")


def parsed(parse: Callable[[str], Any]) -> BeforeValidator:
    """Parse texts; a value that code passes is taken unchanged.

    A `ValueError` becomes the error message, after the name of the setting and its value. Where the
    message names the setting itself, it holds `{name}`, or `{setting}` for name and value.
    """
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


def number(text: str) -> float:
    """A finite number of at least 0.

    Raises:
        ValueError: The text is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise ValueError("must be a number, 0 or more")
    return value


def above_zero(text: str) -> float:
    """A finite number above 0.

    Raises:
        ValueError: The text is none.
    """
    if (value := number(text)) == 0:
        raise ValueError("must be a number above 0")
    return value


def whole(text: str) -> int:
    """A whole number above 0.

    Raises:
        ValueError: The text is none.
    """
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**9):
        raise ValueError("must be a whole number above 0")
    return int(text)


def flag(text: str) -> bool:
    """Return whether a text says on.

    Raises:
        ValueError: The text is none.
    """
    if text.lower() not in (*_ON, *_OFF):
        raise ValueError("must be on or off")
    return text.lower() in _ON


def seconds(least: float) -> BeforeValidator:
    """Parse a number of seconds of at least so many, and at most a day."""

    def parse(text: str) -> float:
        if not re.fullmatch(r"\d+(\.\d+)?", text) or not least <= float(text) <= _LONGEST:
            raise ValueError(f"must be a number of seconds from {least:g} to {_LONGEST:g}")
        return float(text)

    return parsed(parse)


def float_within(least: float, most: float, message: str) -> BeforeValidator:
    """Parse a number between two, else say this."""

    def parse(text: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not least <= seconds <= most:  # also what is no number
            raise ValueError(message)
        return seconds

    return parsed(parse)


def duration(text: str) -> float:
    """Seconds of a time such as `90s`, `5m` or `1h`.

    Raises:
        ValueError: The text is none.
    """
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,3})?)([smhd]?)", text.lower())
    if match is None:
        raise ValueError("is no time; write it as 30s, 10m, 1h or 30d")
    return float(match[1]) * _TIME_UNITS[match[2]]


def size(text: str) -> int:
    """Bytes of a size such as `50mb`.

    Raises:
        ValueError: The text is none.
    """
    match = re.fullmatch(r"(\d+)\s*([a-z]*)", text.lower())
    if match is None or match[2] not in _SIZE_UNITS or int(match[1]) == 0:
        raise ValueError("must be a number of bytes above 0, or such as 10MB")
    return int(match[1]) * _SIZE_UNITS[match[2]]


def rate(text: str) -> int:
    """Requests a minute.

    Raises:
        ValueError: The text is none.
    """
    if not (text.isdecimal() and 0 < int(text) <= 1_000_000):
        raise ValueError("must be a number of requests a minute")
    return int(text)


def walk(text: str) -> Walk:
    """A way to find the next frontier of a walk.

    Raises:
        ValueError: The text is none.
    """
    try:
        return Walk(text.lower())
    except ValueError:
        raise ValueError(f"must be {' or '.join(Walk)}") from None


def effort(text: str) -> str:
    """An effort of reasoning."""
    from veritrail_graph.verifier.models.known_models import Effort

    if text.lower() not in set(Effort):
        raise ValueError(f"must be one of {', '.join(Effort)}")
    return text.lower()


def temperature(text: str) -> float | None:
    """A temperature; None: the endpoint's own.

    Raises:
        ValueError: The text is none.
    """
    if text.lower() == "none":
        return None
    if (value := number(text)) > 2:
        raise ValueError("must lie between 0 and 2, or be none")
    return value


def parse_price(text: str) -> tuple[float, ...]:
    """A price: INPUT,OUTPUT or INPUT,OUTPUT,CACHED, in USD per million tokens.

    Raises:
        InputError: It is none; the message calls it `price`, as options and settings give it.
    """
    from veritrail_graph.verifier.models.prices import HIGHEST

    parts = [part.strip() for part in text.split(",")]
    if len(parts) not in {2, 3}:
        raise InputError(
            f"price {text!r}: write INPUT,OUTPUT or INPUT,OUTPUT,CACHED, in USD per million tokens"
        )
    price: list[float] = []
    for part in parts:
        try:
            price.append(number(part))
        except ValueError as error:
            raise InputError(f"price={part!r}: {error}") from None
    if max(price) > HIGHEST:
        raise InputError(f"price {text!r}: no model costs so much; it is USD per million tokens")
    return tuple(price)


def input_price(text: str) -> float:
    """A price in USD per million tokens of models that write nothing: answers have none.

    Raises:
        ValueError: The text is none.
    """
    from veritrail_graph.verifier.models.prices import HIGHEST

    if (price := number(text)) > HIGHEST:
        raise ValueError("no model costs so much; it is USD per million tokens")
    return price


def origins(text: str) -> frozenset[str]:
    """Origins of web pages, without a path.

    Raises:
        ValueError: The text is none.
    """
    origins = frozenset(text.replace(",", " ").split())
    for origin in origins:
        try:
            parts = urlsplit(origin)
            is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_whole = False
        if not is_whole or origin != f"{parts.scheme}://{parts.netloc}":
            raise ValueError(
                f"{{name}}: {origin!r} is no origin; write each as https://example.org, without a "
                "path, and with blanks between them"
            )
    return origins


def browser(text: str) -> str:
    """The address of Neo4j Browser.

    Raises:
        ValueError: The text is none.
    """
    found = urlsplit(text)
    if found.scheme not in ("http", "https") or not found.hostname or found.query:
        raise ValueError(
            "{setting} is no address of Neo4j Browser; write it as http://host:7474/browser/"
        )
    return text


def folder(text: str) -> Path:
    """A path, with the home folder written out.

    Raises:
        ValueError: The text is none.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError("the home folder of that user is not known") from None


def bolt(uri: str) -> str:
    """The address of a Bolt server; a fault is named here, before the driver names it."""
    form = "write it as bolt://host:7687 or neo4j://host:7687"
    try:
        parts = urlsplit(uri)
        is_whole = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ValueError(f"{{setting}} is no address; {form}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            f"{{name}} holds a user name or password; {form}, and set NEO4J_USERNAME and "
            "NEO4J_PASSWORD"
        )
    if parts.scheme in ("http", "https"):
        raise ValueError(
            "{setting} is an address for a web browser; this program speaks Bolt: write it as "
            f"bolt://{parts.hostname or 'host'}:7687"
        )
    if not is_whole:
        raise ValueError(f"{{setting}} is no address of a Bolt server; {form}")
    return uri


class Role(Enum):
    """A role of a setting for other parts; part of its type, so that each rule reads it there."""

    SECRET = auto()
    """A key, a password, or an address that holds one."""
    ADDRESS = auto()
    """Keys or texts are sent there."""
    WRITTEN = auto()
    """A file or folder that is written to."""
    OPENS = auto()
    """It lets more callers in, or messages out."""


probability = float_within(0.0, 1.0, "must be a number from 0 to 1")
Whole = Annotated[int, parsed(whole)]
Text = str | None
Secret = Annotated[str | None, Field(repr=False), Role.SECRET]
Address = Annotated[str | None, Role.ADDRESS]
Written = Annotated[Path | None, parsed(folder), Role.WRITTEN]
Positive = Annotated[float, parsed(above_zero)]
Duration = Annotated[float, parsed(duration)]
Size = Annotated[int, parsed(size)]

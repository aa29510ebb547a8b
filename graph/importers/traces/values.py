"""Values that tracers write: times, texts, ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from veritrail_graph.graph.errors import InputError

_A_TIME = "2025-01-31T12:00:00Z"
_VALUES = {
    "array_value": "arrayValue", "kvlist_value": "kvlistValue", "int_value": "intValue",
}  # fmt: skip
"""Types of values as protobuf's writer names them where it keeps the names of fields."""
_PLACE_DIGITS = 10
_UNITS = ((1e17, 1), (1e14, 1_000), (1e11, 1_000_000))


def text_or_none(value: Any) -> str | None:
    """A text that is not empty; None for all else."""
    return value if isinstance(value, str) and value else None


def nanoseconds(value: Any, where: str) -> int:
    """A time in nanoseconds, of a text in ISO 8601 or a number since 1970.

    A number is one of seconds, unless they were of the year 5138 or later: then it is one of
    milliseconds, micro- or nanoseconds.

    Raises:
        InputError: It is neither.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 25:
        value = int(value)  # as OTLP writes it
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e25:
        unit = next((unit for least, unit in _UNITS if abs(value) >= least), 1_000_000_000)
        return int(value * unit)
    try:
        if not isinstance(value, str):
            raise ValueError
        moment = datetime.fromisoformat(value)
    except ValueError:
        what = "no time is given" if value is None else f"{str(value)[:60]!r} is no time"
        raise InputError(f"{where}: {what}; give one such as {_A_TIME}") from None
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000_000 + since.microseconds * 1_000


_STATUS = ("message", "description", "status_message")
_MESSAGES = (
    "status_message", "statusMessage", "otel_status_message", "otel.status_description",
    "status.message", "status_description",
)  # fmt: skip


def status_of(span: Mapping[str, Any]) -> str | None:
    """The message with which a span ended, whatever its tracer calls it; None: it has none."""
    status = span.get("status")
    held = status if isinstance(status, dict) else {}
    said = (*(held.get(name) for name in _STATUS), *(span.get(name) for name in _MESSAGES))
    return next(filter(None, map(text_or_none, said)), None)


def beside(held: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, Any]]:
    """Return the fields that tell of a call besides, as far as it has them."""
    return [(name, held[name]) for name in names if held.get(name)]


def listed_attributes(given: Any, where: str) -> dict[str, Any]:
    """Attributes as OTLP lists them, each with its typed value, as an object.

    Raises:
        InputError: They are no such list.
    """
    listed = isinstance(given, (list, tuple))
    if not listed or not all(isinstance(one, dict) and "key" in one for one in given):
        raise InputError(f"{where}: `attributes` must be a list of objects with `key` and `value`")
    try:
        found: dict[str, Any] = {}
        for one in given:
            name, value = str(one["key"]), typed(one.get("value"))
            if name in found and found[name] != value:  # the last counts, and none is lost
                count = sum(key.startswith(f"{name}~") for key in found)
                found[f"{name}~{count + 2}"] = found[name]
            found[name] = value
        return found
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise InputError(f"{where}: the value of an attribute is not as OTLP writes it") from None


def typed(value: Any) -> Any:
    """A value of OTLP, which says its type."""
    if not isinstance(value, dict) or not value:
        return value or None
    ((kind, inner),) = list(value.items())[:1]
    kind = _VALUES.get(kind, kind)
    if kind == "arrayValue":
        return [typed(one) for one in inner.get("values", ())]
    if kind == "kvlistValue":
        return {one["key"]: typed(one.get("value")) for one in inner.get("values", ())}
    return int(inner) if kind == "intValue" else inner


def from_dotted(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes whose names are paths (`a.0.b`) as objects and lists.

    A name that is both a value and the beginning of another keeps the value under an empty key.
    """
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        place = tree
        parts = name.split(".")
        for part in parts[:-1]:
            inner = place.setdefault(part, {})
            if not isinstance(inner, dict):
                inner = place[part] = {"": inner}
            place = inner
        last = parts[-1]
        known = place.get(last)
        if isinstance(known, dict):
            known[""] = value
        else:
            place[last] = value
    listed = _listed(tree)
    return listed if isinstance(listed, dict) else {}


def _is_place(key: str) -> bool:
    """Return whether a key is the number of a place in a list: `²` is a digit, and no number."""
    return key.isascii() and key.isdigit() and len(key) < _PLACE_DIGITS


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _listed(one) for key, one in value.items()}
    if inner and all(_is_place(key) for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner

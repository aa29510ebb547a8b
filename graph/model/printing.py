"""Nouns as Python prints them: what they are in a line, and their fields a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from pydantic import BaseModel

_LONGEST = 200
_SHORT = 80
_LISTED = 3
_ENDS = ("verdict", "category", "status")
_TEXTS = ("claim", "text", "name", "message")


class Printed:
    """Prints a pydantic model for people; `model_dump()` has all of its fields."""

    def __repr__(self) -> str:
        assert isinstance(self, BaseModel)  # noqa: S101  # what it is mixed into
        fields = type(self).model_fields
        ids = [name for name in fields if name.endswith("_id") and getattr(self, name, None)]
        own = next((name for name in ids if name != "process_id"), *ids[:1]) if ids else None
        named = f" {getattr(self, own)}" if own else ""
        facts = [_word(self, _ENDS), _quoted(_word(self, _TEXTS))]
        facts += [] if any((named, *facts)) else [*_fields(self)][:_LISTED]
        said = ", ".join(fact for fact in facts if fact)
        return f"<{type(self).__name__}{named}{f': {said}' if said else ''}>"

    def __str__(self) -> str:
        assert isinstance(self, BaseModel)  # noqa: S101  # what it is mixed into
        return "\n".join((type(self).__name__, *(f"  {line}" for line in _fields(self))))


def _word(model: BaseModel, names: Sequence[str]) -> str:
    values = (getattr(model, name, None) for name in names if name in type(model).model_fields)
    return next((_plain(value) for value in values if isinstance(value, str) and value), "")


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…") if text else ""


def _fields(model: BaseModel) -> Iterator[str]:
    """Yield the fields that say something, a line each."""
    for name in type(model).model_fields:
        value = getattr(model, name, None)
        if value is not None and value != "" and value != () and value != [] and value != {}:
            yield f"{name}: {_plain(value)}"


def _plain(value: Any) -> str:
    """Return a value on a line; of many the first are printed."""
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, BaseModel):
        return _cut(repr(value))
    if isinstance(value, Mapping):
        return _cut(", ".join(f"{key} {_plain(one)}" for key, one in [*value.items()][:20]))
    if isinstance(value, Sequence) and not isinstance(value, str):
        more = f" and {len(value) - _LISTED:,} more" if len(value) > _LISTED else ""
        return ", ".join(map(_plain, value[:_LISTED])) + more
    return _cut(" ".join(str(value).split()))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

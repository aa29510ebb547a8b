"""Every setting with its value and where it came from, for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from veritrail_graph.api.settings.file import name_of
from veritrail_graph.api.settings.secret_files import (
    Way,
    keys_of,
    roles_of,
    ways_to_settings,
)
from veritrail_graph.api.settings.sources import Source
from veritrail_graph.api.settings.values import Role

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings


@dataclass(frozen=True, slots=True)
class SettingFound:
    """A setting as it counts now.

    Attributes:
        name: Its name in `veritrail.toml`: `model`, `verdict.model`.
        value: Its value as text; None: it has none. A secret is never shown.
        source: Where it was set; None: it is not set, the default counts.
    """

    name: str
    value: str | None
    source: Source | None


SET = "(set)"


def names(model: type[BaseModel]) -> Iterator[str]:
    """Yield the names of all settings of a class."""
    return map(_name, ways_to_settings(model))


def settings_found(settings: Settings) -> list[SettingFound]:
    """Return every setting, in the order of the names."""
    every = (_found(settings, way) for way in ways_to_settings(type(settings)))
    return sorted(every, key=lambda setting: setting.name)


def _found(settings: Settings, way: Way) -> SettingFound:
    value = reduce(getattr, (name for name, _ in way), settings)
    _, field = way[-1]
    is_secret = Role.SECRET in roles_of(field)
    text = SET if is_secret and value is not None else _text(value)
    path = tuple(key.lower() for key in keys_of(way))
    return SettingFound(_name(way), text, settings.origins.found.get(path))


def _name(way: Way) -> str:
    return ".".join(name_of(name, field) for name, field in way)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | frozenset):
        return ", ".join(map(str, value))
    return str(value)

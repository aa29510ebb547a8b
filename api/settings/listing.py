"""Every setting with its value and where it came from, for people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from veritrail_graph.api.settings.file import name_of
from veritrail_graph.api.settings.secret_files import roles_of
from veritrail_graph.api.settings.sources import Origins, Path, Source
from veritrail_graph.api.settings.values import Role

if TYPE_CHECKING:
    from veritrail_graph.api.settings import Settings


@dataclass(frozen=True, slots=True)
class SettingFound:
    """A setting as it counts now.

    Attributes:
        name: Its name in `veritrail.toml`: `model`, `verdict.model`.
        value: Its value as text; None: it has none. A secret is never shown.
        source: Where it was set; None: nobody set it, the default counts.
    """

    name: str
    value: str | None
    source: Source | None


SET = "(set)"


def names(model: type[BaseModel], place: str = "") -> Iterator[str]:
    """Yield the names of all settings of a class.

    Args:
        model: The class.
        place: What stands before each name.
    """
    for field_name, field in model.model_fields.items():
        inner = field.annotation
        name = place + name_of(field_name, field)
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from names(inner, f"{name}.")
        else:
            yield name


def settings_found(settings: Settings) -> list[SettingFound]:
    """Return every setting, in the order of the names.

    Args:
        settings: The settings.
    """
    return sorted(_found(settings, settings.origins, (), ""), key=lambda each: each.name)


def _found(model: BaseModel, origins: Origins, before: Path, place: str) -> Iterator[SettingFound]:
    for field_name, field in type(model).model_fields.items():
        name, value = name_of(field_name, field), getattr(model, field_name)
        path = (*before, str(field.validation_alias or field_name).lower())
        if isinstance(value, BaseModel):
            yield from _found(value, origins, path, f"{place}{name}.")
        else:
            is_secret = Role.SECRET in roles_of(field)
            text = SET if is_secret and value is not None else _text(value)
            yield SettingFound(place + name, text, origins.found.get(path))


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | frozenset):
        return ", ".join(map(str, value))
    return str(value)

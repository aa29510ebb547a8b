"""Secrets that lie in files: where `NAME` is a secret, `NAME_FILE` in the environment names a file.

Docker and Kubernetes hand secrets over as files. The environment alone may name one: a `.env` of
somebody else would have a file of the user's read, and sent to an address that it names, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic_settings import PydanticBaseSettingsSource

from veritrail_graph.api.settings.values import Role
from veritrail_graph.graph.errors import InputError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

MOST_BYTES = 10_000

Way = tuple[tuple[str, "FieldInfo"], ...]
"""The fields that lead to a setting, by their names: those of a step first, then its own."""


def roles_of(field: FieldInfo) -> set[Role]:
    """Return what a setting means to somebody else."""
    return {one for one in field.metadata if isinstance(one, Role)}


def ways_to_settings(model: type[BaseModel], before: Way = ()) -> Iterator[Way]:
    """Yield the way to every setting of a class.

    Args:
        model: The class.
        before: The way to the class.
    """
    for name, field in model.model_fields.items():
        way = (*before, (name, field))
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from ways_to_settings(inner, way)
        else:
            yield way


def keys_of(way: Way) -> tuple[str, ...]:
    """Return the keys that lead to a setting in what its sources read."""
    return tuple(str(field.validation_alias or name) for name, field in way)


def keys_by_environment(
    model: type[BaseModel], prefix: str
) -> Iterator[tuple[str, tuple[str, ...], FieldInfo]]:
    """Every setting: its name in the environment, the keys that lead to it, and its field."""
    for way in ways_to_settings(model):
        keys, place = keys_of(way), prefix
        for key, (_, field) in zip(keys, way, strict=True):
            place = f"{key}_" if field.validation_alias else f"{place}{key.upper()}_"
        yield place.removesuffix("_"), keys, way[-1][1]


class SecretFiles(PydanticBaseSettingsSource):
    """The settings source that reads the secret files that the environment names."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Nothing: all fields are read at once."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """The secrets by the names that the settings read.

        Raises:
            InputError: A file cannot be read.
        """
        found: dict[str, Any] = {}
        prefix = str(self.config.get("env_prefix", ""))
        for environment, keys, field in keys_by_environment(self.settings_cls, prefix):
            name = f"{environment}_FILE"
            if Role.SECRET not in roles_of(field) or not (path := os.environ.get(name, "").strip()):
                continue
            place = found
            for key in keys[:-1]:
                place = place.setdefault(key, {})
            place[keys[-1]] = _secret(name, path)
        return found


def _secret(name: str, path: str) -> str:
    """The text of a file, without the line break at its end.

    Raises:
        InputError: It cannot be read.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(MOST_BYTES + 1).decode("utf-8")
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or "it is no text"
        raise InputError(f"{name} {path!r} cannot be read: {reason}") from None
    if len(text) > MOST_BYTES:
        raise InputError(f"{name} {path!r} cannot be read: it is too long for a secret")
    return text.rstrip("\r\n")

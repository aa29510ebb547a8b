"""The sources of settings, and the addresses that each secret may go to.

A folder that somebody else made can hold a `.env` or a `veritrail.toml`. Whoever runs a command in
it has keys in the environment, which an address of that folder must not get. So an address counts
for a secret only where it comes from the secret's own source or from a more trusted one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from veritrail_graph.graph.errors import InputError


class Source(IntEnum):
    """A source of settings, the most trusted first."""

    CALL = 0
    ENVIRONMENT = 1
    DOTENV = 2
    PROJECT = 3

    @property
    def words(self) -> str:
        """The source in words, behind "from"."""
        return _WORDS[self]


_WORDS = {
    Source.CALL: "an option",
    Source.ENVIRONMENT: "the environment",
    Source.DOTENV: ".env of the working folder",
    Source.PROJECT: "veritrail.toml",
}

Path = tuple[str, ...]
"""A setting by the names that lead to it, in small letters: `("verdict", "base_url")`."""


@dataclass(slots=True)
class Origins:
    """The origin of each setting: the most trusted source that gives it."""

    found: dict[Path, Source] = field(default_factory=dict)

    def noting(
        self, source: Source, read: Callable[[], Mapping[str, Any]]
    ) -> Callable[[], dict[str, Any]]:
        """A source of settings that is read as it was, and whose names are noted."""

        def noted() -> dict[str, Any]:
            values = dict(read())
            for path in _paths(values):
                self.found[path] = min(source, self.found.get(path, source))
            return values

        return noted

    def of(self, *path: str) -> Source:
        """Return where a setting comes from; one that nobody set is of the most trusted source."""
        return self.found.get(tuple(name.lower() for name in path), Source.CALL)


def _paths(values: Mapping[str, Any], before: Path = ()) -> Iterator[Path]:
    """The settings that have a value; blank ones have none."""
    for name, value in values.items():
        path = (*before, str(name).lower())
        if isinstance(value, Mapping):
            yield from _paths(value, path)
        elif value is not None and (not isinstance(value, str) or value.strip()):
            yield path


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting with the name that people know it by.

    Attributes:
        name: Its name in the environment.
        path: The names that lead to it in the settings.
    """

    name: str
    path: Path

    @classmethod
    def of(cls, name: str, *path: str) -> Setting:
        """A setting; without a path the names of both are the same."""
        return cls(name, path or (name.lower(),))


def check_told(origins: Origins, address: Setting, secret: Setting) -> None:
    """See that a secret may be sent to an address; both are set.

    Raises:
        InputError: The address comes from a less trusted source than the secret.
    """
    place, owner = origins.of(*address.path), origins.of(*secret.path)
    if place <= owner:
        return
    raise InputError(
        f"{address.name} comes from {place.words}, and {secret.name} from {owner.words}: a secret "
        "is not sent to an address of a less trusted source. If you trust that address, set "
        f"{address.name} in the environment; or put the {_kind(secret)} of that server into "
        f"{place.words}."
    )


def _kind(secret: Setting) -> str:
    words = {"PASSWORD": "password", "SECRET": "secret"}
    return words.get(secret.name.rpartition("_")[2], "key")

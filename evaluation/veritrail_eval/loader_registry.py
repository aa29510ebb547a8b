"""The base of loaders of data sets and dialogues: their Protocol, plugins, and detection.

Loaders of other packages are asked first. One that fails is named in the error, and ends nothing
but its own reading.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.plugins import (
    PLUGIN_FAILED,
    Plugin,
    Unusable,
    called,
    needs,
    package_of,
    reason_given,
)
from veritrail_graph.graph.plugins import load as load_plugins

_log = logging.getLogger(__name__)

Read = TypeVar("Read")
Read_co = TypeVar("Read_co", covariant=True)


class Loader(Protocol[Read_co]):
    """A reader of one format.

    Attributes:
        name: Name of the format.
        description: What it reads, in a line.
        layout: The files that it reads.
        source: Where people get them.
    """

    name: str
    description: str
    layout: str
    source: str

    def detect(self, path: Path) -> str | None:
        """Return why `path` is not in this format; None when it is."""
        ...

    def load(self, path: Path, *, skip_bad: bool = False) -> Read_co:
        """Read it.

        Args:
            path: A file or a folder.
            skip_bad: Whether rows that break rules are left out, and counted in the remarks.

        Raises:
            InputError: It cannot be read; the message names the row and the column.
        """
        ...


def loaders_of_others(
    points: Iterable[EntryPoint], ours: Sequence[EntryPoint]
) -> tuple[tuple[Plugin, ...], tuple[Unusable, ...]]:
    """Loaders of other packages, and those of them that cannot be used, with the reason."""
    return load_plugins(points, {entry.name for entry in ours}, _loader)


def _loader(made: Callable[[], Any]) -> Any:
    loader = made()
    needs(loader, ("name", "description", "layout", "source", "detect", "load"))
    return loader


class Guarded(Generic[Read]):
    """A loader of another package: what it raises becomes an error that names it."""

    def __init__(self, loader: Loader[Read], point: EntryPoint) -> None:
        self._loader = loader
        self._who = f"the loader {point.name!r} of the package {package_of(point)}"
        self.name, self.description = loader.name, loader.description
        self.layout, self.source = loader.layout, loader.source

    def detect(self, path: Path) -> str | None:
        """As the loader says."""
        try:
            return called(self._who, lambda: reason_given(self._loader.detect(path)))
        except InputError as error:
            if error.code != PLUGIN_FAILED:
                return str(error)
            reason = str(error).replace(" failed: ", " failed and is left out: ", 1)
            _log.warning("%s", reason)
            return reason

    def load(self, path: Path, *, skip_bad: bool = False) -> Read:
        """As the loader reads it.

        Raises:
            InputError: It says so, or it failed.
        """
        return called(f"{path}: {self._who}", lambda: self._loader.load(path, skip_bad=skip_bad))


def in_order(others: Sequence[Plugin], ours: Sequence[EntryPoint]) -> tuple[Any, ...]:
    """Every loader, in the order of detection: those of other packages come first."""
    return (*(Guarded(one.value, one.point) for one in others), *(one.load()() for one in ours))


def why_not(path: Path, loaders: Iterable[Loader[Read]]) -> Loader[Read] | list[str]:
    """The first loader that reads a path; else why each of them does not, a line each."""
    reasons = []
    for loader in loaders:
        reason = loader.detect(path)
        if reason is None:
            return loader
        reasons.append(f"  {loader.name} ({loader.description}): {reason}")
    return reasons

"""What other packages add over entry points: one that cannot be used is named and left out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Unusable:
    """An entry point that is left out.

    Attributes:
        name: Its name.
        package: The package that brings it, with its version where that is known.
        reason: Why it cannot be used.
    """

    name: str
    package: str
    reason: str

    @property
    def line(self) -> str:
        """It in a line."""
        return f"{self.name!r} of the package {self.package} is not usable: {self.reason}"


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point that was loaded.

    Attributes:
        point: It.
        value: What it names.
    """

    point: EntryPoint
    value: Any


def load(
    points: Iterable[EntryPoint], taken: Collection[str], make: Callable[[Any], Any]
) -> tuple[tuple[Plugin, ...], tuple[Unusable, ...]]:
    """Load entry points of other packages; a warning is logged for each that cannot be used.

    Args:
        points: The entry points.
        taken: Names that are given away.
        make: Makes of what an entry point names what is used; raises where it cannot.
    """
    plugins, unusable = [], []
    for point in points:
        try:
            if point.name in taken:
                raise ValueError("its name is the name of one of ours")
            plugins.append(Plugin(point, make(point.load())))
        except Exception as error:  # noqa: BLE001 - code of others must not end a command
            one = Unusable(point.name, package_of(point), fault_of(error))
            _log.warning("%s", one.line)
            unusable.append(one)
    return tuple(plugins), tuple(unusable)


def package_of(point: EntryPoint) -> str:
    """The package that brings an entry point."""
    if point.dist is None:
        return point.value.partition(":")[0]
    return f"{point.dist.name} {point.dist.version}"


def fault_of(error: Exception) -> str:
    """An exception in a line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def needs(value: Any, names: Iterable[str]) -> None:
    """Refuse an object without some attributes.

    Raises:
        TypeError: One is missing.
    """
    missing = [name for name in names if not hasattr(value, name)]
    if missing:
        raise TypeError(f"{type(value).__name__} has no {' and no '.join(missing)}")

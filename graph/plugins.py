"""The plugins that other packages add by entry points; one that fails is named and left out.

What they print goes to stderr, and a plugin that ends the program (`sys.exit`) has failed like one
that raises.
"""

from __future__ import annotations

import logging
import sys
from asyncio import CancelledError
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, TypeVar

from veritrail_graph.graph.errors import InputError, VeriTrailError

_log = logging.getLogger(__name__)

FAULTS = (Exception, SystemExit)
"""What code of others may raise without ending more than its own work."""
LONGEST_FAULT = 500
"""Characters of a message of others."""

PLUGIN_FAILED = "plugin_failed"
"""The code of the error for code of another package that failed."""

T = TypeVar("T")


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
    plugins: list[Plugin] = []
    unusable = []
    for point in points:
        try:
            if point.name in taken:
                raise ValueError("its name is the name of one of ours")
            for other in plugins:
                if other.point.name == point.name:
                    raise ValueError(f"{package_of(other.point)} brings one of the same name")
            plugins.append(Plugin(point, loaded(point, make)))
        except FAULTS as error:  # code of others must not end a command
            one = Unusable(point.name, package_of(point), fault_of(error))
            _log.warning("%s", one.line)
            unusable.append(one)
    return tuple(plugins), tuple(unusable)


@contextmanager
def contained() -> Iterator[None]:
    """Make a fault that no `FAULTS` catch one of them: a panic of a library in Rust is none.

    Raises:
        RuntimeError: Code of others raised what is neither ours to handle nor an `Exception`.
    """
    try:
        yield
    except (*FAULTS, KeyboardInterrupt, CancelledError, GeneratorExit):
        raise
    except BaseException as error:
        raise RuntimeError(fault_of(error)) from error


def loaded(point: EntryPoint, make: Callable[[Any], T]) -> T:
    """Return what `make` makes of what an entry point names; both may raise what they will."""
    with redirect_stdout(sys.stderr), contained():
        return make(point.load())


def package_of(point: EntryPoint) -> str:
    """The package that brings an entry point."""
    if point.dist is None:
        return point.value.partition(":")[0]
    return f"{point.dist.name} {point.dist.version}"


def fault_of(error: BaseException) -> str:
    """An exception in a line, cut where it is long."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an exception of others may fail to describe itself
        said = ""
    if len(said) > LONGEST_FAULT:
        said = f"{said[:LONGEST_FAULT]}…"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def called(who: str, work: Callable[[], T]) -> T:
    """Call code of another package.

    Args:
        who: What fails, such as "the importer 'mine' of the package mine 1.0".
        work: The call.

    Raises:
        VeriTrailError: The code says so itself.
        InputError: It failed in any other way, or would have ended the program.
    """
    try:
        with redirect_stdout(sys.stderr), contained():
            return work()
    except VeriTrailError:
        raise
    except FAULTS as error:
        raise failure(who, error) from error


def failure(who: str, error: BaseException) -> InputError:
    """The error that names the code of another package that failed."""
    return InputError(f"{who} failed: {fault_of(error)}", code=PLUGIN_FAILED)


def reason_given(reason: object) -> str | None:
    """Return what `detect` of a reader gave: why it does not read a path, or None where it does.

    Raises:
        TypeError: It is neither.
    """
    if reason is not None and not isinstance(reason, str):
        raise TypeError(f"`detect` gave a {type(reason).__name__} and no reason")
    return reason


_END = object()


def each(who: str, work: Callable[[], Iterable[T]]) -> Iterator[T]:
    """Yield what code of another package yields.

    Raises:
        VeriTrailError: As `called` says.
    """
    values = called(who, lambda: iter(work()))
    while (value := called(who, lambda: next(values, _END))) is not _END:
        yield value  # type: ignore[misc]


def needs(value: Any, names: Iterable[str]) -> None:
    """Refuse an object without some attributes.

    Raises:
        TypeError: One is missing.
    """
    missing = [name for name in names if not hasattr(value, name)]
    if missing:
        raise TypeError(f"{type(value).__name__} has no {' and no '.join(missing)}")

"""Calls of a trace one by one: one that cannot be read is left out, and named in a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.traces.calls import Call

_NAMED = 3
Raw = TypeVar("Raw")


def calls_of(
    raw: Iterable[Raw], read: Callable[[Raw], Call], where: str
) -> tuple[list[Call], list[str]]:
    """The calls that can be read, and a warning that names the others.

    Raises:
        InputError: There are some, and none of them can be read.
    """
    calls: list[Call] = []
    faults: list[InputError] = []
    for one in raw:
        try:
            calls.append(read(one))
        except InputError as error:
            faults.append(error)
    if faults and not calls:
        raise nothing_left(faults, where)
    return calls, left_out(faults)


def left_out(faults: Sequence[InputError]) -> list[str]:
    """A warning about spans that are left out; none where there are none."""
    if not faults:
        return []
    more = f"; and {len(faults) - _NAMED} more" if len(faults) > _NAMED else ""
    said = "; ".join(str(one) for one in faults[:_NAMED])
    return [f"{len(faults)} span(s) that cannot be read are left out: {said}{more}"]


def nothing_left(faults: Sequence[InputError], where: str) -> InputError:
    """The error of a trace of which no span can be read."""
    if len(faults) == 1:
        return faults[0]
    said = "; ".join(str(one) for one in faults[:_NAMED])
    return InputError(f"{where}: none of {len(faults)} spans can be read: {said}")

"""The methods by name: ours, and those of other packages.

A method is a `MethodKind`. Other packages add theirs to the entry
points of the group `veritrail_graph.methods`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from veritrail_eval.methods.method import Method, Resources
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.plugins import Plugin, Unusable
from veritrail_graph.graph.plugins import load as load_plugins

GROUP = "veritrail_graph.methods"
_HERE = "veritrail_eval.methods"
_OURS = (
    EntryPoint("veritrail", f"{_HERE}.veritrail:KIND", GROUP),
    EntryPoint("vt_rag", f"{_HERE}.vt_rag:KIND", GROUP),
    EntryPoint("rag", f"{_HERE}.rag:KIND", GROUP),
    EntryPoint("direct", f"{_HERE}.direct:KIND", GROUP),
    EntryPoint("infuse", f"{_HERE}.checkers:INFUSE", GROUP),
    EntryPoint("alignscore", f"{_HERE}.checkers:ALIGNSCORE", GROUP),
    EntryPoint("minicheck", f"{_HERE}.checkers:MINICHECK", GROUP),
    EntryPoint("summac_zs", f"{_HERE}.checkers:SUMMAC_ZS", GROUP),
    EntryPoint("summac_conv", f"{_HERE}.checkers:SUMMAC_CONV", GROUP),
    EntryPoint("hhem", f"{_HERE}.checkers:HHEM", GROUP),
)


@dataclass(frozen=True, slots=True)
class MethodKind:
    """A method before its parameters are chosen.

    Attributes:
        name: Its name in a matrix.
        summary: What it does, in a line.
        parameters: Names of its parameters, each with what it means, in a few words.
        make: Makes one configuration; raises InputError where a value is wrong.
        grid: Parameters whose values are tried one after the other unless the matrix names some.
    """

    name: str
    summary: str
    parameters: Mapping[str, str]
    make: Callable[[Mapping[str, Any], Resources], Awaitable[Method]]
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


@cache
def of_others() -> tuple[tuple[Plugin, ...], tuple[Unusable, ...]]:
    """Methods of other packages, and those of them that cannot be used, with the reason."""
    names = {entry.name for entry in _OURS}
    return load_plugins(entry_points(group=GROUP), names, _kind)


def _kind(found: Any) -> MethodKind:
    if not isinstance(found, MethodKind):
        raise TypeError(f"it names a {type(found).__name__}, and no MethodKind")
    return found


@cache
def method_kinds() -> dict[str, MethodKind]:
    """Every method by name."""
    kinds = {kind.name: kind for kind in (entry.load() for entry in _OURS)}
    for one in of_others()[0]:
        kinds.setdefault(one.value.name, one.value)
    return kinds


def method_kind(name: str) -> MethodKind:
    """A method by its name.

    Raises:
        InputError: There is none.
    """
    known = method_kinds()
    if name not in known:
        unusable = "".join(f" The method {one.line}." for one in of_others()[1] if one.name == name)
        raise InputError(f"Unknown method {name!r}. Known methods: {', '.join(known)}.{unusable}")
    return known[name]

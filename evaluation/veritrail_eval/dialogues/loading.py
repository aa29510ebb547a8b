"""Loaders of dialogues with labelled turns: files of others, and those of plugins.

Packages of third parties add theirs to the entry points of the group
`veritrail_graph.dialogues`, by the rule of loaders of data sets.

Source: VISTA 4.1, 5, 7 (the data sets).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Protocol

from veritrail_eval.dialogues.loaders.building import DialogueSet
from veritrail_eval.loader_registry import (
    Loader,
    in_order,
    loaders_of_others,
    why_not,
)
from veritrail_graph.graph.plugins import Plugin, Unusable

GROUP = "veritrail_graph.dialogues"
_HERE = "veritrail_eval.dialogues.loaders"
_OURS = (
    EntryPoint("vista", f"{_HERE}.vista:VistaLoader", GROUP),
    EntryPoint("ais", f"{_HERE}.ais:AisLoader", GROUP),
    EntryPoint("begin", f"{_HERE}.begin:BeginLoader", GROUP),
    EntryPoint("faithdial", f"{_HERE}.faithdial:FaithDialLoader", GROUP),
    EntryPoint("fade", f"{_HERE}.fade:FadeLoader", GROUP),
    EntryPoint("coconot", f"{_HERE}.coconot:CoCoNotLoader", GROUP),
    EntryPoint("rgm-contradictions", f"{_HERE}.rgm:RgmLoader", GROUP),
)


class DialogueLoader(Loader[DialogueSet], Protocol):
    """A reader of one format of dialogues with labelled turns."""


@cache
def of_others() -> tuple[tuple[Plugin, ...], tuple[Unusable, ...]]:
    """Loaders of other packages, and those of them that cannot be used, with the reason."""
    return loaders_of_others(entry_points(group=GROUP), _OURS)


@cache
def loaders() -> tuple[DialogueLoader, ...]:
    """Every loader, in the order of detection: those of other packages come first."""
    return in_order(of_others()[0], _OURS)


def loader_of(path: Path, format_name: str | None = None) -> DialogueLoader | None:
    """The loader of the format named, or of the first one that the path is in; None: no one's."""
    if format_name is not None:
        return next((one for one in loaders() if one.name == format_name), None)
    found = why_not(path, loaders())
    return None if isinstance(found, list) else found


def reasons_against(path: Path) -> list[str]:
    """Return why no loader of dialogues reads a path, a line for each; empty: one does."""
    found = why_not(path, loaders())
    return found if isinstance(found, list) else []

"""Check that the data sets and methods of a matrix can be read and made, before a run.

A method says itself what is wrong with its parameters, one fault at a time. So that a person sees
all of them at once, a configuration that cannot be made is tried again without what is wrong.

Source: ours (docs/evaluation.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veritrail_eval.datasets.loading import loaders
from veritrail_eval.methods.gathering import violations_of
from veritrail_eval.methods.method import Resources
from veritrail_eval.runs.matrix import (
    Configuration,
    DatasetEntry,
    Matrix,
    place_of,
)
from veritrail_eval.runs.runner import Loading, load
from veritrail_graph.graph.errors import InputError, Violation

MOST_TRIED = 200
"""Configurations that cannot be made and are looked at closely."""


async def method_faults(
    matrix: Matrix, resources: Resources, path: Path, loading: Loading = load
) -> list[Violation]:
    """Say which data sets of a matrix cannot be read, and what is wrong with parameters of methods.

    Each fault comes once, with the entries it is of.

    Args:
        matrix: The matrix.
        resources: What methods are made with; making one must not load a model.
        path: The matrix's file, for the places of faults.
        loading: Reads a data set.
    """
    unread = [
        fault for entry in matrix.datasets for fault in _unread(entry, matrix.seed, path, loading)
    ]
    places: dict[tuple[str, str, str], list[str]] = {}
    facts: dict[tuple[str, str, str], Violation] = {}
    tried = 0
    for one in matrix.configurations:
        found = await _faults(one, one.parameters, resources)
        if found and tried < MOST_TRIED:
            tried += 1
            found = await _every_fault(one, found, resources)
        for fault in found:
            key = fault.kind, fault.where, fault.message
            facts.setdefault(key, fault)
            known = places.setdefault(key, [])
            if one.place not in known:
                known.append(one.place)
    return unread + [
        fault.within(place_of(path, ", ".join(places[key]))) for key, fault in facts.items()
    ]


def _unread(entry: DatasetEntry, seed: int, path: Path, loading: Loading) -> list[Violation]:
    """Return why a data set cannot be read; reading the matrix has found faults of its entry."""
    known = [loader.name for loader in loaders()]
    if not entry.path.exists() or entry.format not in (None, *known):
        return []
    try:
        loading(entry, seed)
    except InputError as error:
        return [fault.within(place_of(path, entry.place)) for fault in violations_of(error)]
    return []


async def _faults(
    one: Configuration, parameters: Mapping[str, Any], resources: Resources
) -> list[Violation]:
    """Return why a configuration cannot be made; empty: it can be."""
    try:
        await one.kind.make(parameters, resources)
    except InputError as error:
        return [
            fault
            for fault in violations_of(error)
            if not any(_names(fault, name) for name in one.without if name not in one.kind.grid)
        ]
    return []


async def _every_fault(
    one: Configuration, found: list[Violation], resources: Resources
) -> list[Violation]:
    """All faults of a configuration: also those that are found without what causes the first.

    A parameter causes faults if they change with the first value of its grid, or without it where
    nothing says that it is missing then. The parameters that a fault names are tried first: a
    fault that comes only of another value than the matrix gives would be untrue.
    """
    every = list(found)
    parameters = dict(one.parameters)
    changed = True
    while found and changed:
        changed = False
        for name in _suspects(parameters, found):
            removed = {name, *_BOUND_BY.get(name, ())}
            others = {key: value for key, value in parameters.items() if key not in removed}
            if name in one.kind.grid:
                others[name] = one.kind.grid[name][0]
                if others == parameters:
                    continue
            left = await _faults(one, others, resources)
            is_needed = any(_names(fault, name) for fault in left if fault not in found)
            if left != found and not is_needed:
                every += [fault for fault in left if fault not in every]
                parameters, found, changed = others, left, True
                break
    return every


_BOUND_BY = {"samples": ("threshold", "no_evidence")}
"""Parameters whose value decides which values of others are possible: they go together."""


def _suspects(parameters: Mapping[str, Any], found: list[Violation]) -> list[str]:
    """The parameters, those first that a fault begins with, and then those that one names."""

    def rank(name: str) -> int:
        if any(fault.message.startswith(name) for fault in found):
            return 0
        return 1 if any(_names(fault, name) for fault in found) else 2

    return sorted(parameters, key=rank)


def _names(fault: Violation, name: str) -> bool:
    """Return whether a fault names a parameter, as a word."""
    return re.search(rf"\b{re.escape(name)}\b", fault.message) is not None

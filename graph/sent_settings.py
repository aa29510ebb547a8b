"""The settings of a verification with the temperature and the effort that endpoints took.

Settings are made before anything is asked. What an endpoint did not take, a trail must not say.

Source: ours; docs/adr/0069-known-models.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from veritrail_graph.graph.model import StepRecord
from veritrail_graph.graph.model.canonical import canonical_text

MOST_MODELS = 4  # of one judge: three steps, and a stronger model
_SENT = ("temperature", "effort")


def settings_as_sent(settings: str | None, steps: Iterable[StepRecord]) -> str | None:
    """Return settings without the temperatures and efforts that were never sent.

    Args:
        settings: What was asked for, as canonical JSON.
        steps: What was sent, by step; what was asked of nobody says nothing.
    """
    made = _read(settings)
    if made is None:
        return settings
    refused: dict[str, set[str]] = {}
    by_prompt: dict[tuple[str, str], list[StepRecord]] = {}
    for record in steps:
        if record.usage.calls or record.usage.cached_calls or record.usage.input_tokens:
            by_prompt.setdefault((record.model, record.prompt_hash), []).append(record)
    for step in _steps_of(made):
        records = by_prompt.get((step["model"], step["prompt_hash"]), [])
        for name in _SENT:
            never = records and all(getattr(record, name) is None for record in records)
            if step.get(name) is not None and never:
                refused.setdefault(step["model"], set()).add(name)
    return canonical_text(_without(made, refused)) if refused else settings


def possible_settings(settings: str) -> list[str]:
    """Return the settings that verifications may have which were asked for these.

    Args:
        settings: What is asked for, as canonical JSON.
    """
    made = _read(settings)
    if made is None:
        return [settings]
    given: dict[str, set[str]] = {}
    for step in _steps_of(made):
        names = {name for name in _SENT if step.get(name) is not None}
        given.setdefault(step["model"], set()).update(names)
    some = list(given.items())[:MOST_MODELS]
    choices = [
        [(model, set(left)) for left in ((), *((name,) for name in names), tuple(names))]
        for model, names in some
    ]
    found = {settings: None}
    found |= {canonical_text(_without(made, dict(refused))): None for refused in product(*choices)}
    return list(found)


def _read(settings: str | None) -> dict[str, Any] | None:
    try:
        made = json.loads(settings) if settings is not None else None
    except ValueError:
        return None
    return made if isinstance(made, dict) else None


def _steps_of(made: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the settings of steps that ask a model, wherever they stand."""
    for value in made.values():
        if isinstance(value, dict):
            if {"model", "temperature", "prompt_hash"} <= value.keys():
                yield value
            yield from _steps_of(value)


def _without(made: Mapping[str, Any], refused: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """Return settings without what models refused."""
    copy: dict[str, Any] = json.loads(canonical_text(made))
    for step in _steps_of(copy):
        names = refused.get(step["model"], ())
        if "temperature" in names:
            step["temperature"] = None
        if "effort" in names:
            step.pop("effort", None)
    return copy

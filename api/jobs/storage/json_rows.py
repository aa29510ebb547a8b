"""JSON alone in the tables of the engine: a pickle would run the code of whoever wrote it.

The engine writes with our serializer, but it reads each value as the value's own row asks for, and
a row may ask for pickle. So its one function that loads pickles is replaced by a refusal. All its
reading goes through that function: arguments, results, errors, events, messages, steps.
"""

from __future__ import annotations

from typing import Any, NoReturn

from dbos import _serialization as serialization

REFUSAL = "a row in the database of jobs is a pickle; pickles are never read"


class NotJson(Exception):
    """A row of the engine holds what this service never writes."""


def refuse_pickles() -> None:
    """Let the engine in this process read JSON alone, whoever wrote a row and whatever it says."""
    serialization.DefaultSerializer.deserialize = _refuse  # type: ignore[assignment,method-assign]


def _refuse(_serializer: Any, _serialized: str) -> NoReturn:
    raise NotJson(REFUSAL)

"""A recorded call, whatever recorded it: what it was given, what it gave, and when."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from veritrail_graph.graph.errors import InputError

AGAIN = "~"
"""Between the id of a call and its number among those with that id."""
_VECTORS = re.compile("embed|rerank", re.IGNORECASE)


class CallKind(StrEnum):
    """The kind of a call, as far as the trace says so."""

    GENERATION = "generation"
    """A language model wrote its output."""
    AGENT = "agent"
    """An agent went on: models that it asked may be recorded inside, or not at all."""
    TOOL = "tool"
    RETRIEVER = "retriever"
    JUDGE = "judge"
    """An evaluator or a guardrail said what it thinks of a text: that is no source."""
    EVENT = "event"
    """A point in time at which something was noted."""
    OTHER = "other"


@dataclass
class Call:
    """A call.

    Attributes:
        call_id: Its id, unique in the trace.
        name: What people call it.
        kind: What it does.
        parent_id: The call that made it; None: the trace begins with it.
        start: When it began, in nanoseconds of any clock that all calls share.
        end: When it ended; its start where that is not known.
        given: What it was given, as JSON.
        made: What it gave, as JSON.
        model: The model that wrote its output, or was asked on the way; none of vectors or ranks.
        metadata: What else is kept of it.
        place: Its place in the trace, for calls at one time.
        link: The id of the tool call that a tool answers; None: the trace holds none.
        error: The message of the error that it ended with; None: none is recorded.
        beside: Fields with words beside what it was given and gave, each with its name.
    """

    call_id: str
    name: str
    kind: CallKind = CallKind.OTHER
    parent_id: str | None = None
    start: int = 0
    end: int = 0
    given: Any = None
    made: Any = None
    model: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    place: int = 0
    link: str | None = None
    error: str | None = None
    beside: Sequence[tuple[str, Any]] = ()


@dataclass
class Trace:
    """The calls of one trace.

    Attributes:
        calls: They, in any order.
        trace_id: Its id, or None.
        name: What people call it, or None.
        given: What the whole was given, where the format says so beside the calls.
        made: What the whole gave.
        warnings: What could not be read of it.
        session: The conversation that it is a part of, or None.
        said: All messages of the conversation, where the format holds them beside the calls.
        began: When it began, where it has no calls.
        unread: Attributes that hold text of an unknown layout.
        beside: Fields with words that tell of the whole, each with its name.
    """

    calls: list[Call]
    trace_id: str | None = None
    name: str | None = None
    given: Any = None
    made: Any = None
    warnings: list[str] = field(default_factory=list)
    session: str | None = None
    said: Any = None
    began: int = 0
    unread: tuple[str, ...] = ()
    beside: Sequence[tuple[str, Any]] = ()

    @property
    def start(self) -> int:
        """Return when it began, in nanoseconds."""
        return min((call.start for call in self.calls), default=self.began)


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """A trace in a file.

    Attributes:
        where: Where it is.
        read: Reads it; raises InputError where that cannot be done.
    """

    where: str
    read: Callable[[], Trace]

    @classmethod
    def failing(cls, where: str, error: InputError) -> FoundTrace:
        """In the place of a trace that cannot be read: reading it raises the error."""

        def fail() -> Trace:
            raise error

        return cls(where, fail)


def writing_model(model: Any, *done: Any) -> str | None:
    """Return a model's name, or None where it makes vectors or ranks, or no name is a text.

    Args:
        model: The name.
        done: What the call is said to do: its kind, its operation, its own name.
    """
    said = (model, *(one for one in done if isinstance(one, str)))
    is_text = isinstance(model, str) and bool(model)
    return model if is_text and not any(_VECTORS.search(one) for one in said) else None


def once(calls: Iterable[Call]) -> list[Call]:
    """Each call once: one that was logged at its start and again at its end is joined.

    Another call with the id of one before it, which gave something else, gets a number behind it.
    """
    found: dict[str, Call] = {}
    for call in calls:
        known = found.get(call.call_id)
        number = 1
        while known is not None and call.made and known.made and call.made != known.made:
            number += 1
            known = found.get(f"{call.call_id}{AGAIN}{number}")
        if number > 1 and known is None:
            about = {"call": call.call_id, **call.metadata}
            call = replace(call, call_id=f"{call.call_id}{AGAIN}{number}", metadata=about)
        if known is None:
            call.place = len(found)
            found[call.call_id] = call
            continue
        known.end = max(known.end, call.end)
        known.start = min(known.start, call.start)
        for name in ("given", "made", "model", "parent_id", "link", "error"):
            if getattr(known, name) is None:
                setattr(known, name, getattr(call, name))
        if known.kind is CallKind.OTHER:
            known.kind = call.kind
    return list(found.values())

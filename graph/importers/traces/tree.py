"""The tree of a trace's calls: who called whom, the order of their ends, and which ones write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veritrail_graph.graph.importers.traces.calls import Call, CallKind


class Tree:
    """The calls of a trace by parent and by time.

    Attributes:
        by_id: The calls.
        ordered: The calls in the order in which they ended.
        order: The place of each in that order, from 1, by id.
        with_writer: Calls inside of which the call of a model is recorded, by id.
        steps: Calls without the record of a model whose output counts as written, by id: agents,
            and in a trace without any call of a model every step.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self.by_id = {call.call_id: call for call in calls}
        self._above: dict[str, frozenset[str]] = {}
        for call in calls:
            self._above[call.call_id] = frozenset(self._walk(call))
        # Of calls that ended together the inner ones ended first.
        self.ordered = sorted(
            calls,
            key=lambda one: (one.end, -len(self._above[one.call_id]), one.start, one.place),
        )
        self.order = {call.call_id: number for number, call in enumerate(self.ordered, start=1)}
        writers = [call for call in calls if call.kind is CallKind.GENERATION]
        self.with_writer = frozenset(name for one in writers for name in self._above[one.call_id])
        steps = {CallKind.AGENT} if writers else {CallKind.AGENT, CallKind.OTHER}
        self.steps = frozenset(
            call.call_id
            for call in calls
            if call.kind in steps and call.call_id not in self.with_writer
        )

    def _walk(self, call: Call) -> Iterator[str]:
        seen = {call.call_id}
        name = call.parent_id
        while name is not None and name in self.by_id and name not in seen:
            seen.add(name)
            yield name
            name = self.by_id[name].parent_id

    def is_inside(self, inner: Call, outer: Call) -> bool:
        """Return whether one call was made by the other, directly or not."""
        return outer.call_id in self._above[inner.call_id]

    def is_during(self, inner: Call, outer: Call) -> bool:
        """Return whether one call began and ended while the other went on, or was made by it."""
        within = outer.start <= inner.start and inner.end <= outer.end and outer.start < outer.end
        return within or self.is_inside(inner, outer)

    def writes(self, call: Call) -> bool:
        """Return whether what a call gave counts as written by a model."""
        return call.kind is CallKind.GENERATION or call.call_id in self.steps

    def step_above(self, call: Call) -> str | None:
        """The innermost step without the record of a model that made a call; None: none did."""
        return next((name for name in self._walk(call) if name in self.steps), None)

    @property
    def roots(self) -> list[Call]:
        """Calls that no recorded call made, the longest first."""
        found = [call for call in self.ordered if not self._above[call.call_id]]
        return sorted(found, key=lambda one: (one.start - one.end, one.start, one.place))

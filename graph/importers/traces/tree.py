"""The tree of a trace's calls: who called whom, the order of their ends, and which ones write."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from veritrail_graph.graph.importers.traces.calls import Call, CallKind
from veritrail_graph.graph.importers.traces.colleagues import is_agent
from veritrail_graph.graph.importers.traces.reworded import is_reworded


class Tree:
    """The calls of a trace by parent and by time.

    Attributes:
        by_id: The calls.
        ordered: The calls in the order in which they ended.
        order: The place of each in that order, from 1, by id.
        with_writer: Calls inside of which the call of a model is recorded, by id.
        steps: Calls that are no call of a model and whose output counts as written, by id: agents,
            also those that are called as tools, steps that name a model, what a tool's step made
            of a text that it was given, and in a trace without any call of a model every step.
        with_author: Calls inside of which a model's call, an agent or such a step is recorded.
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
        authors = {
            call.call_id
            for call in calls
            if call.call_id not in self.with_writer and self._is_author(call)
        }
        others = {call.call_id for call in calls if call.kind is CallKind.OTHER}
        self.steps = frozenset(authors if writers else authors | (others - self.with_writer))
        self.with_author = self.with_writer.union(*(self._above[name] for name in authors))

    def _is_author(self, call: Call) -> bool:
        """Return whether a call that is none of a model counts as one that writes."""
        if call.kind is CallKind.TOOL:
            return is_agent(call.name)
        if call.kind is not CallKind.OTHER:
            return call.kind is CallKind.AGENT
        tools = [one for one in self.above(call) if one.kind is CallKind.TOOL]
        return call.model is not None or (bool(tools) and is_reworded(call, tools))

    def _walk(self, call: Call) -> Iterator[str]:
        seen = {call.call_id}
        name = call.parent_id
        while name is not None and name in self.by_id and name not in seen:
            seen.add(name)
            yield name
            name = self.by_id[name].parent_id

    def above(self, call: Call) -> list[Call]:
        """Return the calls inside of which a call was made."""
        return [self.by_id[name] for name in self._above[call.call_id]]

    def is_inside(self, inner: Call, outer: Call) -> bool:
        """Return whether one call was made by the other, directly or not."""
        return outer.call_id in self._above[inner.call_id]

    def is_during(self, inner: Call, outer: Call) -> bool:
        """Return whether one call began and ended while the other went on, or was made by it."""
        within = outer.start <= inner.start and inner.end <= outer.end and outer.start < outer.end
        return within or self.is_inside(inner, outer)

    def writes(self, call: Call) -> bool:
        """Return whether what a call gave counts as written by a model."""
        is_writer = call.kind in (CallKind.GENERATION, CallKind.JUDGE)
        return is_writer or call.call_id in self.steps

    def is_judging(self, call: Call) -> bool:
        """Return whether a call is that of an evaluator or a guardrail, or made by one."""
        return any(one.kind is CallKind.JUDGE for one in (call, *self.above(call)))

    def step_above(self, call: Call, among: Collection[str]) -> str | None:
        """The innermost of some steps that made a call; None: none of them did."""
        return next((name for name in self._walk(call) if name in among), None)

    @property
    def roots(self) -> list[Call]:
        """Calls that no recorded call made, the longest first."""
        found = [call for call in self.ordered if not self._above[call.call_id]]
        return sorted(found, key=lambda one: (one.start - one.end, one.start, one.place))

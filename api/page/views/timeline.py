"""The timeline of an agent run: who did what, in order, and the step where a wrong claim came in.

Source: ours; the place of a claim is that of VeriTrail 3.2 (error localization).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from veritrail_graph.graph.importers.agents.process import NAME as AGENT_LOG
from veritrail_graph.graph.model import Process
from veritrail_graph.graph.model.finding import Finding, FindingNode
from veritrail_graph.graph.model.listed import ListedNode

MOST_STEPS = 1_000
"""Nodes that a process has at most to be shown as a timeline: all of them are read for it."""
SHORT = 40
"""Steps that are shown without folding any."""
NEAR = 2
"""Steps that stay open before and behind one that is marked, and at both ends."""
FOLDED = 50
"""Steps that are folded together at most."""
MOST_LANES = 6
"""Lanes beside that of tools: in the last of them are all others, where there are more."""
MOST_NEWS = 5
"""Claims whose places are named above the steps."""

TOOLS = "tools and files"
OTHERS = "others"
_WRITES = "writes"
_ACTS: Mapping[str, str] = MappingProxyType({
    "user": "says", "thought": "thinks", "tool_call": "calls a tool", "tool_result": "returns",
    "agent_result": "reports back", "action": "acts", "page": "is shown", "code_result": "prints",
    "instruction": "instructs", "answer": "answers", "file": "is read", "document": "is read",
})  # fmt: skip
"""What a step does, by the kind of its node."""
_OF_AGENTS = frozenset(_ACTS) - {"user", "answer", "file", "document"}
"""Kinds that only runs of agents have."""
_OF_TOOLS = frozenset(("tool_result", "file", "document"))


class StepTone(StrEnum):
    """The relation of a step to a wrong claim; the weightiest comes first."""

    CULPRIT = "culprit"
    PERHAPS = "perhaps"
    CARRIED = "carried"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class StepNote:
    """A remark on a step: its relation to one wrong claim.

    Attributes:
        tone: What it has to do with it.
        words: The same in words.
        value: The value that is at stake; empty: not one.
        claim_id: The claim.
    """

    tone: StepTone
    words: str
    value: str
    claim_id: str


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """A step.

    Attributes:
        number: Its number, counted from 1.
        node_id: Its node.
        who: The agent or tool.
        act: What it does.
        lane: The number of its lane.
        text: How its text begins, on one line.
        is_cut: Whether the text goes on.
        notes: What it has to do with wrong claims, the weightiest first.
    """

    number: int
    node_id: str
    who: str
    act: str
    lane: int
    text: str
    is_cut: bool
    notes: tuple[StepNote, ...] = ()

    @property
    def tone(self) -> StepTone | None:
        """Return the weightiest of its notes' tones; None: it has none."""
        return self.notes[0].tone if self.notes else None


@dataclass(frozen=True, slots=True)
class StepGroup:
    """Steps that follow each other, shown or folded together.

    Attributes:
        steps: The steps.
        is_folded: Whether they are folded.
        words: Who did how many of them.
    """

    steps: tuple[TimelineStep, ...]
    is_folded: bool
    words: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """The lane of an agent, or of all tools.

    Attributes:
        name: Who goes in it.
        steps: How many steps it has.
        path: They, as bars of one unit in a drawing with a unit for each step.
    """

    name: str
    steps: int
    path: str


@dataclass(frozen=True, slots=True)
class PlaceOfClaim:
    """The place at which a wrong claim came in.

    Attributes:
        claim: The claim.
        claim_id: Its id.
        steps: The step, or those of which one is it.
        wrote: What was written there; empty: not one value.
        source: What a step before has in its place.
        before: That step.
        repeated: Later steps that repeat it.
    """

    claim: str
    claim_id: str
    steps: tuple[TimelineStep, ...]
    wrote: str
    source: str
    before: TimelineStep | None
    repeated: tuple[TimelineStep, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The timeline of a run.

    Attributes:
        lanes: The lanes, that of tools last.
        groups: The steps.
        total: How many steps there are.
        places: Where wrong claims came in; of many, the first.
        more_places: Of how many more claims the place is known.
        marks: Numbers of the steps where a claim came in, or may have.
    """

    lanes: tuple[Lane, ...]
    groups: tuple[StepGroup, ...]
    total: int
    places: tuple[PlaceOfClaim, ...]
    more_places: int
    marks: tuple[int, ...]


def may_be_run(process: Process) -> bool:
    """Return whether a process is small enough, and made of more than a source and an answer."""
    return 2 < process.nodes <= MOST_STEPS


def is_run(process: Process, nodes: Iterable[ListedNode]) -> bool:
    """Return whether a process is the run of an agent: it is a log of one, or tools are called."""
    return process.source_format == AGENT_LOG or any(one.kind in _OF_AGENTS for one in nodes)


def timeline(
    process: Process, nodes: Sequence[ListedNode], findings: Sequence[Finding]
) -> Timeline:
    """The timeline of a run.

    Args:
        process: The process.
        nodes: All its nodes.
        findings: Those of its wrong claims.
    """
    ordered = sorted(nodes, key=lambda one: one.position)
    lane_of = _lanes(ordered)
    notes = _notes(findings)
    steps = tuple(
        TimelineStep(
            number,
            one.node_id,
            _doer(one),
            _act(one, process),
            lane_of[_lane_name(one)],
            " ".join(one.excerpt.split()),
            one.is_cut,
            tuple(sorted(notes.get(one.node_id, ()), key=lambda note: _WEIGHTS[note.tone])),
        )
        for number, one in enumerate(ordered, start=1)
    )
    by_node = {one.node_id: one for one in steps}
    places = [place for one in findings if (place := _place(one, by_node)) is not None]
    return Timeline(
        _drawn_lanes(lane_of, steps),
        tuple(_groups(steps)),
        len(steps),
        tuple(places[:MOST_NEWS]),
        max(0, len(places) - MOST_NEWS),
        tuple(one.number for one in steps if one.tone in (StepTone.CULPRIT, StepTone.PERHAPS)),
    )


_WEIGHTS = {tone: weight for weight, tone in enumerate(StepTone)}


def _act(node: ListedNode, process: Process) -> str:
    if node.node_id in process.terminals:
        return "answers"
    return _ACTS.get(node.kind or "", _WRITES)


def _lane_name(node: ListedNode) -> str:
    return TOOLS if node.kind in _OF_TOOLS else _doer(node)


def _doer(node: ListedNode) -> str:
    return node.step or node.kind or node.node_id


def _lanes(nodes: Sequence[ListedNode]) -> Mapping[str, int]:
    """Return the number of each lane; those who do least share one, and tools have the last."""
    names = Counter(name for one in nodes if (name := _lane_name(one)) != TOOLS)
    own = list(names)
    if len(own) > MOST_LANES:
        busiest = {name for name, _ in names.most_common(MOST_LANES - 1)}
        own = [name for name in own if name in busiest]
    found = {name: number for number, name in enumerate(own)}
    shared = len(own)
    found |= {name: shared for name in names if name not in found}
    found[TOOLS] = max(found.values(), default=-1) + 1
    return found


def _drawn_lanes(lane_of: Mapping[str, int], steps: Sequence[TimelineStep]) -> tuple[Lane, ...]:
    names: dict[int, list[str]] = {}
    for name, number in lane_of.items():
        names.setdefault(number, []).append(name)
    found = []
    for number, here in sorted(names.items()):
        own = [one.number - 1 for one in steps if one.lane == number]
        if own:
            path = "".join(f"M{at} {number}.15h.8v.7h-.8z" for at in own)
            found.append(Lane(here[0] if len(here) == 1 else OTHERS, len(own), path))
    return tuple(found)


def _notes(findings: Iterable[Finding]) -> dict[str, list[StepNote]]:
    """Return what steps have to do with wrong claims, by node_id."""
    found: dict[str, list[StepNote]] = {}
    for one in findings:
        wrote = one.difference.wrote if one.difference else ""
        source = one.difference.source if one.difference else ""
        marks = [
            *((node, StepTone.CULPRIT, "came in here", wrote) for node in _one(one.culprit)),
            *((node, StepTone.PERHAPS, "may have come in here", wrote) for node in one.candidates),
            *((node, StepTone.CARRIED, "is repeated", wrote) for node in one.carried_on),
            *((node, StepTone.SOURCE, "stands here", source) for node in _one(one.source)),
        ]
        for node, tone, words, value in marks:
            if tone is StepTone.SOURCE and not value:
                continue
            note = StepNote(tone, words, value, one.claim_id)
            here = found.setdefault(node.node_id, [])
            if all((note.tone, note.value) != (other.tone, other.value) for other in here):
                here.append(note)
    return found


def _one(value: FindingNode | None) -> tuple[FindingNode, ...]:
    return () if value is None else (value,)


def _place(finding: Finding, steps: Mapping[str, TimelineStep]) -> PlaceOfClaim | None:
    """Return where a claim came in; None: that is not known."""
    nodes = (*_one(finding.culprit), *finding.candidates)
    here = tuple(steps[one.node_id] for one in nodes if one.node_id in steps)
    if not here:
        return None
    differs = finding.difference
    before = steps.get(finding.source.node_id) if finding.source else None
    return PlaceOfClaim(
        finding.claim,
        finding.claim_id,
        here,
        differs.wrote if differs else "",
        differs.source if differs else "",
        before if differs else None,
        tuple(steps[one.node_id] for one in finding.carried_on if one.node_id in steps),
    )


def _groups(steps: Sequence[TimelineStep]) -> Iterable[StepGroup]:
    """Yield the steps; of many, those far from the marked ones folded."""
    if len(steps) <= SHORT:
        yield StepGroup(tuple(steps), is_folded=False)
        return
    ends = (1, len(steps))
    marked = [one.number for one in steps if one.notes]
    is_open = {number for at in (*ends, *marked) for number in range(at - NEAR, at + NEAR + 1)}
    start = 0
    while start < len(steps):
        is_folded = steps[start].number not in is_open
        end = start + 1
        while end < len(steps) and (steps[end].number not in is_open) is is_folded:
            if is_folded and end - start == FOLDED:
                break
            end += 1
        some = tuple(steps[start:end])
        if is_folded and len(some) > 1:
            yield StepGroup(some, is_folded=True, words=_who(some))
        else:
            yield StepGroup(some, is_folded=False)
        start = end


def _who(steps: Sequence[TimelineStep]) -> str:
    counts = Counter(one.who for one in steps).most_common()
    shown = ", ".join(f"{name} {number:,}" for name, number in counts[:4])
    more = len(counts) - 4
    return f"{shown} and {more:,} more" if more > 0 else shown

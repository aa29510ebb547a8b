"""What every report is made from: a process, its claims, and how each of them was judged.

Claims are there without their trails, so that ten thousand of them are no matter; trails are read
a few at a time by whoever writes them (`api.reports.trails`).

Source: VeriTrail 3.2 (verdicts, evidence trail, provenance, error localization).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import metadata

from veritrail_graph.graph.clock import now
from veritrail_graph.graph.exporters.results import total_usage
from veritrail_graph.graph.model import (
    Claim,
    Process,
    Reviewed,
    Status,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.graph.rules import shown

DISTRIBUTION = "veritrail-graph"

WAITING = (Status.QUEUED, Status.RUNNING)
"""Verifications that have not ended: nothing can be said of their claims yet."""


class State(StrEnum):
    """How a claim stands. What could not be checked is never shown as unsupported."""

    SUPPORTED = "supported"
    NOT_SUPPORTED = "not-supported"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"
    UNCHECKED = "unchecked"


STATE_WORDS = {
    State.SUPPORTED: "Fully supported",
    State.NOT_SUPPORTED: "Not fully supported",
    State.INCONCLUSIVE: "Inconclusive",
    State.FAILED: "Could not be checked",
    State.UNCHECKED: "Not checked",
}

STATE_OF = {
    Verdict.FULLY_SUPPORTED: State.SUPPORTED,
    Verdict.NOT_FULLY_SUPPORTED: State.NOT_SUPPORTED,
    Verdict.INCONCLUSIVE: State.INCONCLUSIVE,
}


def state_of(found: Verification | None) -> State:
    """How a claim stands whose verification this is."""
    if found is None or found.status in WAITING:
        return State.UNCHECKED
    return STATE_OF[found.verdict] if found.verdict is not None else State.FAILED


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, and the verification that a report goes by.

    Attributes:
        claim: The claim as it is stored.
        verification: Its latest verification that succeeded; where none did, its latest. Without
            the trail; None: it has none.
        later: A later verification that gave no verdict, if there is one.
        verifications: How many verifications it has.
        reviewed: What people said of it; None: nothing.
        number: Its place among the claims of the process, counted from 1, as the page has it.
    """

    claim: Claim
    verification: Verification | None = None
    later: Verification | None = None
    verifications: int = 0
    reviewed: Reviewed | None = None
    number: int = 1

    @property
    def state(self) -> State:
        """How it stands."""
        return state_of(self.verification)

    @property
    def verdict(self) -> Verdict | None:
        """The final verdict, if there is one."""
        return self.verification.verdict if self.verification else None

    @property
    def error_stages(self) -> tuple[int, ...]:
        """The stages where unsupported content came in; empty where none could be identified."""
        return self.verification.error.stages if self.verification else ()

    @property
    def is_indicative(self) -> bool:
        """Whether it has a verdict that no model gave."""
        found = self.verification
        return found is not None and found.verdict is not None and found.indicative

    @property
    def was_edited(self) -> bool:
        """Whether its text is another one than the one that was verified."""
        return self.verification is not None and self.verification.claim.text != self.claim.text

    @property
    def reason(self) -> str | None:
        """Why it stands as it does: the reasons for its verdict, or why there is none."""
        found = self.verification
        if found is None:
            return None
        return found.reasoning if found.verdict is not None else found.failure


@dataclass(frozen=True, slots=True)
class StageFigures:
    """A stage of the process.

    Attributes:
        stage: The stage.
        name: What the input calls it, or None.
        nodes: Its nodes.
        introduced: Claims of the report into which unsupported content came at this stage.
    """

    stage: int
    name: str | None
    nodes: int
    introduced: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which claims a report is about; empty: all.

    Attributes:
        claim_ids: These claims.
        node_ids: Those about these nodes.
        states: Those that stand so.
    """

    claim_ids: tuple[str, ...] = ()
    node_ids: tuple[str, ...] = ()
    states: tuple[State, ...] = ()

    def takes(self, one: CheckedClaim) -> bool:
        """Whether a claim is wanted."""
        return (
            (not self.claim_ids or one.claim.claim_id in self.claim_ids)
            and (not self.node_ids or one.claim.node_id in self.node_ids)
            and (not self.states or one.state in self.states)
        )

    def words(self) -> str:
        """Which claims these are, for a reader; empty where they are all."""
        parts = [f"claim {', '.join(self.claim_ids)}"] if self.claim_ids else []
        if self.node_ids:
            parts.append(f"about node {', '.join(map(shown, self.node_ids))}")
        if self.states:
            parts.append(" or ".join(STATE_WORDS[one].lower() for one in self.states))
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Made:
    """When and by what a report was made.

    Attributes:
        at: ISO 8601 in UTC.
        by: Name and version of the program.
        origin: Where it was read: `store`, or the name of a file.
    """

    at: str = field(default_factory=now)
    by: str = field(default_factory=lambda: f"veritrail-graph {metadata.version(DISTRIBUTION)}")
    origin: str = "store"


@dataclass(frozen=True, slots=True)
class Material:
    """A process and its claims as a report shows them, without their trails.

    Attributes:
        process: The process.
        claims: The claims that are wanted, in the order of the input.
        total: How many claims the process has.
        wanted: Which of them these are.
        made: When and by what it was made.
    """

    process: Process
    claims: tuple[CheckedClaim, ...]
    total: int
    wanted: Wanted = Wanted()
    made: Made = field(default_factory=Made)

    @property
    def counts(self) -> dict[State, int]:
        """Claims by how they stand; every state is there."""
        found = Counter(one.state for one in self.claims)
        return {state: found[state] for state in State}

    @property
    def verifications(self) -> list[Verification]:
        """The verifications that the report goes by, without their trails."""
        return [one.verification for one in self.claims if one.verification is not None]

    @property
    def usage(self) -> Usage:
        """What they came to; the cost is None while any price is unknown."""
        return total_usage(self.verifications)

    @property
    def is_indicative(self) -> bool:
        """Whether any verdict was given without a model."""
        return any(one.is_indicative for one in self.claims)

    @property
    def stages(self) -> tuple[StageFigures, ...]:
        """The stages, ascending, with how many claims went wrong there."""
        introduced = Counter(stage for one in self.claims for stage in one.error_stages)
        names = self.process.stage_names
        return tuple(
            StageFigures(stage, names.get(stage), nodes, introduced[stage])
            for stage, nodes in sorted(self.process.stages.items())
        )

    @property
    def title(self) -> str:
        """What the report is about."""
        return self.process.name or self.process.process_id

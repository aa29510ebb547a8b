"""A finding: a claim that is wrong, where that came in, and the two sentences that show it.

Source: ours (docs/adr/0066-check.md); the place is that of VeriTrail 3.2 (error localization).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field, JsonValue

from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.graph.model.located import LocatedBy, ValueDifference
from veritrail_graph.graph.model.noun import (
    Answer,
    Count,
    Many,
    NodeId,
    OneOf,
    Place,
    Text,
    is_empty,
    is_none,
    is_zero,
)
from veritrail_graph.graph.model.part import PartVerdict
from veritrail_graph.graph.model.process import Verdict
from veritrail_graph.graph.model.trail import Status


class FindingNode(Answer):
    """A node that a finding names."""

    node_id: NodeId = Field(description="Its id in the process.")
    name: Text = Field(description="What people call it: its title or name, else its id.")
    stage: Count | None = Field(default=None, description="Its stage; null: not known.")
    stage_name: Text | None = Field(default=None, description="What the input calls the stage.")
    step: Text | None = Field(default=None, description="The step that produced it.")
    model: Text | None = Field(default=None, description="The model that produced it.")


class FindingQuote(FindingNode):
    """A sentence of a node, with the words that matter marked."""

    sentence: Count | None = Field(
        default=None, description="Its number in the node, from 0; null: it is the claim itself."
    )
    start: Count | None = Field(
        default=None, description="Offset of its first character in the node, in code points."
    )
    end: Count | None = Field(default=None, description="Offset just behind its last character.")
    text: Text = Field(description="The sentence.")
    marked: Many[Place] = Field(
        default=(), description="The words that matter: [start, end] of each, counted in `text`."
    )


class FailedPart(Answer):
    """A part of a claim that is contradicted, or that nothing addresses."""

    text: Text = Field(description="What it says.")
    verdict: OneOf[PartVerdict] = Field(description="`contradicted` or `not_addressed`.")
    reason: Text = Field(default="", description="The reason for it.")


class Finding(Answer):
    """A claim that is not supported: what is wrong, and where it came in."""

    process_id: Text = Field(description="The process.")
    claim_id: Text = Field(description="The claim.")
    claim: Text = Field(description="What it says.")
    verdict: Verdict | None = Field(description="Its verdict.")
    category: OneOf[ClaimCategory] | None = Field(
        default=None,
        description="Of a claim of a dialogue's turn: what it has in place of a verdict.",
        exclude_if=is_none,
    )
    verification_id: Text = Field(description="The verification, which has the whole trail.")
    located_by: LocatedBy | None = Field(
        default=None, description="How its place was found; null: it was not."
    )
    culprit: FindingNode | None = Field(
        default=None, description="Where it went wrong; null: nothing says, or `candidates` do."
    )
    candidates: Many[FindingNode] = Field(
        default=(), description="Of several nodes where it may have, all; else empty."
    )
    source: FindingQuote | None = Field(
        default=None, description="What was said before it went wrong; null: nothing was found."
    )
    wrote: FindingQuote | None = Field(
        default=None, description="What was written of it; null: nothing says."
    )
    difference: ValueDifference | None = Field(
        default=None, description="What differs, where one thing does."
    )
    carried_on: Many[FindingNode] = Field(
        default=(), description="Later nodes that repeat it; the answer is last."
    )
    failed_parts: Many[FailedPart] = Field(
        default=(),
        description="The parts that failed, where the judge gives verdicts by part.",
        exclude_if=is_empty,
    )
    correction: Text | None = Field(
        default=None,
        description="The claim with the smallest change that its evidence supports, judged again.",
        exclude_if=is_none,
    )
    reasoning: Text | None = Field(default=None, description="The reasons for the verdict.")


TURNS = "turns"
"""The key in `read` that a dialogue has: how many turns were verified."""
_WAITING = (None, Status.QUEUED, Status.RUNNING)
WRONG = frozenset({ClaimCategory.CONTRADICTED, ClaimCategory.LACKING_EVIDENCE})
"""Categories of claims of turns that are findings."""


class CheckedClaim(Answer):
    """A claim that was checked, with its verdict or the reason that it has none."""

    process_id: Text = Field(description="The process.")
    claim_id: Text = Field(description="The claim.")
    claim: Text = Field(description="What it says.")
    verdict: Verdict | None = Field(description="Its verdict; null: `status` says why.")
    category: OneOf[ClaimCategory] | None = Field(
        default=None,
        description="Of a claim of a dialogue's turn: what it has in place of a verdict.",
        exclude_if=is_none,
    )
    status: Status | None = Field(
        description="How its verification ended; null: it was never verified."
    )
    verification_id: Text | None = Field(default=None, description="Its verification.")
    error_nodes: Many[Text] | None = Field(
        default=None,
        description="In `results`: the nodes where unsupported content came in.",
        exclude_if=is_none,
    )
    reason: Text | None = Field(
        default=None, description="Why it has no verdict.", exclude_if=is_none
    )

    @property
    def is_undecided(self) -> bool:
        """Return whether words alone do not decide it, or samples did not agree."""
        return self.verdict is None and self.status is Status.UNDECIDED

    @property
    def is_failed(self) -> bool:
        """Return whether its verification ended without a result."""
        has_none = self.verdict is None and self.category is None
        return has_none and self.status not in (*_WAITING, Status.UNDECIDED)

    @property
    def is_waiting(self) -> bool:
        """Return whether its verification has not ended, or was never begun."""
        return self.verdict is None and self.category is None and self.status in _WAITING

    @property
    def is_wrong(self) -> bool:
        """Return whether it is not supported, or contradicted."""
        return self.verdict is Verdict.NOT_FULLY_SUPPORTED or self.category in WRONG


class CheckJudge(Answer):
    """The judge of a check, and what was measured of it."""

    engine: Text = Field(description="The engine of judgement.")
    model: Text | None = Field(default=None, description="The model, if a model judged.")
    indicative: bool = Field(description="Whether no model judged.")
    measured: dict[str, JsonValue] | None = Field(
        default=None,
        description="What was measured of it, by `judge check` here or of the engine as such: "
        "balanced_accuracy, decided, pairs, and others; null: nothing.",
    )


class FindingCounts(Answer):
    """The claims by verdict, and those that have none.

    Claims of a dialogue's turns have categories in place of verdicts, and are counted by these.
    """

    FULLY_SUPPORTED: int = 0
    NOT_FULLY_SUPPORTED: int = 0
    INCONCLUSIVE: int = 0
    undecided: int = Field(0, description="They cannot be told without a model.")
    failed: int = Field(0, description="Not finished: an error, a budget, a cancellation.")
    VERIFIED: int = Field(0, description="Claims of turns.", exclude_if=is_zero)
    CONTRADICTED: int = Field(0, description="Claims of turns.", exclude_if=is_zero)
    LACKING_EVIDENCE: int = Field(0, description="Claims of turns.", exclude_if=is_zero)
    OUT_OF_SCOPE: int = Field(0, description="Claims of turns.", exclude_if=is_zero)
    ABSTENTION: int = Field(0, description="Claims of turns.", exclude_if=is_zero)

    @property
    def wrong(self) -> int:
        """Claims that are not supported, or contradicted."""
        return self.NOT_FULLY_SUPPORTED + self.CONTRADICTED + self.LACKING_EVIDENCE

    @property
    def right(self) -> int:
        """Claims that are supported, or verified."""
        return self.FULLY_SUPPORTED + self.VERIFIED

    @property
    def neither(self) -> int:
        """Claims of turns that nothing could support: opinions, and what is left unsaid."""
        return self.OUT_OF_SCOPE + self.ABSTENTION

    @classmethod
    def of(cls, claims: Iterable[CheckedClaim]) -> FindingCounts:
        """Count claims."""
        every = list(claims)
        named = (one.verdict or one.category for one in every)
        counts = Counter(one.value for one in named if one is not None)
        return cls(
            **counts,
            undecided=sum(one.is_undecided for one in every),
            failed=sum(one.is_failed for one in every),
        )

    @classmethod
    def of_states(cls, states: Mapping[str, int]) -> FindingCounts:
        """Return the counts of the claims of a process; those that were not checked count nowhere.

        Args:
            states: How many claims have each state.
        """
        return cls(**{name: states.get(name, 0) for name in cls.model_fields})


class CheckFailure(Answer):
    """An input that could not be checked, and why."""

    source: Text = Field(description="Where it is, such as `log.jsonl#17`.")
    process_id: Text | None = Field(
        default=None, description="Where it is stored, if it is.", exclude_if=is_none
    )
    error: dict[str, Any] = Field(description="`message` and `violations`.")


_NOT_IN_FORCE = (
    "Claims for which another result counts than the one that was found here, by their claim_id."
)
_KEPT_BY = "Who gave the results that count for these claims."


class Findings(Answer):
    """The findings of a process: its wrong claims, and all claims of the page.

    They are those of the verdicts in force or, with `run_id`, those that a run gave.
    """

    process_id: Text
    name: Text
    question: Text | None = None
    run_id: Text | None = Field(
        default=None, description="The run that found this.", exclude_if=is_none
    )
    claims: int = Field(description="How many claims it has; of a run: how many it verifies.")
    verdicts: FindingCounts
    judge: CheckJudge | None = Field(
        default=None, description="Who gave the verdicts; null: no judge, or several."
    )
    findings: Many[Finding] = Field(default=(), description="Its wrong claims.")
    results: Many[CheckedClaim] = Field(default=(), description="All claims of the page.")
    not_in_force: Many[Text] = Field(default=(), description=_NOT_IN_FORCE, exclude_if=is_empty)
    kept_by: Many[CheckJudge] = Field(default=(), description=_KEPT_BY, exclude_if=is_empty)
    failed: Many[CheckFailure] = Field(
        default=(),
        description="Of a run: what failed and no claim tells, such as turns without claims.",
        exclude_if=is_empty,
    )
    nextCursor: str | None = Field(  # noqa: N815  (as AIP-158 has it)
        default=None, description="Where the next page begins; null: there is none."
    )

    @classmethod
    def of_pages(cls, pages: Sequence[Findings]) -> Findings:
        """Return what all pages of a process say together; its judge is that of every page."""
        first = pages[0]
        return first.model_copy(
            update={
                "judge": first.judge if all(page.judge == first.judge for page in pages) else None,
                "findings": tuple(finding for page in pages for finding in page.findings),
                "results": tuple(claim for page in pages for claim in page.results),
                "not_in_force": tuple(name for page in pages for name in page.not_in_force),
                "kept_by": _each_once(one for page in pages for one in page.kept_by),
                "nextCursor": None,
            }
        )


class CheckedProcess(Answer):
    """A process that was checked."""

    process_id: Text
    name: Text
    question: Text | None = None
    status: Text = Field(description="created, or unchanged where it was stored before.")
    claims: int = Field(description="How many claims were checked.")
    verdicts: FindingCounts
    wrong: Many[Finding] = Field(default=(), description="The claims that are not supported.")
    undecided: Many[CheckedClaim] = Field(
        default=(), description="The claims that cannot be told without a model."
    )
    failed: Many[CheckedClaim] = Field(
        default=(), description="The claims whose verification did not finish."
    )
    results: Many[CheckedClaim] = Field(default=(), description="All claims, in their order.")
    where: Text = Field(default="", description="Where it was read.")
    cost_usd: float | None = Field(default=None, description="What it cost; null: not known.")
    run_id: Text | None = Field(default=None, description="The run of its verifications.")
    reused: int = Field(0, description="Claims that had a verdict of this judge before.")
    not_in_force: Many[Text] = Field(default=(), description=_NOT_IN_FORCE, exclude_if=is_empty)
    kept_by: Many[CheckJudge] = Field(default=(), description=_KEPT_BY, exclude_if=is_empty)
    read: dict[str, JsonValue] = Field(
        default={}, description="What was read: format, nodes, stages, what the format lacked."
    )


class Checked(Answer):
    """The findings of a check: by process, with what could not be checked."""

    judge: CheckJudge
    cost_usd: float | None = Field(description="What it cost; null: not known.")
    processes: Many[CheckedProcess] = ()
    failed: Many[CheckFailure] = Field(default=(), description="What could not be checked.")
    warnings: Many[Text] = ()


def _each_once(judges: Iterable[CheckJudge]) -> tuple[CheckJudge, ...]:
    return tuple({(one.engine, one.model): one for one in judges}.values())

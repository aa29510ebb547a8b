"""The judges of the claims of a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from veritrail_graph.api.show.asking import asking_short
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.judge_mode import judge_mode_of
from veritrail_graph.graph.model import Verification
from veritrail_graph.graph.model.run import JudgeMode


@dataclass(frozen=True, slots=True)
class ReportJudge:
    """A judge that gave verdicts that count.

    Attributes:
        engine: The engine of judgement.
        model: The model, or None.
        q: The consecutive unsupported iterations that end a verification.
        claims: How many claims have such a verdict.
        first: The day of the first of these verifications, in UTC.
        last: The day of the last one.
        kept: How many of the verdicts were kept from earlier verifications.
        share: Claims of one prompt, at most, where prompts were shared; None: one claim a prompt.
        escalate_to: The second judge of a cascade; None: there was one judge.
    """

    engine: str
    model: str | None
    q: int
    claims: int
    first: str
    last: str
    kept: int = 0
    share: int | None = None
    escalate_to: str | None = None

    @property
    def words(self) -> str:
        """Them in a line."""
        by = f"{self.engine} {self.model}" if self.model else f"{self.engine} (no model)"
        by += asking_short(JudgeMode(self.share, self.escalate_to))
        days = self.first if self.first == self.last else f"{self.first} to {self.last}"
        kept = f", {self.kept:,} of them kept from earlier verifications" if self.kept else ""
        return f"{counted(self.claims, 'claim')} by {by}, q = {self.q}, {days}{kept}"


def judges_of(verifications: Iterable[Verification]) -> tuple[ReportJudge, ...]:
    """Return who gave the results of some verifications, the most frequent first."""
    given: dict[tuple[str, str | None, int, JudgeMode], list[Verification]] = {}
    for one in verifications:
        by = (one.engine, one.model, one.q, judge_mode_of(one))
        given.setdefault(by, []).append(one)
    found = []
    for (engine, model, q, asking), each in given.items():
        days = [one.created_at[:10] for one in each]
        kept = sum(one.reused_from is not None for one in each)
        of = (len(each), min(days), max(days), kept)
        found.append(ReportJudge(engine, model, q, *of, asking.share, asking.second))
    return tuple(sorted(found, key=lambda one: (-one.claims, one.words)))

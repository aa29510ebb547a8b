"""The claims that a job against an earlier version kept, verified and changed, for its page.

Source: ours (docs/changes.md).
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from veritrail_graph.api.page.links import url
from veritrail_graph.api.show.words import Mark, mark_of, share
from veritrail_graph.graph.model import Status, Verdict

if TYPE_CHECKING:
    from veritrail_graph.api.app.changes import Changes, ComparedClaim

REASONS = 5
"""Reasons that are shown, those of most claims first."""
MOST_CHANGED = 50
"""Claims with another verdict or other error stages that are shown."""
MOST_MATCHES = 20


@dataclass(frozen=True, slots=True)
class ChangedClaim:
    """A claim with another verdict, or with other error stages.

    Attributes:
        claim: The claim.
        href: Its page.
        before: The earlier verdict.
        now: Its verdict.
        stages_before: The earlier error stages, in words.
        stages: Its error stages, in words.
    """

    claim: str
    href: str
    before: Mark
    now: Mark
    stages_before: str
    stages: str


@dataclass(frozen=True, slots=True)
class ClaimMatch:
    """A claim without a match, beside the earlier one that has most of its words.

    Attributes:
        claim_id: The claim.
        claim: What it says.
        href: Its page.
        earlier: The claim_id of the earlier one.
        earlier_claim: What that says.
    """

    claim_id: str
    claim: str
    href: str
    earlier: str
    earlier_claim: str

    @property
    def pair(self) -> str:
        """Both claims as a form sends them."""
        return json.dumps([self.earlier, self.claim_id])


@dataclass(frozen=True, slots=True)
class ChangesView:
    """The result of a job against an earlier version.

    Attributes:
        found: The figures.
        saved: The share of answers that were not asked for, in words; None: no model is asked.
        reasons: Why claims were verified anew, each with how many claims, most first.
        more_reasons: How many further reasons there are.
        changed: Claims with another verdict, then those with other error stages.
        more_changed: How many further ones there are.
        matches: Claims that may say what an earlier one of other words says.
        more_matches: How many further ones there are.
    """

    found: Changes
    saved: str | None
    reasons: tuple[tuple[str, int], ...]
    more_reasons: int
    changed: tuple[ChangedClaim, ...]
    more_changed: int
    matches: tuple[ClaimMatch, ...]
    more_matches: int


def changes_view(process_id: str, found: Changes) -> ChangesView:
    """Return what is shown of the changes of a job.

    Args:
        process_id: The process that was verified.
        found: The answer of the application, which REST gives, too.
    """
    reasons = Counter(one.reason for one in found.claims if not one.kept)
    changed = [one for one in found.claims if one.is_changed]
    changed += [one for one in found.claims if one.is_moved]
    all_calls = found.saved_calls + found.calls
    saved = None if found.saved_share is None else share(found.saved_calls, all_calls)
    matches = tuple(
        ClaimMatch(
            one.claim_id,
            one.claim,
            url("processes", process_id, "claims", one.claim_id),
            one.earlier,
            one.earlier_claim,
        )
        for one in found.possible_matches[:MOST_MATCHES]
    )
    return ChangesView(
        found,
        saved,
        tuple(reasons.most_common(REASONS)),
        max(0, len(reasons) - REASONS),
        tuple(_changed(process_id, one) for one in changed[:MOST_CHANGED]),
        max(0, len(changed) - MOST_CHANGED),
        matches,
        len(found.possible_matches) - len(matches),
    )


def _changed(process_id: str, one: ComparedClaim) -> ChangedClaim:
    place = ("processes", process_id, "claims", one.claim_id)
    return ChangedClaim(
        claim=one.claim,
        href=url(*place, verification=one.verification_id),
        before=_mark(one.verdict_before, one.status_before),
        now=_mark(one.verdict, one.status),
        stages_before=_stages(one.error_stages_before),
        stages=_stages(one.error_stages),
    )


def _mark(verdict: str | None, status: str | None) -> Mark:
    found = Verdict(verdict) if verdict is not None else None
    return mark_of(found, Status(status) if status is not None else None)


def _stages(stages: list[int]) -> str:
    return ", ".join(map(str, stages)) or "none"

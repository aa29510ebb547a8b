"""The changes of a run against an earlier version: verdicts that were kept, verdicts that moved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.verifier.localization import shared_words
from veritrail_graph.verifier.reuse import calls_behind

if TYPE_CHECKING:
    from veritrail_graph.graph.model import Verification
    from veritrail_graph.graph.model.job import Job
    from veritrail_graph.graph.store import Store
    from veritrail_graph.graph.store.trails import EarlierOutline

MOST_COMPARED = 2_000
"""Claims without a match on either side that are compared with one another."""


class ComparedClaim(Answer):
    """A claim of the run beside the verification of it in the earlier version."""

    claim_id: str
    claim: str
    verification_id: str
    kept: bool = Field(description="Whether the earlier verdict was kept.")
    reason: str = Field(description="Why it was kept, or why it was not.")
    earlier: str | None = Field(description="The earlier verification; null: there is none.")
    status: str
    verdict_before: str | None
    verdict: str | None
    status_before: str | None = Field(
        None, description="That of the earlier verification; null: there is none."
    )
    error_stages_before: list[int]
    error_stages: list[int]

    @property
    def is_changed(self) -> bool:
        """Return whether there was a verdict and there is another one now."""
        return None not in (self.verdict_before, self.verdict) and (
            self.verdict_before != self.verdict
        )

    @property
    def is_moved(self) -> bool:
        """Return whether the verdict is the same and its error stages are not."""
        is_same = self.verdict is not None and self.verdict == self.verdict_before
        return is_same and self.error_stages != self.error_stages_before


class PossibleMatch(Answer):
    """A claim without a match, and the earlier one that has most of its words.

    Nothing is kept because of it: a person confirms that both say the same.
    """

    claim_id: str
    claim: str
    earlier: str = Field(description="The claim_id in the earlier version.")
    earlier_claim: str


class Changes(Answer):
    """What a run against an earlier version kept, verified and changed."""

    since: str = Field(description="The process that the earlier version is stored as.")
    content_hash: str = Field(description="The content hash of the earlier version.")
    kept: int = Field(description="Claims whose earlier verdict was kept.")
    verified: int = Field(description="All others.")
    changed: int = Field(description="Claims that have another verdict now.")
    moved: int = Field(description="Claims with the same verdict and other error stages.")
    calls: int = Field(description="Answers of models that the others took, also from the cache.")
    saved_calls: int = Field(description="Those that the kept verdicts rest on.")
    saved_share: float | None = Field(
        description="The share of answers that were saved; null where no model is asked."
    )
    calls_made: int = Field(default=0, description="Of `calls`, those that this run made.")
    cached_calls: int = Field(
        default=0,
        description="Of `calls`, answers that this run had from the cache. The rest of `calls` is "
        "that of claims that were verified before on this content.",
    )
    calls_spared_share: float | None = Field(
        default=None,
        description="Of all answers, kept verdicts included, the share for which this run made no "
        "call. Null where no model is asked.",
    )
    claims: list[ComparedClaim]
    possible_matches: list[PossibleMatch]

    @classmethod
    def of(
        cls,
        since: tuple[str, str],
        made: Sequence[Verification],
        before: Iterable[Verification],
        unmatched: Sequence[EarlierOutline],
        run_id: str | None,
    ) -> Changes:
        """Return what a run changed.

        Args:
            since: process_id and content hash of the earlier version.
            made: The verifications of the run, without their trails.
            before: The earlier verifications that they were compared with.
            unmatched: Earlier verifications, among which those without a match are looked for.
            run_id: The run. What another one verified with the same settings cost this one nothing.
        """
        earlier = {one.verification_id: one for one in before}
        made = [_of_version(one, earlier, since) for one in made]
        claims = [_compared(one, earlier.get(one.compared_with or "")) for one in made]
        kept = [one for one in made if one.reused_from is not None]
        saved = sum(map(calls_behind, kept))
        calls = sum(one.usage.calls + one.usage.cached_calls for one in made)
        own = [one.usage for one in made if one.run_id == run_id]
        asked = sum(usage.calls for usage in own)
        taken = {one.claim_id for one in earlier.values()}
        lonely = [one for one in made if one.compared_with is None and one.reuse_reason is not None]
        return cls(
            since=since[0],
            content_hash=since[1],
            kept=len(kept),
            verified=len(made) - len(kept),
            changed=sum(one.is_changed for one in claims),
            moved=sum(one.is_moved for one in claims),
            calls=calls,
            saved_calls=saved,
            saved_share=saved / (saved + calls) if saved + calls else None,
            calls_made=asked,
            cached_calls=sum(usage.cached_calls for usage in own),
            calls_spared_share=1 - asked / (saved + calls) if saved + calls else None,
            claims=claims,
            possible_matches=_likely(lonely, [o for o in unmatched if o.claim_id not in taken]),
        )


def _of_version(
    one: Verification, earlier: Mapping[str, Verification], since: tuple[str, str]
) -> Verification:
    """A verification, without what an earlier run found when it compared it with another version.

    A run shows again what was verified before with the same settings.
    """
    other = earlier.get(one.compared_with or "")
    if other is None or (other.process_id, other.content_hash) == since:
        return one
    return one.replace(reused_from=None, compared_with=None, reuse_reason=None)


def _compared(one: Verification, earlier: Verification | None) -> ComparedClaim:
    return ComparedClaim(
        claim_id=one.claim_id,
        claim=one.claim,
        verification_id=one.verification_id,
        kept=one.reused_from is not None,
        reason=one.reuse_reason or "it was verified before with the same settings",
        earlier=one.compared_with,
        status=one.status.value,
        verdict_before=earlier.verdict.value if earlier and earlier.verdict else None,
        verdict=one.verdict.value if one.verdict else None,
        status_before=earlier.status.value if earlier else None,
        error_stages_before=list(earlier.error_stages) if earlier else [],
        error_stages=list(one.error_stages),
    )


def _likely(lonely: Sequence[Verification], left: Sequence[EarlierOutline]) -> list[PossibleMatch]:
    """For each claim without a match the earlier one that has at least two thirds of its words."""
    found = []
    others = list({one.claim_id: one for one in left}.values())[:MOST_COMPARED]
    sizes = {one.claim_id: shared_words(one.claim, one.claim) for one in others}
    for one in lonely[:MOST_COMPARED]:
        own = shared_words(one.claim, one.claim)
        likeness = [
            (shared_words(one.claim, other.claim) / max(own, sizes[other.claim_id], 1), other)
            for other in others
        ]
        best = max(likeness, key=lambda each: each[0], default=None)
        if best is not None and 3 * best[0] >= 2:
            found.append(
                PossibleMatch(
                    claim_id=one.claim_id,
                    claim=one.claim,
                    earlier=best[1].claim_id,
                    earlier_claim=best[1].claim,
                )
            )
    return found


async def changes_of(job: Job, settings: str, store: Store) -> Changes:
    """Return what a job that names an earlier version kept, verified and changed until now.

    Args:
        job: The job.
        settings: What decides its verdicts.
        store: The graph.
    """
    made = await store.trails.headers(job.verification_ids)
    compared = [one.compared_with for one in made if one.compared_with is not None]
    before = await store.trails.headers(list(dict.fromkeys(compared)))
    version = job.since or job.process_id, job.since_content
    stored = await store.trails.earlier(*version, settings)
    return Changes.of(version, made, before, stored, job.run_id)

"""Claims, reviews and trails as the pages of reviewers read them."""

from __future__ import annotations

from collections.abc import Sequence

from veritrail_graph.api.page.views.review import Read
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    Iteration,
    NodeRef,
    Process,
    Review,
    Reviewed,
    ReviewVerdict,
    Role,
    Sentence,
    Status,
    Verdict,
    Verification,
)
from veritrail_graph.graph.model.listed import JudgedClaim
from veritrail_graph.graph.model.review import reviewed as reviewed_of

FS, NFS = ReviewVerdict.FULLY_SUPPORTED, ReviewVerdict.NOT_FULLY_SUPPORTED
INC, UNCLEAR = ReviewVerdict.INCONCLUSIVE, ReviewVerdict.UNCLEAR


def a_claim(
    claim_id: str,
    verdict: ReviewVerdict | None,
    stages: tuple[int, ...] = (),
    error: str | None = None,
) -> JudgedClaim:
    return JudgedClaim(
        claim_id=claim_id,
        text=f"Claim {claim_id}.",
        node_id="t",
        verdict=None if verdict is None else Verdict(verdict.value),
        verification_id=None if verdict is None else f"v-{claim_id}",
        indicative=False,
        error_stages=stages,
        verifications=1,
        status=Status.FAILED if error else Status.SUCCEEDED,
        error=error,
    )


def a_review(claim_id: str, verdict: ReviewVerdict, reviewer: str, reason: str = "So.") -> Review:
    return Review(
        review_id=f"review-{claim_id}-{reviewer.strip()}",
        process_id="p",
        claim_id=claim_id,
        claim=f"Claim {claim_id}.",
        verdict=verdict,
        reviewer=reviewer,
        created_at="2026-01-01T00:00:00.000000Z",
        reason=reason,
    )


def reviewed(reviews: Sequence[Review], verdict: Verdict | None = None) -> Reviewed:
    found = reviewed_of(reviews, verdict)
    assert found is not None
    return found


def a_read(claim: JudgedClaim, others: Sequence[Review] = (), *, trail: bool = False) -> Read:
    """What is read for a page with one claim."""
    name = claim.claim_id
    stages = {1: 5, 2: 3, 3: 1}
    return Read(
        process=Process(
            process_id="p",
            name="P",
            question=None,
            source_format="x",
            content_hash="0",
            stages=stages,
            stage_names={},
            terminals=("t",),
            nodes=9,
            edges=9,
        ),
        claims={name: claim},
        reviewed={name: reviewed(others, claim.verdict)} if others else {},
        verification=a_trail(levels=(2,)) if trail else None,
        text=f"Before. Claim {name}. After.",
        top=3,
    )


def a_trail(
    levels: tuple[int, ...],
    *,
    nodes: int = 1,
    sentences: int = 1,
    text: str = "It says so.",
    rounds: int = 1,
) -> Verification:
    """A trail with evidence on these stages, selected in every round."""
    found = []
    for stage in levels:
        refs = [
            NodeRef(f"n{stage}-{number}", stage, number, Role.INTERMEDIATE)
            for number in range(nodes)
        ]
        cited = [
            CitedSentence.of(Sentence(ref.node_id, place, 0, len(text), text))
            for ref in refs
            for place in range(sentences)
        ]
        evidence = Evidence(
            text="A summary of it.", missing="What is missing.", sentences=tuple(cited)
        )
        found += [
            Iteration(
                number=number,
                verdict=Verdict.NOT_FULLY_SUPPORTED,
                reasoning="Because.",
                checked=tuple(refs),
                carried_roots=(),
                summaries=(evidence,),
            )
            for number in range(1, rounds + 1)
        ]
    return Verification.of_claim(
        Claim(claim_id="k0", text="Claim k0.", node_id="t"),
        verification_id="v",
        process_id="p",
        q=3,
        engine="openai",
        model="judge-1",
        indicative=False,
        created_at="2026-01-01T00:00:00.000000Z",
        status=Status.SUCCEEDED,
        verdict=Verdict.NOT_FULLY_SUPPORTED,
        reasoning="Because nothing says so.",
        iterations=tuple(found),
    )

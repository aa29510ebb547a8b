"""Reviews by people: adding one, what there is, and how far people agree with the model.

The command line and REST call the same functions.
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.agreement import AgreementReport
    from veritrail_graph.graph.model import Review, Reviewed
    from veritrail_graph.graph.model.listed import JudgedReview
    from veritrail_graph.graph.reviewing import NewReview, Seen
    from veritrail_graph.graph.store import Store

REVIEWER = "VERITRAIL_REVIEWER"
"""The setting that names the reviewer where a command does not."""


@dataclass(frozen=True, slots=True)
class ClaimReviews:
    """The reviews of one claim, newest first, and what they come to; None: there are none."""

    reviews: list[Review]
    reviewed: Reviewed | None


def reviewer_named(given: str | None, values: Mapping[str, str]) -> str:
    """Who reviews on the command line: as named, else as set, else who is logged in."""
    if given is not None:
        return given
    if values.get(REVIEWER):
        return values[REVIEWER]
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # nobody that the system knows
        return ""


async def add_review(store: Store, process_id: str, claim_id: str, given: NewReview) -> Review:
    """Append a review; no verdict is changed.

    Raises:
        NotFound: There is no such process or claim, or no such verification of the claim.
        InputError: The review breaks rules, or there is no verdict to review.
    """
    from veritrail_graph.graph.reviewing import check_given

    check_given(given)  # told before anybody is asked what is stored
    await store.processes.get(process_id)
    return await store.reviews.add(process_id, claim_id, given)


async def add_once(
    store: Store, process_id: str, claim_id: str, given: NewReview, *, once: str, seen: Seen
) -> Review:
    """Append what was said in a form; sent twice, it is stored once.

    Args:
        store: The graph.
        process_id: The process.
        claim_id: The claim.
        given: The review.
        once: Whatever tells this form from every other one.
        seen: What the reviewer looked at.

    Raises:
        NotFound: There is no such process or claim.
        InputError: The review breaks rules, or there is no verdict to review.
        ReviewOutdated: The claim is not any more what the reviewer looked at.
    """
    from veritrail_graph.graph.reviewing import check_given, review_id_of

    given = check_given(given)
    name = review_id_of(once, process_id, claim_id, given)
    await store.processes.get(process_id)
    return await store.reviews.add(process_id, claim_id, given, review_id=name, seen=seen)


def recorder(caller: Caller) -> str | None:
    """The name of the key that a review comes in with; None where no key is asked for."""
    return caller.name if caller.key_id is not None else None


def told_of(review: Review) -> dict[str, Any]:
    """What the log of who did what keeps of a review."""
    return {
        "claim_id": review.claim_id,
        "review_id": review.review_id,
        "verification_id": review.overrides,
        "kind": review.kind.value,
    }


async def reviews_of_claim(store: Store, process_id: str, claim_id: str) -> ClaimReviews:
    """The reviews of a claim.

    Raises:
        NotFound: There is no such process or claim.
    """
    await store.claims.get(process_id, claim_id)
    found = await store.reviews.all(process_id, claim_id)
    states = await store.reviews.of_claims(process_id, [claim_id])
    return ClaimReviews([one.review for one in found], states.get(claim_id))


async def reviews_of_process(store: Store, process_id: str) -> list[JudgedReview]:
    """All reviews of a process, newest first.

    Raises:
        NotFound: There is no such process.
    """
    await store.processes.get(process_id)
    return await store.reviews.all(process_id)


async def agreement(store: Store, process_id: str) -> AgreementReport:
    """How far people agree with the model, and with each other, on the claims of a process.

    Raises:
        NotFound: There is no such process.
    """
    from veritrail_graph.graph.agreement import agreement_report

    await store.processes.get(process_id)
    return agreement_report(await store.reviews.judged(process_id))


def claim_reviews_json(process_id: str, claim_id: str, found: ClaimReviews) -> dict[str, Any]:
    """The reviews of a claim, with what they come to and the model's verdict beside it."""
    from veritrail_graph.graph.exporters.reviews import reviewed_json

    verdict = found.reviewed.verdict if found.reviewed else None
    return {
        "process_id": process_id,
        "claim_id": claim_id,
        "verdict": verdict.value if verdict else None,
        **reviewed_json(found.reviewed),
        "reviews": [review.json_object() for review in found.reviews],
    }

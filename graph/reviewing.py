"""The rules of a review: what it must say, and about what it can be.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, replace
from unicodedata import category

from veritrail_graph.graph.errors import InputError, NotFound, ReviewOutdated, Violation, shown
from veritrail_graph.graph.model import Review, ReviewKind, ReviewVerdict, Status, Verdict
from veritrail_graph.graph.model.review import kind_of

MAX_REASON = 10_000
MAX_REVIEWER = 200
_PREFIX = "review-"
_NO_PART_OF_A_LINE = {"Cc", "Zl", "Zp"}


@dataclass(frozen=True, slots=True)
class NewReview:
    """A review as it is given.

    Attributes:
        verdict: One of `ReviewVerdict`; the verdict of the verification confirms it, and None
            means that one, whatever it is.
        reason: Why; may be empty only where it confirms.
        reviewer: Who says so.
        overrides: The verification whose verdict is reviewed; None: the claim's latest that
            succeeded.
        recorded_by: Name of the key that it came in with.
        blind: Whether the model's verdict was hidden from the reviewer; None: not known.
        adjudicates: Whether it decides between reviewers.
    """

    verdict: str | None
    reason: str = ""
    reviewer: str = ""
    overrides: str | None = None
    recorded_by: str | None = None
    blind: bool | None = None
    adjudicates: bool | None = False


@dataclass(frozen=True, slots=True)
class ReviewInTable(NewReview):
    """A review of several that are given together; without a reviewer it is the sender's.

    Attributes:
        where: Its place among them, such as its line.
        claim_id: The claim.
    """

    where: str = ""
    claim_id: str = ""


@dataclass(frozen=True, slots=True)
class Considered:
    """The verification whose verdict is reviewed, as it is stored."""

    verification_id: str
    process_id: str
    claim_id: str
    status: str
    verdict: str | None


@dataclass(frozen=True, slots=True)
class Seen:
    """The claim and verification that a reviewer looked at when the review was written.

    Attributes:
        claim: `words_of` the claim's text.
        verification_id: The claim's latest verification with a verdict; None: there was none.
    """

    claim: str
    verification_id: str | None


def words_of(claim: str) -> str:
    """A short hash of the text of a claim."""
    return hashlib.sha256(claim.encode()).hexdigest()[:16]


def new_review_id() -> str:
    """A new id."""
    return f"{_PREFIX}{uuid.uuid4().hex}"


def review_id_of(once: str, process_id: str, claim_id: str, given: NewReview) -> str:
    """The id of what is said in one form: said twice in the same words it is one review.

    Args:
        once: Whatever tells this form from every other one.
        process_id: The process.
        claim_id: The claim.
        given: The review.
    """
    said = [once, process_id, claim_id, given.verdict, given.reason.strip(), given.reviewer.strip()]
    deciding = ["adjudicates"] if given.adjudicates else []
    content = json.dumps([*said, given.overrides, *deciding], ensure_ascii=True).encode()
    return f"{_PREFIX}{hashlib.sha256(content).hexdigest()[:32]}"


def check_seen(claim_id: str, seen: Seen, claim: str | None, considered: Considered | None) -> None:
    """Check that a claim still is what its reviewer looked at.

    Args:
        claim_id: The claim.
        seen: What the reviewer looked at.
        claim: The claim's text now; None where there is no such claim.
        considered: Its latest verification with a verdict now.

    Raises:
        ReviewOutdated: Its text is another one, or it was verified anew.
    """
    if claim is None:
        return  # another check reports it
    if words_of(claim) != seen.claim:
        raise ReviewOutdated(
            f"The text of claim {claim_id!r} was changed since you opened it. Nothing was stored: "
            "read it again, and say again what you think."
        )
    now_id = None if considered is None else considered.verification_id
    if now_id != seen.verification_id:
        raise ReviewOutdated(
            f"Claim {claim_id!r} was verified anew since you opened it. Nothing was stored: look "
            "at it as it is now, and say again what you think."
        )


def check_given(given: NewReview) -> NewReview:
    """A review as it is given, blanks around its texts taken off.

    Raises:
        InputError: It breaks rules; all of them are listed.
    """
    reason, reviewer = given.reason.strip(), given.reviewer.strip()
    faults = [*verdict_faults(given.verdict), *text_faults(reason, reviewer)]
    faults += _surrogates("overrides", given.overrides or "")
    if given.verdict == ReviewVerdict.UNCLEAR and not reason:
        faults.append(
            Violation("missing_reason", "reason", "is empty; say what is unclear about the claim")
        )
    if faults:
        raise InputError("The review cannot be stored", faults)
    return replace(given, reason=reason, reviewer=reviewer)


def verdict_faults(verdict: str | None) -> list[Violation]:
    """Return what is wrong with a reviewer's verdict."""
    if verdict is None or verdict in list(ReviewVerdict):
        return []
    words = ", ".join(ReviewVerdict)
    return [Violation("unknown_verdict", "verdict", f"must be one of {words}")]


def text_faults(reason: str, reviewer: str) -> list[Violation]:
    """Return what is wrong with the texts of a review of any source."""
    faults = []
    for where, text, most in (("reason", reason, MAX_REASON), ("reviewer", reviewer, MAX_REVIEWER)):
        if len(text) > most:
            faults.append(Violation("too_long", where, f"is longer than {most:,} characters"))
        faults += _surrogates(where, text)
    if not reviewer:
        faults.append(Violation("missing_reviewer", "reviewer", "is empty; say who reviews"))
    elif any(category(character) in _NO_PART_OF_A_LINE for character in reviewer):
        faults.append(Violation("wrong_value", "reviewer", "must be a name on one line"))
    return faults


def _surrogates(where: str, text: str) -> list[Violation]:
    try:
        text.encode()
    except UnicodeEncodeError:
        message = "contains a lone surrogate, which is not a character and cannot be stored"
        return [Violation("lone_surrogate", where, message)]
    return []


def review_of(
    process_id: str,
    claim_id: str,
    given: NewReview,
    claim: str | None,
    considered: Considered | None,
    *,
    review_id: str,
    created_at: str,
) -> Review:
    """The review that is stored for one that was given, beside what it is about.

    Args:
        process_id: The process.
        claim_id: The claim.
        given: The review; it keeps the rules.
        claim: The claim's text; None where there is no such claim.
        considered: The verification that it names or, where it names none, the claim's latest
            that succeeded.
        review_id: Its id.
        created_at: Now.

    Raises:
        NotFound: There is no such claim, or no such verification of this claim.
        InputError: There is no verdict to review, or an override has no reason.
    """
    if claim is None:
        raise NotFound(
            f"Process {process_id!r} has no claim {shown(claim_id)}.", code="claim_unknown"
        )
    verdict = _reviewed_verdict(process_id, claim_id, given, considered)
    said = ReviewVerdict(given.verdict or str(verdict))
    if kind_of(said, verdict) is ReviewKind.OVERRIDDEN and not given.reason:
        message = f"is empty; the verdict was {verdict}: say why it is {said}"
        raise InputError(
            "The review cannot be stored", [Violation("missing_reason", "reason", message)]
        )
    return Review(
        review_id=review_id,
        process_id=process_id,
        claim_id=claim_id,
        claim=claim,
        verdict=said,
        reviewer=given.reviewer,
        created_at=created_at,
        reason=given.reason,
        overrides=None if considered is None else considered.verification_id,
        model_verdict=verdict,
        recorded_by=given.recorded_by,
        blind=given.blind,
        adjudicates=given.adjudicates or None,
    )


def _reviewed_verdict(
    process_id: str, claim_id: str, given: NewReview, considered: Considered | None
) -> Verdict | None:
    """The verdict that is reviewed; None where the claim alone is called unclear."""
    if considered is None and given.overrides is not None:
        raise NotFound(
            f"No verification {shown(given.overrides)} is stored; was it removed, or its process "
            "replaced, since it was looked at?"
        )
    if considered is None:
        if given.verdict == ReviewVerdict.UNCLEAR:
            return None
        raise InputError(
            f"Claim {claim_id!r} has no verdict to review: none of its verifications succeeded. "
            f"Verify it first, or review it as {ReviewVerdict.UNCLEAR}."
        )
    if (considered.process_id, considered.claim_id) != (process_id, claim_id):
        raise NotFound(
            f"Verification {shown(considered.verification_id)} is not about claim {claim_id!r} of "
            f"process {process_id!r}: it is about claim {considered.claim_id!r} of process "
            f"{considered.process_id!r}"
        )
    if considered.status != Status.SUCCEEDED or considered.verdict is None:
        raise InputError(
            f"Verification {shown(considered.verification_id)} has no verdict to review: its "
            f"status is {considered.status}"
        )
    return Verdict(considered.verdict)


def restored_faults(review: Review, verdicts: dict[str, tuple[str, Verdict | None]]) -> list[str]:
    """Return what is wrong with a review that an input carries, in words.

    Args:
        review: The review.
        verdicts: Claim and verdict of every verification of the input, by its id.
    """
    if review.overrides is None:
        if review.verdict is not ReviewVerdict.UNCLEAR or review.model_verdict is not None:
            return [f"overrides is missing; only {ReviewVerdict.UNCLEAR} needs none"]
        return _reason_faults(review)
    if review.overrides not in verdicts:
        return [f"overrides: no verification of this input is {shown(review.overrides)}"]
    claim_id, verdict = verdicts[review.overrides]
    if claim_id != review.claim_id:
        name = shown(review.overrides)
        return [f"overrides: {name} is about claim {claim_id!r}, and this review is not"]
    if verdict is None or verdict is not review.model_verdict:
        found = "none" if verdict is None else verdict
        return [f"model_verdict is {review.model_verdict}, and that of the verification {found}"]
    return _reason_faults(review)


def _reason_faults(review: Review) -> list[str]:
    lacks_reason = not review.reason and review.kind is not ReviewKind.CONFIRMED
    return ["reason is empty; only a review that confirms needs none"] if lacks_reason else []

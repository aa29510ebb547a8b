"""The material of a report, from the claims of a process and their verifications.

Source: VeriTrail 3.2 (verdicts, evidence trail).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from veritrail_graph.api.show.reports.data import ClaimSelection, Made, ReportData, ReportedClaim
from veritrail_graph.api.show.words import WAITING
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, NotFound, shown
from veritrail_graph.graph.model import Claim, Process, Reviewed, Verification, in_force, of_text
from veritrail_graph.graph.model.verdict_in_force import strength_of

_NAMED = 10
"""Claims that are named where one is not there."""


def material_of(
    process: Process,
    claims: Iterable[Claim],
    headers: Iterable[Verification],
    reviewed: Mapping[str, Reviewed],
    wanted: ClaimSelection = ClaimSelection(),  # noqa: B008 (frozen)
    made: Made | None = None,
    total: int | None = None,
    numbers: Mapping[str, int] | None = None,
) -> ReportData:
    """The material of a report.

    Args:
        process: The process.
        claims: All its claims, in the order of the input, or those that are asked for.
        headers: All their verifications, with or without their trails, in any order.
        reviewed: What people said of claims, by claim_id.
        wanted: Which claims the report is about.
        made: When and by what it is made; None: now, from the store.
        total: How many claims the process has; None: these.
        numbers: By claim_id: its place in the process, counted from 1; None: that among these.

    Raises:
        NotFound: A claim that is asked for by its id is not there.
        InputError: No claim is about a node that is asked for.
    """
    by_claim: dict[str, list[Verification]] = {}
    for header in sorted(headers, key=lambda one: (one.created_at, one.verification_id)):
        by_claim.setdefault(header.claim_id, []).append(header)
    checked = [
        checked_claim(
            one,
            by_claim.get(one.claim_id, ()),
            reviewed.get(one.claim_id),
            process.run_of_record,
            place if numbers is None else numbers[one.claim_id],
        )
        for place, one in enumerate(claims, start=1)
    ]
    every = len(checked) if total is None else total
    _check_wanted(process, checked, wanted, every)
    found = tuple(one for one in checked if wanted.takes(one))
    return ReportData(process, found, every, wanted, made or Made())


def checked_claim(
    claim: Claim,
    verifications: Sequence[Verification],
    reviewed: Reviewed | None = None,
    run_of_record: str | None = None,
    number: int = 1,
) -> ReportedClaim:
    """A claim with the one of its verifications that counts: none that is about a former text.

    Args:
        claim: The claim.
        verifications: All its verifications, oldest first.
        reviewed: What people said of it.
        run_of_record: The run whose verdicts count, where one is pinned.
        number: Its place among the claims of the process, counted from 1.
    """
    present = of_text(verifications, claim.text)
    newest = present[-1] if present else None
    best = in_force(present, claim.text, run_of_record) or newest
    is_pinned = best is not None and run_of_record is not None and best.run_id == run_of_record
    has_later = newest is not None and newest is not best and newest.verdict is None
    later = _not_made_good(present, best) or (newest if has_later else None)
    return ReportedClaim(
        claim=claim,
        verification=best,
        later=None if is_pinned else later,  # a pinned run decides
        verifications=len(verifications),
        reviewed=reviewed,
        number=number,
    )


def _not_made_good(
    verifications: Sequence[Verification], best: Verification | None
) -> Verification | None:
    """Return the latest attempt that failed, unless a judge as strong came to a result since.

    Args:
        verifications: All verifications of the text that a claim has now, oldest first.
        best: The one that counts; None: there is none.
    """
    if best is None or not best.status.is_result:
        return None
    strongest = -1
    for one in reversed(verifications):
        if one.status.is_result:
            strongest = max(strongest, strength_of(one))
        elif one.status not in WAITING and strength_of(one) > strongest:
            return one
    return None


def _check_wanted(
    process: Process, claims: Sequence[ReportedClaim], wanted: ClaimSelection, total: int
) -> None:
    known = {one.claim.claim_id for one in claims}
    unknown = [name for name in wanted.claim_ids if name not in known]
    if unknown:
        names = ", ".join(shown(name) for name in unknown[:5])
        raise NotFound(
            f"Process {process.process_id!r} has no claim {names}. {_claims_known(claims, total)}"
        )
    about = {one.claim.node_id for one in claims}
    empty = [name for name in wanted.node_ids if name not in about]
    if empty:
        names = ", ".join(shown(name) for name in empty[:5])
        raise InputError(f"No claim of process {process.process_id!r} is about the node {names}.")


def _claims_known(claims: Sequence[ReportedClaim], total: int) -> str:
    """Return which claims there are; only their number where not all of them were read."""
    if not total:
        return "It has no claims."
    words = f"It has {counted(total, 'claim')}"
    if len(claims) < total:
        return f"{words}."
    names = ", ".join(shown(one.claim.claim_id) for one in claims[:_NAMED])
    more = f" and {total - _NAMED:,} more" if total > _NAMED else ""
    return f"{words}: {names}{more}."

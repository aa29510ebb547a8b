"""The claims that a reviewer goes through, and the place of one among them.

In blind mode nothing here depends on a verdict that the reviewer must not know yet: claims come
in the order of the input, and may be chosen by who reviewed them only.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from veritrail_graph.api.page.links import url

if TYPE_CHECKING:
    from veritrail_graph.graph.model.listed import QueuedClaim

SHOWN = ("all", "assigned", "open", "mine", "others")
"""Which claims are listed: all, those assigned to the reviewer, those that they have not reviewed,
those that they have, and those that others have."""

VERDICTS = ("FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE", "none")

LISTED = 20
"""Claims of one page of the list."""

Reviewers = Mapping[str, Collection[str]]
"""By claim_id, who has reviewed it."""


@dataclass(frozen=True, slots=True)
class ReviewState:
    """The state of the review page, as its address holds it.

    Attributes:
        process_id: The process.
        claim: The claim that is open; None: the first that is to be reviewed.
        blind: Whether verdicts are hidden until the reviewer has given one.
        show: One of `SHOWN`.
        verdict: Only claims with this verdict of the model's; never in blind mode.
        error_stage: Only claims into which an error came here; never in blind mode.
        level: The stage that is shown whole; None: none.
        node: The node that is read in place; None: none.
    """

    process_id: str
    claim: str | None = None
    blind: bool = True
    show: str = "all"
    verdict: str | None = None
    error_stage: int | None = None
    level: int | None = None
    node: str | None = None

    @property
    def tells(self) -> bool:
        """Return whether its filters say what the model's verdict is."""
        return self.verdict is not None or self.error_stage is not None

    @property
    def href(self) -> str:
        """The address of the page in this state."""
        return url("processes", self.process_id, "review", **self._query())

    def to(self, claim: str | None) -> ReviewState:
        """Return the same list with another claim open."""
        return replace(self, claim=claim, level=None, node=None)

    @property
    def begin_href(self) -> str:
        """The address that a name is sent to."""
        return url("processes", self.process_id, "reviewer", claim=self.claim)

    @property
    def without_filters(self) -> ReviewState:
        """Every claim."""
        return replace(self, show="all", verdict=None, error_stage=None)

    def with_blind(self, blind: bool) -> ReviewState:
        """Return the same claim, blind or not."""
        if not blind:
            return replace(self, blind=False)
        return replace(self, blind=True, verdict=None, error_stage=None)

    def with_show(self, show: str) -> ReviewState:
        """Another list, from its first claim on."""
        return replace(self, show=show, claim=None, level=None, node=None)

    def with_level(self, level: int | None) -> ReviewState:
        """Return the same claim with one level opened, or none."""
        return replace(self, level=level)

    def with_node(self, node: str | None) -> ReviewState:
        """Return the same claim with one node read in place, or none."""
        return replace(self, node=node)

    def saved(self, claim: str, then: str | None) -> str:
        """The address to go on to when a review was saved.

        Args:
            claim: The claim that was reviewed.
            then: The claim that is open next; None: this one.
        """
        return url(
            "processes", self.process_id, "review", **self.to(then or claim)._query(), saved=claim
        )

    def _query(self) -> dict[str, object]:
        return {
            "claim": self.claim,
            "blind": 1 if self.blind else 0,
            "show": None if self.show == "all" else self.show,
            "verdict": self.verdict,
            "error_stage": self.error_stage,
            "level": self.level,
            "node": self.node,
        }


def state_of(process_id: str, said: Mapping[str, str]) -> ReviewState:
    """The state that an address describes; unknown values are left out.

    A reviewer who does not say is blind, unless what they ask for tells the verdict already.

    Args:
        process_id: The process.
        said: The query of the address.
    """
    show, verdict, blind = said.get("show"), said.get("verdict"), said.get("blind")
    found = ReviewState(
        process_id=process_id,
        claim=said.get("claim") or None,
        show=show if show in SHOWN else "all",
        verdict=verdict if verdict in VERDICTS else None,
        error_stage=_stage(said.get("error_stage")),
        level=_stage(said.get("level")),
        node=said.get("node") or None,
    )
    is_blind = not found.tells if blind is None else blind != "0"
    if is_blind:
        return replace(found, blind=True, verdict=None, error_stage=None)
    return replace(found, blind=False)


def _stage(given: str | None) -> int | None:
    is_number = given is not None and given.isascii() and given.isdigit() and len(given) < 10
    return int(given) if given is not None and is_number else None


@dataclass(frozen=True, slots=True)
class Queue:
    """The claims of a process as one reviewer goes through them.

    Attributes:
        listed: The claims of the page of the list that is shown.
        first: How many of the list come before them.
        total: How many the list has.
        claim: The claim that is open; None: there is none.
        previous: The one before it in the list.
        following: The one behind it.
        unseen: The next one without a word of this reviewer's, after the open one or before.
        before: A claim of the page before; None: this is the first.
        behind: A claim of the page behind; None: this is the last.
        claims: How many claims the process has.
        done: How many of them this reviewer has reviewed.
        is_lost: Whether the claim that was asked for is not there.
    """

    listed: tuple[str, ...]
    first: int
    total: int
    claim: str | None
    previous: str | None
    following: str | None
    unseen: str | None
    before: str | None
    behind: str | None
    claims: int
    done: int
    is_lost: bool


def queue_of(
    state: ReviewState,
    every: Sequence[QueuedClaim],
    said: Reviewers,
    reviewer: str | None,
    size: int = LISTED,
    assigned: Collection[str] = (),
) -> Queue:
    """The place of the open claim in the list.

    Args:
        state: What the address says.
        every: All claims, in the order of the input.
        said: Who has reviewed which claim.
        reviewer: Who reviews; None: not named.
        size: Claims of one page of the list.
        assigned: The claims that the reviewer is to review.
    """
    places = {one.claim_id: place for place, one in enumerate(every)}
    wanted = [
        one.claim_id
        for one in every
        if _is_wanted(state, one, said, reviewer)
        and (state.show != "assigned" or one.claim_id in assigned)
    ]
    order = [places[name] for name in wanted]
    unseen = [one.claim_id for one in every if reviewer not in said.get(one.claim_id, ())]
    claim = state.claim if state.claim in places else _first(wanted, unseen)
    here = bisect_left(order, places[claim]) if claim is not None else 0
    is_listed = here < len(wanted) and wanted[here] == claim
    after = here + 1 if is_listed else here
    first = min(here, max(len(wanted) - 1, 0)) // size * size
    return Queue(
        listed=tuple(wanted[first : first + size]),
        first=first,
        total=len(wanted),
        claim=claim,
        previous=wanted[here - 1] if here else None,
        following=wanted[after] if after < len(wanted) else None,
        unseen=_next_unseen(unseen, places, claim),
        before=wanted[first - size] if first else None,
        behind=wanted[first + size] if first + size < len(wanted) else None,
        claims=len(every),
        done=len(every) - len(unseen) if reviewer is not None else 0,
        is_lost=state.claim is not None and state.claim not in places,
    )


def _is_wanted(
    state: ReviewState, claim: QueuedClaim, said: Reviewers, reviewer: str | None
) -> bool:
    names = said.get(claim.claim_id, ())
    if state.show == "open" and reviewer in names:
        return False
    if state.show == "mine" and reviewer not in names:
        return False
    if state.show == "others" and all(name == reviewer for name in names):
        return False
    if state.verdict is not None and (claim.verdict or "none") != state.verdict:
        return False
    return state.error_stage is None or state.error_stage in claim.error_stages


def _first(wanted: Sequence[str], unseen: Sequence[str]) -> str | None:
    """The first listed claim that is to be reviewed, else the first that is listed."""
    left = set(unseen)
    return next((name for name in wanted if name in left), wanted[0] if wanted else None)


def _next_unseen(unseen: Sequence[str], places: Mapping[str, int], claim: str | None) -> str | None:
    others = [name for name in unseen if name != claim]
    here = places[claim] if claim is not None else -1
    return next((name for name in others if places[name] > here), others[0] if others else None)

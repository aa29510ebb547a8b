"""The agreement page: figures, which verdicts meet, and the disagreements side by side.

Source: ours (docs/adr/0017-reviews.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.views.review import Reviewer, SaidView, cut, said_view
from veritrail_graph.api.show.review import interval_words, kappa_words, share_words
from veritrail_graph.api.show.words import Mark, judged_by, mark_now
from veritrail_graph.graph.model import Reviewed, ReviewVerdict, Verdict
from veritrail_graph.graph.model.agreement import Agreement, AgreementFigures
from veritrail_graph.graph.model.listed import JudgedClaim, QueuedClaim

MOST_FIGURES = 100
"""Reviewers, and pairs of them, that the page has a line for."""


@dataclass(frozen=True, slots=True)
class AgreementLine:
    """Figures of the noun with whom they are about, and their words.

    Attributes:
        name: Whom they are about.
        figures: The figures.
        share: The share of pairs that agree, in percent, or why there is none.
        kappa: Cohen's kappa, or why there is none.
        interval: Where the share lies with 95 % certainty; empty without a pair.
    """

    name: str
    figures: AgreementFigures
    share: str
    kappa: str
    interval: str


def line_of(name: str, found: AgreementFigures) -> AgreementLine:
    """Figures in words; what is not defined is said to be so, and never 0."""
    words = (share_words(found), kappa_words(found), interval_words(found))
    return AgreementLine(name, found, *words)


def lines_of(found: Agreement) -> list[tuple[str, list[AgreementLine], int]]:
    """Figures by reviewer, by pair of reviewers and by judge; the number is of those left out."""
    people = [line_of(one.reviewer, one) for one in found.reviewers[:MOST_FIGURES]]
    between = found.between_reviewers[:MOST_FIGURES]
    pairs = [line_of(" and ".join(one.reviewers), one) for one in between]
    judges = [line_of(judged_by(one.engine, one.model), one) for one in found.judges]
    parts = (
        ("Each reviewer and the judge", people, len(found.reviewers)),
        ("Reviewers with each other", pairs, len(found.between_reviewers)),
        ("By judge", judges, len(judges)),
    )
    return [(name, lines, total - len(lines)) for name, lines, total in parts if lines]


WHOM = ("all", "model", "people")
"""With whom people disagree: with anybody, with the model, or with each other."""

Said = Mapping[str, Reviewed]
"""By claim_id, what people say now."""

LISTED = 20
MOST_SIDES = 12
CLAIM_SHOWN = 1_000


@dataclass(frozen=True, slots=True)
class AgreementState:
    """The state of the agreement page, as its address holds it.

    Attributes:
        process_id: The process.
        whom: One of `WHOM`.
        reviewer: Only claims that this reviewer has a word on; None: anybody.
        after: The last claim of the page before; None: the first page.
        blind: Whether claims are left out that the reader has not judged yet.
    """

    process_id: str
    whom: str = "all"
    reviewer: str | None = None
    after: str | None = None
    blind: bool = False

    @property
    def href(self) -> str:
        """The address."""
        return url(
            "processes", self.process_id, "agreement",
            whom=None if self.whom == "all" else self.whom,
            reviewer=self.reviewer,
            blind=self.blind,
            after=self.after,
        )  # fmt: skip

    def with_whom(self, whom: str) -> AgreementState:
        """Other disagreements, from the first on."""
        return replace(self, whom=whom, after=None)

    def then(self, after: str | None) -> AgreementState:
        """Another page of the list."""
        return replace(self, after=after)

    def with_blind(self, blind: bool) -> AgreementState:
        """With or without what the reader has not judged."""
        return replace(self, blind=blind, after=None)


@dataclass(frozen=True, slots=True)
class Dispute:
    """A claim on which somebody differs.

    Attributes:
        claim_id: The claim.
        text: Its text.
        href: Its page.
        review_href: Where it is reviewed.
        mark: The model's verdict.
        sides: What each reviewer says, own words first.
        more: How many further reviewers have their say.
        with_model: Whether somebody gave another verdict than the model.
        with_people: Whether reviewers differ.
    """

    claim_id: str
    text: str
    href: str
    review_href: str
    mark: Mark
    sides: tuple[SaidView, ...]
    more: int
    with_model: bool
    with_people: bool


@dataclass(frozen=True, slots=True)
class DisagreementsFound:
    """The disagreements of one page.

    Attributes:
        names: Their claims.
        total: How many there are in all.
        first: How many come before them.
        behind: The last claim of this page, where more follow; None: none do.
        hidden: Claims left out because the reader has not judged them.
    """

    names: tuple[str, ...]
    total: int
    first: int
    behind: str | None
    hidden: int


def disputed(
    state: AgreementState,
    every: Sequence[QueuedClaim],
    said: Said,
    reviewer: str | None,
    size: int = LISTED,
) -> DisagreementsFound:
    """Return which claims people disagree on, in the order of the input.

    Args:
        state: What the address says.
        every: All claims with their verdicts.
        said: What people say.
        reviewer: Who reads.
        size: How many a page has.
    """
    wanted, hidden = [], 0
    places = {one.claim_id: place for place, one in enumerate(every)}
    for one in every:
        words = said.get(one.claim_id)
        if words is None or not _is_wanted(state, one.verdict, words):
            continue
        if state.blind and reviewer not in _reviewers(words):
            hidden += 1
        else:
            wanted.append(one.claim_id)
    last = places.get(state.after, -1) if state.after is not None else -1
    first = next((n for n, name in enumerate(wanted) if places[name] > last), len(wanted))
    names = tuple(wanted[first : first + size])
    behind = names[-1] if names and first + size < len(wanted) else None
    return DisagreementsFound(names, len(wanted), first, behind, hidden)


def _is_wanted(state: AgreementState, verdict: Verdict | None, words: Reviewed) -> bool:
    if state.reviewer is not None and state.reviewer not in _reviewers(words):
        return False
    with_people, with_model = words.disputed, differs(verdict, words.said)
    return {"model": with_model, "people": with_people}.get(state.whom, with_model or with_people)


def _reviewers(words: Reviewed) -> set[str]:
    return {one.reviewer for one in words.counting}


def differs(verdict: Verdict | None, words: Sequence[ReviewVerdict]) -> bool:
    """Return whether somebody gave another verdict than the model.

    Who calls a claim unclear gave none.
    """
    clear = [one for one in words if one is not ReviewVerdict.UNCLEAR]
    return verdict is not None and any(one.value != verdict.value for one in clear)


def disputes_of(
    state: AgreementState,
    found: DisagreementsFound,
    claims: Mapping[str, JudgedClaim],
    reviewed: Mapping[str, Reviewed],
    who: Reviewer,
) -> list[Dispute]:
    """The disagreements of a page; a claim that was removed meanwhile is left out."""
    return [
        _dispute(state, claims[name], reviewed[name], who)
        for name in found.names
        if name in claims and name in reviewed
    ]


def _dispute(
    state: AgreementState, claim: JudgedClaim, reviewed: Reviewed, who: Reviewer
) -> Dispute:
    name = claim.claim_id
    views = sorted(
        (said_view(review, claim, who) for review in reviewed.counting),
        key=lambda one: not one.is_mine,
    )
    return Dispute(
        claim_id=name,
        text=cut(claim.text, CLAIM_SHOWN),
        href=url("processes", state.process_id, "claims", name),
        review_href=url(
            "processes", state.process_id, "review", claim=name, blind=int(state.blind)
        ),
        mark=mark_now(claim),
        sides=tuple(views[:MOST_SIDES]),
        more=max(0, len(views) - MOST_SIDES),
        with_model=differs(claim.verdict, reviewed.said),
        with_people=reviewed.disputed,
    )

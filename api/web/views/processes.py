"""The list of processes as it is shown.

Source: VeriTrail 2 (the three verdicts).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from veritrail_graph.api.app.summaries import Place, Ranked
from veritrail_graph.api.web.views.marks import MARKS, Mark, mark_of
from veritrail_graph.api.web.views.money import Spent, spent
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.store.process_state import DELETING, LOADING, StoredState
from veritrail_graph.graph.store.standing import NEVER, Standing

PAGE = 25

Count = tuple[Mark, int]


@dataclass(frozen=True, slots=True)
class Item:
    """A process in the list.

    Attributes:
        process_id: The process.
        name: What people call it.
        nodes: How many nodes it has.
        claims: How many claims it has.
        counts: Its claims by mark, what needs attention first; only those that occur.
        spent: What its verifications came to.
        changed_at: When it was last verified, or stored.
        is_verified: Whether anything of it was ever verified.
        jobs: The jobs that verify claims of it now.
    """

    process_id: str
    name: str
    nodes: int
    claims: int
    counts: tuple[Count, ...]
    spent: Spent
    changed_at: str
    is_verified: bool
    jobs: tuple[str, ...] = ()

    @property
    def bar(self) -> list[tuple[str, str, int]]:
        """What a bar of its claims shows."""
        return [(mark.kind, mark.word, number) for mark, number in self.counts]


@dataclass(frozen=True, slots=True)
class Unready:
    """A process that is being written, or was left half-written.

    Attributes:
        process_id: The process.
        words: What becomes of it.
        is_left: Whether nobody works on it any more.
    """

    process_id: str
    words: str
    is_left: bool


def counts_of(outcomes: Mapping[str, int]) -> tuple[Count, ...]:
    """Claims by mark, what needs attention first."""
    numbers: dict[str, int] = {}
    for outcome, claims in outcomes.items():
        kind = _mark(outcome).kind
        numbers[kind] = numbers.get(kind, 0) + claims
    return tuple((mark, numbers[mark.kind]) for mark in MARKS if numbers.get(mark.kind))


def _mark(outcome: str) -> Mark:
    if outcome == NEVER:
        return mark_of(None)
    if outcome in set(Verdict):
        return mark_of(Verdict(outcome))
    return mark_of(None, Status(outcome))


def item_of(ranked: Ranked, standing: Standing, jobs: Sequence[str] = ()) -> Item:
    """A process in the list, as it stands now."""
    named = ranked.named
    return Item(
        process_id=named.process_id,
        name=named.name,
        nodes=named.nodes,
        claims=sum(standing.outcomes.values()),
        counts=counts_of(standing.outcomes),
        spent=spent(
            standing.usage,
            modelled=standing.modelled > 0,
            unmetered=standing.unmetered > 0,
        ),
        changed_at=max(standing.changed_at or "", named.created_at),
        is_verified=standing.changed_at is not None,
        jobs=tuple(jobs),
    )


def wanted(ranked: Iterable[Ranked], search: str, after: Place | None) -> list[Ranked]:
    """Those whose name or id holds every word that is searched for, behind a place."""
    words = search.casefold().split()
    return [
        one
        for one in ranked
        if (after is None or one.place > after)
        and all(word in f"{one.named.name}\n{one.named.process_id}".casefold() for word in words)
    ]


def unready(states: Iterable[StoredState]) -> list[Unready]:
    """Processes that are not ready, in words."""
    found = []
    for state in states:
        process_id = state.replaces or state.process_id
        if state.is_abandoned:
            words = "was left half-written; upload it again to go on"
            if state.status == DELETING:
                words = "was left half-removed; remove it again"
        else:
            words = {LOADING: "is being stored", DELETING: "is being removed"}.get(
                state.status, "is being replaced"
            )
        found.append(Unready(process_id, words, state.is_abandoned))
    return found

"""Processes in the order in which they need attention.

The order needs every claim of every process. It is made in batches, kept in memory, and made anew
in the background as often as it is cheap; what a page shows of its own processes is read anew
each time. The order of few processes is made for every page.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from veritrail_graph.graph.model.listed import NEVER, Named, OutcomeSummary
from veritrail_graph.graph.store.processes import ProcessStore

if TYPE_CHECKING:
    from veritrail_graph.api.configured.graph_connection import GraphConnection

PATIENCE_SECONDS = 1.5
"""How long a page waits for an order that is being made."""

GLANCE_SECONDS = 0.15
"""How long it waits where there is an order of a while ago, and nothing was changed here since."""

SHARE = 10
"""The order of many processes is kept for this many times as long as it took."""

LONGEST_SECONDS = 60.0

NAMES_TOGETHER = 1_000
CLAIMS_TOGETHER = 200
"""Processes whose claims one statement reads; up to this number, each page makes the order."""

Place = tuple[int, int, int, int, str]

_DIGITS = 20
_DAY = 10 ** (_DIGITS - len("20261231"))

WORST = ("NOT_FULLY_SUPPORTED", "failed", "INCONCLUSIVE", "undecided", NEVER)
"""What needs attention, in this order."""

_LIKE = {"over_budget": "failed", "cancelled": "failed", "queued": NEVER, "running": NEVER}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A process with its place.

    Attributes:
        named: The process.
        standing: How it stood when the order was made.
        place: Its place; lower ones need attention first.
    """

    named: Named
    standing: OutcomeSummary
    place: Place


@dataclass(frozen=True, slots=True)
class Order:
    """Processes in their order.

    Attributes:
        ranked: The processes.
        waiting: How many have no place yet, because their claims were not read yet.
        is_known: Whether it is known at all which processes there are.
        begun: When it began to be read, by `time.monotonic`.
    """

    ranked: tuple[Ranked, ...] = ()
    waiting: int = 0
    is_known: bool = True
    begun: float = 0.0


def place_of(named: Named, standing: OutcomeSummary) -> Place:
    """Return the place of a process.

    By the worst that there is, the day of its last change, how often, and how lately.
    """
    outcomes = merged(standing.outcomes)
    worst = next((rank for rank, one in enumerate(WORST) if outcomes.get(one)), len(WORST))
    if worst == len(WORST) and outcomes:
        worst += 1  # all is well: behind those that have no claims yet
    often = outcomes.get(WORST[worst], 0) if worst < len(WORST) else 0
    latest = _number(max(standing.changed_at or "", named.created_at))
    return worst, -(latest // _DAY), -often, -latest, named.process_id


def merged(outcomes: Mapping[str, int]) -> dict[str, int]:
    """Outcomes of which some are alike: what was stopped failed, what waits is not verified."""
    found: dict[str, int] = {}
    for outcome, claims in outcomes.items():
        name = _LIKE.get(outcome, outcome)
        found[name] = found.get(name, 0) + claims
    return found


def _number(moment: str) -> int:
    """A moment as a number that grows with it."""
    digits = "".join(one for one in moment if one.isdigit())
    return int(digits[:_DIGITS].ljust(_DIGITS, "0")) if digits else 0


@dataclass(slots=True)
class Summaries:
    """Keeps the order of the processes of a graph.

    Attributes:
        graph: The graph.
    """

    graph: GraphConnection
    _order: Order = field(default_factory=lambda: Order(is_known=False))
    _is_whole: bool = False
    _changed: float = 0.0
    _until: float = 0.0
    _making: asyncio.Task[None] | None = None

    async def order(self) -> Order:
        """The order as it is known now; the first one may lack processes, or know of none yet.

        Raises:
            EngineError: The graph does not answer.
        """
        is_large = self._is_whole and len(self._order.ranked) > CLAIMS_TOGETHER
        patience = GLANCE_SECONDS if is_large and not self._is_behind else PATIENCE_SECONDS
        end = time.monotonic() + patience
        while (making := self._making_now()) is not None:
            done, _ = await asyncio.wait([making], timeout=max(0.0, end - time.monotonic()))
            if not done:
                break
            making.result()
            if not self._is_behind:
                break
        return self._order

    def forget(self) -> None:
        """Make the order anew for the next page: something was stored or removed."""
        self._until, self._changed = 0.0, time.monotonic()

    @property
    def _is_behind(self) -> bool:
        """Return whether something was changed here after the order was begun."""
        return self._order.begun < self._changed

    def _making_now(self) -> asyncio.Task[None] | None:
        """Return what makes the order, begun if it is time; None: the order is good enough."""
        if self._making is None and time.monotonic() >= self._until:
            self._making = asyncio.create_task(self._make())
            self._making.add_done_callback(_settle)
        return self._making

    async def _make(self) -> None:
        begun = time.monotonic()
        try:
            store = (await self.graph.store()).processes
            ranked = await self._look(store, await _names(store))
            self._order = Order(tuple(sorted(ranked, key=lambda one: one.place)), begun=begun)
            self._is_whole = True
            took = time.monotonic() - begun
            is_kept = len(ranked) > CLAIMS_TOGETHER and not self._is_behind
            kept = min(SHARE * took, LONGEST_SECONDS) if is_kept else 0.0
            self._until = time.monotonic() + kept
        finally:
            self._making = None

    async def _look(self, store: ProcessStore, named: list[Named]) -> list[Ranked]:
        """Read the outcomes of all processes."""
        ranked: list[Ranked] = []
        for start in range(0, len(named), CLAIMS_TOGETHER):
            batch = named[start : start + CLAIMS_TOGETHER]
            found = await store.outcomes([one.process_id for one in batch])
            for one in batch:
                standing = found.get(one.process_id, OutcomeSummary())
                ranked.append(Ranked(one, standing, place_of(one, standing)))
            self._show(ranked, len(named) - len(ranked))
        return ranked

    def _show(self, ranked: list[Ranked], waiting: int) -> None:
        """Show what is known so far, where nothing better is."""
        if not self._is_whole:
            self._order = Order(tuple(sorted(ranked, key=lambda one: one.place)), waiting)


async def _names(store: ProcessStore) -> list[Named]:
    named: list[Named] = []
    while page := await store.names(named[-1].process_id if named else "", NAMES_TOGETHER):
        named += page
        if len(page) < NAMES_TOGETHER:
            break
    return named


def _settle(making: asyncio.Task[None]) -> None:
    """A failure is reported to callers that wait; without any, the next page tries again."""
    if not making.cancelled():
        making.exception()

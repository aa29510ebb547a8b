"""Spending of budgets that several workers share, and the end of all spending at a shutdown."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable

from veritrail_graph.api.jobs.storage import Transaction
from veritrail_graph.api.jobs.storage.leases import Grant, Limit, Spent, grant
from veritrail_graph.verifier.models.port import OverBudget
from veritrail_graph.verifier.models.retrying import Spending

ASK_AGAIN_SECONDS = 0.25
"""How long a call waits for what other workers were granted and may give back."""

Ask = Callable[[Callable[[Transaction], Grant]], Awaitable[Grant]]
"""Runs a transaction, again and again where the database does not answer."""


class BudgetLease:
    """A worker's lease on a budget: the part that it may spend.

    Args:
        budget_id: The budget.
        worker_id: The worker.
        limit: What there is in it.
        ask: Runs transactions.
        alive: Names the workers that live.
        whose: What the budget belongs to, for people.

    Attributes:
        left_usd: US dollars that are not spent, as was known last.
        left_calls: Calls that are not made, as was known last.
    """

    def __init__(
        self,
        budget_id: str,
        worker_id: str,
        limit: Limit,
        ask: Ask,
        alive: Callable[[], list[str]],
        whose: str,
    ) -> None:
        self.limit = limit
        self.left_usd = limit.usd if limit.usd is not None else math.inf
        self.left_calls: float = limit.calls if limit.calls is not None else math.inf
        self._ids = (budget_id, worker_id)
        self._ask = ask
        self._alive = alive
        self._whose = whose
        self._spent, self._made, self._in_air = 0.0, 0, 0
        self._grant = Grant(0.0, 0, self.left_usd, self.left_calls, is_final=False)
        self._before: float | None = None
        self._reported = (0.0, 0)
        self._asking = asyncio.Lock()

    async def open(self, limit: Limit) -> None:
        """Learn what is left; the limit may be another one than before."""
        self.limit = limit
        await self._renew(asks=True)

    async def ready(self) -> None:
        """Wait until there is something left to spend, or it is known that there is not."""
        while not (self._has_some() or self._grant.is_final):
            async with self._asking:
                if self._has_some() or self._grant.is_final:
                    continue
                await self._renew(asks=True)
            if not (self._has_some() or self._grant.is_final):
                await asyncio.sleep(ASK_AGAIN_SECONDS)

    def check(self) -> None:
        """See whether anything is left.

        Raises:
            OverBudget: It is not.
        """
        if self._has_some():
            return
        if self.limit.calls is not None and self._made >= self._grant.calls:
            raise OverBudget(
                f"{self._whose} may make {self.limit.calls:,} calls, and has made them"
            )
        words = f"{(self.limit.usd or 0.0) - self.left_usd:.4f} USD spent"
        if self._in_air:
            words += f" so far, {self._in_air:,} call(s) in flight"
        budget = f"the budget of {self.limit.usd:g} USD is used up"
        raise OverBudget(f"{budget} ({words} of what {self._whose} may cost)")

    def admit(self) -> None:
        """Count a call that is about to be made."""
        self._made += 1
        self._in_air += 1
        self.left_calls -= 1
        self._see_end()

    def settle(self, cost_usd: float, *, sent: bool) -> None:
        """A call came to its end."""
        self._in_air -= 1
        self._made -= not sent
        self.left_calls += not sent
        self._spent += cost_usd
        self.left_usd -= cost_usd
        self._see_end()

    async def tell(self) -> None:
        """Tell the others what was spent, and give back what was not used since the last time."""
        if self._reported == (self._spent, self._made) and len(self._alive()) == 1:
            return
        async with self._asking:
            await self._renew(asks=len(self._alive()) == 1)

    def _has_some(self) -> bool:
        if self.limit.usd is not None and self._spent >= self._grant.usd:
            return False
        return self.limit.calls is None or self._made < self._grant.calls

    def _see_end(self) -> None:
        """Ask again before it is said to be over: others may have given something back."""
        if self._grant.is_final and not self._has_some() and len(self._alive()) > 1:
            self._grant = Grant(
                self._grant.usd, self._grant.calls, self.left_usd, self.left_calls, is_final=False
            )

    async def _renew(self, *, asks: bool) -> None:
        """Ask what may be spent. Earlier processes of this worker are no part of it."""
        budget_id, worker_id = self._ids
        was_reported, spent, made = self._reported, self._spent, self._made
        used = (spent > was_reported[0], made > was_reported[1])
        unused_usd = max(0.0, self._grant.usd - spent) if math.isfinite(self._grant.usd) else 0.0
        spending = Spent(
            spent,
            made,
            keeps_usd=unused_usd / 2 if used[0] else 0.0,
            keeps_calls=max(0, self._grant.calls - made) // 2 if used[1] else 0,
        )
        alive = self._alive()
        if not asks:  # what is given back may not be spent while the others learn of it
            usd = spent + spending.keeps_usd if self.limit.usd is not None else math.inf
            left = self.left_usd, self.left_calls
            self._grant = Grant(usd, made + spending.keeps_calls, *left, is_final=False)

        def work(connection: Transaction) -> Grant:
            return grant(connection, budget_id, worker_id, self.limit, spending, alive, asks=asks)

        found = await self._ask(work)
        self._reported = (spent, made)
        self.left_usd = found.left_usd - (self._spent - spent)
        self.left_calls = found.left_calls - (self._made - made)
        is_over = found.is_final and asks
        self._grant = Grant(found.usd, found.calls, found.left_usd, found.left_calls, is_over)


class JobBudget(Spending):
    """The spending of a job in one worker, out of its leases.

    Args:
        leases: Its leases; every call is paid out of all of them.
        is_closing: Set when no call may be made any more: those that ask wait from then on.
        common: What several jobs of this process may spend together; None: there is no such limit.
    """

    __slots__ = ("_common", "_is_closing", "_leases")

    def __init__(
        self,
        leases: tuple[BudgetLease, ...],
        is_closing: asyncio.Event,
        common: Spending | None = None,
    ) -> None:
        super().__init__()
        self._common = common
        self._leases = leases
        self._is_closing = is_closing
        self._look()

    async def ready(self) -> None:
        """Wait until it is known whether there is anything left."""
        if self._is_closing.is_set():
            await asyncio.Event().wait()  # until the work is given up
        for lease in self._leases:
            await lease.ready()
        self._look()

    def check(self) -> None:
        """See whether there is anything left.

        Raises:
            OverBudget: There is not.
        """
        for lease in self._leases:
            lease.check()
        if self._common is not None:
            self._common.check()

    def admit(self) -> None:
        """Count a request that is about to be sent.

        Raises:
            OverBudget: It may not be sent.
        """
        super().admit()
        if self._common is not None:
            self._common.admit()
        for lease in self._leases:
            lease.admit()

    def settle(self, cost_usd: float | None = None, *, sent: bool = True) -> None:
        """A request came to its end."""
        super().settle(cost_usd, sent=sent)
        if self._common is not None:
            self._common.settle(cost_usd, sent=sent)
        for lease in self._leases:
            lease.settle(cost_usd or 0.0, sent=sent)
        self._look()

    def _look(self) -> None:
        """Say what may be spent as if this were all there is: who plans with it looks there."""
        usd = min((one.left_usd for one in self._leases), default=math.inf)
        calls = min((one.left_calls for one in self._leases), default=math.inf)
        has_usd = any(one.limit.usd is not None for one in self._leases)
        has_calls = any(one.limit.calls is not None for one in self._leases)
        self.budget_usd = self.spent + max(0.0, usd) if has_usd else None
        self.max_calls = self.calls + max(0, int(calls)) if has_calls else None

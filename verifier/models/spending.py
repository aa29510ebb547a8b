"""What a run may spend, in dollars and in calls; shared by all models of the run."""

from __future__ import annotations

from veritrail_graph.verifier.models.port import OverBudget


class Spending:
    """Lets calls through until the budget, or the number of calls, is used up.

    A call in the air costs nobody knows what, so the total may pass the budget by what the
    calls in the air come to, and by no more.

    Attributes:
        budget_usd: The budget in US dollars; None: there is none.
        max_calls: The most requests that are sent; None: any number.
        spent: US dollars spent so far.
        calls: Requests sent so far, those in the air included. A request that did not even
            reach the endpoint is not one.
        in_flight: Requests in the air.
    """

    __slots__ = ("budget_usd", "calls", "in_flight", "max_calls", "spent")

    def __init__(self, budget_usd: float | None = None, max_calls: int | None = None) -> None:
        self.budget_usd = budget_usd
        self.max_calls = max_calls
        self.spent = 0.0
        self.calls = 0
        self.in_flight = 0

    @property
    def is_limited(self) -> bool:
        """Whether the run may come to an end before all is done."""
        return self.budget_usd is not None or self.max_calls is not None

    async def ready(self) -> None:
        """Wait until it is known whether there is anything left; called before `admit`.

        Here it always is; where several processes spend together it has to be asked for.
        """

    def check(self) -> None:
        """See whether there is anything left.

        Raises:
            OverBudget: There is not.
        """
        if self.budget_usd is not None and self.spent >= self.budget_usd:
            told = f"the budget of {self.budget_usd:g} USD is used up ({self.spent:.4f} USD spent"
            if self.in_flight:  # what they cost is not known yet
                plural = "s" if self.in_flight > 1 else ""
                told += f" so far, {self.in_flight:,} call{plural} in the air"
            raise OverBudget(f"{told})")
        if self.max_calls is not None and self.calls >= self.max_calls:
            raise OverBudget(f"the run may make {self.max_calls:,} calls, and has made them")

    def admit(self) -> None:
        """Count a request that is about to be sent; `settle` must follow.

        Raises:
            OverBudget: It may not be sent.
        """
        self.check()
        self.calls += 1
        self.in_flight += 1

    def settle(self, cost_usd: float | None = None, *, sent: bool = True) -> None:
        """A request came to its end.

        Args:
            cost_usd: What it cost, as far as that is known.
            sent: Whether it reached the endpoint.
        """
        self.in_flight -= 1
        self.calls -= not sent
        self.spent += cost_usd or 0.0

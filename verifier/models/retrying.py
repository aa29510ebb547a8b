"""The one layer of retries: transport faults are tried again until the call's deadline.

Full jitter: the wait is drawn from zero to a bound that doubles with every attempt, so that
calls that failed together do not come back together. A circuit breaker ends a run against an
endpoint that has stopped answering; `Spending` ends one whose budget is used up.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Hashable
from dataclasses import dataclass, field, fields, replace

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.plugins import FAULTS
from veritrail_graph.verifier.models.limits import Dismissed, Limiter
from veritrail_graph.verifier.models.port import (
    AnswerTooLong,
    Completion,
    ContextTooLong,
    Endpoint,
    EndpointRefused,
    InvalidAnswer,
    ModelError,
    OverBudget,
    ParameterRefused,
    Request,
    RequestRejected,
    TransportFault,
    Unreachable,
)
from veritrail_graph.verifier.models.prices import Price, priced
from veritrail_graph.verifier.models.tokens import estimate


class Spending:
    """Lets calls through until the budget, or the number of calls, is used up.

    The cost of a pending call is not known yet, so the total may pass the budget by the cost of
    the pending calls, and by no more.

    Attributes:
        budget_usd: The budget in US dollars; None: there is none.
        max_calls: The most requests that are sent; None: any number.
        spent: US dollars spent so far.
        calls: Requests sent so far, pending ones included. A request that did not even
            reach the endpoint is not one.
        in_flight: Requests that are pending.
        reserved: US dollars that batches on their way may cost at most.
    """

    __slots__ = ("budget_usd", "calls", "in_flight", "max_calls", "reserved", "spent")

    def __init__(self, budget_usd: float | None = None, max_calls: int | None = None) -> None:
        self.budget_usd = budget_usd
        self.max_calls = max_calls
        self.spent = 0.0
        self.calls = 0
        self.in_flight = 0
        self.reserved = 0.0

    def reserve(self, cost_usd: float) -> bool:
        """Keep so many US dollars for a call in a batch; False: the budget does not hold them.

        `give_back` must follow, when it is known what the call cost.
        """
        if self.budget_usd is not None:
            if self.spent + self.reserved + cost_usd > self.budget_usd:
                return False
            self.reserved += cost_usd
        return True

    def give_back(self, cost_usd: float) -> None:
        """Give back what was kept for a call in a batch."""
        if self.budget_usd is not None:
            self.reserved = max(0.0, self.reserved - cost_usd)

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
            message = (
                f"the budget of {self.budget_usd:g} USD is used up ({self.spent:.4f} USD spent"
            )
            if self.in_flight:  # what they cost is not known yet
                plural = "s" if self.in_flight > 1 else ""
                message += f" so far, {self.in_flight:,} call{plural} pending"
            raise OverBudget(f"{message})")
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
        """A request has ended.

        Args:
            cost_usd: What it cost, as far as that is known.
            sent: Whether it reached the endpoint.
        """
        self.in_flight -= 1
        self.calls -= not sent
        self.spent += cost_usd or 0.0


FRUITLESS = 16  # calls of one attempt in a row; after those it rests


class Breaker:
    """Counts what failed since the last answer.

    Attributes:
        is_open: Whether calls get one attempt each.
    """

    def __init__(self, give_up_after: int, deadline: float, rest: float) -> None:
        """Begin closed.

        Args:
            give_up_after: Calls in a row that run into their deadline until it opens.
            deadline: Seconds that it is open, at most, before it rests.
            rest: Seconds between two calls that are tried while it rests.
        """
        self._give_up_after = give_up_after
        self._deadline = deadline
        self._rest = rest
        self.answered()

    def answered(self) -> None:
        """The endpoint is there."""
        self.is_open = False
        self._given_up = 0
        self._fruitless = 0
        self._opened_at = 0.0
        self._next_at: float | None = None
        self._last = ""

    def given_up(self, now: float) -> bool:
        """A call ran into its deadline; the answer says whether this opens it."""
        self._given_up += 1
        if self.is_open or self._given_up < self._give_up_after:
            return False
        self.is_open, self._opened_at = True, now
        return True

    def failed(self, now: float, fault: str) -> bool:
        """The one attempt of a call failed; the answer says whether it rests now."""
        self._fruitless += 1
        is_long = now - self._opened_at >= self._deadline
        if self._fruitless < (self._give_up_after if is_long else FRUITLESS):
            return False
        self._next_at, self._last = now + self._rest, fault
        return True

    def check(self, now: float) -> None:
        """See whether a call may be tried.

        Raises:
            ModelError: It rests.
        """
        if self._next_at is not None and now < self._next_at:
            raise self.not_tried()

    def begin(self, now: float) -> None:
        """A call is about to be tried: while it rests, the only one for now.

        Raises:
            ModelError: Another is.
        """
        self.check(now)
        if self._next_at is not None:
            self._next_at = now + self._rest

    def not_tried(self) -> ModelError:
        """The error of a call that is not tried."""
        return ModelError(f"not tried: the endpoint has not answered for long; last: {self._last}")


MAX_ADJUSTMENTS = 6
ENOUGH = 20  # answers that tell how long an endpoint takes
FAR_LONGER = 20  # times what is usual: an answer that takes so long has got lost
SHORTEST = 0.25  # seconds


@dataclass(frozen=True, slots=True)
class Patience:
    """The limits on how long calls are tried, in seconds.

    Attributes:
        deadline: For one call, waits between attempts included; waits for a slot are not.
        attempt_timeout: For one attempt at most; less where all answers came far sooner.
        unreachable: For the first connection of a run.
        base: The bound of the first wait; it doubles with every attempt.
        cap: The highest bound.
        give_up_after: So many calls in a row that ran into their deadline, none answered in
            between, leave further calls one attempt each until one is answered.
        rest: When many of these failed as well, one call is tried after this many seconds, and the
            others fail at once.

    Raises:
        ValueError: One of them is not above 0.
    """

    deadline: float = 120.0
    attempt_timeout: float = 60.0
    unreachable: float = 10.0
    base: float = 0.5
    cap: float = 20.0
    give_up_after: int = 3
    rest: float = 20.0

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if not value > 0:  # so is nan
                raise ValueError(f"{one.name} is {value!r}, which is not above 0")


@dataclass(slots=True)
class _Call:
    """The state of one call; `usage` is that of `answer`, `lost` what failed attempts cost."""

    request: Request
    ends_at: float
    attempts: int = 0
    adjustments: int = 0
    tokens: int = 0
    time_outs: int = 0
    last: TransportFault | None = None
    lost: Usage = field(default_factory=Usage)
    answer: Completion = field(default_factory=lambda: Completion("", Usage()))
    usage: Usage = field(default_factory=Usage)


class Retrying:
    """Makes calls to one endpoint: slots, budget, attempts, waits."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        patience: Patience,
        limiter: Limiter,
        spending: Spending,
        price: Price | None,
        party: Hashable = None,
    ) -> None:
        self._endpoint = endpoint
        self._party = party
        self._patience = patience
        self._limiter = limiter
        self._spending = spending
        self._price = price
        self._answered = False  # whether anything has ever come back from the endpoint
        self._failing_since: float | None = None
        self._breaker = Breaker(patience.give_up_after, patience.deadline, patience.rest)
        self._answers = 0
        self._usual = 0.0
        self._refused: EndpointRefused | None = None

    def check(self) -> None:
        """See whether the endpoint takes calls at all.

        Raises:
            EndpointRefused: It has refused one in a way that holds for all.
        """
        if self._refused is not None:  # raised anew: an exception collects where it has been
            raise type(self._refused)(
                str(self._refused), code=self._refused.code, **self._refused.facts
            )

    async def call(self, request: Request, max_output: int | None, tokens: int = 0) -> Completion:
        """Get one answer.

        Args:
            request: What to ask.
            max_output: The limit on the answer's length.
            tokens: Tokens of the prompt; needed only where the limiter counts them.

        Raises:
            InvalidAnswer: There was one, but it is none; it carries its usage and price.
            AnswerTooLong: The same, and asking again would not help.
            ModelError: There is none; it carries what was paid all the same.
        """
        call = _Call(request, time.monotonic() + self._patience.deadline, tokens=tokens)
        try:
            while True:
                try:
                    async with self._attempt(call):
                        call.answer = await self._sent(request, max_output)
                    return replace(call.answer, usage=call.usage + call.lost)
                except ParameterRefused:
                    call.adjustments += 1
                    if call.adjustments > MAX_ADJUSTMENTS:
                        raise
                except TransportFault as fault:
                    await self._wait(fault, call)
        except ModelError as error:
            error.usage += call.lost
            raise

    async def _sent(self, request: Request, max_output: int | None) -> Completion:
        """Return what the endpoint answers.

        Raises:
            ModelError: It says so, or it failed in a way that its port does not know. The words of
                that fault are not told: they may hold the key.
        """
        who = f"the endpoint {self._endpoint.address}"
        try:
            answer: object = await self._endpoint.send(request, max_output)
        except VeriTrailError:
            raise
        except FAULTS as error:
            told = f"{who} failed with a {type(error).__name__}; please report it to its makers"
            raise RequestRejected(told) from error
        if isinstance(answer, Completion) and type(answer.text) is str:
            return answer
        raise RequestRejected(f"{who} broke its contract: it answered a {type(answer).__name__}")

    @contextlib.asynccontextmanager
    async def _attempt(self, call: _Call) -> AsyncIterator[None]:
        """One attempt: with a slot, counted, bounded in time and paid."""
        queued = time.monotonic()
        again = call.attempts + call.adjustments > 0
        self._breaker.check(queued)
        pause = max(0.0, self._limiter.paused_until - queued)
        try:
            await self._limiter.acquire(call.tokens, again=again, owner=self, party=self._party)
        except Dismissed:
            raise self._breaker.not_tried() from None
        began = time.monotonic()
        # A pause is a wait between attempts, where there has been one.
        call.ends_at += began - queued - (min(pause, began - queued) if again else 0.0)
        more_tokens = 0
        try:
            async with self._paid(call):
                yield
            more_tokens = call.usage.input_tokens + call.usage.output_tokens - call.tokens
        except TransportFault as fault:
            self._note(fault, began, call)
            raise
        finally:
            self._limiter.release(more_tokens if self._limiter.counts_tokens else 0)
        self._limiter.succeeded()

    @contextlib.asynccontextmanager
    async def _paid(self, call: _Call) -> AsyncIterator[None]:
        """One request within the budget: what it cost is settled, however it ends."""
        await self._spending.ready()
        self.check()  # others may have been refused while this one waited for its slot
        self._breaker.begin(time.monotonic())
        self._spending.admit()
        call.attempts += 1
        cost, sent = None, True
        began = time.monotonic()
        whole = self._for_one_attempt(call)
        # The last attempt may pass the deadline by a little: one of no time is none.
        patience = min(whole, max(call.ends_at - began, self._patience.attempt_timeout / 10))
        try:
            async with asyncio.timeout(patience):
                yield
            call.usage = priced(call.answer.usage, self._price)
            cost = call.usage.cost_usd
            self._is_answered(time.monotonic() - began)
        except (InvalidAnswer, AnswerTooLong) as unusable:
            unusable.usage = priced(unusable.usage, self._price)
            cost = unusable.usage.cost_usd
            self._is_answered(time.monotonic() - began)
            raise
        except TransportFault as fault:
            sent = not fault.is_unreachable
            if fault.usage.input_tokens:
                lost = priced(fault.usage, self._price)
                call.lost += lost
                cost = lost.cost_usd
            elif sent and fault.status is None:
                cost = self._cost_of_prompt(call.request)
            raise
        except ModelError as error:
            self._answered = True  # by an error, but it is there
            if isinstance(error, EndpointRefused):
                self._refused = error
            elif isinstance(error, ParameterRefused | ContextTooLong):
                self._breaker.answered()
            raise
        except TimeoutError:
            call.time_outs += 1
            cost = self._cost_of_prompt(call.request)
            late = f"no answer from {self._endpoint.address} within {patience:.3g} s"
            # An attempt that the deadline cut short says less than the one before it.
            known = call.last if patience < whole else None
            raise TransportFault(str(known or late)) from None
        except asyncio.CancelledError:
            cost = self._cost_of_prompt(call.request)
            raise
        finally:
            self._spending.settle(cost, sent=sent)

    def _cost_of_prompt(self, request: Request) -> float | None:
        """Return about what reading a prompt costs; None where no price is known.

        An endpoint bills what it was sent, also when the caller has stopped waiting. If
        that counted as nothing, a budget would bound no caller whose calls all run out of time.
        """
        if self._price is None:
            return None
        tokens = estimate(request.system) + estimate(request.user)
        return self._price.cost(Usage(calls=1, input_tokens=tokens))

    def _is_answered(self, seconds: float) -> None:
        self._answered = True
        self._breaker.answered()
        self._answers += 1
        # A moving mean; the plain one until there are enough.
        self._usual += (seconds - self._usual) / min(self._answers, ENOUGH)

    def _for_one_attempt(self, call: _Call) -> float:
        """Seconds for one attempt: a call that hangs must not use up its deadline in two."""
        most = self._patience.attempt_timeout
        if self._answers < ENOUGH:
            return most
        usual = max(most / 12, SHORTEST, FAR_LONGER * self._usual)
        return float(min(most, usual * 4**call.time_outs))  # perhaps it is slow after all

    def _note(self, fault: TransportFault, began: float, call: _Call) -> None:
        """Learn from a fault while the slot is still held."""
        if not fault.is_unreachable:
            self._answered = True
        if fault.is_throttling:
            self._limiter.throttled(began)
        if self._breaker.is_open:  # the others would wait for nothing
            return
        if fault.retry_after and time.monotonic() + fault.retry_after < call.ends_at:
            self._limiter.pause(fault.retry_after)

    async def _wait(self, fault: TransportFault, call: _Call) -> None:
        """Wait before the next attempt, or say that there is none."""
        now = time.monotonic()
        call.last = fault
        is_unreachable = fault.is_unreachable and not self._answered
        if is_unreachable:
            self._failing_since = self._failing_since or now
            if now - self._failing_since >= self._patience.unreachable:
                raise self._unreachable(fault)
        elif self._breaker.is_open:
            if call.attempts == 1 and self._breaker.failed(now, str(fault)):
                self._limiter.dismiss(self)
            tried = "one attempt" if call.attempts == 1 else f"{call.attempts} attempts"
            raise ModelError(f"{fault} ({tried}: earlier calls failed until their deadline)")
        bound = min(self._patience.cap, self._patience.base * 2 ** min(call.attempts - 1, 30))
        pause = random.uniform(0, bound)  # noqa: S311 - no secret
        if fault.retry_after is not None:
            pause += fault.retry_after
        if now + pause >= call.ends_at:
            if is_unreachable:
                raise self._unreachable(fault)
            if self._breaker.given_up(now):
                self._limiter.resume()
            raise ModelError(self._final_error(fault, call, now))
        await asyncio.sleep(pause)

    def _unreachable(self, fault: TransportFault) -> Unreachable:
        message = f"{self._endpoint.address} could not be reached from the first call on"
        refused = self._refused = Unreachable(f"{message}: {fault}")
        return refused

    def _final_error(self, fault: TransportFault, call: _Call, now: float) -> str:
        tried = f"{call.attempts} attempt{'s' if call.attempts != 1 else ''}"
        left = call.ends_at - now
        if fault.retry_after is not None and left > 0 and fault.retry_after >= left:
            asked = f"it asks to wait {fault.retry_after:.0f} s, and {left:.0f} s are left"
            return f"given up after {tried}: {fault}; {asked}"
        return f"given up after {tried} in {self._patience.deadline:g} s: {fault}"

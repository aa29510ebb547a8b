"""When a call is tried again, when no more, and what waits for it holds meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.port import (
    Completion,
    ContextTooLong,
    ModelError,
    OverBudget,
    ParameterRefused,
    Request,
    RequestRejected,
    StepCall,
    TransportFault,
)
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.models.retrying import Patience, Retrying, Spending

REQUEST = Request(StepCall("verdict", "verdict.v1", "00" * 32, "some-model", 0.0), "s", "u")
ANSWER = Completion("Yes.", Usage(calls=1, input_tokens=2, output_tokens=1))
QUICKLY = Patience(deadline=1.0, attempt_timeout=0.5, unreachable=0.2, base=0.01, cap=0.02)


class Script:
    """An endpoint that gives these outcomes in turn, the last one again and again."""

    address = "memory"

    def __init__(self, outcomes: Sequence[Completion | ModelError]) -> None:
        self.outcomes = list(outcomes)
        self.times: list[float] = []

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        self.times.append(time.monotonic())
        outcome = self.outcomes[min(len(self.times), len(self.outcomes)) - 1]
        await asyncio.sleep(0)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    async def close(self) -> None: ...


def retrying(
    script: Script, patience: Patience = QUICKLY, limiter: Limiter | None = None
) -> Retrying:
    return Retrying(
        script,
        patience=patience,
        limiter=limiter or Limiter(4),
        spending=Spending(),
        price=None,
    )


def call(script: Script, patience: Patience = QUICKLY) -> Completion:
    return asyncio.run(retrying(script, patience).call(REQUEST, 100))


def busy(status: int = 503, retry_after: float | None = None) -> TransportFault:
    return TransportFault("busy", status=status, retry_after=retry_after)


def test_a_fault_is_tried_again() -> None:
    script = Script([busy(), busy(500), ANSWER])
    assert call(script).text == "Yes."
    assert len(script.times) == 3


@pytest.mark.parametrize("error", [RequestRejected("no"), ContextTooLong("long", 5)])
def test_what_no_retry_can_help_is_not_tried_again(error: ModelError) -> None:
    script = Script([error, ANSWER])
    with pytest.raises(type(error)):
        call(script)
    assert len(script.times) == 1


def test_a_refused_parameter_is_worth_another_try_at_once_but_not_for_ever() -> None:
    script = Script([ParameterRefused("no temperature"), ParameterRefused("no limit"), ANSWER])
    assert call(script).text == "Yes."
    endless = Script([ParameterRefused("no")])
    with pytest.raises(ParameterRefused):
        call(endless)
    assert len(endless.times) < 10


def test_a_call_ends_at_its_deadline_with_the_reason_and_the_attempts() -> None:
    script = Script([busy()])
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"given up after \d+ attempts in 1 s: busy"):
        call(script)
    assert time.monotonic() - began < 2
    assert len(script.times) > 10


def test_what_the_endpoint_asks_to_wait_is_waited() -> None:
    script = Script([busy(429, 0.4), ANSWER])
    call(script)
    assert 0.4 <= script.times[1] - script.times[0] < 1.0


def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    script = Script([busy(429, 300.0)])
    began = time.monotonic()
    with pytest.raises(ModelError, match="given up after 1 attempt: busy; it asks to wait 300 s"):
        call(script)
    assert time.monotonic() - began < 0.5


def test_all_calls_heed_what_one_was_asked_to_wait() -> None:
    script = Script([busy(429, 0.3), ANSWER])

    async def work() -> None:
        them = retrying(script)
        first = asyncio.create_task(them.call(REQUEST, 100))
        await asyncio.sleep(0.05)
        await them.call(REQUEST, 100)
        await first

    asyncio.run(work())
    assert all(later - script.times[0] >= 0.29 for later in script.times[1:])


def test_waits_grow_and_are_drawn() -> None:
    patience = Patience(deadline=0.8, attempt_timeout=0.5, base=0.05, cap=0.2)
    script = Script([busy()])
    with pytest.raises(ModelError):
        call(script, patience)
    waits = [b - a for a, b in zip(script.times, script.times[1:], strict=False)]
    assert max(waits) <= 0.25
    assert max(waits[3:]) > 0.05
    assert len({round(wait, 3) for wait in waits}) > 1


def test_a_call_that_waits_for_its_retry_holds_no_slot() -> None:
    patience = Patience(deadline=5.0, attempt_timeout=0.5, base=5.0, cap=5.0)
    script = Script([busy(503), ANSWER])
    limiter = Limiter(1)

    async def work() -> None:
        them = retrying(script, patience, limiter)
        first = asyncio.create_task(them.call(REQUEST, 100))
        await asyncio.sleep(0.01)
        assert len(script.times) == 1
        await asyncio.wait_for(limiter.acquire(), 0.01)
        limiter.release()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    asyncio.run(work())


def test_a_call_that_is_broken_off_spends_what_its_prompt_costs() -> None:
    class Silent(Script):
        """An endpoint that does not answer."""

        async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
            await super().send(request, max_output_tokens)
            await asyncio.sleep(60)
            return ANSWER

    spending = Spending(budget_usd=1.0)
    price = Price(input=1_000_000.0, cached_input=0.0, output=0.0)

    async def work() -> None:
        them = Retrying(
            Silent([ANSWER]),
            patience=Patience(),
            limiter=Limiter(4),
            spending=spending,
            price=price,
        )
        call = asyncio.create_task(them.call(REQUEST, 100))
        await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        with pytest.raises(OverBudget):
            await them.call(REQUEST, 100)

    asyncio.run(work())
    assert spending.spent > 1.0
    assert spending.in_flight == 0


@pytest.mark.parametrize(
    ("outcome", "is_billed"),
    [
        (None, True),
        (TransportFault("broke off without an answer"), True),
        (TransportFault("HTTP 503", status=503), False),
        (TransportFault("no connection", is_unreachable=True), False),
    ],
    ids=["out of time", "broken off", "answered by an error", "not reached"],
)
def test_an_attempt_without_an_answer_spends_what_its_prompt_costs(
    outcome: TransportFault | None, is_billed: bool
) -> None:
    class Faulty(Script):
        async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
            answer = await super().send(request, max_output_tokens)
            if outcome is not None:
                raise outcome
            await asyncio.sleep(60)
            return answer

    spending, script = Spending(budget_usd=1.0), Faulty([ANSWER])

    async def work() -> None:
        them = Retrying(
            script,
            patience=replace(QUICKLY, deadline=0.1, attempt_timeout=0.05),
            limiter=Limiter(4),
            spending=spending,
            price=Price(input=1_000_000.0, cached_input=0.0, output=0.0),
        )
        with pytest.raises(OverBudget if is_billed else ModelError):
            await them.call(REQUEST, 100)

    asyncio.run(work())
    assert (spending.spent > 1.0) == is_billed
    assert len(script.times) == 1 if is_billed else len(script.times) > 1


def test_after_three_deadlines_in_a_row_calls_get_one_attempt_until_one_is_answered() -> None:
    patience = Patience(deadline=0.2, attempt_timeout=0.1, base=0.01, cap=0.02, give_up_after=3)
    script = Script([busy()])

    async def work() -> None:
        them = retrying(script, patience)
        for _ in range(3):
            with pytest.raises(ModelError, match="given up after"):
                await them.call(REQUEST, 100)
        before = len(script.times)
        for _ in range(2):
            with pytest.raises(ModelError, match="one attempt"):
                await them.call(REQUEST, 100)
        assert len(script.times) == before + 2
        script.outcomes = [ANSWER]
        await them.call(REQUEST, 100)
        script.outcomes = [busy()]
        with pytest.raises(ModelError, match="given up after"):
            await them.call(REQUEST, 100)
        assert len(script.times) > before + 5

    asyncio.run(work())


def test_an_endpoint_that_was_there_before_is_waited_for_until_the_deadline() -> None:
    gone = TransportFault("no connection", is_unreachable=True)
    script = Script([ANSWER, gone])

    async def work() -> None:
        them = retrying(script, replace(QUICKLY, deadline=0.4, unreachable=0.05))
        await them.call(REQUEST, 100)
        with pytest.raises(ModelError) as raised:
            await them.call(REQUEST, 100)
        assert type(raised.value) is ModelError

    asyncio.run(work())


def test_time_in_the_queue_does_not_count_against_the_deadline() -> None:
    limiter = Limiter(1)
    script = Script([busy(), ANSWER])

    async def work() -> None:
        them = retrying(script, Patience(deadline=0.3, attempt_timeout=0.2, base=0.01), limiter)
        await limiter.acquire()
        waiting = asyncio.create_task(them.call(REQUEST, 100))
        await asyncio.sleep(0.5)
        limiter.release()
        assert (await waiting).text == "Yes."

    asyncio.run(work())


def test_a_call_that_hangs_is_tried_again_soon_where_answers_are_quick() -> None:
    class Hanging(Script):
        async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
            answer = await super().send(request, max_output_tokens)
            if len(self.times) in (26, 27):
                await asyncio.sleep(60)
            return answer

    script = Hanging([ANSWER])

    async def work() -> None:
        them = retrying(script, Patience(deadline=60, attempt_timeout=4, base=0.01))
        for _ in range(26):
            await them.call(REQUEST, 100)

    asyncio.run(work())
    assert len(script.times) == 28
    first, second = script.times[26] - script.times[25], script.times[27] - script.times[26]
    assert first < 1
    assert first < second < 4


@pytest.mark.parametrize(
    "values", [{"deadline": 0}, {"attempt_timeout": -1.0}, {"cap": float("nan")}, {"rest": 0}]
)
def test_no_patience_at_all_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not above 0"):
        Patience(**values)  # type: ignore[arg-type]

"""A language model against a scripted server: faults, cache, equal calls, money, endings."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from fakes.model_faults import INVALID, Fault, FaultScript, always
from fakes.model_server import ModelServer

from veritrail_graph.graph.model import Usage, Verdict
from veritrail_graph.verifier.answers import VerdictAnswer, read_verdict
from veritrail_graph.verifier.models.cache import AnswerCache
from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    EndpointRefused,
    InvalidAnswer,
    Meter,
    ModelError,
    OverBudget,
    Request,
    StepCall,
)
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.models.retrying import Patience, Spending

T = TypeVar("T")
KEY = "sk-secret-0123456789"
UNHURRIED = Patience(
    deadline=4.0, attempt_timeout=3.0, unreachable=0.3, base=0.01, cap=0.05, give_up_after=3
)
"""A busy machine may hold up an answer; only where none ever comes is one given up early."""
PRICE = Price(input=1_000.0, cached_input=100.0, output=2_000.0)


def request(number: int = 0, sample: int = 0, words: int = 3) -> Request:
    text = f"The ship {number} left" + " early" * (words - 3)
    asked = StepCall("verdict", "verdict.v1", "00" * 32, "scripted", 0.0)
    return Request(asked, "Be exact.", f"[[1]]\n0: {text}.\nClaim: {text}.", 0, sample)


def model(server: ModelServer | str, **options: Any) -> LanguageModel:
    url = server if isinstance(server, str) else server.base_url
    options.setdefault("patience", UNHURRIED)
    return LanguageModel(OpenAiEndpoint(url, KEY), "scripted", **options)


def run(asking: LanguageModel, work: Callable[[LanguageModel], Awaitable[T]]) -> T:
    async def whole() -> T:
        try:
            return await work(asking)
        finally:
            await asking.close()

    return asyncio.run(whole())


def ask(asking: LanguageModel, meter: Meter | None = None, **options: Any) -> VerdictAnswer:
    return run(asking, lambda it: it.ask(request(**options), read_verdict, meter or Meter()))


def test_an_answer_is_read_and_charged() -> None:
    meter = Meter()
    with ModelServer() as server:
        found = ask(model(server, price=PRICE), meter)
    assert found.verdict is Verdict.FULLY_SUPPORTED
    total = meter.total
    assert total.calls == 1
    assert total.input_tokens > 0
    assert total.cost_usd == pytest.approx(PRICE.cost(total))
    assert total.unpriced_calls == 0


@pytest.mark.parametrize("fault", [fault for fault in INVALID if fault is not Fault.EMPTY_CHOICES])
def test_an_invalid_answer_is_charged_and_asked_for_again(fault: Fault) -> None:
    meter = Meter()
    with ModelServer(faults=FaultScript({("verdict", 0): fault})) as server:
        ask(model(server, price=PRICE), meter)
    assert len(server.requests) == 2
    assert meter.total.calls == 2
    assert meter.total.unpriced_calls == 0


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.REFUSAL, "6 refused by the model"),
        (Fault.CONTENT_FILTER, "6 withheld by a content filter"),
        (Fault.CUT_OFF, "6 cut off"),
        (Fault.EMPTY_CONTENT, "6 empty"),
        (Fault.NO_JSON, "6 malformed"),
    ],
)
def test_answers_that_stay_invalid_end_with_the_reason(fault: Fault, words: str) -> None:
    with ModelServer(faults=always(fault)) as server:
        with pytest.raises(ModelError, match="no valid answer to verdict in 6 attempts") as raised:
            ask(model(server))
        assert len(server.requests) == 6
    assert words in str(raised.value)


@pytest.mark.parametrize("options", [{"key": "sk-another"}, {"models": ["some-other"]}])
def test_a_wrong_key_or_model_stops_all_calls_at_once(options: dict[str, Any]) -> None:
    with ModelServer(**options) as server:
        found = run(
            model(server, limiter=Limiter(4)),
            lambda it: asyncio.gather(
                *(it.ask(request(number), read_verdict, Meter()) for number in range(100)),
                return_exceptions=True,
            ),
        )
        assert len(server.requests) <= 4
    assert {type(error) for error in found} == {EndpointRefused}
    assert all(KEY not in str(error) for error in found)


def test_a_prompt_that_is_too_long_lowers_the_window() -> None:
    with ModelServer(context_tokens=1_000) as server:

        async def work(asking: LanguageModel) -> None:
            assert asking.context_tokens > 20_000
            with pytest.raises(ContextTooLong):
                await asking.ask(request(words=2_000), read_verdict, Meter())
            assert asking.context_tokens == 750
            await asking.ask(request(), read_verdict, Meter())

        run(model(server, window=32_000), work)


def test_room_for_the_prompt_and_the_answer_make_the_window() -> None:
    asking = model("http://127.0.0.1:9/v1", window=100_000)
    assert asking.context_tokens == 100_000 - 8_192
    assert model("http://127.0.0.1:9/v1", window=8_000).context_tokens == 6_000


# --- cache and equal calls


def test_an_answer_in_the_cache_is_not_paid_again(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "answers.sqlite"
    bills = [Meter(), Meter()]

    async def work(asking: LanguageModel, cache: AnswerCache, meter: Meter) -> None:
        await asking.ask(request(), read_verdict, meter)
        await cache.close()

    with ModelServer() as server:
        for meter in bills:
            cache = AnswerCache(path)
            run(model(server, cache=cache), partial(work, cache=cache, meter=meter))
        assert len(server.requests) == 1
    assert bills[0].total.calls == 1
    assert bills[1].total == Usage(cached_calls=1, cost_usd=0.0)
    paid = bills[0].total
    assert (bills[0].reused, bills[1].reused.calls) == (Usage(), 1)
    assert bills[1].reused.input_tokens == paid.input_tokens > 0
    assert bills[1].reused.output_tokens == paid.output_tokens > 0


def test_invalid_answers_are_never_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"

    async def work(asking: LanguageModel) -> None:
        with pytest.raises(ModelError):
            await asking.ask(request(), read_verdict, Meter())
        stats = await cache.stats()
        assert stats is not None
        assert stats.answers == 0
        await cache.close()

    cache = AnswerCache(path)
    with ModelServer(faults=always(Fault.CUT_OFF)) as server:
        run(model(server, cache=cache), work)


def test_a_kept_answer_that_can_no_longer_be_read_is_asked_for_anew(tmp_path: Path) -> None:
    async def work(asking: LanguageModel) -> None:
        await asking.ask(request(), lambda text: text, Meter())
        meter = Meter()
        await asking.ask(request(), stricter, meter)
        assert meter.total.calls == 1
        await cache.close()

    seen: list[str] = []

    def stricter(text: str) -> str:
        seen.append(text)
        if len(seen) == 1:
            raise InvalidAnswer("not any more")
        return text

    cache = AnswerCache(tmp_path / "answers.sqlite")
    with ModelServer() as server:
        run(model(server, cache=cache), work)
        assert len(server.requests) == 2


def test_equal_calls_in_the_air_are_one() -> None:
    bills = [Meter() for _ in range(10)]
    with ModelServer(latency=0.1) as server:
        found = run(
            model(server),
            lambda it: asyncio.gather(*(it.ask(request(), read_verdict, meter) for meter in bills)),
        )
        assert len(server.requests) == 1
    assert len(found) == 10
    assert [meter.total.calls for meter in bills] == [1] + [0] * 9
    assert [meter.total.cached_calls for meter in bills] == [0] + [1] * 9
    assert [meter.reused for meter in bills[1:]] == [bills[0].total] * 9


def test_others_get_the_answer_when_the_first_asker_is_cancelled() -> None:
    async def work(asking: LanguageModel) -> VerdictAnswer:
        first = asyncio.create_task(asking.ask(request(), read_verdict, Meter()))
        second = asyncio.create_task(asking.ask(request(), read_verdict, Meter()))
        await asyncio.sleep(0.1)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    with ModelServer(latency=0.3) as server:
        assert run(model(server), work).verdict is Verdict.FULLY_SUPPORTED
        assert len(server.requests) == 1


@pytest.mark.parametrize("fault", [None, Fault.HANG, Fault.STATUS_429, Fault.DROPPED])
def test_a_cancelled_run_stops_at_once(fault: Fault | None) -> None:
    """The fixture that looks for lost exceptions sees to it that nothing is left behind."""

    async def work(asking: LanguageModel) -> float:
        tasks = [
            asyncio.create_task(asking.ask(request(number // 2), read_verdict, Meter()))
            for number in range(100)
        ]
        await asyncio.sleep(0.3)
        began = time.monotonic()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return time.monotonic() - began

    patience = Patience(deadline=60.0, attempt_timeout=60.0, base=0.05, cap=20.0)
    faults = always(fault) if fault else None
    with ModelServer(latency=20.0 if fault is None else 0.0, faults=faults) as server:
        asking = model(server, limiter=Limiter(8), patience=patience)
        assert run(asking, work) < 2
    assert asking.limiter.in_flight == 0


# --- money


def test_the_budget_is_never_passed_by_more_than_the_calls_in_the_air() -> None:
    spending = Spending(budget_usd=0.5)
    meter = Meter()
    with ModelServer() as server:
        found = run(
            model(server, price=PRICE, spending=spending, limiter=Limiter(3)),
            lambda it: asyncio.gather(
                *(it.ask(request(number), read_verdict, meter) for number in range(60)),
                return_exceptions=True,
            ),
        )
    total = meter.total
    assert total.cost_usd is not None
    dearest = total.cost_usd / total.calls * 1.5
    assert 0.5 <= total.cost_usd < 0.5 + 3 * dearest
    assert spending.spent == pytest.approx(total.cost_usd)
    assert spending.in_flight == 0
    assert sum(isinstance(error, OverBudget) for error in found) == 60 - total.calls

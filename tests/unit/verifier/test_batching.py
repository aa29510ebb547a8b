"""Calls in batches against the scripted server: rounds, faults, money, and what survives a kill."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from fakes.batch_ledger import Batching, MemoryLedger, batching
from fakes.model_batches import BatchDesk, SentBatch
from fakes.model_faults import Fault, FaultScript
from fakes.model_server import ModelServer
from fakes.ports import free_port
from fakes.waiting import until

from veritrail_graph.graph.model import Usage, Verdict
from veritrail_graph.verifier.answers import read_verdict
from veritrail_graph.verifier.models.openai_endpoint import OpenAiEndpoint
from veritrail_graph.verifier.models.port import (
    EndpointRefused,
    Meter,
    ModelError,
    OverBudget,
    Request,
    RequestRejected,
    StepCall,
    Unreachable,
)
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.models.retrying import Patience

KEY = "sk-secret-0123456789"
PRICE = Price(input=1_000.0, cached_input=100.0, output=2_000.0)
QUICK = Patience(deadline=4.0, attempt_timeout=3.0, unreachable=0.3, base=0.01, cap=0.05)


def request(number: int = 0) -> Request:
    text = f"The ship {number} left."
    asked = StepCall("verdict", "verdict.v1", "00" * 32, "scripted", 0.0)
    return Request(asked, "Be exact.", f"[[1]]\n0: {text}\nClaim: {text}")


def opened(server: ModelServer | str, ledger: MemoryLedger | None = None, **how: Any) -> Batching:
    url = server if isinstance(server, str) else server.base_url
    return batching(OpenAiEndpoint(url, KEY), ledger, patience=QUICK, **how)


async def asked(run: Batching, number: int, meter: Meter | None = None) -> Verdict:
    run.rounds.walk_begins(str(number))
    try:
        answer = await run.model.ask(request(number), read_verdict, meter or Meter())
        return answer.verdict
    finally:
        run.rounds.walk_ends(str(number))


async def all_of(run: Batching, numbers: Iterable[int], meter: Meter | None = None) -> list[Any]:
    try:
        work = [asyncio.ensure_future(asked(run, number, meter)) for number in numbers]
        return await asyncio.gather(*work, return_exceptions=True)
    finally:
        await run.close()


def ask(
    server: ModelServer,
    numbers: Iterable[int],
    ledger: MemoryLedger | None = None,
    meter: Meter | None = None,
    **how: Any,
) -> list[Any]:
    async def whole() -> list[Any]:
        return await all_of(opened(server, ledger, **how), numbers, meter)

    return asyncio.run(whole())


def killed(server: ModelServer, ledger: MemoryLedger, numbers: Iterable[int], seen: Any) -> None:
    """Ask, and end without a word as soon as something is seen."""

    async def whole() -> None:
        run = opened(server, ledger)
        work = [asyncio.ensure_future(asked(run, number)) for number in numbers]
        while not seen():  # noqa: ASYNC110  # another thread decides
            await asyncio.sleep(0.01)
        for one in work:
            one.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        await run.close()

    asyncio.run(whole())


def test_all_that_wait_go_out_together_and_their_files_are_deleted() -> None:
    meter = Meter()
    with ModelServer() as server:
        found = ask(server, range(20), meter=meter, price=PRICE)
        assert found == [Verdict.FULLY_SUPPORTED] * 20
        assert server.desk is not None
        assert [len(batch.lines) for batch in server.desk.batches] == [20]
        assert server.desk.files == {}
    assert (meter.total.calls, meter.total.batch_calls) == (20, 20)
    live = PRICE.cost(meter.total.replace(batch_calls=0))
    assert meter.total.cost_usd == pytest.approx(live / 2)


def test_a_round_is_split_by_lines_and_by_bytes() -> None:
    with ModelServer() as server:
        ask(server, range(10), most_lines=4)
        line = 400  # bytes of a line, about
        ask(server, range(10, 20), most_bytes=5 * line)
        assert server.desk is not None
        sizes = [len(batch.lines) for batch in server.desk.batches]
    assert sorted(sizes[:3]) == [2, 4, 4]  # they are uploaded side by side
    assert len(sizes) > 4
    assert sum(sizes) == 20


def test_a_prompt_that_no_file_holds_ends_its_claim_alone() -> None:
    with ModelServer() as server:
        found = ask(server, [1, 2], most_bytes=100)
    assert all(isinstance(one, ModelError) and "100 bytes" in str(one) for one in found)
    with ModelServer() as server:
        found = ask(server, [1, 2], most_bytes=100, finishes_live=True)
    assert found == [Verdict.FULLY_SUPPORTED] * 2, "a single call has no such limit"


@pytest.mark.parametrize("fault", [Fault.NO_JSON, Fault.STATUS_500, Fault.CUT_OFF])
def test_a_line_without_a_valid_answer_is_asked_again_in_the_next_batch(fault: Fault) -> None:
    meter = Meter()
    with ModelServer(faults=FaultScript({("verdict", 1): fault})) as server:
        found = ask(server, range(3), meter=meter)
        assert server.desk is not None
        assert [len(batch.lines) for batch in server.desk.batches] == [3, 1]
    assert found == [Verdict.FULLY_SUPPORTED] * 3
    assert meter.total.batch_calls == (3 if fault is Fault.STATUS_500 else 4)


def test_what_has_no_valid_answer_is_asked_live_where_that_is_wanted() -> None:
    meter = Meter()
    with ModelServer(faults=FaultScript({("verdict", 1): Fault.NO_JSON})) as server:
        found = ask(server, range(3), meter=meter, price=PRICE, finishes_live=True)
        assert [one.in_batch for one in server.requests] == [True] * 3 + [False]
    assert found == [Verdict.FULLY_SUPPORTED] * 3
    assert (meter.total.calls, meter.total.batch_calls) == (4, 3)
    assert meter.total.unpriced_calls == 0


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_what_a_batch_left_unanswered_goes_out_with_the_next(end: str) -> None:
    def plan(batch: SentBatch) -> None:
        if batch.number == 0:
            batch.end, batch.answered = end, 2

    async def whole(server: ModelServer) -> tuple[list[Any], list[str]]:
        run = opened(server)
        return await all_of(run, range(5)), run.warnings

    with ModelServer(desk=BatchDesk(plan)) as server:
        found, warnings = asyncio.run(whole(server))
        assert found == [Verdict.FULLY_SUPPORTED] * 5
        assert server.desk is not None
        assert [len(batch.lines) for batch in server.desk.batches] == [5, 3]
        assert len(server.requests) == 5
    how = "expired" if end == "expired" else "was cancelled"
    left = "what it left is asked again."
    assert warnings == [f"Batch batch_0 {how} with 2 of 5 lines answered; {left}"]


def test_a_line_that_is_never_answered_ends_its_claim() -> None:
    def plan(batch: SentBatch) -> None:
        batch.end, batch.answered = "expired", 0

    with ModelServer(desk=BatchDesk(plan)) as server:
        (found,) = ask(server, [1])
        assert server.desk is not None
        assert len(server.desk.batches) == 6
    assert isinstance(found, ModelError)
    assert "6 batches" in str(found)
    assert str(found).endswith("window expired")  # more words follow where it is shown


def test_a_batch_that_is_refused_as_a_whole_stops_the_run_with_its_reason() -> None:
    def plan(batch: SentBatch) -> None:
        batch.end = "failed"
        batch.errors = [{"code": "model_not_found", "message": "No such model.", "line": None}]

    ledger = MemoryLedger()
    with ModelServer(desk=BatchDesk(plan)) as server:
        found = ask(server, range(2), ledger)
        assert server.desk is not None
        assert server.desk.files == {}
    assert all(isinstance(one, EndpointRefused) and "No such model" in str(one) for one in found)
    assert ledger.lines == {}


def asks_of(*numbers: int) -> Callable[[dict[str, Any]], bool]:
    """Tells the lines that ask about some of the ships."""
    texts = [f"The ship {number} left." for number in numbers]
    return lambda body: any(text in body["messages"][1]["content"] for text in texts)


@pytest.mark.parametrize("most_named", [1, 100])
def test_a_line_that_a_refused_batch_names_ends_its_call_alone(most_named: int) -> None:
    meter, ledger = Meter(), MemoryLedger()
    desk = BatchDesk(is_faulty=asks_of(2, 4), most_named=most_named)
    with ModelServer(desk=desk) as server:
        found = ask(server, range(6), ledger, meter)
        assert server.wrong == []
        sizes = [len(batch.lines) for batch in desk.batches]
        assert sizes == ([6, 5, 4] if most_named == 1 else [6, 4])
        assert desk.files == {}
        assert len(server.requests) == 4
    assert [found[one] for one in (0, 1, 3, 5)] == [Verdict.FULLY_SUPPORTED] * 4
    for one in (found[2], found[4]):
        assert isinstance(one, RequestRejected)
        assert "not parseable as valid JSON" in str(one)
        assert not isinstance(one, EndpointRefused)
    assert meter.total.calls == 4


def test_a_line_that_a_refused_batch_names_is_asked_live_where_that_is_wanted() -> None:
    desk = BatchDesk(is_faulty=asks_of(1))
    with ModelServer(desk=desk) as server:
        assert ask(server, range(3), finishes_live=True) == [Verdict.FULLY_SUPPORTED] * 3
        assert sorted(one.in_batch for one in server.requests) == [False, True, True]


def test_lines_of_a_refused_batch_of_another_process_are_numbered_anew() -> None:
    ledger, desk = MemoryLedger(), BatchDesk(held=True)
    with ModelServer(desk=desk) as server:
        killed(server, ledger, range(4), lambda: desk.batches and desk.batches[0].looks > 1)
        desk.batches[0].end, desk.batches[0].status = "failed", "validating"
        desk.batches[0].errors = [{"code": "invalid_json_line", "message": "No.", "line": 3}]
        desk.held, desk.is_faulty = False, asks_of(2)
        found = ask(server, reversed(range(4)), ledger)
        assert [len(batch.lines) for batch in desk.batches] == [4, 4, 3]
    assert isinstance(found[1], RequestRejected)
    assert [found[one] for one in (0, 2, 3)] == [Verdict.FULLY_SUPPORTED] * 3


@pytest.mark.parametrize("line", [0, 3, None])
def test_a_refusal_that_names_no_line_of_the_file_stops_the_run(line: int | None) -> None:
    def plan(batch: SentBatch) -> None:
        batch.end = "failed"
        batch.errors = [{"code": "invalid_file", "message": "Not so.", "line": line}]

    with ModelServer(desk=BatchDesk(plan)) as server:
        found = ask(server, range(2))
        assert server.desk is not None
        assert len(server.desk.batches) == 1
    assert all(isinstance(one, EndpointRefused) and "Not so" in str(one) for one in found)


def test_a_model_that_makes_no_batches_stops_the_run_also_where_a_line_is_named() -> None:
    def plan(batch: SentBatch) -> None:
        message = "The provided model 'scripted' is not supported by the Batch API."
        batch.end = "failed"
        batch.errors = [
            {"code": "model_not_found", "message": message, "line": 1, "param": "body.model"}
        ]

    with ModelServer(desk=BatchDesk(plan)) as server:
        found = ask(server, range(3))
        assert server.desk is not None
        assert len(server.desk.batches) == 1
    assert all(isinstance(one, EndpointRefused) and "Batch API" in str(one) for one in found)


def test_a_parameter_that_a_refused_batch_names_is_left_out() -> None:
    def plan(batch: SentBatch) -> None:
        if "temperature" in batch.lines[0]["body"]:
            message = "Unsupported parameter: 'temperature' is not supported with this model."
            batch.end = "failed"
            batch.errors = [
                {"code": "unsupported_parameter", "message": message, "line": 1,
                 "param": "body.temperature"}
            ]  # fmt: skip

    with ModelServer(desk=BatchDesk(plan)) as server:
        assert ask(server, range(3)) == [Verdict.FULLY_SUPPORTED] * 3
        assert server.desk is not None
        assert [len(batch.lines) for batch in server.desk.batches] == [3, 3]


def test_an_endpoint_that_finds_a_fault_in_every_file_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("veritrail_graph.verifier.models.batching.MOST_SPOILT", 4)
    with ModelServer(desk=BatchDesk(is_faulty=lambda _body: True, most_named=1)) as server:
        found = ask(server, range(8))
        assert server.desk is not None
        assert len(server.desk.batches) == 4
    assert isinstance(found[-1], EndpointRefused)
    assert "not parseable" in str(found[-1])


def refused(desk: BatchDesk) -> int:
    """How many batches were not taken."""
    return sum(one.end == "failed" for one in desk.batches)


def test_too_much_at_a_time_is_sent_in_smaller_parts_that_grow_again() -> None:
    desk, ledger = BatchDesk(most_enqueued=5), MemoryLedger()
    with ModelServer(desk=desk) as server:
        assert ask(server, range(30), ledger) == [Verdict.FULLY_SUPPORTED] * 30
        assert len(server.requests) == 30
    sizes = [len(one.lines) for one in desk.batches]
    assert sizes[:4] == [30, 15, 7, 3]
    assert max(len(one.lines) for one in desk.batches if one.end == "completed") == 5
    assert refused(desk) <= 10
    assert len(sizes) <= 20
    assert desk.files == {}


def test_what_has_no_room_waits_for_what_is_on_its_way() -> None:
    desk = BatchDesk(held=True, most_enqueued=4)

    async def whole(server: ModelServer) -> list[Any]:
        run = opened(server, most_lines=4)
        work = asyncio.ensure_future(all_of(run, range(8)))
        await asyncio.to_thread(until, lambda: any(one.looks > 20 for one in desk.batches))
        assert [len(one.lines) for one in desk.batches] == [4, 4]
        assert refused(desk) == 1
        desk.held = False
        return await work

    with ModelServer(desk=desk) as server:
        assert asyncio.run(whole(server)) == [Verdict.FULLY_SUPPORTED] * 8
    assert refused(desk) == 1
    assert [len(one.lines) for one in desk.batches] == [4, 4, 4]


def test_an_endpoint_that_is_full_without_us_is_left_alone_for_longer_and_longer() -> None:
    desk = BatchDesk(most_enqueued=0)

    async def whole(server: ModelServer) -> tuple[list[Any], list[str]]:
        run = opened(server, poll=0.05)
        work = asyncio.ensure_future(all_of(run, range(4)))
        began = time.monotonic()
        await asyncio.to_thread(until, lambda: refused(desk) == 6)
        # 4, 2 and 1 lines at once, then after 0.05, 0.1 and 0.2 seconds.
        assert time.monotonic() - began > 0.3
        desk.most_enqueued = 100
        return await work, run.warnings

    with ModelServer(desk=desk) as server:
        found, warnings = asyncio.run(whole(server))
        assert len(server.requests) == 4
    assert found == [Verdict.FULLY_SUPPORTED] * 4
    assert len(warnings) == 1
    assert "Enqueued token limit reached" in warnings[0]


def test_an_endpoint_that_stays_full_is_given_up_with_its_reason() -> None:
    with ModelServer(desk=BatchDesk(most_enqueued=0)) as server:
        found = ask(server, range(2), full_for=0.2)
    assert all(isinstance(one, EndpointRefused) for one in found)
    assert "Enqueued token limit reached" in str(found[0])


def test_lines_without_room_do_not_wait_for_ever_where_the_budget_is_used_up() -> None:
    desk = BatchDesk(most_enqueued=2)
    usage = Usage(calls=1, batch_calls=1, input_tokens=20, output_tokens=8_192)
    most = PRICE.with_batch(None).cost(usage)
    real = PRICE.with_batch(None).cost(usage.replace(output_tokens=20))
    with ModelServer(desk=desk) as server:
        found = ask(server, range(12), price=PRICE, budget=most + 3 * real)
        kinds = {type(one) for one in found}
    assert kinds == {Verdict, OverBudget}


def test_an_endpoint_without_batches_says_so() -> None:
    with ModelServer(desk=None) as server:
        (found,) = ask(server, [1])
    assert isinstance(found, EndpointRefused)
    assert found.code == "no_batches"


def test_an_endpoint_that_is_not_there_ends_the_run_soon() -> None:
    async def whole() -> list[Any]:
        return await all_of(opened(f"http://127.0.0.1:{free_port()}/v1"), [1])

    (found,) = asyncio.run(whole())
    assert isinstance(found, Unreachable)


@pytest.mark.parametrize("lost", ["upload", "create"])
def test_what_arrived_without_an_answer_is_found_and_not_sent_twice(lost: str) -> None:
    with ModelServer(desk=BatchDesk(loses=[lost])) as server:
        assert ask(server, range(3)) == [Verdict.FULLY_SUPPORTED] * 3
        assert server.desk is not None
        assert server.desk.uploads == 1
        assert len(server.desk.batches) == 1


def test_a_killed_process_goes_on_with_the_batch_that_is_on_its_way() -> None:
    ledger, desk = MemoryLedger(), BatchDesk(held=True)
    with ModelServer(desk=desk) as server:
        killed(server, ledger, range(4), lambda: desk.batches and desk.batches[0].looks > 1)
        desk.held = False
        assert ask(server, range(4), ledger) == [Verdict.FULLY_SUPPORTED] * 4
        assert (desk.uploads, len(desk.batches)) == (1, 1)


@pytest.mark.parametrize("known", ["nothing", "file"])
def test_a_batch_whose_ids_were_lost_is_found_by_its_name(known: str) -> None:
    ledger, desk = MemoryLedger(), BatchDesk(held=True)
    with ModelServer(desk=desk) as server:
        killed(server, ledger, range(4), lambda: desk.batches and desk.batches[0].looks > 1)
        (record,) = ledger.batches.values()
        file_id = None if known == "nothing" else record.file_id
        ledger.batches[record.name] = type(record)(
            record.name, record.address, record.model, 4, record.state, record.since, file_id
        )
        desk.held = False
        assert ask(server, range(4), ledger) == [Verdict.FULLY_SUPPORTED] * 4
        assert (desk.uploads, len(desk.batches)) == (1, 1)


def test_a_file_whose_batch_was_never_made_is_used() -> None:
    ledger, desk = MemoryLedger(), BatchDesk(held=True)
    with ModelServer(desk=desk) as server:
        killed(server, ledger, range(4), lambda: desk.batches and desk.batches[0].looks > 1)
        (record,) = ledger.batches.values()
        desk.batches.clear()
        ledger.batches[record.name] = type(record)(
            record.name, record.address, record.model, 4, record.state, record.since
        )
        desk.held = False
        assert ask(server, range(4), ledger) == [Verdict.FULLY_SUPPORTED] * 4
        assert (desk.uploads, len(desk.batches)) == (1, 1)


def test_a_batch_that_was_planned_and_never_sent_is_forgotten() -> None:
    ledger, desk = MemoryLedger(), BatchDesk(held=True)
    with ModelServer(desk=desk) as server:
        killed(server, ledger, range(4), lambda: desk.batches and desk.batches[0].looks > 1)
        (record,) = ledger.batches.values()
        desk.batches.clear()
        desk.files.clear()
        ledger.batches[record.name] = type(record)(
            record.name, record.address, record.model, 4, record.state, record.since
        )
        desk.held = False
        assert ask(server, range(4), ledger) == [Verdict.FULLY_SUPPORTED] * 4
        assert (desk.uploads, len(desk.batches)) == (2, 1)


def test_answers_that_were_read_are_not_asked_for_again() -> None:
    ledger = MemoryLedger()
    faults = FaultScript({("verdict", 1): Fault.NO_JSON})
    with ModelServer(faults=faults) as server:
        ask(server, range(3), ledger)
        calls = len(server.requests)
        assert ask(server, range(3), ledger) == [Verdict.FULLY_SUPPORTED] * 3
        assert len(server.requests) == calls == 4


def test_a_batch_that_is_cancelled_gives_what_it_has() -> None:
    ledger, desk = MemoryLedger(), BatchDesk(held=True)

    async def cancel(server: ModelServer) -> list[Any]:
        run = opened(server, ledger)
        found = await run.rounds.cancel()
        await run.close()
        return found

    with ModelServer(desk=desk) as server:
        killed(server, ledger, range(4), lambda: desk.batches and desk.batches[0].looks > 1)
        assert len(asyncio.run(cancel(server))) == 1
        desk.batches[0].answered, desk.held = 1, False
        assert ask(server, range(4), ledger) == [Verdict.FULLY_SUPPORTED] * 4
        assert [len(batch.lines) for batch in desk.batches] == [4, 3]


def test_the_budget_is_kept_before_a_round_goes_out() -> None:
    usage = Usage(calls=1, batch_calls=1, input_tokens=20, output_tokens=8_192)
    most = PRICE.with_batch(None).cost(usage)
    meter = Meter()
    with ModelServer() as server:
        found = ask(server, range(9), meter=meter, price=PRICE, budget=most * 3.5)
        assert server.desk is not None
        sizes = [len(batch.lines) for batch in server.desk.batches]
    assert found == [Verdict.FULLY_SUPPORTED] * 9
    assert sizes == [3, 3, 3]
    with ModelServer() as server:
        found = ask(server, range(2), price=PRICE, budget=most / 2)
        assert server.desk is not None
        assert server.desk.batches == []
    assert all(isinstance(one, OverBudget) for one in found)


def test_progress_says_what_waits_where() -> None:
    desk = BatchDesk(held=True)

    async def whole(server: ModelServer) -> Batching:
        run = opened(server)
        work = [asyncio.ensure_future(asked(run, number)) for number in range(3)]
        await asyncio.to_thread(until, lambda: desk.batches and desk.batches[0].looks > 1)
        desk.held = False
        await asyncio.gather(*work)
        await run.close()
        return run

    with ModelServer(desk=desk) as server:
        run = asyncio.run(whole(server))
    states = [(one.batch_id, one.state.value) for found in run.seen for one in found]
    assert states[0] == (None, "planned")
    assert ("batch_0", "in_progress") in states
    assert run.seen[-1] == []


def test_files_stay_where_that_is_wanted() -> None:
    with ModelServer() as server:
        ask(server, range(2), keeps_files=True)
        assert server.desk is not None
        assert len(server.desk.files) == 2

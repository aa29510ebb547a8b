"""`veritrail verify --batch`: the verdicts of single calls, at half the price."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import KEY, asking, expected, outcome, pumps, run_id
from fakes.model_batches import BatchDesk, SentBatch
from fakes.model_faults import Fault, FaultScript
from fakes.model_server import ModelServer
from fakes.waiting import until

pytestmark = pytest.mark.engine

CLAIMS = 4  # of three, a run shows the trails and no other ways to ask
PRICED = ("--price", "1,2", "--json")


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    veritrail("ingest", pumps(tmp_path_factory.mktemp("batches") / "pumps-batches.json", CLAIMS))
    return "pumps-batches"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def quickly(server: ModelServer, **more: str) -> dict[str, str]:
    return asking(server, VERITRAIL_BATCH_POLL="0.05", **more)


def desk_of(server: ModelServer) -> BatchDesk:
    assert server.desk is not None
    return server.desk


def is_waiting(desk: BatchDesk) -> bool:
    """Whether a batch is on its way, and was looked at."""
    return bool(desk.batches and desk.batches[0].looks > 2)


def anew(
    veritrail: Veritrail, process: str, server: ModelServer, *options: str, status: int = 0
) -> Any:
    how = ("--again", "--no-cache", "--batch", *options, *PRICED)
    return veritrail("verify", process, *how, status=status, **quickly(server)).json


def test_batches_give_the_verdicts_of_single_calls_at_half_the_price(
    veritrail: Veritrail, process: str, server: ModelServer
) -> None:
    told = anew(veritrail, process, server)
    assert outcome(told) == expected(CLAIMS)
    sizes = [len(batch.lines) for batch in desk_of(server).batches]
    assert max(sizes) == CLAIMS
    assert sum(sizes) == len(server.requests) == told["usage"]["batch_calls"]
    assert desk_of(server).files == {}
    live = ("--again", "--no-cache", *PRICED)
    single = veritrail("verify", process, *live, **quickly(server)).json
    assert outcome(single) == outcome(told)
    assert single["usage"]["batch_calls"] == 0
    assert told["usage"]["calls"] == single["usage"]["calls"]
    assert told["usage"]["cost_usd"] == pytest.approx(single["usage"]["cost_usd"] / 2)
    tenth = anew(veritrail, process, server, "--batch-price-factor", "0.1")
    assert tenth["usage"]["cost_usd"] == pytest.approx(single["usage"]["cost_usd"] / 10)
    run = ("verify", process, "--again", "--batch", "--price", "1,2")
    first, from_cache = (veritrail(*run, **quickly(server)) for _ in range(2))
    assert "the same calls in other ways" in first.out
    assert "shared prompts of 8, in batches" in first.out
    assert "shared prompts" not in from_cache.out
    assert "Other ways are not compared, as many answers came from the cache" in from_cache.err
    shown = veritrail("show", told["verifications"][0]["verification_id"], "--json").json
    assert shown["usage"]["batch_calls"] == told["verifications"][0]["usage"]["batch_calls"] > 0


def test_a_killed_run_goes_on_with_the_batch_that_is_on_its_way(
    veritrail: Veritrail, process: str, server: ModelServer
) -> None:
    desk = desk_of(server)
    desk.held = True
    how = ("--again", "--no-cache", "--batch")
    started = veritrail.start("verify", process, *how, **quickly(server))
    until(lambda: is_waiting(desk) or started.child.poll() is not None)
    started.child.kill()
    started.child.communicate()
    desk.held = False
    run = run_id(veritrail, process)
    told = veritrail("verify", "--resume", run, "--json", **quickly(server)).json
    assert outcome(told) == expected(CLAIMS)
    assert len(set(desk.sent)) == len(desk.sent)
    assert desk.uploads == len(desk.batches)


def test_an_interrupted_run_leaves_its_batch_and_says_how_to_come_back(
    veritrail: Veritrail, process: str, server: ModelServer
) -> None:
    desk = desk_of(server)
    desk.held = True
    how = ("--again", "--no-cache", "--batch")
    started = veritrail.start("verify", process, *how, **quickly(server))
    until(lambda: is_waiting(desk) or started.child.poll() is not None)
    started.interrupt()
    ended = started.end(130)
    assert "go on at the endpoint" in ended.err
    assert desk.batches[0].status == "in_progress"
    run = run_id(veritrail, process)
    assert f"--resume {run}" in ended.err
    assert ended.err.index(f"Run {run} asks in batches.") < ended.err.index("go on at the endpoint")
    assert KEY not in ended.err
    run_beside = ("verify", process, *how, "--claim-id", "k0")
    desk.held, before = False, len(server.requests)
    beside = veritrail(*run_beside, **quickly(server)).err
    assert f"Run {run} has 1 batch with {CLAIMS} lines at the endpoint" in beside
    others = len(server.requests) - before
    cancelled = veritrail("verify", "--cancel", run[:9], **quickly(server))
    assert "1 batch(es)" in cancelled.err
    assert desk.batches[0].status == "cancelling"
    desk.batches[0].answered, desk.held = 2, False
    told = veritrail("verify", "--resume", run, "--json", **quickly(server)).json
    assert outcome(told) == expected(CLAIMS)
    assert len(server.requests) - others == told["usage"]["calls"]


def test_batches_of_a_run_whose_process_was_replaced_are_named_and_can_be_ended(
    veritrail: Veritrail, server: ModelServer, tmp_path: Path
) -> None:
    file = pumps(tmp_path / "pumps-outdated.json", CLAIMS)
    veritrail("ingest", file)
    desk = desk_of(server)
    desk.held = True
    started = veritrail.start("verify", "pumps-outdated", "--batch", **quickly(server))
    until(lambda: is_waiting(desk) or started.child.poll() is not None)
    started.interrupt()
    started.end(130)
    run = run_id(veritrail, "pumps-outdated")
    veritrail("ingest", pumps(tmp_path / "pumps-outdated.json", CLAIMS, filler=3), "--replace")
    told = veritrail("verify", "--resume", run, status=2, **quickly(server)).err
    assert f"replaced or appended to since run {run} began" in told
    assert f"go on at the endpoint: {desk.batches[0].batch_id}" in told.replace("goes on", "go on")
    assert f"--cancel {run}" in told
    cancelled = veritrail("verify", "--cancel", "@last", **quickly(server))
    assert desk.batches[0].status == "cancelling"
    assert "the run cannot go on" in cancelled.err
    assert "--resume" not in cancelled.err
    assert "--cancel" not in veritrail("verify", "--resume", run, status=2, **quickly(server)).err


@pytest.mark.parametrize("finish", ["wait", "live"])
def test_lines_that_come_back_invalid_or_not_at_all_are_asked_again(
    veritrail: Veritrail, process: str, finish: str
) -> None:
    def plan(batch: SentBatch) -> None:
        if batch.number == 1:
            batch.end, batch.answered = "expired", 1

    faults = FaultScript({("evidence_selection", 0): Fault.NO_JSON})
    with ModelServer(desk=BatchDesk(plan), faults=faults) as server:
        told = anew(veritrail, process, server, "--batch-finish", finish)
        is_live = [one for one in server.requests if not one.in_batch]
    assert outcome(told) == expected(CLAIMS)
    assert bool(is_live) is (finish == "live")
    early = "Batch batch_1 expired with 1 of"
    assert [one for one in told["warnings"] if one.startswith(early)]
    assert told["usage"]["batch_calls"] == told["usage"]["calls"] - len(is_live)


def test_what_makes_no_batches_is_refused(
    veritrail: Veritrail, process: str, server: ModelServer
) -> None:
    lexical = veritrail(
        "verify", process, "--batch", "--engine", "lexical", "--json", status=2
    ).message
    assert "engine that asks a model" in lexical
    server.desk = None
    told = anew(veritrail, process, server, status=3)
    assert "takes no batches" in told["error"]["message"]
    assert {one["status"] for one in told["verifications"]} <= {"cancelled", "failed"}
    how = ("--again", "--no-cache", "--batch")
    ended = veritrail("verify", process, *how, status=3, **quickly(server))
    assert "without --batch" in ended.err
    assert "--resume" not in ended.err
    single = veritrail("verify", process, "--json", **quickly(server)).json
    assert outcome(single) == expected(CLAIMS)


def test_an_estimate_counts_batches_at_their_price(veritrail: Veritrail, process: str) -> None:
    how = ("estimate", process, "--model", "scripted", "--price", "1,2", "--json")
    live = veritrail(*how).json["likely"]
    batch = veritrail(*how, "--batch").json["likely"]
    assert batch["calls"] == batch["batch_calls"] == live["calls"]
    assert batch["cost_usd"] == pytest.approx(live["cost_usd"] / 2)


def test_a_budget_is_kept_before_a_round_goes_out(
    veritrail: Veritrail, process: str, server: ModelServer
) -> None:
    told = anew(veritrail, process, server, "--budget", "0.000001", status=1)
    assert {one["status"] for one in told["verifications"]} == {"over_budget"}
    assert desk_of(server).batches == []
    whole = anew(veritrail, process, server, "--budget", "0.05")
    assert outcome(whole) == expected(CLAIMS)
    assert whole["usage"]["cost_usd"] <= 0.05

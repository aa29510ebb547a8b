"""Runs that are killed, stopped, repeated or made twice at once: nothing is lost or paid twice."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import (
    asking,
    expected,
    kill_when,
    outcome,
    paid_twice,
    pumps,
    run_id,
    statuses,
)
from fakes.model_faults import Fault, StepCall, always
from fakes.model_server import ModelServer
from fakes.waiting import until

pytestmark = pytest.mark.engine

CLAIMS = 24
AT_ONCE = 4
SLOWLY = ("--concurrency", str(AT_ONCE), "--json")
LATENCY = 0.05


def a_process(veritrail: Veritrail, folder: Path, name: str, claims: int = CLAIMS) -> str:
    veritrail("ingest", pumps(folder / f"{name}.json", claims))
    return name


def ids(told: Any) -> list[str]:
    return [found["verification_id"] for found in told["verifications"]]


def counted(veritrail: Veritrail, process: str) -> Counter[str]:
    return Counter(statuses(veritrail, process).values())


@pytest.mark.parametrize(
    ("claims", "kills"),
    [
        # A claim of a pump whose number begins with 1 is quick: the others are not finished.
        pytest.param(12, [("verdict", 17)], id="once"),
        pytest.param(
            24, [(None, 40), ("verdict", 37)], id="again-and-again", marks=pytest.mark.soak
        ),
    ],
)
def test_a_run_that_is_killed_goes_on_and_pays_for_nothing_twice(
    veritrail: Veritrail, tmp_path: Path, claims: int, kills: list[tuple[str | None, int]]
) -> None:
    process = a_process(veritrail, tmp_path, f"pumps-killed-{len(kills)}", claims)
    killed: list[float] = []
    with ModelServer(latency=lambda one: 0.02 if "Claim: Pump1" in one.user else 0.5) as server:
        settings = asking(server)
        begin: Sequence[str] = ("verify", process)
        finished: dict[str, str] = {}
        all_at_once = ("--concurrency", "32", "--json")
        for step, calls in kills:
            kill_when(veritrail.start(*begin, *all_at_once, **settings), server, calls, step)
            killed.append(time.monotonic())
            begin = ("verify", "--resume", run_id(veritrail, process))
            now = statuses(veritrail, process)
            assert len(now) == claims  # queued ones included: none is forgotten
            assert set(now.values()) <= {"succeeded", "queued", "running"}
            assert all(now[one] == "succeeded" for one in finished)
            finished = {one: state for one, state in now.items() if state == "succeeded"}
        assert 0 < len(finished) < claims
        before = {one: veritrail("show", one, "--json").json for one in list(finished)[:3]}
        told = veritrail(*begin, *all_at_once, **settings).json
    assert outcome(told) == expected(claims)
    assert Counter(statuses(veritrail, process).values()) == {"succeeded": claims}
    # A kill between the graph and the jobs' database leaves a claim to do again, from the cache.
    assert 0 < told["reused"] <= len(finished)
    after = {found["verification_id"]: found for found in told["verifications"]}
    assert {one: after[one] for one in before} == before
    twice = paid_twice(server, killed)
    assert twice == [], twice
    assert len(server.requests) <= 19 * claims // 3 + 32 * len(killed)


@pytest.mark.soak
def test_ctrl_c_stops_a_run_that_can_be_resumed(veritrail: Veritrail, tmp_path: Path) -> None:
    process = a_process(veritrail, tmp_path, "pumps-stopped")
    with ModelServer(latency=LATENCY) as server:
        settings = asking(server)
        started = veritrail.start("verify", process, *SLOWLY, **settings)
        until(lambda: len(server.requests) > 60)
        started.interrupt()
        stopped = started.end(130)
        run = stopped.json["run_id"]
        assert f"--resume {run}" in stopped.err
        assert len(stopped.json["verifications"]) == CLAIMS
        found = Counter(one["status"] for one in stopped.json["verifications"])
        assert found["cancelled"] > 0
        assert counted(veritrail, process) == found
        told = veritrail("verify", "--resume", run, "--json", **settings).json
        assert (told["run_id"], told["reused"]) == (run, found["succeeded"])
        assert outcome(told) == expected(CLAIMS)
        sent = Counter((one.step, one.user) for one in server.requests)
        assert sum(count - 1 for count in sent.values()) <= AT_ONCE
        made = len(server.requests)
        whole = veritrail("verify", "--resume", run, "--json", **settings).json
        assert whole == {**told, "reused": CLAIMS}
        assert len(server.requests) == made


def test_a_resumed_run_is_set_as_it_was(veritrail: Veritrail, tmp_path: Path) -> None:
    process = a_process(veritrail, tmp_path, "pumps-as-it-was", 3)
    with ModelServer() as server, ModelServer() as another:
        soft = ("--q", "2", "--samples", "3", "--max-sentences", "5", "--max-calls", "15")
        stopped = veritrail("verify", process, *soft, "--json", status=1, **asking(server)).json
        run = stopped["run_id"]
        go_on = ("verify", "--resume", run, "--max-calls", "1000", "--json")
        moved = veritrail(*go_on, status=2, **asking(another))
        assert "other settings" in moved.message
        assert another.requests == []
        told = veritrail(*go_on, **asking(server)).json
        assert {one["q"] for one in told["verifications"]} == {2}
        assert {one["settings"]["samples"]["count"] for one in told["verifications"]} == {3}
        assert {one["settings"]["limits"]["other_sentences"] for one in told["verifications"]} == {
            5
        }
        assert {found[0] for found in outcome(told).values()} == {
            "FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED",
        }  # fmt: skip
        foreign = veritrail("verify", "other", "--resume", run, "--json", status=2)
        assert process in foreign.message
    veritrail("ingest", pumps(tmp_path / "pumps-as-it-was.json", 4), "--replace")
    replaced = veritrail(*go_on, status=2, **asking(server))
    assert run in replaced.message


def test_claims_without_a_verdict_are_tried_again_on_request(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = a_process(veritrail, tmp_path, "pumps-retried", 3)

    def some(asked: StepCall) -> Fault | None:
        return Fault.STATUS_500 if "Claim: Pump1 " in asked.user else None

    with ModelServer(faults=some) as server:
        settings = asking(server, VERITRAIL_CALL_DEADLINE="1")
        first = veritrail("verify", process, "--json", status=1, **settings).json
        failed = [one["claim_id"] for one in first["verifications"] if one["status"] == "failed"]
        assert failed == ["k1"]
        again = veritrail("verify", process, "--retry-failed", "--json", status=1, **settings).json
        assert [one["claim_id"] for one in again["verifications"]] == ["k1"]
        server.faults = None
        left = veritrail("verify", process, "--unfinished", "--json", **settings).json
        assert [one["claim_id"] for one in left["verifications"]] == ["k1"]
        for option in ("--unfinished", "--retry-failed"):
            none = veritrail("verify", process, option, "--json", **settings)
            assert none.json["verifications"] == []
        told = veritrail("verify", process, "--json", **settings).json
        assert (told["reused"], outcome(told)) == (3, expected(3))


def test_the_same_settings_give_the_stored_trail_and_others_another(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = a_process(veritrail, tmp_path, "pumps-repeated", 3)
    with ModelServer() as server:
        settings = asking(server)
        first = veritrail("verify", process, "--json", **settings).json
        made = len(server.requests)
        same = veritrail("verify", process, "--json", **settings).json
        assert (same["reused"], same["verifications"]) == (3, first["verifications"])
        again = veritrail("verify", process, "--again", "--json", **settings).json
        assert again["reused"] == 0
        assert not set(ids(again)) & set(ids(first))
        assert outcome(again) == outcome(first)
        assert len(server.requests) == made  # from the cache
        other = veritrail("verify", process, "--q", "1", "--json", **settings).json
        assert other["reused"] == 0
        assert len(statuses(veritrail, process)) == 9
        # With q = 1 the claim that is wrong in the final text ends one iteration earlier.
        pair = (ids(first)[1], ids(other)[1])
        told = veritrail("diff", *pair, "--json").json
        assert told != veritrail("diff", pair[0], ids(again)[1], "--json").json
        assert "q" in veritrail("diff", *pair).out


@pytest.mark.soak
def test_two_runs_at_once_over_the_same_claims_both_end_well(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = a_process(veritrail, tmp_path, "pumps-twice", 12)
    with ModelServer(latency=0.4) as server:
        both = [veritrail.start("verify", process, "--json", **asking(server)) for _ in range(2)]
        told = [started.end(0).json for started in both]
        assert [outcome(one) for one in told] == [expected(12)] * 2
        assert not set(ids(told[0])) & set(ids(told[1]))
        assert counted(veritrail, process) == {"succeeded": 24}
        for one in told:
            shown = veritrail("show", ids(one)[0], "--json").json
            assert shown == one["verifications"][0]
        made = len(server.requests)
        third = veritrail("verify", process, "--again", "--json", **asking(server)).json
        assert len(server.requests) == made
        assert third["usage"]["calls"] == 0
    with closing(sqlite3.connect(veritrail.home / "cache" / "answers.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.soak
def test_a_killed_run_that_found_every_call_failing_loses_nothing(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = a_process(veritrail, tmp_path, "pumps-down", 6)
    with ModelServer(faults=always(Fault.STATUS_503)) as server:
        kill_when(veritrail.start("verify", process, *SLOWLY, **asking(server)), server, 8)
        run = run_id(veritrail, process)
        assert counted(veritrail, process) == {"queued": 6}
        asked = ("query", "unfinished_verifications", "--param", f"process_id={process}", "--json")
        waiting = veritrail(*asked).json
        status, name = (waiting["columns"].index(one) for one in ("status", "verification_id"))
        assert [row[status] for row in waiting["rows"]] == ["queued"] * 6
        shown = veritrail("show", waiting["rows"][0][name], "--json").json
        assert (shown["status"], shown["run_id"], shown["iterations"]) == ("queued", run, [])
        server.faults = None
        told = veritrail("verify", "--resume", run, "--json", **asking(server)).json
    assert outcome(told) == expected(6)


@pytest.mark.soak
def test_a_killed_run_whose_process_was_deleted_is_verified_anew(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = a_process(veritrail, tmp_path, "pumps-deleted", 6)
    with ModelServer(latency=lambda one: 60.0 if "Claim: Pump5" in one.user else 0.0) as server:
        started = veritrail.start("verify", process, *SLOWLY, **asking(server))
        until(lambda: counted(veritrail, process)["succeeded"] > 0)
        started.child.kill()
        started.child.communicate()
        run, before = run_id(veritrail, process), statuses(veritrail, process)
        ended = next(one for one, status in before.items() if status == "succeeded")
        veritrail("delete", process, "--yes")
        veritrail("ingest", tmp_path / f"{process}.json")
        for one in before:  # its job, which has ended, does not stand for it
            veritrail("show", one, "--json", status=2)
        assert counted(veritrail, process) == {}
        server.latency = 0.0
        told = veritrail("verify", "--resume", run, "--json", **asking(server)).json
    assert outcome(told) == expected(6)
    assert told["reused"] == 0
    assert statuses(veritrail, process) == dict.fromkeys(before, "succeeded")
    assert veritrail("show", ended, "--json").json["verdict"]


def test_a_key_that_is_revoked_in_the_middle_stops_the_run_and_a_new_one_goes_on(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = a_process(veritrail, tmp_path, "pumps-revoked", 6)
    with ModelServer(latency=LATENCY) as server:
        started = veritrail.start("verify", process, *SLOWLY, **asking(server))
        until(lambda: len(server.requests) > 20)
        server.key = "another"
        stopped = started.end(3)
        assert stopped.err.count("the key is not accepted") == 1
        run = stopped.json["run_id"]
        assert f"--resume {run}" in stopped.err
        settings = {**asking(server), "OPENAI_API_KEY": "another"}
        told = veritrail("verify", "--resume", run, "--json", **settings).json
        assert outcome(told) == expected(6)
        assert len(paid_twice(server, [])) <= AT_ONCE  # whose answers were on their way


def test_a_run_that_still_goes_on_is_not_resumed_beside_itself(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = a_process(veritrail, tmp_path, "pumps-beside", 5)
    with ModelServer(latency=0.4) as server:
        started = veritrail.start("verify", process, *SLOWLY, **asking(server))
        until(lambda: len(server.requests) > 4)
        run = run_id(veritrail, process)
        told = veritrail("verify", "--resume", run, "--json", status=2, **asking(server))
        assert "on its way in another command" in told.message
        assert outcome(started.end(0).json) == expected(5)
        again = veritrail("verify", "--resume", run, "--json", **asking(server)).json
    assert outcome(again) == expected(5)
    assert counted(veritrail, process) == {"succeeded": 5}


def test_a_run_that_used_up_its_budget_goes_on_with_a_new_one_only(
    veritrail: Veritrail, tmp_path: Path
) -> None:
    process = a_process(veritrail, tmp_path, "pumps-spent", 12)
    with ModelServer() as server:
        limits = ("--max-calls", "40", "--price", "1,1")
        stopped = veritrail("verify", process, *limits, "--json", status=1, **asking(server))
        run = stopped.json["run_id"]
        assert "with a new --budget or --max-calls" in stopped.err
        done = [v for v in stopped.json["verifications"] if v["status"] == "succeeded"]
        assert done  # few are finished rather than many begun
        told = veritrail("verify", "--resume", run, "--json", status=2, **asking(server))
        assert "--max-calls" in told.message
        assert len(server.requests) == 40
        more = ("--max-calls", "1000", "--json")
        rest = veritrail("verify", "--resume", run, *more, **asking(server)).json
    assert outcome(rest) == expected(12)
    assert rest["usage"]["cost_usd"] > 0  # at the price of the run


def test_a_resumed_run_takes_no_other_settings(veritrail: Veritrail) -> None:
    run = "r-" + "0" * 32
    for option in (["--q", "1"], ["--samples", "3"], ["--model", "m"], ["--again"]):
        told = veritrail("verify", "--resume", run, *option, "--json", status=2)
        assert "--resume" in told.message

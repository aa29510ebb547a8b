"""What a run may cost and what it cost: budgets, prices, the cache of answers, secrets."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from acceptance.command import Veritrail
from acceptance.model_fixtures import (
    KEY,
    MODEL,
    asking,
    expected,
    outcome,
    pumps,
    statuses,
)
from fakes.model_replies import tokens
from fakes.model_server import ModelServer, Received
from fakes.waiting import until

pytestmark = pytest.mark.engine

CLAIMS = 15
AT_ONCE = 4
PRICE = (1.0, 2.0)
LONGEST_ANSWER = 250  # tokens; those of the scripted server are shorter


@pytest.fixture(scope="module")
def process(veritrail: Veritrail, tmp_path_factory: pytest.TempPathFactory) -> str:
    veritrail("ingest", pumps(tmp_path_factory.mktemp("money") / "pumps-money.json", CLAIMS))
    return "pumps-money"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(latency=0.02) as server:
        yield server


def input_of(received: Received) -> int:
    return tokens(f"{received.system}\n{received.user}")


def cost(usage: Any) -> float:
    """What a usage costs at PRICE, with nothing cached by the endpoint."""
    total: float = usage["input_tokens"] * PRICE[0] + usage["output_tokens"] * PRICE[1]
    return total / 1_000_000


def test_a_budget_stops_new_calls_and_the_rest_is_over_budget(
    veritrail: Veritrail, process: str, server: ModelServer
) -> None:
    budget = 0.02
    limits = ("--budget", str(budget), "--price", "1,2", "--concurrency", str(AT_ONCE))
    ended = veritrail("verify", process, *limits, "--json", status=1, **asking(server))
    told = ended.json
    usage = told["usage"]
    assert usage["calls"] == len(server.requests)
    assert usage["input_tokens"] == sum(input_of(one) for one in server.requests)
    assert usage["cost_usd"] == pytest.approx(cost(usage))
    most = max(input_of(one) for one in server.requests) * PRICE[0] + LONGEST_ANSWER * PRICE[1]
    assert budget <= usage["cost_usd"] <= budget + AT_ONCE * most / 1_000_000
    found = [one["status"] for one in told["verifications"]]
    assert "over_budget" in found
    assert set(found) <= {"succeeded", "over_budget"}
    assert len(found) == CLAIMS
    left = [one for one in told["verifications"] if one["status"] == "over_budget"]
    assert all("budget of 0.02 USD is used up" in one["error"] for one in left)
    kept = statuses(veritrail, process)
    assert [kept[one["verification_id"]] for one in told["verifications"]] == found
    # With more money the run goes on, and what was paid for is not paid for again.
    before = len(server.requests)
    more = ("--resume", told["run_id"], "--budget", "1", "--price", "1,2")
    whole = veritrail("verify", *more, "--json", **asking(server)).json
    assert outcome(whole) == expected(CLAIMS)
    sent = [(one.step, one.user) for one in server.requests]
    assert len(set(sent)) == len(sent)
    assert before < len(sent)


def test_a_number_of_calls_is_never_passed(
    veritrail: Veritrail, process: str, server: ModelServer
) -> None:
    ended = veritrail("verify", process, "--max-calls", "20", "--json", status=1, **asking(server))
    assert len(server.requests) == 20
    assert ended.json["usage"]["calls"] == 20
    left = [one for one in ended.json["verifications"] if one["status"] == "over_budget"]
    assert left
    assert all("may make 20 calls" in one["error"] for one in left)
    retried = veritrail("verify", process, "--max-calls", "0", "--json", status=1, **asking(server))
    assert len(server.requests) == 20
    assert {one["status"] for one in retried.json["verifications"]} <= {"succeeded", "over_budget"}


def test_an_unknown_price_is_unknown_and_a_table_makes_it_known(
    veritrail: Veritrail, process: str, server: ModelServer, tmp_path: Path
) -> None:
    some = ("--claim-id", "k0", "--claim-id", "k1", "--again", "--no-cache")
    told = veritrail("verify", process, *some, "--json", **asking(server)).json
    assert told["usage"]["cost_usd"] is None
    assert told["cost"]["usd"] is None
    assert all(one["usage"]["cost_usd"] is None for one in told["verifications"])
    shown = veritrail("verify", process, *some, **asking(server))
    assert "unknown" in shown.out
    assert "$" not in shown.out
    table = tmp_path / "prices.json"
    table.write_text(json.dumps({MODEL: {"input": 1, "output": 2}}), encoding="utf-8")
    own = asking(server, VERITRAIL_PRICES=str(table))
    known = veritrail("verify", process, *some, "--budget", "1", "--json", **own).json
    assert known["usage"]["cost_usd"] == pytest.approx(cost(known["usage"]))
    assert known["cost"]["usd_per_claim"] == pytest.approx(known["cost"]["usd"] / 2)
    each = [one["usage"]["cost_usd"] for one in known["verifications"]]
    assert sum(each) == pytest.approx(known["usage"]["cost_usd"])
    table.write_text(json.dumps({MODEL: {"input": "1"}}), encoding="utf-8")
    wrong = veritrail("verify", process, *some, "--json", status=2, **own)
    assert str(table) in wrong.message


def test_tokens_that_the_endpoint_had_cached_cost_less(veritrail: Veritrail, process: str) -> None:
    chosen = [part for number in range(4) for part in ("--claim-id", f"k{number}")]
    some = (*chosen, "--again", "--no-cache", "--price", "1,2,0.1", "--json")
    with ModelServer(caches_prefixes=True) as server:
        usage = veritrail("verify", process, *some, **asking(server)).json["usage"]
    cached = usage["cached_input_tokens"]
    assert cached == sum(one.cached for one in server.requests) > 0
    fresh = usage["input_tokens"] - cached
    paid = (fresh * 1 + cached * 0.1 + usage["output_tokens"] * 2) / 1_000_000
    assert usage["cost_usd"] == pytest.approx(paid)


def kept_files(veritrail: Veritrail) -> dict[Path, bytes]:
    """What lies in its home, and in that of its engine, which it shares."""
    found = {}
    for place in (veritrail.home, (veritrail.home / "engine").resolve()):
        for path in place.rglob("*"):
            with suppress(FileNotFoundError):  # the engine ends a log at any moment
                if path.is_file():
                    found[path] = path.read_bytes()
    return found


def test_answers_of_earlier_runs_cost_nothing_until_the_cache_is_cleared(
    beside: Veritrail, server: ModelServer, tmp_path: Path
) -> None:
    beside("ingest", pumps(tmp_path / "pumps-cached.json", 6))
    assert beside("cache", "stats", "--json").json["answers"] == 0
    priced = ("verify", "pumps-cached", "--again", "--price", "1,2", "--json")
    first = beside(*priced, **asking(server)).json
    made = len(server.requests)
    again = beside(*priced, **asking(server)).json
    assert len(server.requests) == made
    assert outcome(again) == outcome(first) == expected(6)
    assert (again["usage"]["calls"], again["usage"]["cost_usd"]) == (0, 0)
    assert again["usage"]["cached_calls"] == first["usage"]["calls"]
    stats = beside("cache", "stats", "--json").json
    assert stats["answers"] == made
    assert {row["model"] for row in stats["by_step_and_model"]} == {MODEL}
    # Another temperature is another answer; --no-cache neither reads nor fills.
    one = (*priced, "--claim-id", "k0")
    warmer = asking(server, VERITRAIL_TEMPERATURE="0.5")
    assert beside(*one, **warmer).json["usage"]["calls"] == len(server.requests) - made > 0
    held = beside("cache", "stats", "--json").json["answers"]
    assert beside(*one, "--no-cache", **asking(server)).json["usage"]["cached_calls"] == 0
    assert beside("cache", "clear", "--json").json == {"removed": held}
    assert "0 answer(s)" in beside("cache", "stats").err
    # The key is in nothing that was kept, neither in the cache nor in the graph.
    engine = (beside.home / "engine").resolve()

    def is_in_the_graph() -> bool:
        found = kept_files(beside)
        return any(b"Pump4 delivered" in found[one] for one in found if engine in one.parents)

    until(is_in_the_graph)
    contents = kept_files(beside)
    assert any(MODEL.encode() in content for content in contents.values())
    assert [path for path, content in contents.items() if KEY.encode() in content] == []
    with closing(sqlite3.connect(beside.home / "cache" / "answers.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_cache_that_cannot_be_used_is_told_and_the_run_goes_on(
    beside: Veritrail, server: ModelServer, tmp_path: Path
) -> None:
    beside("ingest", pumps(tmp_path / "pumps-broken.json", 3))
    cache = beside.home / "cache" / "answers.sqlite"
    cache.parent.mkdir()
    cache.write_bytes(b"This is no database." * 100)
    ended = beside("verify", "pumps-broken", **asking(server))
    assert ended.err.count("answers are not kept") == 1
    told = beside("verify", "pumps-broken", "--json", **asking(server)).json
    assert outcome(told) == expected(3)
    assert str(cache) in beside("cache", "stats", "--json", status=2).message

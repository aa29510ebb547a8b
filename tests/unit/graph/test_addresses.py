"""Traces from the addresses of tools, on servers that follow their API descriptions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest
from fakes.tool_server import (
    SECRET,
    TOKEN,
    LangfuseServer,
    LangSmithServer,
    MlflowServer,
    PhoenixServer,
    Reply,
    ToolServer,
)

from veritrail_graph.api.app.addresses import traces_at
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.addresses.address import read_address
from veritrail_graph.graph.importers.addresses.connection import Bounds
from veritrail_graph.graph.importers.addresses.tool import open_tool
from veritrail_graph.graph.importers.registry import open_input

TASKS = Path(__file__).resolve().parents[3] / "examples" / "tasks"
QUICK = Bounds(attempt=2.0, seconds=3.0, attempts=3, pause=0.001)


def _langfuse_traces() -> dict[str, Any]:
    (trace,) = {one["traceId"] for one in json.loads((TASKS / "langfuse.json").read_text())["data"]}
    observations = json.loads((TASKS / "langfuse.json").read_text())["data"]
    open_child = {**observations[1], "id": "c1", "endTime": None}
    running = {**observations[0], "id": "r1", "endTime": None}
    return {
        trace: {"trace": {"id": trace}, "observations": observations},
        "running": {"trace": {"id": "running"}, "observations": [running]},
        "second": {"trace": {"id": "second"}, "observations": [open_child, *observations]},
    }


def _fetch(
    address: str,
    folder: Path,
    environ: dict[str, str],
    stored: Collection[str] = (),
    bounds: Bounds = QUICK,
    most: int | None = None,
) -> tuple[dict[str, Path | None], list[str]]:
    async def known(names: Sequence[str]) -> set[str]:
        return {*names} & {*stored}

    async def read() -> dict[str, Path | None]:
        return {name: path async for name, path in traces.parts(known, most)}

    traces = traces_at(address, folder)
    traces.environ, traces.bounds = environ, bounds
    return asyncio.run(read()), traces.warnings


def _said(path: Path) -> tuple[str | None, list[tuple[str, str]]]:
    source = open_input(path)
    records = [one for one in source.records() if hasattr(one, "text")]
    return source.header.process_id, [(one.node_id, one.text) for one in records]


@pytest.mark.parametrize("is_old", [False, True])
def test_traces_of_langfuse_are_those_of_its_file_page_by_page_and_none_that_runs(
    tmp_path: Path, is_old: bool
) -> None:
    with LangfuseServer(_langfuse_traces(), is_old=is_old) as server:
        found, warnings = _fetch("langfuse://shop?since=1d", tmp_path, server.environ)
    path = found["solvik-crane"]
    assert path is not None
    assert _said(path) == _said(TASKS / "langfuse.json")
    if not is_old:  # version 3 lists no ends
        assert [*found] == ["solvik-crane", "second"]
        assert warnings == ["langfuse://shop: 1 trace not ended yet and left out."]
        first = next(one for one in server.asked if "fromStartTime" in one.query)
        assert first.query["fromStartTime"][0].endswith("Z")


def test_traces_of_mlflow_are_those_of_its_file(tmp_path: Path) -> None:
    trace = json.loads((TASKS / "mlflow.json").read_text())
    with MlflowServer({"tr-solvik": trace}) as server:
        found, _ = _fetch("mlflow://harbour?since=90m", tmp_path, server.environ)
        with pytest.raises(InputError, match="there is no experiment 'quay'"):
            _fetch("mlflow://quay", tmp_path, server.environ)
    path = found["tr-solvik"]
    assert path is not None
    assert _said(path) == _said(TASKS / "mlflow.json")
    searched = next(one for one in server.asked if one.path.endswith("search"))
    assert searched.body["filter"].startswith("timestamp_ms >= ")


def test_traces_of_phoenix_are_those_of_its_file(tmp_path: Path) -> None:
    file = TASKS / "phoenix.json"
    with PhoenixServer(json.loads(file.read_text())) as server:
        found, _ = _fetch("phoenix://quay?since=1d", tmp_path, server.environ)
        with pytest.raises(InputError, match="there is no such project, or the server is older"):
            _fetch("phoenix://shop", tmp_path, server.environ)
        document = {"data": [{"span_id": "1"}]}
        assert _write_back("phoenix://quay", server.environ, document) == 1
        assert server.annotations == document["data"]
    ((name, path),) = found.items()
    assert path is not None
    assert _said(path) == _said(file)
    assert _said(path)[0] == name


@pytest.mark.parametrize("is_old", [False, True])
def test_traces_of_langsmith_are_those_of_its_file(tmp_path: Path, is_old: bool) -> None:
    file = TASKS / "langsmith.jsonl"
    runs = [json.loads(line) for line in file.read_text().splitlines()]
    with LangSmithServer(runs, is_old=is_old) as server:
        found, _ = _fetch("langsmith://quay", tmp_path, server.environ)
        with pytest.raises(InputError, match="there is no project 'shop'"):
            _fetch("langsmith://shop", tmp_path, server.environ)
    ((name, path),) = found.items()
    assert path is not None
    assert _said(path) == _said(file)
    assert _said(path)[0] == name


def test_what_is_stored_is_not_fetched_and_what_is_named_is_not_listed(tmp_path: Path) -> None:
    with LangfuseServer(_langfuse_traces()) as server:
        found, _ = _fetch("langfuse://shop", tmp_path, server.environ, ["solvik-crane"])
        assert (found["solvik-crane"], [*found]) == (None, ["solvik-crane", "second"])
        assert not any(one.query.get("traceId") == ["solvik-crane"] for one in server.asked)
        server.asked.clear()
        named, warnings = _fetch("langfuse://shop?id=second&id=gone", tmp_path, server.environ)
        assert [*named] == ["second"]
        assert warnings == [
            "langfuse://shop: left out 1 trace that it does not hand out whole: 'gone'."
        ]
        assert not any("isRootObservation" in one.query for one in server.asked)
        limited, _ = _fetch("langfuse://shop", tmp_path, server.environ, most=1)
        assert [*limited] == ["solvik-crane"]
        server.filters = False  # the rest of what a server without the filter lists
        assert [*_fetch("langfuse://shop", tmp_path, server.environ)[0]] == [
            "solvik-crane",
            "second",
        ]


def test_limits_faults_and_torn_answers_are_waited_for_and_tried_again(tmp_path: Path) -> None:
    with LangfuseServer(_langfuse_traces()) as server:
        server.first += [
            Reply(429, {"message": "Rate limit"}, {"Retry-After": "0"}),
            Reply(500, b"<html>"),
        ]
        found, _ = _fetch("langfuse://shop?id=second", tmp_path, server.environ)
        assert [*found] == ["second"]
        server.first.append(Reply(200, {"data": []}, torn=True))
        assert [*_fetch("langfuse://shop?id=second", tmp_path, server.environ)[0]] == ["second"]
        server.first.append(Reply(429, {}, {"Retry-After": "86400"}))
        with pytest.raises(InputError, match="asks to wait 86,400 s, longer than is left"):
            _fetch("langfuse://shop", tmp_path, server.environ)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(401, {"message": SECRET}), "refuses the key .HTTP 401"),
        (Reply(400, {"message": f"bad {SECRET}\x1b[2J"}), r"HTTP 400: 'bad …\\x1b"),
        (Reply(302, {}, {"Location": "http://elsewhere.test/x"}), "redirects to 'elsewhere.test'"),
        (Reply(307, {}, {"Location": "http://[bad"}), "redirects to elsewhere"),
        (Reply(200, b"<html>sign in</html>"), "the answer is no JSON"),
        (Reply(200, b"[" * 200_000), "the answer is no JSON"),
        (Reply(200, b'"' + b"x" * 50_000 + b'"'), "longer than 40,000 bytes"),
        (Reply(200, {"data": {"id": 1}}), "holds no list 'data'"),
        (Reply(200, {"data": [{"id": "other", "name": "sales"}]}), "are those of 'sales'"),
    ],
)
def test_what_a_tool_answers_amiss_is_an_error_without_the_key(
    tmp_path: Path, reply: Reply, words: str
) -> None:
    bounds = Bounds(answer=40_000 if b"x" in bytes(str(reply.body), "ascii", "replace") else 10**6)
    with LangfuseServer(_langfuse_traces()) as server, ToolServer(lambda _: Reply()) as other:
        server.first.append(reply)
        with pytest.raises(InputError, match=words) as error:
            _fetch("langfuse://shop", tmp_path, server.environ, bounds=bounds)
    assert SECRET not in str(error.value)
    assert other.asked == []


def test_a_trace_that_is_too_long_is_left_out_and_named(tmp_path: Path) -> None:
    traces = _langfuse_traces()
    traces["second"]["observations"] = traces["second"]["observations"] * 30
    with LangfuseServer(traces) as server:
        bounds = Bounds(together=20_000)
        found, warnings = _fetch("langfuse://shop", tmp_path, server.environ, bounds=bounds)
    assert [*found] == ["solvik-crane"]
    assert "trace 'second': Langfuse at 127.0.0.1" in warnings[0]
    assert "longer than 20,000 bytes" in warnings[0]


def test_a_cursor_that_leads_back_ends_the_reading(tmp_path: Path) -> None:
    page = {"data": [], "meta": {"cursor": "again"}}
    with LangfuseServer({}) as server:
        server.first += [Reply(200, {"data": [{"id": "shop"}]}), *[Reply(200, page)] * 3]
        with pytest.raises(InputError, match="leads back to a page"):
            _fetch("langfuse://shop", tmp_path, server.environ)


@pytest.mark.parametrize(
    ("address", "environ", "words"),
    [
        ("langfuse://shop", {}, "set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"),
        ("mlflow://7", {}, "set MLFLOW_TRACKING_URI"),
        ("mlflow://", {}, "names no project"),
        ("mlflow://me:secret-word@host/7", {}, "holds a login"),
        ("langfuse://shop?since=soon", {}, "since='soon' is no time"),
        ("langfuse://shop?from=1d", {}, "'from' is not read in an address"),
        ("mlflow://7", {"MLFLOW_TRACKING_URI": "http://é..test"}, "URI is no address"),
        ("mlflow://7", {"MLFLOW_TRACKING_URI": "http://a:secret-word@b"}, "holds a login"),
        (
            "mlflow://7",
            {"MLFLOW_TRACKING_URI": "https://b", "MLFLOW_TRACKING_TOKEN": "secret-word\n x"},
            "holds signs",
        ),
    ],
)
def test_an_address_or_environment_that_cannot_be_is_refused(
    tmp_path: Path, address: str, environ: dict[str, str], words: str
) -> None:
    with pytest.raises(InputError, match=words) as error:
        _fetch(address, tmp_path, environ)
    assert "secret-word" not in str(error.value)


def _write_back(address: str, environ: dict[str, str], document: Any) -> int:
    async def write() -> int:
        connection, tool = open_tool(read_address(address, float), environ, QUICK)
        async with connection:
            return await tool.write_back(json.dumps(document).encode())

    return asyncio.run(write())


@pytest.mark.parametrize("is_old", [False, True])
def test_scores_are_written_to_langfuse_as_its_version_takes_them(is_old: bool) -> None:
    events = [
        {"id": f"e{n}", "timestamp": f"2026-11-2{n}T00:00:00Z", "body": {"id": f"s{n}", "value": n}}
        for n in (1, 2)
    ]
    with LangfuseServer({}, is_old=is_old) as server:
        assert _write_back("langfuse://shop", server.environ, {"batch": events}) == 2
        assert [(one["id"], one["timestamp"]) for one in server.scores] == [
            ("s1", "2026-11-21T00:00:00Z"),
            ("s2", "2026-11-22T00:00:00Z"),
        ]
        server.first += [
            Reply(200, {"data": [{"name": "shop"}]}),
            Reply(207, {"accepted": 1, "rejected": 1, "errors": []}),
        ]
        with pytest.raises(InputError, match="1 of 2 scores were refused"):
            _write_back("langfuse://shop", server.environ, {"batch": events})
        with pytest.raises(InputError, match="are those of 'shop'"):
            _write_back("langfuse://other", server.environ, {"batch": events})


def test_an_assessment_is_written_to_mlflow_once_and_never_sent_twice() -> None:
    assessment = {
        "assessment_name": "veritrail.verdict",
        "metadata": {"veritrail.verification_id": "v-1"},
    }
    document = {"trace_id": "tr-1", "assessments": [assessment]}
    with MlflowServer({"tr-1": {"info": {}}}) as server:
        trace = Reply(200, {"trace": {"trace_info": {}}})
        server.first += [trace, Reply(502, {})]
        with pytest.raises(InputError, match="may have been written all the same"):
            _write_back("mlflow://7", server.environ, document)
        server.first += [trace, Reply(503, {}, {"Retry-After": "0"})]
        assert _write_back("mlflow://7", server.environ, document) == 1
        assert _write_back("mlflow://7", server.environ, document) == 0
        assert server.assessments == [assessment]


def test_a_key_over_plain_http_to_another_machine_is_warned_of() -> None:
    from veritrail_graph.graph.importers.addresses.mlflow import login

    def warnings(url: str) -> list[str]:
        return login({"MLFLOW_TRACKING_URI": url, "MLFLOW_TRACKING_TOKEN": TOKEN}).warnings

    assert "unencrypted to tracking.test:5000" in warnings("http://tracking.test:5000")[0]
    assert warnings("https://tracking.test") == warnings("http://127.0.0.1:5000") == []

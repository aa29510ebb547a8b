"""Tools that keep traces, on loopback, as the descriptions of their APIs say."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class Asked:
    """A request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Message
    body: Any


@dataclass(frozen=True)
class Reply:
    """An answer; `torn` promises more bytes than it has."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    torn: bool = False


class ToolServer:
    """Answers with the replies that it has left, then with what a tool says.

    Attributes:
        asked: What was asked, in order.
        first: The next replies.
    """

    def __init__(self, tool: Callable[[Asked], Reply]) -> None:
        self.asked: list[Asked] = []
        self.first: list[Reply] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size)) if size else None
                query = parse_qs(parts.query, keep_blank_values=True)
                asked = Asked(self.command, parts.path, query, self.headers, body)
                outer.asked.append(asked)
                reply = outer.first.pop(0) if outer.first else tool(asked)
                content = (
                    reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                )
                with suppress(OSError):
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    length = len(content) + (100 if reply.torn else 0)
                    self.send_header("Content-Length", str(length))
                    self.end_headers()
                    self.wfile.write(content)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


PUBLIC, SECRET = "pk-lf-public", "sk-lf-never-shown"
_LOGIN = "Basic " + base64.b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()


class LangfuseServer(ToolServer):
    """A project `shop` of Langfuse with traces of a file of its export.

    Args:
        traces: The traces by their ids, each `{trace, observations}`.
        page: Observations of a page.
        is_old: Whether it has no API v2, and takes one score at a time.
    """

    def __init__(self, traces: Mapping[str, Any], page: int = 2, *, is_old: bool = False) -> None:
        super().__init__(self._answer)
        self.traces, self.page, self.is_old = traces, page, is_old
        self.filters = True
        self.number = "cm1"
        self.scores: list[Any] = []

    @property
    def environ(self) -> dict[str, str]:
        return {
            "LANGFUSE_PUBLIC_KEY": PUBLIC,
            "LANGFUSE_SECRET_KEY": SECRET,
            "LANGFUSE_BASE_URL": self.url,
        }

    def _answer(self, asked: Asked) -> Reply:
        if asked.headers.get("Authorization") != _LOGIN:
            return Reply(401, {"message": "Invalid credentials", "error": "UnauthorizedError"})
        if asked.path == "/api/public/projects":
            return Reply(200, {"data": [{"id": self.number, "name": "shop"}]})
        if asked.path == "/api/public/v2/observations" and not self.is_old:
            return self._observations(asked.query)
        if asked.path == "/api/public/scores" and asked.method == "POST":
            return self._score(asked.body)
        if asked.path.startswith("/api/public/traces") and self.is_old:
            name = asked.path.removeprefix("/api/public/traces").strip("/")
            if name:
                one = self.traces[name]
                return Reply(200, {**one["trace"], "observations": one["observations"]})
            data = [{"id": name} for name in self.traces] if asked.query["page"] == ["1"] else []
            return Reply(200, {"data": data, "meta": {"page": 1}})
        return Reply(404, {"message": "Not found"})

    def _score(self, body: Any) -> Reply:
        if isinstance(body, list) == self.is_old:
            return Reply(400, {"message": "Invalid request data"})
        self.scores += [body] if self.is_old else body
        return Reply(200 if self.is_old else 202, {"message": "Accepted"})

    def _observations(self, query: Mapping[str, list[str]]) -> Reply:
        every = [
            {**one, "traceId": trace_id, "projectId": "cm1"}
            for trace_id, trace in self.traces.items()
            for one in trace["observations"]
            if query.get("traceId", [trace_id]) == [trace_id]
            and (not self.filters or "isRootObservation" not in query or _is_root(one))
        ]
        start = int(query.get("cursor", ["0"])[0])
        end = start + self.page
        meta = {"cursor": str(end)} if end < len(every) else {}
        return Reply(200, {"data": every[start:end], "meta": meta})


def _is_root(observation: Mapping[str, Any]) -> bool:
    return not observation.get("parentObservationId") or bool(observation.get("isRootObservation"))


TOKEN = "mlflow-token-never-shown"


class MlflowServer(ToolServer):
    """An experiment `harbour`, number 7, of MLflow with traces of a file of its export.

    Args:
        traces: The traces by their ids, each `{info, data: {spans}}`.
    """

    def __init__(self, traces: Mapping[str, Any]) -> None:
        super().__init__(self._answer)
        self.traces = traces
        self.assessments: list[Any] = []

    @property
    def environ(self) -> dict[str, str]:
        return {"MLFLOW_TRACKING_URI": self.url, "MLFLOW_TRACKING_TOKEN": TOKEN}

    def _answer(self, asked: Asked) -> Reply:
        if asked.headers.get("Authorization") != f"Bearer {TOKEN}":
            return Reply(401, {"error_code": "UNAUTHENTICATED", "message": "no"})
        if asked.path == "/api/2.0/mlflow/experiments/get-by-name":
            if asked.query["experiment_name"] != ["harbour"]:
                return Reply(404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "none"})
            return Reply(200, {"experiment": {"experiment_id": "7", "name": "harbour"}})
        if asked.path == "/api/3.0/mlflow/traces/search":
            return self._search(asked.body)
        if asked.path == "/api/3.0/mlflow/traces/batchGet":
            found = [_of_rest(self.traces[one]) for one in asked.query["trace_ids"]]
            return Reply(200, {"traces": found})
        if asked.path.endswith("/assessments"):
            self.assessments.append(asked.body["assessment"])
            return Reply(200, asked.body)
        if (name := asked.path.removeprefix("/api/3.0/mlflow/traces/")) in self.traces:
            info = {**self.traces[name]["info"], "assessments": self.assessments}
            return Reply(200, {"trace": {"trace_info": info}})
        return Reply(404, {"error_code": "ENDPOINT_NOT_FOUND", "message": "none"})

    def _search(self, body: Any) -> Reply:
        (location,) = body["locations"]
        if location["mlflow_experiment"] != {"experiment_id": "7"}:
            return Reply(200, {})
        names = [*self.traces]
        start = int(body.get("page_token", 0))
        found = [self.traces[one]["info"] for one in names[start : start + 1]]
        more = {"next_page_token": str(start + 1)} if start + 1 < len(names) else {}
        return Reply(200, {"traces": found, **more})


def _of_rest(trace: Any) -> dict[str, Any]:
    """A trace as `batchGet` gives it: spans in the JSON of OTLP, whose attributes are decoded."""
    spans = []
    for span in trace["data"]["spans"]:
        attributes = [
            {"key": key, "value": _any_value(json.loads(one))}
            for key, one in span["attributes"].items()
        ]
        spans.append({**span, "attributes": attributes})
    return {"trace_info": trace["info"], "spans": spans}


def _any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"string_value": value}
    if isinstance(value, int):
        return {"int_value": str(value)}
    if isinstance(value, list):
        return {"array_value": {"values": [_any_value(one) for one in value]}}
    each = [{"key": key, "value": _any_value(one)} for key, one in value.items()]
    return {"kvlist_value": {"values": each}}


KEY = "phoenix-key-never-shown"


class PhoenixServer(ToolServer):
    """A project `quay` of Phoenix, with spans as its REST API gives them.

    Args:
        spans: The spans of all traces.
    """

    def __init__(self, spans: Sequence[Any]) -> None:
        super().__init__(self._answer)
        self.spans = spans
        self.annotations: list[Any] = []

    @property
    def environ(self) -> dict[str, str]:
        return {"PHOENIX_COLLECTOR_ENDPOINT": f"{self.url}/v1/traces", "PHOENIX_API_KEY": KEY}

    def _answer(self, asked: Asked) -> Reply:
        if asked.headers.get("Authorization") != f"Bearer {KEY}":
            return Reply(401, b"Invalid token")
        if asked.path == "/v1/projects/quay/traces":
            names = dict.fromkeys(one["context"]["trace_id"] for one in self.spans)
            return _page([{"id": "VHJhY2U6MQ==", "trace_id": name} for name in names], asked)
        if asked.path == "/v1/projects/quay/spans":
            wanted = asked.query["trace_id"]
            return _page([one for one in self.spans if one["context"]["trace_id"] in wanted], asked)
        if asked.path == "/v1/span_annotations":
            self.annotations += asked.body["data"]
            return Reply(200, {"data": []})
        return Reply(404, b"Not Found")


def _page(every: Sequence[Any], asked: Asked) -> Reply:
    start = int(asked.query.get("cursor", ["0"])[0])
    more = str(start + 2) if start + 2 < len(every) else None
    return Reply(200, {"data": every[start : start + 2], "next_cursor": more})


SESSION = "00000000-0000-4000-8000-00000000000a"


class LangSmithServer(ToolServer):
    """A project `quay` of LangSmith, with runs as its files have them.

    Args:
        runs: The runs of all traces.
        is_old: Whether it has the first API alone.
    """

    def __init__(self, runs: Sequence[Any], *, is_old: bool = False) -> None:
        super().__init__(self._answer)
        self.runs, self.is_old = runs, is_old

    @property
    def environ(self) -> dict[str, str]:
        return {"LANGSMITH_ENDPOINT": self.url, "LANGSMITH_API_KEY": KEY}

    def _answer(self, asked: Asked) -> Reply:
        if asked.headers.get("x-api-key") != KEY:
            return Reply(403, {"detail": "Forbidden"})
        if asked.path == "/sessions":
            known = asked.query["name"] == ["quay"]
            return Reply(200, [{"id": SESSION, "name": "quay"}] if known else [])
        body = asked.body
        if asked.path == "/api/v2/runs/query" and not self.is_old:
            assert body["project_ids"] == [SESSION]
            runs = [_of_second(one) for one in self._found(body, body.get("trace_id"))]
            found, more = _some(runs, body)
            return Reply(200, {"items": found, "next_cursor": more})
        if asked.path == "/runs/query" and self.is_old:
            assert body["session"] == [SESSION]
            found, more = _some(self._found(body, body.get("trace")), body)
            return Reply(200, {"runs": found, "cursors": {"next": more}})
        return Reply(404, {"detail": "Not Found"})

    def _found(self, body: Any, trace_id: str | None) -> list[Any]:
        is_root = body.get("is_root", False)
        return [
            one
            for one in self.runs
            if trace_id in (None, one["trace_id"]) and not (is_root and one["parent_run_id"])
        ]


def _some(runs: Sequence[Any], body: Any) -> tuple[Sequence[Any], str | None]:
    start = int(body.get("cursor", 0))
    return runs[start : start + 2], str(start + 2) if start + 2 < len(runs) else None


def _of_second(run: Any) -> dict[str, Any]:
    above = [run["trace_id"]] if run["parent_run_id"] else []
    above += [run["parent_run_id"]] if run["parent_run_id"] not in (None, *above) else []
    own = {key: one for key, one in run.items() if key != "parent_run_id"}
    return {**own, "run_type": run["run_type"].upper(), "parent_run_ids": above}

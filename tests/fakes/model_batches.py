"""The files and batches of the scripted server, with the interface of OpenAI.

Lines are answered by the server itself, as single calls are. A batch goes one state further with
every look at it. Lines come back in the reverse order, those that failed in a file of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from fakes.model_replies import Reply, as_json, error

if TYPE_CHECKING:
    from fakes.model_server import ModelServer

STATES = ("validating", "in_progress", "finalizing")
ENDS = ("completed", "failed", "expired", "cancelled")
LINE_KEYS = {"custom_id", "method", "url", "body"}
NO_JSON_LINE = "This line is not parseable as valid JSON."
FULL = (
    "Enqueued token limit reached for scripted in organization org-1. Limit: {} enqueued tokens. "
    "Please try again once some in_progress batches have been completed."
)
EXPIRED = "This request could not be executed before the completion window expired."


@dataclass
class SentBatch:
    """One batch, and how it is to end.

    Attributes:
        number: Its place among all batches, from 0.
        lines: Its lines, as they were uploaded.
        end: How it ends.
        answered: How many of its lines are answered; None: all.
        errors: Why it fails.
    """

    number: int
    batch_id: str
    file_id: str
    metadata: Mapping[str, str]
    lines: list[dict[str, Any]]
    end: str = "completed"
    answered: int | None = None
    errors: list[dict[str, Any]] = field(default_factory=list)
    status: str = "validating"
    output: str | None = None
    failures: str | None = None
    looks: int = 0

    @property
    def known(self) -> int:
        """How many of its lines it answers when it ends."""
        if self.end == "failed":
            return 0
        return len(self.lines) if self.answered is None else self.answered

    def document(self) -> dict[str, Any]:
        is_over = self.status in ENDS
        return {
            "id": self.batch_id, "object": "batch", "endpoint": "/v1/chat/completions",
            "errors": {"object": "list", "data": self.errors} if self.errors else None,
            "input_file_id": self.file_id, "completion_window": "24h", "status": self.status,
            "output_file_id": self.output, "error_file_id": self.failures,
            "created_at": 1_700_000_000 + self.number,
            "request_counts": {
                "total": len(self.lines),
                "completed": self.known if is_over else 0,
                "failed": 0,
            },
            "metadata": dict(self.metadata),
        }  # fmt: skip


@dataclass
class BatchDesk:
    """Files and batches.

    Attributes:
        plan: Sets how a batch ends, when it is made.
        held: Whether batches stay `in_progress`.
        loses: Names of calls (`upload`, `create`) that are done once without an answer.
        most_lines: Lines of a file that are taken.
        is_faulty: Tells a line that fails the validation of its batch, by what it asks.
        most_named: How many such lines a batch that fails names, at most.
        most_enqueued: Lines of all batches that are on their way, at most.
    """

    plan: Callable[[SentBatch], None] = lambda _batch: None
    held: bool = False
    loses: list[str] = field(default_factory=list)
    most_lines: int = 50_000
    is_faulty: Callable[[dict[str, Any]], bool] = lambda _body: False
    most_named: int = 100
    most_enqueued: int | None = None
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    batches: list[SentBatch] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    uploads: int = 0

    @property
    def sent(self) -> list[str]:
        """The ids of all lines of all batches that were made."""
        return [line["custom_id"] for batch in self.batches for line in batch.lines]

    def answer(
        self, server: ModelServer, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Reply | None:
        """Answer a call about files or batches; None: drop the connection."""
        parts = urlsplit(path)
        names = parts.path.removeprefix("/v1/").strip("/").split("/")
        query = parse_qs(parts.query)
        given = headers.get("authorization", "").removeprefix("Bearer ")
        if server.key is not None and given != server.key:
            return error(401, "Incorrect API key provided.", "invalid_api_key")
        match method, names:
            case "POST", ["files"]:
                return self._lost("upload", self._upload(headers, body))
            case "GET", ["files"]:
                return _page([self._file(one) for one in reversed(list(self.files))], query)
            case "GET", ["files", file_id, "content"] if file_id in self.files:
                return Reply(200, self.files[file_id][1], "application/octet-stream")
            case "DELETE", ["files", file_id] if file_id in self.files:
                del self.files[file_id]
                self.deleted.append(file_id)
                return as_json({"id": file_id, "object": "file", "deleted": True})
            case "POST", ["batches"]:
                return self._lost("create", self._create(server, json.loads(body)))
            case "GET", ["batches"]:
                return _page([one.document() for one in reversed(self.batches)], query)
            case "GET", ["batches", batch_id] if found := self._found(batch_id):
                self._go_on(server, found)
                return as_json(found.document())
            case "POST", ["batches", batch_id, "cancel"] if found := self._found(batch_id):
                if found.status in ENDS:
                    return error(409, f"Cannot cancel a batch with status '{found.status}'.")
                found.status, found.end = "cancelling", "cancelled"
                return as_json(found.document())
        return error(404, f"No such object: {parts.path}")

    def _lost(self, name: str, reply: Reply) -> Reply | None:
        if name in self.loses:
            self.loses.remove(name)
            return None
        return reply

    def _found(self, batch_id: str) -> SentBatch | None:
        return next((one for one in self.batches if one.batch_id == batch_id), None)

    def _file(self, file_id: str) -> dict[str, Any]:
        name, content = self.files[file_id]
        return {
            "id": file_id, "object": "file", "bytes": len(content), "created_at": 1_700_000_000,
            "filename": name, "purpose": "batch", "status": "processed",
        }  # fmt: skip

    def _add(self, name: str, content: bytes) -> str:
        self.uploads += name.endswith(".jsonl")
        file_id = f"file-{self.uploads}-{len(self.files) + len(self.deleted)}"
        self.files[file_id] = name, content
        return file_id

    def _upload(self, headers: Mapping[str, str], body: bytes) -> Reply:
        kind = headers.get("content-type", "")
        boundary = re.search(r"boundary=([^;]+)", kind)
        if not kind.startswith("multipart/form-data") or boundary is None:
            return error(400, "expected multipart/form-data")
        fields: dict[str, tuple[str, bytes]] = {}
        for part in body.split(b"--" + boundary[1].strip('"').encode()):
            head, found, content = part.partition(b"\r\n\r\n")
            name = re.search(rb'name="([^"]+)"', head)
            if found and name:
                file = re.search(rb'filename="([^"]+)"', head)
                label = file[1].decode() if file else ""
                fields[name[1].decode()] = label, content.removesuffix(b"\r\n")
        if fields.get("purpose", ("", b""))[1] != b"batch" or "file" not in fields:
            return error(400, "a file with the purpose batch is expected")
        return as_json(self._file(self._add(*fields["file"])))

    def _create(self, server: ModelServer, body: dict[str, Any]) -> Reply:
        if body.get("completion_window") != "24h" or body.get("endpoint") != "/v1/chat/completions":
            return error(400, f"unexpected batch: {body}")
        if body.get("input_file_id") not in self.files:
            return error(404, "No such File object")
        content = self.files[body["input_file_id"]][1]
        lines = [json.loads(line) for line in content.split(b"\n") if line]
        number = len(self.batches)
        batch = SentBatch(
            number, f"batch_{number}", body["input_file_id"], body.get("metadata") or {}, lines
        )
        problem = self._problem(batch)
        if problem:
            server.wrong.append(problem)
            batch.end = "failed"
            batch.errors = [{"code": "invalid", "message": problem, "line": None, "param": None}]
        faulty = [
            place for place, line in enumerate(lines, start=1) if self.is_faulty(line["body"])
        ]
        if faulty and not problem:
            batch.end = "failed"
            batch.errors = [
                {"code": "invalid_json_line", "message": NO_JSON_LINE, "line": one, "param": None}
                for one in faulty[: self.most_named]
            ]
        taken = [one for one in self.batches if one.status not in ENDS and one.end != "failed"]
        waiting = sum(len(one.lines) for one in taken)
        if self.most_enqueued is not None and waiting + len(lines) > self.most_enqueued:
            message = FULL.format(self.most_enqueued)
            batch.end = "failed"
            batch.errors = [
                {"code": "token_limit_exceeded", "message": message, "line": None, "param": None}
            ]
        self.plan(batch)
        self.batches.append(batch)
        return as_json(batch.document())

    def _problem(self, batch: SentBatch) -> str | None:
        ids = [line.get("custom_id") for line in batch.lines]
        if len(ids) != len(set(ids)) or not all(isinstance(one, str) and one for one in ids):
            return "a custom_id is missing or occurs twice"
        if any(len(one) > 64 for one in ids):
            return "a custom_id has more than 64 characters"
        for line in batch.lines:
            if set(line) != LINE_KEYS or line["method"] != "POST":
                return f"a line has the keys {sorted(line)}"
            if line["url"] != "/v1/chat/completions":
                return f"a line is for {line['url']}"
        if len({line["body"].get("model") for line in batch.lines}) != 1:
            return "a file asks several models, or none"
        return f"a file has {len(ids)} lines" if len(ids) > self.most_lines else None

    def _go_on(self, server: ModelServer, batch: SentBatch) -> None:
        """One state further; a batch that ends gets its files."""
        batch.looks += 1
        if batch.status in ENDS or (self.held and batch.status == "in_progress"):
            return
        if batch.status in STATES[:-1] and batch.end != "failed":
            batch.status = STATES[STATES.index(batch.status) + 1]
            return
        batch.status = batch.end
        if batch.end != "failed":
            self._write_files(server, batch)

    def _write_files(self, server: ModelServer, batch: SentBatch) -> None:
        good: list[bytes] = []
        bad: list[bytes] = []
        for place, line in enumerate(batch.lines):
            result: dict[str, Any] = {"id": f"batch_req_{place}", "custom_id": line["custom_id"]}
            if place < batch.known:
                status, body = server.batch_reply(line["custom_id"].split("-")[0], line["body"])
                result["response"] = {"status_code": status, "request_id": "r", "body": body}
                result["error"] = None
                (good if status == 200 else bad).append(json.dumps(result).encode())
            else:
                code = "batch_expired" if batch.end == "expired" else "batch_cancelled"
                result |= {"response": None, "error": {"code": code, "message": EXPIRED}}
                bad.append(json.dumps(result).encode())
        if good:
            batch.output = self._add("output", b"\n".join(reversed(good)))
        if bad:
            batch.failures = self._add("errors", b"\n".join(reversed(bad)) + b"\n")


def _page(found: list[dict[str, Any]], query: Mapping[str, list[str]]) -> Reply:
    limit = int(query.get("limit", ["20"])[0])
    ids = [one["id"] for one in found]
    start = ids.index(query["after"][0]) + 1 if query.get("after", [""])[0] in ids else 0
    page = found[start : start + limit]
    return as_json({"object": "list", "data": page, "has_more": start + limit < len(found)})

"""A model on loopback for clients of other libraries: chat completions and responses.

`fakes.model_server` checks that requests keep our own protocol; this one takes all that OpenAI's
clients send.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

Script = Callable[[dict[str, Any]], list[dict[str, Any]] | int]
"""What answers a request: the messages of the choices, or the items of a response, of which a
message may be `{"text": …}`; or an HTTP status."""


@contextmanager
def chat_server(script: Script) -> Iterator[str]:
    """Serve in a thread; gives the base URL."""

    numbers = count(1)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path.endswith("/embeddings"):
                self._send(200, "application/json", json.dumps(_vectors(body)).encode())
                return
            answer = script(body)
            if isinstance(answer, int):
                self._send(answer, "application/json", b'{"error": {"message": "as scripted"}}')
            elif self.path.endswith("/responses"):
                whole = _response(answer, body, next(numbers))
                if body.get("stream"):
                    data = "".join(
                        f"event: {one['type']}\ndata: {json.dumps(one)}\n\n"
                        for one in _events(whole)
                    )
                    self._send(200, "text/event-stream", data.encode())
                else:
                    self._send(200, "application/json", json.dumps(whole).encode())
            elif body.get("stream"):
                chunks = [*_chunks(answer), "[DONE]"]
                data = "".join(f"data: {chunk}\n\n" for chunk in chunks)
                self._send(200, "text/event-stream", data.encode())
            else:
                self._send(200, "application/json", json.dumps(_whole(answer)).encode())

        def log_message(self, *_: object) -> None:
            pass

        def _send(self, status: int, kind: str, data: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


_ABOUT = {"id": "c-1", "created": 1_700_000_000, "model": "scripted-1"}


def _vectors(body: dict[str, Any]) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [
        {"object": "embedding", "index": place, "embedding": [1.0, 0.0, 0.0, 0.0]}
        for place, _ in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": "scripted-1", "data": data, "usage": usage}


def _reason(message: dict[str, Any]) -> str:
    return "tool_calls" if message.get("tool_calls") else "stop"


def _whole(messages: list[dict[str, Any]]) -> dict[str, Any]:
    choices = [
        {"index": place, "message": {"role": "assistant", **one}, "finish_reason": _reason(one)}
        for place, one in enumerate(messages)
    ]
    return {**_ABOUT, "object": "chat.completion", "choices": choices}


def _chunks(messages: list[dict[str, Any]]) -> Iterator[str]:
    for place, one in enumerate(messages):
        deltas: list[dict[str, Any]] = [{"role": "assistant"}]
        content = one.get("content") or ""
        deltas += [{"content": content[start : start + 5]} for start in range(0, len(content), 5)]
        for number, call in enumerate(one.get("tool_calls", ())):
            given = call["function"]["arguments"]
            name = {**call, "index": number, "function": {**call["function"], "arguments": ""}}
            deltas.append({"tool_calls": [name]})
            for half in (given[: len(given) // 2], given[len(given) // 2 :]):
                deltas.append({"tool_calls": [{"index": number, "function": {"arguments": half}}]})
        for delta in deltas:
            yield _chunk({"index": place, "delta": delta, "finish_reason": None})
        yield _chunk({"index": place, "delta": {}, "finish_reason": _reason(one)})


def _chunk(choice: dict[str, Any]) -> str:
    return json.dumps({**_ABOUT, "object": "chat.completion.chunk", "choices": [choice]})


def _response(items: list[dict[str, Any]], body: dict[str, Any], number: int) -> dict[str, Any]:
    output = []
    for place, one in enumerate(items):
        if "text" in one:
            text = {"type": "output_text", "text": one["text"], "annotations": []}
            one = {"type": "message", "role": "assistant", "content": [text]}
        output.append({"id": f"item-{number}-{place}", "status": "completed", **one})
    return {
        **_ABOUT, "id": f"r-{number}", "object": "response", "created_at": 1_700_000_000,
        "output": output, "status": "completed", "tools": [], "tool_choice": "auto",
        "parallel_tool_calls": True, "previous_response_id": body.get("previous_response_id"),
    }  # fmt: skip


def _events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a response, numbered."""
    for number, event in enumerate(_unnumbered(whole)):
        yield {**event, "sequence_number": number}


def _unnumbered(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**whole, "output": [], "status": "in_progress"}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for place, item in enumerate(whole["output"]):
        about = {"output_index": place, "item_id": item["id"]}
        bare = {"arguments": ""} if item["type"] == "function_call" else {}
        bare = {"content": []} if item["type"] == "message" else bare
        added = {**item, **bare, "status": "in_progress"}
        yield {"type": "response.output_item.added", "output_index": place, "item": added}
        for number, part in enumerate(item.get("content", ())):
            where = {**about, "content_index": number}
            empty = {**part, "text": ""}
            yield {"type": "response.content_part.added", **where, "part": empty}
            text = part["text"]
            for start in range(0, len(text), 5):
                piece = {"delta": text[start : start + 5], "logprobs": []}
                yield {"type": "response.output_text.delta", **where, **piece}
            yield {"type": "response.output_text.done", **where, "text": text, "logprobs": []}
            yield {"type": "response.content_part.done", **where, "part": part}
        if item["type"] == "function_call":
            given = item["arguments"]
            for half in (given[: len(given) // 2], given[len(given) // 2 :]):
                yield {"type": "response.function_call_arguments.delta", **about, "delta": half}
            done = {"arguments": given, "name": item["name"]}
            yield {"type": "response.function_call_arguments.done", **about, **done}
        yield {"type": "response.output_item.done", "output_index": place, "item": item}
    yield {"type": "response.completed", "response": whole}

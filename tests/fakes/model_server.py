"""A scripted chat endpoint: a real HTTP server on loopback that speaks as OpenAI's does.

`with ModelServer(reader) as server:` runs one in a thread; `server.base_url` is its address,
`server.requests` what it was asked. It checks every request against the model protocol;
the end of the block raises what it found wrong. As a process of its own, for measurements:
`fakes.model_server_process`.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.dialogue_prompts import check_dialogue_prompt
from fakes.model_answers import Answer, Reader, WordReader
from fakes.model_batches import BatchDesk
from fakes.model_connection import Connection
from fakes.model_faults import Fault, FaultPolicy
from fakes.model_prompts import (
    BUILD_LINES,
    DIALOGUE_STEPS,
    EXCERPT_STEPS,
    SHARED_STEPS,
    SOURCE_STEPS,
    STEPS,
    FormatError,
    check_build_prompt,
    parse_claim_prompt,
    parse_excerpts,
    parse_sources,
    split_shared,
)
from fakes.model_replies import Counts, Reply, as_json, completion, error, failure, tokens

PREFIX_CHARACTERS = 1024
STEP_HEADER = "x-veritrail-step"
START_SECONDS = 10.0
EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")
THOUGHTS = 400  # tokens of reasoning of an answer


@dataclass
class Received:
    """One request, and what became of it; times are those of `time.monotonic`.

    Attributes:
        number: Its place among all requests, from 0.
        number_in_step: Its place among those of its step, from 0.
        sent: How often the same prompt was sent before.
        path: The path, with the query.
        headers: By name in lower case.
        body: The JSON document.
        status: The status answered; None while, or because, there is no answer.
        fault: What went wrong by intent.
        cached: Tokens whose prefix was known when the answer was made.
        in_batch: Whether it was a line of a batch.
    """

    number: int
    number_in_step: int
    sent: int
    step: str
    system: str
    user: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    arrived: float
    answered: float | None = None
    status: int | None = None
    fault: Fault | None = None
    cached: int = 0
    in_batch: bool = False

    @property
    def characters(self) -> int:
        """Characters of the prompt."""
        return len(self.system) + len(self.user)


@dataclass
class ModelServer:
    """A scripted server; use it as a context manager.

    Attributes:
        reader: Who answers.
        latency: Seconds until a completion, or a function of the request.
        faults: What goes wrong with which request.
        caches_prefixes: Whether prefixes of 1,024 characters that were answered before count
            as cached tokens.
        context_tokens: Longer prompts are refused, as OpenAI refuses them.
        refuses: Parameters that are refused, such as `temperature` and `max_tokens`.
        is_luna: Whether it takes parameters as gpt-6-luna does: it reasons unless the effort is
            `none`, and takes a temperature then alone.
        key: The one key that is taken; None takes any.
        models: The models that there are; None has any.
        keeps: Whether `requests` is kept; not for long measurements.
        trickle_seconds: How long the answer of a slow trickle takes.
        desk: Files and batches; None: the server has none.
        port: 0 for a free one.
        is_strict: Whether what is wrong with the requests is raised at the end.
    """

    reader: Reader = field(default_factory=WordReader)
    latency: float | Callable[[Received], float] = 0.0
    faults: FaultPolicy | None = None
    caches_prefixes: bool = False
    context_tokens: int | None = None
    refuses: Collection[str] = ()
    is_luna: bool = False
    key: str | None = None
    models: Collection[str] | None = None
    keeps: bool = True
    trickle_seconds: float = 30.0
    desk: BatchDesk | None = field(default_factory=BatchDesk)
    port: int = 0
    is_strict: bool = True
    requests: list[Received] = field(default_factory=list, init=False)
    wrong: list[str] = field(default_factory=list, init=False)
    calls: Counter[str] = field(default_factory=Counter, init=False)
    faults_sent: Counter[str] = field(default_factory=Counter, init=False)
    characters: Counter[str] = field(default_factory=Counter, init=False)
    cached_characters: Counter[str] = field(default_factory=Counter, init=False)
    in_the_air: int = field(default=0, init=False)
    most_at_once: int = field(default=0, init=False)
    connections: set[Connection] = field(default_factory=set, init=False)
    connections_made: int = field(default=0, init=False)
    _sent: Counter[int] = field(default_factory=Counter, init=False)
    _prefixes: set[int] = field(default_factory=set, init=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)
    _ready: threading.Event = field(default_factory=threading.Event, init=False)

    @property
    def base_url(self) -> str:
        """What a client takes as its base_url."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> ModelServer:
        self._thread = threading.Thread(target=self._serve, name="model-server", daemon=True)
        self._thread.start()
        assert self._ready.wait(START_SECONDS), "the scripted server did not start"
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        if self.is_strict and self.wrong and kind is None:
            raise AssertionError("requests broke the protocol:\n" + "\n".join(self.wrong[:5]))

    def of(self, step: str) -> list[Received]:
        """The requests of one step, as they arrived."""
        return [received for received in self.requests if received.step == step]

    def stats(self) -> dict[str, Any]:
        """Numbers since the start or the last `reset`; also at `GET /stats`."""
        return {
            "calls": dict(self.calls),
            "faults": dict(self.faults_sent),
            "characters": dict(self.characters),
            "cached_characters": dict(self.cached_characters),
            "most_at_once": self.most_at_once,
            "connections": self.connections_made,
            "wrong": self.wrong[:5],
        }

    def reset(self) -> None:
        """Forget requests, counts and prefixes; also at `GET /reset`."""
        self.requests.clear()
        self.wrong.clear()
        for counter in (self.calls, self.faults_sent, self.characters, self.cached_characters):
            counter.clear()
        self._sent.clear()
        self._prefixes.clear()
        self.most_at_once = self.in_the_air
        self.connections_made = 0

    def _serve(self) -> None:
        loop = self._loop = asyncio.new_event_loop()
        make = loop.create_server(lambda: Connection(self), "127.0.0.1", self.port, backlog=1024)
        server = loop.run_until_complete(make)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        try:
            loop.run_forever()
        finally:
            server.close()
            for connection in list(self.connections):
                connection.abort()
            loop.run_until_complete(asyncio.sleep(0.01))  # transports close one turn later
            loop.close()

    def get(self, path: str) -> Reply:
        """Answer a GET."""
        if path.endswith("/stats"):
            return as_json(self.stats())
        if path.endswith("/reset"):
            self.reset()
            return as_json({})
        if path.endswith("/models"):
            known = [{"id": name, "object": "model"} for name in self.models or ["scripted"]]
            return as_json({"object": "list", "data": known})
        return error(404, f"Invalid URL (GET {path})")

    def receive(
        self, path: str, headers: Mapping[str, str], body: Any, *, in_batch: bool = False
    ) -> Received | Reply:
        """Take a request for a completion; a `Reply` when it is refused outright."""
        problem = self._problem(path, headers, body)
        if problem:
            self.wrong.append(problem)
            return error(400, problem)
        step = headers[STEP_HEADER]
        system, user = (message["content"] for message in body["messages"])
        return self._taken(step, system, user, path, headers, body, in_batch=in_batch)

    def _taken(
        self,
        step: str,
        system: str,
        user: str,
        path: str,
        headers: Mapping[str, str],
        body: Any,
        *,
        in_batch: bool = False,
    ) -> Received | Reply:
        """Count a request that keeps the protocol, and say what goes wrong with it."""
        prompt = hash((step, system, user))
        received = Received(
            sum(self.calls.values()), self.calls[step], self._sent[prompt], step, system, user,
            path, headers, body, time.monotonic(), in_batch=in_batch,
        )  # fmt: skip
        self._sent[prompt] += 1
        self.calls[step] += 1
        self.characters[step] += received.characters
        if self.keeps:
            self.requests.append(received)
        refused = self._refusal(received)
        if refused is None and self.faults is not None:
            received.fault = self.faults(received)
            if received.fault is not None:
                self.faults_sent[received.fault] += 1
        return refused or received

    def files(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> Reply | None:
        """Answer a call about files or batches; None: drop the connection."""
        if self.desk is None:
            return error(404, f"Invalid URL ({method} {path})")
        return self.desk.answer(self, method, path, headers, body)

    def batch_reply(self, step: str, body: Any) -> tuple[int, Any]:
        """Status and document of the answer to a line of a batch."""
        taken = self.receive("/chat/completions", {STEP_HEADER: step}, body, in_batch=True)
        reply = taken if isinstance(taken, Reply) else self.reply(taken)
        if isinstance(taken, Received):
            taken.status, taken.answered = reply.status, time.monotonic()
        return reply.status, json.loads(reply.body)

    def delay(self, received: Received) -> float:
        """Seconds until the answer."""
        return self.latency(received) if callable(self.latency) else self.latency

    def reply(self, received: Received) -> Reply:
        """The answer to a request that was taken."""
        fault = received.fault
        failed = failure(fault) if fault is not None else None
        if failed is not None:
            return failed
        try:
            answer = self._answer(received)
        except Exception as problem:  # noqa: BLE001 - a reader's mistake ends the test, not the server
            self.wrong.append(f"the reader failed: {problem!r}")
            return error(400, f"the reader failed: {problem!r}")
        text = f"{received.system}\n{received.user}"
        cached = self._known_prefix(text) if self.caches_prefixes else 0
        received.cached = cached // 4
        self.cached_characters[received.step] += cached
        counts = Counts(tokens(text), received.cached)
        thinks = self.is_luna and _effort(received.body) != "none"
        return completion(
            received.number,
            received.body["model"],
            received.step,
            answer,
            counts,
            fault,
            THOUGHTS if thinks else 0,
        )

    def _answer(self, received: Received) -> Answer:
        """What the reader answers; about several claims what it answers about each."""
        system, user = received.system, received.user
        step = SHARED_STEPS.get(received.step)
        if step is None:
            return self.reader(received.step, system, user, received)
        entries = []
        for number, alone in enumerate(split_shared(user, received.step), start=1):
            found = self.reader(step, system, alone, received)
            part = json.loads(found) if isinstance(found, str) else found
            entries.append({"claim": number, **part})
        return {"claims": entries}

    def begins(self) -> None:
        """A call is in flight."""
        self.in_the_air += 1
        self.most_at_once = max(self.most_at_once, self.in_the_air)

    def ends(self, received: Received, status: int | None) -> None:
        """A call is over."""
        self.in_the_air -= 1
        received.status, received.answered = status, time.monotonic()

    def _problem(self, path: str, headers: Mapping[str, str], body: Any) -> str | None:
        try:
            _check(path, headers, body)
        except FormatError as wrong:
            return str(wrong)
        return None

    def _refusal(self, received: Received) -> Reply | None:
        body, headers = received.body, received.headers
        given = headers.get("api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if self.key is not None and given != self.key and not received.in_batch:
            return error(401, "Incorrect API key provided.", "invalid_api_key")
        if self.models is not None and body["model"] not in self.models:
            message = f"The model `{body['model']}` does not exist or you do not have access to it."
            return error(404, message, "model_not_found")
        for name in (*self.refuses, *(_refused_by_luna(body) if self.is_luna else ())):
            if name in body:
                return refused_parameter(name)
        asked = tokens(f"{received.system}\n{received.user}")
        if self.context_tokens is not None and asked > self.context_tokens:
            message = (
                f"This model's maximum context length is {self.context_tokens} tokens. However, "
                f"your messages resulted in {asked} tokens. Please reduce the length of them."
            )
            return error(400, message, "context_length_exceeded", "messages")
        return None

    def _known_prefix(self, text: str) -> int:
        """Characters at the beginning that an earlier answered prompt shares; learns the rest."""
        known, prefix, grows = 0, 0, True
        for end in range(PREFIX_CHARACTERS, len(text) + 1, PREFIX_CHARACTERS):
            prefix = hash((prefix, text[end - PREFIX_CHARACTERS : end]))
            grows = grows and prefix in self._prefixes
            known = end if grows else known
            self._prefixes.add(prefix)
        return known


def _effort(body: Mapping[str, Any]) -> str:
    return str(body.get("reasoning_effort", "medium"))


def _refused_by_luna(body: Mapping[str, Any]) -> list[str]:
    """Parameters of a request that gpt-6-luna does not take."""
    refused = ["max_tokens"]
    if _effort(body) not in EFFORTS:
        refused.append("reasoning_effort")
    if _effort(body) != "none" and body.get("temperature", 1) != 1:
        refused.append("temperature")
    return refused


def refused_parameter(name: str) -> Reply:
    """The refusal of a parameter, in OpenAI's words."""
    if name == "max_tokens":
        message = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
        return error(400, message, "unsupported_parameter", name)
    if name == "temperature":
        message = (
            "Unsupported value: 'temperature' does not support 0 with this model. "
            "Only the default (1) value is supported."
        )
        return error(400, message, "unsupported_value", name)
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    return error(400, message, "unsupported_parameter", name)


def _check(path: str, headers: Mapping[str, str], body: Any) -> None:
    """Check one request against the protocol."""
    if not path.partition("?")[0].endswith("/chat/completions"):
        raise FormatError(f"POST {path} is not for a chat completion")
    step = headers.get(STEP_HEADER)
    if step not in STEPS:
        raise FormatError(f"the header {STEP_HEADER} is {step!r}")
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        raise FormatError("the body is no object with a `model`")
    if body.get("stream") or body.get("n", 1) != 1:
        raise FormatError("streamed, or more than one completion a request")
    messages = body.get("messages")
    if not isinstance(messages, list) or [m.get("role") for m in messages] != ["system", "user"]:
        raise FormatError("the messages are not one of the system and one of the user")
    for message in messages:
        if not isinstance(message.get("content"), str) or not message["content"].strip():
            raise FormatError(f"the {message['role']} message is no text")
    user = messages[1]["content"]
    if step in SOURCE_STEPS:
        parse_sources(user, step)
    elif step in BUILD_LINES:
        check_build_prompt(user, step)
    elif step in DIALOGUE_STEPS:
        check_dialogue_prompt(user, step)
    elif step in EXCERPT_STEPS:
        parse_excerpts(user, step)
    elif step in SHARED_STEPS:
        split_shared(user, step)
    else:
        parse_claim_prompt(user, step)

"""A recording: what a program calls while it generates, and what becomes of it at the end.

A recording never raises into the program on account of its own faults, such as a full disk or
a text of the wrong type. Each kind of fault is logged once a recording, by the logger
`veritrail.recorder`.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from veritrail_record import storing
from veritrail_record.contract import FORMAT, MAX_STAGE, PUBLIC_ID, RECORDED
from veritrail_record.faults import Faults
from veritrail_record.file import RecordFile
from veritrail_record.linking import Links, RecordedSpan
from veritrail_record.nodes import Facts, Nodes, header_line, listed, whole

if TYPE_CHECKING:
    from veritrail_graph.api.client.answers import Ingested
    from veritrail_graph.graph.model import Verification

Input = RecordedSpan | str

_forks = 0
"""How often this process was forked off; a call of the system at every text takes longer."""


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)

_current: ContextVar[Recording | None] = ContextVar("veritrail_recording", default=None)
made_inside: ContextVar[list[RecordedSpan] | None] = ContextVar("veritrail_inside", default=None)
"""What was recorded since a recorded function of this context began."""


def current() -> Recording | None:
    """The open recording of this context, in which recorded functions record."""
    run = _current.get()
    return run if run is not None and run.is_open else None


class Recording:
    """Record a process while it runs, as in `with record("nightly", path="nightly.jsonl") as run:`.

    Without `with`, call `close()` at the end. Threads may share a recording.

    Args:
        name: What people call the process.
        question: What its answer answers.
        path: The process file to write, record by record; an earlier one is replaced. Default:
            `<process_id>.jsonl` in the working folder, or, with `store`, a temporary file.
        store: Whether it is stored in the graph at its end.
        replace: With `store`, whether another content under `process_id` is replaced, with its
            verifications and reviews, as `veritrail ingest --replace` does.
        verify: Whether it is stored and its claims are verified at its end; or the options of
            that, such as `{"engine": "openai", "model": "…"}`.
        claims: Claims of the answer. Without any, `verify` extracts them, which needs a model.
        process_id: The id of the process; default: made of the name, the time and chance.
        stages: Names of stages, by number.
        quiet: Whether the line on stderr that says how to go on is left out.

    Attributes:
        process_id: The id of the process.
        path: The file that is written; None: it could not be made, or was stored and removed.
        ingested: What was stored at the end; None: nothing.
        verifications: The verifications with their trails, where they were asked for.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        question: str | None = None,
        path: str | os.PathLike[str] | None = None,
        store: bool = False,
        verify: bool | Mapping[str, Any] = False,
        claims: str | Sequence[str] = (),
        process_id: str | None = None,
        stages: Mapping[int, str] | None = None,
        quiet: bool = False,
        replace: bool = False,
    ) -> None:
        self.path: Path | None = None
        self.ingested: Ingested | None = None
        self.verifications: Sequence[Verification] = []
        self._lock = threading.RLock()
        self._forks = _forks
        self._is_closed = False
        self._token: Token[Recording | None] | None = None
        self._verify = verify
        wants_graph = bool(store or verify)
        self._stores = wants_graph and storing.has_graph()
        self._is_temporary = self._stores and path is None
        self._is_quiet = quiet
        self._replaces = bool(replace)
        self._nodes: Nodes | None = None
        made = _made_id(name)
        is_id = isinstance(process_id, str) and re.fullmatch(PUBLIC_ID, process_id)
        self.process_id: str = process_id if process_id is not None and is_id else made
        self.faults = Faults(self.process_id)
        if process_id is not None and not is_id:
            self.faults.log("process_id", "%.80r is no process_id; an id was made", process_id)
        if wants_graph and not self._stores:
            message = "nothing is stored, the process stays in its file: %s"
            self.faults.log("store", message, storing.NOT_INSTALLED)
        try:
            self._claims = self._texts_of(claims)
            header = _header(self.process_id, name, question, stages)
            file = RecordFile(self._place(path), partial(header_line, header))
            self.path = file.path
            self._nodes = Nodes(self.process_id, file, self.faults)
        except Exception as error:  # noqa: BLE001
            self.faults.log("file", "nothing is recorded: the file cannot be made: %s", error)

    def __repr__(self) -> str:
        state = "open" if self.is_open else "closed"
        return f"<Recording {self.process_id}: {len(self):,} nodes, {state}>"

    def __len__(self) -> int:
        """Nodes that were recorded."""
        return len(self._nodes.stages) if self._nodes else 0

    def __bool__(self) -> bool:
        return True

    @property
    def is_open(self) -> bool:
        """Say whether more can be recorded, and in this process: a forked one does not record."""
        return not self._is_closed and self._forks == _forks

    def source(
        self,
        text: str,
        *,
        node_id: str | None = None,
        kind: str | None = None,
        step: str | None = None,
        stage: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RecordedSpan:
        """Record source text: what counts as true, such as a document or the result of a tool.

        The same text with the same facts is recorded once.

        Args:
            text: The text.
            node_id: The id of the node; default: made.
            kind: What it is called, such as `chunk`.
            step: The step that brought it in.
            stage: Its stage, the same for all source text of a process.
            metadata: What else is known, as JSON.

        Returns:
            The span, to be named as an input.
        """
        facts = Facts(step, kind, stage, node_id, metadata=metadata)
        return self._guarded(text, lambda nodes: nodes.source(text, facts))

    def given(
        self,
        text: str,
        *,
        node_id: str | None = None,
        kind: str | None = None,
        step: str | None = None,
        stage: int | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RecordedSpan:
        """Record what somebody said who is not vouched for, such as a user.

        It is an input like others, and supports no claim. The arguments are those of `source`.
        """
        facts = Facts(step, kind, stage, node_id, metadata=metadata)
        return self._guarded(text, lambda nodes: nodes.given(text, facts))

    def step(
        self,
        text: str,
        inputs: Input | Sequence[Input] = (),
        *,
        node_id: str | None = None,
        kind: str | None = None,
        step: str | None = None,
        stage: int | None = None,
        model: str | None = None,
        prompt: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RecordedSpan:
        """Record what a step generated.

        Args:
            text: The text.
            inputs: What it was generated from: spans, or texts that were recorded. An input that
                was not recorded is logged, and the node is recorded without it.
            node_id: The id of the node; default: made.
            kind: What it is called, such as `summary`.
            step: The name of the step.
            stage: Its stage, not below that of an input; default: one above its inputs.
            model: The model that wrote it.
            prompt: The prompt that it was written with, or its name.
            metadata: What else is known, as JSON.

        Returns:
            The span, to be named as an input of further steps.
        """
        facts = Facts(step, kind, stage, node_id, None, model, prompt, metadata)
        given = listed(inputs)  # a generator of the program may itself record, or wait for others
        return self._guarded(text, lambda nodes: nodes.generated(text, given, facts))

    def answer(
        self,
        text: Input,
        inputs: Input | Sequence[Input] = (),
        *,
        question: str | None = None,
        node_id: str | None = None,
        kind: str | None = None,
        step: str | None = None,
        stage: int | None = None,
        model: str | None = None,
        prompt: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> RecordedSpan:
        """Record a final output. Its claims are what is verified.

        A generated text, or its span, that was recorded already and comes without further
        arguments is the answer from now on; nothing is recorded twice.

        Args:
            text: The text.
            inputs: As `step` takes them.
            question: What it answers, where that is not the question of the process.
            node_id: The id of the node; default: made.
            kind: What it is called.
            step: The name of the step.
            stage: Its stage.
            model: The model that wrote it.
            prompt: The prompt that it was written with, or its name.
            metadata: What else is known, as JSON.

        Returns:
            The span.
        """
        facts = Facts(step, kind, stage, node_id, question, model, prompt, metadata)
        given = listed(inputs)
        return self._guarded(text, lambda nodes: nodes.answer(text, given, facts))

    def result(
        self,
        text: str,
        facts: Facts,
        inputs: Mapping[str, str | None],
        inside: Collection[str] = (),
    ) -> RecordedSpan:
        """Record what a function returned; see `Nodes.result`."""
        return self._guarded(text, lambda nodes: nodes.result(text, facts, inputs, inside))

    def links(self, value: object, *, within: bool = False) -> Links:
        """The nodes of the recorded texts in a value; none where it cannot be searched."""
        try:
            with self._lock:
                return self._nodes.texts.links(value, within=within) if self._nodes else Links()
        except Exception:  # noqa: BLE001  # such as a list that another thread changes
            self.faults.log("arguments", "arguments could not be searched", trace=True)
            return Links()

    def know(self, value: object, span: RecordedSpan) -> None:
        """Know an object as an input, because its text is that of a node."""
        if self._nodes is not None and span.node_id:
            self._nodes.texts.add_object(value, span.node_id)

    def found(self, span: RecordedSpan) -> RecordedSpan:
        """Take a node that is there as what the running function got."""
        inside = made_inside.get()
        if inside is not None and span not in inside:
            inside.append(span)
        return span

    def final(self, span: RecordedSpan) -> None:
        """Take a generated node as a final output, for a program that names none by `answer`."""
        if self._nodes is not None and span.node_id:
            with self._lock:
                self._nodes.final(span.node_id)

    def know_id(
        self, key: Hashable, span: RecordedSpan, inputs: Mapping[str, str | None] | None = None
    ) -> None:
        """Know a node by an id that a library gave to its text, such as that of a tool call.

        Args:
            key: The id.
            span: The node.
            inputs: What else the id names, and how that was found: for an answer that a server
                keeps, what it was an answer to.
        """
        if self._nodes is not None and span.node_id:
            with self._lock:
                for node_id, how in (inputs or {}).items():
                    self._nodes.texts.add_id(key, node_id, how)
                self._nodes.texts.add_id(key, span.node_id)

    def of_id(self, key: Hashable) -> Mapping[str, str | None]:
        """The nodes that an id of a library names, and how each was found for it."""
        return dict(self._nodes.texts.of_id(key)) if self._nodes is not None else {}

    # Its life

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        self._close(kind)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import asyncio

        self._leave()
        await asyncio.to_thread(self._close, kind)

    @contextmanager
    def activate(self) -> Iterator[Self]:
        """Let recorded functions record here, in a thread of its own or without `with record`."""
        token = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)

    def close(self) -> None:
        """End it: the file is closed, and what was asked for is stored and verified."""
        self._close(None)

    def _leave(self) -> None:
        token, self._token = self._token, None
        if token is not None:
            try:
                _current.reset(token)
            except ValueError:  # it was entered in another context
                if _current.get() is self:
                    _current.set(None)

    def _close(self, kind: type[BaseException] | None) -> None:
        """End it, after an error of the program where there was one.

        What was recorded before an error is stored; it is not verified, because the answer is
        missing. A program that is being stopped is not held up.
        """
        if self._forks != _forks:
            return
        with self._lock:
            if self._is_closed or self._nodes is None:
                self._is_closed = True
                return
            self._is_closed = True
            try:
                # Without its answer, what a failed program leaves is nothing to have claims about.
                is_done = kind is None or bool(self._nodes.answers)
                self._nodes.end(self._claims if is_done else ())
            except Exception as error:  # noqa: BLE001
                self.faults.log("end", "the end of %s cannot be written: %s", self.path, error)
        is_stopped = kind is not None and not issubclass(kind, Exception)
        if self._is_temporary and not len(self):
            self._remove()
        elif self._stores and not is_stopped and len(self):
            self._store(verifies=kind is None)
        self._say_how()

    def _guarded(self, text: object, work: Callable[[Nodes], RecordedSpan]) -> RecordedSpan:
        try:
            if self._forks != _forks:
                self.faults.log("fork", "a forked process does not record")
            elif self._is_closed:
                self.faults.log("closed", "nothing more is recorded: the recording is closed")
            elif self._nodes is not None:
                with self._lock:
                    span = work(self._nodes)
                inside = made_inside.get()
                if inside is not None and span.node_id:
                    inside.append(span)
                return span
        except OSError as error:
            message = "a text was not recorded: %s cannot be written: %s"
            self.faults.log("write", message, self.path, error)
        except Exception:  # noqa: BLE001
            self.faults.log("internal", "a text was not recorded", trace=True)
        return RecordedSpan("", str(text) if isinstance(text, str | RecordedSpan) else "")

    def _texts_of(self, claims: str | Sequence[str]) -> list[str]:
        listed: list[Any] = [claims] if isinstance(claims, str) else list(claims or ())
        found = [one for one in listed if isinstance(one, str) and one.strip()]
        if len(found) < len(listed):
            self.faults.log("claims", "claims that are no text, or an empty one, were left out")
        return list(dict.fromkeys(map(whole, found)))

    def _place(self, path: str | os.PathLike[str] | None) -> Path:
        if path is not None:
            return Path(path)
        folder = Path()
        if self._is_temporary:
            import tempfile

            folder = Path(tempfile.mkdtemp(prefix="veritrail-"))
        return folder / f"{self.process_id}.jsonl"

    def _store(self, *, verifies: bool) -> None:
        """Store it, and verify its claims where that was asked for."""
        assert self.path is not None  # noqa: S101
        options = dict(self._verify) if isinstance(self._verify, Mapping) else {}
        try:
            with storing.graph() as graph:
                self.ingested = storing.store(graph, self.path, replace=self._replaces)
                if self._is_temporary:
                    self._remove()
                if self._verify and verifies:
                    self.verifications = storing.verify(graph, self.ingested, options)
        except Exception as error:  # noqa: BLE001
            act = "verified" if self.ingested else f"stored; it is in {self.path}"
            self.faults.log("store", "the process could not be %s: %s", act, error)

    def _remove(self) -> None:
        """Remove a temporary file with its folder."""
        if self.path is not None:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
                self.path.parent.rmdir()
            self.path = None

    def _say_how(self) -> None:
        """Say in one line on stderr how to check what was not verified."""
        if self._is_quiet or self.verifications or not len(self) or sys.stderr is None:
            return
        nodes = f"{len(self):,} node{'s' * (len(self) != 1)}"
        keep, check = "", shlex.quote(self.process_id)
        if self.path is not None and self.ingested is None:
            file = shlex.quote(str(self.path))
            keep = f"veritrail ingest {'--replace ' * self._replaces}{file}"
            check = check if self._replaces else file
        if self._nodes is not None and not self._nodes.is_generated:
            line = f"veritrail: recorded {nodes}, all given from outside: nothing to verify yet"
            line += f"; to store them: {keep}" if keep else ""
        else:
            line = f"veritrail: recorded {nodes}; to check them: "
            line += f"{keep} && " if keep and self._replaces else ""
            line += f"veritrail check {check}"
        with suppress(OSError, ValueError):  # it is closed
            sys.stderr.write(line + "\n")


def _made_id(name: object) -> str:
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", str(name or ""))[:80].strip("-.")
    when = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    return f"{slug or 'recording'}-{when}-{os.urandom(3).hex()}"


def _header(
    process_id: str, name: object, question: object, stages: Mapping[int, str] | None
) -> dict[str, Any]:
    header: dict[str, Any] = {"format": FORMAT, "process_id": process_id}
    header |= {"name": str(name)} if name is not None else {}
    header |= {"question": str(question)} if question is not None else {}
    names = {
        str(number): str(text)
        for number, text in (stages or {}).items()
        if type(number) is int and 0 <= number <= MAX_STAGE
    }
    header |= {"stages": names} if names else {}
    return {**header, "source_format": RECORDED}

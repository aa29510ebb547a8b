"""The decorator that records what functions return, and from what.

A function runs as it would run without it: it is called once, with its own arguments, and what
it returns or raises is handed on. Without an open recording nothing else happens.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Generator,
    Mapping,
)
from contextvars import Token
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, overload

from veritrail_record.linking import RecordedSpan
from veritrail_record.nodes import Facts
from veritrail_record.recording import Recording, current, made_inside

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Step:
    """Options of recording the results of a function.

    Attributes:
        name: The name of the step.
        facts: What is known of every result.
        text: Takes the text out of a result.
        is_source: Whether the results are source text.
        within: Whether recorded texts are looked for within longer arguments.
    """

    name: str
    facts: Facts
    text: Callable[[Any], object] | None
    is_source: bool
    within: bool


@overload
def recorded_step(function: F, /) -> F: ...
@overload
def recorded_step(
    *,
    step: str | None = None,
    stage: int | None = None,
    kind: str | None = None,
    model: str | None = None,
    prompt: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    text: Callable[[Any], object] | None = None,
    source: bool = False,
    within: bool = False,
) -> Callable[[F], F]: ...
def recorded_step(
    function: F | None = None,
    /,
    *,
    step: str | None = None,
    stage: int | None = None,
    kind: str | None = None,
    model: str | None = None,
    prompt: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    text: Callable[[Any], object] | None = None,
    source: bool = False,
    within: bool = False,
) -> Any:
    """Record the text that a function returns, with the recorded texts among its arguments.

    It takes functions, coroutines, generators and asynchronous generators; of the last two the
    pieces, joined, are the text. A function that returns a list of texts records each of them.
    Arguments are searched for recorded texts and spans, also inside lists, tuples, sets and
    the values of dicts. What is recorded while the function runs, and what nothing else that
    was recorded there was generated from, is an input as well; such an edge is marked as
    inferred from the order. A text that was recorded while the function ran, or that the
    function returns as it got it, is not recorded again.

    Args:
        function: The function, where the decorator stands without arguments.
        step: The name of the step; default: that of the function.
        stage: Its stage; default: one above its inputs.
        kind: What the results are called, such as `summary`.
        model: The model that writes them.
        prompt: The prompt that they are written with, or its name.
        metadata: What else is known, as JSON.
        text: Takes the text, or a list of texts, out of what the function returns, or out of a
            piece that it yields; the object itself is then known as an input too.
        source: Whether the results are source text, such as those of a search.
        within: Whether recorded texts of 24 characters or more are looked for within longer
            arguments, such as prompts, too; takes about 0.1 ms for 1,000 characters.
    """

    def decorated(function: F) -> Any:
        name = step or getattr(function, "__name__", None) or type(function).__name__
        facts = Facts(name, kind, stage, None, None, model, prompt, metadata)
        return _decorated(function, Step(name, facts, text, source, within))

    return decorated if function is None else decorated(function)


def _decorated(function: Any, step: Step) -> Any:
    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def items(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
            stream = function(*args, **kwargs)
            run = current()
            if run is not None:
                stream = _AsyncStream(stream, _Call(run, step, args, kwargs))
            value = None
            try:
                while True:
                    try:
                        piece = await stream.asend(value)
                    except StopAsyncIteration:
                        return
                    while True:
                        try:
                            value = yield piece
                            break
                        except GeneratorExit:
                            raise
                        except BaseException as error:  # noqa: BLE001
                            try:
                                piece = await stream.athrow(error)
                            except StopAsyncIteration:
                                return
            finally:
                await stream.aclose()

        return items
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def pieces(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            stream = function(*args, **kwargs)
            run = current()
            if run is not None:
                stream = _Stream(stream, _Call(run, step, args, kwargs))
            return (yield from stream)

        return pieces
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            run = current()
            if run is None:
                return await function(*args, **kwargs)
            call = _Call(run, step, args, kwargs)
            token = made_inside.set(call.inside)
            try:
                result = await function(*args, **kwargs)
            finally:
                made_inside.reset(token)
            return call.ended(result)

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        run = current()
        if run is None:
            return function(*args, **kwargs)
        call = _Call(run, step, args, kwargs)
        token = made_inside.set(call.inside)
        try:
            result = function(*args, **kwargs)
        finally:
            made_inside.reset(token)
        return call.ended(result)

    return called


@dataclass(slots=True)
class _Call:
    """One call of a recorded function."""

    run: Recording
    step: Step
    args: Any
    kwargs: Any
    inputs: dict[str, str | None] = field(default_factory=dict)
    inside: list[RecordedSpan] = field(default_factory=list)

    def __post_init__(self) -> None:
        # The function may change its arguments, so they are searched before it runs.
        if not self.step.is_source:
            self.inputs = self.run.links((self.args, self.kwargs), within=self.step.within).nodes
        self.args = self.kwargs = None

    def ended(self, result: Any) -> Any:
        """Record a result; one that is still to come is recorded when it is there."""
        if isinstance(result, str):  # the usual one
            self.record(result, self.text_of(result))
            return result
        if isinstance(result, Generator):
            return _relay(_Stream(result, self))
        if isinstance(result, AsyncGenerator):
            return _AsyncStream(result, self)
        if not isinstance(result, list | tuple) and inspect.isawaitable(result):
            return self._awaited(result)
        self.record(result, self.text_of(result))
        return result

    async def _awaited(self, result: Awaitable[Any]) -> Any:
        token = made_inside.set(self.inside)
        try:
            value = await result
        finally:
            made_inside.reset(token)
        self.record(value, self.text_of(value))
        return value

    def text_of(self, result: Any) -> object:
        """The text, or texts, of a result."""
        if self.step.text is None:
            return result
        try:
            return self.step.text(result)
        except Exception:  # noqa: BLE001
            self.run.faults.log("text", "a text could not be taken out of a result", trace=True)
            return None

    def record(self, result: object, text: object, *, is_whole: bool = True) -> None:
        """Record the text, or the texts, of a result."""
        if text is None:
            self._hand_on()
            return
        texts = text if isinstance(text, list | tuple) else [text]
        for one in texts:
            if isinstance(one, RecordedSpan):
                continue
            if not isinstance(one, str):
                message = "%s returned a %s, which is no text; see the argument `text`"
                kind = type(one).__name__
                self.run.faults.log(f"result {self.step.name}", message, self.step.name, kind)
                self._hand_on()
                return
            span = self._recorded(one, is_whole=is_whole)
            if self.step.text is not None and text is one:
                self.run.know(result, span)

    def _recorded(self, text: str, *, is_whole: bool) -> RecordedSpan:
        facts = self.step.facts
        if not is_whole:
            facts = replace(facts, metadata={**(facts.metadata or {}), "incomplete": True})
        if self.step.is_source:
            return self.run.source(
                text,
                kind=facts.kind,
                step=facts.step,
                stage=facts.stage,
                metadata=facts.metadata,
            )
        return self.run.result(text, facts, self.inputs, [one.node_id for one in self.inside])

    def _hand_on(self) -> None:
        """Without a text of its own, what it recorded was recorded by the function around it."""
        around = made_inside.get()
        if around is not None:
            around += self.inside


def _relay(stream: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """A generator proper, which is closed when the program drops it."""
    return (yield from stream)


class _Stream(Generator[Any, Any, Any]):
    """A generator whose pieces, joined, are recorded when it ends or is closed."""

    def __init__(self, stream: Generator[Any, Any, Any], call: _Call) -> None:
        self._stream = stream
        self._pieces = _Pieces(call)

    def send(self, value: Any) -> Any:
        token = self._pieces.begin()
        try:
            piece = self._stream.send(value)
        except BaseException as error:
            self._pieces.stopped(token, error)
            raise
        return self._pieces.add(token, piece)

    def throw(self, *thrown: Any) -> Any:
        token = self._pieces.begin()
        try:
            piece = self._stream.throw(*thrown)
        except BaseException as error:
            self._pieces.stopped(token, error)
            raise
        return self._pieces.add(token, piece)

    def close(self) -> None:
        token = self._pieces.begin()
        try:
            self._stream.close()
        finally:
            self._pieces.stopped(token)


class _AsyncStream(AsyncGenerator[Any, Any]):
    """An asynchronous generator whose pieces, joined, are recorded."""

    def __init__(self, stream: AsyncGenerator[Any, Any], call: _Call) -> None:
        self._stream = stream
        self._pieces = _Pieces(call)

    async def asend(self, value: Any) -> Any:
        token = self._pieces.begin()
        try:
            piece = await self._stream.asend(value)
        except BaseException as error:
            self._pieces.stopped(token, error)
            raise
        return self._pieces.add(token, piece)

    async def athrow(self, *thrown: Any) -> Any:
        token = self._pieces.begin()
        try:
            piece = await self._stream.athrow(*thrown)
        except BaseException as error:
            self._pieces.stopped(token, error)
            raise
        return self._pieces.add(token, piece)

    async def aclose(self) -> None:
        token = self._pieces.begin()
        try:
            await self._stream.aclose()
        finally:
            self._pieces.stopped(token)


class _Pieces:
    """The pieces of a stream.

    Between them the context is the consumer's: what it records then is none of the stream's.
    """

    def __init__(self, call: _Call) -> None:
        self._call = call
        self._texts: list[str] = []
        self._is_over = False

    def begin(self) -> Token[list[RecordedSpan] | None]:
        """Let the stream work at its next piece."""
        return made_inside.set(self._call.inside)

    def add(self, token: Token[list[RecordedSpan] | None], piece: Any) -> Any:
        """Keep the text of a piece; some, such as the last of a reply, have none."""
        made_inside.reset(token)
        text = self._call.text_of(piece)
        if isinstance(text, str):
            self._texts.append(text)
        elif text is not None:
            step = self._call.step.name
            message = "%s yielded a %s, which is no text; see the argument `text`"
            self._call.run.faults.log(f"result {step}", message, step, type(text).__name__)
        return piece

    def stopped(
        self, token: Token[list[RecordedSpan] | None], error: BaseException | None = None
    ) -> None:
        """Record the text once; it is whole where the stream ended by itself."""
        made_inside.reset(token)
        if not self._is_over:
            self._is_over = True
            if self._texts:
                is_whole = isinstance(error, StopIteration | StopAsyncIteration)
                self._call.record(None, "".join(self._texts), is_whole=is_whole)

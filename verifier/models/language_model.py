"""A language model, with everything that a long run needs around an endpoint.

A call goes through the cache of answers, joins an equal call that is pending, waits while
another warms its prefix, and is then made (`verifier.models.retrying`), recorded, read and kept.
The steps of the method see `ask` alone.

Source: VeriTrail D (retries due to invalid answers count); ADR 0010.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.cache import AnswerCache, answer_key
from veritrail_graph.verifier.models.faults import storable
from veritrail_graph.verifier.models.known_models import context_window
from veritrail_graph.verifier.models.limits import Limiter
from veritrail_graph.verifier.models.port import (
    AnswerTooLong,
    Completion,
    ContextTooLong,
    CutOff,
    EmptyAnswer,
    Endpoint,
    Filtered,
    InvalidAnswer,
    KnowingEndpoint,
    Meter,
    ModelError,
    NeverValid,
    Refused,
    Request,
    StepCall,
)
from veritrail_graph.verifier.models.prices import Price, priced
from veritrail_graph.verifier.models.recorded_answers import AnswerRecorder
from veritrail_graph.verifier.models.retrying import Patience, Retrying, Spending
from veritrail_graph.verifier.models.tokens import counter
from veritrail_graph.verifier.own_answers import expect_own

CACHING_HOSTS = ("api.openai.com", "api.deepseek.com")
CACHING_DOMAIN = ".openai.azure.com"
MIN_TOKENS = 1_024  # shorter prefixes are not cached
STAYS_WARM = 300.0  # seconds without use
LONGEST_WAIT = 20.0  # seconds; more than a call takes that goes well
MAX_PREFIXES = 4_096


class Warm(StrEnum):
    """The choice of when calls wait until a prefix is warm."""

    ON = "on"
    OFF = "off"
    AUTO = "auto"


@dataclass(slots=True)
class _Prefix:
    used_at: float
    warmed: asyncio.Event | None = field(default_factory=asyncio.Event)


class Warming:
    """Knows which prefixes are warm."""

    def __init__(
        self,
        when: Warm,
        address: str,
        count: Callable[[str], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        host = urlsplit(address).hostname or ""
        known = host in CACHING_HOSTS or host.endswith(CACHING_DOMAIN)
        self._when = when
        self._caches = when is Warm.ON or known
        self._count = count
        self._clock = clock
        self._prefixes: dict[int, _Prefix] = {}

    async def wait(self, request: Request) -> _Prefix | None:
        """Wait while another call warms the prefix of this one.

        Returns:
            The prefix, if this very call warms it: `done` must follow.
        """
        if self._when is Warm.OFF or not self._caches:
            return None
        key = hash((request.call.model, request.system, request.user[: request.shared]))
        now = self._clock()
        prefix = self._prefixes.get(key)
        if prefix is None or now - prefix.used_at > STAYS_WARM:
            return self._cold(key, request, now)
        prefix.used_at = now
        if prefix.warmed is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_WAIT):
                    await prefix.warmed.wait()
        return None

    def done(self, prefix: _Prefix | None) -> None:
        """The call that warms a prefix is over, well or not: its siblings may go."""
        if prefix is not None and prefix.warmed is not None:
            prefix.warmed.set()
            prefix.warmed = None

    def seen(self, usage: Usage) -> None:
        """Learn from an answer whether the endpoint caches prefixes."""
        if usage.cached_input_tokens:
            self._caches = True

    def _cold(self, key: int, request: Request, now: float) -> _Prefix | None:
        if len(self._prefixes) >= MAX_PREFIXES:
            self._prefixes = {
                name: prefix
                for name, prefix in self._prefixes.items()
                if prefix.warmed is not None or now - prefix.used_at < STAYS_WARM / 5
            }
        prefix = self._prefixes[key] = _Prefix(now)
        shared = request.system + request.user[: request.shared]
        if self._count(shared) < MIN_TOKENS:
            prefix.warmed = None
            return None
        return prefix


T = TypeVar("T")

DEFAULT_WINDOW = 128_000
MAX_OUTPUT = 8_192
SMALLEST_WINDOW = 512
ANSWER_RETRIES = 5
COUNTED, LONGEST_COUNTED = 8_192, 8_000
"""Texts whose count of tokens is remembered, and their most characters."""


@lru_cache(COUNTED)
def _counted(count: Callable[[str], int], text: str) -> int:
    return count(text)


FROM_CACHE = Usage(cached_calls=1, cost_usd=0.0)
"""What an answer costs that was there already."""
NO_CALL = Usage(cost_usd=0.0)
"""What an answer costs where no model is asked."""
_KINDS = {
    Refused: "refused by the model",
    Filtered: "withheld by a content filter",
    CutOff: "cut off",
    EmptyAnswer: "empty",
}


@dataclass(frozen=True, slots=True)
class _Answered:
    """A valid answer, what was read of it, what it costs anew, and the call as it was sent."""

    text: str
    value: Any
    anew: Usage
    sent: StepCall


@dataclass(slots=True, eq=False)
class _PendingCall:
    """A call that has not ended, and how many wait for its answer."""

    task: asyncio.Task[_Answered]
    waiting: int = 0


class LanguageModel:
    """One model at one endpoint; implements `ModelPort`.

    Attributes:
        model: Its name.
        address: Where it is, without any secret.
        price: What it costs, or None where that is not known.
        limiter: The slots for its calls.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        window: int | None = None,
        max_output_tokens: int | None = None,
        patience: Patience = Patience(),  # noqa: B008 - frozen
        limiter: Limiter | None = None,
        cache: AnswerCache | None = None,
        spending: Spending | None = None,
        price: Price | None = None,
        answer_retries: int = ANSWER_RETRIES,
        warm: Warm = Warm.AUTO,
        party: Hashable = None,
        recorder: AnswerRecorder | None = None,
        closes: bool = True,
    ) -> None:
        """Wrap an endpoint.

        Args:
            endpoint: Where to ask.
            model: The model's name.
            window: Its context window in tokens; None: as known for its name, else 128,000.
            max_output_tokens: The limit on an answer; None: 8,192, or a quarter of the window.
            patience: How long calls are tried.
            limiter: Slots for calls; models at one endpoint share one.
            cache: The answers of earlier calls, if they are to be used; runs share one.
            spending: The budget; all models of a run share one.
            price: What it costs.
            answer_retries: How often an invalid answer is asked for again.
            warm: Whether calls wait for a prefix to be warm.
            party: On whose behalf it is asked, where several share the slots.
            recorder: Writes every valid answer down, those of the cache among them.
            closes: Whether the endpoint is closed with it.
        """
        self.model = model
        self.address = endpoint.address
        self.price = price
        self.limiter = limiter or Limiter()
        self._endpoint, self._closes = endpoint, closes
        self._cache = cache
        self._recorder = recorder
        self._answer_retries = answer_retries
        self._count = counter(model)
        self._counted = partial(_counted, self._count)
        self._longest = max_output_tokens or MAX_OUTPUT
        self._window = max(SMALLEST_WINDOW, window or context_window(model) or DEFAULT_WINDOW)
        # As it is at first: a key must not depend on what a run learns on its way.
        self._max_output_of_key = self._max_output
        self._warming = Warming(warm, self.address, self._count)
        self._retrying = Retrying(
            endpoint,
            patience=patience,
            limiter=self.limiter,
            spending=spending or Spending(),
            price=price,
            party=party,
        )
        self._pending: dict[bytes, _PendingCall] = {}

    @property
    def context_tokens(self) -> int:
        """Tokens of the context window that a prompt may fill; it may shrink during a run."""
        return self._window - self._max_output

    @property
    def _max_output(self) -> int:
        return min(self._longest, self._window // 4)

    @property
    def pending_calls(self) -> int:
        """Calls that have not ended; those that join another are not counted."""
        return len(self._pending)

    def tokens(self, text: str) -> int:
        """Tokens of a text: counted where the tokenizer is known, else a safe estimate."""
        # Instructions, and sentences of roots, are asked about again for every claim.
        return self._counted(text) if len(text) <= LONGEST_COUNTED else self._count(text)

    async def ask(self, request: Request, read: Callable[[str], T], meter: Meter) -> T:
        """Ask until there is a valid answer, and read it; see `ModelPort`."""
        self._retrying.check()
        key = answer_key(self.address, request, self._max_output_of_key)
        pending = self._pending.get(key)
        if pending is not None:
            joined = await self._joined(key, pending)
            anew = joined.anew
            meter.record(joined.sent, FROM_CACHE if anew.calls else anew, anew)
            return read(joined.text)
        task = asyncio.create_task(self._answer(key, request, read, meter))
        task.add_done_callback(_retrieve_exception)
        pending = self._pending[key] = _PendingCall(task)
        value: T = (await self._joined(key, pending)).value  # the call was made with this `read`
        return value

    async def recall(self, request: Request, read: Callable[[str], T], meter: Meter) -> T | None:
        """The kept answer to a request; see `RememberingModel`."""
        key = answer_key(self.address, request, self._max_output_of_key)
        known = await self._known(key, request, read, meter)
        if known is not None:
            return known.value  # type: ignore[no-any-return] # read by this `read`
        if isinstance(self._endpoint, KnowingEndpoint):
            text = self._endpoint.known(request)
            if text is not None:
                value = read(text)
                meter.record(request.call, NO_CALL)
                return value
        return None

    async def keep(
        self, request: Request, text: str, tokens: tuple[int, int], sent: StepCall | None = None
    ) -> None:
        """Keep an answer that came as a part of another; see `RememberingModel`."""
        if self._recorder is not None:
            self._recorder.write(request, text)
        if self._cache is not None:
            key = answer_key(self.address, request, self._max_output_of_key)
            await self._cache.put(key, request, text, tokens, sent)

    async def close(self) -> None:
        """Cancel the pending calls, and close the endpoint where no others have it."""
        tasks = [pending.task for pending in self._pending.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._closes:
            await self._endpoint.close()

    async def _joined(self, key: bytes, pending: _PendingCall) -> _Answered:
        """Wait for a pending call; it is cancelled when no one is left who waits for it."""
        pending.waiting += 1
        try:
            return await asyncio.shield(pending.task)
        except asyncio.CancelledError:
            if pending.waiting == 1 and not pending.task.done():
                self._forget(key, pending)
                pending.task.cancel()
                await asyncio.wait([pending.task])
            raise
        finally:
            pending.waiting -= 1
            if pending.task.done():
                self._forget(key, pending)

    def _forget(self, key: bytes, pending: _PendingCall) -> None:
        if self._pending.get(key) is pending:
            del self._pending[key]

    async def _answer(
        self, key: bytes, request: Request, read: Callable[[str], T], meter: Meter
    ) -> _Answered:
        """A valid answer, from the cache or from the endpoint, and what it costs anew."""
        known = await self._known(key, request, read, meter)
        if known is not None:
            return known
        retries = self._answer_retries if request.claims == 1 else 0
        invalid: Counter[str] = Counter()
        tokens = self._tokens_of(request) if self.limiter.counts_tokens else 0
        has_cut_room = False
        while True:
            room = self._max_output
            try:
                async with self._recorded(request, meter) as record:
                    completion = record(await self._retrying.call(request, room, tokens))
                value = _own(completion.text, request, read)
                break
            except ContextTooLong as error:
                # Once more, where only the room for the answer was too large.
                if has_cut_room or not self._has_less_room(error, request, room):
                    self._shrink(self._tokens_of(request))
                    raise
                has_cut_room = True
            except InvalidAnswer as error:
                has_cut_room = False
                invalid[_KINDS.get(type(error), "malformed")] += 1
                if invalid.total() > retries:
                    raise _never_valid(request, invalid, error) from None
        if self._recorder is not None:
            self._recorder.write(request, completion.text)
        if self._cache is not None and request.claims == 1:
            counted = completion.usage.input_tokens, completion.usage.output_tokens
            await self._cache.put(key, request, completion.text, counted, completion.sent)
        sent = completion.sent or request.call
        return _Answered(completion.text, value, completion.usage, sent)

    async def _known(
        self, key: bytes, request: Request, read: Callable[[str], T], meter: Meter
    ) -> _Answered | None:
        """The answer that the recording or the cache has, and what it would cost anew."""
        recorded = self._recorder.known(request) if self._recorder is not None else None
        if recorded is not None:
            with contextlib.suppress(InvalidAnswer):
                value = _own(recorded, request, read)
                unsent = request.call._replace(temperature=None, effort=None)
                meter.record(unsent, NO_CALL)
                return _Answered(recorded, value, NO_CALL, unsent)
        kept = await self._cache.get(key) if self._cache is not None else None
        if kept is None:
            return None
        try:
            value = _own(kept.text, request, read)
        except InvalidAnswer:  # read by rules that have changed since: as if it were not there
            return None
        if self._recorder is not None:
            self._recorder.write(request, kept.text)
        counts = {"input_tokens": kept.input_tokens, "output_tokens": kept.output_tokens}
        anew = priced(Usage(calls=1, **counts), self.price)
        sent = kept.call(request.call)
        meter.record(sent, FROM_CACHE, anew)
        return _Answered(kept.text, value, anew, sent)

    @contextlib.asynccontextmanager
    async def _recorded(
        self, request: Request, meter: Meter
    ) -> AsyncIterator[Callable[[Completion], Completion]]:
        """Around a call: wait until its prefix is warm, and record what it costs."""

        def record(completion: Completion) -> Completion:
            self._warming.seen(completion.usage)
            meter.record(completion.sent or request.call, completion.usage)
            return completion

        prefix = await self._warming.wait(request)
        try:
            yield record
        except ModelError as error:
            if isinstance(error, InvalidAnswer | AnswerTooLong) or error.usage.input_tokens:
                meter.record(error.sent or request.call, error.usage)
            raise
        finally:
            self._warming.done(prefix)

    def _has_less_room(self, error: ContextTooLong, request: Request, room: int) -> bool:
        """Learn the window that the endpoint states; whether the prompt fits with less room."""
        if error.context_tokens and error.context_tokens < self._window:
            self._window = max(SMALLEST_WINDOW, error.context_tokens)
        return self._max_output != room and self._tokens_of(request) <= self.context_tokens

    def _shrink(self, tokens: int) -> None:
        """Make a prompt of this many tokens too long from now on: the endpoint counts otherwise."""
        if tokens <= self.context_tokens:
            self._window = max(SMALLEST_WINDOW, tokens)

    def _tokens_of(self, request: Request) -> int:
        return self._count(request.system) + self._count(request.user)


def _own(text: str, request: Request, read: Callable[[str], T]) -> T:
    """Read an answer, which must not be copied from its prompt.

    Raises:
        InvalidAnswer: It is none.
    """
    value = read(text)
    expect_own(text, request.user)
    return value


def _never_valid(request: Request, invalid: Counter[str], last: InvalidAnswer) -> ModelError:
    kinds = ", ".join(f"{count} {kind}" for kind, count in invalid.most_common())
    return NeverValid(
        f"no valid answer to {request.call.step} in {invalid.total()} attempts"
        f" ({kinds}); the last: {storable(str(last))}"
    )


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Retrieve a pending call's exception, so that asyncio does not report it as never seen."""
    if not task.cancelled():
        task.exception()

"""One prompt, many claims: who waits for an answer, and who shares a prompt.

Ours, not the paper's, which asks about one claim a prompt. The walk, the packing of prompts and
the reading of answers are those of single claims. What is shared is only the asking: a walk that
needs evidence or a verdict waits until all walks of the run wait; then the claims that can share a
prompt (`shared_prompts`) go out together, up to a number a prompt. A claim whose part of an answer
is missing or invalid is asked about alone, with the prompt that it would have had.

Source: ours; docs/adr/0041-shared-prompts.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import Context, ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

from veritrail_graph.graph.model import Usage, Verification
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.models.language_model import FROM_CACHE
from veritrail_graph.verifier.models.port import (
    AnswerTooLong,
    ContextTooLong,
    InvalidAnswer,
    Meter,
    NeverValid,
    RememberingModel,
    RequestRejected,
    StepCall,
)
from veritrail_graph.verifier.prompted import Call
from veritrail_graph.verifier.shared_prompts import Case, SharedPrompt

T = TypeVar("T")

SETTLE = 0.02
"""Seconds in which no walk may go on before what waits is asked."""
ASKED_ALONE = (ContextTooLong, NeverValid, RequestRejected, AnswerTooLong)
"""Faults of a prompt about several claims that a prompt about one may not have."""

_WALK: ContextVar[str | None] = ContextVar("sharing_walk", default=None)


class WaitingRounds(Protocol):
    """The walks that wait for calls in batches; `verifier.models.batching.Rounds` knows them."""

    def is_asking(self, name: str) -> bool:
        """Return whether a walk waits for an answer."""
        ...

    def asking(self, name: str | None = None) -> AbstractContextManager[None]:
        """Around everything that a walk waits for."""
        ...


@dataclass(slots=True, eq=False)
class _Asked:
    """A claim that waits for its answer; None: it is to be asked about alone."""

    walk: str | None
    prompt: SharedPrompt[Any]
    case: Case
    sample: int
    meter: Meter
    answer: asyncio.Future[Any | None]


class Sharing:
    """Gathers the claims of a run that can share a prompt, and asks about them together.

    Args:
        most: Claims of a prompt, at most.
        rounds: Where calls are made in batches, who waits for them; None: they are made live.
    """

    def __init__(self, most: int, rounds: WaitingRounds | None = None) -> None:
        self.most = most
        self._rounds = rounds
        self._walks: set[str] = set()
        self._looking: Counter[str | None] = Counter()
        self._calling: Counter[str | None] = Counter()
        self._waiting: dict[_Asked, None] = {}
        self._here: Counter[str | None] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def watched(self, observer: Observer) -> Observer:
        """The observer of a run whose walks share prompts."""

        def started(task: Task) -> None:
            name = task.verification_id
            _WALK.set(name)
            self._walks.add(name)
            self._touch()
            work = asyncio.current_task()
            if work is not None:  # a walk that is cancelled must not hold the others up
                work.add_done_callback(lambda _work: self._ends(name))
            observer.claim_started(task)

        def finished(verification: Verification) -> None:
            observer.claim_finished(verification)
            self._ends(verification.verification_id)

        return replace(observer, claim_started=started, claim_finished=finished)

    def _ends(self, walk: str) -> None:
        self._walks.discard(walk)
        self._touch()

    async def ask(
        self,
        prompt: SharedPrompt[T],
        case: Case,
        sample: int,
        meter: Meter,
        alone: Call[T],
    ) -> T:
        """The answer about a claim; see `SharedPrompt.ask`."""
        if self.most == 1:
            return await alone()
        walk, memory = _WALK.get(), _memory_of(prompt)
        if memory is not None:
            with self._looks(walk):
                part = prompt.request([case], sample)
                known = await memory.recall(part, partial(prompt.read, case=case), meter)
            if known is not None:
                return known
        answer: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()
        asked = _Asked(walk, prompt, case, sample, meter, answer)
        self._waiting[asked] = None
        self._here[walk] += 1
        self._touch()
        try:
            found = await answer
            return await alone() if found is None else found
        finally:
            if asked in self._waiting:
                del self._waiting[asked]
                self._here[walk] -= 1
            else:
                self._calling[walk] -= 1
            self._touch()

    # When what waits is asked.

    @contextlib.contextmanager
    def _looks(self, walk: str | None) -> Iterator[None]:
        """Around a look into the cache of answers."""
        self._looking[walk] += 1
        try:
            yield
        finally:
            self._looking[walk] -= 1
            self._touch()

    def _touch(self) -> None:
        """Something happened: see in a moment whether all walks wait."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._waiting:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SETTLE, self._look, context=Context())

    def _look(self) -> None:
        self._timer = None
        if not all(map(self._waits, self._walks)):
            return
        waiting, self._waiting = [*self._waiting], {}
        self._here.clear()
        same: dict[tuple[int, str, int], list[_Asked]] = {}
        for asked in waiting:
            self._calling[asked.walk] += 1
            in_common = asked.prompt.in_common(asked.case)
            same.setdefault((id(asked.prompt), in_common, asked.sample), []).append(asked)
        for group in same.values():
            self._send(group)

    def _waits(self, walk: str) -> bool:
        """Return whether a walk can do nothing before what waits here is asked."""
        if self._looking[walk]:
            return False
        is_here = self._here[walk] > 0
        if self._rounds is not None:  # a call that waits for a round comes when all walks wait
            return is_here or self._rounds.is_asking(walk)
        return is_here and not self._calling[walk]

    def _send(self, group: Sequence[_Asked]) -> None:
        """Ask about claims that can share a prompt, in prompts of about the same size.

        Their order is that of their texts: a run that is done again makes the same prompts.
        """
        same: dict[object, list[_Asked]] = {}
        for asked in sorted(group, key=lambda one: one.case.content):
            same.setdefault(asked.case.content, []).append(asked)
        claims = list(same.values())
        prompts = -(-len(claims) // self.most)
        for number in range(prompts):
            start, end = (len(claims) * edge // prompts for edge in (number, number + 1))
            for part in self._fitting(claims[start:end]):
                if len(part) > 1:
                    self._start(part)
                    continue
                for asked in part[0]:  # equal calls about one claim are made once, as ever
                    _resolve(asked, None)

    def _fitting(self, claims: list[list[_Asked]]) -> list[list[list[_Asked]]]:
        """The claims in as many prompts as they fit into."""
        cases = [some[0].case for some in claims]
        if len(claims) == 1 or claims[0][0].prompt.fits(cases):
            return [claims]
        half = len(claims) // 2
        return [*self._fitting(claims[:half]), *self._fitting(claims[half:])]

    def _start(self, claims: Sequence[Sequence[_Asked]]) -> None:
        # In a context of its own: the call belongs to no walk.
        task = asyncio.get_running_loop().create_task(self._ask(claims), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        left = sum(len(some) for some in claims)

        def ended(answer: asyncio.Future[Any | None]) -> None:
            nonlocal left
            left -= 1
            if answer.cancelled() and not left:  # nothing waits for it any more
                task.cancel()

        for asked in (asked for some in claims for asked in some):
            asked.answer.add_done_callback(ended)

    # One prompt about several claims.

    async def _ask(self, claims: Sequence[Sequence[_Asked]]) -> None:
        """Ask about several claims; whatever goes wrong ends in all who wait, or they never end."""
        try:
            await self._ask_and_hand_out(claims)
        except asyncio.CancelledError:
            for asked in (asked for some in claims for asked in some):
                asked.answer.cancel()
            raise
        except Exception as error:  # noqa: BLE001  # raised in all who wait
            for asked in (asked for some in claims for asked in some):
                if not asked.answer.done():
                    asked.answer.set_exception(copy.copy(error))

    async def _ask_and_hand_out(self, claims: Sequence[Sequence[_Asked]]) -> None:
        """Ask about several claims, each with all who wait for it, and give each its part."""
        first = claims[0][0]
        cases = [some[0].case for some in claims]
        request = first.prompt.request(cases, first.sample)
        meter = SharedMeter(claims=claims)
        parts: Sequence[str | None] = [None] * len(claims)
        with contextlib.ExitStack() as stack:
            if self._rounds is not None:
                for walk in {asked.walk for some in claims for asked in some}:
                    stack.enter_context(self._rounds.asking(walk))
            with contextlib.suppress(*ASKED_ALONE):
                read = partial(first.prompt.parts, cases=cases)
                parts = await first.prompt.step.model.ask(request, read, meter)
        share = split_usage(meter.total, len(claims))
        sent = meter.latest or request.call
        for some, part, cost in zip(claims, parts, share, strict=True):
            await self._hand_out(some, part, cost, sent)

    async def _hand_out(
        self, some: Sequence[_Asked], part: str | None, cost: Usage, sent: StepCall
    ) -> None:
        """Give those who wait for a claim its part of an answer; None where it is invalid."""
        first, found = some[0], None
        prompt, memory = first.prompt, _memory_of(first.prompt)
        with contextlib.suppress(InvalidAnswer):
            found = prompt.read(part, first.case) if part else None
        if found is not None and part is not None and memory is not None:
            request = prompt.request([first.case], first.sample)
            tokens = (cost.input_tokens, cost.output_tokens)
            alone = request.call._replace(
                model=sent.model, temperature=sent.temperature, effort=sent.effort
            )
            await memory.keep(request, part, tokens, alone)
        for place, asked in enumerate(some):
            if place and found is not None and not asked.answer.done():
                asked.meter.record(sent, FROM_CACHE, cost)
            _resolve(asked, found)


def _memory_of(prompt: SharedPrompt[Any]) -> RememberingModel | None:
    model = prompt.step.model
    return model if isinstance(model, RememberingModel) else None


def _resolve(asked: _Asked, found: object | None) -> None:
    if not asked.answer.done():
        asked.answer.set_result(found)


def split_usage(usage: Usage, claims: int) -> list[Usage]:
    """Return what each of several claims is charged of a call; the parts add up to the whole.

    Tokens and dollars are divided evenly, in the order of the prompt; what is left over goes to the
    first claims, a token each. A call is one call: it counts for the first claim.
    """

    def parts(number: int) -> list[int]:
        each, left = divmod(number, claims)
        return [each + (place < left) for place in range(claims)]

    tokens = (
        usage.input_tokens,
        usage.cached_input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
    )
    found = []
    each = None if usage.cost_usd is None else usage.cost_usd / claims
    for place, (given, cached, answered, thought) in enumerate(
        zip(*map(parts, tokens), strict=True)
    ):
        is_first = place == 0
        found.append(
            Usage(
                calls=usage.calls if is_first else 0,
                cached_calls=usage.cached_calls if is_first else 0,
                input_tokens=given,
                cached_input_tokens=cached,
                output_tokens=answered,
                cost_usd=each,
                reasoning_tokens=thought,
                unpriced_calls=usage.unpriced_calls if is_first else 0,
                batch_calls=usage.batch_calls if is_first else 0,
            )
        )
    return found


@dataclass(slots=True)
class SharedMeter(Meter):
    """Charges every call to the claims that it asked about; see `split_usage`.

    Attributes:
        claims: The claims, each with all who wait for it: the first of those pays.
    """

    claims: Sequence[Sequence[_Asked]] = field(default=(), kw_only=True)

    def record(self, call: StepCall, usage: Usage, reused: Usage | None = None) -> None:
        """Add the usage of one call."""
        Meter.record(self, call, usage, reused)
        waiting = [[one for one in some if not one.answer.done()] for some in self.claims]
        paying = [some[0].meter for some in waiting if some]
        for meter, part in zip(paying, split_usage(usage, len(paying) or 1), strict=False):
            meter.record(call, part)

"""The limits of an endpoint: calls at once, calls a minute, and lines of batches.

Additive increase, multiplicative decrease: each "too many requests" halves the limit, as many
successes as the limit is high add one again. Calls are let through in the order in which they
come, but those that try again go first, and several parties take turns.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

LONGEST_REST = 3_600.0
"""Seconds between two tries of one line of a batch, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A call that waits.

    Attributes:
        slot: Set when it gets its slot.
        tokens: Tokens of its prompt.
        owner: Who may dismiss it.
        party: On whose behalf it is made.
    """

    slot: asyncio.Future[None]
    tokens: int
    owner: object
    party: Hashable


class Turns:
    """Calls in the order in which they came; several parties take turns.

    Calls that try again go before all others: what they have waited for already is not to be lost.
    """

    def __init__(self) -> None:
        self._again: deque[Turn] = deque()
        self._parties: dict[Hashable, deque[Turn]] = {}

    def __bool__(self) -> bool:
        return bool(self._again or self._parties)

    def __iter__(self) -> Iterator[Turn]:
        yield from self._again
        for waiting in self._parties.values():
            yield from waiting

    def add(self, turn: Turn, *, again: bool) -> None:
        """Let a call wait, in front of all others where it tries again."""
        if again:
            self._again.appendleft(turn)
        else:
            self._parties.setdefault(turn.party, deque()).append(turn)

    @property
    def first(self) -> Turn:
        """The call whose turn it is; there is one."""
        return self._again[0] if self._again else next(iter(self._parties.values()))[0]

    def next(self) -> Turn:
        """Take the call whose turn it is; its party comes after all others then."""
        if self._again:
            return self._again.popleft()
        party, waiting = next(iter(self._parties.items()))
        del self._parties[party]
        turn = waiting.popleft()
        if waiting:
            self._parties[party] = waiting
        return turn

    def drop(self, turn: Turn) -> bool:
        """Remove a waiting call from any queue; the answer says whether it did."""
        if turn in self._again:
            self._again.remove(turn)
            return True
        waiting = self._parties.get(turn.party, deque())
        if turn not in waiting:
            return False
        waiting.remove(turn)
        if not waiting:
            del self._parties[turn.party]
        return True


WINDOW = 1.0  # seconds in which the limit is halved at most once


class Bucket:
    """So much a minute, evenly: a twelfth of it may come at once."""

    def __init__(self, per_minute: float, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._filled_at = clock()
        self._share = 0.0
        self._level = math.inf
        self.set_to(1.0)

    def set_to(self, share: float) -> None:
        """Let so much of it through, such as a half; what is over of the rest is lost."""
        if share == self._share:
            return
        self._share = share
        if math.isfinite(self._level):
            self.wait(0)  # fill it as it was until now
        per_minute = self._per_minute * share
        self._capacity = max(1.0, per_minute / 12)
        # What comes at once is part of the minute: no 60 seconds see more than was set.
        self._rate = max(per_minute - self._capacity, per_minute / 2) / 60
        self._level = min(self._level, self._capacity)

    def wait(self, amount: float) -> float:
        """Seconds until this much may be taken."""
        now = self._clock()
        self._level = min(self._capacity, self._level + (now - self._filled_at) * self._rate)
        self._filled_at = now
        # What is more than the bucket holds waits for a full one, and is owed afterwards.
        missing = min(amount, self._capacity) - self._level
        return missing / self._rate if missing > 1e-9 else 0.0

    def take(self, amount: float) -> None:
        """Take so much, or give it back where it is negative."""
        self._level -= amount


class Dismissed(Exception):
    """A call need not wait for its slot any more: its owner gave up."""


class Limiter:
    """Slots for the pending calls to one endpoint.

    Attributes:
        setting: The highest number of slots.
        limit: How many there are now.
        in_flight: How many are taken.
    """

    def __init__(
        self,
        setting: int = 32,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.setting = self.limit = max(1, setting)
        self.in_flight = 0
        self._clock = clock
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self._waiting = Turns()
        self._timer: asyncio.TimerHandle | None = None
        self._paused_until = 0.0
        self._successes = 0
        self._halved_at = -math.inf

    @property
    def counts_tokens(self) -> bool:
        """Return whether callers have to say how many tokens their prompts are."""
        return self._tokens is not None

    @property
    def paused_until(self) -> float:
        """Return when the pause that the endpoint asked for ends, on this limiter's clock."""
        return self._paused_until

    async def acquire(
        self,
        tokens: int = 0,
        *,
        again: bool = False,
        owner: object = None,
        party: Hashable = None,
    ) -> float:
        """Wait for a slot; the answer is the time at which it was got.

        Args:
            tokens: Tokens of the prompt, where tokens are counted.
            again: The call tries again: it goes before those that have not tried at all.
            owner: Who may dismiss it while it waits.
            party: On whose behalf it is made; those of one party wait in one line, and the lines
                take turns.

        Raises:
            Dismissed: The owner did.
        """
        if not self._waiting and self.in_flight < self.limit and self._delay(tokens) <= 0:
            self._take(tokens)
            return self._clock()
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        turn = Turn(slot, tokens, owner, party)
        self._waiting.add(turn, again=again)
        self._let_through()
        try:
            await slot
        except asyncio.CancelledError:
            if slot.done() and not slot.cancelled() and slot.exception() is None:
                self.release()  # the slot came at the moment of the cancellation
            elif self._waiting.drop(turn):
                self._let_through()
            raise
        return self._clock()

    def release(self, more_tokens: int = 0) -> None:
        """Give a slot back.

        Args:
            more_tokens: Tokens of the call beyond those it announced.
        """
        self.in_flight -= 1
        if self._tokens and more_tokens:
            self._tokens.take(more_tokens)
        self._let_through()

    def succeeded(self) -> None:
        """A call was answered."""
        self._successes += 1
        if self._successes >= self.limit:
            self._successes = 0
            if self.limit < self.setting:
                self.limit += 1
                self._let_through()

    def set_to(self, setting: int, share: float = 1.0) -> None:
        """Change the highest number of slots, and what share of the rates may be used.

        Pending calls beyond it go on.
        """
        was, self.setting = self.setting, max(1, setting)
        if self.limit == was or self.limit > self.setting:  # not halved by the endpoint
            self.limit = self.setting
        for bucket in (self._requests, self._tokens):
            if bucket is not None:
                bucket.set_to(share)
        self._let_through()

    def throttled(self, began: float) -> None:
        """The endpoint asked for fewer calls, of one that began at this time."""
        now = self._clock()
        # Calls that were pending when the limit was halved say nothing new.
        if began > self._halved_at and now - self._halved_at >= WINDOW:
            self.limit = max(1, self.limit // 2)
            self._halved_at = now
        self._successes = 0

    def pause(self, seconds: float) -> None:
        """Let nothing through for so long: the endpoint asked for it."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    def resume(self) -> None:
        """End a pause: no waiting call has time left for it."""
        self._paused_until = 0.0
        self._let_through()

    def dismiss(self, owner: object) -> None:
        """Send away all calls of an owner that wait for a slot."""
        for turn in [turn for turn in self._waiting if turn.owner is owner]:
            if not turn.slot.done():
                self._waiting.drop(turn)
                turn.slot.set_exception(Dismissed())
        self._let_through()

    def _delay(self, tokens: int) -> float:
        delay = self._paused_until - self._clock() if self._paused_until else 0.0
        if self._requests:
            delay = max(delay, self._requests.wait(1))
        if self._tokens:
            delay = max(delay, self._tokens.wait(tokens))
        return delay

    def _take(self, tokens: int) -> None:
        self.in_flight += 1
        if self._requests:
            self._requests.take(1)
        if self._tokens:
            self._tokens.take(tokens)

    def _let_through(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        while self._waiting and self.in_flight < self.limit:
            turn = self._waiting.first
            if turn.slot.done():  # cancelled, and about to leave
                return
            delay = self._delay(turn.tokens)
            if delay > 0:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(delay + 0.001, self._let_through)
                return
            self._waiting.next()
            self._take(turn.tokens)
            turn.slot.set_result(None)


class Room:
    """The room that one model of one endpoint has for lines of ours, learned from what it refuses.

    Endpoints limit the tokens of all batches that are on their way, and say how many only in words.
    A refusal halves what goes out at a time; every batch that was taken lets it grow by an eighth.
    While something of ours is on its way, the rest waits for it. Where nothing is and even one line
    is refused, others use the limit up, or the endpoint counts what has ended: then only time
    helps. Source: ADR 0038.

    Args:
        rest: Seconds from the first refusal of one line alone to its next try; each is twice as
            long as the one before it.
        patience: Seconds in which not even one line is taken until it is given up.

    Attributes:
        epoch: How often it was cut; batches that went out before a cut say nothing new.
    """

    def __init__(self, rest: float, patience: float) -> None:
        self.epoch = 0
        self._first_rest, self._patience = rest, patience
        self._most: int | None = None
        self._is_short = False
        self._doubles = False
        self._rest = 0.0
        self._rests_until = 0.0
        self._full_since: float | None = None

    def resting(self, now: float) -> float:
        """Seconds until something may go out."""
        return max(0.0, self._rests_until - now)

    def free(self, wanted: int, on_their_way: int) -> int:
        """Return how many of some lines may go out; one where none is on its way."""
        if self._most is None:
            return wanted
        found = max(0 if on_their_way else 1, min(wanted, self._most - on_their_way))
        self._is_short = self._is_short or found < wanted
        return found

    def refused(self, lines: int, others: int, epoch: int, now: float) -> bool:
        """A batch was refused because too much is on its way; False: it is given up.

        Args:
            lines: Its lines.
            others: Lines of other batches that are on their way.
            epoch: `epoch` when it went out.
            now: The time.
        """
        if lines > 1 or others:
            if epoch == self.epoch:
                self.epoch += 1
                self._most = max(1, (lines + others) // 2)
                self._doubles = False
            return True
        self._most, self._doubles = 1, True  # what was refused before says nothing of later
        if self._full_since is None:
            self._full_since = now
        self._rest = min(2 * self._rest or self._first_rest, LONGEST_REST)
        self._rests_until = now + random.uniform(self._rest / 2, self._rest)  # noqa: S311
        return now - self._full_since < self._patience

    def taken(self) -> None:
        """A batch was taken, and has ended."""
        self._rest, self._rests_until, self._full_since = 0.0, 0.0, None
        if self._most is not None and self._is_short:
            self._is_short = False
            self._most += self._most if self._doubles else max(1, self._most // 8)

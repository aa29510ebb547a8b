"""The ways in which an endpoint goes wrong, by name, and who decides which call meets which.

A policy is any callable that takes a request and gives a fault or None. What it decides
depends on the prompt and on how often that prompt was asked, never on the order in which
calls arrive: the same run meets the same faults.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Fault(StrEnum):
    """What goes wrong with a call."""

    STATUS_429_RETRY_AFTER = "429_retry_after"
    STATUS_429 = "429"
    STATUS_408 = "408"
    STATUS_409 = "409"
    STATUS_500 = "500"
    STATUS_503 = "503"
    HANG = "hang"
    DROPPED = "dropped"
    DROPPED_IN_BODY = "dropped_in_body"
    WRONG_CONTENT_TYPE = "wrong_content_type"
    BROKEN_BODY = "broken_body"
    SLOW_TRICKLE = "slow_trickle"

    CUT_OFF = "cut_off"
    MALFORMED_JSON = "malformed_json"
    NO_JSON = "no_json"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    EMPTY_CHOICES = "empty_choices"
    EMPTY_CONTENT = "empty_content"
    UNKNOWN_VERDICT = "unknown_verdict"
    MISSING_KEYS = "missing_keys"
    EMPTY_SUMMARY = "empty_summary"

    SEVERAL_OBJECTS = "several_objects"
    IDS_OUT_OF_RANGE = "ids_out_of_range"
    RANGES_AS_STRINGS = "ranges_as_strings"


_ALL = tuple(Fault)
TRANSPORT = _ALL[: _ALL.index(Fault.CUT_OFF)]
"""No usable answer: worth another try until the call's deadline."""

INVALID = _ALL[_ALL.index(Fault.CUT_OFF) : _ALL.index(Fault.SEVERAL_OBJECTS)]
"""An answer that is none: asked again a few times.

A fault that a step cannot have (an unknown verdict in evidence selection) is sent as
missing keys there.
"""

HARMLESS = _ALL[_ALL.index(Fault.SEVERAL_OBJECTS) :]
"""Odd, and still an answer: the outcome stays what it is."""

QUICK = tuple(fault for fault in TRANSPORT if fault not in (Fault.HANG, Fault.SLOW_TRICKLE))
"""Transport faults that are over at once, for tests that cannot wait for a time-out."""

DRAW_BYTES = 8


class StepCall(Protocol):
    """What a policy may look at."""

    @property
    def step(self) -> str: ...

    @property
    def user(self) -> str: ...

    @property
    def sent(self) -> int:
        """How often this prompt has been sent before."""
        ...

    @property
    def number_in_step(self) -> int:
        """How many requests of this step came before."""
        ...


FaultPolicy = Callable[[StepCall], Fault | None]


@dataclass(frozen=True)
class Faults:
    """A share of all calls fails, by a draw that depends on the seed and the prompt alone.

    Attributes:
        share: Share of calls that fail, 0 to 1.
        kinds: The ways in which they fail, each as likely as the others.
        seed: Another seed, other calls.
        beside: Another share with kinds of its own, drawn from the calls that are left: 20 %
            transport faults and 10 % invalid answers are
            `Faults(0.2, TRANSPORT, beside=(0.1, INVALID))`.
        at_most: After so many faults one prompt is answered; None for no limit.
    """

    share: float
    kinds: Collection[Fault] = TRANSPORT
    seed: int = 0
    beside: tuple[float, Collection[Fault]] = (0.0, INVALID)
    at_most: int | None = None

    def __call__(self, asked: StepCall) -> Fault | None:
        if self.at_most is not None and asked.sent >= self.at_most:
            return None
        drawn = self._draw(asked, "share")
        for share, kinds in ((self.share, self.kinds), self.beside):
            if drawn < share:
                return tuple(kinds)[int(self._draw(asked, "kind") * len(kinds))]
            drawn -= share
        return None

    def _draw(self, asked: StepCall, what: str) -> float:
        text = f"{self.seed}\0{asked.step}\0{asked.sent}\0{what}\0{asked.user}"
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=DRAW_BYTES).digest()
        return int.from_bytes(digest) / float(256**DRAW_BYTES)


@dataclass(frozen=True)
class FaultScript:
    """Faults by the place of a request among those of its step, counted from 0.

    `FaultScript({("verdict", 0): Fault.STATUS_500})` fails the first verdict call. The step
    `"*"` stands for every step, and a place of None for every place.
    """

    faults: Mapping[tuple[str, int | None], Fault] = field(default_factory=dict)

    def __call__(self, asked: StepCall) -> Fault | None:
        for step in (asked.step, "*"):
            for place in (asked.number_in_step, None):
                if found := self.faults.get((step, place)):
                    return found
        return None


def always(fault: Fault) -> FaultPolicy:
    """Every call fails in this way."""
    return FaultScript({("*", None): fault})

"""A language model that answers from a function, in memory; answers are read as in real life."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter, ModelError, Request

T = TypeVar("T")


@dataclass
class ScriptedAsking:
    """An `Asking` whose `answer` gives the text of each answer, or raises.

    An invalid answer is asked for again, `retries` times; every call is charged.

    Attributes:
        answer: From a request to the text of an answer.
        retries: How often an invalid answer is asked for again.
        requests: Every request that was answered, in the order of the calls.
        most_at_once: The largest number of calls pending at one time.
    """

    answer: Callable[[Request], str]
    retries: int = 2
    model: str = "scripted"
    address: str = "memory"
    context_tokens: int = 128_000
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0
    _in_the_air: int = 0

    def tokens(self, text: str) -> int:
        return len(text) // 4 + 1

    async def ask(self, request: Request, read: Callable[[str], T], meter: Meter) -> T:
        self._in_the_air += 1
        self.most_at_once = max(self.most_at_once, self._in_the_air)
        try:
            return await self._ask(request, read, meter)
        finally:
            self._in_the_air -= 1

    async def _ask(self, request: Request, read: Callable[[str], T], meter: Meter) -> T:
        fault: ModelError | None = None
        for _attempt in range(self.retries + 1):
            await asyncio.sleep(0)
            self.requests.append(request)
            text = self.answer(request)
            usage = Usage(
                calls=1,
                input_tokens=self.tokens(request.system) + self.tokens(request.user),
                output_tokens=self.tokens(text),
            )
            meter.record(request.call, usage)
            try:
                return read(text)
            except InvalidAnswer as error:
                fault = error
        assert fault is not None
        raise fault

"""A model that is asked in batches: one attempt at a call is a line of the next round.

Source: ADR 0038.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.batch_port import (
    BatchFault,
    BatchingEndpoint,
    BatchRecord,
    BatchService,
    LineRefused,
)
from veritrail_graph.verifier.models.cache import answer_key
from veritrail_graph.verifier.models.language_model import LanguageModel
from veritrail_graph.verifier.models.port import (
    NO_TEMPERATURE,
    AnswerTooLong,
    Completion,
    ContextTooLong,
    EndpointRefused,
    InvalidAnswer,
    Meter,
    ModelError,
    ParameterRefused,
    Request,
    StepCall,
    TransportFault,
)
from veritrail_graph.verifier.models.prices import Price
from veritrail_graph.verifier.models.retrying import Patience, Retrying

if TYPE_CHECKING:
    from veritrail_graph.verifier.models.batching import Rounds

T = TypeVar("T")

MOST_FAULTS = 6
"""How often a line is asked that never gets an answer, valid or not."""


MAX_LINES, MAX_BYTES = 50_000, 100_000_000
"""Lines and bytes of a file, at most; what every known endpoint takes."""
POLL_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """The options of batches.

    Attributes:
        most_lines: Lines of a file, at most.
        most_bytes: Bytes of a file, at most.
        poll: Seconds between two looks at a batch, at most.
        finishes_live: Whether what had no valid answer in a batch is asked live.
        keeps_files: Whether files stay at the endpoint after they were read.
        patience: How long uploads are tried.
        full_for: Seconds in which an endpoint takes not even one line until it is given up.
    """

    most_lines: int = MAX_LINES
    most_bytes: int = MAX_BYTES
    poll: float = POLL_SECONDS
    finishes_live: bool = False
    keeps_files: bool = False
    patience: Patience = field(default_factory=Patience)
    full_for: float = 86_400.0


@dataclass(slots=True, eq=False)
class Line:
    """A call that waits for its answer."""

    line_id: str
    of: BatchEndpoint
    request: Request
    max_output: int | None
    answer: asyncio.Future[Completion]
    content: bytes = b""
    context: object | None = None
    reserved: float = 0.0
    spoilt: int = 0
    """How often its batch was refused for other lines."""


class BatchEndpoint:
    """An `Endpoint` whose calls go out in the rounds of a run; make it with `Rounds.endpoint`.

    Attributes:
        address: Where it is: the same as live, so that answers are found in one cache.
        inner: The endpoint.
        service: Its batches.
        model: The model that is asked.
    """

    def __init__(
        self,
        rounds: Rounds,
        inner: BatchingEndpoint,
        model: str,
        price: Price | None,
        count: Callable[[str], int],
        live: Retrying | None,
    ) -> None:
        self.address, self.inner, self.model = inner.address, inner, model
        self.service: BatchService = inner.batches()
        self._rounds, self._price, self._count, self._live = rounds, price, count, live
        self._asked: Counter[bytes] = Counter()
        self._faults: Counter[bytes] = Counter()

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        """Ask once, in the next round; see `Endpoint`."""
        key = answer_key(self.address, request, max_output_tokens)
        number = self._asked[key]
        self._asked[key] += 1
        if number and self._live is not None:
            return await self._live.call(request, max_output_tokens)
        loop = asyncio.get_running_loop()
        line_id = f"{request.call.step}-{key.hex()[:32]}-{number}"
        line = Line(line_id, self, request, max_output_tokens, loop.create_future())
        try:
            return await self._rounds.answer(line)
        except LineRefused:
            if self._live is None:
                raise
            return await self._live.call(request, max_output_tokens)
        except TransportFault as fault:
            self._faults[key] += 1
            if self._faults[key] >= MOST_FAULTS:
                tried = self._faults[key]
                raise ModelError(f"given up after {tried} batches: {fault}") from None
            raise

    def most_cost(self, request: Request, max_output_tokens: int | None) -> float:
        """Return what a call may cost at most, in US dollars; 0 where no price is known."""
        if self._price is None:
            return 0.0
        prompt = self._count(request.system) + self._count(request.user)
        used = Usage(
            calls=1,
            batch_calls=1,
            input_tokens=prompt,
            output_tokens=max_output_tokens or 0,
        )
        return self._price.cost(used)

    def read(self, line: Line, kept: dict[str, Any]) -> Completion:
        """The answer to a line, from what was kept of it.

        Raises:
            ModelError: It is none; one that was paid carries its usage.
        """
        response = kept.get("response")
        status = response.get("status_code") if isinstance(response, dict) else None
        if not isinstance(response, dict) or not isinstance(status, int):
            raise TransportFault(f"{self.address}: {_error_words(kept.get('error'))}")
        try:
            found = self.inner.read_line(status, response.get("body"), line.request, line.context)
        except (InvalidAnswer, AnswerTooLong) as error:
            error.usage = error.usage.replace(batch_calls=error.usage.calls)
            raise
        except TransportFault as fault:
            fault.retry_after = None  # the next round comes when it comes
            raise
        return replace(found, usage=found.usage.replace(batch_calls=found.usage.calls))

    def refusal(self, line: Line, fault: BatchFault) -> ModelError:
        """Return what it means that a batch was refused because of a line.

        It is what the same answer to a single call means: a parameter may be learned from it.
        """
        parameter = fault.parameter.removeprefix("body.") if fault.parameter else None
        told = {"code": fault.code, "message": fault.message, "param": parameter}
        try:
            self.inner.read_line(400, {"error": told}, line.request, line.context)
        except (ParameterRefused, ContextTooLong) as error:
            return error
        except EndpointRefused as error:
            if error.code == NO_TEMPERATURE:
                return error
            return EndpointRefused(
                f"{self.address} refused the batch: {fault.words}", code="batch_refused"
            )
        except ModelError:
            pass
        return LineRefused(f"{self.address} does not take this call in a batch: {fault.words}")

    async def close(self) -> None:
        """Let go of its connections."""
        await self.inner.close()


@dataclass(frozen=True, slots=True)
class GatheredModel:
    """A `ModelPort` that says who waits for its answers."""

    inner: LanguageModel
    rounds: Rounds

    @property
    def model(self) -> str:
        """Its name."""
        return self.inner.model

    @property
    def address(self) -> str:
        """Return where it is asked, without any secret."""
        return self.inner.address

    @property
    def context_tokens(self) -> int:
        """Tokens of the context window that a prompt may fill."""
        return self.inner.context_tokens

    def tokens(self, text: str) -> int:
        """Tokens of a text."""
        return self.inner.tokens(text)

    async def ask(self, request: Request, read: Callable[[str], T], meter: Meter) -> T:
        """Ask until there is a valid answer, and read it; see `ModelPort`."""
        with self.rounds.asking():
            return await self.inner.ask(request, read, meter)

    async def recall(self, request: Request, read: Callable[[str], T], meter: Meter) -> T | None:
        """The kept answer to a request; see `RememberingModel`."""
        return await self.inner.recall(request, read, meter)

    async def keep(
        self, request: Request, text: str, tokens: tuple[int, int], sent: StepCall | None = None
    ) -> None:
        """Keep an answer that came as a part of another; see `RememberingModel`."""
        await self.inner.keep(request, text, tokens, sent)


def _error_words(error: Any) -> str:
    """Return what the file of errors says of a line."""
    if not isinstance(error, dict):
        return "the batch holds no answer to a line"
    code, message = str(error.get("code") or ""), str(error.get("message") or "").rstrip(". ")
    return f"a line has no answer: {message or code or 'no reason given'}"[:300]


def missing_answer(batch: BatchRecord) -> str:
    """The answer to a line of which a batch says nothing."""
    message = f"batch {batch.batch_id} ended as {batch.state.value} without it"
    return json.dumps({"error": {"code": "no_answer", "message": message}})

"""The port to language models: what a call asks, what it costs, and how it can fail.

An `Endpoint` makes one attempt at one call. `LanguageModel` (`verifier.models.language_model`)
adds what a long run needs: cache, budget, limits, retries. The steps of the method see `ask`
alone. Every call is recorded by the `Meter` of the claim that it was made for.

Source: the model protocol (docs/model-protocol.md); VeriTrail D (retries due to invalid answers
count).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import StepRecord, Usage


class StepCall(NamedTuple):
    """The purpose of a call: one step of the method, with its prompt and its model.

    Attributes:
        step: The step's name in the model protocol.
        prompt: Name and version of the prompt.
        prompt_hash: SHA-256 of the prompt's file in hexadecimal.
        model: The model.
        temperature: The temperature asked for, or None.
        effort: The effort of reasoning asked for, or None.
    """

    step: str
    prompt: str
    prompt_hash: str
    model: str
    temperature: float | None
    effort: str | None = None


NO_TEMPERATURE = "samples_need_temperature"
"""Code of the error of samples that are to be drawn from a model without a temperature."""


@dataclass(slots=True)
class Meter:
    """Adds up what the calls for one claim, or for another piece of work, cost.

    Calls whose answer was invalid count as well.

    Attributes:
        on_record: Called with the usage of every call.
        iteration: The iteration that calls are recorded under; 0: before the first.
        latest: The call that was recorded last, as it was sent.
    """

    on_record: Callable[[Usage], None] = lambda _usage: None
    iteration: int = 0
    latest: StepCall | None = None
    _recorded: dict[tuple[int, StepCall], Usage] = field(default_factory=dict)
    _reused: Usage = field(default_factory=Usage)

    def record(self, call: StepCall, usage: Usage, reused: Usage | None = None) -> None:
        """Add the usage of one call.

        Args:
            call: The call, with the temperature and the effort that were sent.
            usage: What it cost now.
            reused: Of an answer that was there already, what it would cost anew.
        """
        self._add(call, usage, reused or Usage())
        self.on_record(usage)

    def take(self, other: Meter, *, is_told: bool = False) -> None:
        """Add all that another meter has recorded; the hook is called, unless it was for these."""
        for (_, call), usage in other._recorded.items():
            self._add(call, usage)
            if not is_told:
                self.on_record(usage)
        self._reused += other._reused

    def _add(self, call: StepCall, usage: Usage, reused: Usage = Usage()) -> None:
        key = (self.iteration, call)
        self.latest = call
        self._recorded[key] = self._recorded.get(key, Usage()) + usage
        self._reused += reused

    @property
    def reused(self) -> Usage:
        """Return what the answers that were there already would cost anew; none of it was paid."""
        return self._reused

    @property
    def total(self) -> Usage:
        """Usage of all calls so far."""
        return sum(self._recorded.values(), Usage())

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        """Usage of all calls so far, by iteration and step."""
        recorded = sorted(self._recorded.items(), key=lambda item: item[0][0])
        return tuple(
            StepRecord(iteration=iteration, usage=usage, **call._asdict())
            for (iteration, call), usage in recorded
        )


T = TypeVar("T")


class Step(StrEnum):
    """The steps that ask a model; every request names its step in a header."""

    CLAIM_SELECTION = "claim_selection"
    CLAIM_DISAMBIGUATION = "claim_disambiguation"
    CLAIM_DECOMPOSITION = "claim_decomposition"
    SUB_CLAIM_DECOMPOSITION = "sub_claim_decomposition"
    EVIDENCE_SELECTION = "evidence_selection"
    EVIDENCE_SELECTION_SHARED = "evidence_selection_shared"
    VERDICT = "verdict"
    VERDICT_SHARED = "verdict_shared"
    PROPOSITIONS = "propositions"
    ATTRIBUTION = "attribution"
    FAITHFULNESS = "faithfulness"
    CORRECTION = "correction"
    DIALOGUE_EXTRACTION = "dialogue_extraction"
    DIALOGUE_VERIFICATION = "dialogue_verification"
    DIALOGUE_CATEGORISATION = "dialogue_categorisation"
    DIALOGUE_TURN_CHECK = "dialogue_turn_check"
    FACTSCORE_EXTRACTION = "factscore_extraction"
    FACTSCORE_VERIFICATION = "factscore_verification"
    DIALOGUE_JUDGE = "dialogue_judge"


@dataclass(frozen=True, slots=True)
class Request:
    """One completion to ask for.

    Attributes:
        call: The step, the prompt, the model and the temperature.
        system: The system message: all instructions.
        user: The user message.
        shared: How many characters at the beginning of `user` other claims share (the excerpts);
            0 where nothing is.
        sample: Number of the sample, counted from 0; samples of one prompt differ in it alone.
        schema: JSON Schema of the answer's object, sent only where structured output is wanted.
        claims: How many claims it asks about. One about several is asked once: where it has no
            valid answer, each claim is asked about alone. Its answer is not kept; its parts are.
        needs_temperature: Whether an answer without the temperature is of no use.
    """

    call: StepCall
    system: str
    user: str
    shared: int = 0
    sample: int = 0
    schema: Mapping[str, Any] | None = None
    claims: int = 1
    needs_temperature: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """An endpoint's answer to one call.

    Attributes:
        text: The whole answer; never empty.
        usage: What it cost, with `calls` 1; tokens as the endpoint counted them.
        sent: The call with the temperature and the effort that were sent; None: as it was asked.
    """

    text: str
    usage: Usage
    sent: StepCall | None = None


class ModelError(VeriTrailError):
    """A call to a model went wrong; the base of the ways below.

    Attributes:
        usage: What it cost all the same.
        sent: The call with the temperature and the effort that were sent; None: as it was asked.
    """

    code = "model_error"

    usage = Usage()
    sent: StepCall | None = None


class TransportFault(ModelError):
    """The endpoint could not be reached, or gave no usable answer; worth another try.

    Attributes:
        status: The HTTP status, if there was an answer.
        retry_after: Seconds that the endpoint asks to wait, if it does.
        is_unreachable: Whether there was not even a connection.
        usage: Tokens that the endpoint counted, though it gave no answer; not a call.
    """

    code = "model_unreachable"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        is_unreachable: bool = False,
        usage: Usage = Usage(),
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.is_unreachable = is_unreachable
        self.usage = usage

    @property
    def is_throttling(self) -> bool:
        """Return whether the endpoint asks for fewer calls."""
        return self.status == 429


class InvalidAnswer(ModelError):
    """The model answered, but not what was asked for: asked again a few times, never cached."""

    code = "invalid_answer"

    def __init__(self, message: str, usage: Usage = Usage()) -> None:
        super().__init__(message)
        self.usage = usage


class Refused(InvalidAnswer):
    """The model declined to answer."""


class Filtered(InvalidAnswer):
    """A content filter withheld the answer."""


class CutOff(InvalidAnswer):
    """The answer was cut off by the limit on its length."""


class EmptyAnswer(InvalidAnswer):
    """The answer holds no text."""


class AnswerTooLong(ModelError):
    """The body of an answer is longer than any is read: it was paid, and is not asked for again."""

    code = "answer_too_long"

    def __init__(self, message: str, usage: Usage = Usage()) -> None:
        super().__init__(message)
        self.usage = usage


class ContextTooLong(ModelError):
    """The prompt does not fit into the model's context window.

    Attributes:
        context_tokens: The window as the endpoint states it, where it does.
    """

    code = "context_too_long"

    def __init__(self, message: str, context_tokens: int | None = None) -> None:
        super().__init__(message)
        self.context_tokens = context_tokens


class NeverValid(ModelError):
    """No answer was valid, however often it was asked."""


class RequestRejected(ModelError):
    """The endpoint does not take this request, however often it is sent (such as HTTP 400)."""

    code = "request_rejected"


class ParameterRefused(ModelError):
    """The endpoint does not take a parameter; it is left out from now on: worth asking at once."""


class EndpointRefused(ModelError):
    """The key, the model or the address is refused: no call of this run can succeed."""

    code = "endpoint_refused"


class Unreachable(EndpointRefused):
    """The endpoint could not be reached from the first call on."""

    code = "endpoint_unreachable"


class OverBudget(ModelError):
    """The budget, or the number of calls, of the run is used up: no further call is made."""

    code = "over_budget"


class Endpoint(Protocol):
    """One attempt at one call; `verifier.models.openai_endpoint` is one."""

    @property
    def address(self) -> str:
        """Return where it is, without any secret: part of the key of cached answers."""
        ...

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        """Ask once.

        Raises:
            TransportFault: Worth another try.
            InvalidAnswer: An answer that is a refusal, filtered, empty or cut off.
            AnswerTooLong: An answer with a longer body than is read; a call all the same.
            ContextTooLong: The prompt is too long.
            RequestRejected: This request is not taken.
            ParameterRefused: A parameter is not taken; the next attempt does without it.
            EndpointRefused: No request is taken.
        """
        ...

    async def close(self) -> None:
        """Let go of its connections."""
        ...


@runtime_checkable
class KnowingEndpoint(Protocol):
    """An endpoint that has all its answers already."""

    def known(self, request: Request) -> str | None:
        """Return the answer to a request; None: it has none."""
        ...


class ModelPort(Protocol):
    """The part of a language model that the steps of the method use."""

    @property
    def model(self) -> str:
        """Its name."""
        ...

    @property
    def address(self) -> str:
        """Return where it is asked, without any secret."""
        ...

    @property
    def context_tokens(self) -> int:
        """Tokens of the context window that a prompt may fill; it may shrink during a run."""
        ...

    def tokens(self, text: str) -> int:
        """Tokens of a text: counted where the tokenizer is known, else a safe estimate."""
        ...

    async def ask(self, request: Request, read: Callable[[str], T], meter: Meter) -> T:
        """Ask until there is a valid answer, and read it.

        Args:
            request: What to ask.
            read: Reads an answer's text; raises `InvalidAnswer` where it is none.
            meter: Records every call, those with invalid answers included.

        Raises:
            ModelError: There is no valid answer; the message says why.
        """
        ...


@runtime_checkable
class RememberingModel(Protocol):
    """A model whose answers are kept: what came with an answer to another request, too."""

    async def recall(self, request: Request, read: Callable[[str], T], meter: Meter) -> T | None:
        """The kept answer to a request, read and recorded; None: there is none."""
        ...

    async def keep(
        self, request: Request, text: str, tokens: tuple[int, int], sent: StepCall | None = None
    ) -> None:
        """Keep a valid answer that came as a part of another.

        Args:
            request: What would have been asked for it alone.
            text: The answer.
            tokens: Its share of the tokens of the prompt, and of the answer.
            sent: The call as it was sent; None: as it was asked.
        """
        ...

"""Any OpenAI-compatible endpoint, through the official `openai` client.

The client brings authentication, headers, Azure's addresses and what batches need. Its own retries
are off: there is one layer for that (`verifier.models.retrying`). A call is sent over the client's
connections, past its preparing of options, which takes longer than sending. Reading the body of an
answer is ours as well.

Source: the model protocol (docs/model-protocol.md).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit
from urllib.request import getproxies

from veritrail_graph.graph.certificates import trusted_certificates
from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.batch_port import WrittenLine
from veritrail_graph.verifier.models.faults import ErrorContext, Problem, fault, short_message
from veritrail_graph.verifier.models.port import (
    NO_TEMPERATURE,
    AnswerTooLong,
    Completion,
    ContextTooLong,
    CutOff,
    EmptyAnswer,
    EndpointRefused,
    Filtered,
    InvalidAnswer,
    ModelError,
    ParameterRefused,
    Refused,
    Request,
    RequestRejected,
    StepCall,
    TransportFault,
)
from veritrail_graph.verifier.models.tokens import estimate

if TYPE_CHECKING:
    import httpx2
    import openai

    from veritrail_graph.verifier.models.batch_port import BatchService


OPENAI = "https://api.openai.com/v1"
STEP_HEADER = "X-Veritrail-Step"
CONNECT_TIMEOUT = 10.0
ATTEMPT_TIMEOUT = 60.0
MAX_ANSWER_BYTES = 4_000_000  # of the body, unpacked
MAX_FILE_BYTES = 4_000_000_000  # of a file of a batch's answers, which is never held whole
FILE_CONTENT = "/content"
MAX_ANSWER_CHARACTERS = 1_000_000  # of the text and the reasoning together
NO_KEY = "none"  # servers on the own machine ask for no key, but the client does

_REFUSAL = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|not permitted|not allowed|deprecated"
    r"|extra (inputs|fields)|only the default|unexpected|invalid (field|parameter)",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:at most|less than or equal to|maximum (?:value )?(?:is|of)|tokens: \d+ >)\D{1,3}(\d{2,7})"
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters that an endpoint takes, as far as is known.

    Attributes:
        limit: What it calls the limit on the length of an answer; None: it takes none.
        most: The highest limit that it takes; None: not known.
        temperature: Whether it takes a temperature.
        effort: Whether it takes an effort of reasoning.
        schema: Whether it takes a schema for the answer.
    """

    limit: str | None = "max_tokens"
    most: int | None = None
    temperature: bool = True
    effort: bool = True
    schema: bool = True

    def without(self, problem: Problem) -> Dialect | None:
        """The dialect that a refusal of a parameter teaches; None: it is no such refusal."""
        message = problem.message
        if self.limit and self._names(problem, self.limit):
            if self.limit == "max_tokens" and "max_completion_tokens" in message:
                return replace(self, limit="max_completion_tokens")
            if (bound := _AT_MOST.search(message)) and int(bound[1]) < (self.most or 1 << 40):
                return replace(self, most=int(bound[1]))
            if _REFUSAL.search(message):
                renamed = "max_completion_tokens" if self.limit == "max_tokens" else None
                return replace(self, limit=renamed)
        if not _REFUSAL.search(message) and "unsupported" not in str(problem.codes):
            return None
        if self.effort and self._complains(problem, "reasoning_effort", "temperature"):
            return replace(self, effort=False)
        if self.temperature and self._complains(problem, "temperature", "reasoning_effort"):
            return replace(self, temperature=False)
        if self.schema and (
            self._names(problem, "response_format") or self._names(problem, "json_schema")
        ):
            return replace(self, schema=False)
        return None

    def sent(self, call: StepCall) -> StepCall:
        """Return a call with the temperature and the effort that are sent of it."""
        return call._replace(
            temperature=call.temperature if self.temperature else None,
            effort=call.effort if self.effort else None,
        )

    @classmethod
    def _complains(cls, problem: Problem, parameter: str, other: str) -> bool:
        """Return whether a refusal is about a parameter, though its words may name another too."""
        if problem.parameter:
            return problem.parameter.startswith(parameter)
        first, second = problem.message.find(parameter), problem.message.find(other)
        return first >= 0 and (second < 0 or first < second)

    @staticmethod
    def _names(problem: Problem, parameter: str) -> bool:
        named = problem.parameter or ""
        return named.startswith(parameter) or parameter in problem.message


class OpenAiEndpoint:
    """One OpenAI-compatible endpoint; keeps its connections for the whole run.

    Attributes:
        address: Where it is, without key and query.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        api_version: str | None = None,
        attempt_timeout: float = ATTEMPT_TIMEOUT,
        connections: int = 256,
    ) -> None:
        """Connect when first asked.

        Args:
            base_url: As OpenAI's own clients take it; None: OpenAI itself.
            api_key: The key; None: the endpoint asks for none.
            api_version: Of Azure OpenAI; `base_url` is the resource then, and the name of a model
                that of its deployment.
            attempt_timeout: Seconds for one attempt.
            connections: The most connections that are kept.
        """
        import openai

        url = base_url or OPENAI
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2].lower()
        self.address = f"{parts.scheme.lower()}://{host}{parts.path.rstrip('/')}"
        self._key = api_key
        self._timeout = attempt_timeout
        self._dialect = Dialect()
        self._has_answered = False
        self._http = _pool(attempt_timeout, connections)
        options: dict[str, Any] = {
            "api_key": api_key or NO_KEY,
            "max_retries": 0,
            "timeout": _timeout(attempt_timeout),
            "http_client": self._http,
        }
        self._client: openai.AsyncOpenAI = (
            openai.AsyncAzureOpenAI(azure_endpoint=url, api_version=api_version, **options)
            if api_version
            else openai.AsyncOpenAI(base_url=url, **options)
        )
        said = {**self._client.default_headers, **self._client.auth_headers}
        self._headers = {name: value for name, value in said.items() if isinstance(value, str)}
        self._is_azure = api_version is not None
        self._places: dict[str, httpx2.URL] = {}

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        """Ask once; see `Endpoint`."""
        import ssl

        import anyio
        import httpx2

        dialect = self._dialect
        self._check_samples(request, dialect)
        body = request_body(request, max_output_tokens, dialect)
        try:
            try:
                sent = self._http.build_request(
                    "POST",
                    self._place(request.call.model),
                    content=_packed(body),
                    headers={**self._headers, STEP_HEADER: request.call.step},
                )
                async with asyncio.timeout(self._timeout):
                    response = await self._http.send(sent)
            except TimeoutError:
                late = f"no answer from {self.address} within {self._timeout:g} s"
                raise TransportFault(late) from None
            except (httpx2.RequestError, ssl.SSLError, anyio.EndOfStream) as error:
                raise broken_off(error, self.address, self._key) from None
            except AnswerTooLong as error:
                self._has_answered = True
                message = f"{self.address}: {error}"
                raise AnswerTooLong(message, _usage(None, request, "")) from None
            except UnicodeEncodeError:
                raise RequestRejected("the prompt holds a lone surrogate, no character") from None
            if not response.is_success:
                raise self._refusal(
                    response.status_code, response.content, response.headers, request, dialect
                )
            kind = response.headers.get("content-type", "")
            answer = read_completion(response.content, kind.lower(), request, self.address)
        except ModelError as error:
            self._has_answered = self._has_answered or isinstance(error, InvalidAnswer)
            error.sent = dialect.sent(request.call)
            raise
        self._has_answered = True
        return replace(answer, sent=dialect.sent(request.call))

    def _place(self, model: str) -> httpx2.URL:
        """Return where a model is asked; on Azure each one has a place of its own."""
        place = self._places.get(model)
        if place is None:
            client = self._client
            of_model = f"deployments/{quote(model, safe='')}/" if self._is_azure else ""
            path = client.base_url.raw_path.partition(b"?")[0] + of_model.encode()
            place = client.base_url.copy_with(raw_path=path + b"chat/completions")
            query = {name: str(value) for name, value in client.default_query.items()}
            place = place.copy_merge_params({**client.base_url.params, **query})
            self._places[model] = place
        return place

    def _check_samples(self, request: Request, dialect: Dialect) -> None:
        """See that samples are drawn at the temperature that they need.

        Raises:
            EndpointRefused: The model takes none.
        """
        if request.needs_temperature and not dialect.temperature:
            raise no_temperature(request.call.model)

    async def close(self) -> None:
        """Let go of its connections."""
        await self._client.close()

    def batches(self) -> BatchService:
        """The batch interface of this endpoint; see `BatchingEndpoint`."""
        from veritrail_graph.verifier.models.openai_batches import OpenAiBatches

        return OpenAiBatches(self._client, self.address, self._key, self._timeout)

    def write_line(self, request: Request, max_output_tokens: int | None) -> WrittenLine:
        """The body of a call in a batch; see `BatchingEndpoint`."""
        dialect = self._dialect
        self._check_samples(request, dialect)
        return WrittenLine(request_body(request, max_output_tokens, dialect), dialect)

    def read_line(
        self, status: int, body: Any, request: Request, written: object | None
    ) -> Completion:
        """Read the answer to a line of a batch; see `BatchingEndpoint`."""
        content = json.dumps(body).encode()
        dialect = written if isinstance(written, Dialect) else Dialect()
        sent = dialect.sent(request.call)
        try:
            if status != 200:
                raise self._refusal(status, content, {}, request, dialect)
            return replace(read_completion(content, "", request, self.address), sent=sent)
        except ModelError as error:
            error.sent = sent
            raise

    def _refusal(
        self,
        status: int,
        content: bytes,
        headers: Mapping[str, str],
        request: Request,
        dialect: Dialect,
    ) -> ModelError:
        problem = Problem.read(content)
        echoes = any(text[:40] in problem.message for text in (request.system, request.user))
        context = ErrorContext(f"{request.system}\n{request.user}", self._has_answered)
        words = "" if echoes else short_message(problem.message, self._key)
        answered = f"{self.address} answered HTTP {status}" + (f" ({words})" if words else "")
        meaning = fault(status, problem, headers, answered, context)
        if status not in (400, 422) or isinstance(meaning, ContextTooLong | Filtered):
            return meaning
        learned = dialect.without(problem)
        if learned is None:
            return meaning
        if self._dialect == dialect:  # else another call has learned something already
            self._dialect = learned
        if request.needs_temperature and not learned.temperature:
            return no_temperature(request.call.model, answered)
        return ParameterRefused(answered)


def no_temperature(model: str, answered: str | None = None) -> EndpointRefused:
    """Return the error of samples that cannot be drawn.

    Args:
        model: The model.
        answered: The words of the endpoint that refused the temperature.
    """
    told = (
        f"{model} takes no temperature, so several samples of an answer would not be drawn as "
        "they are meant: leave the samples out, or name another model"
    )
    return EndpointRefused(f"{told} ({answered})" if answered else told, code=NO_TEMPERATURE)


def broken_off(cause: BaseException | None, address: str, key: str | None) -> TransportFault:
    """Return what a connection that could not be made, or broke, means."""
    import httpx2

    why = short_message(str(cause) or type(cause).__name__, key) if cause else "no reason given"
    if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
        return TransportFault(f"no connection to {address}: {why}", is_unreachable=True)
    return TransportFault(f"{address} broke off without an answer: {why}")


def _packed(body: Mapping[str, Any]) -> bytes:
    """A body as it is sent.

    Raises:
        UnicodeEncodeError: It holds a lone surrogate.
    """
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def request_body(
    request: Request,
    max_output_tokens: int | None,
    dialect: Dialect = Dialect(),
) -> dict[str, Any]:
    """The body of a request. Source: the model protocol."""
    call = dialect.sent(request.call)
    body: dict[str, Any] = {
        "model": call.model,
        "messages": [
            {"role": "system", "content": request.system},
            {"role": "user", "content": request.user},
        ],
    }
    if call.temperature is not None:
        body["temperature"] = call.temperature
    if call.effort is not None:
        body["reasoning_effort"] = call.effort
    if max_output_tokens is not None and dialect.limit:
        body[dialect.limit] = min(max_output_tokens, dialect.most or max_output_tokens)
    if request.schema is not None and dialect.schema:
        schema = {"name": request.call.step, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _timeout(attempt_timeout: float) -> httpx2.Timeout:
    """Limits of one attempt."""
    import httpx2

    return httpx2.Timeout(attempt_timeout, connect=min(CONNECT_TIMEOUT, attempt_timeout))


def _pool(attempt_timeout: float, connections: int) -> httpx2.AsyncClient:
    """Connections that are kept, with answers bounded in time and size."""
    import httpx2
    import openai

    from veritrail_graph.verifier.models.kept_connections import KeptConnections

    class Bounded(httpx2.AsyncByteStream):
        """An unpacked body that ends where it is longer than any answer may be.

        An answer is refused then; of an error the status says enough. Files of batches hold many
        answers, and are read line by line.
        """

        def __init__(
            self,
            parts: AsyncIterable[bytes],
            most: int,
            close: Callable[[], Awaitable[None]],
            *,
            is_success: bool,
        ) -> None:
            self._parts, self._most, self._close = parts, most, close
            self._is_success = is_success

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in self._parts:
                size += len(part)
                await asyncio.sleep(0)  # parts that have come already are not waited for
                if size > self._most:
                    if not self._is_success:
                        return
                    longer = f"the answer is longer than {self._most:,} bytes"
                    raise AnswerTooLong(f"{longer}, and is not read")
                yield part

        async def aclose(self) -> None:
            await self._close()

    async def bound(response: httpx2.Response) -> None:
        is_file = response.request.url.path.endswith(FILE_CONTENT)
        most = MAX_FILE_BYTES if is_file else MAX_ANSWER_BYTES
        body = response.stream
        assert isinstance(body, httpx2.AsyncByteStream)  # noqa: S101  # the client is async
        parts: AsyncIterable[bytes] = body
        close = body.aclose
        if "content-encoding" in response.headers:
            # Some gateways pack answers although none asked for it.
            packed = httpx2.Response(
                response.status_code,
                headers=response.headers,
                stream=body,
                request=response.request,
            )
            parts, close = packed.aiter_bytes(), packed.aclose  # at most 1 MB at once
            response.headers.pop("content-encoding")
        response.stream = Bounded(parts, most, close, is_success=response.is_success)

    certificates = trusted_certificates()
    # Which proxy an address has is left to the client.
    kept = None if getproxies() else KeptConnections(certificates, connections)
    return openai.DefaultAsyncHttpxClient(
        timeout=_timeout(attempt_timeout),
        verify=certificates,
        transport=kept,
        follow_redirects=False,  # a prompt goes to the one place that was named
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=connections),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [bound]},
    )


def read_completion(body: bytes, content_type: str, request: Request, address: str) -> Completion:
    """Read an answer with a status of success.

    Args:
        body: The body.
        content_type: The header of that name; empty: there was none.
        request: What was asked.
        address: The endpoint, for messages.

    Raises:
        TransportFault: It is no completion; its status is 200.
        InvalidAnswer: It is a refusal, filtered, cut off, empty or too long.
    """
    if content_type and "json" not in content_type:
        kind = short_message(content_type)[:60]
        raise TransportFault(f"{address}: the answer is {kind}, not JSON", status=200)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise TransportFault(f"{address}: the answer is not JSON", status=200) from None
    choice = _choice(found)
    if choice is None:
        lost = _stated(found, request)
        raise TransportFault(f"{address}: the answer holds no completion", status=200, usage=lost)
    message = choice["message"]
    text = _text(message.get("content"))
    usage = _usage(found.get("usage"), request, text)
    _check(choice.get("finish_reason"), text, message.get("refusal"), usage)
    if (length := len(text) + _reasoning(message)) > MAX_ANSWER_CHARACTERS:
        most = f"{MAX_ANSWER_CHARACTERS:,}"
        raise InvalidAnswer(f"the answer has {length:,} characters; at most {most} are read", usage)
    return Completion(text, usage)


def _choice(found: Any) -> Mapping[str, Any] | None:
    """The first choice, if there is one that holds a message."""
    choices = found.get("choices") if isinstance(found, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    return choices[0] if isinstance(choices[0].get("message"), dict) else None


def _text(content: Any) -> str:
    if isinstance(content, list):  # some servers answer in parts
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _reasoning(message: Mapping[str, Any]) -> int:
    """Characters of the reasoning that some servers put beside the answer."""
    texts = (message.get(key) for key in ("reasoning_content", "reasoning"))
    return max(len(text) if isinstance(text, str) else 0 for text in texts)  # some send both


def _check(reason: Any, text: str, refusal: Any, usage: Usage) -> None:
    if reason == "content_filter":
        raise Filtered("a content filter withheld the answer", usage)
    blank = not text.strip()
    if blank and isinstance(refusal, str) and refusal.strip():
        raise Refused(f"the model declined to answer: {short_message(refusal)}", usage)
    if reason == "length":
        raise CutOff("the answer was cut off by the limit on its length", usage)
    if blank:
        raise EmptyAnswer("the answer holds no text", usage)


def _usage(found: Any, request: Request, text: str) -> Usage:
    """Tokens as the endpoint counted them; an estimate where it does not say."""
    if not isinstance(found, dict):
        found = {}
    prompt = _count(found, "prompt_tokens")
    completion = _count(found, "completion_tokens")
    cached = _count(_part(found, "prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _count(found, "prompt_cache_hit_tokens")  # as DeepSeek calls it
    if prompt is None:
        prompt = estimate(request.system) + estimate(request.user)
    if completion is None:
        completion = estimate(text)
    reasoning = _count(_part(found, "completion_tokens_details"), "reasoning_tokens")
    return Usage(
        calls=1,
        input_tokens=prompt,
        cached_input_tokens=min(cached or 0, prompt),
        output_tokens=completion,
        reasoning_tokens=min(reasoning or 0, completion),
    )


def _stated(found: Any, request: Request) -> Usage:
    """Tokens that are billed although there is no answer; no call, and nothing is estimated."""
    usage = found.get("usage") if isinstance(found, dict) else None
    if not isinstance(usage, dict) or not _count(usage, "prompt_tokens"):
        return Usage()
    return _usage(usage, request, "").replace(calls=0)


def _part(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = found.get(key)
    return part if isinstance(part, dict) else {}


def _count(found: Mapping[str, Any], key: str) -> int | None:
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        return None
    return value

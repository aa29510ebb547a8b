"""An endpoint that is posted JSON and answers JSON: entailment models, embeddings.

`LanguageModel` puts retries, limits, the budget, prices and the cache of answers around it, as
around an endpoint of completions: the user message of a request is the body.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from veritrail_graph.graph.certificates import trusted_certificates
from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.faults import ErrorContext, Problem, fault, short_message
from veritrail_graph.verifier.models.port import (
    AnswerTooLong,
    Completion,
    Request,
    RequestRejected,
    TransportFault,
)

if TYPE_CHECKING:
    import httpx2

LONGEST_ANSWER = 4_000_000
_ONE_USED = Usage(calls=1)


def _one_call(request: Request, body: bytes) -> Usage:
    """One call, of which nothing else is known."""
    del request, body
    return _ONE_USED


class JsonEndpoint:
    """One attempt at one call: an `Endpoint` whose prompts are bodies and answers are JSON.

    Attributes:
        address: Where it is, without any secret.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        *,
        attempt_timeout: float = 60.0,
        longest_answer: int = LONGEST_ANSWER,
        used: Callable[[Request, bytes], Usage] = _one_call,
    ) -> None:
        """Connect when first asked.

        Args:
            url: The whole address that is posted to.
            api_key: Sent as a bearer token; None: none is.
            attempt_timeout: Seconds for one attempt, from the connection to the end of the answer.
            longest_answer: The most bytes of an answer that are read.
            used: What a call with this request, and an answer with this body, used.
        """
        parts = urlsplit(url)
        self.address = f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
        self._key = api_key
        self._timeout = attempt_timeout
        self._longest = longest_answer
        self._used = used
        self._client: httpx2.AsyncClient | None = None
        self._has_answered = False

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        """Ask once; see `Endpoint`."""
        import httpx2

        del max_output_tokens
        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = httpx2.AsyncClient(
                timeout=self._timeout,
                verify=trusted_certificates(),
                follow_redirects=False,
                headers=headers,
            )
        try:
            async with asyncio.timeout(self._timeout):
                response, body = await self._asked(self._client, request)
        except UnicodeEncodeError:
            raise RequestRejected("a text holds a lone surrogate, no character") from None
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            why = short_message(str(error), self._key)
            raise TransportFault(
                f"no connection to {self.address}: {why}", is_unreachable=True
            ) from None
        except (TimeoutError, httpx2.TimeoutException):
            late = f"no answer from {self.address} within {self._timeout:g} s"
            raise TransportFault(late) from None
        except httpx2.HTTPError as error:
            why = short_message(str(error) or type(error).__name__, self._key)
            raise TransportFault(f"{self.address} broke off without an answer: {why}") from None
        if response.status_code != 200:
            problem = Problem.read(body)
            said = "" if problem.message[:40] in request.user else problem.message
            said = short_message(said, self._key)
            reply = f"{self.address} answered HTTP {response.status_code}"
            context = ErrorContext(request.user, self._has_answered)
            reply += f" ({said})" if said else ""
            raise fault(response.status_code, problem, response.headers, reply, context)
        self._has_answered = True
        return Completion(body.decode("utf-8", "replace"), self._used(request, body))

    async def _asked(
        self, client: httpx2.AsyncClient, request: Request
    ) -> tuple[httpx2.Response, bytes]:
        """Ask once; the answer and its body."""
        async with client.stream(
            "POST",
            self.address,
            content=request.user.encode(),
            headers={
                "Content-Type": "application/json",
                "X-Veritrail-Step": request.call.step,
            },
        ) as response:
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                await asyncio.sleep(0)  # parts that have come already are not waited for
                if len(body) > self._longest:
                    raise AnswerTooLong(
                        f"{self.address}: the answer is longer than {self._longest:,} bytes",
                        _ONE_USED,
                    )
        return response, bytes(body)

    async def close(self) -> None:
        """Let go of its connections."""
        if self._client is not None:
            await self._client.aclose()

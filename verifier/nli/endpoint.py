"""An entailment model behind HTTP, asked in batches of pairs.

Two forms of the body are spoken. An address that ends in `/predict` is asked as
text-embeddings-inference is: `{"inputs": [[premise, hypothesis]]}` gives a list of labels with
scores for each pair. Any other gets `{"pairs": [{"premise", "hypothesis"}]}` and answers
`{"probabilities": [{"entailment", "neutral", "contradiction"}]}`; `neutral` and `contradiction` may
be left out. Retries, limits, the budget of calls and the cache of answers are those of language
models.

Source: the HTTP interface of text-embeddings-inference; the other form is ours.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.faults import ErrorContext, Problem, fault, short_message
from veritrail_graph.verifier.models.port import (
    AnswerTooLong,
    Completion,
    ContextTooLong,
    InvalidAnswer,
    Meter,
    ModelPort,
    Request,
    RequestRejected,
    StepCall,
    TransportFault,
)
from veritrail_graph.verifier.nli.labels import Outputs, outputs_of, probability
from veritrail_graph.verifier.nli.port import Entailment, Pair
from veritrail_graph.verifier.nli.windows import over_hypothesis, over_premise, slices, words

if TYPE_CHECKING:
    import httpx2

BATCH = 32
WINDOW_WORDS = 250
OVERLAP_WORDS = 30
LONGEST_ANSWER = 4_000_000
STEP = "entailment"
_TEI = "/predict"
_ONE_USED = Usage(calls=1)


class EntailmentEndpoint:
    """One attempt at one batch: an `Endpoint` whose prompts are bodies and answers are JSON.

    Attributes:
        address: Where it is, without any secret.
    """

    def __init__(
        self, url: str, api_key: str | None = None, *, attempt_timeout: float = 60.0
    ) -> None:
        """Connect when first asked.

        Args:
            url: The whole address that is posted to.
            api_key: Sent as a bearer token; None: none is.
            attempt_timeout: Seconds for one attempt.
        """
        parts = urlsplit(url)
        self.address = f"{parts.scheme.lower()}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
        self._key = api_key
        self._timeout = attempt_timeout
        self._client: httpx2.AsyncClient | None = None
        self._has_answered = False

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        """Ask once; see `Endpoint`."""
        import httpx2

        del max_output_tokens
        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = httpx2.AsyncClient(
                timeout=self._timeout, follow_redirects=False, headers=headers
            )
        try:
            async with self._client.stream(
                "POST",
                self.address,
                content=request.user.encode(),
                headers={"Content-Type": "application/json", "X-Veritrail-Step": STEP},
            ) as response:
                body = b""
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > LONGEST_ANSWER:
                        raise AnswerTooLong(
                            f"{self.address}: the answer is longer than {LONGEST_ANSWER:,} bytes",
                            _ONE_USED,
                        )
        except UnicodeEncodeError:
            raise RequestRejected("a text holds a lone surrogate, no character") from None
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            why = short_message(str(error), self._key)
            raise TransportFault(
                f"no connection to {self.address}: {why}", is_unreachable=True
            ) from None
        except httpx2.TimeoutException:
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
        return Completion(body.decode("utf-8", "replace"), _ONE_USED)

    async def close(self) -> None:
        """Let go of its connections."""
        if self._client is not None:
            await self._client.aclose()


class RemoteModel:
    """An entailment model behind HTTP: an `EntailmentModel`.

    Args:
        model: The endpoint with its cache, limits and retries.
        window: Words of a premise that are sent at a time; None: 250.
        labels: What the labels of its answers mean, in order; None: as they are named.
    """

    def __init__(
        self, model: ModelPort, window: int | None = None, labels: str | None = None
    ) -> None:
        self._model = model
        self._window = window or WINDOW_WORDS
        self._labels = labels
        self._is_tei = urlsplit(model.address).path.endswith(_TEI)
        self._call = StepCall(STEP, "tei" if self._is_tei else "pairs", "", model.model, None)

    @property
    def name(self) -> str:
        """Its address: a server does not say which model it runs."""
        return self._model.model

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decides its answers, as far as it is known here."""
        return {
            "model": self._model.model,
            "endpoint": self._model.address,
            "window_words": self._window,
            "labels": self._labels,
        }

    async def predict(self, pairs: Sequence[Pair], meter: Meter) -> list[Entailment]:
        """Judge pairs; see `EntailmentModel`."""
        grids = [self._grid(pair) for pair in pairs]
        asked = list(dict.fromkeys(one for grid in grids for row in grid for one in row))
        parts = [asked[start : start + BATCH] for start in range(0, len(asked), BATCH)]
        answers = await asyncio.gather(*(self._ask(part, meter) for part in parts))
        found = dict(zip(asked, (one for rows in answers for one in rows), strict=True))
        return [
            over_hypothesis([over_premise([found[one] for one in row]) for row in grid])
            for grid in grids
        ]

    async def close(self) -> None:
        """Leave the connections to whoever made the model."""

    def _grid(self, pair: Pair) -> list[list[Pair]]:
        overlap = min(OVERLAP_WORDS, self._window // 4)
        premises = slices(pair.premise, words(pair.premise), self._window, overlap)
        parts = slices(pair.hypothesis, words(pair.hypothesis), self._window, overlap)
        return [[Pair(text, part) for text in premises] for part in parts]

    async def _ask(self, pairs: Sequence[Pair], meter: Meter) -> list[Entailment]:
        body: dict[str, Any]
        if self._is_tei:
            body = {"inputs": [list(pair) for pair in pairs], "truncate": False}
        else:
            body = {"pairs": [pair._asdict() for pair in pairs]}
        text = json.dumps(body, ensure_ascii=False)
        try:
            return await self._model.ask(
                Request(self._call, "", text), lambda answer: self._read(answer, len(pairs)), meter
            )
        except ContextTooLong as error:
            raise RequestRejected(
                f"{error}; it reads less than windows of {self._window} words"
            ) from None

    def _read(self, text: str, count: int) -> list[Entailment]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise InvalidAnswer("the answer is not JSON") from None
        rows = found.get("probabilities") if isinstance(found, dict) else found
        if not isinstance(rows, list) or len(rows) != count:
            given = len(rows) if isinstance(rows, list) else "no"
            raise InvalidAnswer(f"the answer holds {given} result(s) for {count} pair(s)")
        try:
            return [self._of_labels(row) if isinstance(row, list) else _of(row) for row in rows]
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidAnswer(f"a result is no set of probabilities: {error}") from None

    def _of_labels(self, row: Sequence[Any]) -> Entailment:
        """From labels with scores, in whichever order the server puts them."""
        scores = {str(one["label"]): probability(one["score"]) for one in row}
        names = sorted(scores)
        if self._labels is None:
            outputs = outputs_of(dict(enumerate(names)), "the answer of the server")
        else:
            outputs = Outputs(outputs_of({}, "", self._labels).roles)
        if len(outputs.roles) != len(names):
            raise ValueError(f"{len(names)} labels, and {len(outputs.roles)} are named")
        return outputs.assigned([scores[name] for name in names])


def _of(row: Any) -> Entailment:
    if isinstance(row, Mapping) and "support" in row:
        return Entailment(probability(row["support"]))
    return Entailment(
        probability(row["entailment"]),
        *(None if row.get(name) is None else probability(row[name]) for name in _OPTIONAL),
    )


_OPTIONAL = ("neutral", "contradiction")

"""An embedding model behind an OpenAI-compatible endpoint, asked in batches of texts.

The address is asked as OpenAI's `/embeddings` is. Vectors are asked for in base64, which is a
quarter as long; plain numbers are read as well. A text that is longer than the model reads is
halved, and the halves are averaged by their length.

Source: OpenAI's HTTP interface of embeddings; the halves are ours.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from veritrail_eval.embeddings.port import weighted_mean
from veritrail_graph.graph.model import Usage
from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    InvalidAnswer,
    Meter,
    ModelPort,
    Request,
    RequestRejected,
    StepCall,
)
from veritrail_graph.verifier.models.tokens import estimate
from veritrail_graph.verifier.ports import JudgeError

PATH = "/embeddings"
STEP = "embedding"
BATCH = 64
BATCH_CHARACTERS = 200_000
"""Characters of a batch: endpoints limit the tokens of a call. A longer text is a batch alone."""
LONGEST_ANSWER = 32_000_000
_SHORTEST_HALF = 100


def embedding_usage(request: Request, body: bytes) -> Usage:
    """Return what a call used, as the endpoint counted it; an estimate where it does not say."""
    try:
        used = json.loads(body).get("usage")
        tokens = used.get("prompt_tokens", used.get("total_tokens"))
    except (ValueError, AttributeError, RecursionError):
        tokens = None
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
        tokens = estimate("".join(json.loads(request.user)["input"]))
    return Usage(calls=1, input_tokens=tokens)


class RemoteEmbedder:
    """An embedding model behind HTTP: an `Embedder`.

    Args:
        model: The endpoint with its cache, limits and retries.
        batch: The most texts of a call.
    """

    def __init__(self, model: ModelPort, batch: int = BATCH) -> None:
        self._model = model
        self._most = batch
        self._call = StepCall(STEP, "", "", model.model, None)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.model

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its vectors."""
        return {"model": self._model.model, "endpoint": self._model.address}

    async def embed(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """Embed texts; see `Embedder`."""
        asked = list(dict.fromkeys(texts))
        batches = batches_of(asked, self._most)
        answers = await asyncio.gather(*(self._batch(batch, meter) for batch in batches))
        rows = [row for batch in answers for row in batch]
        if len({len(row) for row in rows}) > 1:
            raise JudgeError(f"{self.name} gave vectors that differ in length")
        found = dict(zip(asked, rows, strict=True))
        return [found[text] for text in texts]

    async def _batch(self, texts: Sequence[str], meter: Meter) -> list[array[float]]:
        try:
            return await self._ask(texts, meter)
        except ContextTooLong as error:
            if len(texts) > 1:
                return [(await self._batch([text], meter))[0] for text in texts]
            parts = halves(texts[0])
            if parts is None:
                raise RequestRejected(f"{self.name} refused a short text: {error}") from None
            vectors = [(await self._batch([part], meter))[0] for part in parts]
            return [weighted_mean(vectors, [len(part) for part in parts])]

    async def _ask(self, texts: Sequence[str], meter: Meter) -> list[array[float]]:
        body = {"model": self._model.model, "input": list(texts), "encoding_format": "base64"}
        text = json.dumps(body, ensure_ascii=False)
        return await self._model.ask(
            Request(self._call, "", text), lambda answer: read_vectors(answer, len(texts)), meter
        )


def batches_of(texts: Sequence[str], most: int = BATCH) -> list[list[str]]:
    """Texts in batches that an endpoint takes, in their order."""
    made: list[list[str]] = []
    characters = 0
    for text in texts:
        characters += len(text)
        if not made or len(made[-1]) == most or characters > BATCH_CHARACTERS:
            made.append([])
            characters = len(text)
        made[-1].append(text)
    return made


def halves(text: str) -> tuple[str, str] | None:
    """A text in two, between words where it has some; None: it is too short for that."""
    if len(text) < 2 * _SHORTEST_HALF:
        return None
    middle = len(text) // 2
    gap = text.find(" ", middle)
    place = gap if 0 <= gap < len(text) - _SHORTEST_HALF else middle
    return text[:place], text[place:]


def read_vectors(text: str, count: int) -> list[array[float]]:
    """The vectors of an answer, in the order of the texts.

    Raises:
        InvalidAnswer: It holds others, or what is no vector.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidAnswer("the answer is not JSON") from None
    rows = found.get("data") if isinstance(found, dict) else None
    if not isinstance(rows, list) or len(rows) != count:
        given = len(rows) if isinstance(rows, list) else "no"
        raise InvalidAnswer(f"the answer holds {given} vector(s) for {count} text(s)")
    try:
        placed = {row.get("index", place): row["embedding"] for place, row in enumerate(rows)}
        vectors = [_vector(placed[place]) for place in range(count)]
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InvalidAnswer(f"the answer holds what is no vector: {error}") from None
    if len({len(vector) for vector in vectors}) > 1:
        raise InvalidAnswer("the vectors of the answer differ in length")
    return vectors


def _vector(value: Any) -> array[float]:
    if isinstance(value, str):
        try:
            vector = array("f", base64.b64decode(value, validate=True))
        except binascii.Error as error:
            raise ValueError(str(error)) from None
        if sys.byteorder == "big":  # endpoints write them the other way round
            vector.byteswap()
    elif isinstance(value, list):
        if any(isinstance(one, bool) for one in value):
            raise ValueError("a truth value")
        vector = array("f", value)
    else:
        raise TypeError("neither numbers nor base64")
    if not vector or not all(map(math.isfinite, vector)):
        raise ValueError("empty, or a number that is none (NaN or ∞)")
    return vector

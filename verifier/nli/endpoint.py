"""An entailment model behind HTTP, asked in batches of pairs.

Two forms of the body are spoken. An address that ends in `/predict` is asked as
text-embeddings-inference is: `{"inputs": [[premise, hypothesis]]}` gives a list of labels with
scores for each pair. Any other gets `{"pairs": [{"premise", "hypothesis"}]}` and answers
`{"probabilities": [{"entailment", "neutral", "contradiction"}]}`; `neutral` and `contradiction` may
be left out. It is asked through a `JsonEndpoint`.

Source: the HTTP interface of text-embeddings-inference; the other form is ours.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    InvalidAnswer,
    Meter,
    ModelPort,
    Request,
    RequestRejected,
    StepCall,
)
from veritrail_graph.verifier.nli.labels import Outputs, outputs_of, probability
from veritrail_graph.verifier.nli.port import Entailment, Pair
from veritrail_graph.verifier.nli.windows import over_hypothesis, over_premise, slices, words

BATCH = 32
WINDOW_WORDS = 250
OVERLAP_WORDS = 30
STEP = "entailment"
_TEI = "/predict"


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
        """Return what decides its answers, as far as it is known here."""
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
        """Leave the connections to the caller who made the model."""

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

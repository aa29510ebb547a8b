"""SummaC: a matrix of sentence pairs, read by maxima (ZS) or by a trained histogram (Conv).

Source: Laban et al. 2022 (SummaC), 3: SummaC-ZS (3.1), SummaC-Conv (3.2).
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.adapters.port import Support, mean, sentences
from veritrail_graph.verifier.nli.port import Entailment, EntailmentModel, Pair
from veritrail_graph.verifier.ports import Split

_LABELS = {"e": "entailment", "c": "contradiction", "n": "neutral"}
_KEYS = ("bins", "mlp.weight", "mlp.bias", "layer_final.weight", "layer_final.bias")
_SHAPES: Mapping[str, Sequence[tuple[int | None, ...]]] = {
    "bins": [(None,)],
    "mlp.weight": [(None,), (1, None)],
    "mlp.bias": [(), (1,)],
    "layer_final.weight": [(6,), (2, 3)],
    "layer_final.bias": [(2,)],
}
"""Shapes of the parts of a file; None: any number."""
_ROWS = 10
_EVEN = 50
"""Bins of the same width where a file names none: the published default."""
_MOST_BYTES = 10_000_000


async def matrix(
    model: EntailmentModel, split: Split, document: str, claim: str, meter: Meter
) -> list[list[Entailment]]:
    """For each sentence of the claim, what each sentence of the document says to it."""
    texts, said = sentences(split, document), sentences(split, claim)
    found = await model.predict([Pair(text, one) for one in said for text in texts], meter)
    return [found[start : start + len(texts)] for start in range(0, len(found), len(texts))]


@dataclass(frozen=True, slots=True)
class SummaCZs:
    """The mean over the claim's sentences of highest entailment less highest contradiction.

    The score lies between -1 and 1. A model without contradiction counts none.

    Attributes:
        model: Judges sentence pairs.
        split: Splits documents and claims into sentences.
    """

    model: EntailmentModel
    split: Split
    lowest: ClassVar[float] = -1.0

    @property
    def name(self) -> str:
        """Name of the method."""
        return "summac-zs"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Nothing beside the model decides."""
        return {}

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim; `parts` are those of its sentences. See `Adapter`."""
        rows = await matrix(self.model, self.split, document, claim, meter)
        parts = tuple(
            max(one.entailment for one in row) - max(one.contradiction or 0.0 for one in row)
            for row in rows
        )
        return Support(mean(parts), parts)


@dataclass(frozen=True, slots=True)
class ConvWeights:
    """The trained weights of SummaC-Conv, as the user brings them.

    Attributes:
        bins: The limits of the histogram's bins, rising, the first 0 and the last 1.
        labels: Which probabilities have a histogram: letters of `ecn`, in that order.
        weight: One weight for each bin of each histogram.
        bias: Added to the weighted sum.
        final: For each of the two classes its three weights (of minimum, mean and maximum).
        final_bias: For each class what is added.
        aggregate: `mean`, `min`, `max` (each fills all three features) or `all`.
        rows: The most sentences of a claim that count.
        source: The file's hash, for the trail.
    """

    bins: tuple[float, ...]
    labels: str
    weight: tuple[float, ...]
    bias: float
    final: tuple[tuple[float, ...], tuple[float, ...]]
    final_bias: tuple[float, float]
    aggregate: str = "mean"
    rows: int = _ROWS
    source: str = ""

    @classmethod
    def read(cls, path: Path) -> ConvWeights:
        """Read a file of the tensors of a checkpoint by their names, and `bins`.

        It is a JSON object, or a file of numpy whose name ends in `.npz`. Shapes: `mlp.weight`
        (1, n) or (n,), n being the bins times the labels; `mlp.bias` (1,); `layer_final.weight`
        (2, 3) or (6,); `layer_final.bias` (2,); `bins` one more than there are bins. Without
        `bins` there are 50 of the same width.

        Raises:
            InputError: It cannot be read, or a part is missing, has another shape or a number
                that is none.
        """
        import hashlib

        data, found = _content(path)
        labels = found.get("labels", "e")
        if "bins" not in found and _size(found.get("mlp.weight")) == _EVEN * len(str(labels)):
            found["bins"] = [place * (1 / _EVEN) for place in range(_EVEN)] + [1.0]
        missing = [key for key in _KEYS if key not in found]
        if missing:
            raise InputError(f"{path}: it lacks {', '.join(missing)}; see docs/judges.md.")
        labels = str(labels)
        aggregate = str(found.get("aggregate", "mean"))
        rows = found.get("rows", _ROWS)
        bins, weight, bias, final, final_bias = (_numbers(path, key, found[key]) for key in _KEYS)
        if not labels or labels != "".join(one for one in "ecn" if one in labels):
            raise InputError(f"{path}: labels is {labels!r}; write letters of ecn in that order.")
        if aggregate not in ("mean", "min", "max", "all"):
            raise InputError(f"{path}: aggregate is {aggregate!r}; write mean, min, max or all.")
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise InputError(f"{path}: rows is {rows!r}; write a whole number above 0.")
        rising = all(one < other for one, other in pairwise(bins))
        if len(bins) < 2 or not rising or bins[0] != 0 or bins[-1] != 1:
            raise InputError(f"{path}: bins must rise from 0 to 1.")
        sizes = {
            "mlp.weight": (len(weight), (len(bins) - 1) * len(labels)),
            "mlp.bias": (len(bias), 1),
            "layer_final.weight": (len(final), 6),
            "layer_final.bias": (len(final_bias), 2),
        }
        for key, (size, wanted) in sizes.items():
            if size != wanted:
                raise InputError(f"{path}: {key} holds {size} number(s), and {wanted} are needed.")
        return cls(
            bins,
            labels,
            weight,
            bias[0],
            (final[:3], final[3:]),
            (final_bias[0], final_bias[1]),
            aggregate,
            rows,
            hashlib.sha256(data).hexdigest()[:32],
        )

    def row(self, scores: Sequence[Entailment]) -> float:
        """The weighted histogram of a sentence of the claim over the document's sentences."""
        total = self.bias
        for index, label in enumerate(self.labels):
            first = index * (len(self.bins) - 1)
            for one in scores:
                value = getattr(one, _LABELS[label])
                total += self.weight[first + self._bin(0.0 if value is None else value)]
        return total

    def _bin(self, value: float) -> int:
        """The bin of a value: from its lower limit on; the last one holds its upper limit too."""
        return min(bisect_right(self.bins, value) - 1, len(self.bins) - 2)

    def probability(self, rows: Sequence[float]) -> float:
        """That the claim is consistent, from the sums of its sentences."""
        low, middle, high = min(rows), mean(rows), max(rows)
        one = {"mean": middle, "min": low, "max": high}.get(self.aggregate)
        features = (low, middle, high) if one is None else (one, one, one)
        against, for_it = (
            math.fsum(weight * value for weight, value in zip(weights, features, strict=True))
            + bias
            for weights, bias in zip(self.final, self.final_bias, strict=True)
        )
        gap = min(max(against - for_it, -700.0), 700.0)
        return 1.0 / (1.0 + math.exp(gap))


def _content(path: Path) -> tuple[bytes, dict[str, Any]]:
    """The bytes of a file of weights, and its parts as lists and texts."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} is larger than {_MOST_BYTES:,} bytes: it holds no weights.")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    if path.suffix == ".npz":
        return data, _arrays(path, data)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no JSON object of weights.")
    return data, found


def _arrays(path: Path, data: bytes) -> dict[str, Any]:
    import io
    import zipfile

    try:
        import numpy as np
    except ImportError:
        raise InputError(
            "A file of numpy needs numpy: pip install 'veritrail-graph[nli]'; or write JSON.",
            code="extra_missing",
        ) from None
    known = (*_KEYS, "labels", "aggregate", "rows")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            unpacked = sum(one.file_size for one in parts.infolist())
        if unpacked > _MOST_BYTES:
            raise InputError(f"{path} unpacks to {unpacked:,} bytes: it holds no weights.")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return {name: arrays[name].tolist() for name in arrays.files if name in known}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} cannot be read as a file of numpy: {error}") from None


def _numbers(path: Path, key: str, value: Any) -> tuple[float, ...]:
    flat = _flat(value)
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in flat):
        raise InputError(f"{path}: {key} must hold numbers only.")
    try:
        numbers = tuple(map(float, flat))
    except OverflowError:
        numbers = (math.inf,)
    if not all(map(math.isfinite, numbers)):
        raise InputError(f"{path}: {key} holds NaN or infinity; it must hold numbers only.")
    shape = _shape(value)
    if not any(_fits(shape, one) for one in _SHAPES[key]):
        wanted = " or ".join(_words(one) for one in _SHAPES[key] if one)
        raise InputError(f"{path}: {key} has the shape {_words(shape)}, and not {wanted}.")
    return numbers


def _size(value: Any) -> int:
    return len(_flat(value))


def _shape(value: Any) -> tuple[int, ...]:
    """The lengths of lists in lists; -1 where they differ."""
    if not isinstance(value, list):
        return ()
    inner = {_shape(one) for one in value}
    return (len(value), *(inner.pop() if len(inner) == 1 else (-1,)))


def _fits(shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(
        one >= 0 and limit in (None, one) for one, limit in zip(shape, wanted, strict=True)
    )


def _words(shape: tuple[int | None, ...]) -> str:
    return " x ".join("n" if one is None else "?" if one < 0 else str(one) for one in shape) or "1"


def _flat(value: Any) -> list[Any]:
    return [one for row in value for one in _flat(row)] if isinstance(value, list) else [value]


@dataclass(frozen=True, slots=True)
class SummaCConv:
    """The probability that a trained histogram gives a claim.

    Attributes:
        model: Judges sentence pairs.
        split: Splits documents and claims into sentences.
        weights: The trained weights.
    """

    model: EntailmentModel
    split: Split
    weights: ConvWeights
    lowest: ClassVar[float] = 0.0

    @property
    def name(self) -> str:
        """Name of the method."""
        return "summac-conv"

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its scores."""
        return {"weights": self.weights.source}

    async def support(self, document: str, claim: str, meter: Meter) -> Support:
        """Score a claim; `parts` are the sums of its sentences. See `Adapter`."""
        rows = await matrix(self.model, self.split, document, claim, meter)
        parts = tuple(self.weights.row(row) for row in rows[: self.weights.rows])
        return Support(self.weights.probability(parts), parts)

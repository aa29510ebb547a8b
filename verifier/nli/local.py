"""An entailment model that runs in this process: windows, batches, and what was judged before.

A `Runner` computes; everything else is the same for ONNX and for transformers. Pairs of about the
same length share a batch, so that little is padded. Batches of all claims run one after another,
because one of them uses every core.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.labels import Outputs
from veritrail_graph.verifier.nli.port import Entailment, Pair
from veritrail_graph.verifier.nli.windows import over_hypothesis, over_premise, slices
from veritrail_graph.verifier.ports import JudgeError

BATCH = 32
BATCH_TOKENS = 8_192
"""Tokens of a batch, padding included; a longer pair is a batch of its own."""
SLAB = 512
"""Pairs that are tokenized at a time, so that memory does not grow with their number."""
REMEMBERED = 200_000
"""Pairs whose answer is remembered."""
_SPARE = 4
"""Tokens left free in a window: a slice of a text may have more tokens than it had in the text."""
_SHORTEST_HYPOTHESIS = 8

PREMISE, HYPOTHESIS = "{premise}", "{hypothesis}"


class Encoded(Protocol):
    """A text, or a pair of texts, as tokens."""

    @property
    def ids(self) -> list[int]:
        """Ids of the tokens, special ones included."""
        ...

    @property
    def type_ids(self) -> list[int]:
        """0 for tokens of the first text, 1 for those of the second."""
        ...

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Return where each token is in its text."""
        ...


class Tokenizer(Protocol):
    """The part of a tokenizer of the library `tokenizers` that is used here."""

    def encode(
        self, sequence: str, pair: str | None = None, *, add_special_tokens: bool = True
    ) -> Any:
        """A text, or a pair, as tokens."""
        ...

    def encode_batch(self, input: list[Any]) -> list[Any]:  # noqa: A002 - its name there
        """Several texts or pairs as tokens, on all cores."""
        ...


class Runner(Protocol):
    """Computes the outputs of a model."""

    def run(self, batch: Sequence[Encoded]) -> list[list[float]]:
        """The logits of each, in order.

        Raises:
            JudgeError: The model failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class PairForm:
    """The form in which a model reads a pair.

    Attributes:
        limit: The most tokens that it reads, special ones included.
        overlap: Tokens that neighbouring windows of a premise share.
        template: One text that holds `{premise}` and `{hypothesis}`; None: two texts.
    """

    limit: int = 512
    overlap: int = 64
    template: str | None = None

    def input(self, pair: Pair) -> Any:
        """Return what the tokenizer is given."""
        if self.template is None:
            return pair.premise, pair.hypothesis
        # The hypothesis first: a premise may hold the mark of the other.
        head, _, tail = self.template.partition(PREMISE)
        said = pair.hypothesis
        return head.replace(HYPOTHESIS, said) + pair.premise + tail.replace(HYPOTHESIS, said)


class LocalModel:
    """An entailment model in this process: an `EntailmentModel`.

    Args:
        name: What it is called.
        fingerprint: What tells its files from those of another.
        tokenizer: Its tokenizer.
        runner: Computes its outputs.
        outputs: What they mean.
        reading: How it reads a pair.
    """

    def __init__(
        self,
        name: str,
        fingerprint: str,
        tokenizer: Tokenizer,
        runner: Runner,
        outputs: Outputs,
        reading: PairForm,
    ) -> None:
        self._name = name
        self._fingerprint = fingerprint
        self._tokenizer = tokenizer
        self._runner = runner
        self._outputs = outputs
        self._reading = reading
        self._executor = ThreadPoolExecutor(1, "entailment")
        self._known: OrderedDict[bytes, Entailment] = OrderedDict()

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self._name

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its answers."""
        return {
            "model": self._name,
            "fingerprint": self._fingerprint,
            "window": self._reading.limit,
            "overlap": self._reading.overlap,
            "template": self._reading.template,
            "labels": list(self._outputs.roles),
        }

    async def predict(self, pairs: Sequence[Pair], meter: Meter) -> list[Entailment]:
        """Judge pairs; see `EntailmentModel`."""
        del meter  # nothing is called and nothing is paid
        if not pairs:
            return []
        stopped = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, self._judged, pairs, stopped)
        except asyncio.CancelledError:
            stopped.set()  # the batch that runs is the last one
            raise

    async def close(self) -> None:
        """Keep the model: it is loaded once for the whole process."""

    def check(self) -> None:
        """See that it answers.

        Raises:
            JudgeError: It does not.
        """
        self._judged([Pair("The ferry sailed at noon.", "The ferry sailed.")], threading.Event())

    def _judged(self, pairs: Sequence[Pair], stopped: threading.Event) -> list[Entailment]:
        keys = [_key(pair) for pair in pairs]
        new = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._known}
        found = {key: self._known[key] for key in keys if key in self._known}
        for key in found:
            self._known.move_to_end(key)
        ordered = sorted(new.items(), key=lambda item: len(item[1].premise))
        for start in range(0, len(ordered), SLAB):
            slab = ordered[start : start + SLAB]
            answers = self._answers([pair for _, pair in slab], stopped)
            found.update(zip((key for key, _ in slab), answers, strict=True))
        self._known.update((key, found[key]) for key in new)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return [found[key] for key in keys]

    def _answers(self, pairs: Sequence[Pair], stopped: threading.Event) -> list[Entailment]:
        """The answers to pairs: each is one input, or a grid of windows."""
        grids = self._grids(pairs)
        flat = [one for grid in grids for windows in grid for one in windows]
        scores = iter(self._scores(flat, stopped))
        return [
            over_hypothesis([over_premise([next(scores) for _ in windows]) for windows in grid])
            for grid in grids
        ]

    def _scores(self, inputs: Sequence[Encoded], stopped: threading.Event) -> list[Entailment]:
        found: list[Entailment | None] = [None] * len(inputs)
        for batch in batches([len(one.ids) for one in inputs]):
            if stopped.is_set():
                raise JudgeError("stopped before every pair was judged")
            rows = self._runner.run([inputs[place] for place in batch])
            if len(rows) != len(batch):
                raise JudgeError(
                    f"{self._name} gave {len(rows)} row(s) of outputs for {len(batch)} pair(s)"
                )
            for place, row in zip(batch, rows, strict=True):
                found[place] = self._outputs.read(row)
        return [one for one in found if one is not None]

    def _grids(self, pairs: Sequence[Pair]) -> list[list[list[Encoded]]]:
        """For each pair, for each part of its hypothesis, the windows of its premise."""
        limit = self._reading.limit
        # A token has at least one character; what is far too long is not tokenized as a whole.
        short = [
            place
            for place, pair in enumerate(pairs)
            if len(pair.premise) + len(pair.hypothesis) <= 16 * limit
        ]
        encoded = self._tokenizer.encode_batch([self._reading.input(pairs[one]) for one in short])
        whole = dict(zip(short, encoded, strict=True))
        return [
            [[whole[place]]]
            if place in whole and len(whole[place].ids) <= limit
            else self._windows(pair)
            for place, pair in enumerate(pairs)
        ]

    def _windows(self, pair: Pair) -> list[list[Encoded]]:
        around = len(self._encoded(Pair("", "")).ids) + _SPARE
        free = self._reading.limit - around
        if free < 2 * _SHORTEST_HYPOTHESIS:
            raise JudgeError(
                f"the window of {self._reading.limit} tokens is too small for {self._name}: "
                f"{around} of them are around the texts"
            )
        units = self._units(pair.hypothesis)
        parts = slices(pair.hypothesis, units, free // 2, free // 16)
        of_premise = self._units(pair.premise)
        grid = []
        for part in parts:
            room = max(free - min(len(units), free // 2), 1)
            overlap = min(self._reading.overlap, room // 4)
            texts = slices(pair.premise, of_premise, room, overlap)
            grid.append([one for text in texts for one in self._fitting(Pair(text, part))])
        return grid

    def _fitting(self, pair: Pair) -> Iterator[Encoded]:
        """A window as an input; in halves where its text alone has more tokens than within."""
        encoded = self._encoded(pair)
        if len(encoded.ids) <= self._reading.limit:
            yield encoded
            return
        half = len(pair.premise) // 2
        if half == 0:
            raise JudgeError(
                f"a text of {len(pair.hypothesis):,} characters does not fit into the window of "
                f"{self._reading.limit} tokens of {self._name}"
            )
        shared = half // 8
        yield from self._fitting(Pair(pair.premise[: half + shared], pair.hypothesis))
        yield from self._fitting(Pair(pair.premise[half - shared :], pair.hypothesis))

    def _encoded(self, pair: Pair) -> Encoded:
        given = self._reading.input(pair)
        found: Encoded = (
            self._tokenizer.encode(*given)
            if isinstance(given, tuple)
            else self._tokenizer.encode(given)
        )
        return found

    def _units(self, text: str) -> list[tuple[int, int]]:
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        return [(start, stop) for start, stop in encoded.offsets if stop > start]


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Places of inputs in batches of about the same length, the longest first."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    made: list[list[int]] = []
    for place in order:
        last = made[-1] if made else []
        most = lengths[last[0]] if last else 0
        if last and len(last) < BATCH and most * (len(last) + 1) <= BATCH_TOKENS:
            last.append(place)
        else:
            made.append([place])
    return made


def cores() -> int:
    """The processor cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1


def _key(pair: Pair) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for text in pair:
        data = text.encode("utf-8", "replace")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()

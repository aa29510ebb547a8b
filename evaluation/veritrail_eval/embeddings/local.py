"""An embedding model that runs in this process: a folder with `model.onnx` and `tokenizer.json`.

The vector of a text is the mean of the hidden states of its tokens, of length 1, as sentence
encoders such as all-MiniLM are used. A text that is longer than the model reads is read in windows,
which are averaged by their tokens.

Source: Reimers and Gurevych 2019 (Sentence-BERT), 3 (mean pooling); windows are ours.
"""

from __future__ import annotations

import asyncio
import threading
from array import array
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from veritrail_eval.embeddings.port import weighted_mean
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.nli.local import Encoded, Tokenizer, batches
from veritrail_graph.verifier.nli.onnx import OnnxSession
from veritrail_graph.verifier.nli.opening import (
    fetched_folder,
    fingerprint_of,
    limit_of,
    pad_of,
    read_json,
    tokenizer_of,
    weights_of,
)
from veritrail_graph.verifier.nli.windows import slices
from veritrail_graph.verifier.ports import JudgeError

OUTPUTS = ("last_hidden_state", "token_embeddings", "sentence_embedding")
ABOUT = ("config.json", "tokenizer_config.json", "sentence_bert_config.json")
_SPARE = 4
_SMALLEST_WINDOW = 8


class LocalEmbedder:
    """An embedding model in this process: an `Embedder`.

    Args:
        name: What it is called.
        fingerprint: What tells its files from those of another.
        tokenizer: Its tokenizer.
        session: Computes its outputs.
        limit: The most tokens that it reads, special ones included.
    """

    def __init__(
        self, name: str, fingerprint: str, tokenizer: Tokenizer, session: OnnxSession, limit: int
    ) -> None:
        self._name = name
        self._fingerprint = fingerprint
        self._tokenizer = tokenizer
        self._session = session
        self._limit = limit
        self._executor = ThreadPoolExecutor(1, "embedding")

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self._name

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its vectors."""
        return {"model": self._name, "fingerprint": self._fingerprint, "window": self._limit}

    async def embed(self, texts: Sequence[str], meter: Meter) -> Sequence[Sequence[float]]:
        """Embed texts; see `Embedder`."""
        del meter  # nothing is called and nothing is paid
        if not texts:
            return []
        stopped = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._executor, self._embedded, texts, stopped)
        except asyncio.CancelledError:
            stopped.set()  # the batch that runs is the last one
            raise

    def check(self) -> None:
        """See that it answers.

        Raises:
            JudgeError: It does not.
        """
        self._embedded(["The ferry sailed at noon."], threading.Event())

    def _embedded(self, texts: Sequence[str], stopped: threading.Event) -> list[array[float]]:
        parts = [self._parts(text) for text in texts]
        vectors = iter(self._vectors([one for some in parts for one in some], stopped))
        return [
            weighted_mean([next(vectors) for _ in some], [len(one.ids) for one in some])
            for some in parts
        ]

    def _parts(self, text: str) -> list[Encoded]:
        """A text as one input, or its windows."""
        # A token has at least one character; what is far too long is not read as a whole.
        if len(text) <= 16 * self._limit:
            encoded = self._tokenizer.encode(text)
            if len(encoded.ids) <= self._limit:
                return [encoded]
        room = self._limit - len(self._tokenizer.encode("").ids) - _SPARE
        if room < _SMALLEST_WINDOW:
            raise JudgeError(f"the window of {self._limit} tokens of {self._name} is too small")
        units = self._tokenizer.encode(text, add_special_tokens=False).offsets
        windows = slices(text, [one for one in units if one[1] > one[0]], room, room // 8)
        return [part for window in windows for part in self._fitting(window)]

    def _fitting(self, window: str) -> list[Encoded]:
        """A window as an input; in halves where its text alone has more tokens than within."""
        encoded = self._tokenizer.encode(window)
        if len(encoded.ids) <= self._limit:
            return [encoded]
        half = len(window) // 2
        if half == 0:
            raise JudgeError(f"{self._name} reads no character in {self._limit} tokens")
        return [*self._fitting(window[:half]), *self._fitting(window[half:])]

    def _vectors(self, inputs: Sequence[Encoded], stopped: threading.Event) -> list[list[float]]:
        found: list[list[float]] = [[]] * len(inputs)
        for batch in batches([len(one.ids) for one in inputs]):
            if stopped.is_set():
                raise JudgeError("stopped before every text was embedded")
            rows = _pooled(*self._session.run([inputs[place] for place in batch]))
            if len(rows) != len(batch):
                raise JudgeError(
                    f"{self._name} gave {len(rows)} vector(s) for {len(batch)} text(s)"
                )
            for place, row in zip(batch, rows, strict=True):
                found[place] = row
        return found


def _pooled(hidden: Any, mask: Any) -> list[list[float]]:
    """A vector of length 1 for each text: the mean over its tokens.

    Raises:
        JudgeError: The model gave what is neither hidden states nor vectors.
    """
    import numpy as np

    dimensions = getattr(hidden, "ndim", 0)
    if dimensions not in (2, 3):
        raise JudgeError("the embedding model gave neither hidden states of tokens nor vectors")
    rows = hidden.astype("float64")
    if dimensions == 3:
        if rows.shape[:2] != mask.shape:
            raise JudgeError("the embedding model gave hidden states of other tokens")
        rows = (rows * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    if not np.isfinite(rows).all():
        raise JudgeError("the embedding model gave a number that is none (NaN or ∞)")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: list[list[float]] = (rows / np.where(lengths == 0.0, 1.0, lengths)).tolist()
    return found


def embedding_folder(named: str, home: Path, base: Path = Path()) -> Path | None:
    """The folder that a name means: itself, or that of a fetched model; None: there is none.

    Args:
        named: A path, or the name of a fetched model.
        home: Where fetched models are.
        base: What a path is relative to.
    """
    candidates = (base / Path(named).expanduser(), fetched_folder(home, named))
    return next((one for one in candidates if one is not None and one.is_dir()), None)


def open_embedding_folder(folder: Path) -> LocalEmbedder:
    """The model of a folder; it is loaded once in a process and tried with one text.

    Args:
        folder: `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`; how much it reads is
            said by `config.json`, `tokenizer_config.json` or `sentence_bert_config.json`.

    Raises:
        InputError: A file is missing or wrong, or the model does not answer.
    """
    files = embedding_files(folder)
    files += [path for name in ABOUT if (path := folder / name).is_file()]
    states = tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files)
    return _loaded(folder.resolve(), states)


def embedding_files(folder: Path) -> list[Path]:
    """The files that the folder of an embedding model must hold, the weights first.

    Raises:
        InputError: One is missing.
    """
    weights = weights_of(folder)
    if weights[0].suffix != ".onnx":
        raise InputError(f"{folder} holds no model.onnx; an embedding model needs it.")
    files = [*weights, folder / "tokenizer.json"]
    for path in files:
        if not path.is_file():
            raise InputError(f"{folder} holds no {path.name}; an embedding model needs it.")
    return files


@lru_cache(maxsize=2)
def _loaded(folder: Path, states: tuple[tuple[str, int, int], ...]) -> LocalEmbedder:
    config, about, more = (read_json(folder / name, optional=True) for name in ABOUT)
    limit = limit_of(config, about)
    if "max_seq_length" in more:  # sentence-transformers reads less than the model could
        limit = min(limit, limit_of({}, {"model_max_length": more["max_seq_length"]}))
    tokenizer = tokenizer_of(folder / "tokenizer.json")
    pad = pad_of(config, about, tokenizer)
    session = OnnxSession(
        Path(states[0][0]), pad, OUTPUTS, kind="embedding model", task="feature-extraction"
    )
    fingerprint = fingerprint_of([Path(path) for path, _, _ in states])
    limit = min(limit, session.length or limit)
    model = LocalEmbedder(folder.name, fingerprint, tokenizer, session, limit)
    try:
        model.check()
    except JudgeError as error:
        raise InputError(f"{folder} is no embedding model that can be used: {error}.") from None
    return model

"""Runs a model of texts in ONNX form with onnxruntime, on all cores of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.nli.local import Encoded, cores
from veritrail_graph.verifier.ports import JudgeError

IDS, MASK, TYPES = "input_ids", "attention_mask", "token_type_ids"
_INTEGERS = {"tensor(int64)": "int64", "tensor(int32)": "int32"}


class OnnxSession:
    """A session of onnxruntime for a model that reads texts.

    Args:
        path: The model's file.
        pad: The id of the token that fills short inputs up.
        outputs: The output that is read: the first of these that the model has, else its first.
        kind: What the model is, for messages, such as `entailment model`.
        task: The task to export it for.

    Attributes:
        length: The tokens of every input, where the model was exported with a fixed length: shorter
            ones are filled up, and longer ones it cannot read. None: any.

    Raises:
        InputError: The extra is missing, or the file is no model of texts.
    """

    def __init__(
        self, path: Path, pad: int, outputs: Sequence[str], *, kind: str, task: str
    ) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise missing("onnxruntime", f"An {kind}") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = cores()
        # Idle threads sleep: the graph engine and the event loop need the cores as well.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4  # what is wrong is said by exceptions
        try:
            self._session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # noqa: BLE001 - its errors have no common class
            raise InputError(
                f"{path} is no model that onnxruntime reads: {short_words(error)}"
            ) from None
        self._pad, self._kind = pad, kind
        self._types: dict[str, str] = {}
        self.length: int | None = None
        for one in self._session.get_inputs():
            if one.name not in (IDS, MASK, TYPES) or one.type not in _INTEGERS:
                raise InputError(
                    f"{path} wants the input {one.name} ({one.type}); an {kind} takes "
                    f"{IDS}, {MASK} and {TYPES} as integers. Export it for the task {task}."
                )
            self._types[one.name] = _INTEGERS[one.type]
            if len(one.shape) == 2 and isinstance(one.shape[1], int):
                self.length = one.shape[1]
        if IDS not in self._types:
            raise InputError(f"{path} has no input {IDS}; it is no model of texts.")
        names = [one.name for one in self._session.get_outputs()]
        self._output = next((name for name in outputs if name in names), names[0])

    def run(self, batch: Sequence[Encoded]) -> tuple[Any, Any]:
        """Return the outputs for a batch, and a mask of each text: 1 is a token, 0 padding.

        Raises:
            JudgeError: The model failed.
        """
        feed, mask = self._feed(batch)
        try:
            return self._session.run([self._output], feed)[0], mask
        except Exception as error:  # noqa: BLE001 - its errors have no common class
            raise JudgeError(f"the {self._kind} failed: {short_words(error)}") from None

    def _feed(self, batch: Sequence[Encoded]) -> tuple[dict[str, Any], Any]:
        import numpy as np

        length = self.length or max(len(one.ids) for one in batch)
        arrays = {
            IDS: np.full((len(batch), length), self._pad),
            MASK: np.zeros((len(batch), length)),
            TYPES: np.zeros((len(batch), length)),
        }
        for row, one in enumerate(batch):
            size = len(one.ids)
            arrays[IDS][row, :size] = one.ids
            arrays[MASK][row, :size] = 1
            arrays[TYPES][row, :size] = one.type_ids
        feed = {name: arrays[name].astype(kind) for name, kind in self._types.items()}
        return feed, arrays[MASK]


class OnnxRunner:
    """Computes the logits of an entailment model: a `Runner`.

    Args:
        path: The model's file.
        pad: The id of the token that fills short inputs up.

    Raises:
        InputError: The extra is missing, or the file is no model of texts.
    """

    def __init__(self, path: Path, pad: int) -> None:
        kind, task = "entailment model", "text-classification"
        self._session = OnnxSession(path, pad, ("logits",), kind=kind, task=task)

    @property
    def length(self) -> int | None:
        """The tokens of every input, where they are fixed; see `OnnxSession`."""
        return self._session.length

    def run(self, batch: Sequence[Encoded]) -> list[list[float]]:
        """The logits of each input, in order; see `Runner`."""
        rows, _ = self._session.run(batch)
        if getattr(rows, "ndim", 0) != 2:
            shape = " x ".join(map(str, getattr(rows, "shape", ())))
            raise JudgeError(
                f"the entailment model gave outputs of the shape {shape or 'of no array'}, not a "
                "row of labels for each pair"
            )
        found: list[list[float]] = rows.astype("float64").tolist()
        return found


def missing(module: str, what: str = "Engine nli") -> InputError:
    """Says which extra brings a module."""
    return InputError(
        f"{what} needs {module}, which is not installed: pip install 'veritrail-graph[nli]'."
    )


def short_words(error: Exception) -> str:
    """Return what an exception says, on one line and not too long."""
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else f"{text[:299]}…"

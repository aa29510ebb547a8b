"""Runs an entailment model of safetensors with transformers, where the user has installed it.

torch and transformers are no part of any extra: ONNX needs a tenth of the space and starts faster.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.nli.local import Encoded, cores
from veritrail_graph.verifier.ports import JudgeError


class TransformersRunner:
    """A model of transformers for the classification of texts.

    Args:
        folder: The folder with its weights.
        pad: The id of the token that fills short inputs up.

    Raises:
        InputError: torch or transformers is missing, or the folder holds no such model.
    """

    def __init__(self, folder: Path, pad: int) -> None:
        try:
            self._torch: Any = importlib.import_module("torch")
            transformers: Any = importlib.import_module("transformers")
        except ImportError:
            raise InputError(
                f"{folder} holds weights for transformers and no model.onnx, and torch and "
                "transformers are not installed.",
                code="entailment_export_needed",
                folder=str(folder),
            ) from None
        self._torch.set_num_threads(cores())
        try:
            # Safetensors alone: other weights are pickles, and a folder may hold both.
            model = transformers.AutoModelForSequenceClassification.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False, use_safetensors=True
            )
        except Exception as error:  # noqa: BLE001 - its errors have no common class
            raise InputError(f"{folder} is no model that transformers reads: {error}") from None
        self._model = model.eval()
        self._pad = pad

    def run(self, batch: Sequence[Encoded]) -> list[list[float]]:
        """The logits of each input, in order; see `Runner`."""
        length = max(len(one.ids) for one in batch)
        feed = {
            "input_ids": [[*one.ids, *[self._pad] * (length - len(one.ids))] for one in batch],
            "attention_mask": [
                [*[1] * len(one.ids), *[0] * (length - len(one.ids))] for one in batch
            ],
        }
        if getattr(self._model.config, "type_vocab_size", 0) > 1:
            feed["token_type_ids"] = [
                [*one.type_ids, *[0] * (length - len(one.ids))] for one in batch
            ]
        try:
            with self._torch.inference_mode():
                tensors = {name: self._torch.tensor(rows) for name, rows in feed.items()}
                rows: list[list[float]] = self._model(**tensors).logits.double().tolist()
        except Exception as error:  # noqa: BLE001 - its errors have no common class
            raise JudgeError(f"the entailment model failed: {error}") from None
        return rows

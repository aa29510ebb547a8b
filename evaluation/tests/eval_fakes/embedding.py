"""A tiny embedding model of our own, in the files that real ones have: words in common are near.

It is a real ONNX graph: every word has a row of a table, and the hidden state of a token is its
row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from fakes.entailment import SPECIAL, word_tokenizer, words_of
from onnx import TensorProto, helper, numpy_helper

SIZE = 24


def tiny_embedder(
    folder: Path,
    texts: Iterable[str],
    *,
    limit: int = 32,
    kind: str = "last_hidden_state",
    config: dict[str, Any] | None = None,
) -> Path:
    """Write the model into a folder.

    Args:
        folder: The folder; it is made.
        texts: Texts whose words it knows.
        limit: Tokens that it reads.
        kind: The name of its output; `sentence_embedding` has one vector a text; or what is wrong
            with it: `flat` (one number a text), `nan`.
        config: Further files by name, as `sentence_bert_config.json`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = dict.fromkeys([*SPECIAL, *words_of([*texts, "ferry sailed noon"])])
    vocabulary = {word: number for number, word in enumerate(words)}
    word_tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    about = {"config.json": {"max_position_embeddings": limit, "pad_token_id": 0}, **(config or {})}
    for name, content in about.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    table = np.random.default_rng(7).normal(size=(len(vocabulary), SIZE)).astype("float32")
    table[: len(SPECIAL)] *= 0.01  # what is around every text says little
    if kind == "nan":
        table[:] = np.nan
    hidden = helper.make_node("Gather", ["table", "input_ids"], ["hidden"])
    nodes, shape = [hidden], ["batch", "length", SIZE]
    if kind == "sentence_embedding":
        nodes.append(helper.make_node("ReduceMean", ["hidden"], ["out"], axes=[1], keepdims=0))
        shape = ["batch", SIZE]
    elif kind == "flat":
        nodes.append(helper.make_node("ReduceMean", ["hidden"], ["out"], axes=[1, 2], keepdims=0))
        shape = ["batch"]
    else:
        nodes.append(helper.make_node("Identity", ["hidden"], ["out"]))
    output = kind if kind.endswith(("state", "embedding")) else "anything"
    nodes.append(helper.make_node("Identity", ["out"], [output]))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        inputs,
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(table, "table")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, str(folder / "model.onnx"))
    return folder

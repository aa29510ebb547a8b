"""A tiny entailment model of our own, in the files that real ones have.

It is a real ONNX graph over a real word-level tokenizer. A premise entails a hypothesis when it
holds its words, and contradicts it when besides only one of the two holds `not`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "not", "poison")
LIGHT = ("the", "a", "an", "of", "in", "at", "and", "was", "were", "is", "it", "to", "by", ".", ",")
NAMES = ("entailment", "neutral", "contradiction")
LIMIT = 64


def words_of(texts: Iterable[str]) -> list[str]:
    """The words of texts, each once."""
    found = (word for text in texts for word in re.findall(r"\w+", text.lower()))
    return list(dict.fromkeys(found))


def tiny_model(
    folder: Path,
    texts: Iterable[str],
    *,
    labels: Sequence[str] = NAMES,
    kind: str = "logits",
    limit: int = LIMIT,
    config: dict[str, Any] | None = None,
    length: int | None = None,
) -> Path:
    """Write the model into a folder.

    Args:
        folder: The folder; it is made.
        texts: Texts whose words it knows.
        labels: The names of the outputs, in their order.
        kind: `logits`; `support` (two outputs, the second is support), `single` (one output); or
            what is wrong with it: `flat` (one dimension), `text` (an input that is no text).
        limit: Tokens that it reads.
        config: Changes of config.json.
        length: Tokens of every input, as in an export with fixed shapes; None: any.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {
        word: number
        for number, word in enumerate(
            dict.fromkeys([*SPECIAL, *LIGHT, *words_of([*texts, "ferry sailed noon"])])
        )
    }
    word_tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    names = {"support": ("LABEL_0", "LABEL_1"), "single": ("LABEL_0",)}.get(kind, tuple(labels))
    about = {
        "model_type": "bert",
        "max_position_embeddings": limit,
        "pad_token_id": 0,
        "id2label": {str(place): name for place, name in enumerate(names)},
        **(config or {}),
    }
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")
    onnx.save(_graph(names, kind, length), str(folder / "model.onnx"))
    return folder


def word_tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    """A real tokenizer of whole words."""
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.enable_truncation(16)  # as many published files have it: it must be turned off
    return tokenizer


def _graph(names: Sequence[str], kind: str, length: int | None) -> onnx.ModelProto:
    nodes: list[onnx.NodeProto] = []
    constants: list[onnx.TensorProto] = []

    def constant(value: Any, kind: str = "float32") -> str:
        name = f"c{len(constants)}"
        constants.append(numpy_helper.from_array(np.array(value, kind), name))
        return name

    def do(operation: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(nodes)}"
        nodes.append(helper.make_node(operation, list(inputs), [name], **attributes))
        return name

    def number(name: str) -> str:
        return do("Cast", name, to=TensorProto.FLOAT)

    def total(name: str) -> str:
        return do("ReduceSum", name, constant([1], "int64"), keepdims=1)

    def scaled(name: str, factor: float, offset: float) -> str:
        return do("Add", do("Mul", name, constant(factor)), constant(offset))

    ids, types, mask = "input_ids", number("token_type_ids"), number("attention_mask")
    first_word = len(SPECIAL) + len(LIGHT) - 1
    content = do("Mul", number(do("Greater", ids, constant(first_word, "int64"))), mask)
    of_hypothesis = do("Mul", content, types)
    of_premise = do("Mul", content, scaled(types, -1.0, 1.0))
    same = number(
        do(
            "Equal",
            do("Unsqueeze", ids, constant([2], "int64")),
            do("Unsqueeze", ids, constant([1], "int64")),
        )
    )
    held = do("Mul", same, do("Unsqueeze", of_premise, constant([1], "int64")))
    covered = do("Mul", do("ReduceMax", held, axes=[2], keepdims=0), of_hypothesis)
    count = do("Max", total(of_hypothesis), constant([[1.0]]))
    coverage = do("Div", total(covered), count)
    negated = number(do("Equal", ids, constant(SPECIAL.index("not"), "int64")))
    denials = [
        do("Min", total(do("Mul", negated, one)), constant([[1.0]]))
        for one in (types, scaled(types, -1.0, 1.0))
    ]
    differ = do("Abs", do("Sub", *denials))
    logits = {
        "entailment": do("Sub", scaled(coverage, 40.0, -39.0), scaled(differ, 60.0, 0.0)),
        "neutral": scaled(coverage, -8.0, 0.0),
        "contradiction": do("Sub", scaled(coverage, 40.0, -28.0), scaled(differ, -60.0, 60.0)),
    }
    if kind == "support":
        rows = [scaled(logits["entailment"], -1.0, 0.0), logits["entailment"]]
    elif kind == "single":
        rows = [logits["entailment"]]
    else:
        of_names = {"supports": "entailment", "refutes": "contradiction", "entails": "entailment"}
        rows = [
            logits[of_names.get(name.lower(), name.lower() if name.lower() in NAMES else "neutral")]
            for name in names
        ]
    poison = number(do("Equal", ids, constant(SPECIAL.index("poison"), "int64")))
    bad = do("Min", total(poison), constant([[1.0]]))
    row = do("Concat", *rows, axis=1)
    row = do("Add", row, do("Log", scaled(bad, -2.0, 1.0)))  # the logarithm of -1 is NaN
    if kind == "flat":
        row = do("ReduceMax", row, axes=[1], keepdims=0)
    nodes.append(helper.make_node("Identity", [row], ["logits"]))
    shape = ["batch"] if kind == "flat" else ["batch", len(rows)]
    inputs = ["input_ids", "attention_mask", "token_type_ids"]
    made = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", length or "length"])
        for n in inputs
    ]
    if kind == "text":
        made.append(helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["batch", 3]))
    graph = helper.make_graph(
        nodes,
        "tiny",
        made,
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

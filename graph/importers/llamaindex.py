"""Responses of LlamaIndex: the answer with its source nodes, as `model_dump` gives them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.rag import process_of_row
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.importers.registry import Found, ImportOptions

NAME = "llamaindex"
_QUESTIONS = ("query", "query_str", "question", "input")
_HOW = (
    "Write a response as json.dumps({'response': str(response), 'source_nodes': "
    "[one.model_dump(mode='json') for one in response.source_nodes]})."
)


class LlamaIndexImporter:
    """Reads responses of LlamaIndex."""

    name = NAME
    description = "LlamaIndex responses with their source nodes, as JSON or JSON Lines"
    extra = None
    options = frozenset({"question"})

    def detect(self, path: Path) -> str | None:
        """By the source nodes."""
        value = files.first_record(path)
        is_response = isinstance(value, dict) and isinstance(value.get("source_nodes"), list)
        return None if is_response and "response" in value else "no response with source_nodes"

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """One a response."""
        for number, value in files.values(path):
            where = f"{path}#{number}"
            yield Found(where, partial(_process, value, where, options))


def _process(value: Any, where: str, options: ImportOptions) -> ProcessInput:
    if isinstance(value, InputError):
        raise value
    if not isinstance(value, dict) or not isinstance(value.get("source_nodes"), list):
        raise InputError(f"{where}: a response must hold the list `source_nodes`")
    asked = next((key for key in _QUESTIONS if value.get(key) is not None), None)
    question = None if asked is None else value[asked]
    row = {
        **{
            key: one for key, one in value.items() if key not in (asked, "response", "source_nodes")
        },
        "question": options.question or (question if isinstance(question, str) else None),
        "contexts": [_context(one, where) for one in value["source_nodes"]],
        "answer": value.get("response"),
    }
    return process_of_row(row, where, NAME, value)


def _context(one: Any, where: str) -> Mapping[str, Any]:
    """A source node: its text with its id, its score and its metadata."""
    if isinstance(one, str):
        raise InputError(f"{where}: its source nodes are texts for the eye. {_HOW}")
    node = one.get("node", one) if isinstance(one, dict) else None
    if not isinstance(node, dict):
        raise InputError(f"{where}: a source node must be an object with `node` and `score`")
    text = node.get("text")
    if text is None and isinstance(node.get("text_resource"), dict):
        text = node["text_resource"].get("text")
    about = {"node": node.get("id_"), "score": one.get("score"), "metadata": node.get("metadata")}
    return {"text": text, **{key: value for key, value in about.items() if value}}

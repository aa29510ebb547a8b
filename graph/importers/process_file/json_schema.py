"""The JSON Schema of a process file, for editors and validators.

It is made from the models that read the file, so that both say the same. It says what one record
may be; what needs the whole graph, such as an edge to a node that is not there, only `ingest` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from veritrail_graph.graph.importers.process_file.schema import (
    FORMAT,
    LISTS,
    SCHEMA_KEY,
    HeaderModel,
    NodeModel,
)
from veritrail_graph.graph.model import Claim, Edge, Review, Verification
from veritrail_graph.graph.model.extraction import ExtractedSentence

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_RECORDS: dict[str, type[BaseModel]] = {
    "nodes": NodeModel,
    "edges": Edge,
    "claims": Claim,
    "extractions": ExtractedSentence,
    "verifications": Verification,
    "reviews": Review,
}
_DERIVED = {
    "Claim": ("claim_id", "node_id"),
    "Review": ("process_id", "kind"),
    "Verification": ("process_id",),
}
"""What a file may leave out: it follows from the rest."""


def process_file_schema() -> dict[str, Any]:
    """The JSON Schema of a process file that is one JSON document."""
    asked = [(one, "validation") for one in (HeaderModel, *_RECORDS.values())]
    _, made = models_json_schema(asked, title="Process file")  # type: ignore[arg-type]
    known: dict[str, Any] = made["$defs"]
    header = known.pop(HeaderModel.__name__)
    for model in _RECORDS.values():
        known[model.__name__]["additionalProperties"] = False
    for name, keys in _DERIVED.items():
        _leave_out(known[name], keys)
    lists = {
        key: {"type": "array", "items": {"$ref": f"#/$defs/{model.__name__}"}}
        for key, model in _RECORDS.items()
    }
    return {
        "$schema": DIALECT,
        "title": "Process file",
        "description": f"A finished generative process in the format {FORMAT}.",
        "type": "object",
        "properties": {
            SCHEMA_KEY: {"type": "string"},
            **header["properties"],
            "format": {"const": FORMAT},
            **lists,
        },
        "required": ["format", *(name for name, is_needed in LISTS.items() if is_needed)],
        "additionalProperties": False,
        "$defs": known,
    }


def _leave_out(record: dict[str, Any], keys: Iterable[str]) -> None:
    """Let keys of a record be missing, or null."""
    for key in keys:
        own = record["properties"][key]
        about = {name: own.pop(name) for name in ("title", "description") if name in own}
        record["properties"][key] = {"anyOf": [own, {"type": "null"}], **about}
    record["required"] = [one for one in record["required"] if one not in set(keys)]

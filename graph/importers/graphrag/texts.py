"""What a node says, and what else is known of it: pure functions from a row to both.

A judge reads the text and nothing else, so a name that the language model was given beside
a description stands in the text; numbers that only order or count are metadata.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from veritrail_graph.graph.importers.graphrag.citations import (
    COVARIATE,
    ENTITY,
    RELATIONSHIP,
    REPORT,
    TEXT_UNIT,
)

Row = Mapping[str, Any]
EXTRACTED_ENTITY = "extracted_entity"
EXTRACTED_RELATIONSHIP = "extracted_relationship"

_METADATA: Mapping[str, tuple[str, ...]] = {
    TEXT_UNIT: ("n_tokens",),
    ENTITY: ("title", "type", "degree"),
    RELATIONSHIP: ("weight", "combined_degree"),
    COVARIATE: ("covariate_type",),
    REPORT: ("title", "community", "level", "rank"),
    EXTRACTED_ENTITY: ("title", "type"),
    EXTRACTED_RELATIONSHIP: (),
}

_CLAIM_LINES = (
    ("Subject", "subject_id"),
    ("Object", "object_id"),
    ("Type", "type"),
    ("Status", "status"),
    ("Start date", "start_date"),
    ("End date", "end_date"),
    ("Source text", "source_text"),
)


def _entity(row: Row, part: int) -> str:
    return _under(row["title"], _description(row, part))


def _relationship(row: Row, part: int) -> str:
    return _under(f"{row['source'] or ''} -> {row['target'] or ''}", _description(row, part))


def _covariate(row: Row, part: int) -> str:
    lines = [f"{label}: {row[key]}" for label, key in _CLAIM_LINES if row.get(key)]
    return "\n".join([_description(row, part), *lines]).strip()


def _description(row: Row, part: int) -> str:
    value = row["description"]
    return (value[part] if isinstance(value, list) else value) or ""


def _under(heading: str | None, text: str) -> str:
    return f"{heading or ''}\n{text}" if text else heading or ""


_TEXTS: Mapping[str, Callable[[Row, int], str]] = {
    TEXT_UNIT: lambda row, part: row["text"] or "",
    ENTITY: _entity,
    RELATIONSHIP: _relationship,
    COVARIATE: _covariate,
    REPORT: lambda row, part: row["full_content"] or "",
    EXTRACTED_ENTITY: _entity,
    EXTRACTED_RELATIONSHIP: _relationship,
}


def text_of(kind: str, row: Row, part: int = 0) -> str:
    """The text of a node; `part` picks one of several descriptions of a raw row."""
    return _TEXTS[kind](row, part)


def metadata_of(kind: str, row: Row, titles: Mapping[str, str]) -> dict[str, Any]:
    """What is known of a node beside its text; `titles` are those of the documents by id."""
    known: dict[str, Any] = {"parquet_id": row.get("id")}
    known |= {key: row.get(key) for key in ("human_readable_id", *_METADATA[kind])}
    if kind == TEXT_UNIT:
        ids = row.get("document_ids") or [row.get("document_id")]
        known["documents"] = [titles.get(key, key) for key in ids if key] or None
    return {key: value for key, value in known.items() if not _is_missing(value)}


def _is_missing(value: Any) -> bool:
    # A column with gaps comes back from pandas as floats with NaN, which is no JSON.
    return value is None or (isinstance(value, float) and not math.isfinite(value))

"""A process file as a test reads it, and as an ingest checks it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.ingest.check import survey


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def nodes(path: Path) -> dict[str, dict[str, Any]]:
    return {one["node"]["node_id"]: one["node"] for one in lines(path) if "node" in one}


def edges(path: Path) -> set[tuple[str, str]]:
    found = [one["edge"] for one in lines(path) if "edge" in one]
    return {(one["source"], one["target"]) for one in found}


def checked(path: Path) -> Any:
    """The process as an ingest checks it."""
    return survey(open_input(path))

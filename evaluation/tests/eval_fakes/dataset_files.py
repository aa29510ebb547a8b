"""Invented files of data sets, and what loaders make of them."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from veritrail_eval.datasets.model import Dataset
from veritrail_graph.graph.model import Verdict
from veritrail_graph.verifier.held_process import HeldProcess


def write_json(path: Path, value: Any) -> Path:
    """A JSON document."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def write_lines(path: Path, rows: list[Any]) -> Path:
    """JSON Lines, gzipped where the name says so."""
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A table of text."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def labels_of(dataset: Dataset) -> list[Verdict | None]:
    """The labels of the claims."""
    return [claim.label for claim in dataset.claims]


def held_processes(dataset: Dataset) -> list[HeldProcess]:
    """Every process, which must keep the rules and have the nodes that claims name."""
    found = {name: HeldProcess.read(opened()) for name, opened in dataset.processes.items()}
    for name, process in found.items():
        assert process.process_id == name
        assert process.survey.warnings == ()
    for claim in dataset.claims:
        process = found[claim.process_id]
        node = process.node_of(claim.node_id)
        assert not node.is_root
        assert process.roots_below(node.node_id)
    return list(found.values())


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    """A parquet file."""
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path

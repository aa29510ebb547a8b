"""Small process files: a document that keeps every rule, written in every form."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InvalidProcess, Violation
from veritrail_graph.graph.importers.process_file import ProcessFileImporter
from veritrail_graph.graph.importers.records import Header, Record
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.graph.ingest.check import Survey
from veritrail_graph.graph.ingest.restoring import survey_whole

DOCUMENT: dict[str, Any] = {
    "format": "veritrail.process/1",
    "process_id": "tides",
    "nodes": [
        {"node_id": "c1", "text": "High water stood at nine."},
        {"node_id": "c2", "text": "The quay was dry at noon."},
        {"node_id": "s", "text": "High water at nine, a dry quay at noon."},
        {"node_id": "t", "text": "The tide went out before noon."},
    ],
    "edges": [
        {"source": "c1", "target": "s"},
        {"source": "c2", "target": "s"},
        {"source": "s", "target": "t"},
    ],
    "claims": [{"claim_id": "k1", "text": "The tide went out.", "node_id": "t"}],
}


def document(**changes: Any) -> dict[str, Any]:
    """A copy of `DOCUMENT`; keys given here take the place of its own, None removes one."""
    made = {**deepcopy(DOCUMENT), **changes}
    return {key: value for key, value in made.items() if value is not None}


def nodes(*names: str, **stages: int) -> list[dict[str, Any]]:
    """Nodes with a text each: `nodes("a", "b")`, or with stages: `nodes(a=1, b=2)`."""
    plain = [{"node_id": name, "text": f"Text of {name}."} for name in names]
    return plain + [
        {"node_id": name, "text": f"Text of {name}.", "stage": stage}
        for name, stage in stages.items()
    ]


def edges(*pairs: str) -> list[dict[str, Any]]:
    """Edges between nodes: `edges("a b", "b c")`."""
    return [dict(zip(("source", "target"), pair.split(), strict=True)) for pair in pairs]


def as_json(made: Any) -> bytes:
    return json.dumps(made).encode("utf-8")


def as_lines(made: dict[str, Any], *, backwards: bool = False) -> bytes:
    """The document as JSON Lines, the records in the order of the document or the other way."""
    header = {key: value for key, value in made.items() if key not in ("nodes", "edges", "claims")}
    records = [
        {one: record}
        for one, many in (("node", "nodes"), ("edge", "edges"), ("claim", "claims"))
        for record in made.get(many, [])
    ]
    lines = [header, *(reversed(records) if backwards else records)]
    return b"".join(as_json(line) + b"\n" for line in lines)


def read(content: bytes | dict[str, Any], name: str = "process.json", **options: Any) -> Survey:
    """Write a file into the working folder of the test and read it as the product does."""
    path = Path(name)
    data = content if isinstance(content, bytes) else as_json(content)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return survey_whole(ProcessFileImporter().open(path, ImportOptions(**options)), **options)


def violations(
    content: bytes | dict[str, Any], name: str = "process.json", **options: Any
) -> tuple[Violation, ...]:
    """The violations of a file that breaks rules."""
    with pytest.raises(InvalidProcess) as told:
        read(content, name, **options)
    for each in told.value.violations:
        str(each).encode("utf-8")  # fit to be printed
    return told.value.violations


def only_violation(content: bytes | dict[str, Any], name: str = "process.json") -> Violation:
    """The violation of a file that breaks one rule."""
    (told,) = violations(content, name)
    return told


@dataclass
class Records:
    """A `ProcessInput` in memory; `made` is called once a reading."""

    made: Any
    header: Header = field(default_factory=lambda: Header("test"))

    @classmethod
    def of(cls, records: Iterable[Record], **header: Any) -> Records:
        kept = tuple(records)
        return cls(lambda: kept, Header("test", **header))

    def records(self) -> Iterator[Record]:
        return iter(self.made())

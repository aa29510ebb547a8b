"""One embedded engine with both samples, verified once with the lexical engine.

What the verification left is recorded; then both samples are stored again with ids and times that
are always the same, so that everything that is read afterwards stands in one order.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from golden.calling import Calling, Ended
from golden.golden import Plain
from neo4j import GraphDatabase

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAMPLES = ("harbour-summary", "graphrag-energy")
NODES = "MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties"
EDGES = (
    "MATCH (a)-[r]->(b) RETURN type(r) AS type, properties(r) AS properties, "
    "labels(a) AS from_labels, properties(a) AS source, labels(b) AS to_labels, "
    "properties(b) AS target"
)


@dataclass(frozen=True)
class Scene:
    """The content of the graph, and how it got there.

    Attributes:
        call: Calls a command.
        plain: Replaces what varies.
        ingested: The call that stored each sample.
        verified: The call that verified each sample.
        nodes: Every node that both left.
        edges: Every relationship that both left.
    """

    call: Calling
    plain: Plain
    ingested: dict[str, Ended]
    verified: dict[str, Ended]
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]


def fixed_id(process_id: str, claim_id: str) -> str:
    """The verification_id that a claim of a sample has from the second storing on."""
    return f"v-{hashlib.md5(f'{process_id} {claim_id}'.encode()).hexdigest()}"


@pytest.fixture(scope="session")
def scene() -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(
        prefix="vt-", dir="/tmp" if Path("/tmp").is_dir() else None, ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        (folder / "work").mkdir()
        call = Calling(folder / "vt", folder / "work")
        plain = Plain({str(EXAMPLES): "<examples>", name: "<folder>"})
        try:
            call("db", "start")
            files = {sample: str(EXAMPLES / f"{sample}.json") for sample in SAMPLES}
            ingested = {s: call("ingest", files[s], "--json") for s in SAMPLES}
            verified = {s: call("verify", s, "--json", "--concurrency", "1") for s in SAMPLES}
            for sample, ended in verified.items():
                plain.names[ended.json["run_id"]] = f"<r {sample}>"
                for one in ended.json["verifications"]:
                    plain.names[one["verification_id"]] = f"<v {sample} {one['claim_id']}>"
            dumped = _rows(call, NODES), _rows(call, EDGES)
            for sample in SAMPLES:
                _store_with_fixed_ids(call, plain, sample)
            yield Scene(call, plain, ingested, verified, *dumped)
        finally:
            call("db", "stop")


def _store_with_fixed_ids(call: Calling, plain: Plain, sample: str) -> None:
    path = call.folder / f"{sample}.json"
    call("export", sample, "-o", path.name)
    text = path.read_text(encoding="utf-8")
    for known, name in plain.names.items():
        if name.startswith(f"<v {sample} "):
            text = text.replace(known, fixed_id(*name[3:-1].split(" ")))
    text = re.sub(r"\br-[0-9a-f]{32}\b", f"r-{hashlib.md5(sample.encode()).hexdigest()}", text)
    document = json.loads(text)
    for number, one in enumerate(document["verifications"]):
        one["created_at"] = f"2026-03-01T10:00:{number:02}Z"
    path.write_text(json.dumps(document), encoding="utf-8")
    call("delete", sample, "--yes")
    assert call("ingest", path.name).status == 0


def _rows(call: Calling, statement: str) -> list[dict[str, Any]]:
    facts = call("db", "status", "--json").json
    login = (facts["username"], Path(facts["password_file"]).read_text(encoding="utf-8").strip())
    with (
        GraphDatabase.driver(facts["uri"], auth=login) as driver,
        driver.session(database=facts["database"]) as session,
    ):
        return [row.data() for row in session.run(statement)]

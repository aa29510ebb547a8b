"""The graph that both samples leave after a lexical verification."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from golden.conftest import SAMPLES, Scene
from golden.golden import check

pytestmark = pytest.mark.engine

# A node is named in a relationship by these of its properties.
KEYS = ("key", "id", "process_id", "node_id", "claim_id", "verification_id", "number", "position")


@pytest.mark.parametrize("sample", SAMPLES)
def test_ingest_and_verify(scene: Scene, sample: str) -> None:
    check(f"data/samples/{sample}.ingest.json", scene.plain.json(scene.ingested[sample].json))
    check(f"data/samples/{sample}.verify.json", scene.plain.json(scene.verified[sample].json))
    assert (scene.ingested[sample].status, scene.verified[sample].status) == (0, 0)
    told = scene.plain.text(scene.ingested[sample].err + scene.verified[sample].err)
    told = _PROGRESS.sub("", told)  # a slow machine shows some
    check(f"words/samples/{sample}.txt", told)


_PROGRESS = re.compile(r"(?m)^\w+: [\d,]+ of [\d,]+.*\n?")


def test_dump(scene: Scene) -> None:
    nodes = [_line(scene, row) for row in scene.nodes]
    edges = [_line(scene, _short(row)) for row in scene.edges]
    check("data/graph/nodes.jsonl", "\n".join(sorted(nodes)) + "\n")
    check("data/graph/edges.jsonl", "\n".join(sorted(edges)) + "\n")


def _short(edge: dict[str, Any]) -> dict[str, Any]:
    for end in ("source", "target"):
        edge[end] = {key: edge[end][key] for key in KEYS if key in edge[end]}
    return edge


def _line(scene: Scene, row: dict[str, Any]) -> str:
    return scene.plain.text(json.dumps(row, sort_keys=True, default=str, ensure_ascii=False))

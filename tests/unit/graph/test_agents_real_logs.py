"""Real logs of many agents that failed, each with a note of where it went wrong.

The numbers of messages were counted from the files without any code of this project. A result
that repeats earlier messages is a node more, and has an edge from each of them and from that node.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from veritrail_graph.graph.importers.copied import GAP
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Origin

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "agents" / "who_and_when"
LOGS = sorted(path.relative_to(DATA).as_posix() for path in DATA.glob("*/*.json"))

pytestmark = pytest.mark.skipif(not LOGS, reason=f"the real logs of agents are not at {DATA}")

EXPECTED = {
    "algorithm-generated/1.json": (6, 9, "message/4"),
    "algorithm-generated/7.json": (12, 37, "message/8"),
    "hand-crafted/1.json": (31, 298, "message/28/answer"),
    "hand-crafted/4.json": (22, 97, "message/16"),
    "hand-crafted/8.json": (121, 4631, "message/128"),
}
"""Nodes, edges, and the final output."""


@cache
def opened(name):
    (found,) = find_processes(DATA / name)
    process = found.open()
    records = list(process.records())
    nodes = {one.node_id: one for one in records if isinstance(one, NodeRecord)}
    return process, nodes, [one for one in records if isinstance(one, EdgeRecord)]


@pytest.mark.parametrize("name", LOGS or ["none"])
def test_a_real_log_keeps_all_rules(name):
    process, nodes, edges = opened(name)
    log = json.loads((DATA / name).read_text(encoding="utf-8"))
    surveyed = survey(process)
    (terminal,) = surveyed.terminals
    assert process.header.source_format == "agents"
    assert process.header.question == log["question"].strip()
    assert nodes[terminal].origin is Origin.GENERATED
    assert nodes[terminal].metadata["ground_truth"] == log["ground_truth"]
    targets = {edge.target for edge in edges}
    unsourced = [
        one for one in nodes.values() if one.node_id not in targets and one.origin != "source"
    ]
    assert [one.origin for one in unsourced] == [Origin.GIVEN]
    assert not any(nodes[target].origin is Origin.SOURCE for target in targets)
    if name in EXPECTED:
        assert (len(nodes), len(edges), terminal) == EXPECTED[name]


@pytest.mark.parametrize("name", LOGS or ["none"])
def test_the_noted_mistake_is_a_generated_node(name):
    process, nodes, _ = opened(name)
    log = json.loads((DATA / name).read_text(encoding="utf-8"))
    (noted,) = [one for one in nodes.values() if "mistake" in one.metadata]
    assert noted.node_id == f"message/{int(log['mistake_step'])}"
    assert noted.origin is Origin.GENERATED
    assert noted.step == log["mistake_agent"]
    assert not any("mistake_step" in one for one in process.header.warnings)
    assert not any(log["mistake_reason"] in one.text for one in nodes.values())


@pytest.mark.parametrize("name", LOGS or ["none"])
def test_every_text_is_in_the_log(name):
    _, nodes, _ = opened(name)
    log = json.loads((DATA / name).read_text(encoding="utf-8"))
    for node in nodes.values():
        if node.node_id == "question":
            assert node.text == log["question"].strip()
            continue
        content = log["history"][node.metadata["index"]]["content"]
        for line in filter(None, node.text.splitlines()):
            assert all(part.strip() in content for part in line.split(GAP.strip()))

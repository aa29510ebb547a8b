"""Imports with named edges only: what loses its inputs is unsourced, and source text stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.graph.errors import InvalidProcess
from veritrail_graph.graph.importers.explicit import ExplicitInput
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes, open_input
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Role

REPO = Path(__file__).resolve().parents[2]
EXAMPLES = REPO / "examples" / "traces"
REAL = REPO.parent / "shared" / "data" / "traces"


def without_inferred(path: Path) -> Any:
    (found,) = find_processes(path, options=ImportOptions(only_explicit=True))
    return survey(ExplicitInput(found.open()))


def roles(path: Path) -> dict[str, int]:
    checked = without_inferred(path)
    assert any("inferred edge(s) are left out" in one for one in checked.warnings)
    return {role.value: checked.roles.count(role) for role in Role if role in checked.roles}


@pytest.mark.parametrize("name", ["langchain", "langfuse", "mlflow", "otlp", "haystack"])
def test_the_example_of_each_tracer_keeps_its_sources(name: str) -> None:
    found = roles(EXAMPLES / f"{name}.json")
    assert found["root"] >= 1
    assert found.get("unsourced", 0) + found.get("terminal", 0) >= 1


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real traces are not at {REAL}")
@pytest.mark.parametrize(
    "name",
    ["openinference_langgraph_otlp.json", "mlflow_trace.json", "langchain_runtree_flat.json"],
)
def test_real_traces_without_named_edges_are_processes(name: str) -> None:
    checked = without_inferred(REAL / name)
    assert not checked.topology.edge_sources
    assert checked.roles.count(Role.ROOT) >= 1


def process_file(tmp_path: Path, edge: dict[str, Any] | None) -> Path:
    value = {
        "format": "veritrail.process/1",
        "nodes": [{"node_id": "a", "text": "A page."}, {"node_id": "b", "text": "A note."}],
        "edges": [edge] if edge else [],
    }
    path = tmp_path / "process.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_what_loses_its_only_input_is_no_source_text(tmp_path: Path) -> None:
    edge = {"source": "a", "target": "b", "inferred": "exact", "score": 1.0}
    checked = survey(ExplicitInput(open_input(process_file(tmp_path, edge))))
    assert checked.unsourced == 1
    assert checked.roles.count(Role.ROOT) == 1


def test_a_process_file_without_edges_is_refused_as_before(tmp_path: Path) -> None:
    source = ExplicitInput(open_input(process_file(tmp_path, None)))
    with pytest.raises(InvalidProcess) as refused:
        survey(source)
    assert [one.kind for one in refused.value.violations] == ["no_edges"]

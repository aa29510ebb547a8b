"""Many answers of one GraphRAG index in one process, on both engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fakes.graphrag_folder import base_tables, opened, write

from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.graph.errors import InvalidProcess, violation_with_advice
from veritrail_graph.graph.ingest import append, ingest
from veritrail_graph.graph.store import Store

pytestmark = pytest.mark.engine

FIRST = {
    "answer": "Yes [Data: Reports (0)].",
    "question": "Is it?",
    "map_responses": [{"response": [{"answer": "A point [Data: Reports (0)].", "score": 9}]}],
}
SECOND = {**FIRST, "answer": "No [Data: Reports (1)].", "question": "Is it not?"}


def test_answers_are_appended_side_by_side_with_their_own_questions(
    store: Store, arun: Any, process_id: str, tmp_path: Path
) -> None:
    folder = write(tmp_path / "index", base_tables())

    def given(answer: dict[str, Any], **options: Any) -> Any:
        return opened(folder, answer, **{"answer_id": None, **options})

    arun(ingest(store, given(FIRST), process_id=process_id))
    report = arun(append(store, given(SECOND), process_id=process_id))
    assert (report.status, report.nodes_added) == ("appended", 2)
    # The same again is the same answer; another text under a key that is taken is told.
    again = arun(append(store, given(SECOND), process_id=process_id))
    assert again.status == "unchanged"
    named = arun(append(store, given(FIRST, answer_id="q3"), process_id=process_id))
    assert named.nodes_added == 2

    terminals = arun(store.processes.get(process_id)).terminals
    assert len(terminals) == 3
    assert terminals[-1] == "answer/q3"
    assert arun(store.processes.get(process_id)).name == "GraphRAG: index"
    with pytest.raises(InvalidProcess) as caught:
        arun(append(store, given(SECOND, answer_id="q3"), process_id=process_id))
    told = [violation_with_advice(one, ADVICE) for one in caught.value.violations]
    assert "the node_id 'answer/q3' is stored with different content" in told[-1]
    assert "--answer-id" in told[-1]
    asked = {node.node_id: node.question for node in arun(store.nodes.get(process_id, terminals))}
    assert list(asked.values()) == ["Is it?", "Is it not?", "Is it?"]
    maps = [f"{name}/map/1.1" for name in terminals]
    stages = {node.node_id: node.stage for node in arun(store.nodes.get(process_id, maps))}
    assert stages == dict.fromkeys(maps, 5)

"""An index of the newest release of GraphRAG."""

from __future__ import annotations

from pathlib import Path

from unit.graph.test_graphrag_importer import graph_of

from veritrail_graph.graph.importers.graphrag import GraphRagImporter
from veritrail_graph.graph.importers.registry import ImportOptions

# Written by the pipeline of GraphRAG 3.3.0 (`build_index`, standard method) from two files of a
# line each, with its own model of type `mock`, which answers what its settings say.
NEWEST = Path(__file__).parent / "graphrag-3.3.0"


def test_an_index_of_the_newest_release_is_read_whole(tmp_path):
    answer = tmp_path / "answer.txt"
    said = "The Tern carries 42 cars [Data: Reports (0); Entities (0)]. Alma Dahl signed the sale."
    answer.write_text(said)
    nodes, sources = graph_of(GraphRagImporter().open(NEWEST, ImportOptions(answer=str(answer))))
    by_stage = {stage: [one.text for one in nodes.values() if one.stage == stage]
                for stage in (1, 2, 3, 4, 6)}  # fmt: skip
    assert [len(texts) for texts in by_stage.values()] == [2, 4, 1, 1, 1]
    assert any("carries 42 cars between Vik and Norvik" in text for text in by_stage[1])
    (described,) = by_stage[3]
    assert "harbour master of Vik and signed the sale of the Gull" in described
    assert "The Tern carries 42 cars" in by_stage[4][0]
    (final,) = [name for name, one in nodes.items() if one.stage == 6]
    assert sources[final] == {"community_report/0": True, "entity/0": True}
    cited = {name for name, is_cited in sources["community_report/0"].items() if is_cited}
    assert cited == {"entity/0", "relationship/0"}

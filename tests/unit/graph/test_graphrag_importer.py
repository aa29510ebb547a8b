"""Small GraphRAG folders written here, for what no real folder at hand holds."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes.graphrag_folder import base_tables, community, entity, opened, report, write

from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.graphrag import GraphRagImporter, importer
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.importers.registry import ImportOptions, open_input


def graph_of(process):
    records = list(process.records())
    nodes = {r.node_id: r for r in records if isinstance(r, NodeRecord)}
    sources: dict[str, dict[str, bool | None]] = {name: {} for name in nodes}
    for record in records:
        if isinstance(record, EdgeRecord):
            assert record.source in nodes
            sources[record.target][record.source] = record.cited
    for name, given in sources.items():
        assert given or nodes[name].stage == 1
    return nodes, sources


def warnings_of(process):
    return "\n".join(process.header.warnings)


def test_stages_without_snapshots(tmp_path):
    process = opened(write(tmp_path / "g", base_tables()), question="Q?")
    nodes, sources = graph_of(process)
    assert {name: node.stage for name, node in nodes.items()} == {
        "text_unit/0": 1,
        "text_unit/1": 1,
        "text_unit/2": 1,
        "entity/0": 3,
        "entity/1": 2,
        "relationship/0": 2,
        "community_report/0": 4,
        "community_report/1": 4,
        "answer/a": 6,
    }
    assert sources["entity/0"] == {"text_unit/0": None, "text_unit/1": None}
    assert sources["community_report/0"] == {
        "entity/0": True,
        "entity/1": False,
        "relationship/0": False,
    }
    assert sources["community_report/1"] == {"entity/1": None}
    assert sources["answer/a"] == {"community_report/0": True, "community_report/1": False}
    assert "1 summarized descriptions (stage 3) in entities.parquet" in warnings_of(process)
    assert "holds no covariates" in warnings_of(process)


def test_raw_snapshots_stand_between_text_units_and_summaries(tmp_path):
    tables = base_tables()
    tables["raw_entities"] = [
        {
            "title": "A",
            "type": "T",
            "description": ["A first.", "A again."],
            "text_unit_ids": ["u0", "u1"],
        },
        {"title": "B", "type": "T", "description": ["B is."], "text_unit_ids": ["u1"]},
        {"title": "GONE", "type": "T", "description": ["x"], "text_unit_ids": ["u1"]},
    ]
    tables["raw_relationships"] = [
        {"source": "A", "target": "B", "description": ["AB"], "text_unit_ids": ["u1"]}
    ]
    process = opened(write(tmp_path / "g", tables))
    nodes, sources = graph_of(process)
    assert sources["entity/0"] == {"extracted_entity/0.0": None, "extracted_entity/0.1": None}
    assert sources["extracted_entity/0.1"] == {"text_unit/1": None}
    raw = nodes["extracted_entity/0.1"]
    assert (raw.stage, raw.kind, raw.text) == (2, "extracted_entity", "A\nA again.")
    # A lone extraction is the entity's description: it is not there twice.
    assert sources["entity/1"] == {"text_unit/1": None}
    assert nodes["entity/1"].stage == 2
    assert not [name for name in nodes if name.startswith("extracted_relationship")]
    assert "Per-chunk" not in warnings_of(process)
    assert "1 (extracted_entity/2.0) extractions belong to no row" in warnings_of(process)


def test_a_raw_row_with_lists_of_different_length_is_refused(tmp_path):
    tables = base_tables()
    tables["raw_entities"] = [
        {"title": "A", "type": "T", "description": ["x", "y"], "text_unit_ids": ["u0"]}
    ]
    with pytest.raises(InputError, match=r"raw_entities.parquet row 0: 2 descriptions"):
        opened(write(tmp_path / "g", tables))


def test_claims_hang_on_their_text_unit_and_under_the_report_of_their_subject(tmp_path):
    tables = base_tables()
    claim = {"human_readable_id": 1, "description": "B did.", "text_unit_id": "u1"}
    tables["covariates"] = [
        {"id": "k1", "subject_id": "B", **claim},
        {"id": "k2", "subject_id": "C", **claim, "human_readable_id": 2},
        {"id": "k3", "subject_id": "B", **claim, "human_readable_id": 3, "text_unit_id": "lost"},
    ]
    process = opened(write(tmp_path / "g", tables))
    nodes, sources = graph_of(process)
    assert nodes["covariate/1"].text == "B did.\nSubject: B"
    assert sources["covariate/1"] == {"text_unit/1": None}
    assert sources["community_report/1"] == {"entity/1": None, "covariate/1": None}
    assert "covariate/2" in nodes
    assert "covariate/3" not in nodes
    assert "1 (covariate/3) rows come from no text unit" in warnings_of(process)


def test_dangling_references_are_dropped_and_said(tmp_path):
    tables = base_tables()
    tables["entities"] += [entity("c", 2, "C", ["lost"]), entity("d", 3, "D", ["u0", "lost"])]
    tables["communities"] += [community(2, 0, ["c"], []), community(3, 0, ["d", "what"], [])]
    tables["community_reports"] += [
        report(2, 0, "On C."),
        report(3, 0, "On D [Data: Entities (77)]."),
        report(4, 0, "Of no community."),
    ]
    process = opened(
        write(tmp_path / "g", tables), "Yes [Data: Reports (0, 2); Entities (2); Rubbish (1)]."
    )
    nodes, sources = graph_of(process)
    assert "entity/2" not in nodes
    assert "community_report/2" not in nodes
    assert sources["entity/3"] == {"text_unit/0": None}
    assert nodes["entity/3"].stage == 2
    assert sources["community_report/3"] == {"entity/3": False}
    warnings = warnings_of(process)
    assert "1 (entity/2) rows come from no text unit" in warnings
    assert "2 (row 2, row 3) rows name text units" in warnings
    assert "2 (community_report/2, community_report/4) reports have no entity or" in warnings
    assert "2 entity_ids or relationship_ids" in warnings
    assert "community_report/3: entity 77" in warnings
    assert "answer/a: Reports (2), answer/a: Entities (2)" in warnings
    assert "answer/a: Rubbish (1)" in warnings


def test_numbers_that_repeat_give_way_to_parquet_ids(tmp_path):
    tables = base_tables()
    for row in tables["entities"]:
        row["human_readable_id"] = 5
    process = opened(write(tmp_path / "g", tables), "Yes [Data: Entities (5)].")
    nodes, sources = graph_of(process)
    assert {"entity/a", "entity/b"} <= set(nodes)
    assert {name for name, cited in sources["answer/a"].items() if cited} == {
        "entity/a",
        "entity/b",
    }


def test_a_report_may_cite_deeper_reports_only(tmp_path):
    tables = base_tables()
    tables["community_reports"][0]["full_content"] = "Whole [Data: Reports (1, 0)]."
    tables["community_reports"][1]["full_content"] = "Part [Data: Reports (0)]."
    process = opened(write(tmp_path / "g", tables))
    _, sources = graph_of(process)
    assert sources["community_report/0"]["community_report/1"] is True
    assert "community_report/0" not in sources["community_report/1"]
    assert "community_report/0" not in sources["community_report/0"]
    assert "2 (community_report/1: community_report 0" in warnings_of(process)


def test_text_units_without_text_are_named(tmp_path):
    tables = base_tables()
    tables["text_units"][1]["text"] = " "
    tables["text_units"][2]["text"] = None
    process = opened(write(tmp_path / "g", tables))
    assert "2 (row 1, row 2) text units hold no text" in warnings_of(process)


def test_what_is_cited_by_its_title_is_cited(tmp_path):
    tables = base_tables()
    tables["community_reports"][0]["full_content"] = "Whole [Data: Relationships (b -> a)]."
    folder = write(tmp_path / "g", tables)
    process = opened(folder, 'Yes [Data: Entities ("a", C); Relationships (A → B)].')
    _, sources = graph_of(process)
    assert {name for name, cited in sources["answer/a"].items() if cited} == {
        "entity/0",
        "relationship/0",
    }
    assert sources["community_report/0"]["relationship/0"] is True
    assert "cannot be read: 1 (answer/a: Entities (C))" in warnings_of(process)


MAPS = {
    "response": "Final [Data: Reports (0)].",
    "query": "Q?",
    "context_data": {"reports": {"id": ["0", "1"]}},
    "map_responses": [
        {
            "response": [
                {"answer": "Point [Data: Reports (0)].", "score": 9},
                {"answer": "Aside.", "score": 0},
            ],
            "context_data": "id|title|summary\n0|A|a\n1|B|b\n",
        }
    ],
}


def test_captured_map_answers_are_stage_5(tmp_path):
    process = opened(write(tmp_path / "g", base_tables()), MAPS)
    nodes, sources = graph_of(process)
    both = {"community_report/0": True, "community_report/1": False}
    assert sources["answer/a/map/1.1"] == both
    assert sources["answer/a/map/1.2"] == dict.fromkeys(both, False)
    assert sources["answer/a"] == {"answer/a/map/1.1": None}
    assert nodes["answer/a/map/1.1"].stage == 5
    assert nodes["answer/a/map/1.1"].metadata == {"cites": {"Reports": [0]}, "score": 9}
    assert nodes["answer/a"].metadata == {"cites": {"Reports": [0]}}
    assert "1 (answer/a/map/1.2) map answers did not reach" in warnings_of(process)
    assert "what the answer file says was given" in warnings_of(process)


def test_sources_cited_with_map_answers_never_leaves_one_without_source(tmp_path):
    process = opened(write(tmp_path / "g", base_tables()), MAPS, sources="cited")
    _, sources = graph_of(process)
    assert sources["answer/a/map/1.1"] == {"community_report/0": True}
    assert len(sources["answer/a/map/1.2"]) == 2
    assert "with cited sources only" in warnings_of(process)


def test_a_report_cited_past_the_map_answers_is_a_direct_source(tmp_path):
    entry = MAPS | {
        "response": "Final [Data: Reports (1)].",
        "context_data": None,
        "map_responses": [
            {"response": [{"answer": "P", "score": 1}], "context_data": "id|t\n0|A\n"}
        ],
    }
    process = opened(write(tmp_path / "g", base_tables()), entry)
    _, sources = graph_of(process)
    assert sources["answer/a"] == {"answer/a/map/1.1": None, "community_report/1": True}
    assert "no map answer in its prompt" in warnings_of(process)


def test_map_answers_of_score_0_only_are_all_kept_as_sources(tmp_path):
    entry = MAPS | {"map_responses": [{"response": [{"answer": "P", "score": 0}]}]}
    process = opened(write(tmp_path / "g", base_tables()), entry)
    _, sources = graph_of(process)
    assert set(sources["answer/a"]) == {"answer/a/map/1.1"}
    assert "No map answer has a score above 0" in warnings_of(process)


def test_a_prompt_without_any_map_answer_in_it_says_nothing_of_their_scores(tmp_path):
    points = [{"answer": "P", "score": 50}, {"answer": "Q", "score": 0}]
    entry = MAPS | {"map_responses": [{"response": points}], "reduce_context_text": "nonsense"}
    process = opened(write(tmp_path / "g", base_tables()), entry)
    _, sources = graph_of(process)
    assert set(sources["answer/a"]) == {"answer/a/map/1.1"}
    assert "score above 0" not in warnings_of(process)
    assert "keeps holds none of the map answers" in warnings_of(process)


def test_map_answers_that_are_not_understood_are_not_called_empty(tmp_path):
    entry = MAPS | {"map_responses": [{"response": 7}, {"response": ""}]}
    process = opened(write(tmp_path / "g", base_tables()), entry)
    assert "the answer file keeps none that is understood" in warnings_of(process)
    assert "only empty ones" not in warnings_of(process)


def test_rows_that_the_folder_lacks_are_named_and_not_the_level(tmp_path):
    answer = {"answer": "No citation.", "context_data": {"reports": [{"id": 99}]}}
    with pytest.raises(InputError, match=r"1 \(Reports \(99\)\), and the answer") as caught:
        opened(write(tmp_path / "g", base_tables()), answer)
    assert "level" not in str(caught.value)


def test_a_question_that_is_not_understood_is_not_called_missing(tmp_path):
    process = opened(write(tmp_path / "g", base_tables()), {"answer": "Yes.", "query": ["Q"]})
    assert "`query` holds a list" in warnings_of(process)
    assert "holds no question" not in warnings_of(process)


def test_each_warning_about_one_answer_names_it(tmp_path):
    folder = write(tmp_path / "g", base_tables())
    plain = {"answer": "Yes [Data: Reports (0, 9, +more); Rubbish (1)].", "index": "other", "x": 1}
    about = [
        set(opened(folder, entry, answer_id=key).header.warnings)
        for key, entry in (("a", plain), ("b", MAPS), ("c", {"answer": "No."}))
    ]
    of_index = set.intersection(*about)
    assert of_index
    for key, warnings in zip("abc", about, strict=True):
        own = warnings - of_index
        assert len(own) > 1
        assert all(warning.startswith(f"answer/{key}: ") for warning in own)


def test_local_search_context_is_given_as_it_was(tmp_path):
    entry = {
        "response": "Local [Data: Entities (1)].",
        "context_data": {
            "entities": [{"id": "0"}, {"id": "1"}],
            "sources": [{"id": "2"}, {"id": "8"}],
        },
    }
    process = opened(write(tmp_path / "g", base_tables()), entry)
    _, sources = graph_of(process)
    assert sources["answer/a"] == {"entity/0": False, "entity/1": True, "text_unit/2": False}
    assert "1 (Sources (8)) rows that were given" in warnings_of(process)


def test_an_answer_without_any_source_is_refused(tmp_path):
    folder = write(tmp_path / "g", base_tables())
    with pytest.raises(InputError, match="cites nothing that the folder holds"):
        opened(folder, "No citation.", sources="cited")
    tables = base_tables()
    for row in tables["community_reports"]:
        row["level"] = 3
    deep = write(tmp_path / "deep", tables)
    with pytest.raises(InputError, match="Raise the community level"):
        opened(deep, "No citation.")


@pytest.mark.parametrize(
    ("option", "value"), [("sources", "all"), ("community_level", -1), ("answer_id", "a/b")]
)
def test_wrong_options_are_refused(tmp_path, option, value):
    with pytest.raises(InputError, match=f"(?i){option.replace('_', ' ')} '?{value}"):
        opened(write(tmp_path / "g", base_tables()), **{option: value})


def test_missing_files_and_columns_are_listed_together(tmp_path):
    tables = base_tables()
    del tables["communities"]
    for row in tables["entities"]:
        del row["text_unit_ids"]
    for row in tables["relationships"]:
        row["description"] = 7
    with pytest.raises(InputError) as caught:
        opened(write(tmp_path / "g", tables))
    kinds = {v.kind: v for v in caught.value.violations}
    assert set(kinds) == {"missing_file", "missing_column", "wrong_type"}
    assert "communities.parquet" in kinds["missing_file"].where
    assert "entities.parquet column 'text_unit_ids'" in kinds["missing_column"].where
    assert "GraphRAG 0.3 to 3.1 have it" in kinds["missing_column"].message
    assert "relationships.parquet column 'description'" in kinds["wrong_type"].where
    assert "holds int64; text is expected" in kinds["wrong_type"].message
    # The doors list the violations below the message: each is shown once.
    assert str(caught.value) == f"{tmp_path / 'g'} cannot be read as a GraphRAG 2.x or 3.x index"


def as_csv(folder):
    """Write the tables of a folder as pandas writes them, and remove the others."""
    for path in folder.glob("*.parquet"):
        pq.read_table(path).to_pandas().to_csv(path.with_suffix(".csv"), index=False)
        path.unlink()
    return folder


def test_tables_as_csv_are_read_as_parquet_is(tmp_path):
    answer = "Yes [Data: Reports (0)]."
    as_parquet = opened(write(tmp_path / "g", base_tables()), answer)
    expected = list(as_parquet.records())
    read = opened(as_csv(tmp_path / "g"), answer)
    found = list(read.records())
    assert [replace(one, where="") for one in found] == [replace(one, where="") for one in expected]
    said = [one.replace(".csv ", ".parquet ") for one in read.header.warnings]
    assert said == list(as_parquet.header.warnings)


def test_a_list_that_pandas_printed_in_part_is_refused(tmp_path):
    folder = as_csv(write(tmp_path / "g", base_tables()))
    path = folder / "entities.csv"
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "text_unit_ids": "['a' 'b' ... 'z']"} for row in rows)
    with pytest.raises(InputError, match=r"entities.csv row 0: 'text_unit_ids' holds no whole"):
        list(opened(folder).records())


def test_a_folder_of_some_tables_as_csv_is_no_index(tmp_path):
    folder = as_csv(write(tmp_path / "g", base_tables()))
    (folder / "communities.csv").unlink()
    assert "holds GraphRAG's tables" in GraphRagImporter().detect(folder)


def test_empty_reports_are_refused(tmp_path):
    tables = base_tables()
    tables["community_reports"] = pa.Table.from_pylist(tables["community_reports"]).slice(0, 0)
    with pytest.raises(InputError, match=r"community_reports.parquet holds no rows"):
        opened(write(tmp_path / "g", tables))


@pytest.mark.parametrize(
    ("table", "key", "value", "message"),
    [
        ("entities", "id", "b", "'b' is there 2 times"),
        ("entities", "id", None, "row 0: has no id"),
        ("community_reports", "level", None, "level is None"),
    ],
)
def test_wrong_values_are_named(tmp_path, table, key, value, message):
    tables = base_tables()
    tables[table][0][key] = value
    with pytest.raises(InputError) as caught:
        opened(write(tmp_path / "g", tables))
    (violation,) = caught.value.violations
    assert message in str(violation)
    assert f"{table}.parquet" in violation.where
    assert message not in str(caught.value)


def test_a_git_lfs_pointer_is_recognised(tmp_path):
    folder = write(tmp_path / "g", base_tables())
    (folder / "entities.parquet").write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(InputError) as caught:
        opened(folder)
    assert "git lfs pull" in caught.value.violations[0].message


def test_a_file_that_breaks_between_opening_and_reading_is_a_violation(tmp_path):
    folder = write(tmp_path / "g", base_tables())
    process = opened(folder)
    (folder / "entities.parquet").write_bytes(b"gone")
    found = [record for record in process.records() if isinstance(record, Violation)]
    assert [violation.kind for violation in found] == ["unreadable_file"]
    assert "entities.parquet" in found[0].message


def test_first_generation_names_are_read_and_new_ones_win(tmp_path):
    folder = write(tmp_path / "g", base_tables(), prefix="create_final_")
    nodes, _ = graph_of(opened(folder))
    assert nodes["entity/0"].where == "create_final_entities.parquet row 0"
    write(folder, base_tables())
    nodes, _ = graph_of(opened(folder))
    assert nodes["entity/0"].where == "entities.parquet row 0"


def before_0_9(tables):
    """The same index as GraphRAG 0.3 and 0.4 wrote it."""
    for row in tables["entities"]:
        row["name"] = row.pop("title")
    for row in tables["communities"]:
        row["id"] = str(row.pop("community"))
    tables["nodes"] = [
        {"id": entity, "community": row["id"], "level": row["level"]}
        for row in tables["communities"]
        for entity in row.pop("entity_ids")
    ]
    tables["nodes"].append({"id": "b", "community": None, "level": 2})
    for row in tables["community_reports"]:
        row["community"] = str(row["community"])
    tables["relationships"] = [{**row, "rank": 3} for row in tables["relationships"] * 2]
    return tables


def test_folders_of_0_3_and_0_4_give_the_same_process(tmp_path):
    new = graph_of(opened(write(tmp_path / "new", base_tables())))
    process = opened(write(tmp_path / "old", before_0_9(base_tables()), prefix="create_final_"))
    nodes, sources = graph_of(process)
    assert sources == new[1]
    assert {name: node.text for name, node in nodes.items()} == {
        name: node.text for name, node in new[0].items()
    }
    assert nodes["relationship/0"].metadata["combined_degree"] == 3
    repeated = "create_final_relationships.parquet: 1 (row 1) rows repeat an earlier one"
    assert repeated in warnings_of(process)


@pytest.mark.parametrize("row", [None, community(-1, 0, ["a"], []), community(-1, 0, [], [])])
def test_the_entities_of_no_community_are_those_of_community_minus_one(tmp_path, row):
    tables = base_tables()
    tables["entities"].append(entity("c", 2, "C", ["u1"]))
    link = {**tables["relationships"][0], "id": "s", "human_readable_id": 1, "source": "C"}
    tables["relationships"].append({**link, "target": "A"})
    tables["communities"] += [] if row is None else [row]
    tables["community_reports"].append(report(-1, 0, "Of A and C, uncited."))
    tables["nodes"] = [
        {"id": key, "community": number, "level": level}
        for key, number, level in [("a", -1, 0), ("c", -1, 0), ("b", 0, 0), ("b", -1, 1)]
    ]
    folder = write(tmp_path / "g", tables, prefix="create_final_")
    process = opened(folder, "Yes [Data: Reports (-1)].")
    _, sources = graph_of(process)
    inside = {} if row else {"relationship/1": None}
    assert sources["community_report/-1"] == {"entity/0": None, "entity/2": None, **inside}
    assert sources["answer/a"]["community_report/-1"] is True
    assert ("the table of nodes alone" in warnings_of(process)) == (row is None)


def test_rows_that_an_update_wrote_again_are_read_once(tmp_path):
    tables = base_tables()
    tables["text_units"].append({**tables["text_units"][1], "human_readable_id": 9})
    tables["entities"].append({**tables["entities"][1], "human_readable_id": 7})
    tables["community_reports"].append({**report(7, 0, "Other [Data: Entities (0)]."), "id": "p0"})
    answer = "Yes [Data: Sources (3); Entities (7); Reports (7)]."
    process = opened(write(tmp_path / "g", tables), answer)
    nodes, sources = graph_of(process)
    assert [name for name in nodes if name.startswith(("text_unit", "entity"))] == [
        "text_unit/0", "text_unit/1", "text_unit/2", "entity/0", "entity/1",
    ]  # fmt: skip
    cited = {name for name, is_cited in sources["answer/a"].items() if is_cited}
    assert cited == {"text_unit/1", "entity/1", "community_report/7"}
    assert "text_units.parquet: 1 (row 3) rows repeat an earlier one" in warnings_of(process)
    tables["text_units"][3]["text"] = "Another."
    with pytest.raises(InputError, match="has wrong ids"):
        opened(write(tmp_path / "h", tables))


def test_runs_of_0_3_in_folders_by_time_are_found_and_the_newest_is_read(tmp_path):
    for time in ("20240709-120000", "20240722-093015"):
        folder = tmp_path / "output" / time / "artifacts"
        folder.mkdir(parents=True)
        write(folder, before_0_9(base_tables()), prefix="create_final_")
    (tmp_path / "output" / "20991231-000000" / "artifacts").mkdir(parents=True)
    newest = tmp_path / "output" / "20240722-093015"
    assert GraphRagImporter().detect(tmp_path) is None
    for given in (tmp_path, tmp_path / "output"):
        first = opened(given).header.warnings[0]
        assert first.startswith(
            f"Read from {newest / 'artifacts'}, the newest of 2 runs in {given}."
        )
        assert "20240709-120000" in first
    (only,) = (w for w in opened(newest).header.warnings if w.startswith("Read from"))
    assert "newest" not in only


def test_a_folder_of_0_4_without_its_nodes_is_named_with_the_way_out(tmp_path):
    tables = before_0_9(base_tables())
    del tables["nodes"]
    with pytest.raises(InputError, match=r"GraphRAG 0\.3 to 1\.x") as caught:
        opened(write(tmp_path / "g", tables, prefix="create_final_"))
    (violation,) = caught.value.violations
    assert "create_final_nodes.parquet, which holds the members" in violation.message
    assert "Copy the whole output folder" in violation.message


def test_keys_of_the_answer_that_are_not_understood_are_said(tmp_path):
    answer = {"answer": "Yes [Data: Reports (0)].", "context_data": {"repots": [{"id": 1}]}}
    process = opened(write(tmp_path / "g", base_tables()), answer | {"map_responses": {}, "x": 1})
    path = tmp_path / "answer.json"
    not_understood = "`context_data` holds an object that is not understood"
    found = process.header.warnings
    assert f"answer/a: {not_understood}; expected: rows by table (in {path})." in found
    assert f"answer/a: unknown keys are not read: `x` (in {path})." in found


def test_detection_says_why_not(tmp_path):
    importer = GraphRagImporter()
    assert importer.detect(tmp_path) is not None
    assert "community_reports.parquet" in importer.detect(tmp_path)
    file = tmp_path / "x.parquet"
    file.write_bytes(b"")
    assert importer.detect(file) == "not a folder"
    with pytest.raises(InputError, match=r"community_reports\.parquet"):
        importer.open(tmp_path, ImportOptions(answer="x"))
    folder = write(tmp_path / "g", base_tables())
    assert importer.detect(folder) is None


def test_records_are_read_again_as_they_were_read_before(tmp_path):
    process = opened(write(tmp_path / "g", base_tables()))
    first = list(process.records())
    assert list(process.records()) == first != []


def test_the_registry_opens_it(tmp_path):
    folder = write(tmp_path / "g", base_tables())
    answer = tmp_path / "a.txt"
    answer.write_text("Yes [Data: Reports (0)].", encoding="utf-8")
    process = open_input(folder, options=ImportOptions(answer=str(answer)))
    assert process.header.source_format == "graphrag"
    assert process.header.name == "GraphRAG: g"


def test_the_page_about_the_format_names_the_modules_that_are_there():
    folder = Path(importer.__file__).parent
    page = Path(__file__).parents[3] / "docs" / "formats" / "graphrag.md"
    section = page.read_text(encoding="utf-8").partition("## In the code")[2]
    named = set(re.findall(r"`(\w+)`", section))
    assert named == {path.stem for path in folder.glob("*.py")} - {"__init__"}

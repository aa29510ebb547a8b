"""Hierarchical summaries as levels of texts: what becomes nodes, and which edges are inferred."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes
from veritrail_graph.graph.importers.summaries import SummariesImporter
from veritrail_graph.graph.importers.summaries.grouping import by_order
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.model import Inference, Origin

BOOKS = Path(__file__).resolve().parents[4] / "shared/data/booookscore"
FILE = BOOKS / "claude-88000-hier.5-books.json"


def found_in(tmp_path, value, **options):
    path = tmp_path / "summaries.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    assert SummariesImporter().detect(path) is None
    return list(find_processes(path, options=ImportOptions(**options)))


def read(tmp_path, value, **options):
    (found,) = found_in(tmp_path, value, **options)
    return found.open()


def graph_of(process):
    """Nodes by id, and edges by their ends with how they were inferred and with what score."""
    records = list(process.records())
    nodes = {r.node_id: r for r in records if isinstance(r, NodeRecord)}
    edges = {
        (r.source, r.target): (r.inferred, r.score) for r in records if isinstance(r, EdgeRecord)
    }
    return nodes, edges


def texts(level, count):
    return [f"Text {level}.{number}." for number in range(count)]


def levels(*counts):
    return [texts(level, count) for level, count in enumerate(counts)]


def by_level(*counts):
    return {str(level): listed for level, listed in enumerate(levels(*counts))}


EXPLICIT = (None, None)
SURE = (Inference.ORDER, 1.0)
GUESSED = (Inference.ORDER, 0.5)


def test_a_level_of_one_text_has_all_below_as_inputs_and_needs_no_inference(tmp_path):
    made = {"levels": levels(3, 1), "name": "Quay", "question": "What happened?", "model": "m-1"}
    made["levels"][0] = [{"text": text, "origin": "source"} for text in made["levels"][0]]
    process = read(tmp_path, made)
    nodes, edges = graph_of(process)
    assert edges == {(f"level/0/{n}", "level/1/0"): EXPLICIT for n in range(3)}
    assert [(n.origin, n.stage, n.kind) for n in nodes.values()] == [
        *[(Origin.SOURCE, 1, "chunk")] * 3,
        (Origin.GENERATED, 2, "final summary"),
    ]
    assert [n.metadata.get("model") for n in nodes.values()] == [None, None, None, "m-1"]
    header = process.header
    assert (header.name, header.question) == ("Quay", "What happened?")
    assert (header.terminals, header.explained) == (("level/1/0",), None)
    assert header.stage_names == {1: "source chunk", 2: "final summary"}
    assert header.warnings == ()
    assert survey(process).terminals == ("level/1/0",)


@pytest.mark.parametrize(
    "made",
    [
        {"levels": levels(2, 1)},
        {"levels": levels(2, 1), "model": "m-1"},
        {"summaries_dict": by_level(2, 1), "final_summary": "End."},
        {"chunks": [{"text": "A.", "model": "m-1"}, {"text": "B.", "kind": "summary"}],
         "summary": "AB."},
    ],
)  # fmt: skip
def test_summaries_without_their_source_are_no_source_text(tmp_path, made):
    process = read(tmp_path, made)
    nodes, _ = graph_of(process)
    assert {node.origin for node in nodes.values()} == {Origin.GENERATED}
    assert "no claim can be supported" in process.header.warnings[0]
    assert survey(process).unsourced == 2


def test_only_the_texts_of_level_0_that_say_so_are_source_text(tmp_path):
    first, second = ({"text": text, "origin": "source"} for text in ("A.", "B."))
    nodes, _ = graph_of(read(tmp_path, {"levels": [[first, "C."], [second]]}))
    assert [(node.origin, node.kind) for node in nodes.values()] == [
        (Origin.SOURCE, "chunk"), (Origin.GENERATED, "summary"),
        (Origin.GENERATED, "final summary"),
    ]  # fmt: skip
    assert nodes["level/0/0"].metadata == {}


def test_given_chunks_are_the_source_and_no_warning_is_needed(tmp_path):
    made = {"chunks": texts("c", 2), "levels": levels(2, 1), "model": "m-1"}
    process = read(tmp_path, made)
    nodes, edges = graph_of(process)
    assert process.header.warnings == ()
    assert edges == {
        ("chunk/0", "level/0/0"): SURE,
        ("chunk/1", "level/0/1"): SURE,
        ("level/0/0", "level/1/0"): EXPLICIT,
        ("level/0/1", "level/1/0"): EXPLICIT,
    }
    assert [n.origin is Origin.SOURCE for n in nodes.values()] == [True, True, False, False, False]
    assert [n.step for n in nodes.values()] == [None, None, "summarise", "summarise", "merge"]


@pytest.mark.parametrize("key", ["chunks", "source", "sources"])
def test_chunks_and_one_summary_are_enough(tmp_path, key):
    process = read(tmp_path, {key: texts("c", 3), "summary": "All of it."})
    _, edges = graph_of(process)
    assert edges == {(f"chunk/{n}", "final"): EXPLICIT for n in range(3)}


def test_neighbours_are_grouped_evenly_with_a_warning(tmp_path):
    process = read(tmp_path, {"levels": levels(5, 2, 1)})
    _, edges = graph_of(process)
    assert {ends: how for ends, how in edges.items() if how != EXPLICIT} == {
        ("level/0/0", "level/1/0"): SURE,  # the first can be in no other group
        ("level/0/1", "level/1/0"): GUESSED,
        ("level/0/2", "level/1/0"): GUESSED,
        ("level/0/3", "level/1/1"): GUESSED,
        ("level/0/4", "level/1/1"): SURE,
    }
    assert sum(how == EXPLICIT for how in edges.values()) == 2
    assert any("levels[1]" in one and "--grouping" in one for one in process.header.warnings)


def test_the_size_of_groups_can_be_asked_for(tmp_path):
    process = read(tmp_path, {"levels": levels(5, 2, 1)}, grouping=4)
    _, edges = graph_of(process)
    assert {ends for ends, how in edges.items() if how == SURE} == {
        *((f"level/0/{n}", "level/1/0") for n in range(4)),
        ("level/0/4", "level/1/1"),
    }
    assert not any("--grouping" in one for one in process.header.warnings)
    process = read(tmp_path, {"levels": levels(5, 2, 1)}, grouping=2)
    assert graph_of(process)[1]["level/0/1", "level/1/0"] == GUESSED
    assert any("Groups of 2 do not make" in one for one in process.header.warnings)


def test_inferred_edges_can_be_left_out(tmp_path):
    process = read(tmp_path, {"levels": levels(4, 2, 1)}, only_explicit=True)
    _, edges = graph_of(process)
    assert set(edges) == {("level/1/0", "level/2/0"), ("level/1/1", "level/2/0")}
    assert any("4 inferred edges between levels are left out" in w for w in process.header.warnings)
    assert survey(process).unsourced == 6


@pytest.mark.parametrize(
    "recorded",
    [
        {"children": [None, [[0, 3], [1, 2]], [[0, 1]]]},
        {"children": [[[0, 3], [1, 2]], [[0, 1]]]},
        {"parents": [[0, 1, 1, 0], [0, 0]]},
        {"parents": [[[0], [1], [1], [0]], [0, 0], None]},
    ],
)
def test_recorded_children_or_parents_are_edges_of_the_file(tmp_path, recorded):
    process = read(tmp_path, {"levels": levels(4, 2, 1), **recorded}, only_explicit=True)
    _, edges = graph_of(process)
    assert edges == dict.fromkeys(
        [
            ("level/0/0", "level/1/0"),
            ("level/0/3", "level/1/0"),
            ("level/0/1", "level/1/1"),
            ("level/0/2", "level/1/1"),
            ("level/1/0", "level/2/0"),
            ("level/1/1", "level/2/0"),
        ],
        EXPLICIT,
    )
    assert len(process.header.warnings) == 1


def test_texts_may_be_objects_that_say_more(tmp_path):
    made = {
        "chunks": [{"text": "A.", "page": 3, "parents": [0, 1]}, {"text": "B.", "parent": 1}],
        "levels": [["S.", {"text": "T.", "model": "m-2"}]],
        "final": {"text": "F.", "children": [1]},
        "model": "m-1",
    }
    process = read(tmp_path, made)
    nodes, edges = graph_of(process)
    assert set(edges) == {
        ("chunk/0", "level/0/0"),
        ("chunk/0", "level/0/1"),
        ("chunk/1", "level/0/1"),
        ("level/0/1", "final"),
    }
    assert nodes["chunk/0"].metadata == {"page": 3}
    assert nodes["level/0/1"].metadata == {"model": "m-2"}
    assert nodes["final"].metadata == {"model": "m-1"}
    assert process.header.warnings == ("1 text is an input of no other text: 'level/0/0'.",)


def test_text_that_is_passed_on_unchanged_is_one_node(tmp_path):
    made = {"levels": [["a", "b", "c", "d", "e"], ["ab", "c", "de"], ["ab+c", "de"], ["all"]]}
    nodes, edges = graph_of(read(tmp_path, made))
    assert {(nodes[s].text, nodes[t].text): how for (s, t), how in edges.items()} == {
        ("a", "ab"): SURE,
        ("b", "ab"): SURE,
        ("d", "de"): SURE,
        ("e", "de"): SURE,
        ("ab", "ab+c"): SURE,
        ("c", "ab+c"): SURE,
        ("ab+c", "all"): EXPLICIT,
        ("de", "all"): EXPLICIT,
    }
    assert [n.text for n in nodes.values()].count("c") == 1
    assert next(n.stage for n in nodes.values() if n.text == "c") == 1


def test_a_single_text_that_repeats_one_of_several_still_has_all_as_inputs(tmp_path):
    nodes, edges = graph_of(read(tmp_path, {"levels": [["a", "b"], ["a"]]}))
    assert len(nodes) == 3
    assert set(edges.values()) == {EXPLICIT}
    assert len(edges) == 2


def test_empty_texts_are_not_taken_for_one_that_was_passed_on(tmp_path):
    nodes, _ = graph_of(read(tmp_path, {"levels": [["a", "", "c", "d"], ["x", ""], ["y"]]}))
    assert len(nodes) == 7


@pytest.mark.parametrize(
    ("below", "above", "same"),
    [
        ("abc", "abc", {0: 0, 1: 1, 2: 2}),
        ("abcd", "xb", {}),  # then nothing would summarise c and d
        ("abcd", "xd", {1: 3}),
        ("aaaa", "xa", {1: 3}),
        ("abcb", "xby", {1: 1}),
        ("ab", "ba", {}),
        ("ab", "abxy", {}),
        ("", "", {}),
    ],
)
def test_which_texts_were_passed_on(below, above, same):
    assert by_order(below, above).same == same


def test_every_text_has_its_group_whatever_the_sizes():
    for many in range(1, 30):
        for few in range(1, 30):
            grouped = by_order(texts(0, many), texts(1, few))
            assert {link.below for link in grouped.links} == set(range(many)) or few > many
            assert {link.above for link in grouped.links} == set(range(few))
            sizes = [sum(link.above == n for link in grouped.links) for n in range(few)]
            assert max(sizes) - min(sizes) <= 1
            assert sizes == sorted(sizes, reverse=True)
            assert grouped.guessed == (1 < few < many or 1 < many < few)


def test_grouping_takes_time_in_proportion_to_the_texts():
    grouped = by_order(["same"] * 20_000, ["same"] * 2_000)
    assert len(grouped.same) + len({link.above for link in grouped.links}) == 2_000


def test_booookscore_levels_of_one_run(tmp_path):
    made = {
        "mill.epub": {"summaries_dict": by_level(4, 2, 1), "final_summary": "Text 2.0."},
        "weir.epub": {"summaries_dict": by_level(2), "final_summary": "The weir burst."},
    }
    first, second = (one.open() for one in found_in(tmp_path, made))
    nodes, edges = graph_of(first)
    assert len(nodes) == 7
    assert first.header.name == "mill.epub"
    assert first.header.terminals == ("level/2/0",)
    assert nodes["level/0/0"].origin is Origin.GENERATED
    assert nodes["level/0/0"].kind == "summary"
    # A merge is also given the summary that the merge before it in its level wrote.
    assert edges["level/1/0", "level/1/1"] == SURE
    said = "\n".join(first.header.warnings)
    assert "summaries, which are no source text" in said
    assert "1 such edge is inferred by order" in said
    assert survey(first).terminals == ("level/2/0",)
    nodes, edges = graph_of(second)
    assert edges == {("level/0/0", "final"): EXPLICIT, ("level/0/1", "final"): EXPLICIT}
    assert second.header.stage_names == {1: "summaries 0", 2: "final summary"}
    explicit = found_in(tmp_path, made, only_explicit=True)[0].open()
    assert set(graph_of(explicit)[1].values()) == {EXPLICIT}


def test_a_final_summary_that_was_edited_follows_from_the_last_level(tmp_path):
    made = {"summaries_dict": by_level(2, 1), "final_summary": "Cleaned."}
    nodes, edges = graph_of(read(tmp_path, made))
    assert edges["level/1/0", "final"] == EXPLICIT
    assert nodes["level/1/0"].kind == "summary"
    assert [n.stage for n in nodes.values()] == [1, 1, 2, 3]


def test_a_run_that_was_cut_short_has_several_final_outputs(tmp_path):
    process = read(tmp_path, {"levels": [*levels(4, 2), []]})
    assert process.header.terminals == ("level/1/0", "level/1/1")
    assert any("no single final summary" in one for one in process.header.warnings)
    assert survey(process).terminals == ("level/1/0", "level/1/1")


def test_more_texts_than_below_are_spread_over_them(tmp_path):
    process = read(tmp_path, {"levels": levels(2, 4, 1)})
    _, edges = graph_of(process)
    assert edges["level/0/0", "level/1/1"] == GUESSED
    assert edges["level/0/1", "level/1/2"] == GUESSED
    _, edges = graph_of(read(tmp_path, {"source": "One text.", "levels": levels(3, 1)}))
    assert edges["chunk/0", "level/0/2"] == EXPLICIT


def test_keys_that_are_not_read_are_named(tmp_path):
    process = read(tmp_path, {"levels": levels(2, 1), "cost": 3})
    assert process.header.warnings[-1] == "Not read: 'cost'."


def test_a_list_and_lines_of_entries_are_one_process_each(tmp_path):
    entries = [{"levels": levels(2, 1), "name": "a"}, {"levels": levels(3, 1), "name": "b"}]
    found = found_in(tmp_path, entries)
    assert [one.open().header.name for one in found] == ["a", "b"]
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join([json.dumps(entries[0]), "{", json.dumps(entries[1])]))
    first, second, third = find_processes(path)
    assert third.where == f"{path}#3"
    assert (first.open().header.name, third.open().header.name) == ("a", "b")
    with pytest.raises(InputError, match="line 2"):
        second.open()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"levels": [["a"], [3]]}, r"levels\[1\]\[0\]: a text must be a string.*not a number"),
        ({"levels": [["a"], {"b": 1}]}, r"levels\[1\]: a list of texts is needed"),
        ({"levels": [["a", "b"], [], ["c"]]}, r"levels\[1\]: the level is empty"),
        ({"levels": {"0": ["a"], "2": ["b"]}}, "without a gap, and are 0, 2"),
        ({"levels": {"first": ["a"]}}, "keys must be the numbers"),
        ({"summaries_dict": {"0": []}}, "no texts in it"),
        ({"summaries_dict": {"0": ["a"]}, "final_summary": 4}, "final summary: a text must be"),
        ({"levels": [["a", "b"], ["c"]], "children": [[[0, 2]]]}, r"no text 2 in the level below"),
        ({"levels": [["a", "b"], ["c"]], "parents": [[0, 1]]}, r"no text 1 in the level above"),
        ({"levels": [["a", "b"], ["c"]], "children": [[[0]], [], []]}, "3 entries for 2 levels"),
        ({"levels": [["a", "b"], ["c"]], "children": [[[0], [1]]]}, "one entry for each of the 1"),
        ({"levels": [["a", "b"], ["c"]], "children": 5}, "children: a list with an entry"),
        ({"levels": [["a", "b"], ["c"]], "parents": [["0", 0]]}, "must be a whole number"),
        ({"levels": [["a"], [{"text": "c", "children": [True]}]]}, "must be a whole number"),
        ({"levels": [[{"text": "a", "children": [0]}], ["c"]]}, "this is the lowest one"),
        ({"levels": [["a"], ["c"]], "question": 3}, "question must be a string"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(tmp_path, made, said):
    (found,) = found_in(tmp_path, made)
    with pytest.raises(InputError, match=said):
        found.open()


def test_a_bad_book_leaves_the_others_alone(tmp_path):
    made = {"bad": {"summaries_dict": {"0": [1]}}, "odd": 7, "good": {"levels": levels(2, 1)}}
    bad, odd, good = found_in(tmp_path, made)
    for one, said in ((bad, "#bad, summaries_dict"), (odd, "#odd: no summaries")):
        with pytest.raises(InputError, match=said):
            one.open()
    assert good.open().header.name == "good"


def test_a_level_alone_is_refused_by_the_rules_of_processes(tmp_path):
    with pytest.raises(InvalidProcess):
        survey(read(tmp_path, {"levels": [["a", "b"]]}))


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        [1],
        {"levels": {"root": "INFO"}},
        {"levels": []},
        {"levels": [1, 2]},
        {"levels": ["low", "high"]},
        {"summary": "A."},
        {"summary": "A.", "text": "B."},
        {"names": ["a", "b"]},
        {"question": "Q?", "contexts": ["a"], "answer": "b"},
        {"nodes": [], "edges": []},
        [{"role": "user", "content": "Hello"}],
        {"trace": {}, "observations": [{"input": "a"}]},
        {"all_nodes": {}},
        {"steps": [{"name": "a"}]},
    ],
)
def test_other_files_are_not_taken(tmp_path, value):
    path = tmp_path / "other.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    assert "no entry has" in SummariesImporter().detect(path)


def test_folders_tables_and_our_own_files_are_not_taken(tmp_path):
    assert SummariesImporter().detect(tmp_path) == "not a file"
    with pytest.raises(InputError, match="is not a file"):
        list(SummariesImporter().processes(tmp_path, ImportOptions()))
    for name, text in (("a.csv", "levels\n"), ("b.json", '{"format": "veritrail.process/1"}')):
        (tmp_path / name).write_text(text)
        assert SummariesImporter().detect(tmp_path / name) == "no JSON of another project"


@pytest.mark.skipif(not FILE.is_file(), reason=f"the real BooookScore file is not at {FILE}")
def test_real_books():
    """Counts as a JSON reader finds them: texts of level 0 of each book, and one above them."""
    found = list(find_processes(FILE))
    assert [one.where.partition("#")[2] for one in found][2] == "the-ferryman.epub"
    counts = []
    for one in found:
        process = one.open()
        nodes, edges = graph_of(process)
        counts.append((len(nodes), len(edges)))
        assert set(edges.values()) == {EXPLICIT}
        assert survey(process).terminals == ("level/1/0",)
        assert {n.origin for n in nodes.values()} == {Origin.GENERATED}
        assert survey(process).unsourced == len(edges)
        (warning,) = process.header.warnings
        assert "summaries, which are no source text" in warning
    assert counts == [(5, 4), (5, 4), (5, 4), (6, 5), (4, 3)]

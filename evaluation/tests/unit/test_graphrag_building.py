"""Answers by the method of GraphRAG: what is read, merged, grouped and packed."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from eval_fakes.graphrag_reader import GraphReader, texts_by_mark
from fakes.graphrag_folder import write
from fakes.model_prompts import check_build_prompt

from veritrail_eval.building.asking import BuildModel
from veritrail_eval.building.graphrag import answers
from veritrail_eval.building.graphrag.answers import (
    Extraction,
    NamedEntity,
    NamedRelationship,
    Point,
)
from veritrail_eval.building.graphrag.assumed import AssumedGraphRag
from veritrail_eval.building.graphrag.citing import cited_in
from veritrail_eval.building.graphrag.communities import Community, communities_of
from veritrail_eval.building.graphrag.graph_model import GraphModel, NothingFound
from veritrail_eval.building.graphrag.indexing import GraphIndex, make_index
from veritrail_eval.building.graphrag.made_nodes import MadeNode, process_document
from veritrail_eval.building.graphrag.merging import (
    Described,
    KnowledgeGraph,
    merged,
)
from veritrail_eval.building.graphrag.querying import (
    FoundPoint,
    GraphAnswer,
    answer_question,
    ranked,
)
from veritrail_eval.building.graphrag.records import Neighbourhood, fitting, grouped
from veritrail_eval.building.graphrag.sizes import sizes_of
from veritrail_eval.building.options import GraphRagOptions
from veritrail_eval.building.steps import BuildStep
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.graphrag import GraphRagImporter
from veritrail_graph.graph.importers.records import EdgeRecord, NodeRecord
from veritrail_graph.graph.importers.registry import ImportOptions
from veritrail_graph.verifier.estimate import AssumedModel, AssumedWalk
from veritrail_graph.verifier.judge import StepModel
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter, Request

ENTITY = {"name": "Ann", "type": "person", "description": "Ann sails."}
RELATION = {"source": "Ann", "target": "Bo", "description": "They sail.", "strength": 4}
MEETINGS = " ".join(
    f"{one} meets {two} on day {day} at the old quay of the town."
    for day, (one, two) in enumerate(
        [("Ann", "Bo"), ("Bo", "Cleo"), ("Cleo", "Ann"), ("Cleo", "Dan"), ("Dan", "Eve"),
         ("Eve", "Finn"), ("Finn", "Dan"), ("Gus", "Hal")] * 3
    )
)  # fmt: skip


class ReaderWalk(AssumedWalk):
    """Answers as the scripted reader does, and keeps the prompts."""

    def __init__(self, reader: GraphReader) -> None:
        super().__init__()
        self.reader = reader
        self.asked: list[tuple[str, str]] = []

    def answer(self, request: Request, iteration: int) -> tuple[dict[str, Any] | str, int]:
        step = request.call.step
        check_build_prompt(request.user, step)
        self.asked.append((step, request.user))
        found = self.reader(step, request.system, request.user, None)
        return (found if isinstance(found, str) else dict(found)), 1


def graph_model(walk: AssumedWalk, **options: Any) -> GraphModel:
    pytest.importorskip("rs_bpe")
    model = AssumedModel("m", 1_000_000, len, True, None, False, walk)
    sizes = {"chunk_tokens": 40, "overlap_tokens": 5} | options
    return GraphModel(BuildModel(StepModel(model)).step, GraphRagOptions(**sizes), Meter())


def made(
    question: str = "Whom did Dan and Ann meet?", **options: Any
) -> tuple[GraphIndex, GraphAnswer, ReaderWalk]:
    walk = ReaderWalk(GraphReader())
    model = graph_model(walk, **options)

    async def work() -> tuple[GraphIndex, GraphAnswer]:
        index = await make_index(model, {"The quay": MEETINGS})
        return index, await answer_question(model, index, question)

    return *asyncio.run(work()), walk


def person(name: str, said: str = "is.", kind: str = "person") -> NamedEntity:
    return NamedEntity(name, kind, f"{name} {said}")


def related(source: str, target: str, strength: int = 1) -> NamedRelationship:
    return NamedRelationship(source, target, f"{source} and {target}.", strength)


def graph_of(*pairs: tuple[int, int]) -> KnowledgeGraph:
    names = sorted({end for pair in pairs for end in pair})
    extraction = Extraction(
        tuple(person(f"E{name}") for name in range(names[-1] + 1)),
        tuple(related(f"E{one}", f"E{two}") for one, two in pairs),
    )
    return merged([("text_unit/0", extraction)])


def clique(*members: int) -> list[tuple[int, int]]:
    return [(one, two) for one in members for two in members if one < two]


def test_an_extraction_is_read_with_numbers_in_any_spelling() -> None:
    found = answers.read_extraction(
        {
            "entities": [{**ENTITY, "name": " Ann\nBerg "}],
            "relationships": [
                {**RELATION, "strength": "4"},
                {**RELATION, "source": "ANN", "description": "They fish.", "strength": 10.0},
                {**RELATION, "target": "Cleo", "strength": 3},
            ],
        },
        len,
        100,
    )
    assert found.entities[0].text == "Ann Berg\nAnn sails."
    # What is named twice is there once, with all that is said of it.
    assert found.relationships[0].text == "Ann -> Bo\nThey sail. They fish."
    assert [one.strength for one in found.relationships] == [10, 3]
    assert answers.read_extraction({"entities": [], "relationships": []}, len, 100) == Extraction()


@pytest.mark.parametrize(
    ("entities", "relationships", "said"),
    [
        ({}, [], "`entities` is not a list"),
        ([], ["Ann"], "number 1 of `relationships` is no object"),
        ([ENTITY, {"name": "Bo", "type": "x"}], [], "has no `description`"),
        ([ENTITY, {**ENTITY, "name": " "}], [], "`name` of number 2 of `entities` is empty"),
        ([{**ENTITY, "type": 7}], [], "`type` is neither text nor null"),
        ([{**ENTITY, "description": None}], [], "`description` of number 1 of `entities`"),
        ([{**ENTITY, "description": "x" * 99}], [], "has 103 tokens, more than 100"),
        ([{**ENTITY, "description": x * 60} for x in "xy"], [], "has 125 tokens, more than 100"),
        ([], [{**RELATION, "strength": 0}], "no whole number from 1 to 10"),
        ([], [{**RELATION, "strength": True}], "no whole number from 1 to 10"),
        ([], [{**RELATION, "strength": "strong"}], "no whole number from 1 to 10"),
    ],
)
def test_an_extraction_that_is_none_is_told(entities: Any, relationships: Any, said: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        answers.read_extraction({"entities": entities, "relationships": relationships}, len, 100)
    assert said in str(caught.value)


def test_a_report_that_is_too_long_loses_its_last_findings() -> None:
    findings = [{"summary": f"F{number}", "explanation": "x" * 20} for number in range(3)]
    answer = {"title": "T", "summary": "S.", "findings": findings}
    whole = answers.read_report(answer, len, 1_000)
    assert whole.text.startswith("# T\n\nS.\n\n## F0\n\nxxx")
    assert (whole.text.count("## "), whole.cut) == (3, 0)
    short = answers.read_report(answer, len, len(whole.text) - 1)
    assert (short.text.count("## "), short.cut) == (2, 1)
    assert whole.text.startswith(short.text)
    with pytest.raises(InvalidAnswer, match="more than 5"):
        answers.read_report(answer, len, 5)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([{"point": "", "score": 3}], "`point` of number 1 of `points` is empty"),
        ([{"point": "x", "score": 101}], "no whole number from 0 to 100"),
        ([{"point": "x" * 101, "score": 1}], "more than 100"),
    ],
)
def test_points_that_are_none_are_told(points: Any, said: str) -> None:
    assert answers.read_points({"points": []}, len, 100) == ()
    with pytest.raises(InvalidAnswer) as caught:
        answers.read_points({"points": points}, len, 100)
    assert said in str(caught.value)


def test_what_chunks_name_is_one_graph() -> None:
    first = Extraction(
        (person("Ann Berg"), person("Bo", kind="dog")),
        (related("ANN  berg", "Bo", 2), related("Bo", "Cleo", 1), related("Bo", "Zoe")),
    )
    second = Extraction(
        (person("ann berg", "sails."), person("Cleo"), person("BO")),
        (related("Ann Berg", "bo", 3), related("Cleo", "cleo")),
    )
    third = Extraction((person("Bo", "barks.", "dog"),))
    graph = merged([("u0", first), ("u1", second), ("u2", third)])
    assert [(one.number, one.title, one.type) for one in graph.entities] == [
        (0, "Ann Berg", "person"),
        (1, "Bo", "dog"),
        (2, "Cleo", "person"),
    ]
    assert graph.entities[1].descriptions == (
        Described("u0", "Bo is."),
        Described("u1", "BO is."),
        Described("u2", "Bo barks."),
    )
    assert [(one.title, one.ends, one.weight) for one in graph.relationships] == [
        ("Ann Berg -> Bo", (0, 1), 5),
        ("Bo -> Cleo", (1, 2), 1),  # Cleo is listed by another chunk
    ]
    assert graph.left_out == ("Bo -> Zoe", "Cleo -> cleo")
    assert graph.alone == []


def test_communities_are_split_until_they_are_small_enough() -> None:
    # A ring of small cliques: Louvain joins neighbours in the whole, and parts them alone.
    rings = [clique(*range(4 * place, 4 * place + 4)) for place in range(20)]
    links = [(4 * place + 3, 4 * place + 4) for place in range(19)]
    graph = graph_of(*(pair for one in rings for pair in one), *links, (0, 79), (81, 82))
    wide = communities_of(graph, 100, 0)
    assert {one.level for one in wide} == {0}
    assert frozenset({81, 82}) in {one.members for one in wide}
    members = Counter(name for one in wide for name in one.members)
    assert set(members) == {*range(80), 81, 82}  # 80 has no relationship
    assert set(members.values()) == {1}
    found = communities_of(graph, 4, 0)
    assert {frozenset(range(4 * place, 4 * place + 4)) for place in range(20)} <= {
        one.members for one in found
    }
    assert {one.level for one in found} == {0, 1}
    assert [one.number for one in found] == list(range(len(found)))
    assert [one.level for one in found] == sorted(one.level for one in found)
    for one in found:
        if one.parent is not None:
            parent = found[one.parent]
            assert one.members < parent.members
            assert one.level == parent.level + 1
    assert found == communities_of(graph, 4, 0)
    assert communities_of(merged([("u", Extraction((person("Ann"),)))]), 10, 0) == []


def test_the_best_connected_stand_first_in_the_prompt_of_a_report() -> None:
    graph = graph_of((0, 1), (1, 2), (1, 3), (4, 5))
    near = Neighbourhood(graph)
    whole = Community(0, 0, None, frozenset({0, 1, 2, 3}))
    assert near.records(whole) == [
        ("entity", 0), ("entity", 1), ("relationship", 0), ("entity", 2), ("relationship", 1),
        ("entity", 3), ("relationship", 2),
    ]  # fmt: skip
    # The report of a part stands for what lies within it, and not for what leads out of it.
    part = Community(1, 1, 0, frozenset({0, 1}))
    assert near.records(whole, [part]) == [
        ("community_report", 1), ("entity", 2), ("relationship", 1), ("entity", 3),
        ("relationship", 2),
    ]  # fmt: skip
    assert near.records(Community(2, 0, None, frozenset({0, 4}))) == [("entity", 0), ("entity", 4)]


def test_what_fits_is_taken_in_order() -> None:
    assert fitting([3, 3, 5, 1], int, 7) == [3, 3]
    assert fitting([9], int, 7) == []
    assert grouped([3, 3, 5, 9, 1], int, 7) == [[3, 3], [5], [9], [1]]
    assert grouped([], int, 7) == []


def test_a_text_cites_only_what_it_was_given() -> None:
    given = {("entity", 3): "entity/3", ("relationship", 0): "relationship/0"}
    found = cited_in("So [Data: Entities (3, 4); Sources (1)].", given)
    assert found.sources == {"entity/3": True, "relationship/0": False}
    assert found.invented == ("Entities (4)", "Sources (1)")
    assert found.metadata == {"cites": {"Entities": [3, 4], "Sources": [1]}}
    assert cited_in("So.", given).sources == {"entity/3": False, "relationship/0": False}
    silent = cited_in("So.", given, may_cite_nothing=True)
    assert silent.sources == {"entity/3": None, "relationship/0": None}
    # A map answer may repeat the citations of a report.
    of_reports = cited_in("So [Data: Entities (3); Reports (8)].", {("community_report", 1): "r"})
    assert of_reports.invented == ("Reports (8)",)


def test_points_that_do_not_help_are_not_told() -> None:
    points = [
        FoundPoint(1, place, Point(f"p{place}", score))
        for place, score in enumerate((20, 0, 90, 20), start=1)
    ]
    assert [one.name for one in ranked(points)] == ["map/1.3", "map/1.1", "map/1.4"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"chunk_tokens": 7_000}, "A chunk with its extraction needs 14,000 tokens"),
        ({"context_tokens": 1_500, "chunk_tokens": 100}, "A description needs 500 tokens"),
        ({"report_tokens": 7_000}, "A report, beside what it is about, needs 14,000 tokens"),
        ({"context_tokens": 4_600, "report_tokens": 400}, "The final answer, with two points,"),
    ],
)
def test_sizes_that_do_not_go_together_are_refused(options: dict[str, int], said: str) -> None:
    instructions = dict.fromkeys(BuildStep, 300)
    assert sizes_of(GraphRagOptions(), instructions).record == 2_875
    with pytest.raises(InputError) as caught:
        sizes_of(GraphRagOptions(**options), instructions)
    assert said in str(caught.value)


def test_every_text_on_the_way_is_a_node_with_its_inputs() -> None:
    index, answer, walk = made()
    nodes = {one.node_id: one for one in (*index.nodes, *answer.nodes)}
    units = [one for one in nodes.values() if one.stage == 1]
    assert len(units) > 4
    assert all(one.text in MEETINGS for one in units)
    assert all(not one.sources for one in units)
    for one in nodes.values():
        for source in one.sources:
            assert nodes[source].stage <= one.stage
        assert one.stage == 1 or one.sources
    # One call makes one text; an extraction makes several.
    steps = Counter(step for step, _ in walk.asked)
    assert steps["graph_extraction"] == len(units)
    assert steps["description_summary"] == sum(one.stage == 3 for one in nodes.values())
    assert steps["community_report"] == sum(one.stage == 4 for one in nodes.values())
    assert steps["reduce_answer"] == 1
    # What a prompt held is what the edges say.
    told = {user.split("\n")[0]: user for step, user in walk.asked if step == "description_summary"}
    for one in nodes.values():
        if one.stage == 3:
            prompt = told["Name: " + one.text.split("\n")[0]]
            assert prompt.count("\n(description ") == len(one.sources)
    reported = [
        {f"{kind}/{number}" for kind, number in texts_by_mark(user)}
        for step, user in walk.asked
        if step == "community_report"
    ]
    assert sorted(map(sorted, reported)) == sorted(
        sorted(one.sources) for one in nodes.values() if one.stage == 4
    )
    final = answer.nodes[-1]
    assert (final.stage, final.kind, final.question) == (6, "answer", "Whom did Dan and Ann meet?")
    helping = [one for one in answer.nodes[:-1] if one.metadata["score"]]
    assert set(final.sources) == {one.node_id for one in helping}
    assert all(True in one.sources.values() for one in helping)
    assert "did not reach the final answer" in "".join(answer.warnings)


def test_many_descriptions_are_summarised_in_groups_first() -> None:
    index, _, _ = made()
    assert not [one for one in index.nodes if "/part/" in one.node_id]  # all fit into a prompt

    class Short(GraphReader):
        def description_summary(self, user: str) -> Any:
            return {"description": "They met, and met again on a later day by the quay."}

    model = graph_model(ReaderWalk(Short()), chunk_tokens=20)
    model.sizes = type(model.sizes)(60, 100, *[9_000] * 3)
    index = asyncio.run(make_index(model, {"The quay": MEETINGS * 3}))
    parts = [one for one in index.nodes if "/part/" in one.node_id]
    assert len(parts) > 2
    assert {one.stage for one in parts} == {3}
    nodes = {one.node_id: one for one in index.nodes}
    for one in parts:
        name = one.node_id.partition("/part/")[0]
        assert one.node_id in {source for node in index.nodes for source in node.sources}
        assert _roots(nodes, name) == {
            unit
            for node in index.nodes
            if node.node_id.startswith(f"extracted_{name}.")
            for unit in node.sources
        }


def _roots(nodes: Mapping[str, MadeNode], name: str) -> set[str]:
    sources = nodes[name].sources
    return {root for one in sources for root in _roots(nodes, one)} if sources else {name}


def test_reports_of_parts_stand_in_where_a_community_is_large() -> None:
    walk = ReaderWalk(GraphReader())
    model = graph_model(walk, community_size=3)
    names = [f"N{number}" for number in range(36)]
    pairs = [pair for place in range(0, 36, 3) for pair in clique(place, place + 1, place + 2)]
    pairs += [(place + 2, (place + 3) % 36) for place in range(0, 36, 3)]
    text = " ".join(f"{names[one]} meets {names[two]} here." for one, two in pairs)
    whole = asyncio.run(make_index(model, {"The ring": text}))
    of_level_1 = [one for one in whole.nodes if one.metadata.get("level") == 1]
    assert of_level_1
    walk.reader.community_report = lambda user: {  # type: ignore[method-assign]
        "title": "T", "summary": "S.", "findings": []
    }  # fmt: skip
    model.sizes = type(model.sizes)(2_000, 9_000, 150, 9_000, 9_000)
    tight = asyncio.run(make_index(model, {"The ring": text}))
    nodes = {one.node_id: one for one in tight.nodes}
    for one in of_level_1:
        parent = nodes[f"community_report/{one.metadata['parent']}"]
        assert one.node_id in parent.sources
        assert parent.sources[one.node_id] is None  # it cites nothing at all
        inside = {name for name in whole_sources(whole, one.node_id) if name.startswith("entity")}
        assert not inside & set(parent.sources)
    assert "No room in the prompt of a report had" in "".join(tight.warnings)


def whole_sources(index: GraphIndex, name: str) -> set[str]:
    return {source for one in index.nodes if one.node_id == name for source in one.sources}


def test_what_is_left_out_is_said() -> None:
    class Careless(GraphReader):
        def graph_extraction(self, user: str) -> Any:
            return {
                "entities": [dict(ENTITY, name=one) for one in ("Ann", "Bo", "Zoe")],
                "relationships": [RELATION, dict(RELATION, target="Nemo")],
            }

        def community_report(self, user: str) -> Any:
            finding = {"summary": "S", "explanation": "x " * 500}
            return {"title": "T", "summary": "[Data: Entities (9)]", "findings": [finding]}

    model = graph_model(ReaderWalk(Careless()), report_tokens=100)
    index = asyncio.run(make_index(model, {"The quay": "Whatever."}))
    said = "\n".join(index.warnings)
    assert "left out: 1 (Ann -> Nemo)" in said
    assert "which no report is about: 1 (Zoe)" in said
    assert "too long were left out: 1 (1 of community_report/0)" in said
    assert "that the prompt held: 1 (Entities (9) in community_report/0)" in said


def test_texts_that_relate_nothing_end_without_an_index() -> None:
    model = graph_model(ReaderWalk(GraphReader()))
    with pytest.raises(NothingFound, match="0 entities, and no two of them are related"):
        asyncio.run(make_index(model, {"The quay": "It rains."}))
    with pytest.raises(InputError, match="Empty: the text is empty"):
        asyncio.run(make_index(model, {"Empty": " \n"}))
    with pytest.raises(InputError, match="A question is empty"):
        model.check(" ")
    with pytest.raises(InputError, match="is too long"):
        model.check("why? " * 600)


def test_a_made_process_is_that_of_an_imported_folder(tmp_path: Path) -> None:
    """A folder of GraphRAG with the same texts is imported as the same nodes and edges."""
    index, answer, _ = made()
    every = {one.node_id: one for one in (*index.nodes, *answer.nodes)}
    answer_file = tmp_path / "answer.json"
    answer_file.write_text(json.dumps(_answer_file(answer)), encoding="utf-8")
    folder = write(tmp_path / "g", _tables(every))
    process = GraphRagImporter().open(folder, ImportOptions(answer=str(answer_file)))
    records = list(process.records())
    imported = {one.node_id: one for one in records if isinstance(one, NodeRecord)}
    assert {name: _shape(one) for name, one in imported.items()} == {
        name: _shape(one) for name, one in every.items()
    }
    edges = {(one.source, one.target): one.cited for one in records if isinstance(one, EdgeRecord)}
    assert edges == {
        (source, one.node_id): cited for one in every.values() for source, cited in
        one.sources.items()
    }  # fmt: skip
    document = process_document("p", list(every.values()), [])
    assert document["stages"] == {str(key): one for key, one in process.header.stage_names.items()}
    assert (document["name"], document["terminals"]) == (
        process.header.name,
        list(process.header.terminals),
    )


def _shape(one: NodeRecord | MadeNode) -> tuple[Any, ...]:
    return (one.stage, one.kind, one.step, one.text, one.question)


def _answer_file(answer: GraphAnswer) -> dict[str, Any]:
    """What GraphRAG's global search records of the same answer."""
    responses: dict[int, dict[str, Any]] = {}
    for one in answer.nodes[:-1]:
        batch = int(one.node_id.rpartition("/")[2].partition(".")[0])
        reports = [{"id": int(name.rpartition("/")[2])} for name in one.sources]
        found = responses.setdefault(batch, {"response": [], "context_data": {"reports": reports}})
        found["response"].append({"answer": one.text, "score": one.metadata["score"]})
    return {
        "question": answer.nodes[-1].question,
        "answer": answer.nodes[-1].text,
        "map_responses": [responses[batch] for batch in sorted(responses)],
    }


def _tables(every: Mapping[str, MadeNode]) -> dict[str, Any]:
    """The tables of an index with these nodes; one with snapshots of raw extractions."""

    def of(kind: str) -> list[MadeNode]:
        found = [one for one in every.values() if one.kind == kind]
        return sorted(found, key=lambda one: one.metadata.get("human_readable_id", 0))

    def row(one: MadeNode) -> dict[str, Any]:
        heading, text = one.text.split("\n", 1)
        source, _, target = heading.partition(" -> ")
        ends = {"source": source, "target": target} if target else {"title": heading, "type": "p"}
        number = one.metadata["human_readable_id"]
        units = sorted(_roots(every, one.node_id))
        return {"id": one.node_id, "human_readable_id": number, "text_unit_ids": units,
                "description": text, **ends}  # fmt: skip

    def raw(one: MadeNode) -> dict[str, Any]:
        said = [every[name] for name in one.sources if every[name].stage == 2] or [one]
        texts = [each.text.split("\n", 1)[1] for each in said]
        origins = [source for each in said for source in each.sources]
        return {**row(one), "description": texts, "text_unit_ids": origins}

    entities, relationships = of("entity"), of("relationship")
    reports = of("community_report")
    return {
        "text_units": [
            {"id": one.node_id, "human_readable_id": 0, "text": one.text, "document_id": "d"}
            for one in of("text_unit")
        ],
        "entities": list(map(row, entities)),
        "relationships": list(map(row, relationships)),
        "raw_entities": list(map(raw, entities)),
        "raw_relationships": list(map(raw, relationships)),
        "communities": [
            {
                "id": one.node_id,
                "community": one.metadata["community"],
                "level": one.metadata["level"],
                "entity_ids": [name for name in one.sources if name.startswith("entity/")],
                "relationship_ids": [name for name in one.sources if name.startswith("rel")],
            }
            for one in reports
        ],
        "community_reports": [
            {
                "id": one.node_id,
                "human_readable_id": one.metadata["community"],
                "community": one.metadata["community"],
                "level": one.metadata["level"],
                "full_content": one.text,
            }
            for one in reports
        ],
    }


def test_an_estimate_finds_about_what_the_paper_found() -> None:
    walk = AssumedGraphRag()
    model = graph_model(walk, chunk_tokens=30)
    index = asyncio.run(make_index(model, {"The quay": MEETINGS * 4}))
    units = sum(one.stage == 1 for one in index.nodes)
    assert walk.chunks == units
    steps = Counter(one.step for one in model.meter.steps for _ in range(one.usage.calls))
    assert steps["graph_extraction"] == units
    # 95,465 extractions, 11,974 summaries and 3,650 reports of 3,199 chunks.
    entities = {one.node_id for one in index.nodes if one.kind == "entity" and one.stage < 4}
    assert 7 * units < len(entities) < 14 * units
    assert 3 < steps["description_summary"] / units < 4.5
    assert 0.5 < steps["community_report"] / units < 2.5

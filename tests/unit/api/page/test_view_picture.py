"""A part of a process as a drawing: marks, what is faded, what is hidden, and addresses."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from fakes.trails import a_trail
from hypothesis import given
from hypothesis import strategies as st

from veritrail_graph.api.page.views.graph import (
    MOST_OPENED,
    Explored,
    Focus,
    NodePart,
    Opened,
    Selection,
    listed_among,
    part_of,
    part_words,
    read_opened,
)
from veritrail_graph.api.page.views.picture import Picture, draw
from veritrail_graph.api.show.texts import cut_inside, cut_to, id_lines
from veritrail_graph.graph.model import Claim, NodeRef, Process, Role
from veritrail_graph.graph.model.lineage import Direction
from veritrail_graph.graph.model.listed import ListedNode, NodeQuery

UP, DOWN = Direction.UPSTREAM, Direction.DOWNSTREAM
PROCESS = Process(
    process_id="p",
    name="P",
    question=None,
    source_format="x",
    content_hash="h",
    stages={1: 3, 2: 2, 3: 1},
    stage_names={1: "source chunk"},
    terminals=("t",),
    nodes=6,
    edges=7,
)
S2 = NodeRef("s2", 2, 4, Role.INTERMEDIATE)


def a_node(name: str, stage: int, position: int, up: int = 0, down: int = 0) -> ListedNode:
    return ListedNode(
        name, stage, position, Role.ROOT, None, None, None, f"Text of {name}.", 12, up, down, 0
    )


NODES = (
    a_node("t", 3, 5, up=2),
    a_node("s1", 2, 3, up=1, down=1),
    a_node("s2", 2, 4, up=31, down=2),
    a_node("c1", 1, 0, down=1),
)
EDGES = (("c1", "s1"), ("s1", "t"), ("s2", "t"))
TRAIL = Focus(
    "t",
    ("t", "s2", "s1", "c1"),
    Claim(claim_id="k1", text="A claim.", node_id="t"),
    frozenset({("c1", "s1"), ("s1", "t")}),
    frozenset({"t", "s1", "c1"}),
    {"c1": 2, "s1": 1},
)
WRONG = a_trail(error_nodes=(S2,), propagated_nodes=(NodeRef("t", 3, 5, Role.TERMINAL),))


def explored(**changed: Any) -> Explored:
    arrivals = {node.node_id: 0 for node in NODES}
    made = Explored(TRAIL, WRONG, NODES, arrivals, EDGES, (), is_full=False)
    return replace(made, **changed)


def drawn(selection: Selection | None = None, **changed: Any) -> Picture:
    return draw(explored(**changed), PROCESS, selection or Selection(claim="k1"))


def test_every_node_says_what_it_is_to_the_claim() -> None:
    found = explored()
    assert {node.node_id: part_of(node.node_id, found) for node in NODES} == {
        "t": NodePart.VERIFIED, "s1": NodePart.EVIDENCE, "s2": NodePart.ERROR,
        "c1": NodePart.EVIDENCE,
    }  # fmt: skip
    assert part_words(NodePart.EVIDENCE, "c1", found) == "2 sentences cited"
    assert part_words(NodePart.EVIDENCE, "s1", found) == "1 sentence cited"
    boxes = {box.node.node_id: box for box in drawn().boxes}
    assert (boxes["s2"].part, boxes["s2"].words[:5]) == (NodePart.ERROR, "intro")
    assert "introduced here" in boxes["s2"].title


def test_the_trail_is_on_top_and_the_rest_is_faded() -> None:
    outside = a_node("x", 1, 1, down=1)
    picture = drawn(
        nodes=(*NODES, outside),
        arrivals={node.node_id: 0 for node in (*NODES, outside)},
        edges=(*EDGES, ("x", "s2")),
    )
    assert [stroke.is_on_trail for stroke in picture.strokes] == [False, False, True, True]
    assert {box.node.node_id for box in picture.boxes if box.is_off} == {"x"}
    assert picture.has_trail


def test_nodes_of_the_trail_that_are_not_drawn_are_counted() -> None:
    assert drawn().pinned_left_out == 0
    few = drawn(nodes=NODES[:2], arrivals={node.node_id: 0 for node in NODES[:2]})
    assert {box.node.node_id for box in few.boxes} == {"t", "s1"}
    assert few.pinned_left_out == len(set(TRAIL.pinned) - {"t", "s1"})


def test_what_is_hidden_is_counted_on_either_side() -> None:
    boxes = {box.node.node_id: box for box in drawn().boxes}
    upstream = {name: box.upstream.count if box.upstream else 0 for name, box in boxes.items()}
    downstream = {
        name: box.downstream.count if box.downstream else 0 for name, box in boxes.items()
    }
    assert upstream == {"t": 0, "s1": 0, "s2": 31, "c1": 0}
    assert downstream == {"t": 0, "s1": 0, "s2": 1, "c1": 0}
    stub = boxes["s2"].upstream
    assert stub is not None
    assert stub.words == "Show 25 of 31 hidden source nodes of s2"
    assert stub.link == "?claim=k1&open=4U"


def test_every_path_is_one_that_svg_knows() -> None:
    number = r"-?\d+(\.\d+)?"
    pattern = rf"M{number} {number}(C({number} ?){{6}}(H{number})?)+"
    far = drawn(edges=(*EDGES, ("c1", "t")))
    for stroke in far.strokes:
        assert re.fullmatch(pattern, stroke.path), stroke.path
    assert sum("H" in stroke.path for stroke in far.strokes) == 1


def test_the_list_shows_the_same_nodes_with_the_same_marks() -> None:
    selection = Selection(claim="k1", opened=())
    listed = listed_among(NODES, explored(), selection, (-1, -1), 3, str)
    assert [row.node.node_id for row in listed.rows] == ["c1", "s1", "s2"]
    assert [row.part for row in listed.rows] == [
        NodePart.EVIDENCE,
        NodePart.EVIDENCE,
        NodePart.ERROR,
    ]
    assert [(row.hidden_upstream, row.hidden_downstream) for row in listed.rows] == [
        (0, 0), (0, 0), (31, 1)
    ]  # fmt: skip
    assert (listed.total, listed.following) == (4, "(2, 4)")
    rest = listed_among(NODES, explored(), selection, (2, 4), 3, str)
    assert ([row.node.node_id for row in rest.rows], rest.following) == (["t"], None)


openings = st.lists(st.builds(Opened, st.integers(0, 10**9), st.sampled_from([UP, DOWN])))


@given(openings)
def test_an_address_says_what_was_opened(opened: list[Opened]) -> None:
    link = Selection(node="n", opened=tuple(opened)).link
    given_back, left_out = read_opened(parse_qs(link[1:], keep_blank_values=True)["open"][0])
    assert given_back == tuple(opened[:MOST_OPENED])
    assert left_out == max(0, len(opened) - MOST_OPENED)


def test_an_address_holds_the_whole_state() -> None:
    wanted = NodeQuery("a&b", 2, Role.ROOT, "chunk", cited=True)
    selection = Selection("k", "v", "n/ö", (Opened(7, UP),), 3, wanted, everywhere=True)
    assert parse_qs(selection.link[1:]) == {
        "claim": ["k"], "verification": ["v"], "node": ["n/ö"], "open": ["7U"], "at": ["3"],
        "q": ["a&b"], "stage": ["2"], "role": ["root"], "kind": ["chunk"], "cited": ["1"],
        "all": ["1"],
    }  # fmt: skip
    assert ("q", "a&b") not in selection.hidden_fields("q", "cited")
    assert ("node", "n/ö") in selection.hidden_fields("q")


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("short", "short"),
        ("a text that is far too long for it", "a text that i…"),
        ("two\nlines", "two lines"),
        ("数据来源文件第一部分", "数据来源…"),
        ("e\u0301" * 12, "e\u0301" * 10 + "…"),
        ("", ""),
    ],
)
def test_texts_are_cut_to_the_room_there_is(text: str, short: str) -> None:
    assert cut_to(text, 11) == short


def test_names_are_cut_in_the_middle() -> None:
    assert cut_inside("community report 14", 16) == "community…ort 14"
    assert cut_inside("c03", 16) == "c03"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("c03", ("c03", "")),
        ("KETTERAU BATTERY/tu-12", ("KETTERAU", "BATTERY/tu-12")),
        ("chunk_of_the_yearly_report_0042_of_2023", ("chunk_of_the_", "yearly_re…2023")),
        ("x" * 40, ("x" * 14, "xxxxxxxx…xxxxx")),
    ],
)
def test_ids_have_two_lines_broken_where_they_part(name: str, lines: tuple[str, str]) -> None:
    assert id_lines(name, 15) == lines


@given(st.text(max_size=80), st.integers(4, 20))
def test_what_is_cut_is_never_longer_than_its_room(text: str, width: int) -> None:
    # A letter takes six tenths of the room of a small one at least, or none.
    for short in (cut_to(text, width), cut_inside(text, width)):
        assert "\n" not in short
        assert sum(1 for one in short if one.isalnum()) <= width / 0.6 + 1

"""A process as stage boxes: counts, edges between them, and what happens with very many stages."""

from __future__ import annotations

import re

from veritrail_graph.api.page.rendering import page_environment
from veritrail_graph.api.page.views.picture import MOST_BOXES, overview_of
from veritrail_graph.graph.model import Process


def a_process(stages: dict[int, int], names: dict[int, str] | None = None) -> Process:
    nodes = sum(stages.values())
    return Process(
        process_id="p",
        name="P",
        question=None,
        source_format="x",
        content_hash="h",
        stages=stages,
        stage_names=names or {},
        terminals=("t",),
        nodes=nodes,
        edges=7,
    )


THREE = a_process({1: 10, 2: 5, 3: 1}, {2: "extracted entity or relationship"})


def test_every_stage_is_a_box_with_its_counts() -> None:
    overview = overview_of(THREE, {(2,): 3}, {(1, 2): 12, (2, 2): 4}, judged=20)
    assert [(box.first, box.nodes, box.introduced) for box in overview.boxes] == [
        (1, 10, 0), (2, 5, 3), (3, 1, 0)
    ]  # fmt: skip
    assert [box.within for box in overview.boxes] == [0, 4, 0]
    assert overview.boxes[1].words == "Stage 2"
    assert overview.boxes[1].name == "extracted entity or relationship"
    assert all(box.x + 158 <= overview.width for box in overview.boxes)


def test_the_box_where_most_went_wrong_is_known() -> None:
    assert overview_of(THREE, {}, None, judged=9).worst is None
    worst = overview_of(THREE, {(1,): 1, (2,): 3, (3,): 3}, None, judged=9).worst
    assert worst is not None
    assert worst.first == 2


def test_edges_keep_their_number_and_grow_thicker() -> None:
    overview = overview_of(THREE, {}, {(1, 2): 100_000, (2, 3): 5, (1, 3): 1}, judged=0)
    assert overview.links is not None
    by_ends = {(link.source, link.target): link for link in overview.links}
    assert {ends: link.count for ends, link in by_ends.items()} == {
        (0, 1): 100_000, (1, 2): 5, (0, 2): 1
    }  # fmt: skip
    assert [link.label for link in overview.links] == ["100k", "5", "1"]
    assert by_ends[0, 1].thick > by_ends[1, 2].thick > by_ends[0, 2].thick
    assert "V" in by_ends[0, 2].path
    assert "V" not in by_ends[0, 1].path


def test_of_very_many_lines_the_farthest_are_left_to_the_table() -> None:
    process = a_process(dict.fromkeys(range(20), 1))
    edges = {(a, b): 1 for a in range(20) for b in range(a + 1, 20)}
    overview = overview_of(process, {}, edges, judged=0)
    assert overview.links is not None
    assert len(overview.links) == 190
    drawn = [link for link in overview.links if link.path]
    assert len(drawn) == 190 - overview.undrawn < 100
    assert {(link.source, link.target) for link in drawn} >= {(a, a + 1) for a in range(19)}
    assert overview.height < 600


def test_very_many_stages_share_boxes() -> None:
    process = a_process(dict.fromkeys(range(100_000), 2))
    counts = {(stage,): 1 for stage in range(0, 100_000, 2)}
    edges = {(stage, stage + 1): 1 for stage in range(99_999)}
    overview = overview_of(process, counts, edges, judged=9)
    assert len(overview.boxes) <= MOST_BOXES
    assert any(box.stages > 1 for box in overview.boxes)
    assert sum(box.nodes for box in overview.boxes) == 200_000
    assert sum(box.introduced for box in overview.boxes) == 50_000
    assert overview.links is not None
    within = sum(box.within or 0 for box in overview.boxes)
    assert within + sum(link.count for link in overview.links) == 99_999
    assert overview.boxes[0].words == "Stages 0 to 4166"


def test_a_claim_counts_once_in_a_box_that_several_stages_share() -> None:
    process = a_process(dict.fromkeys(range(48), 1))
    wrong = {(0, 1): 1, (1, 2): 1, (46, 47): 2, (99,): 4}
    overview = overview_of(process, wrong, None, judged=4)
    assert len(overview.boxes) == MOST_BOXES
    assert [box.introduced for box in overview.boxes if box.introduced] == [2, 1, 2]
    assert [box.counted for box in overview.boxes if box.introduced] == [1.5, 0.5, 2]


def test_boxes_are_shaded_by_what_went_wrong_and_numbers_lead_to_the_claims() -> None:
    overview = overview_of(a_process({0: 1, 1: 1, 2: 1}), {(1,): 1, (2,): 4}, None, judged=900)
    assert overview.most_wrong == 4
    template = page_environment().from_string(
        '{% from "parts/picture.html" import overview_svg %}{% macro nodes(box) %}#n{% endmacro %}'
        "{% macro claims(box) %}?error_stage={{ box.first }}{% endmacro %}"
        "{{ overview_svg(overview, nodes, claims) }}"
    )
    page = template.render(overview=overview)
    assert re.findall(r'class="sb-shade"[^>]*fill-opacity="([\d.]+)"', page) == ["0.36", "1.00"]
    assert re.findall(r'class="sb-claims" href="([^"]*)"', page) == [
        "?error_stage=1",
        "?error_stage=2",
    ]
    assert "1 wrong · &lt;1 %" in page

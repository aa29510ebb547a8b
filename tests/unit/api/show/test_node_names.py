"""Nodes by their titles in what people read."""

from __future__ import annotations

from veritrail_graph.api.show.document import PLACE, Document, Fact, Facts, name, quoting, said
from veritrail_graph.api.show.drawing import Drawing, Joint, PictureBox, PictureColumn, Tone
from veritrail_graph.api.show.node_names import names_of, with_names
from veritrail_graph.api.show.picture_svg import svg
from veritrail_graph.graph.word_diff import Piece


def test_titles_stand_before_ids_and_texts_are_left_as_they_are() -> None:
    names = names_of([("report/1", {"title": "The Tern"}), ("c", {}), ("T", {"title": "T"})])
    words = (name("report/1"), name("c"), said("report/1"))
    place = (quoting("Went wrong in report/1; carried on by report/11."),)

    shown = with_names(Document((Facts((Fact("made of", words), Fact(PLACE, place))),)), names)

    assert names == {"report/1": "The Tern"}
    (facts,) = shown.blocks
    assert isinstance(facts, Facts)
    assert [run.text for run in facts.facts[0].words] == ["The Tern (report/1)", "c", "report/1"]
    assert [run.text for run in facts.facts[1].words] == [
        "Went wrong in The Tern (report/1); carried on by report/11."
    ]


def test_long_titles_are_cut() -> None:
    (called,) = names_of([("a", {"title": "x" * 90})]).values()
    assert called == "x" * 60 + "…"


def test_a_picture_calls_nodes_by_titles_and_leaves_numbers_of_stages() -> None:
    names = {"2": "The Tern", "7": "<b>Tariffs</b>"}
    box = PictureBox((Piece("2 cars."),), Tone.CULPRIT, "2", "2", among=("2", "3"))
    joint = Joint(Tone.RIGHT, Tone.CULPRIT, steps=1, names=("7",))
    news = "Went wrong in one of 2 nodes: 2, 3 (stage 2), found by its value"

    columns = (
        PictureColumn("Source", (PictureBox((Piece("3 cars."),), Tone.RIGHT, "7", "7"),)),
        PictureColumn("stage 2", (box,)),
    )

    drawing = with_names(Drawing("2 cars.", "", news, columns, (joint,)), names)

    assert drawing.news == (
        "Went wrong in one of 2 nodes: The Tern (2), 3 (stage 2), found by its value"
    )
    (shown,) = drawing.columns[1].boxes
    assert (shown.name, shown.node_id, shown.among) == ("The Tern", "2", ("The Tern", "3"))
    assert (shown.text, drawing.claim, drawing.joints[0].names) == (
        "2 cars.",
        "2 cars.",
        ("<b>Tariffs</b>",),
    )
    assert "&lt;b&gt;Tariffs&lt;/b&gt;" in svg(drawing)

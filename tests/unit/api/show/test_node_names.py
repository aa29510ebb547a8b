"""Nodes by their titles in what people read."""

from __future__ import annotations

from veritrail_graph.api.show.document import PLACE, Document, Fact, Facts, name, quoting, said
from veritrail_graph.api.show.node_names import names_of, with_names


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

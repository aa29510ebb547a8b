"""Tables whose columns a person maps, and tables with the same columns later."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from veritrail_graph.api.app.known_tables import known_tables, remember_columns
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.column_map import ColumnMap
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.registry import ImportOptions, find_processes

ROW = {
    "prompt": "Since when?",
    "facts": ["Since May."],
    "right": "Since May.",
    "wrong": "Since June.",
}
MAPPED = ColumnMap.of("question=prompt, contexts=facts, answer=right")


def write(path: Path, row: Any) -> Path:
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


def read(path: Path, options: ImportOptions) -> Draft:
    (found,) = find_processes(path, options=options)
    draft = found.open()
    assert isinstance(draft, Draft)
    return draft


def test_mapped_columns_are_question_contexts_and_answer(tmp_path: Path) -> None:
    draft = read(write(tmp_path / "a.jsonl", ROW), ImportOptions(columns=MAPPED))

    assert draft.header.question == "Since when?"
    assert [one.text for one in draft.nodes.values()] == ["Since May.", "Since May."]
    assert draft.nodes["answer"].metadata["wrong"] == "Since June."
    assert draft.header.warnings == ()


def test_a_mapped_column_comes_before_one_of_a_known_name(tmp_path: Path) -> None:
    row = {"contexts": ["A harbour."], "answer": "A ship.", "facts": "A pier."}
    columns = ColumnMap.of("contexts=facts")

    draft = read(write(tmp_path / "a.jsonl", row), ImportOptions(columns=columns))

    assert [one.text for one in draft.nodes.values()] == ["A pier.", "A ship."]
    assert any("'contexts' is kept as metadata" in one for one in draft.header.warnings)


def test_a_name_leads_into_objects(tmp_path: Path) -> None:
    row = {
        "inputs": {"question": "Since when?", "found": ["Since May."]},
        "outputs": {"text": "Hm."},
    }
    columns = ColumnMap.of("question=inputs.question,contexts=inputs.found,answer=outputs.text")

    draft = read(write(tmp_path / "a.jsonl", row), ImportOptions(columns=columns))

    assert draft.header.question == "Since when?"
    assert [one.text for one in draft.nodes.values()] == ["Since May.", "Hm."]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("context=facts", "'context=facts' maps no column"),
        ("contexts", "'contexts' maps no column"),
        ("contexts=", "maps no column"),
        ("", "maps no column"),
        ("answer=a,answer=b", "answer is mapped twice"),
    ],
)
def test_what_maps_nothing_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ColumnMap.of(text)


def test_a_column_that_is_not_there_is_named_with_one_like_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", ROW)
    options = ImportOptions(columns=ColumnMap.of("contexts=fact,answer=right"))

    with pytest.raises(InputError, match=r"no column 'fact' for the contexts.*mean 'facts'\?"):
        list(find_processes(path, options=options))


def test_a_map_is_kept_for_tables_with_the_same_columns(tmp_path: Path) -> None:
    first = write(tmp_path / "first.jsonl", ROW)
    remember_columns(tmp_path / "home", [first], MAPPED)
    options = ImportOptions(known_tables=known_tables(tmp_path / "home"))
    later = write(tmp_path / "later.jsonl", {**dict(reversed(ROW.items())), "right": "In May."})

    draft = read(later, options)

    assert draft.nodes["answer"].text == "In May."
    assert any(f"an earlier table with the same columns: {MAPPED}" in one
               for one in draft.header.warnings)  # fmt: skip
    with pytest.raises(InputError):
        find_processes(write(tmp_path / "other.jsonl", {**ROW, "more": 1}), options=options)


def test_a_later_map_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", ROW)
    for columns in (MAPPED, ColumnMap.of("contexts=facts,answer=wrong")):
        remember_columns(tmp_path, [path], columns)

    draft = read(path, ImportOptions(known_tables=known_tables(tmp_path)))

    assert draft.nodes["answer"].text == "Since June."
    assert len(known_tables(tmp_path).maps) == 1


@pytest.mark.parametrize("content", ["", "[]", '{"tables": 7}', '{"tables": [7, {}]}', "\ud7ff{"])
def test_a_damaged_file_of_maps_counts_as_none(content: str, tmp_path: Path) -> None:
    (tmp_path / "columns.json").write_text(content, encoding="utf-8")
    assert known_tables(tmp_path).maps == {}


def test_columns_of_what_is_no_table_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"format": "veritrail.process/1", "nodes": [], "edges": []})
    options = replace(ImportOptions(), columns=MAPPED)

    with pytest.raises(InputError, match="no column 'prompt' for the question"):
        list(find_processes(path, options=options))


def test_one_column_cannot_be_two_things() -> None:
    with pytest.raises(InputError, match="'facts' is mapped twice"):
        ColumnMap.of({"contexts": "facts", "answer": "facts"})


@pytest.mark.parametrize("given", [{}, {"contexts": 7}, "{", ["contexts"], {"context": "facts"}])
def test_what_is_no_map_of_names_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="column"):
        ColumnMap.of(given)


def test_names_with_commas_are_written_as_an_object_and_read_again() -> None:
    mapped = ColumnMap.of({"contexts": "facts, raw", "answer": "right"})
    assert ColumnMap.of(str(mapped)) == mapped


def test_a_table_with_two_columns_of_one_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("contexts,answer,answer\nA pier.,A pier.,A ship.\n", encoding="utf-8")
    with pytest.raises(InputError, match="two columns are called 'answer'"):
        list(find_processes(path, format_name="rag"))
    path.write_text(",contexts,answer,,\n0,A pier.,A pier.,x,y\n", encoding="utf-8")
    assert read(path, ImportOptions()).nodes["answer"].metadata == {
        "column 4": "x", "column 5": "y",
    }  # fmt: skip


def test_in_a_folder_columns_are_for_the_files_that_have_them(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", ROW)
    write(tmp_path / "b.jsonl", {"contexts": ["A pier."], "answer": "A ship."})

    found = list(find_processes(tmp_path, options=ImportOptions(columns=MAPPED)))

    assert [Path(one.where).name for one in found] == ["a.jsonl#1", "b.jsonl#1"]
    drafts = [one.open() for one in found]
    assert [one.header.question for one in drafts] == ["Since when?", None]
    with pytest.raises(InputError, match="no file in it has the columns contexts=none"):
        find_processes(tmp_path, options=ImportOptions(columns=ColumnMap.of("contexts=none")))

"""Options of an import that are not for the format of the input are refused, not ignored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.process_files import document

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.registry import (
    Found,
    Importer,
    ImportOptions,
    find_processes,
    importers,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "p1.json"
    path.write_text(json.dumps(document()), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (ImportOptions(answer_id="zz"), "answer_id (it is for graphrag"),
        (ImportOptions(answer="a.json"), "answer (it is for graphrag"),
        (ImportOptions(question="Why?"), "question (it is for graphrag"),
        (ImportOptions(community_level=1), "community_level (it is for graphrag"),
        (ImportOptions(named=frozenset({"sources"})), "sources (it is for graphrag"),
        (ImportOptions(infer_overlap=True), "infer (it is for langfuse and otlp and"),
    ],
)
@pytest.mark.parametrize("format_name", [None, "process"])
def test_an_option_of_another_format_is_refused_with_the_formats_that_take_it(
    file: Path, options: ImportOptions, named: str, format_name: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        find_processes(file, format_name=format_name, options=options)
    assert f"{file} is in the format process, which does not take {named}" in str(caught.value)
    assert caught.value.code == "option_not_taken"


def test_without_options_of_other_formats_a_file_is_read(file: Path) -> None:
    (found,) = find_processes(file, options=ImportOptions(max_node_text=5_000))
    assert found.where == str(file)


def test_an_importer_that_does_not_say_what_it_takes_is_given_everything(file: Path) -> None:
    class Theirs:
        name = "theirs"
        description = "of a third party"
        extra = None

        def detect(self, path: Path) -> str | None:
            return None

        def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
            raise InputError(f"{options.answer_id} was given")

    theirs: Importer = Theirs()
    with pytest.raises(InputError, match="zz was given"):
        find_processes(file, options=ImportOptions(answer_id="zz"), known=[theirs, *importers()])

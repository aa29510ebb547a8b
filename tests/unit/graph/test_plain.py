"""Answers over plain texts: chunks and names."""

from __future__ import annotations

from pathlib import Path

import pytest

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.plain import (
    PlainText,
    answer_over,
    chunks_of,
    read_sources,
    read_text,
)
from veritrail_graph.graph.model import Origin
from veritrail_graph.graph.sentences import SentenceSplitter

SPLITTER = SentenceSplitter.for_language()


def test_chunks_end_at_sentences_and_paragraphs_that_fill_half_begin_anew() -> None:
    text = "One two three.  Four five six.\n\nSeven eight. Nine ten eleven twelve.\n\nThirteen."
    assert [text[a:b] for a, b in chunks_of(text, SPLITTER, 6)] == [
        "One two three.  Four five six.",
        "Seven eight. Nine ten eleven twelve.",
        "Thirteen.",
    ]
    assert [text[a:b] for a, b in chunks_of(text, SPLITTER, 100)] == [text]
    chinese = "渡轮可载48辆汽车。" * 3
    assert len(list(chunks_of(chinese, SPLITTER, 10))) == 2
    sentence = "A sentence longer than that."
    assert list(chunks_of(sentence, SPLITTER, 2)) == [(0, len(sentence))]


def test_every_chunk_is_an_input_and_names_its_document() -> None:
    sources = [PlainText("a.md", "The pier is long. It rained."), PlainText("b.md", "A fee.")]
    made = answer_over(PlainText("x.txt", "The pier is short."), sources, SPLITTER, words=4)
    assert list(made.nodes) == ["a.md#1", "a.md#2", "b.md#1", "answer"]
    assert set(made.edges) == {(name, "answer") for name in ("a.md#1", "a.md#2", "b.md#1")}
    assert made.nodes["a.md#2"].metadata == {"document": "a.md", "start": 18, "end": 28}
    assert {one.origin for one in made.nodes.values()} == {Origin.SOURCE, Origin.GENERATED}


def test_files_of_one_name_are_told_apart_and_folders_are_looked_through(tmp_path: Path) -> None:
    for name in ("one/a.md", "two/a.md", "two/b.TXT", "two/picture.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"Text of {name}.", encoding="utf-8")
    found = read_sources([tmp_path / "two", tmp_path / "one" / "a.md", tmp_path / "one" / "a.md"])
    assert [one.name for one in found] == [
        (tmp_path / "two" / "a.md").as_posix(),
        "b.TXT",
        (tmp_path / "one" / "a.md").as_posix(),
    ]
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="holds no text file"):
        read_sources([tmp_path / "none"])


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b" \n", "is empty"), (b"ab\xff", "is not UTF-8: byte 2"), (None, "cannot be read")],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "a.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_text(path)

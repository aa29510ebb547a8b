"""An answer and the plain texts that it was made from: a process without any JSON.

The sources are cut into chunks at sentences, and each chunk is an input to the answer.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header
from veritrail_graph.graph.model import Origin, Sentence
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.graph.sentences.stating import word_count

NAME = "plain"
"""What is stored as the format of such a process."""

CHUNK_WORDS = 200
"""Words of a chunk, about; a longer sentence stays in one piece."""

TEXT_SUFFIXES = (".txt", ".md", ".rst")
"""Files of a folder that are read."""


UNNAMED = ("answer", "stdin")
"""The names of answers that came from no file."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """A text with the name that people know it by."""

    name: str
    text: str


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        InputError: It cannot be read, is not UTF-8, or holds no text.
    """
    try:
        return _text_of(path.read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def read_stdin() -> str:
    """The text of standard input.

    Raises:
        InputError: It is not UTF-8, or holds no text.
    """
    return _text_of(sys.stdin.buffer.read(), "standard input")


def _text_of(content: bytes, name: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8: byte {error.start}. Only plain text is read: save other files "
            "as text first."
        ) from None
    if not text.strip():
        raise InputError(f"{name} is empty.")
    return text


def read_sources(paths: Sequence[Path]) -> list[PlainText]:
    """The texts of files, and of the text files in folders, each with a name of its own.

    Raises:
        InputError: One cannot be read, or a folder holds no text file.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        found = sorted(one for one in path.rglob("*") if one.suffix.lower() in TEXT_SUFFIXES)
        if not found:
            raise InputError(f"{path} holds no text file ({', '.join(TEXT_SUFFIXES)}).")
        files += found
    files = list(dict.fromkeys(files))
    names = Counter(one.name for one in files)
    return [
        PlainText(one.name if names[one.name] == 1 else one.as_posix(), read_text(one))
        for one in files
    ]


def answer_over(
    answer: PlainText,
    sources: Sequence[PlainText],
    splitter: SentenceSplitter,
    *,
    question: str | None = None,
    words: int = CHUNK_WORDS,
) -> Draft:
    """The process of an answer that was made from plain texts.

    Args:
        answer: The answer.
        sources: The texts; their names differ.
        splitter: Cuts them into sentences.
        question: What the answer is about.
        words: Words of a chunk, about.
    """
    draft = Draft(
        Header(
            NAME,
            name=_name_of(answer, question),
            question=question,
            stage_names={1: "source", 2: "answer"},
            terminals=("answer",),
        )
    )
    for source in sources:
        for number, (start, end) in enumerate(chunks_of(source.text, splitter, words), start=1):
            draft.node(
                f"{source.name}#{number}",
                source.text[start:end],
                source.name,
                origin=Origin.SOURCE,
                kind="chunk",
                stage=1,
                metadata={"document": source.name, "start": start, "end": end},
            )
    chunks = list(draft.nodes)
    draft.node("answer", answer.text, answer.name, origin=Origin.GENERATED, kind="answer", stage=2)
    for chunk in chunks:
        draft.edge(chunk, "answer", answer.name)
    return draft


def _name_of(answer: PlainText, question: str | None) -> str:
    """The name of the process of an answer; of one that came without any it is how it begins."""
    if question:
        return question[:200]
    if answer.name not in UNNAMED:
        return answer.name[:200]
    return shorten(answer.text, 60, placeholder="…") or answer.name


def chunks_of(text: str, splitter: SentenceSplitter, words: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each chunk: whole sentences, and whole paragraphs if they fit.

    Args:
        text: The text.
        splitter: Cuts it into sentences.
        words: Words of a chunk, about; a paragraph that begins behind half of them begins a chunk.
    """
    first: Sentence | None = None
    last, held = None, 0
    for sentence in splitter.split("", text):
        size = word_count(sentence.text)
        if first is not None and last is not None:
            is_paragraph = "\n\n" in text[last.end : sentence.start].replace("\r", "")
            if held + size > words or (is_paragraph and held * 2 >= words):
                yield first.start, last.end
                first, held = None, 0
        first = first or sentence
        last, held = sentence, held + size
    if first is not None and last is not None:
        yield first.start, last.end

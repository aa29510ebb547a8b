"""Every field of a noun, and what of it the five writers leave out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from html import unescape
from typing import Any

from rich.console import Console

from veritrail_graph.api.show import markdown, notebook, plain, report_html, terminal
from veritrail_graph.api.show.document import Document, Heading
from veritrail_graph.api.show.words import VERDICT_WORDS
from veritrail_graph.graph.model import NodeRef, Verdict
from veritrail_graph.graph.model.noun import Noun


def on_terminal(document: Document) -> str:
    screen = Console(file=io.StringIO(), width=10_000, markup=False, highlight=False)
    screen.print(terminal.tree(document))
    return screen.file.getvalue()  # type: ignore[attr-defined]


def in_report(document: Document) -> str:
    """A report has the heading in a head of its own."""
    heading = document.blocks[0]
    if not isinstance(heading, Heading):
        return report_html.html(document)
    mark = heading.mark.word if heading.mark is not None else ""
    return f"{report_html.line(heading.words)} {mark} {report_html.html(document)}"


WRITERS: dict[str, Callable[[Document], str]] = {
    "terminal": on_terminal,
    "markdown": lambda document: markdown.text(document).replace("\\", ""),
    "plain": plain.text,
    "notebook": notebook.html,
    "report": in_report,
}


def read(text: str) -> str:
    """What a person reads of it, without tags and marks of emphasis, in lines of one blank."""
    bare = unescape(re.sub(r"<[^>]*>", "", text.replace("</dt>", " ")))
    return " ".join(re.sub("[*`]", "", bare).lower().split())


def values(noun: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every field with its value, the nouns within nouns behind it."""
    if isinstance(noun, Noun):
        for field in type(noun).model_fields:
            yield f"{type(noun).__name__}.{field}", getattr(noun, field)
            yield from values(getattr(noun, field))
    elif is_dataclass(noun) and not isinstance(noun, NodeRef):
        for each in fields(noun):
            yield f"{type(noun).__name__}.{each.name}", getattr(noun, each.name)
            yield from values(getattr(noun, each.name))
    elif isinstance(noun, tuple | list | Mapping):
        for part in noun.values() if isinstance(noun, Mapping) else noun:
            yield from values(part)


def is_given(value: Any) -> bool:
    return value is False or value not in (None, (), [], {}, frozenset(), 0, "")


def words_of(value: Any) -> list[str]:
    if isinstance(value, NodeRef):
        return [value.node_id]
    if isinstance(value, Verdict):
        return [VERDICT_WORDS[value]]
    if isinstance(value, Enum):
        return [value.value]
    if isinstance(value, tuple | list | frozenset):
        return [words for part in value for words in words_of(part)]
    if isinstance(value, Mapping):
        return words_of([*value.values()])
    if isinstance(value, Noun) or is_dataclass(value):
        return []
    return [f"{value:,}" if isinstance(value, int) else str(value)]


def fields_of(samples: Sequence[Any]) -> set[str]:
    """The fields of nouns, and of the nouns within them."""
    return {name for sample in samples for name, _ in values(sample)}


def left_out(
    writer: str,
    samples: Sequence[Any],
    documents: Sequence[Document],
    otherwise: Mapping[str, str],
    not_shown: Collection[str],
) -> dict[str, Any]:
    """Fields of which no sample has a value that stands in its document, and what is missing.

    Args:
        writer: The writer.
        samples: The nouns.
        documents: Their documents.
        otherwise: Fields whose values stand in other words, and these words.
        not_shown: Fields that are not shown.
    """
    texts = [read(WRITERS[writer](document)) for document in documents]
    missing: dict[str, Any] = {}
    for name in sorted(fields_of(samples) - set(not_shown)):
        missing[name] = "no sample has a value of it"
        for sample, text in zip(samples, texts, strict=True):
            every = [value for field, value in values(sample) if field == name and is_given(value)]
            words = (
                [otherwise[name]] if name in otherwise else [w for v in every for w in words_of(v)]
            )
            left = [one for one in words if read(one) not in text]
            if every and not left:
                del missing[name]
                break
            if every:
                missing[name] = left
    return missing

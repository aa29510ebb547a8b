"""The input that a run was called with: a question under any key, and documents beside it.

A program calls its run with what a user said and what it set, under names of its own. Nothing
there counts as true by itself. Only what is recorded as a document is source text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.importers.traces.parts import plain
from veritrail_graph.graph.importers.traces.texts import (
    DOCUMENT_KEYS,
    QUESTION_KEYS,
    InnerText,
    pieces,
)

SHORT = 12
"""Characters: what is shorter, is one field of several, and asks nothing, is a switch."""
_QUESTIONS = frozenset(map(plain, QUESTION_KEYS))
_ASKING = frozenset(map(plain, (
    "user_query", "user_question", "user_message", "user_prompt", "user_request", "task", "topic",
    "message", "chat_input", "input_text", "user_text", "human_input", "text", "content", "goal",
    "problem", "objective", "instruction", "ask", "utterance", "inquiry", "search_query", "args",
    "arguments", "kwargs", "inputs", "new_message", "description", "subject", "prompts",
)))  # fmt: skip
"""Fields that hold a question in most programs."""
_DOCUMENTS = frozenset(map(plain, (
    *DOCUMENT_KEYS, "document", "doc", "passage", "chunk", "article", "articles", "source_text",
    "source_texts", "source_document", "input_documents", "reference", "references",
    "reference_texts", "retrieval_context", "retrieved_chunks", "retrieved_passages",
    "search_results", "knowledge", "evidence", "excerpts", "pages", "page_content",
)))  # fmt: skip
"""Fields in which programs hand documents to a run."""
_ASKS = ("?", "\uff1f", "\u061f", "\u037e", "\u055e")
_UNASKED = ("system", "assistant", "tool", "call")


@dataclass(frozen=True, slots=True)
class Given:
    """A text that a run was called with.

    Attributes:
        piece: The text.
        is_document: Whether it is recorded as a document.
    """

    piece: InnerText
    is_document: bool

    @property
    def rank(self) -> int:
        """Return how unlike a question it is, from 0."""
        if self.is_document:
            return 9
        key = self.piece.key
        if self.piece.role == "user" or key is None or plain(key) in _QUESTIONS:
            return 0
        if is_asking(self.piece.text):
            return 1
        return 2 if plain(key) in _ASKING else 3


def is_asking(text: str) -> bool:
    """Return whether a text ends as a question does."""
    return text.rstrip().endswith(_ASKS)


def of_run(given: Any) -> Iterator[Given]:
    """The texts that a run was called with; earlier turns and instructions are left out."""
    found = [one for one in pieces(given) if one.role not in _UNASKED]
    for piece in found:
        is_document = piece.role == "document" or (
            piece.role is None and piece.key is not None and plain(piece.key) in _DOCUMENTS
        )
        one = Given(piece, is_document)
        if len(piece.text) >= SHORT or (not is_document and (one.rank < 3 or len(found) == 1)):
            yield one


def question_of(given: Sequence[Given]) -> InnerText | None:
    """The text that asks the question; None: the run was called with no text but documents."""
    asked = [one for one in given if not one.is_document]
    best = min(asked, key=lambda one: one.rank, default=None)
    return None if best is None else best.piece

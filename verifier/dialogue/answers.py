"""Answers of the steps of VISTA: reading one.

Source: the model protocol (docs/model-protocol.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from veritrail_graph.graph.model.dialogue import AnswerLabel, ClaimCategory, DialogueLabel
from veritrail_graph.verifier.answers import bounds_of, final_object, text_of
from veritrail_graph.verifier.models.port import InvalidAnswer

AnyLabel = TypeVar("AnyLabel", bound=StrEnum)

_QUOTES = 2


@dataclass(frozen=True, slots=True)
class LabelAnswer:
    """The answer to a verification prompt."""

    label: DialogueLabel
    reason: str


@dataclass(frozen=True, slots=True)
class CategoryAnswer:
    """The answer to a categorisation prompt.

    Attributes:
        category: The category; never VERIFIED.
        reason: The reason for it.
        background: Numbers of the background lines that are contradicted, ascending; empty for
            every other category.
    """

    category: ClaimCategory
    reason: str
    background: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnCheckAnswer:
    """The answer to a turn check; it has quotes only for a contradiction."""

    contradiction: bool
    quotes: tuple[str, str] | None = None
    reason: str | None = None


def read_label(text: str) -> LabelAnswer:
    """Read an answer to a verification prompt.

    Raises:
        InvalidAnswer: It is none, or names another label.
    """
    return LabelAnswer(*_labelled(text, DialogueLabel))


def read_judgement(text: str) -> LabelAnswer:
    """Read an answer to a prompt that judges a turn as a whole.

    Raises:
        InvalidAnswer: It is none, or names another label.

    Source: VISTA A.2.
    """
    label, reason = _labelled(text, AnswerLabel)
    return LabelAnswer(label.dialogue_label, reason)


def _labelled(text: str, labels: type[AnyLabel]) -> tuple[AnyLabel, str]:
    answer = final_object(text, "label", "reason")
    name = _word(answer, "label")
    if name not in set(labels):
        raise InvalidAnswer(f"`label` is {answer['label']!r:.80}, which is no label")
    return labels(name), text_of(answer, "reason") or ""


def read_category(text: str, background: int, *, has_reference: bool) -> CategoryAnswer:
    """Read an answer to a categorisation prompt.

    Ids of lines that were not in the prompt are dropped. A contradiction of which nothing is left
    that could contradict is invalid: no reference was shown, and no line of the background is
    named.

    Args:
        text: The answer.
        background: How many background lines the prompt held; their ids are 0 to one less.
        has_reference: Whether the prompt held excerpts.

    Raises:
        InvalidAnswer: It is none, names another category, or a contradiction to nothing.
    """
    answer = final_object(text, "category", "reason", "background_ids")
    name = _word(answer, "category")
    if name not in set(ClaimCategory) - {ClaimCategory.VERIFIED}:
        raise InvalidAnswer(f"`category` is {answer['category']!r:.80}, which is no category")
    category = ClaimCategory(name)
    ids = _ids(answer["background_ids"], background)
    if category is not ClaimCategory.CONTRADICTED:
        ids = ()
    elif not ids and not has_reference:
        raise InvalidAnswer("a contradiction is named, but nothing that was shown contradicts")
    return CategoryAnswer(category, text_of(answer, "reason") or "", ids)


def read_turn_check(text: str) -> TurnCheckAnswer:
    """Read an answer to a turn check.

    Raises:
        InvalidAnswer: It is none, or a contradiction without two quotes.
    """
    answer = final_object(text, "contradiction", "quotes")
    found, quotes = answer["contradiction"], answer["quotes"]
    if not isinstance(found, bool):
        raise InvalidAnswer("`contradiction` is neither true nor false")
    reason = text_of(answer, "reason") if "reason" in answer else None
    if not found:
        return TurnCheckAnswer(False, None, reason)
    if not isinstance(quotes, list) or len(quotes) < _QUOTES:
        raise InvalidAnswer("`quotes` does not hold two quotes")
    first, second = (text_of({"quotes": one}, "quotes") for one in quotes[:_QUOTES])
    if first is None or second is None:
        raise InvalidAnswer("one of `quotes` is empty")
    return TurnCheckAnswer(True, (first, second), reason)


def _word(answer: dict[str, Any], key: str) -> str:
    """A word of an enumeration, however its case and its gaps are written."""
    given = answer[key]
    text = given if isinstance(given, str) else ""
    return "_".join(text.upper().replace("-", " ").replace("_", " ").split())


def _ids(values: Any, count: int) -> tuple[int, ...]:
    if not isinstance(values, list):
        raise InvalidAnswer("`background_ids` is not a list")
    ids: set[int] = set()
    for value in values:
        first, last = bounds_of(value)
        if first is not None and last is not None:
            ids.update(range(max(first, 0), min(last, count - 1) + 1))
    return tuple(sorted(ids))

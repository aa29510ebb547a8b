"""Answers of the steps of attribution: reading one.

Source: the model protocol (docs/model-protocol.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness, joined_word
from veritrail_graph.verifier.answers import bounds_of, expect_keys, last_object, text_of
from veritrail_graph.verifier.models.port import InvalidAnswer


@dataclass(frozen=True, slots=True)
class AttributionAnswer:
    """What an answer to an attribution prompt holds.

    Attributes:
        categories: The categories by the id of a sentence, ascending; empty: nothing decides it.
        dropped: How many ids were not in the prompt, or were no ids.
    """

    categories: Mapping[int, frozenset[AttributionCategory]]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class FaithfulnessAnswer:
    """What a judge says of a sentence.

    Attributes:
        label: The label.
        reason: Why.
        score: A checker's own score; None: the judge gives none.
    """

    label: Faithfulness
    reason: str
    score: float | None = None


def read_attribution(text: str, sentences: int) -> AttributionAnswer:
    """Read an answer to an attribution prompt.

    An id that is named twice has the categories of both. Ids that were not in the prompt are
    dropped; where all of them are, the answer is invalid: it would say that nothing decides the
    sentence, which the model did not say.

    Args:
        text: The answer.
        sentences: How many sentences the prompt held; their ids are 0 to one less.

    Raises:
        InvalidAnswer: It is none, names an unknown category or none for a sentence, or no id of
            the prompt.
    """
    answer = last_object(text)
    expect_keys(answer, "attributions")
    named = answer["attributions"]
    if not isinstance(named, list) or not all(isinstance(one, dict) for one in named):
        raise InvalidAnswer("`attributions` is not a list of objects")
    found: dict[int, frozenset[AttributionCategory]] = {}
    dropped = 0
    for one in named:
        expect_keys(one, "sentence_id", "categories")
        categories = _categories(one["categories"])
        first, last = bounds_of(one["sentence_id"])
        if first is None or last is None or last < first:
            dropped += 1
            continue
        dropped += last - max(first, sentences) + 1 if last >= sentences else 0
        for number in range(first, min(last, sentences - 1) + 1):
            found[number] = found.get(number, frozenset()) | categories
    if named and not found:
        raise InvalidAnswer("`attributions` names no id of the prompt")
    return AttributionAnswer(dict(sorted(found.items())), dropped)


def _categories(given: Any) -> frozenset[AttributionCategory]:
    values = [given] if isinstance(given, str) else given
    if not isinstance(values, list) or not values:
        raise InvalidAnswer("a sentence of `attributions` has no `categories`")
    found: set[AttributionCategory] = set()
    for value in values:
        category = AttributionCategory.named(value) if isinstance(value, str) else None
        if category is None:
            raise InvalidAnswer(f"`categories` names {value!r:.80}, which is no category")
        found.add(category)
    return frozenset(found)


def read_faithfulness(text: str) -> FaithfulnessAnswer:
    """Read an answer to a faithfulness prompt.

    Raises:
        InvalidAnswer: It is none, or names another label.
    """
    answer = last_object(text)
    expect_keys(answer, "label", "reason")
    given = text_of(answer, "label") or ""
    if (name := joined_word(given)) not in set(Faithfulness):
        raise InvalidAnswer(f"`label` is {given[:80]!r}, which is no label")
    return FaithfulnessAnswer(Faithfulness(name), text_of(answer, "reason") or "")


def read_correction(text: str) -> str:
    """Read an answer to a correction prompt: the corrected sentence.

    Raises:
        InvalidAnswer: It is none, or empty.
    """
    answer = last_object(text)
    expect_keys(answer, "sentence")
    sentence = text_of(answer, "sentence")
    if sentence is None:
        raise InvalidAnswer("`sentence` is empty")
    return sentence

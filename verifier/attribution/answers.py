"""Answers of the steps of attribution: reading one.

Source: the model protocol (docs/model-protocol.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from veritrail_graph.graph.model.attribution import AttributionCategory, Faithfulness, joined_word
from veritrail_graph.verifier.answers import bounds_of, expect_keys, final_object, text_of
from veritrail_graph.verifier.models.port import InvalidAnswer
from veritrail_graph.verifier.ports import Split

_BARE_LIST = re.compile(r"[\d\s,-]*")
_MARKS = " \t\r\n\v\f`"
_LABEL = re.compile(r"\[\[\d+\]\]")


@dataclass(frozen=True, slots=True)
class AttributionAnswer:
    """The answer to an attribution prompt.

    Attributes:
        categories: The categories by the id of a sentence, ascending; empty: nothing decides it.
        dropped: How many ids were not in the prompt, or were no ids.
    """

    categories: Mapping[int, frozenset[AttributionCategory]]
    dropped: int = 0


@dataclass(frozen=True, slots=True)
class FaithfulnessAnswer:
    """A judge's answer about a sentence.

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
    dropped, unless the rest would say what the model did not: that nothing decides the sentence,
    or that all is evidence where it named something else. The word None and null are none, as in
    the paper's prompts.

    Args:
        text: The answer.
        sentences: How many sentences the prompt held; their ids are 0 to one less.

    Raises:
        InvalidAnswer: It is none, names an unknown category or none for a sentence, or no id of
            the prompt; or leaving out unknown ids would change what is implied.
    """
    named = _named(text)
    found: dict[int, frozenset[AttributionCategory]] = {}
    dropped = 0
    unknown: set[AttributionCategory] = set()
    for one in named:
        expect_keys(one, "sentence_id", "categories")
        categories = _categories(one["categories"])
        first, last = bounds_of(one["sentence_id"])
        if first is None or last is None or last < first:
            dropped += 1
            unknown |= categories
            continue
        unknown |= categories if last >= sentences else set()
        dropped += last - max(first, sentences) + 1 if last >= sentences else 0
        for number in range(first, min(last, sentences - 1) + 1):
            found[number] = found.get(number, frozenset()) | categories
    if named and not found:
        raise InvalidAnswer("`attributions` names no id of the prompt")
    evidence = {AttributionCategory.EVIDENCE}
    if unknown - evidence and all(one == evidence for one in found.values()):
        names = ", ".join(sorted(unknown - evidence))
        raise InvalidAnswer(f"`attributions` names {names} for no id of the prompt")
    return AttributionAnswer(dict(sorted(found.items())), dropped)


def _named(text: str) -> list[dict[str, Any]]:
    """The entries of an answer; none where it says so in another way."""
    value: Any = None
    if "{" in text:
        answer = final_object(text, "attributions")
        value = answer["attributions"]
    elif (bare := _bare_list(text)) is not None:
        value = bare.split()
    elif not _ends_with_none(text):
        final_object(text)  # says what is wrong
    if value is None or (isinstance(value, str) and value.strip().casefold() == "none"):
        return []
    if not isinstance(value, list):
        raise InvalidAnswer("`attributions` is not a list of objects")
    if not all(isinstance(one, dict) for one in value):
        raise InvalidAnswer(
            "`attributions` is not a list of objects: each id needs its categories, as in "
            '{"sentence_id": 1, "categories": ["EVIDENCE"]}'
        )
    return value


def _bare_list(text: str) -> str | None:
    """Return what stands in the list of numbers that a text ends with; None: it ends with none."""
    bare = text.rstrip(_MARKS)
    opening = bare.rfind("[")
    if not bare.endswith("]") or not _begins_a_line(bare[:opening], _MARKS):
        return None
    inner = bare[opening + 1 : -1]
    return inner if opening >= 0 and _BARE_LIST.fullmatch(inner) else None


def _ends_with_none(text: str) -> bool:
    """Return whether the last line of a text is the word None."""
    bare = text.rstrip(f"{_MARKS}*\"'.")
    return bare[-4:].casefold() == "none" and _begins_a_line(bare[:-4], f"{_MARKS}*\"'")


def _begins_a_line(before: str, marks: str) -> bool:
    """Return whether nothing but marks stands between the last line break and the end of a text."""
    return not before.rpartition("\n")[2].strip(marks)


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
    answer = final_object(text, "label", "reason")
    given = text_of(answer, "label") or ""
    if (name := joined_word(given)) not in set(Faithfulness):
        raise InvalidAnswer(f"`label` is {given[:80]!r}, which is no label")
    return FaithfulnessAnswer(Faithfulness(name), text_of(answer, "reason") or "")


def read_correction(text: str, before: str = "", split: Split | None = None) -> str | None:
    """Read an answer to a correction prompt: the corrected sentence.

    Args:
        text: The answer.
        before: The sentence that is corrected.
        split: Splits texts into sentences; None: how many there are is not looked at.

    Returns:
        The sentence; None: nothing of it can be kept.

    Raises:
        InvalidAnswer: It is none, has labels of excerpts in it, or is several sentences.
    """
    answer = final_object(text, "sentence")
    sentence = text_of(answer, "sentence")
    if sentence is None:
        return None
    if _LABEL.search(sentence) and not _LABEL.search(before):
        raise InvalidAnswer("`sentence` holds labels of excerpts")
    if split is not None and (count := len(split("", sentence))) > max(1, len(split("", before))):
        raise InvalidAnswer(f"`sentence` is {count} sentences; one is asked for")
    return sentence

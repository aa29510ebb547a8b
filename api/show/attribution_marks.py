"""Attribution as people read it: marks of categories and labels, and what a correction changes.

A mark is a word and an icon together; colour only repeats what they say.

Source: Error-tolerant attribution 3 (categories), 7 (correction with few changes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from types import MappingProxyType

from veritrail_graph.api.show.words import (
    CATEGORY_WORDS,
    FAITHFULNESS_WORDS,
    LONGEST_REASON,
    Mark,
    State,
    mark_of,
)
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    AttributionCategory,
    Faithfulness,
    SentenceAttribution,
)

MOST_WORDS = 400
"""Words of a sentence, and of its correction, that are compared one by one."""


@dataclass(frozen=True, slots=True)
class CategoryMark:
    """The mark of a source sentence's attribution category, as it is shown.

    Attributes:
        kind: Its class in the style sheet is `rests-KIND`.
        word: Its name.
        icon: Name of its icon.
        hint: What it means, in a sentence.
    """

    kind: str
    word: str
    icon: str
    hint: str


def _category(category: AttributionCategory, icon: str, hint: str) -> CategoryMark:
    kind = category.value.lower().replace("_", "-")
    return CategoryMark(kind, CATEGORY_WORDS[category], icon, hint)


CATEGORY_MARKS: Mapping[AttributionCategory, CategoryMark] = MappingProxyType(
    {
        AttributionCategory.EVIDENCE: _category(
            AttributionCategory.EVIDENCE, "supported", "It says so, or clearly implies it."
        ),
        AttributionCategory.CONTRADICTION: _category(
            AttributionCategory.CONTRADICTION, "not-supported", "It says the opposite."
        ),
        AttributionCategory.NEAR_MATCH: _category(
            AttributionCategory.NEAR_MATCH,
            "near-match",
            "It says nearly the same: another person, number, time or degree of certainty.",
        ),
        AttributionCategory.EXPECTED_SPAN: _category(
            AttributionCategory.EXPECTED_SPAN,
            "expected",
            "It does not say so, but the sources would say it here if anywhere.",
        ),
    }
)
"""The marks of the categories."""

FAITHFUL = Mark(
    State.SUPPORTED,
    FAITHFULNESS_WORDS[Faithfulness.FAITHFUL],
    "supported",
    "It says nothing but what its sources say.",
)
UNFAITHFUL = Mark(
    State.NOT_SUPPORTED,
    FAITHFULNESS_WORDS[Faithfulness.UNFAITHFUL],
    "not-supported",
    "It says something that its sources do not say.",
)
LABEL_MARKS: Mapping[Faithfulness, Mark] = MappingProxyType(
    {Faithfulness.FAITHFUL: FAITHFUL, Faithfulness.UNFAITHFUL: UNFAITHFUL}
)
"""The marks of the labels."""

UNDECIDED = Mark(
    State.UNDECIDED,
    "undecided",
    "undecided",
    "Words alone cannot tell whether its sources say it: no model was asked.",
)


def label_mark(sentence: SentenceAttribution) -> Mark:
    """The mark of a sentence: its label, or why it has none."""
    label = sentence.label
    if label is not None and sentence.status is Status.SUCCEEDED:
        return LABEL_MARKS[label]
    if sentence.status is Status.SUCCEEDED:
        return UNDECIDED
    return failed_mark(sentence.status, sentence.error)


def failed_mark(status: Status, error: str | None) -> Mark:
    """The mark of a sentence that did not succeed, with the reason."""
    mark = mark_of(None, status, error)
    why = f" {error[:LONGEST_REASON]}" if error else ""
    word = "failed" if status is Status.FAILED else mark.word.lower()
    return replace(mark, word=word, hint=f"This says nothing about the sentence.{why}")


def dropped_words(sentence: SentenceAttribution) -> str:
    """Return how many ids a model named that it was not shown; empty: none."""
    count = sentence.dropped_ids
    if not count:
        return ""
    were = "id that was" if count == 1 else "ids that were"
    return f"The model named {count:,} {were} not in its prompt, left out here."


@dataclass(frozen=True, slots=True)
class PropositionView:
    """A proposition of a sentence as it is shown.

    Attributes:
        text: Its words; `…` marks a gap.
        mark: What its own attribution implies.
        rests_on: The source sentences in words: category, node and number; some of them.
    """

    text: str
    mark: Mark
    rests_on: tuple[str, ...]


MOST_PROPOSITIONS = 20
"""Propositions of a sentence that are shown."""
_MOST_SOURCES = 5


def proposition_views(sentence: SentenceAttribution) -> list[PropositionView]:
    """The propositions of a sentence; none where it is one, or was not split."""
    if len(sentence.propositions) < 2:
        return []
    found = []
    for one in sentence.propositions[:MOST_PROPOSITIONS]:
        rests = [
            f"{' + '.join(CATEGORY_WORDS[name] for name in each.categories)}: "
            f"{each.node_id[:80]} {each.sentence}"
            for each in one.attributed[:_MOST_SOURCES]
        ]
        more = len(one.attributed) - len(rests)
        rests += [f"and {more} more"] if more else []
        mark = LABEL_MARKS[one.implied_label]
        found.append(PropositionView(one.text, mark, tuple(rests) or ("rests on nothing",)))
    return found


def category_marks(categories: Iterable[AttributionCategory]) -> tuple[CategoryMark, ...]:
    """The marks of categories, each once, in the order of the paper."""
    named = set(categories)
    return tuple(mark for category, mark in CATEGORY_MARKS.items() if category in named)


@dataclass(frozen=True, slots=True)
class CorrectionChange:
    """A stretch of a sentence and its correction.

    Attributes:
        kept: What both have.
        removed: What only the sentence has.
        added: What only the correction has.
    """

    kept: str = ""
    removed: str = ""
    added: str = ""

    @property
    def words(self) -> str:
        """The change in words; empty where nothing differs."""
        removed, added = self.removed.strip(), self.added.strip()
        if removed and added:
            return f"“{added}” in place of “{removed}”"
        return f"“{added}” added" if added else f"“{removed}” left out" if removed else ""


_TOKEN = re.compile(r"\s+|\w+(?:[\u2019'.,]\w+)*|[^\w\s]")


def changes(sentence: str, correction: str) -> tuple[CorrectionChange, ...]:
    """Say what a correction changes, word by word; very long sentences are compared as a whole."""
    before, after = _TOKEN.findall(sentence), _TOKEN.findall(correction)
    if max(len(before), len(after)) > 2 * MOST_WORDS:
        return (CorrectionChange(removed=sentence, added=correction),)
    found: list[CorrectionChange] = []
    matcher = SequenceMatcher(str.isspace, before, after, autojunk=False)
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        old, new = "".join(before[start:end]), "".join(after[other_start:other_end])
        last = found[-1] if found else CorrectionChange(kept="-")
        if kind == "equal" and old.isspace() and not last.kept and end < len(before):
            # White space between two changed words belongs to the change.
            found[-1] = CorrectionChange(removed=last.removed + old, added=last.added + old)
        elif kind == "equal":
            found.append(CorrectionChange(kept=old))
        elif last.kept:
            found.append(CorrectionChange(removed=old, added=new))
        else:
            found[-1] = CorrectionChange(removed=last.removed + old, added=last.added + new)
    return tuple(found)

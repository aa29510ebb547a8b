"""How a trail ends: what the step that went wrong did with which sentence of its sources.

Source: Error-tolerant attribution 1 and 3 (locating an error; the categories).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from veritrail_graph.api.views.words import CATEGORY_WORDS
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributedSentence,
    AttributionCategory,
    CarriedSentence,
    Faithfulness,
    Recheck,
    Revision,
    RevisionOutcome,
)
from veritrail_graph.graph.word_diff import Change, Piece, WordDiff, word_diff

LEAST_ALIKE = 0.35
"""The share of words in common below which two sentences are quoted as wholes."""
MOST_CHANGES = 3
"""Places that differ which are named; of more, the sentences are quoted as wholes."""
QUOTED = 160
"""Characters of a quotation within a sentence of ours."""
SAID_OF = 2
"""Source sentences of one category that are named."""

OUTCOME_WORDS = {
    RevisionOutcome.FIXED: "fixed",
    RevisionOutcome.PARTLY: "partly fixed",
    RevisionOutcome.NOT: "not fixed",
    None: "not verified again",
}
"""What became of a correction."""

_RECHECK_WORDS = {Recheck.JUDGE: "by the judge", Recheck.WALK: "by a verification of its claims"}


@dataclass(frozen=True, slots=True)
class TwistSource:
    """A source sentence that decides whether a sentence is right.

    Attributes:
        sentence: The source sentence.
        words: Its categories.
        pieces: Its text; changed where the sentence has other words. Only a near match is compared.
        rewritten: The sentence in pieces, where the two were compared; else empty.
    """

    sentence: AttributedSentence
    words: str
    pieces: tuple[Piece, ...]
    rewritten: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Twist:
    """A sentence of an error node that carried the claim, and what the step did there.

    Attributes:
        carried: The sentence.
        words: What the step did, in sentences.
        sources: The source sentences that show it.
        revision: The best of the wordings that were proposed for it, if any was.
    """

    carried: CarriedSentence
    words: str
    sources: tuple[TwistSource, ...]
    revision: Revision | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether the attribution, or a judge, says that the sentence is wrong."""
        return self.carried.label is not Faithfulness.FAITHFUL

    @property
    def proposed(self) -> str:
        """The proposed wording with what became of it; empty where there is none."""
        return "" if self.revision is None else revision_words(self.revision)


def twist_of(carried: CarriedSentence) -> Twist:
    """What a step did with its sources in one sentence."""
    sources: list[TwistSource] = []
    diffs: dict[int, WordDiff] = {}
    for number, source in enumerate(carried.attributed):
        if AttributionCategory.NEAR_MATCH in source.categories:
            diffs[number] = word_diff(source.text, carried.text)
        diff = diffs.get(number)
        pieces = diff.before if diff else (Piece(source.text),)
        words = category_words(source.categories)
        sources.append(TwistSource(source, words, pieces, diff.after if diff else ()))
    revision = carried.revisions[0] if carried.revisions else None
    return Twist(carried, _words(carried, diffs), tuple(sources), revision)


def category_words(categories: Iterable[AttributionCategory]) -> str:
    """What a source sentence is to a sentence."""
    return " + ".join(CATEGORY_WORDS[one] for one in categories)


def revision_words(revision: Revision) -> str:
    """A proposed wording, and what became of it when it was verified again."""
    return f"{revision.text} ({_became_words(revision)})"


def revision_lines(revisions: Sequence[Revision]) -> list[str]:
    """Proposed wordings of a sentence: with rank and mode, and what became of each."""
    found = []
    for one in revisions:
        how = f"{one.rank}. " if one.rank is not None else ""
        how += f"{one.mode.value}: " if len(revisions) > 1 else ""
        found.append(f"{how}{revision_words(one)}")
    return found


def _became_words(revision: Revision) -> str:
    how = OUTCOME_WORDS[revision.outcome]
    if revision.rechecked_by is not None:
        how += f", verified again {_RECHECK_WORDS[revision.rechecked_by]}"
    if revision.outcome is RevisionOutcome.PARTLY and revision.claims:
        how += f": {revision.supported} of {revision.claims} claims supported"
    return how


def _words(carried: CarriedSentence, diffs: dict[int, WordDiff]) -> str:
    sources = "the sources" if carried.against is Against.ROOTS else "this step's sources"
    if not carried.attributed:
        return f"No sentence of {sources} decides it."
    of = {
        category: [
            (number, one)
            for number, one in enumerate(carried.attributed)
            if category in one.categories
        ]
        for category in AttributionCategory
    }
    said: list[str] = []
    for number, one in of[AttributionCategory.NEAR_MATCH][:SAID_OF]:
        said.append(f"This sentence {_turned(diffs[number], one.text, carried.text)}.")
    for _, one in of[AttributionCategory.CONTRADICTION][:SAID_OF]:
        said.append(f"This sentence says the opposite of {_quoted(one.text)}.")
    for _, one in of[AttributionCategory.EXPECTED_SPAN][:SAID_OF]:
        said.append(f"The source would say it here, and does not: {_quoted(one.text)}.")
    unfounded = [one.text for one in carried.propositions if not one.attributed]
    said += [f"No sentence of {sources} decides {_quoted(text)}." for text in unfounded[:SAID_OF]]
    if not said:
        one = carried.attributed[0]
        said.append(f"The attribution finds it supported: {_quoted(one.text)}.")
    return " ".join(said)


def _turned(diff: WordDiff, source: str, sentence: str) -> str:
    """`turned “may close” into “will close”`."""
    if not diff.changes or len(diff.changes) > MOST_CHANGES or diff.alike < LEAST_ALIKE:
        return f"turned {_quoted(source)} into {_quoted(sentence)}"
    return turned_words(diff.changes)


def turned_words(changes: Sequence[Change]) -> str:
    """What a sentence made of another one: `turned “may close” into “will close”`."""
    turned = [one for one in changes if one.before and one.after]
    added = [one.after for one in changes if not one.before]
    # A sentence says less than its source all the time: show that only where nothing else differs.
    left_out = [one.before for one in changes if not one.after]
    parts = []
    if turned:
        pairs = (f"{_quoted(one.before)} into {_quoted(one.after)}" for one in turned)
        parts.append(f"turned {_listed(list(pairs))}")
    if added:
        parts.append(f"added {_listed([_quoted(one) for one in added])}")
    if not parts:
        parts.append(f"left out {_listed([_quoted(one) for one in left_out])}")
    return " and ".join(parts)


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    line = line if len(line) <= QUOTED else f"{line[: QUOTED - 1]}…"
    return f"“{line.rstrip('.') if line.endswith('.') else line}”"

"""The end of a trail: the step that went wrong, and the sentence of its sources that it changed.

Source: Error-tolerant attribution 1 and 3 (locating an error; the categories).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from veritrail_graph.api.show.words import CATEGORY_WORDS
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributedSentence,
    AttributionCategory,
    CarriedSentence,
    Faithfulness,
    Proposition,
    Recheck,
    Revision,
    RevisionOutcome,
)
from veritrail_graph.graph.word_diff import (
    Piece,
    WordChange,
    WordDiff,
    denials,
    joined_pieces,
    word_diff,
)

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
        part: The words of the proposition that it decides; empty: the whole sentence.
    """

    sentence: AttributedSentence
    words: str
    pieces: tuple[Piece, ...]
    rewritten: tuple[Piece, ...] = ()
    part: str = ""

    @property
    def heading(self) -> str:
        """Its categories, and for which part of the sentence they count."""
        return f"{self.words} of {_quoted(self.part)}" if self.part else self.words


@dataclass(frozen=True, slots=True)
class Twist:
    """A sentence of an error node that carried the claim, and what the step did there.

    Attributes:
        carried: The sentence.
        words: What the step did, in sentences.
        sources: The source sentences that show it; one for each proposition that it decides.
        revision: The best of the wordings that were proposed for it, if any was.
    """

    carried: CarriedSentence
    words: str
    sources: tuple[TwistSource, ...]
    revision: Revision | None = None

    @property
    def is_wrong(self) -> bool:
        """Return whether the attribution, or a judge, says that the sentence is wrong."""
        return self.carried.label is Faithfulness.UNFAITHFUL

    @property
    def rewritten(self) -> tuple[Piece, ...]:
        """The sentence in pieces: changed where a near match of any proposition was changed.

        Of several near matches of one proposition the first is shown.
        """
        first = {one.part: one.rewritten for one in reversed(self.sources) if one.rewritten}
        return joined_pieces(list(first.values()))

    @property
    def proposed(self) -> str:
        """The proposed wording with what became of it; empty where there is none."""
        return "" if self.revision is None else revision_words(self.revision)


@dataclass(frozen=True, slots=True)
class _Link:
    """A source sentence with what it is to a sentence, or to one proposition of it."""

    source: AttributedSentence
    part: Proposition | None
    diff: WordDiff | None


def twist_of(carried: CarriedSentence) -> Twist:
    """Say what a step did with its sources in one sentence; of a split one, in each proposition."""
    links = [_link(carried, source, part) for source, part in _decided(carried)]
    revision = carried.revisions[0] if carried.revisions else None
    return Twist(carried, _words(carried, links), tuple(map(_source, links)), revision)


def _decided(
    carried: CarriedSentence,
) -> Iterator[tuple[AttributedSentence, Proposition | None]]:
    """The source sentences, each with the propositions that it decides, with its categories there.

    A sentence that is one proposition is not split.
    """
    parts = carried.propositions if len(carried.propositions) > 1 else ()
    for source in carried.attributed:
        of: list[tuple[AttributedSentence, Proposition | None]] = [
            (one, part)
            for part in parts
            for one in part.attributed
            if (one.node_id, one.sentence, one.start)
            == (source.node_id, source.sentence, source.start)
        ]
        yield from of or [(source, None)]


def _link(carried: CarriedSentence, source: AttributedSentence, part: Proposition | None) -> _Link:
    if AttributionCategory.NEAR_MATCH not in source.categories:
        return _Link(source, part, None)
    stretches = [
        (start - carried.start, end - carried.start) for start, end in (part.spans if part else ())
    ]
    return _Link(source, part, word_diff(source.text, carried.text, stretches))


def _source(link: _Link) -> TwistSource:
    return TwistSource(
        link.source,
        category_words(link.source.categories),
        link.diff.before if link.diff else (Piece(link.source.text),),
        link.diff.after if link.diff else (),
        link.part.text if link.part else "",
    )


def category_words(categories: Iterable[AttributionCategory]) -> str:
    """Return what a source sentence is to a sentence."""
    return " + ".join(CATEGORY_WORDS[one] for one in categories)


def revision_words(revision: Revision) -> str:
    """A proposed wording, and what became of it when it was verified again."""
    return f"{revision.text} ({became_words(revision)})"


def revision_lines(revisions: Sequence[Revision]) -> list[str]:
    """Proposed wordings of a sentence: with rank and mode, and what became of each."""
    found = []
    for one in revisions:
        how = f"{one.rank}. " if one.rank is not None else ""
        how += f"{one.mode.value}: " if len(revisions) > 1 else ""
        found.append(f"{how}{revision_words(one)}")
    return found


def became_words(revision: Revision) -> str:
    """Return what became of a proposed wording when it was verified again."""
    how = OUTCOME_WORDS[revision.outcome]
    if revision.rechecked_by is not None:
        how += f", verified again {_RECHECK_WORDS[revision.rechecked_by]}"
    if revision.outcome is RevisionOutcome.PARTLY and revision.claims:
        how += f": {revision.supported} of {revision.claims} claims supported"
    return how


def _words(carried: CarriedSentence, links: Sequence[_Link]) -> str:
    sources = "the sources" if carried.against is Against.ROOTS else "this step's sources"
    if carried.label is None:
        near = f"; nearest: {_quoted(carried.attributed[0].text)}" if carried.attributed else ""
        return _on_the_way(carried, f"Words alone cannot tell whether {sources} say it{near}.")
    if not carried.attributed:
        return _on_the_way(carried, f"No sentence of {sources} decides it.")
    of = {
        category: [one for one in links if category in one.source.categories][:SAID_OF]
        for category in AttributionCategory
    }
    said = [
        f"This sentence {_turned(one, carried.text)}." for one in of[AttributionCategory.NEAR_MATCH]
    ]
    for one in of[AttributionCategory.CONTRADICTION]:
        where = f", in {_quoted(one.part.text)}," if one.part else ""
        said.append(f"This sentence says{where} the opposite of {_quoted(one.source.text)}.")
    for one in of[AttributionCategory.EXPECTED_SPAN]:
        what = _quoted(one.part.text) if one.part else "it"
        said.append(f"The source would say {what} here, and does not: {_quoted(one.source.text)}.")
    unfounded = [one.text for one in carried.propositions if not one.attributed]
    said += [f"No sentence of {sources} decides {_quoted(text)}." for text in unfounded[:SAID_OF]]
    if not said:
        first = carried.attributed[0]
        said.append(f"The attribution finds it supported: {_quoted(first.text)}.")
    return _on_the_way(carried, " ".join(said))


def _on_the_way(carried: CarriedSentence, words: str) -> str:
    """The words; where the sources are the roots, that another step may have done it."""
    if carried.against is not Against.ROOTS:
        return words
    return f"On the whole way from the roots, in this step or before: {words[0].lower()}{words[1:]}"


def _turned(link: _Link, sentence: str) -> str:
    """`turned “may close” into “will close”`; of a split sentence about the proposition alone."""
    diff = link.diff
    if diff and 0 < len(diff.changes) <= MOST_CHANGES and diff.alike >= LEAST_ALIKE:
        return turned_words(diff.changes)
    rewritten = link.part.text if link.part else sentence
    return f"turned {_quoted(link.source.text)} into {_quoted(rewritten)}"


def turned_words(changes: Sequence[WordChange]) -> str:
    """Return what a sentence made of another one: `turned “may close” into “will close”`."""
    turned = [one for one in changes if one.before and one.after]
    added = [one.after for one in changes if not one.before]
    # A sentence says less than its source all the time: show that only where nothing else differs,
    # or where the meaning is turned round.
    left_out = [one.before for one in changes if not one.after]
    if turned or added:
        left_out = [one for one in left_out if denials(one)]
    parts = []
    if turned:
        pairs = (f"{_quoted(one.before)} into {_quoted(one.after)}" for one in turned)
        parts.append(f"turned {_listed(list(pairs))}")
    if added:
        parts.append(f"added {_listed([_quoted(one) for one in added])}")
    if left_out:
        parts.append(f"left out {_listed([_quoted(one) for one in left_out])}")
    return " and ".join(parts)


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    line = line if len(line) <= QUOTED else f"{line[: QUOTED - 1]}…"
    return f"“{line.rstrip('.') if line.endswith('.') else line}”"

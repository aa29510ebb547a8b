"""The sentences of a node with the source sentences that they rest on, as a document.

Source: Error-tolerant attribution 3, C (what a reader sees of a sentence).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from veritrail_graph.api.show.attribution_marks import LABEL_MARKS, dropped_words, label_mark
from veritrail_graph.api.show.document import (
    Block,
    Branch,
    Document,
    Fact,
    Facts,
    Heading,
    Line,
    Remark,
    Style,
    TextRun,
    Tree,
    name,
    ours,
    said,
    verdict,
)
from veritrail_graph.api.show.twists import became_words, category_words
from veritrail_graph.api.show.words import FAITHFULNESS_WORDS
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    Against,
    AttributedNode,
    AttributedSentence,
    Proposition,
    Revision,
    SentenceAttribution,
    StoredSentence,
)

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "CarriedSentence.start": "the sentence is quoted as a whole",
        "CarriedSentence.end": "the sentence is quoted as a whole",
        "CarriedSentence.status": "only a sentence that succeeded is kept; else the mark says it",
        "CarriedSentence.corrected_label": "the outcome of the wording says it",
        "CarriedSentence.correction": "it is the first of the wordings",
        "CarriedSentence.in_force": "only what counts is shown",
        "AttributedSentence.start": "the sentence is quoted as a whole",
        "AttributedSentence.end": "the sentence is quoted as a whole",
        "Proposition.spans": "its words are quoted",
        "Revision.edits": "it decides the rank, which is shown",
    }
)
"""Fields of the nouns that no writer shows, by class and name, and why."""

_AGAINST = {Against.INPUTS: "the inputs of the node", Against.ROOTS: "the roots below it"}


def node_shown(
    node_id: str, sentences: Sequence[SentenceAttribution], node: AttributedNode | None = None
) -> Document:
    """Show the sentences of a node with what they rest on.

    Args:
        node_id: The node.
        sentences: Its sentences that are at hand.
        node: How many are attributed, and how many of these are unfaithful; None: not known.
    """
    blocks: list[Block] = [Heading((name(node_id),))]
    facts = []
    if node is not None:
        facts.append(Fact("attributed", (ours(counted(node.sentences, "sentence")),)))
        facts.append(Fact("unfaithful", (ours(f"{node.unfaithful:,}"),)))
    stored = [one for one in sentences if isinstance(one, StoredSentence)]
    facts += [Fact("by", line) for line in dict.fromkeys(map(_attributed_by, stored))]
    if facts:
        blocks.append(Facts(tuple(facts)))
    blocks.append(Tree((), tuple(sentence_shown(one) for one in sentences)))
    if node is not None and (more := node.sentences - len(sentences)) > 0:
        words = f"{counted(more, 'more sentence')}: not shown"
        blocks.append(Remark((ours(words),), Style.QUIET))
    return Document(tuple(blocks))


def _attributed_by(one: StoredSentence) -> Line:
    """Say which model, or which engine, attributed a sentence, and to what."""
    line: Line = (name(one.model or one.engine or "unknown engine"),)
    if one.against is not None:
        line += (ours(f", against {_AGAINST[one.against]}"),)
    if one.attributed_at is not None:
        line += (ours(f", {one.attributed_at[:10]}"),)
    return (*line, ours(", run "), name(one.run_id))


def sentence_shown(one: SentenceAttribution, node_id: str = "") -> Branch:
    """Show a sentence and the source sentences that decide whether it is faithful.

    Args:
        one: The sentence.
        node_id: Its node, where the document is not about that alone.
    """
    line: Line = (name(node_id), ours(" ")) if node_id else ()
    line += (ours(f"{one.sentence}  ", Style.QUIET), verdict(label_mark(one)))
    if isinstance(one, StoredSentence) and one.indicative:
        line += (ours(" (indicative)"),)
    return Branch((*line, ours("  "), said(one.text)), tuple(_below(one)), "sentence")


def _below(one: SentenceAttribution) -> Iterator[Branch]:
    contradictory = {(each.node_id, each.sentence) for each in one.contradictory}
    for source in one.attributed:
        is_odd = (source.node_id, source.sentence) in contradictory
        yield Branch(_source(source, is_contradictory=is_odd), (), "source sentence")
    if one.status is Status.SUCCEEDED and not one.attributed:
        yield Branch((ours("no source sentence decides it"),))
    if one.is_disputed and one.implied_label is not None:
        yield Branch((ours(f"the attribution implies: {FAITHFULNESS_WORDS[one.implied_label]}"),))
    if one.judged_reason:
        is_unasked = one.judged_label is not None and not one.is_asked
        who = "no judge was asked: " if is_unasked else "judge: "
        yield Branch((ours(who), said(one.judged_reason)))
    if dropped := dropped_words(one):
        yield Branch((ours(dropped),))
    if len(one.propositions) > 1:
        yield from map(_proposition, one.propositions)
    yield from _proposed(one)
    if one.error is not None:
        yield Branch((said(one.error, Style.WARNING),))


def _source(source: AttributedSentence, *, is_contradictory: bool = False) -> Line:
    words = category_words(source.categories) + (" (contradictory)" if is_contradictory else "")
    place = (ours(f"{words}: "), name(source.node_id), ours(f" {source.sentence}: "))
    return (*place, said(source.text))


def _proposition(part: Proposition) -> Branch:
    line = (ours("part, "), verdict(LABEL_MARKS[part.implied_label]), ours(": "), said(part.text))
    sources = [Branch(_source(one), (), "source sentence") for one in part.attributed]
    return Branch(line, tuple(sources or [Branch((ours("rests on nothing"),))]), "part")


def _proposed(one: SentenceAttribution) -> Iterator[Branch]:
    """Show proposed wordings with rank and mode, and what became of each."""
    if not one.revisions and one.correction:
        yield Branch((ours("proposed: "), said(one.correction)), (), "wording")
    for revision in one.revisions:
        yield Branch(_wording(revision, with_mode=len(one.revisions) > 1), (), "wording")


def _wording(revision: Revision, *, with_mode: bool) -> Line:
    how = f"{revision.rank}. " if revision.rank is not None else ""
    how += f"{revision.mode.value}: " if with_mode else ""
    became: TextRun = ours(f" ({became_words(revision)})")
    return (ours(f"proposed: {how}"), said(revision.text), became)


def sentences_shown(sentences: Iterable[tuple[str, SentenceAttribution]]) -> Document:
    """Show sentences of several nodes.

    Args:
        sentences: The sentences, each with its node.
    """
    branches = tuple(sentence_shown(one, node_id) for node_id, one in sentences)
    return Document((Tree((), branches),))

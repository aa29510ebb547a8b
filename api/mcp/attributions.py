"""Answers about what sentences rest on: values for programs, and text for people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from pydantic import BaseModel, Field

from veritrail_graph.api.mcp.results import NAME, TEXT, Trail, quoted
from veritrail_graph.api.show.attribution import sentences_shown
from veritrail_graph.api.show.document import Room
from veritrail_graph.api.show.plain import text
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.twists import revision_lines
from veritrail_graph.api.show.words import indicative_words
from veritrail_graph.graph.model import Status
from veritrail_graph.graph.model.attribution import (
    AttributedSentence,
    CarriedSentence,
    Proposition,
    StoredSentence,
)

SENTENCES = 40
"""Sentences of an answer."""
SOURCES = 10
"""Source sentences that are shown of one sentence."""
NODES = 20
"""Nodes of an answer."""
MOST_PROPOSITIONS = 10
"""Propositions that are shown of one sentence."""
PROPOSITION_SOURCES = 5
"""Source sentences that are shown of one proposition."""

ROOM = Room(
    {
        "source sentence": SOURCES,
        "part": MOST_PROPOSITIONS,
        "wording": SOURCES,
        "sentence": SENTENCES,
    },
    characters=TEXT,
)
"""The part of a sentence that fits into the window of an assistant."""


class SourceSentence(BaseModel):
    """A source sentence that decides whether another one is faithful."""

    node_id: str
    sentence: int
    text: str
    categories: list[str] = Field(
        description="EVIDENCE: says so; CONTRADICTION: says the opposite; NEAR_MATCH: says nearly "
        "the same; EXPECTED_SPAN: would say so here if anywhere"
    )


class RestingProposition(BaseModel):
    """A statement within a sentence, with the source sentences that it alone rests on."""

    text: str = Field(description="Its words; … marks words that are not part of it")
    implied_label: str = Field(description="As its own categories imply")
    attributed: list[SourceSentence] = Field(description="Empty: no source sentence decides it")
    attributed_left_out: int = 0


class RestingSentence(BaseModel):
    """A sentence with the source sentences that it rests on."""

    node_id: str
    sentence: int
    text: str
    attributed: list[SourceSentence] = Field(description="Empty: no source sentence decides it")
    attributed_left_out: int = 0
    implied_label: str | None = Field(description="As the categories imply")
    judged_label: str | None = Field(description="As a model judged; null: none was asked")
    judged_reason: str | None = Field(default=None, description="Why it was judged so")
    judge_was_asked: bool = Field(
        default=False,
        description="Whether the label is a judge's; else it follows from an empty attribution",
    )
    correction: str | None = Field(description="A proposed wording; the text stays as it is")
    proposed: list[str] = Field(
        description="Proposed wordings with rank and mode, and what became of each: fixed, partly "
        "fixed, not fixed, or not verified again"
    )
    propositions: list[RestingProposition] = Field(
        default=[],
        description="Where it was split: its statements; it is unfaithful where one of them is",
    )
    propositions_left_out: int = 0
    dropped_ids: int = Field(
        default=0, description="Ids that the model named and that were not in its prompt"
    )
    engine: str | None
    indicative: bool = Field(description="Whether no model was asked")
    run_id: str


class Attributions(BaseModel):
    """Attributed sentences; a sentence that is not here was not attributed."""

    process_id: str
    sentences: list[RestingSentence]
    truncated: bool = Field(description="Whether there are more")


class AttributionDone(Attributions):
    """The result of an attribution."""

    run_id: str | None
    status: str
    counts: dict[str, int] = Field(
        description="Sentences by status; of those that did not succeed nothing is known"
    )
    cost_usd: float | None = Field(description="null: not known, or no model was asked")
    error: str | None
    warnings: list[str] = Field(
        default=[], description="What a person should know, such as nodes that were left out"
    )


class ExplainedTrail(Trail):
    """A trail that ends with what its error nodes did with which sentences of their sources."""

    carried: list[RestingSentence] = Field(
        default=[],
        description="With `explain`: the sentences of error nodes that carried the claim",
    )
    unexplained: str | None = Field(
        default=None, description="Why some of them could not be attributed"
    )


def resting(found: CarriedSentence) -> RestingSentence:
    """A sentence, with so much of it as an assistant should read."""
    return RestingSentence(
        node_id=found.node_id,
        sentence=found.sentence,
        text=one_line(found.text, TEXT),
        attributed=[_source(one) for one in found.attributed[:SOURCES]],
        attributed_left_out=max(0, len(found.attributed) - SOURCES),
        implied_label=found.implied_label,
        judged_label=found.judged_label,
        judged_reason=one_line(found.judged_reason, TEXT) if found.judged_reason else None,
        judge_was_asked=found.is_asked,
        propositions=[_proposition(one) for one in found.propositions[:MOST_PROPOSITIONS]],
        propositions_left_out=max(0, len(found.propositions) - MOST_PROPOSITIONS),
        dropped_ids=found.dropped_ids,
        correction=one_line(found.correction, TEXT) if found.correction else None,
        proposed=[one_line(line, TEXT) for line in _proposed_lines(found)],
        engine=found.engine,
        indicative=found.indicative,
        run_id=found.run_id,
    )


def _proposition(found: Proposition) -> RestingProposition:
    return RestingProposition(
        text=one_line(found.text, TEXT),
        implied_label=found.implied_label,
        attributed=[_source(one) for one in found.attributed[:PROPOSITION_SOURCES]],
        attributed_left_out=max(0, len(found.attributed) - PROPOSITION_SOURCES),
    )


def _proposed_lines(found: StoredSentence) -> Sequence[str]:
    """Wordings that are cut, so that what became of them stays."""
    return revision_lines(
        [one.replace(text=one_line(one.text, TEXT - 120)) for one in found.revisions]
    )


def _source(found: AttributedSentence) -> SourceSentence:
    return SourceSentence(
        node_id=found.node_id,
        sentence=found.sentence,
        text=one_line(found.text, TEXT),
        categories=[one.value for one in found.categories],
    )


async def of_node(
    pages: AsyncIterator[StoredSentence], node_id: str, most: int, only: int | None = None
) -> tuple[list[CarriedSentence], bool]:
    """Return sentences of a node, and whether there are more.

    Args:
        pages: The sentences as they are read, in their order.
        node_id: The node.
        most: The most sentences.
        only: Only the sentence with this number.
    """
    found: list[CarriedSentence] = []
    async for one in pages:
        if only is not None and one.sentence != only:
            continue
        if len(found) == most:
            return found, True
        found.append(CarriedSentence(node_id=node_id, **dict(one)))
    return found, False


def attributions_text(found: Sequence[CarriedSentence], *, truncated: bool = False) -> str:
    """Attributed sentences to be read."""
    if not found:
        return (
            "Nothing is stored of what these sentences rest on. That says nothing about them: "
            "attribute_sentences looks for it."
        )
    lines = [_text(found)]
    if truncated:
        lines.append("… and more sentences; ask for one by its number")
    by_words = {one.engine or "" for one in found if one.indicative}
    lines += [
        f"Engine {quoted(one)}: {indicative_words(one_line(one, NAME))}."
        for one in sorted(by_words)
    ]
    return "\n".join(lines)


def _text(found: Sequence[CarriedSentence]) -> str:
    return text(sentences_shown((one.node_id, one) for one in found), ROOM)


def done_text(done: AttributionDone, found: Sequence[CarriedSentence]) -> str:
    """Return what an attribution came to, to be read."""
    lines = [attributions_text(found, truncated=done.truncated)] if found else []
    left = sum(n for status, n in done.counts.items() if status != Status.SUCCEEDED)
    if left:
        lines.append(
            f"{left:,} sentence(s) could not be attributed ({_counts(done.counts)}): nothing is "
            "known of them."
        )
    lines += [f"Note: {quoted(warning)}" for warning in done.warnings]
    if done.error:
        lines.append(f"The run was stopped: {quoted(done.error)}")
    lines.append(f"Run: {done.run_id}, {done.status}")
    return "\n".join(lines)


def carried_lines(found: Sequence[CarriedSentence], unexplained: str | None) -> Sequence[str]:
    """Return what the error nodes of a trail did with their sources, to be read."""
    lines = []
    if found:
        lines = ["Sentences that carried the claim, and what they rest on:", _text(found)]
    if unexplained:
        lines.append(f"Not explained: {quoted(unexplained)}")
    return lines


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())

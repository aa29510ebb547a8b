"""Studies: readers judge, or annotate, the sentences of nodes, and the time that takes is measured.

Source: Error-tolerant attribution A.3 (annotation), C (manual evaluation of faithfulness).
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from veritrail_graph.graph.model.attribution import Against, AttributedSentence, SourceMode
from veritrail_graph.graph.model.noun import (
    Count,
    Many,
    NodeId,
    Noun,
    OneOf,
    Place,
    PublicId,
    Text,
    Time,
)

MOST_SILENT = 120.0
"""Seconds without a heartbeat after which a page is taken for closed. Browsers let a page in the
background speak once a minute."""

MOST_IDLE = 600.0
"""Seconds after a click that count where a page has no heartbeat."""


class StudyTask(StrEnum):
    """A task of readers: judge sentences, or also mark what each rests on."""

    JUDGE = "judge"
    ANNOTATE = "annotate"


class ReaderLabel(StrEnum):
    """A reader's label of a sentence."""

    FAITHFUL = "FAITHFUL"
    UNFAITHFUL = "UNFAITHFUL"
    UNSURE = "UNSURE"


class Study(Noun):
    """Nodes of a process whose sentences readers judge.

    Source: Error-tolerant attribution C.
    """

    study_id: PublicId = Field(description="The study.")
    process_id: PublicId = Field(description="The process.")
    content_hash: Text = Field(description="The content of the process when the study began.")
    nodes: Many[NodeId] = Field(description="The documents, in the order of the process.")
    sentences: Many[Count] = Field(description="How many sentences each of them has.")
    task: OneOf[StudyTask] = Field(description="What readers do.")
    modes: Many[OneOf[SourceMode]] = Field(
        description="How sources are shown: plain, highlighted, or each for half of the documents."
    )
    against: OneOf[Against] = Field(description="Which sources are shown.")
    seed: Count = Field(description="What the assignment of modes and the order are drawn from.")
    created_at: Time = Field(description="When it was made.")
    created_by: Text = Field(description="Who made it.")


class MarkedPart(Noun):
    """The part of a sentence that a marked source sentence bears on.

    Source: Error-tolerant attribution A.2 (breaking the summary sentence into propositions).
    """

    node_id: NodeId = Field(description="The source.")
    sentence: Count = Field(description="The number of the source sentence in it, from 0.")
    text: Text = Field(description="Words of the judged sentence, as the reader wrote them.")
    spans: Many[Place] = Field(
        default=(),
        description="Where these words are in the node's text, as [start, end) in code points; "
        "empty in a draft.",
    )


class StudyAnswer(Noun):
    """A reader's answer about a sentence, and the time it took; perhaps not saved yet."""

    study_id: PublicId = Field(description="The study.")
    reader: Text = Field(description="The reader.")
    node_id: NodeId = Field(description="The document.")
    sentence: Count = Field(description="The number of the sentence in its node, from 0.")
    mode: OneOf[SourceMode] = Field(description="How its sources were shown.")
    label: OneOf[ReaderLabel] | None = Field(default=None, description="What the reader says.")
    note: Text = Field(default="", description="What the reader adds.")
    marks: Many[AttributedSentence] = Field(
        default=(), description="What the sentence rests on, as the reader marked it."
    )
    parts: Many[MarkedPart] = Field(
        default=(),
        description="For marked source sentences that bear on a part of the sentence: that part.",
    )
    unfounded: Text = Field(
        default="", description="Words of the sentence that rest on nothing, as the reader wrote."
    )
    unfounded_spans: Many[Place] = Field(
        default=(),
        description="Where these words are in the node's text, as [start, end) in code points.",
    )
    seconds: float = Field(default=0.0, ge=0, description="The time before the timer was stopped.")
    running_since: float | None = Field(
        default=None, description="When the timer was started, in seconds since 1970."
    )
    seen_at: float | None = Field(
        default=None,
        description="The last sign of the reader while the timer runs, in seconds since 1970.",
    )
    has_heartbeat: bool = Field(
        default=False, description="Whether the page says by itself that it is open."
    )
    idle_seconds: float = Field(
        default=0.0, ge=0, description="Time that did not count: nothing was heard of the reader."
    )
    pauses: Count = Field(default=0, description="How often the timer was paused.")
    answered_at: Time | None = Field(
        default=None, description="When it was saved; null: it is a draft."
    )

    def elapsed(self, now: float) -> float:
        """The seconds that the timer shows at a time."""
        since = self.running_since
        return self.seconds + (0.0 if since is None else max(0.0, self._counted_to(now) - since))

    def is_idle(self, now: float) -> bool:
        """Return whether the timer runs, and nothing was heard of the reader for too long."""
        return self.running_since is not None and self._counted_to(now) < now

    def _counted_to(self, now: float) -> float:
        """Until when the time of a running timer counts.

        A page that says that it is open counts until it was last heard of, once it is silent for
        `MOST_SILENT`. One that cannot, without scripts, counts for `MOST_IDLE` after each click.
        """
        seen = self.running_since if self.seen_at is None else self.seen_at
        if seen is None or now - seen <= (MOST_SILENT if self.has_heartbeat else MOST_IDLE):
            return now
        return seen if self.has_heartbeat else seen + MOST_IDLE

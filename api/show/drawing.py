"""All that a picture of a claim shows: boxes, the lines between them, and the same in words.

Source: docs/adr/0067-one-picture.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from veritrail_graph.api.show.words import State
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.word_diff import Piece

NO_SOURCE = "no source"
NOT_SUPPORTED = "not supported"
"""What stands on a broken line between two sentences of which no words can be told apart."""
MOST_NAMED = 20
"""Candidates that are named in words."""


class Tone(StrEnum):
    """The part that a box or a line has."""

    RIGHT = "right"
    """It says what the sources say."""
    CULPRIT = "culprit"
    """Unsupported content came in here, or in another of the candidates."""
    WRONG = "wrong"
    """It carried that on."""
    OPEN = "open"
    """Nothing is said for or against it."""


@dataclass(frozen=True, slots=True)
class PictureBox:
    """A text on the way.

    Attributes:
        pieces: Its decisive sentence, with the words that differ.
        tone: Its part.
        name: Its node, or who says it.
        node_id: The node that a click opens; None: it is none.
        note: What a reader must know of it.
        among: The nodes of which it is one; empty: it is `node_id`.
        to: The number of the column that it leads to; None: the next one.
    """

    pieces: tuple[Piece, ...]
    tone: Tone
    name: str = ""
    node_id: str | None = None
    note: str = ""
    among: tuple[str, ...] = ()
    to: int | None = None

    @property
    def text(self) -> str:
        """Its sentence without marks."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class PictureColumn:
    """Boxes of one stage.

    Attributes:
        heading: What the stage is called.
        boxes: Its boxes; only the first column has several.
    """

    heading: str
    boxes: tuple[PictureBox, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """The line from a column to the next one.

    Attributes:
        before: The tone of its beginning.
        after: The tone of its end.
        is_broken: Whether unsupported content came in at its end.
        source: The words on its left side that differ.
        wrote: The words that stand in their place.
        steps: How many nodes it passes that only repeat; they are not drawn.
        names: Some of these.
        is_unknown: Whether it came in at one of these steps, and nothing says at which.
        is_said: Whether a sentence stands at its beginning.
        is_carried: Whether a sentence of each of these nodes says it.
    """

    before: Tone
    after: Tone
    is_broken: bool = False
    source: str = ""
    wrote: str = ""
    steps: int = 0
    names: tuple[str, ...] = ()
    is_unknown: bool = False
    is_said: bool = False
    is_carried: bool = True

    @property
    def label(self) -> str:
        """Return what stands at a line that passes steps."""
        if not self.steps:
            return ""
        if self.is_unknown:
            return "somewhere on the way"
        steps = counted(self.steps, "step")
        return f"carried on, {steps}" if self.is_carried else f"{steps} between"

    @property
    def difference(self) -> str:
        """Return what stands on a broken line."""
        if self.source and self.wrote:
            return f"{self.source} → {self.wrote}"
        return f"{self.change}: {self.wrote or self.source}" if self.change else self.fault

    @property
    def fault(self) -> str:
        """Return what stands on a broken line where no words differ."""
        return NOT_SUPPORTED if self.is_said else NO_SOURCE

    @property
    def change(self) -> str:
        """Return what was done with words that stand on one side alone; empty: no words do."""
        if bool(self.wrote) is bool(self.source):
            return ""
        return "added" if self.wrote else "left out"


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that a picture of a claim shows.

    Attributes:
        claim: The claim.
        verdict: Its state in words.
        news: What is wrong and where it came in, in a sentence; empty: nothing is.
        columns: From the source text to the answer.
        joints: The lines between them.
        dots: The verdicts of the iterations, the answer's side first.
        dots_words: The same in words.
    """

    claim: str
    verdict: str
    news: str
    columns: tuple[PictureColumn, ...]
    joints: tuple[Joint, ...]
    dots: tuple[State, ...] = ()
    dots_words: str = ""

    def in_words(self) -> tuple[tuple[str, str | None], ...]:
        """Return the picture in sentences, each with the node that it is about."""
        sentences: list[tuple[str, str | None]] = []
        for column, joint in zip(self.columns, (*self.joints, None), strict=True):
            for box in column.boxes:
                place = f"{column.heading}, {box.name}" if box.name else column.heading
                said = f"{place}: {box.text}"
                if len(box.among) > 1:
                    named = ", ".join(box.among[:MOST_NAMED])
                    more = len(box.among) - MOST_NAMED
                    said += f" One of {named}" + (f" and {more:,} more." if more > 0 else ".")
                sentences.append((f"{said} ({box.note})" if box.note else said, box.node_id))
            if joint is not None and joint.is_broken:
                sentences.append((f"Here it changes: {joint.difference}", None))
            if joint is not None and joint.label:
                words = joint.label[:1].upper() + joint.label[1:]
                named = f": {', '.join(joint.names)}" if joint.names else ""
                sentences.append((words + named, None))
        return tuple(sentences)

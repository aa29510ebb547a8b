"""An input whose reviews are recorded under the name of the key that it came in with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from veritrail_graph.graph.importers.records import (
    Header,
    PlainNodes,
    ProcessInput,
    Record,
    ReviewRecord,
    TrailInput,
    TrailRecord,
    packed,
)


@dataclass(frozen=True, slots=True)
class RecordedInput:
    """An input of whose reviews one key is the recorder.

    Attributes:
        source: The input.
        name: Name of the key that it came in with; None where no key is asked for.
    """

    source: ProcessInput
    name: str | None

    @property
    def header(self) -> Header:
        """What the input says of the process as a whole."""
        return self.source.header

    def records(self) -> Iterator[Record]:
        """Read the input once from its beginning."""
        return self.source.records()

    def packed(self) -> Iterator[Record | PlainNodes]:
        """The same, many usual nodes at once."""
        return packed(self.source)

    def trails(self) -> Iterator[TrailRecord]:
        """Read what it carries once from the beginning, under the name of who sent it."""
        if not isinstance(self.source, TrailInput):
            return
        for one in self.source.trails():
            if isinstance(one, ReviewRecord):
                yield replace(one, review=one.review.replace(recorded_by=self.name))
            else:
                yield one

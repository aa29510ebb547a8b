"""Inputs that are read and checked while those before them are stored."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from veritrail_graph.api.app.ingesting import IngestOptions
from veritrail_graph.api.app.part import Progress
from veritrail_graph.api.auth.access import Scope
from veritrail_graph.graph.errors import EngineError, VeriTrailError
from veritrail_graph.graph.importers.explicit import ExplicitInput
from veritrail_graph.graph.importers.records import ProcessInput, RecordedInput

if TYPE_CHECKING:
    from veritrail_graph.api.auth.access import Caller
    from veritrail_graph.graph.importers.registry import Found
    from veritrail_graph.graph.ingest import IngestReport
    from veritrail_graph.graph.ingest.check import Survey
    from veritrail_graph.graph.store import Store

MOST_AHEAD = 100
"""Small inputs that are read ahead; behind a large one nothing is read until it is stored."""
HAND_OVER_SECONDS = 0.02
"""Seconds that inputs are read before they are handed over, which costs as much as reading one."""


@dataclass(frozen=True, slots=True)
class CheckedInput:
    """An input that was opened and checked.

    Attributes:
        opened: The input.
        source: The same, as it is stored.
        survey: What the check says; None: it is checked together with what is stored.
    """

    opened: ProcessInput
    source: ProcessInput
    survey: Survey | None

    @property
    def process_id(self) -> str:
        """The process; empty where it is not known yet."""
        return "" if self.survey is None else self.survey.process_id

    @property
    def is_small(self) -> bool:
        """Return whether it may be stored together with others."""
        from veritrail_graph.graph.ingest import is_small

        return self.survey is not None and is_small(self.survey)


ReadInput = tuple[str, CheckedInput | VeriTrailError]
"""Where an input is, and the input, or why it cannot be stored."""


@dataclass(frozen=True, slots=True)
class ReadingAhead:
    """The first reading of inputs: all rules are checked, and nothing is stored.

    Attributes:
        options: How they are stored.
        max_node_text: The longest text of a node, in bytes of UTF-8.
        progress: Called as it goes on.
        by: Who stores them.
        left: Set once the caller has gone; the thread that reads then ends.
    """

    options: IngestOptions
    max_node_text: int
    progress: Progress
    by: Caller | None
    left: threading.Event = field(default_factory=threading.Event)

    def watched(self, what: str, done: int, total: int) -> None:
        """Say how far it is, or end the thread that reads: nothing else can."""
        if self.left.is_set():
            raise InterruptedError
        self.progress(what, done, total)

    def checked(self, opened: ProcessInput) -> CheckedInput:
        """Check an input, in this thread.

        Raises:
            InputError: It cannot be read, or breaks rules.
        """
        from veritrail_graph.graph.ingest import survey_whole

        source, by, options = opened, self.by, self.options
        if by is not None:
            source = RecordedInput(
                source,
                by.key_name,
                by.only_reviewer,
                brings_verifications=by.may(Scope.ADMIN),
                brings_reviews=by.may(Scope.WRITE),
            )
        if options.importing is not None and options.importing.only_explicit:
            source = ExplicitInput(source)
        if options.append:  # what is stored is half of what is checked
            return CheckedInput(opened, source, None)
        survey = survey_whole(
            source,
            process_id=options.process_id,
            max_node_text=self.max_node_text,
            strict=options.strict,
            on_record=lambda count: self.watched("checking", count, 0),
        )
        return CheckedInput(opened, source, survey)

    async def ahead(
        self, found: Iterator[Found], *, at_once: int
    ) -> AsyncGenerator[list[ReadInput]]:
        """Yield inputs in their order, each time those that were read meanwhile.

        Args:
            found: The inputs.
            at_once: The most inputs that are yielded together.

        Raises:
            VeriTrailError: What is behind the inputs that were yielded cannot be read.
        """
        waiting: asyncio.Queue[ReadInput | None] = asyncio.Queue()
        places = asyncio.Semaphore(at_once)

        async def read() -> None:
            while True:
                await places.acquire()
                room = 1
                while not places.locked():
                    await places.acquire()
                    room += 1
                some, more = await asyncio.to_thread(self._some, found, room)
                for _ in range(room - len(some)):
                    places.release()
                for one in some:
                    waiting.put_nowait(one)
                if isinstance(more, VeriTrailError):
                    raise more
                if not more:
                    return
                if some and _is_large(some[-1]):
                    await waiting.join()

        reading = asyncio.create_task(read())
        reading.add_done_callback(lambda _ended: waiting.put_nowait(None))
        try:
            is_over = False
            while not is_over:
                some = [await waiting.get()]
                while not waiting.empty():
                    some.append(waiting.get_nowait())
                is_over = some[-1] is None
                yield [one for one in some if one is not None]
                for _ in some:
                    waiting.task_done()
                    places.release()
            await reading
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def _some(
        self, found: Iterator[Found], most: int
    ) -> tuple[list[ReadInput], VeriTrailError | bool]:
        """Read the next inputs; gives also what ended it, or whether there may be more."""
        some: list[ReadInput] = []
        until = time.monotonic() + HAND_OVER_SECONDS
        while len(some) < most and time.monotonic() < until:
            try:
                one = self._next(found)
            except VeriTrailError as error:  # what was read before it is handed over
                return some, error
            if one is None:
                return some, False
            some.append(one)
            if _is_large(one):
                break
        return some, True

    def _next(self, found: Iterator[Found]) -> ReadInput | None:
        """Read the next input; None: there is none."""
        one = next(found, None)
        if one is None:
            return None
        try:
            return one.where, self.checked(one.open())
        except EngineError:
            raise
        except VeriTrailError as error:
            return one.where, error


def _is_large(one: ReadInput) -> bool:
    return isinstance(one[1], CheckedInput) and not one[1].is_small


async def store_together(
    opened: Callable[[], Awaitable[Store]], some: Sequence[ReadInput]
) -> dict[str, IngestReport]:
    """Store those of some inputs that are small and new, by their process_ids.

    Args:
        opened: Gives the graph.
        some: The inputs.

    Raises:
        EngineError: The engine failed.
    """
    from veritrail_graph.graph import ingest as ingesting

    surveys = [one.survey for _, one in some if isinstance(one, CheckedInput) and one.survey]
    if len(surveys) < 2:  # it is stored like any other
        return {}
    return await ingesting.store_new(await opened(), surveys)

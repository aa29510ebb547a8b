"""The inputs and options of a check, what is called on its way, and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.api.advice import PYTHON
from veritrail_graph.api.app.answers import Ingested
from veritrail_graph.api.app.ingesting import IngestOptions, no_progress
from veritrail_graph.api.app.part import Progress
from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.importers.addresses.fetching import ToolTraces
from veritrail_graph.graph.model import Usage
from veritrail_graph.graph.model.finding import Checked, CheckedProcess, CheckFailure

if TYPE_CHECKING:
    from veritrail_graph.api.requests.verify import VerifyRequest
    from veritrail_graph.graph.importers.records import ProcessInput


@dataclass(frozen=True, slots=True)
class StoredProcess:
    """A process that is stored already, by its process_id."""

    process_id: str


@dataclass(frozen=True, slots=True)
class OpenedProcess:
    """A process that was opened, such as an answer over its sources.

    Attributes:
        where: What people call it.
        source: Its records.
    """

    where: str
    source: ProcessInput


@dataclass(frozen=True, slots=True)
class HeldInput:
    """An input that was no file, and was put into one.

    Attributes:
        path: The file.
        where: What people call the input, such as `standard input`.
    """

    path: Path
    where: str


@dataclass(frozen=True, slots=True)
class UnreadInput:
    """An input that names nothing, beside others that do.

    Attributes:
        where: What was typed.
        error: Why it cannot be checked.
    """

    where: str
    error: VeriTrailError


What = Path | HeldInput | StoredProcess | OpenedProcess | ToolTraces | UnreadInput
"""What is checked: a path that is read, an input that was put into a file, a stored process, one
that was opened, the traces of an address, or nothing."""


@dataclass(frozen=True, slots=True)
class CheckWatch:
    """The progress hooks of a check; every hook is optional.

    Attributes:
        opens: Called with each input before it is read.
        reading: Called with what is read, how much of it, and how much there is.
        stored: Called with where a process was read, and what was stored.
        begins: Called with what stops the check, once it can be stopped.
        claims: Called with the claims that have ended, and how many there are so far.
        spent: Called with the usage of each call of a model.
        ended: Called with each process that was checked, or could not be.
    """

    opens: Callable[[str], None] = lambda _where: None
    reading: Progress = no_progress
    stored: Callable[[str, Ingested], None] = lambda _where, _stored: None
    begins: Callable[[Callable[[], None]], None] = lambda _stop: None
    claims: Callable[[int, int], None] = lambda _done, _total: None
    spent: Callable[[Usage], None] = lambda _usage: None
    ended: Callable[[CheckedProcess | CheckFailure], None] = lambda _ended: None


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of a check.

    Attributes:
        request: How claims are verified; its process_id is not looked at.
        storing: How what is new is stored.
        most: Processes that are checked at most; None: all.
        prompts: A folder of the user's own prompts.
        concurrency: Concurrent calls, or claims at a time of an engine without models.
        advice: What errors advise, by code.
        writes_back: Whether verdicts on traces of a tool are written to it.
    """

    request: VerifyRequest
    storing: IngestOptions = field(default_factory=IngestOptions)
    most: int | None = None
    prompts: Path | str | None = None
    concurrency: int | None = None
    advice: Mapping[str, str] = field(default_factory=lambda: PYTHON)
    writes_back: bool = False


@dataclass(frozen=True, slots=True)
class CheckDone:
    """The result of a check.

    Attributes:
        checked: What it found.
        fault: What ended it before its end, if anything did.
        faults: Why something could not be checked, in the order of `checked.failed`.
        is_stopped: Whether a person stopped it.
    """

    checked: Checked
    fault: VeriTrailError | None = None
    faults: tuple[VeriTrailError, ...] = ()
    is_stopped: bool = False

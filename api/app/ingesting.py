"""Store processes: the place that each takes, the reasons to refuse it, the time it may wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.registry import ImportOptions

WRITER_SECONDS = 60.0
"""How long whoever stores a process waits for another who stores the same."""


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """Options of an ingest.

    Attributes:
        process_id: Takes the place of the source's own id.
        replace: Whether another content under the id is replaced, with its verifications.
        append: Whether what is new is added to what is stored.
        strict: Whether generated text without recorded inputs is refused.
        force: Whether it is replaced also while jobs verify its claims.
        format: Name of the source's format; None: it is detected.
        importing: Options of the importer; None: the defaults.
        stated: Whether what the final outputs state becomes claims where there are none.
        patience: Seconds to wait while another process writes the same.
        keep: Whether what is replaced is kept under an id of its own, with its verifications.
    """

    process_id: str | None = None
    replace: bool = False
    append: bool = False
    force: bool = False
    strict: bool = False
    format: str | None = None
    importing: ImportOptions | None = None
    stated: bool = False
    patience: float = 0.0
    keep: bool = False

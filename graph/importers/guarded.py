"""An importer of another package: what it gives is checked like a file that somebody sent.

What it raises, or prints, or gives in another form than it should, becomes an error that names it,
before anything is stored. Its records keep the rules of single records that process files keep.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from veritrail_graph.graph.errors import InputError, InvalidProcess, Violation
from veritrail_graph.graph.importers.process_file.schema import (
    FORMAT,
    read_claim,
    read_edge,
    read_header,
    read_node,
)
from veritrail_graph.graph.importers.records import (
    ClaimRecord,
    EdgeRecord,
    ExtractionRecord,
    Header,
    NodeRecord,
    PlainEdges,
    ProcessInput,
    Record,
    Remark,
    ReviewRecord,
    TrailInput,
    TrailRecord,
    VerificationRecord,
)
from veritrail_graph.graph.importers.registry import Found, Importer, ImportOptions
from veritrail_graph.graph.plugins import (
    PLUGIN_FAILED,
    called,
    each,
    needs,
    package_of,
    reason_given,
)

_log = logging.getLogger(__name__)

_OURS = "veritrail_graph.graph.importers."
_TRAILS = (VerificationRecord, ExtractionRecord, ReviewRecord, Violation)


class GuardedImporter:
    """An importer of another package."""

    def __init__(self, importer: Importer, point: EntryPoint) -> None:
        self._importer = importer
        self._who = f"the importer {point.name!r} of the package {package_of(point)}"
        self._has_failed = False
        self.name = importer.name
        self.description = importer.description
        self.extra = importer.extra
        taken = getattr(importer, "options", None)
        self.options = None if taken is None else frozenset(taken)
        self.suffixes = tuple(getattr(importer, "suffixes", ()))
        self.reads_addresses = bool(getattr(importer, "reads_addresses", False))

    def detect(self, path: Path) -> str | None:
        """As the importer says; after a first fault it is left out."""
        if self._has_failed:
            return "it is left out, because it failed before"
        try:
            return called(self._who, lambda: reason_given(self._importer.detect(path)))
        except InputError as error:
            if error.code != PLUGIN_FAILED:
                return str(error)
            self._has_failed = True
            reason = str(error).replace(" failed: ", " failed and is left out: ", 1)
            _log.warning("%s", reason)
            return reason

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """As the importer finds them.

        Raises:
            InputError: It says so, or it failed.
        """
        who = f"{path}: {self._who}"
        for found in each(who, lambda: self._importer.processes(path, options)):
            called(who, partial(_see_found, found))
            yield Found(found.where, partial(self._open, found))

    def _open(self, found: Found) -> ProcessInput:
        who = f"{found.where}: {self._who}"
        return called(who, lambda: _guarded(who, found.open()))


def _see_found(given: object) -> None:
    if not isinstance(given, Found) or not isinstance(given.where, str):
        raise TypeError(f"`processes` gave a {type(given).__name__} and no Found")


def _guarded(who: str, given: Any) -> ProcessInput:
    is_ours = type(given).__module__.startswith(_OURS) and not isinstance(given, _drafts())
    if is_ours:  # it was read by our own reader
        ours: ProcessInput = given
        return ours
    needs(given, ("header", "records"))
    header = _checked_header(who, given.header)
    return (_GuardedTrails if isinstance(given, TrailInput) else _GuardedInput)(who, given, header)


def _drafts() -> type:
    from veritrail_graph.graph.importers.draft import Draft

    return Draft


def _checked_header(who: str, given: object) -> Header:
    """A header whose values may be stored.

    Raises:
        InvalidProcess: They may not.
    """
    if not isinstance(given, Header):
        raise TypeError(f"its header is a {type(given).__name__}")
    values = {
        "format": FORMAT,
        "process_id": given.process_id,
        "name": given.name,
        "question": given.question,
        "stages": {str(stage): name for stage, name in given.stage_names.items()},
        "terminals": None if given.terminals is None else list(given.terminals),
        "source_format": given.source_format,
        "warnings": list(given.warnings),
        "run_of_record": given.run_of_record,
        "project": given.project,
        "tags": list(given.tags),
    }
    faults = read_header(values, "header")[1]
    for name in ("name_of_many", "empty_because"):
        if not isinstance(getattr(given, name), str | None):
            faults.append(Violation("wrong_type", "header", f"{name} must be a string"))
    explained: object = given.explained
    if explained is not None and not (isinstance(explained, float | int) and 0 <= explained <= 1):
        faults.append(Violation("out_of_range", "header", "explained must be between 0 and 1"))
    if faults:
        raise InvalidProcess(f"{who} gave a header that breaks rules", faults)
    return given


class _GuardedInput:
    """A process of an importer of another package."""

    def __init__(self, who: str, source: ProcessInput, header: Header) -> None:
        self.header = header
        self._who = who
        self._source = source

    def records(self) -> Iterator[Record]:
        """Read the input once from its beginning."""
        for record in each(self._who, self._source.records):
            if isinstance(record, Violation | Remark):
                if not all(isinstance(one, str) for one in _words(record)):
                    raise _unknown(self._who, record)
                yield record
            elif isinstance(record, PlainEdges):
                for edge in record.edges():
                    yield from _checked(self._who, edge)
            else:
                yield from _checked(self._who, record)


class _GuardedTrails(_GuardedInput):
    """One that may carry verifications and reviews, too."""

    def trails(self) -> Iterator[TrailRecord]:
        """Read them once from the beginning."""
        source = self._source
        if not isinstance(source, TrailInput):
            return
        for record in each(self._who, source.trails):
            if not isinstance(record, _TRAILS):
                raise _unknown(self._who, record)
            yield record


_READERS: Mapping[type, Callable[[object, str], Any]] = {
    NodeRecord: read_node,
    EdgeRecord: read_edge,
    ClaimRecord: read_claim,
}
_DERIVED = frozenset({"claim_id", "node_id"})


def _checked(who: str, record: object) -> Iterator[Record]:
    """A record, or everything that is wrong with it."""
    read = _READERS.get(type(record))
    if read is None:
        raise _unknown(who, record)
    where: object = record.where  # type: ignore[attr-defined]
    if not isinstance(where, str):
        raise InputError(f"{who} failed: a record does not say where it stands")
    values = {one.name: getattr(record, one.name) for one in fields(record)}  # type: ignore[arg-type]
    del values["where"]
    if isinstance(values.get("metadata"), Mapping):
        values["metadata"] = dict(values["metadata"])
    given = {key: value for key, value in values.items() if value is not None}
    made = read(given, where)
    if isinstance(made, list):
        yield from made
    else:
        yield replace(made, where=where)


def _words(record: Violation | Remark) -> tuple[object, ...]:
    """Return what a person is shown of it."""
    if isinstance(record, Remark):
        return (record.message,)
    return record.kind, record.where, record.message


def _unknown(who: str, record: object) -> InputError:
    return InputError(f"{who} failed: it gave a wrong {type(record).__name__} as a record")

"""The formats that can be read, the format that a path is in, and the processes that it holds.

An importer is one module with one class on the Protocol below. It is found by the name of its
format, or by looking at the path, in the order of this list. Packages of third parties add
theirs to the entry points of the group `veritrail_graph.importers`.
"""

from __future__ import annotations

import logging
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.answer_file import split_option
from veritrail_graph.graph.importers.column_map import COLUMNS_UNKNOWN, ColumnMap, KnownTables
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.plugins import Plugin, Unusable, needs
from veritrail_graph.graph.plugins import load as load_plugins

if TYPE_CHECKING:
    from veritrail_graph.graph.store.database import DatabaseAddress

_log = logging.getLogger(__name__)

GROUP = "veritrail_graph.importers"
_HERE = "veritrail_graph.graph.importers"
_OURS = (
    EntryPoint("graphrag", f"{_HERE}.graphrag:GraphRagImporter", GROUP),
    EntryPoint("lightrag", f"{_HERE}.lightrag:LightRagImporter", GROUP),
    EntryPoint("langfuse", f"{_HERE}.traces.langfuse:LangfuseImporter", GROUP),
    EntryPoint("otlp", f"{_HERE}.traces.otlp:OtlpImporter", GROUP),
    EntryPoint("mlflow", f"{_HERE}.traces.mlflow:MlflowImporter", GROUP),
    EntryPoint("langchain", f"{_HERE}.traces.langchain:LangChainImporter", GROUP),
    EntryPoint("haystack", f"{_HERE}.traces.haystack:HaystackImporter", GROUP),
    EntryPoint("llamaindex", f"{_HERE}.llamaindex:LlamaIndexImporter", GROUP),
    EntryPoint("rag", f"{_HERE}.rag:RagImporter", GROUP),
    EntryPoint("summaries", f"{_HERE}.summaries:SummariesImporter", GROUP),
    EntryPoint("dataset", f"{_HERE}.dataset:DatasetImporter", GROUP),
    EntryPoint("dialogue", f"{_HERE}.dialogue:DialogueImporter", GROUP),
    EntryPoint("agents", f"{_HERE}.agents:AgentsImporter", GROUP),
    EntryPoint("neo4j", f"{_HERE}.neo4j_graph:Neo4jImporter", GROUP),
    EntryPoint("prov", f"{_HERE}.prov:ProvImporter", GROUP),
    EntryPoint("process", f"{_HERE}.process_file:ProcessFileImporter", GROUP),
)
DATA_SUFFIXES = (
    ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".pb", ".binpb", ".gz",
)  # fmt: skip
"""Files of a folder that are looked at."""
_TABLES = "rag"
"""The format of tables whose columns can be mapped."""
EMBEDDED = "embedded"
"""The address of the embedded engine."""
_OF_ALL = ("max_node_text", "named", "only_explicit", "graph", "known_tables")
"""Options that are not for certain formats."""
_SHOWN = {"infer_overlap": "infer"}
"""Options by the name that people know them by, where it is another one."""
_LOGIN = re.compile(r"://.*@", re.DOTALL)
_ADDRESS = re.compile(r"((?:neo4j|bolt)(?:\+ssc|\+s)?):/+([^/].*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import; those that are not for the format of a path are refused.

    Attributes:
        answer: File that holds the final output, `FILE` or `FILE#N` for entry N of a JSON list.
        question: The question that it answers.
        community_level: Reports up to this level were given to the answering step.
        sources: `given` (all reports that were given) or `cited` (only the cited ones).
        max_node_text: The longest text of a node, in bytes of UTF-8.
        answer_id: What tells the answer from others of the same index; None: made from its text.
        only_explicit: Whether edges that the input does not name are left out.
        infer_overlap: Whether edges are also inferred from words in common.
        grouping: How many nodes of a level one node of the next level summarises, where the
            input does not say so; None: as evenly as possible.
        named: Fields that the caller set, perhaps to their default.
        graph: The graph that an address names in the place of a path, or beside the folder that
            it belongs to, with its login; None: the address alone, or none.
        columns: The columns of a table, as the caller maps them; None: by their names.
        known_tables: The columns of earlier tables, as they were mapped.
    """

    answer: str | None = None
    question: str | None = None
    community_level: int = 2
    sources: str = "given"
    max_node_text: int = 10_000_000
    answer_id: str | None = None
    only_explicit: bool = False
    infer_overlap: bool = False
    grouping: int | None = None
    named: frozenset[str] = frozenset()
    graph: DatabaseAddress | None = None
    columns: ColumnMap | None = None
    known_tables: KnownTables = field(default_factory=KnownTables)

    @property
    def of_formats(self) -> list[str]:
        """Fields for certain formats that are set, in their order."""
        return [
            one.name
            for one in fields(self)
            if one.name not in _OF_ALL
            and (one.name in self.named or getattr(self, one.name) != one.default)
        ]


@dataclass(frozen=True, slots=True)
class Found:
    """A process that a path holds.

    Attributes:
        where: Where it is, such as `log.jsonl#17` for the seventeenth of a file.
        open: Reads what comes before its records; raises InputError where that cannot be read.
    """

    where: str
    open: Callable[[], ProcessInput]

    @classmethod
    def failing(cls, where: str, error: InputError) -> Found:
        """In the place of a process that cannot be read: opening it raises the error."""

        def fail() -> ProcessInput:
            raise error

        return cls(where, fail)


class Importer(Protocol):
    """A reader of one format.

    It may have an attribute `options`: the fields of `ImportOptions` that it takes. Others are
    refused then; without the attribute none is. One with a true attribute `reads_addresses` reads
    addresses (`address_of`), and no files. With an attribute `suffixes`, such as `(".toy",)`, it
    names the files of a folder that are looked at besides those of `DATA_SUFFIXES`. One with a true
    attribute `takes_graph` reads folders whose graph may be in a database (`ImportOptions.graph`).

    Attributes:
        name: Name of the format.
        description: What it reads, in a line.
        extra: The extra of this package that has to be installed for it; None: none.
    """

    name: str
    description: str
    extra: str | None

    def detect(self, path: Path) -> str | None:
        """Return why `path` is not in this format; None when it is."""
        ...

    def processes(self, path: Path, options: ImportOptions) -> Iterator[Found]:
        """The processes that the path holds, one after the other.

        Raises:
            InputError: The path cannot be read at all.
        """
        ...


@runtime_checkable
class JoiningImporter(Importer, Protocol):
    """A reader of a format in which several files may hold parts of one process."""

    def together(self, paths: Sequence[Path], options: ImportOptions) -> Iterator[Found]:
        """The processes that files hold together.

        Raises:
            InputError: They cannot be read at all.
        """
        ...


@cache
def of_others() -> tuple[tuple[Plugin, ...], tuple[Unusable, ...]]:
    """Importers of other packages, and those of them that cannot be used, with the reason."""
    names = {entry.name for entry in _OURS}
    make = partial(_importer, set(names))  # the name of an entry point may be that of its format
    return load_plugins(entry_points(group=GROUP), names, make)


def _importer(taken: set[str], made: Callable[[], Importer]) -> Importer:
    importer = made()
    needs(importer, ("name", "description", "extra", "detect", "processes"))
    for name in ("name", "description"):
        if not isinstance(getattr(importer, name), str):
            raise TypeError(f"its {name} is no text")
    for name in ("options", "suffixes"):
        values = getattr(importer, name, None) or ()
        if isinstance(values, str) or not all(isinstance(one, str) for one in values):
            raise TypeError(f"its {name} are no names")
    if importer.name in taken:
        raise ValueError(f"its format has the name of one of ours or another's, {importer.name!r}")
    taken.add(importer.name)
    return importer


@cache
def importers() -> tuple[Importer, ...]:
    """Every importer, in the order of detection: those of other packages come first."""
    # Modules of single formats import this one.
    from veritrail_graph.graph.importers.guarded import GuardedImporter

    others = [GuardedImporter(one.value, one.point) for one in of_others()[0]]
    return (*others, *(entry.load()() for entry in _OURS))


def find_processes(
    path: Path,
    *,
    format_name: str | None = None,
    options: ImportOptions | None = None,
    known: Iterable[Importer] | None = None,
) -> Iterator[Found]:
    """The processes of a path, in the format named, or in the first one that it is in.

    A folder that is in no format itself is looked through: folders in it that are in a format,
    and files.

    Args:
        path: A file or folder.
        format_name: Name of an importer.
        options: Options of the import.
        known: The importers, in the order of detection.

    Raises:
        InputError: No such path or format, or the path is in no known format; the message
            says which formats were tried and why each does not fit.
    """
    options = options or ImportOptions()
    by_name = {importer.name: importer for importer in known or importers()}
    address = address_of(path)
    if format_name is not None and format_name not in by_name:
        names = ", ".join(by_name)
        raise InputError(f"Unknown format {format_name!r}. Known formats: {names}.")
    if format_name is not None and _reads_addresses(by_name[format_name]) != bool(address):
        what = "files and folders" if address else "addresses such as neo4j://host:7687"
        named = without_login(address) if address else path
        raise InputError(f"{named}: the format {format_name} is read from {what}.")
    if address is None and not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if address is None and not path.is_file() and not path.is_dir():
        # A pipe is read once, and what is read here is read several times; a device never ends.
        raise InputError(f"{path} is neither a file nor a folder; write what it gives to a file")
    if address is None and _is_locked(path):
        raise InputError(f"{path} cannot be read: you may not look into this folder")
    if format_name is None and address is None and path.is_file():
        format_name, options = _as_mapped(path, options)
    every = by_name.values()
    by_name = {name: one for name, one in by_name.items() if _reads_addresses(one) == bool(address)}
    if format_name is not None:
        chosen = by_name[format_name]
        _refuse_others(path, chosen, options, every)
        fits = not path.is_dir() or chosen.detect(path) is None
        inside = [] if fits else _inside(path, [chosen], options)
        if not inside:
            return chosen.processes(path, options)
        return _each(_with_columns(path, inside, options), [chosen], format_name)
    reasons = {}
    for importer in by_name.values():
        reason = importer.detect(path)
        if reason is None:
            _refuse_others(path, importer, options, every)
            return importer.processes(path, options)
        reasons[importer.name] = (importer.description, reason)
    inside = _inside(path, list(by_name.values()), options) if path.is_dir() else []
    if inside:
        return _each(_with_columns(path, inside, options), list(by_name.values()))
    # Modules of single formats import this one.
    from veritrail_graph.graph.importers.misfit import explain, is_likely, is_plain

    if is_plain(path):
        what = "holds plain texts" if path.is_dir() else "is a plain text"
        raise InputError(
            f"{path} {what}, in no format that says what was made from what.", code="plain_text"
        )
    code = COLUMNS_UNKNOWN if is_likely(_TABLES, path, reasons) else "no_known_format"
    raise InputError(explain(path, reasons), code=code)


def _as_mapped(path: Path, options: ImportOptions) -> tuple[str | None, ImportOptions]:
    """Return the format of a table whose columns are mapped, now or before, and its options."""
    if options.columns is not None:
        return _TABLES, options
    if not options.known_tables.maps:
        return None, options
    from veritrail_graph.graph.importers.rag import column_names  # it imports this module

    try:
        columns = options.known_tables.map_of(column_names(path))
    except InputError:  # who reads it says so
        columns = None
    return (None, options) if columns is None else (_TABLES, replace(options, columns=columns))


def _with_columns(
    folder: Path, inside: Sequence[Path], options: ImportOptions
) -> list[tuple[Path, ImportOptions]]:
    """Return what a folder holds with its options: columns are for the files that have them.

    Raises:
        InputError: None has them.
    """
    mapped = options.columns
    if mapped is None:
        return [(path, options) for path in inside]
    from veritrail_graph.graph.importers.rag import column_names  # it imports this module

    def fault(path: Path) -> str | None:
        try:
            return mapped.fault(column_names(path)) if path.is_file() else "a folder"
        except InputError as error:
            return str(error)

    faults = [fault(path) for path in inside]
    if None not in faults:
        one = f"; {inside[0].name}: {faults[0]}" if len(inside) == 1 else ""
        raise InputError(
            f"{folder}: no file in it has the columns {mapped}{one}", code=COLUMNS_UNKNOWN
        )
    plain = replace(options, columns=None)
    return [(path, plain if why else options) for path, why in zip(inside, faults, strict=True)]


def takes_an_answer(folder: Path) -> bool:
    """Return whether a folder is an index, over which an answer was given."""
    return any(
        importer.detect(folder) is None
        for importer in importers()
        if "answer" in (_options_of(importer) or ()) and not _reads_addresses(importer)
    )


def folder_and_graph(paths: Sequence[Path]) -> tuple[Path, Path] | None:
    """Return a folder, and the address of the graph that is a part of it, where paths are these."""
    if len(paths) != 2:
        return None
    folder, address = sorted(paths, key=lambda path: address_of(path) is not None)
    if address_of(folder) is not None or address_of(address) is None or not folder.is_dir():
        return None
    takes = (one for one in importers() if getattr(one, "takes_graph", False))
    return (folder, address) if any(one.detect(folder) is None for one in takes) else None


def address_of(path: Path) -> str | None:
    """The address that stands in the place of a path; None: it is a path.

    `neo4j://host:7687` and `bolt://…`, with `+s` or `+ssc`, lose a slash as paths and get it back.
    `embedded` is the embedded engine, where no file is called so.
    """
    text = path.as_posix()
    if text == EMBEDDED:
        return None if path.exists() else text
    found = _ADDRESS.fullmatch(text)
    return f"{found[1]}://{found[2]}" if found else None


def without_login(address: str) -> str:
    """Return an address as messages show it: a password that stands in it is not repeated."""
    return _LOGIN.sub("://…@", address)


def _reads_addresses(importer: Importer) -> bool:
    return bool(getattr(importer, "reads_addresses", False))


def _refuse_others(
    path: Path, importer: Importer, options: ImportOptions, known: Iterable[Importer]
) -> None:
    """Refuse options that are for other formats.

    Raises:
        InputError: Some are set, and the importer names those that it takes.
    """
    taken = _options_of(importer)
    others = [] if taken is None else [name for name in options.of_formats if name not in taken]
    if not others:
        return
    told = []
    for name in others:
        formats = [one.name for one in known if name in (_options_of(one) or ())]
        known_as = _SHOWN.get(name, name)
        told.append(f"{known_as} (it is for {' and '.join(formats)})" if formats else known_as)
    shown = address_of(path) or path
    message = f"{shown} is in the format {importer.name}, which does not take {', '.join(told)}."
    raise InputError(message, code="option_not_taken")


def _options_of(importer: Importer) -> frozenset[str] | None:
    """The options that an importer says it takes; None: it does not say."""
    taken = getattr(importer, "options", None)
    return None if taken is None else frozenset(taken)


def _inside(folder: Path, known: Sequence[Importer], options: ImportOptions) -> list[Path]:
    """Return what a folder holds that may be read, in the order of the names, but hidden ones.

    Folders that are in a format themselves, whose files are not looked at, and files; the file of
    the answer is none of them.
    """
    answer = None if options.answer is None else split_option(options.answer)[0].absolute()
    suffixes = {*DATA_SUFFIXES}
    for one in known:
        suffixes.update(getattr(one, "suffixes", ()))
    found = []
    waiting = [folder]
    while waiting:
        for path in waiting.pop().iterdir():
            if path.name.startswith("."):
                continue
            if path.is_dir():
                # One that may not be looked into is named where it is read.
                if _is_locked(path) or any(one.detect(path) is None for one in known):
                    found.append(path)
                elif not path.is_symlink():
                    waiting.append(path)
            elif path.suffix.lower() not in suffixes or path.absolute() == answer:
                continue
            elif path.is_file():
                found.append(path)
    return sorted(found, key=_in_order)


def _is_locked(path: Path) -> bool:
    return path.is_dir() and not os.access(path, os.R_OK | os.X_OK)


def _in_order(path: Path) -> list[tuple[bool, int, str]]:
    """By the names, with numbers in them as numbers."""
    name = path.as_posix()
    parts, digits = [], ""
    for sign in [*name, ""]:
        if sign.isdigit() and sign.isascii():
            digits += sign
            continue
        if digits:
            parts.append((False, int(digits), ""))
            digits = ""
        parts.append((True, 0, sign))
    return parts


def find_together(
    paths: Sequence[tuple[Path, ImportOptions]], *, format_name: str | None = None, alone: bool
) -> Iterator[Found]:
    """The processes of paths; files that belong together are read as those of a folder are.

    Args:
        paths: Files and folders, each with the options of the import.
        format_name: Name of an importer.
        alone: Whether nothing else is read.

    Raises:
        InputError: As `find_processes` says, where one path is alone. Of several it is a process
            that fails.
    """
    if alone and len(paths) == 1:
        path, options = paths[0]
        return find_processes(path, format_name=format_name, options=options)
    return _each(paths, importers(), format_name)


def _each(
    inside: Sequence[tuple[Path, ImportOptions]],
    known: Sequence[Importer],
    format_name: str | None = None,
) -> Iterator[Found]:
    """Yield the processes of files; those that belong together are read at once."""
    joining = [one for one in known if format_name in (None, one.name)]
    waiting = deque(inside)
    while waiting:
        path, options = waiting.popleft()
        joins = _joining(path, joining)
        if joins is None:
            yield from _safely(path, format_name, options, known)
            continue
        others = [one for one, _ in waiting if _joining(one, joining) is joins]
        waiting = deque(one for one in waiting if one[0] not in others)
        try:
            _refuse_others(path, joins, options, known)
            yield from joins.together([path, *others], options)
        except InputError as error:
            yield Found.failing(str(path), error)


def _joining(path: Path, known: Sequence[Importer]) -> JoiningImporter | None:
    """Return the importer that joins what files hold, where a file is in its format."""
    for one in known:
        if isinstance(one, JoiningImporter) and path.is_file() and one.detect(path) is None:
            first = next(each for each in known if each is one or each.detect(path) is None)
            return one if first is one else None
    return None


def _safely(
    path: Path, format_name: str | None, options: ImportOptions, known: Iterable[Importer]
) -> Iterator[Found]:
    """The processes of one file or folder of many: one that cannot be read is one that fails."""
    try:
        yield from find_processes(path, format_name=format_name, options=options, known=known)
    except InputError as error:
        yield Found.failing(str(path), error)


def open_input(
    path: Path, *, format_name: str | None = None, options: ImportOptions | None = None
) -> ProcessInput:
    """The one process of a path.

    Raises:
        InputError: As `find_processes` says, or the path holds several processes.
    """
    return only_process(path, find_processes(path, format_name=format_name, options=options))


def only_process(path: Path, found: Iterator[Found]) -> ProcessInput:
    """Open the one process that was found.

    Args:
        path: Where it was looked for.
        found: What was found there.

    Raises:
        InputError: There is none, or there are several, or it cannot be read.
    """
    one, more = next(found, None), next(found, None)
    if one is None or more is not None:
        many = "no process" if one is None else "several processes"
        raise InputError(f"{path} holds {many}, and one is needed here")
    return one.open()

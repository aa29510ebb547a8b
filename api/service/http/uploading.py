"""Processes in the body of a request, on its way into the graph; for REST and the page."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import Query, Request

from veritrail_graph.api.app.ingesting import WRITER_SECONDS, IngestOptions
from veritrail_graph.api.auth.access import Caller, Scope
from veritrail_graph.api.requests.importing import COLUMNS_WORDS
from veritrail_graph.api.service.http.receiving import (
    Body,
    UploadRefused,
    check_encoding,
    parse_name,
)
from veritrail_graph.graph.errors import InputError, VeriTrailError, Violation

if TYPE_CHECKING:
    from veritrail_graph.api.app.answers import Ingested
    from veritrail_graph.graph.importers.registry import ImportOptions

_HEAD = 1 << 20
"""Bytes at the beginning of a file that are looked at."""

_UNPRINTABLE = re.compile(rb"[\x00-\x08\x0e-\x1f]")
"""Bytes that no text has."""

_CELLS = {b"\t": ".tsv", b",": ".csv", b";": ".csv"}
"""What separates the names of columns, and the ending of such tables."""

Replace = Annotated[
    bool, Query(description="Replace another content under the id, and remove its verifications.")
]
Keep = Annotated[
    bool,
    Query(
        description="With replace: keep the earlier content, with its verifications, as "
        "process PROCESS.HASH."
    ),
]
Force = Annotated[
    bool, Query(description="With replace: also while jobs verify claims of the process.")
]

TableColumns = Annotated[
    str | None,
    Query(
        max_length=10_000,
        description=f"With format: {COLUMNS_WORDS} Or a JSON object of names by their meaning.",
        examples=["contexts=knowledge,answer=right_answer"],
    ),
]

DETECT = "detect"
"""In place of a format's name: it is found by the content."""


def upload_options(
    caller: Caller,
    process_id: str | None,
    *,
    replace: bool,
    keep: bool = False,
    append: bool = False,
    force: bool = False,
    strict: bool = False,
    format_name: str | None = None,
    importing: ImportOptions | None = None,
) -> IngestOptions:
    """Return how a body is stored, waiting for others that write the same.

    Args:
        caller: Who sends it.
        process_id: Takes the place of the body's own.
        replace: Whether another content under the id is replaced.
        keep: Whether what is replaced is kept under an id of its own.
        append: Whether what is new is added to what is stored.
        force: Whether it is replaced also while jobs verify its claims.
        strict: Whether generated text without recorded inputs is refused.
        format_name: The format of the body, or `DETECT`; None: a process file.
        importing: Options of the importer.

    Raises:
        InputError: Both append and replace are wanted, or keep without replace.
        NotAllowed: It would change what is stored, and the caller may only add processes.
    """
    if replace or append or keep or force:
        caller.expect(Scope.WRITE)
    if append and replace:
        raise InputError("append and replace exclude each other: name one of them")
    if keep and not replace:
        raise InputError("keep keeps what is replaced: name replace, too")
    name = "process" if format_name is None else format_name
    return IngestOptions(
        process_id,
        replace,
        append,
        force,
        strict,
        format=None if name == DETECT else name,
        importing=importing,
        patience=WRITER_SECONDS,
        keep=keep,
    )


async def store_body(
    request: Request,
    caller: Caller,
    body: Body,
    options: IngestOptions,
    kind: str,
    encoding: str = "",
) -> Ingested:
    """Receive a process file and store it.

    Args:
        request: The request.
        caller: Who sends it.
        body: The file.
        options: How it is stored.
        kind: Its media type, as the sender names it.
        encoding: Its Content-Encoding.

    Raises:
        UploadRefused: It is not taken.
        VeriTrailError: It breaks rules, or could not be stored; no message names our folders.
    """
    state = request.app.state
    async with state.uploads.received(body, parse_name(kind), caller) as file:
        await asyncio.to_thread(_check_start, file, kind, encoding)
        try:
            found: Ingested = await state.app.processes.ingest(file, options, by=caller)
        except InputError as error:
            if str(file) not in str(error):
                raise
            # The sender knows nothing of the file that the body was kept in.
            words = str(error).replace(str(file), "The body").replace(file.name, "body")
            raise _worded(error, words, _in_body(error, file.name)) from None
    state.app.summaries.forget()
    return found


Stored = tuple[str, "Ingested | VeriTrailError"]
"""Where a process stood in a body, and what became of it."""


async def store_any(
    request: Request,
    caller: Caller,
    body: Body,
    options: IngestOptions,
    name: str,
    *,
    encoding: str = "",
    only_one: bool = False,
) -> list[Stored]:
    """Receive a file in any format and store the processes that it holds.

    Args:
        request: The request.
        caller: Who sends it.
        body: The file.
        options: How they are stored.
        name: What the sender calls the file; of it only the ending is used.
        encoding: Its Content-Encoding.
        only_one: Whether a file with several processes is refused, and none of them stored.

    Raises:
        UploadRefused: The file is not taken.
        VeriTrailError: It is in no known format, or the engine failed; with `only_one` also what
            is wrong with the process.
    """
    _refuse_address(options.format)
    state = request.app.state
    shown = Path(name).name or "file"

    def about(error: VeriTrailError, file: Path) -> VeriTrailError:
        """The error with the sender's name of the file, who knows nothing of ours."""
        if not isinstance(error, InputError) or str(file) not in str(error):
            return error
        words = str(error).replace(str(file), shown)
        faults = [
            Violation(one.kind, one.where.replace(file.name, shown), one.message, one.facts)
            for one in error.violations
        ]
        return _worded(error, words, faults)

    async with state.uploads.received(body, f"body{_ending(shown)}", caller) as file:
        found: list[Stored] = []
        try:
            start = await asyncio.to_thread(_start, file)
            if not start:
                raise InputError("The file is empty.")
            check_encoding(encoding, start)
            file = await asyncio.to_thread(named_by_content, file)
            if only_one:
                one_found = await state.app.processes.ingest(file, options, by=caller)
                found.append((shown, one_found))
                return found
            async for where, one in state.app.processes.ingest_each([file], options, by=caller):
                became = about(one, file) if isinstance(one, VeriTrailError) else one
                found.append((where.replace(str(file), shown), became))
        except InputError as error:
            raise about(error, file) from None
        finally:
            state.app.summaries.forget()
    return found


def _ending(name: str) -> str:
    """The ending of a file's name by which importers go; empty where they know none such."""
    from veritrail_graph.graph.importers.registry import DATA_SUFFIXES

    endings = [one.lower() for one in Path(name).suffixes[-2:]]
    return "".join(one for one in endings if one in DATA_SUFFIXES)


def _refuse_address(format_name: str | None) -> None:
    """Refuse a format that is read from a database.

    Raises:
        InputError: It is one.
    """
    from veritrail_graph.graph.importers.registry import importers

    reads = {one.name for one in importers() if getattr(one, "reads_addresses", False)}
    if format_name in reads:
        raise InputError(
            f"The format {format_name} is read from a database and not from a file: "
            "`veritrail ingest ADDRESS` on the command line does that."
        )


def named_by_content(file: Path) -> Path:
    """A file whose name does not say what is in it, under a name that does.

    Args:
        file: The file; it is renamed where its content shows what it is.

    Returns:
        Where it is now.
    """
    if file.name.lower().removesuffix(".gz") != "body":
        return file
    ending = _ending_of_content(file)
    return file.rename(file.with_name(f"body{ending}")) if ending else file


def _ending_of_content(file: Path) -> str:
    """`.parquet`, `.jsonl`, `.csv`, `.tsv` or `.pb`; empty where the content shows none."""
    from veritrail_graph.graph.importers.process_file.reading import open_bytes

    try:
        with open_bytes(file) as stream:
            head = stream.read(_HEAD)
    except (InputError, OSError, EOFError, zlib.error):
        return ""  # reading it says what is wrong
    if head.startswith(b"PAR1"):
        return ".parquet"
    if _UNPRINTABLE.search(head):
        return ".pb" if head.startswith(b"\n") else ""
    first, newline, rest = head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
    if first[:1] in (b"{", b"["):
        # More behind a whole object: a single document has none.
        whole = first.rstrip()
        return ".jsonl" if whole[:1] == b"{" and _is_json(whole) and rest.strip() else ""
    if not newline:
        return ""
    return next((end for mark, end in _CELLS.items() if mark in first), "")


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _worded(error: InputError, words: str, faults: Sequence[Violation]) -> InputError:
    """Return an error in other words, with the code and the facts that a door advises by."""
    return InputError(words, faults, code=error.code, **error.facts)


def _in_body(error: InputError, name: str) -> list[Violation]:
    return [
        Violation(
            one.kind, re.sub(rf"^{re.escape(name)}$", "body", one.where), one.message, one.facts
        )
        for one in error.violations
    ]


def _start(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(2)


def _check_start(file: Path, content_type: str, content_encoding: str) -> None:
    """Refuse what cannot be a process file.

    Raises:
        UploadRefused: It is none.
        InputError: There is no body.
    """
    from veritrail_graph.graph.importers.process_file.importer import ProcessFileImporter

    start = _start(file)
    if not start:
        raise InputError("The body is empty", [Violation("not_json", "body", "the body is empty")])
    check_encoding(content_encoding, start)
    is_json = "json" in content_type.lower()
    reason = None if is_json else ProcessFileImporter().detect(file)
    if reason is not None and reason.startswith("does not begin"):  # reading says the rest
        words = (
            f"The body is no process file: it {reason}. With ?format=detect, or the name of its "
            "format, files of other formats are taken."
        )
        raise UploadRefused(415, "unsupported-media-type", words)

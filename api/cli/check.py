"""`veritrail check`: is what was written supported by what it was made from?"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from veritrail_graph.api.cli import completion
from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.api.cli.checked import CheckEnding, CheckShown, ending_of, tell
from veritrail_graph.api.cli.checked_watch import Watched
from veritrail_graph.api.cli.columns import Columns
from veritrail_graph.api.cli.exits import (
    INTERRUPTED,
    NOT_ALL_SUCCEEDED,
    WRONG_USE,
    Exit,
    fail,
    fault_json,
    run,
    say_starting,
    status_of,
)
from veritrail_graph.api.cli.ingest import Keep, Replace, public_id, refuse_lone_keep
from veritrail_graph.api.cli.options import (
    RECORDED,
    AsJson,
    given_path,
    judging,
    recording_settings,
    verify_request,
)
from veritrail_graph.api.cli.terminal import long_work, print_json, say
from veritrail_graph.graph.errors import InputError, NotFound, VeriTrailError
from veritrail_graph.graph.importers.addresses.address import is_address
from veritrail_graph.graph.temporary import late_folder

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.app.check_terms import CheckDone, CheckOptions, What
    from veritrail_graph.api.app.ingesting import IngestOptions
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.importers.draft import Draft

STDIN = "-"
EMBEDDED = "embedded"
_SPACE = re.compile(r"\s")
_ANY_PROCESS = "-"


class FailOn(StrEnum):
    """A condition that makes the command end with 1."""

    UNSUPPORTED = "unsupported"
    UNDECIDED = "undecided"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The inputs and options of a call of the command.

    Attributes:
        what: Paths, ids and addresses as they were typed.
        answer: An answer over plain texts that was made into a process; None: none was given.
        options: How it is checked.
        since: The age of the oldest traces of addresses; None: any.
    """

    what: Sequence[str]
    answer: Draft | None
    options: CheckOptions
    since: str | None = None


@dataclass(frozen=True, slots=True)
class _Plain:
    """The way to read plain texts and tables.

    Attributes:
        question: The question that an answer over plain texts answers.
        words: Words of a chunk of a source.
        columns: What the columns of tables are.
    """

    question: str | None
    words: int
    columns: str | None = None


@judging(
    "model", "engine", "verdict_engine", "q", "no_cache", "recorded", "record",
    "concurrency", "walk", "prompts", "correct", "budget", "max_calls", "price",
)  # fmt: skip
def check(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WHAT…]",
            help="Files or folders in any format, - for standard input, stored processes (id, its "
            "first letters, @last), traces in a tool (langfuse://PROJECT?since=1d, mlflow://, "
            "phoenix://, langsmith://). With --answer: more sources.",
            show_default=False,
            autocompletion=completion.processes,
        ),
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|FILE",
            help="An answer: a text file, the text itself, or -; over a folder of GraphRAG or "
            "LightRAG what was made from it.",
        ),
    ] = None,
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            parser=given_path,
            help="What it was made from: text files, or folders.",
        ),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The question that the answer answers."),
    ] = None,
    columns: Columns = None,
    process_id: Annotated[
        str | None,
        typer.Option(
            "--process-id",
            metavar="ID",
            help="Store it under this process_id.",
        ),
    ] = None,
    replaces: Replace = False,
    keeps: Keep = False,
    chunk_words: Annotated[
        int,
        typer.Option(
            min=20,
            max=100_000,
            metavar="N",
            help="Words of a chunk of a source.",
        ),
    ] = 200,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="DURATION",
            help="Of an address: only what is newer, such as 1d or 6h.",
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            "--max",
            min=1,
            metavar="N",
            help="The most processes that are checked.",
        ),
    ] = None,
    write_back: Annotated[
        bool,
        typer.Option(
            "--write-back",
            help="Of an address: write the verdicts to the traces in the tool.",
        ),
    ] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Verify again what this judge has given a verdict on.",
        ),
    ] = False,
    *,
    fail_on: Annotated[
        list[FailOn] | None,
        typer.Option(
            metavar="STATE",
            help="End with 1 where a claim is unsupported, undecided or failed; may be repeated.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List the right claims, too.")] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Say what was read and who judged.",
        ),
    ] = False,
    as_json: AsJson = False,
    **how: Any,
) -> None:
    """Check what was written against what it was made from.

    What is new is stored, gets claims where it has none, and is verified.
    """
    how["again"] = again
    settings = recording_settings(how)
    given = [*(str(one) for one in sources or ()), *(what or ())]
    if not given and answer is None and is_a_file(sys.stdin):
        given = [STDIN]
    _refuse_incomplete(given, answer, sources, question)
    if since is not None and not any(map(is_address, given)):
        raise InputError("--since is of addresses such as langfuse://PROJECT; leave it out here.")
    if write_back and not any(map(is_address, given)):
        raise InputError("--write-back is of addresses such as langfuse://PROJECT; leave it out.")
    if answer is not None and columns is not None:
        raise InputError("--columns is of tables, and --answer of plain texts: leave one out.")
    if process_id is not None and answer is None and len(given) > 1:
        raise InputError(f"--process-id names one process, and {len(given)} inputs are given.")
    refuse_lone_keep(replaces=replaces, keeps=keeps)
    plain = _Plain(question, chunk_words, columns)
    wanted = _wanted(settings, given, answer, plain, process_id=process_id, most=most, how=how)
    storing = replace(wanted.options.storing, replace=replaces, keep=keeps)
    options = replace(wanted.options, writes_back=write_back, storing=storing)
    wanted = replace(wanted, since=since, options=options)
    shown = CheckShown(every=every, verbose=verbose, corrected=how["correct"])
    done, after = run(_checked(settings, wanted), as_json=as_json)
    fault = done.fault or _only_fault(done)
    if fault is not None and not done.checked.processes and len(done.checked.failed) < 2:
        fail(fault, as_json=as_json)
    if as_json:
        document = done.checked.model_dump(mode="json")
        if fault is not None:
            document["error"] = fault_json(fault)
        print_json(document)
    else:
        tell(done.checked, shown, after)
    if done.fault is not None:
        fail(done.fault, as_json=False)  # stdout holds its one document already
    _end(done, frozenset(fail_on or ()))


def is_a_file(stream: TextIO | None) -> bool:
    """Return whether a stream reads a file that holds something (`check < trace.json`).

    A pipe may never end, and many programs start others with a file that is empty.
    """
    try:
        found = None if stream is None else os.fstat(stream.fileno())
        return found is not None and stat.S_ISREG(found.st_mode) and found.st_size > 0
    except (OSError, ValueError):  # a test's, or one that is closed
        return False


def _refuse_incomplete(
    given: Sequence[str], answer: str | None, sources: Sequence[Path] | None, question: str | None
) -> None:
    """Refuse a command that does not say what is checked.

    Raises:
        InputError: It does not.
    """
    if answer is None and (sources or question is not None):
        raise InputError("Name the answer to check: --answer FILE (`-` reads it from stdin).")
    if answer is None and len(given) > 1 and all(map(_is_text, given)):
        first, *rest = (shlex.quote(one) for one in given)
        raise InputError(
            "These are plain texts: say which is the answer, such as "
            f"--answer {first} --sources {' '.join(rest)}"
        )
    if given:
        return
    raise InputError(
        "Name what the answer was made from: --answer a.txt --sources docs/*.md"
        if answer is not None
        else "Name what is to be checked: an answer and its sources (--answer a.txt --sources "
        "docs/*.md), a file or folder that ingest reads, or a stored process."
    )


def _is_text(given: str) -> bool:
    """Return whether a name is that of a plain text that is there."""
    from veritrail_graph.graph.importers.files import is_there
    from veritrail_graph.graph.importers.plain import TEXT_SUFFIXES

    path = Path(given)
    return path.suffix.lower() in TEXT_SUFFIXES and is_there(path)


def _wanted(
    settings: Settings,
    given: Sequence[str],
    answer: str | None,
    plain: _Plain,
    *,
    process_id: str | None,
    most: int | None,
    how: dict[str, Any],
) -> _Wanted:
    from veritrail_graph.api.app.check_terms import CheckOptions
    from veritrail_graph.api.app.engine import begin_engine
    from veritrail_graph.api.app.ingesting import WRITER_SECONDS, IngestOptions
    from veritrail_graph.api.requests.importing import import_options

    if how["engine"] is None and how["model"] is None and settings.recorded is not None:
        how["engine"] = RECORDED
    storing = IngestOptions(
        process_id=None if process_id is None else public_id(process_id, "--process-id"),
        force=True,
        patience=WRITER_SECONDS,
        importing=import_options(columns=plain.columns),
    )
    made = None
    if answer is not None:
        paths = [Path(one) for one in given]
        over_index = _over_index(paths, answer, plain.question, storing)
        if over_index is None:
            made, given = _made(settings, answer, paths, plain), ()
        else:
            storing = over_index
    request = verify_request(_ANY_PROCESS, how)
    options = CheckOptions(
        request, storing, most, how["prompts"], concurrency=how["concurrency"], advice=ADVICE
    )
    begin_engine(settings, say_starting)
    return _Wanted(given, made, options)


def _over_index(
    paths: Sequence[Path], answer: str, question: str | None, storing: IngestOptions
) -> IngestOptions | None:
    """Return how an answer over the folder of an index is stored; None: it is over plain texts."""
    from veritrail_graph.api.requests.importing import import_options
    from veritrail_graph.graph.importers.registry import folder_and_graph, takes_an_answer

    pair = folder_and_graph(paths)
    if pair is None and (address := next((one for one in paths if _is_address(one)), None)):
        raise InputError(
            f"{address} is an address, and --answer is of texts or of the folder of an index: "
            "check them apart."
        )
    (path, *more) = paths if pair is None else pair[:1]
    if more or not path.is_dir() or not takes_an_answer(path):
        return None
    return replace(storing, importing=import_options(answer=answer, question=question))


def _is_address(path: Path) -> bool:
    from veritrail_graph.graph.importers.registry import address_of

    return is_address(str(path)) or (address_of(path) or EMBEDDED) != EMBEDDED


def _made(settings: Settings, answer: str, sources: list[Path], plain: _Plain) -> Draft:
    """The process of an answer and its sources.

    Raises:
        InputError: A text cannot be read, or is none.
    """
    from veritrail_graph.graph.importers.files import is_there
    from veritrail_graph.graph.importers.plain import (
        PlainText,
        answer_over,
        read_sources,
        read_stdin,
        read_text,
    )
    from veritrail_graph.graph.sentences import SentenceSplitter

    splitter = SentenceSplitter.for_language(settings.language)
    if answer == STDIN:
        given = PlainText("stdin", read_stdin())
    elif _SPACE.search(answer) and not is_there(Path(answer)):
        given = PlainText("answer", answer)
    else:
        path = Path(answer)
        given = PlainText(path.name, read_text(path))
    return answer_over(
        given,
        read_sources(sources),
        splitter,
        question=plain.question,
        words=plain.words,
    )


async def _checked(settings: Settings, wanted: _Wanted) -> tuple[CheckDone, CheckEnding]:
    from veritrail_graph.api.app import Application

    with late_folder() as folder:
        wanted = _with_answer_in_file(wanted, folder)
        async with Application(settings, on_engine_start=say_starting) as app:
            what = await _found(app, wanted, folder)
            with long_work() as work:
                watched = Watched(work)
                done = await app.checking.check(what, wanted.options, watched.hooks)
            return done, replace(await ending_of(app, done.checked), told=watched.told)


def _with_answer_in_file(wanted: _Wanted, folder: Callable[[], Path]) -> _Wanted:
    """Return what is wanted with an answer over an index that was typed, or piped, in a file."""
    from veritrail_graph.graph.importers.files import is_there
    from veritrail_graph.graph.importers.plain import read_stdin

    storing = wanted.options.storing
    importing = storing.importing
    answer = None if importing is None else importing.answer
    if importing is None or answer is None or not (answer == STDIN or _SPACE.search(answer)):
        return wanted
    name, mark, _ = answer.rpartition("#")
    if is_there(Path(answer)) or (mark and is_there(Path(name))):
        return wanted
    text = read_stdin() if answer == STDIN else answer
    path = folder() / "answer.txt"
    path.write_text(text, encoding="utf-8")
    storing = replace(storing, importing=replace(importing, answer=str(path)))
    return replace(wanted, options=replace(wanted.options, storing=storing))


async def _found(app: Application, wanted: _Wanted, folder: Callable[[], Path]) -> list[What]:
    """Return what is checked, of what was typed."""
    from veritrail_graph.api.app.check_terms import HeldInput, OpenedProcess, UnreadInput
    from veritrail_graph.graph.importers.plain import read_stdin

    if wanted.answer is not None:
        header = wanted.answer.header
        return [OpenedProcess(header.name or "answer", wanted.answer)]
    found: list[What] = []
    for one in wanted.what:
        if one == STDIN:
            text = await asyncio.to_thread(read_stdin)
            path = folder() / f"stdin{_suffix(text)}"
            path.write_text(text, encoding="utf-8")
            found.append(HeldInput(path, "standard input"))
        else:
            try:
                found.append(await app.checking.named(one, folder, wanted.since))
            except (InputError, NotFound) as error:
                if len(wanted.what) == 1:
                    raise
                found.append(UnreadInput(one, error))
    return found


def _suffix(text: str) -> str:
    """The suffix that a file with a text would have, by which its format is found."""
    import json

    from veritrail_graph.graph.importers.files import begins_printed

    if text.lstrip()[:1] not in ("{", "["):
        return ".log" if begins_printed(text) else ".csv"
    try:
        json.loads(text)
    except ValueError:
        return ".jsonl"
    return ".json"


def _only_fault(done: CheckDone) -> VeriTrailError | None:
    """Return what keeps everything from being checked; None: something was."""
    if done.checked.processes or done.is_stopped:
        return None
    if len(done.faults) == 1:
        return done.faults[0]
    if not all(status_of(one) == WRONG_USE for one in done.faults):
        return None
    return InputError(f"None of {len(done.faults):,} inputs could be checked.")


def _end(done: CheckDone, fails_on: frozenset[FailOn]) -> None:
    """End the command with the status of the contract.

    Raises:
        Exit: Unless everything was checked, and nothing of it is to fail.
    """
    if done.is_stopped:
        say("Interrupted. The same command goes on with what is left.", "yellow")
        raise Exit(INTERRUPTED)
    if _only_fault(done) is not None:
        raise Exit(WRONG_USE)
    processes = done.checked.processes
    has_failed = bool(done.checked.failed) or any(one.verdicts.failed for one in processes)
    holds = {
        FailOn.FAILED: has_failed,
        FailOn.UNSUPPORTED: any(one.verdicts.wrong for one in processes),
        FailOn.UNDECIDED: any(one.verdicts.undecided for one in processes),
    }
    if has_failed or any(holds[one] for one in fails_on):
        raise Exit(NOT_ALL_SUCCEEDED)

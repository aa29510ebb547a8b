"""Exit statuses, and how every fault reaches a person: one clear message, no stack trace."""

from __future__ import annotations

import _thread
import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import nullcontext
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from veritrail_graph.api.cli.advice import ADVICE
from veritrail_graph.api.cli.terminal import documents_only, print_json, say
from veritrail_graph.graph.errors import (
    EngineError,
    InputError,
    NotFound,
    VeriTrailError,
    Violation,
    violation_with_advice,
    with_advice,
)
from veritrail_graph.verifier.models.port import EndpointRefused, ModelError

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application

NOT_ALL_SUCCEEDED = 1
WRONG_USE = 2
UNREACHABLE = 3

SHOWN_VIOLATIONS = 50

T = TypeVar("T")


class Exit(Exception):  # not a fault: the command ended with this status
    """Ends the command with a status; everything was said before."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def ask(work: Callable[[Application], Awaitable[T]], *, as_json: bool) -> T:
    """Use the application; faults are printed in the output format and end the command.

    Args:
        work: Is given the application, whose graph is opened when it is first needed.
        as_json: Whether the command prints JSON.
    """
    from veritrail_graph.api.app import Application

    async def asked() -> T:
        async with Application(on_engine_start=say_starting) as app:
            return await work(app)

    return run(asked(), as_json=as_json)


def ask_about(
    process: str,
    work: Callable[[Application, str], Awaitable[T]],
    *,
    as_json: bool,
    reads: bool = False,
) -> tuple[str, T]:
    """Use the application on a process, which may be named by the first letters of its id.

    Args:
        process: The process as it was typed.
        work: Is given the application and a process_id; called again only where it found none.
        as_json: Whether the command prints JSON.
        reads: Whether the work only reads the process, and may be done again where it changed.

    Returns:
        The process_id in full, and what the work gave.
    """

    async def of_one_version(app: Application, name: str) -> T:
        return await app.versions.of_process(name, lambda: work(app, name))

    return ask(lambda app: about(app, process, of_one_version if reads else work), as_json=as_json)


async def about(
    app: Application, process: str, work: Callable[[Application, str], Awaitable[T]]
) -> tuple[str, T]:
    """Return the same within a command that has the application already.

    Raises:
        NotFound: No process is meant; the message names those whose ids are near.
        InputError: Several are.
    """
    try:
        return process, await work(app, process)
    except NotFound as error:
        if error.code != "process_unknown" or error.facts.get("process_id") != process:
            raise
    name = await app.names.process(process)
    return name, await work(app, name)


def say_starting() -> None:
    """Tell why the command takes a few seconds now."""
    say("Starting the embedded graph engine …", "dim")


def run(
    work: Coroutine[Any, Any, T],
    *,
    as_json: bool,
    interruption: str = "Interrupted. No partial result is visible.",
) -> T:
    """Run a command's work; faults are printed in its output format and end the command.

    Args:
        work: The work.
        as_json: Whether the command prints JSON.
        interruption: What is said after Ctrl-C.
    """
    # The result does not go through the task: asyncio.run writes the task out as text when it
    # gives back the signal handler, and with it the result, however large it is.
    result: list[T] = []

    async def interruptible() -> None:
        task = asyncio.current_task()
        if task is not None:
            on_ctrl_c(task.cancel, "Stopping.")  # what is kept is said by `interruption`
        result.append(await work)

    try:
        with documents_only() if as_json else nullcontext():
            asyncio.run(interruptible())
        return result[0]
    except VeriTrailError as error:
        fail(error, as_json=as_json)
    except UnicodeEncodeError as error:
        # Bytes of the command line that are no text, on their way to the engine.
        fail(InputError(f"{error.object[:80]!a} is not UTF-8 text"), as_json=as_json)
    except (KeyboardInterrupt, asyncio.CancelledError):
        if as_json:
            print_json({"error": {"message": interruption, "violations": []}})
        say(interruption, "yellow")
        raise Exit(INTERRUPTED) from None


def fail(error: VeriTrailError, *, as_json: bool) -> NoReturn:
    """Tell a fault and end the command with its status."""
    violations = error.violations if isinstance(error, InputError) else ()
    text = with_advice(error, ADVICE)
    if as_json:
        print_json({"error": fault_json(error)})
    say(_indented(f"Error: {text}"), "bold red")
    lines = _grouped(violations)
    for line in lines[:SHOWN_VIOLATIONS]:
        say(_indented(f"  {line}"))
    if len(lines) > SHOWN_VIOLATIONS:
        say(f"  … and {len(lines) - SHOWN_VIOLATIONS} more; --json lists all of them")
    raise Exit(status_of(error))


_EQUAL_SHOWN = 3
_PLACES_SHOWN = 3


def _grouped(violations: Sequence[Violation]) -> list[str]:
    """A line for each violation, in their order; many that say the same share the first's."""
    said = [(violation_with_advice(one, ADVICE), one.where) for one in violations]
    places: dict[str, list[str]] = {}
    for words, where in said:
        places.setdefault(words, []).append(where)
    lines = []
    for words, where in said:
        found = places.get(words, [])
        if not found:
            continue  # it is among those of a line before
        if len(found) <= _EQUAL_SHOWN:
            lines.append(f"{where}: {words}" if where else words)
        else:
            first = ", ".join(filter(None, found[:_PLACES_SHOWN]))
            among = f" (among them {first})" if first else ""
            lines.append(f"{len(found):,} times{among}: {words}")
            del places[words]
    return lines


def fault_json(error: VeriTrailError) -> dict[str, Any]:
    """A fault as JSON, with the advice of the command line."""
    from veritrail_graph.api.app.answers import fault_object

    return fault_object(error, ADVICE)


def _indented(text: str) -> str:
    """Text in which no line but the first begins where lines of the program begin."""
    return text.replace("\n", "\n    ")


def fault_of_ours(error: Exception, status: int = NOT_ALL_SUCCEEDED) -> int:
    """Print a bug in one line, or raise it when VERITRAIL_DEBUG is set; returns the exit status."""
    if os.environ.get("VERITRAIL_DEBUG"):
        raise error
    message = (
        f"Internal error ({type(error).__name__}: {error}). Please report it; VERITRAIL_DEBUG=1 "
        "shows where it happened."
    )
    if wants_json():
        print_json({"error": {"message": message, "violations": []}})
    say(_indented(message), "bold red")
    return status


def status_of(error: VeriTrailError) -> int:
    """Return the exit status of a fault."""
    if isinstance(error, EngineError | EndpointRefused):
        return UNREACHABLE
    return NOT_ALL_SUCCEEDED if isinstance(error, ModelError) else WRONG_USE


def wants_json() -> bool:
    """Return whether the command line asks for JSON, also when it could not be parsed."""
    return "--json" in sys.argv[1:]


SAME_KEY_PRESS = 1.0
"""Seconds in which a second signal is the first one, passed on by the parent process."""

PATIENCE = 3.0
"""Seconds after a signal in which work has to let go of the loop; then it is ended where it is."""

INTERRUPTED = 130

_SHOW_CURSOR = "\x1b[?25h"


def on_ctrl_c(
    end: Callable[[], object], stopping: str = "Stopping: what is finished is kept."
) -> Callable[[], bool]:
    """Let the first Ctrl-C or SIGTERM from now on call `end`.

    Work that keeps the event loop busy is cancelled where it is, as `end` cannot be called then.

    Args:
        end: Ends the work.
        stopping: What is said at once.

    Returns:
        Says whether one came.
    """
    loop = asyncio.get_running_loop()
    first: float | None = None
    has_begun = is_overdue = False

    def interrupt() -> None:
        nonlocal has_begun
        has_begun = True
        say(f"{stopping} Press Ctrl-C again to leave now.", "yellow")
        end()

    def look() -> None:
        nonlocal is_overdue
        if not has_begun and not loop.is_closed():
            is_overdue = True
            _thread.interrupt_main(signal.SIGTERM)

    def pressed(_number: int, _frame: FrameType | None) -> None:
        nonlocal first, is_overdue
        if is_overdue:
            is_overdue = False
            if not has_begun and asyncio.current_task(loop) is not None:
                # The work that keeps the loop busy ends here; then the loop comes to `interrupt`.
                raise asyncio.CancelledError
        elif first is not None:
            # Here, not in the loop: what keeps the loop busy may never let go of it.
            if loop.time() - first > SAME_KEY_PRESS:
                _leave()
        elif loop.is_closed():
            raise KeyboardInterrupt
        else:
            first = loop.time()
            loop.call_soon_threadsafe(interrupt)
            timer = threading.Timer(PATIENCE, look)
            timer.daemon = True
            timer.start()

    # Not loop.add_signal_handler: a loop that closes lets the next Ctrl-C raise KeyboardInterrupt
    # again, which prints a stack trace where it meets a destructor.
    if sys.platform != "win32":
        signal.signal(signal.SIGINT, pressed)
        signal.signal(signal.SIGTERM, pressed)  # from the parent process
    return lambda: first is not None


def _leave() -> None:
    """End the process now, without waiting for what it is doing."""
    try:
        say("Left; what was stored until now is kept.", "yellow")
        if sys.stderr.isatty():
            sys.stderr.write(_SHOW_CURSOR)  # a progress bar hides it
            sys.stderr.flush()
    finally:  # whatever the stream says, which may be just being written to
        os._exit(INTERRUPTED)

"""The commands' side: find the running engine or start one, hold it, ask about it, stop it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock

import veritrail_graph
from veritrail_graph.graph.embedded.folder import EngineFolder, useful_lines
from veritrail_graph.graph.embedded.launch import check_host, engine_environment, engine_version
from veritrail_graph.graph.embedded.probe import HANDSHAKE
from veritrail_graph.graph.embedded.settings import (
    DATABASE,
    USERNAME,
    EngineSettings,
    EngineStatus,
)
from veritrail_graph.graph.errors import EngineUnavailable
from veritrail_graph.graph.private import write_private

if TYPE_CHECKING:
    from veritrail_graph.graph.store import DatabaseAddress

_SUPERVISOR = "veritrail_graph.graph.embedded.supervisor"
_POLL_SECONDS = 0.02
_STATUS_TIMEOUT = 10.0
_NOTICED_SECONDS = 5.0
"""At most until a supervisor has noticed that its engine ended: some hundredths of a second."""
_ANSWER_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Channel:
    """An open connection to the supervisor, and what it answered."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    reply: dict[str, Any]

    async def close(self) -> None:
        await _close(self.writer)


class _Beginning(threading.Thread):
    """Starts the engine while its command is still loading what it needs.

    Attributes:
        failure: Why the engine could not be started.
    """

    def __init__(self, settings: EngineSettings) -> None:
        super().__init__(name="veritrail-engine-start", daemon=True)
        self.settings = settings
        self._telling = threading.Lock()
        self._is_starting = False
        self._on_starting: Callable[[], None] | None = None
        self.failure: EngineUnavailable | None = None

    def tell(self, on_starting: Callable[[], None] | None) -> None:
        """Call this before a start, or now where one is under way; only the first one is called."""
        with self._telling:
            if on_starting is None or self._on_starting is not None:
                return
            self._on_starting = on_starting
            if self._is_starting and self.is_alive():
                on_starting()

    def _starts(self) -> None:
        with self._telling:
            self._is_starting = True
            if self._on_starting is not None:
                self._on_starting()

    def run(self) -> None:
        try:
            asyncio.run(self._start())
        except EngineUnavailable as error:
            self.failure = error
        except OSError:  # the command itself tries again
            return

    async def _start(self) -> None:
        channel = await _lease(self.settings, EngineFolder(self.settings.home), self._starts)
        await channel.close()


_begun: dict[Path, _Beginning] = {}


def begin_engine(settings: EngineSettings, on_starting: Callable[[], None] | None = None) -> None:
    """Start the engine, unless it runs, and do not wait for it; `running_engine` does.

    Args:
        settings: Where it lives and how it runs.
        on_starting: Called once: before a start, in another thread, or now where one that was
            begun earlier is under way.
    """
    beginning = _begun.get(settings.home)
    if beginning is not None and beginning.settings == settings and beginning.is_alive():
        beginning.tell(on_starting)
        return
    beginning = _begun[settings.home] = _Beginning(settings)
    beginning.tell(on_starting)
    beginning.start()


async def _begun_before(
    settings: EngineSettings, on_starting: Callable[[], None] | None = None
) -> None:
    """Wait for a start that was begun earlier.

    Raises:
        EngineUnavailable: It failed.
    """
    beginning = _begun.pop(settings.home, None)
    if beginning is not None:
        beginning.tell(on_starting)
    # Looked at again and again, so that Ctrl-C need not wait for the thread.
    while beginning is not None and beginning.is_alive():  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)
    if beginning is not None and beginning.failure is not None:
        raise beginning.failure


@asynccontextmanager
async def running_engine(
    settings: EngineSettings, *, on_starting: Callable[[], None] | None = None
) -> AsyncIterator[DatabaseAddress]:
    """Give the address of the engine, started when needed, and keep it running meanwhile.

    Args:
        settings: Where it lives and how it runs.
        on_starting: Called once before a start, which takes a few seconds.

    Raises:
        EngineUnavailable: It cannot be started; the message says why and what to do.
    """
    from veritrail_graph.graph.store import DatabaseAddress  # the driver: half a second

    await _begun_before(settings, on_starting)
    folder = EngineFolder(settings.home)
    channel = await _living(settings, folder, on_starting)
    try:
        yield DatabaseAddress(_uri(channel.reply), USERNAME, folder.read_password(), DATABASE)
    finally:
        await channel.close()


async def start_engine(settings: EngineSettings) -> EngineStatus:
    """Start the engine unless it runs, and pin it: it stays until it is stopped."""
    folder = EngineFolder(settings.home)
    channel = await _lease(settings, folder, None, pin=True)
    await channel.close()
    return _status(folder, channel.reply)


async def stop_engine(settings: EngineSettings) -> bool:
    """Stop the engine and wait for its end; False when none was running."""
    folder = EngineFolder(settings.home)
    patience = settings.stop_timeout + _STATUS_TIMEOUT
    channel = await _ask(folder, {"op": "stop"}, patience)
    if channel is None:
        return False
    try:
        await asyncio.wait_for(channel.reader.read(), patience)
    except TimeoutError:
        raise _silent(folder) from None
    except ConnectionError:  # an abrupt end is an end
        pass
    finally:
        await channel.close()
    return True


async def engine_status(settings: EngineSettings) -> EngineStatus:
    """Return what is known of the engine; nothing is started and nothing is written."""
    folder = EngineFolder(settings.home)
    channel = await _ask(folder, {"op": "status"}, _STATUS_TIMEOUT)
    if channel is None:
        return _status(folder, {})
    await channel.close()
    return _status(folder, channel.reply)


def _status(folder: EngineFolder, reply: dict[str, Any]) -> EngineStatus:
    return EngineStatus(
        running=bool(reply.get("bolt_port")),
        home=folder.root,
        password_file=folder.password_file,
        data_bytes=folder.data_bytes(),
        version=engine_version(),
        uri=_uri(reply) if reply.get("bolt_port") else None,
        pid=reply.get("engine_pid"),
        supervisor_pid=reply.get("supervisor_pid"),
        pinned=reply.get("pinned", False),
        clients=reply.get("clients", 0),
        idle_seconds_left=reply.get("idle_seconds_left"),
    )


def _uri(reply: dict[str, Any]) -> str:
    return f"bolt://127.0.0.1:{reply['bolt_port']}"


async def _lease(
    settings: EngineSettings,
    folder: EngineFolder,
    on_starting: Callable[[], None] | None,
    *,
    pin: bool = False,
) -> _Channel:
    request = {"op": "lease", "idle_seconds": settings.idle_seconds, "pin": pin}
    # The supervisor has its own limit and explains it; this one is for a supervisor that is stuck.
    patience = settings.start_timeout + settings.stop_timeout + _STATUS_TIMEOUT
    if (channel := await _ask(folder, request, patience)) is not None:
        return channel
    if on_starting is not None:
        on_starting()
    check_host(settings, folder)
    deadline = time.monotonic() + patience
    async with _start_lock(folder, deadline):
        # The previous holder of the lock has probably started it.
        if (channel := await _ask(folder, request, patience)) is not None:
            return channel
        await _spawn(settings, folder, deadline)
        if (channel := await _ask(folder, request, patience)) is not None:
            return channel
    raise EngineUnavailable(
        f"the embedded engine was stopped while it started; try again, or see {folder.logs}"
    )


async def _ask(
    folder: EngineFolder, request: dict[str, object], patience: float
) -> _Channel | None:
    """Put a request to the supervisor; None when none runs, or it is stopping."""
    state = folder.read_state()
    if state is None:
        return None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", state.port)
    except OSError:
        return None
    try:
        writer.write(json.dumps({"token": state.token, **request}).encode("utf-8") + b"\n")
        reply = json.loads(await asyncio.wait_for(reader.readline(), patience))
        if "failure" in reply:
            raise EngineUnavailable(reply["failure"])
    except (ConnectionError, ValueError):  # it is ending, or a stranger has its port by now
        await _close(writer)
        return None
    except TimeoutError:
        await _close(writer)
        raise _silent(folder) from None
    except BaseException:
        await _close(writer)
        raise
    return _Channel(reader, writer, reply)


async def _living(
    settings: EngineSettings, folder: EngineFolder, on_starting: Callable[[], None] | None
) -> _Channel:
    """A lease of an engine that answers.

    One that was killed a moment ago may be granted still: its supervisor has not noticed. It ends
    when it does, and with it the connection; then an engine is started.
    """
    channel = await _lease(settings, folder, on_starting)
    try:
        if await _answers(channel):
            return channel
        with suppress(TimeoutError, ConnectionError):
            await asyncio.wait_for(channel.reader.read(), _NOTICED_SECONDS)
    except BaseException:
        await channel.close()
        raise
    await channel.close()
    return await _lease(settings, folder, on_starting)


async def _answers(channel: _Channel) -> bool:
    """Return whether the engine of a lease answers as Bolt does; a dying process still connects."""
    try:
        port = channel.reply["bolt_port"]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    try:
        writer.write(HANDSHAKE)
        return bool(await asyncio.wait_for(reader.read(4), _ANSWER_SECONDS))
    except TimeoutError:  # it is busy: the driver has limits of its own
        return True
    except ConnectionError:
        return False
    finally:
        await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        await writer.wait_closed()
    except OSError:  # the supervisor was killed meanwhile; there is nothing left to close
        return


def _silent(folder: EngineFolder) -> EngineUnavailable:
    state = folder.read_state()
    who = f" (process {state.pid})" if state else ""
    return EngineUnavailable(
        f"the supervisor of the embedded engine{who} does not answer; end that process and try "
        f"again; its log is {folder.supervisor_log}"
    )


@asynccontextmanager
async def _start_lock(folder: EngineFolder, deadline: float) -> AsyncIterator[None]:
    lock = filelock.AsyncFileLock(folder.start_lock, mode=0o600, run_in_executor=False)
    try:
        await lock.acquire(deadline - time.monotonic(), _POLL_SECONDS)
    except filelock.Timeout:
        raise EngineUnavailable(
            "another command has been starting the embedded engine for too long; end it and try "
            f"again ({folder.start_lock})"
        ) from None
    try:
        yield
    finally:
        await lock.release()


async def _spawn(settings: EngineSettings, folder: EngineFolder, deadline: float) -> None:
    """Start a supervisor that leaves this process; return when it has left."""
    write_private(folder.supervisor_log, "")
    values = {**asdict(settings), "home": str(folder.home)}
    with folder.supervisor_log.open("ab") as log:
        launcher = subprocess.Popen(  # noqa: ASYNC220  # a fork; the wait below does not block
            [sys.executable, "-P", "-m", _SUPERVISOR, json.dumps(values)],
            cwd=folder.root,
            env={**engine_environment(dict(os.environ)), "PYTHONPATH": _module_path()},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            umask=0o077,
        )
    while launcher.poll() is None:
        if time.monotonic() > deadline:
            launcher.kill()
            launcher.wait()
        await asyncio.sleep(_POLL_SECONDS)
    if launcher.returncode != 0:
        words = useful_lines(folder.supervisor_log.read_text("utf-8", "replace").splitlines())
        raise EngineUnavailable(
            f"the supervisor of the embedded engine did not start:\n{words}\n"
            f"its log is {folder.supervisor_log}"
        )


def _module_path() -> str:
    """Return where the supervisor finds this package: a checkout is not on its path automatically.

    The current folder is never on it (`-P`): it may hold another package of that name.
    """
    place = str(Path(veritrail_graph.__file__).parent.parent)
    own = [] if place == sysconfig.get_path("purelib") else [place]
    return os.pathsep.join([*own, *filter(None, [os.environ.get("PYTHONPATH")])])

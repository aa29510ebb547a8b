"""The warm process: imports the command once, and forks for every call (`warm.py`).

It has no threads, so that a fork is whole. A call without streams says that a process of the test
run is there; when the last of them has ended, it ends.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

# What few commands use and takes long to import.
LEFT_OUT = ("__main__", "nli", "matrices")


def main(path: str) -> None:
    """Import, listen, and fork for every connection."""
    from veritrail_graph.graph.lean_imports import keep_imports_lean, without_numbers

    keep_imports_lean()
    import veritrail_graph
    from veritrail_graph.api.cli import app
    from veritrail_graph.api.page import rendering

    for found in pkgutil.walk_packages(veritrail_graph.__path__, "veritrail_graph."):
        if not set(found.name.split(".")).intersection(LEFT_OUT):
            importlib.import_module(found.name)
    with without_numbers():
        import nltk.stem.snowball
        import nltk.tokenize.punkt  # noqa: F401
        import punkt.data.english  # noqa: F401
    for name in (None, *app.COMMANDS):
        app.command(name)  # the definitions of commands, which each call would put together
    rendering.warm_up()  # and the templates of pages, which each service would compile
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()  # a collector that touches what was imported would copy it in every fork
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(64)
    if os.fork():  # whoever started it goes on now
        os._exit(0)
    try:
        _serve(listening)
    finally:
        shutil.rmtree(Path(path).parent, ignore_errors=True)


def _serve(listening: socket.socket) -> None:
    wakes, woken = os.pipe()
    for descriptor in (wakes, woken):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C in the terminal is for the tests to handle.
    signal.signal(signal.SIGINT, lambda *_: None)
    lines: dict[int, socket.socket] = {}
    present: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        for descriptor in (listening.fileno(), wakes):
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd in present:
                    selector.unregister(key.fd)
                    present.pop(key.fd).close()
                    if not present:
                        return
                elif key.fd == wakes:
                    os.read(wakes, 4096)
                    _tell_of_ends(lines)
                else:
                    line, _ = listening.accept()
                    told, streams = _asked(line)
                    if not streams:
                        present[line.fileno()] = line
                        selector.register(line, selectors.EVENT_READ)
                    elif pid := os.fork():
                        line.sendall(b"%d\n" % pid)
                        lines[pid] = line
                        for stream in streams:
                            os.close(stream)
                    else:
                        ours = (selector, listening, line, *lines.values(), *present.values())
                        for one in ours:
                            one.close()
                        os.close(wakes)
                        signal.set_wakeup_fd(-1)
                        os.close(woken)
                        _become(told, streams)


def _asked(line: socket.socket) -> tuple[list[str], list[int]]:
    size, streams, _, _ = socket.recv_fds(line, 4, 3)
    content = bytearray()
    while len(content) < int.from_bytes(size, "big"):
        content += line.recv(1 << 20)
    return os.fsdecode(bytes(content)).split("\0"), streams


def _tell_of_ends(lines: dict[int, socket.socket]) -> None:
    while lines:
        pid, ended = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        line = lines.pop(pid)
        with suppress(OSError):  # whoever asked has ended
            line.sendall(b"%d\n" % os.waitstatus_to_exitcode(ended))
        line.close()


def _become(told: list[str], streams: list[int]) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder, many, *rest = told
    arguments, environment = rest[: int(many)], rest[int(many) :]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(each.split("=", 1) for each in environment)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for number, name, mode, errors in (
        (0, "stdin", "r", "surrogateescape"),
        (1, "stdout", "w", "strict"),
        (2, "stderr", "w", "backslashreplace"),
    ):
        buffering = 1 if number == 2 or os.isatty(number) else -1
        stream = open(number, mode, buffering, "utf-8", errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
    sys.argv = ["veritrail", *arguments]
    try:
        from veritrail_graph.api.cli.main import main as command

        command()
    except BaseException:  # noqa: BLE001  # what the interpreter does with it
        traceback.print_exc()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1])

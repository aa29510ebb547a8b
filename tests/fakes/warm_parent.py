"""The warm process: imports the command once, and forks for every call (`warm.py`).

It has no threads, so that a fork is whole. It ends when its standard input ends.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import selectors
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import NoReturn

# What few commands use and takes long to import.
LEFT_OUT = ("integrations", "evaluation", "__main__", "nli", "matrices")


def main(path: str) -> None:
    """Import, listen, and fork for every connection."""
    from veritrail_graph.graph.lean_imports import keep_imports_lean, without_numbers

    keep_imports_lean()
    import veritrail_graph

    for found in pkgutil.walk_packages(veritrail_graph.__path__, "veritrail_graph."):
        if not set(found.name.split(".")).intersection(LEFT_OUT):
            importlib.import_module(found.name)
    with without_numbers():
        import nltk.stem.snowball  # noqa: F401
        import nltk.tokenize.punkt  # noqa: F401
        import punkt.data.english  # noqa: F401
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()  # a collector that touches what was imported would copy it in every fork
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen(64)
    wakes, woken = os.pipe()
    for descriptor in (wakes, woken):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C in the terminal is for the tests to handle.
    signal.signal(signal.SIGINT, lambda *_: None)
    lines: dict[int, socket.socket] = {}
    print("ready", flush=True)
    with selectors.DefaultSelector() as selector:
        for descriptor in (listening.fileno(), wakes, 0):
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd == 0:
                    return
                if key.fd == wakes:
                    os.read(wakes, 4096)
                    _tell_of_ends(lines)
                    continue
                line, _ = listening.accept()
                if pid := _forked(line, [selector, listening, *lines.values()], wakes, woken):
                    line.sendall(b"%d\n" % pid)
                    lines[pid] = line


def _tell_of_ends(lines: dict[int, socket.socket]) -> None:
    while lines:
        pid, ended = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        line = lines.pop(pid)
        with suppress(OSError):  # whoever asked has ended
            line.sendall(b"%d\n" % os.waitstatus_to_exitcode(ended))
        line.close()


def _forked(line: socket.socket, ours: list[object], *descriptors: int) -> int:
    """Fork for a call; gives the process id, and never returns in the fork."""
    size, streams, _, _ = socket.recv_fds(line, 4, 3)
    content = bytearray()
    while len(content) < int.from_bytes(size, "big"):
        content += line.recv(1 << 20)
    if pid := os.fork():
        for stream in streams:
            os.close(stream)
        return pid
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for one in (line, *ours):
        one.close()  # type: ignore[attr-defined]
    for descriptor in descriptors:
        os.close(descriptor)
    _become(os.fsdecode(bytes(content)).split("\0"), streams)


def _become(told: list[str], streams: list[int]) -> NoReturn:
    folder, many, *rest = told
    arguments, environment = rest[: int(many)], rest[int(many) :]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(each.split("=", 1) for each in environment)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", errors="strict", closefd=False)
    sys.stderr = open(
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    sys.argv = ["veritrail", *arguments]
    try:
        from veritrail_graph.api.cli.main import main as command

        command()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1])

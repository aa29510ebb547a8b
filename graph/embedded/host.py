"""Holds the engine's library and serves the graph until it is asked to end.

Run by path as a process of its own, with nothing but the standard library, as
`python -I -S host.py LIBRARY OPTION…`: the options are those of the library's runtime, as Java
writes them. The library takes no signals and loads into the process that calls it, so that this
process, and no command, ends with it.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_STRUCTURE_VERSION = 5
_ENDING = frozenset({signal.SIGTERM, signal.SIGINT})
_NO_MORE_SETTINGS = b'{"settings": {}, "host": "127.0.0.1"}'
_FAILED = 1


class _Parameters(ctypes.Structure):
    """`graal_create_isolate_params_t`, as the library's headers have it."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("reserved_address_space_size", ctypes.c_size_t),
        ("auxiliary_image_path", ctypes.c_char_p),
        ("auxiliary_image_reserved_space_size", ctypes.c_size_t),
        ("argc", ctypes.c_int),
        ("argv", ctypes.POINTER(ctypes.c_char_p)),
        ("pkey", ctypes.c_int),
        ("ignore_unrecognized_args", ctypes.c_char),
        ("reserved_1", ctypes.c_char),
        ("reserved_2", ctypes.c_char),
    )


def serve(path: str, options: Sequence[str]) -> int:
    """Start the engine's server, wait for SIGTERM or SIGINT, stop it.

    Args:
        path: The library.
        options: Options of its runtime, such as `-Xmx1g` and `-Darcadedb.bolt.port=0`.

    Returns:
        The exit status.
    """
    # Before the library makes threads, which would take the signals in place of this one.
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    with suppress(OSError):  # Linux: what lists of processes show, in place of "python"
        Path("/proc/self/comm").write_text("arcadedb", "ascii")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would hold texts under study
    os.environ["ARCADEDB_NATIVE_LIBDIR"] = str(Path(path).parent)  # of a library beside it
    library = ctypes.CDLL(path)
    thread = _runtime(library, options)
    if thread is None:
        return _failed("its runtime does not start with these options")
    started = _call(library, "arcadedb_n_server_start", thread, _NO_MORE_SETTINGS)
    if "h" not in started:
        return _failed(_causes(started))
    signal.sigwait(_ENDING)
    stopped = _call(
        library, "arcadedb_n_server_stop", thread, ctypes.c_longlong(int(str(started["h"])))
    )
    return 0 if stopped.get("ok") else _FAILED


def _runtime(library: ctypes.CDLL, options: Sequence[str]) -> ctypes.c_void_p | None:
    """Start the library's runtime; return its handle of this thread, None where it refuses."""
    words = [b"arcadedb", *(os.fsencode(option) for option in options)]
    parameters = _Parameters(
        version=_STRUCTURE_VERSION, argc=len(words), argv=(ctypes.c_char_p * len(words))(*words)
    )
    isolate, thread = ctypes.c_void_p(), ctypes.c_void_p()
    refused: int = library.graal_create_isolate(
        ctypes.byref(parameters), ctypes.byref(isolate), ctypes.byref(thread)
    )
    return None if refused else thread


def _call(
    library: ctypes.CDLL, name: str, thread: ctypes.c_void_p, argument: object
) -> dict[str, object]:
    """Return what a function of the library answers."""
    function = library[name]
    function.restype = ctypes.c_void_p
    answer = ctypes.string_at(function(thread, argument)).decode("utf-8", "replace")
    said: dict[str, object] = json.loads(answer)
    return said


def _causes(answer: Mapping[str, object]) -> str:
    """Return what a failure says, the cause last."""
    chain = answer.get("chain")
    pairs = chain if isinstance(chain, list) else []
    said = [str(message) for _, message in pairs if message] or [str(answer.get("error"))]
    return ": ".join(dict.fromkeys(said))


def _failed(reason: str) -> int:
    # The engine ends its own last line at the start of the next one only.
    sys.stderr.write(f"\nSEVERE the engine does not start: {reason}\n")
    return _FAILED


if __name__ == "__main__":
    try:
        status = serve(sys.argv[1], sys.argv[2:])
    except OSError as error:
        status = _failed(f"its library cannot be loaded: {error}")
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(status)  # threads of the library would be waited for

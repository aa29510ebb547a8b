"""Imports without the optional libraries that a package loads wherever they are installed.

The graph driver loads data-frame libraries to convert parameters and results, and the language
toolkit loads numerical ones for classifiers and parsers. This project uses neither, and loading
them takes longer than all else that a short command does.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder

_NUMERICAL = ("numpy", "pandas", "pyarrow", "scipy", "sklearn")
_is_lean = threading.Event()
_one_at_a_time = threading.RLock()


def keep_imports_lean() -> None:
    """Let `without_numbers` work in this process.

    For processes of our own alone: in another program its author may use what would be missing.
    """
    _is_lean.set()


@contextmanager
def without_numbers() -> Iterator[None]:
    """Let this thread find the numerical libraries not installed, unless they are loaded already.

    Only around imports of packages that say they work without them. Other threads find them.
    Threads wait for one another here: the toolkit's modules import each other, and threads that
    are the first to import several of them at once would find some half made.
    """
    with _one_at_a_time:
        if not _is_lean.is_set():
            yield
            return
        finder = _Absent()
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)


class _Absent(MetaPathFinder):
    """Finds that the numerical libraries are not installed, in the thread that made it."""

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if threading.get_ident() == self._thread and fullname in _NUMERICAL:
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)

"""Folders for what is needed until a command ends."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from veritrail_graph.graph.errors import InputError


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed at the end.

    Raises:
        InputError: None can be made.
    """
    try:
        made = tempfile.TemporaryDirectory(prefix="veritrail-")
    except OSError as error:
        raise InputError(
            f"No temporary folder can be made: {error.strerror or error}. "
            "Set TMPDIR to a folder that can be written to."
        ) from None
    with made as folder:
        yield Path(folder)


@contextmanager
def late_folder() -> Iterator[Callable[[], Path]]:
    """A temporary folder that is made when it is first asked for: most commands need none.

    Raises:
        InputError: None can be made; where it is asked for.
    """
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(temporary_folder()))

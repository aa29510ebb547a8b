"""The command line called in this process, with streams and an environment of its own."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from veritrail_graph.api.cli.app import status

OUTSIDE = ("NEO4J_", "OPENAI_", "AZURE_", "VERITRAIL_", "NO_COLOR", "FORCE_COLOR", "PYTHONIO")


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    call: str
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Calling:
    """Calls commands with one VERITRAIL_HOME, in one folder.

    Attributes:
        home: The VERITRAIL_HOME.
        folder: The working folder.
    """

    home: Path
    folder: Path

    def __call__(self, *words: str, given: str = "", **settings: str) -> Ended:
        """Call a command.

        Args:
            *words: Its arguments.
            given: Its standard input.
            **settings: Settings of the environment.
        """
        shown = " ".join([*(f"{k}={shlex.quote(v)}" for k, v in settings.items()), "veritrail"])
        call = " ".join([shown, *(shlex.quote(word) for word in words)])
        with self._place(settings), _streams(given) as (out, err):
            with mock.patch.object(sys, "argv", ["veritrail", *words]):
                ended = status()
            return Ended(call, ended, _text(out), _text(err))

    def environment(self) -> dict[str, str]:
        """The environment of a call, without settings of the machine."""
        outside = {k: v for k, v in os.environ.items() if not k.startswith(OUTSIDE)}
        own = {
            "VERITRAIL_HOME": str(self.home),
            "VERITRAIL_DB_HEAP": "256m",
            "COLUMNS": "80",
            "LOGNAME": "ann",
        }
        return {**outside, **own, "VERITRAIL_DB_IDLE": "3m"}

    @contextmanager
    def _place(self, settings: dict[str, str]) -> Iterator[None]:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with mock.patch.dict(os.environ, {**self.environment(), **settings}, clear=True):
                yield
        finally:
            os.chdir(before)


@contextmanager
def _streams(given: str) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    out, err, read = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(3))
    read.write(given)
    read.seek(0)
    with (
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
        mock.patch.object(sys, "stdin", read),
    ):
        yield out, err


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode("utf-8")


def process_file(path: Path, **document: Any) -> str:
    """Write a process file; the keys that are not given make a small valid process."""
    whole = {
        "format": "veritrail.process/1",
        "process_id": path.stem,
        "nodes": [
            {"node_id": "a", "text": "The harbour opened in 1901. It has two piers."},
            {"node_id": "b", "text": "The lighthouse was built in 1923."},
            {"node_id": "t", "text": "The harbour opened in 1901 and has two piers."},
        ],
        "edges": [{"source": "a", "target": "t"}, {"source": "b", "target": "t"}],
        **document,
    }
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path.name

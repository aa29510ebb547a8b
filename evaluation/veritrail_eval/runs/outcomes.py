"""Outcomes of a run, kept in a file as they come, so that a run goes on where it ended.

Each line is an outcome of a claim, or what a configuration's preparation cost. A claim is known
again by its content: an outcome about another text, node or process does not count.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated

from pydantic import Field, TypeAdapter, ValidationError

from veritrail_eval.datasets.model import LabelledClaim
from veritrail_eval.methods.method import MethodOutcome
from veritrail_eval.runs.judge_identity import JudgeIdentity
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.canonical import canonical
from veritrail_graph.graph.model.noun import Noun
from veritrail_graph.verifier.held_process import HeldProcess

KEPT = (Status.SUCCEEDED, Status.UNDECIDED)
"""Outcomes that are not asked for again."""


class KeptOutcome(Noun):
    """An outcome with what it is of."""

    dataset: str = Field(description="Name of the data set.")
    configuration: str = Field(description="Id of the configuration.")
    fingerprint: str = Field(description="Hash of the claim and of the process's content.")
    outcome: MethodOutcome = Field(description="What the method said.")
    judge: JudgeIdentity | None = Field(
        default=None, description="Who judged; null: a version kept it that did not note that."
    )
    reused: Usage = Field(
        default=Usage(), description="What answers from the cache would cost anew; not paid."
    )


class Preparation(Noun):
    """The work done once for all claims of a data set. Source: VeriTrail D (amortised cost)."""

    dataset: str = Field(description="Name of the data set.")
    configuration: str = Field(description="Id of the configuration.")
    prepared: Usage = Field(description="What it cost.")
    reused: Usage = Field(
        default=Usage(), description="What answers from the cache would cost anew; not paid."
    )


_Line = TypeAdapter[KeptOutcome | Preparation](
    Annotated[KeptOutcome | Preparation, Field(union_mode="left_to_right")]
)


def fingerprint(claim: LabelledClaim, node_id: str, process: HeldProcess) -> str:
    """Return what an outcome is of: the process's content, the node, the claim and its parts."""
    content = [process.survey.hash, node_id, claim.text, list(claim.sub_claims)]
    documents = None if claim.documents is None else list(claim.documents)
    return hashlib.sha256(canonical([*content, documents])).hexdigest()[:32]


class OutcomeFile:
    """The outcomes in a folder.

    Args:
        path: The file; it is made when the first outcome is kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def read(self) -> Iterator[KeptOutcome | Preparation]:
        """Yield what was kept, in its order; a line that was cut off by an end is passed over.

        Raises:
            InputError: A line is no outcome.
        """
        if not self._path.exists():
            return
        size = self._path.stat().st_size
        with self._path.open("rb") as file:
            file.seek(max(0, size - 1))
            is_whole = size == 0 or file.read(1) == b"\n"
        broken: InputError | None = None
        for number, value in files.json_lines(self._path, strict=True):
            if broken is not None:
                raise broken
            try:
                if isinstance(value, InputError):
                    raise value
                yield _Line.validate_python(value, strict=False)
            except (ValidationError, InputError) as error:
                told = "is no outcome" if isinstance(error, ValidationError) else str(error)
                broken = InputError(
                    f"{self._path}, line {number}: {told}. Remove the line, or take another folder."
                )
        if broken is not None and is_whole:
            raise broken

    def keep(self, *lines: KeptOutcome | Preparation) -> None:
        """Append outcomes; they are on the disk when this returns.

        Raises:
            InputError: The file cannot be written.
        """
        try:
            if self._file is None:
                self._file = self._opened()
            self._file.write(b"".join(one.model_dump_json().encode() + b"\n" for one in lines))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(f"{self._path} cannot be written: {error.strerror or error}") from None

    def _opened(self) -> IO[bytes]:
        """The file at its end, without a line that was cut off."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("a+b")
        file.seek(0)
        end = 0
        for line in file:
            end += len(line) if line.endswith(b"\n") else 0
        file.truncate(end)
        return file

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

"""Loaders of data sets: ours, those of others, and recorded runs with labelled claims.

A loader is one module with one class on the Protocol below. Packages of third parties add theirs
to the entry points of the group `veritrail_graph.datasets`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Protocol

from veritrail_graph.evaluation.datasets.dataset_file import read_dataset
from veritrail_graph.evaluation.datasets.model import FORMAT, Dataset, LabelledClaim
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey

GROUP = "veritrail_graph.datasets"
_HERE = "veritrail_graph.evaluation.datasets"
# Recorded runs come last: whatever can be ingested is one.
_OURS = (
    EntryPoint("veritrail", f"{_HERE}.loading:OwnLoader", GROUP),
    EntryPoint("processes", f"{_HERE}.loading:ProcessesLoader", GROUP),
)


class DatasetLoader(Protocol):
    """A reader of one format of data sets.

    Attributes:
        name: Name of the format.
        description: What it reads, in a line.
    """

    name: str
    description: str

    def detect(self, path: Path) -> str | None:
        """Why `path` is not in this format; None when it is."""
        ...

    def load(self, path: Path) -> Dataset:
        """Read it.

        Raises:
            InputError: It cannot be read; the message names the row and the column.
        """
        ...


@cache
def loaders() -> tuple[DatasetLoader, ...]:
    """Every loader, in the order of detection: those of other packages come first."""
    names = {entry.name for entry in _OURS}
    others = [entry for entry in entry_points(group=GROUP) if entry.name not in names]
    return tuple(entry.load()() for entry in (*others, *_OURS))


def load_unlabelled(path: Path) -> Dataset:
    """Read a data set as `load_dataset` does; no claim of a recorded run needs a label.

    Raises:
        InputError: There is no such path, or it cannot be read.
    """
    runs = ProcessesLoader()
    others = [one for one in loaders() if one.name != runs.name]
    is_other = path.exists() and any(one.detect(path) is None for one in others)
    if is_other or not path.exists() or runs.detect(path) is not None:
        return load_dataset(path)
    return runs.read(path)


def load_dataset(path: Path, *, format_name: str | None = None) -> Dataset:
    """Read a data set in the format named, or in the first one that the path is in.

    Raises:
        InputError: There is no such path or format, or it cannot be read.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    by_name = {loader.name: loader for loader in loaders()}
    if format_name is not None:
        if format_name not in by_name:
            known = ", ".join(by_name)
            raise InputError(f"Unknown data set format {format_name!r}. Known formats: {known}.")
        return by_name[format_name].load(path)
    reasons = []
    for loader in by_name.values():
        reason = loader.detect(path)
        if reason is None:
            return loader.load(path)
        reasons.append(f"  {loader.name} ({loader.description}): {reason}")
    raise InputError(f"{path} is no data set that can be read. Tried:\n" + "\n".join(reasons))


class OwnLoader:
    """Reads our own format."""

    name = "veritrail"
    description = f"{FORMAT}: JSON Lines of processes and labelled claims"

    def detect(self, path: Path) -> str | None:
        """By the format that the first line names."""
        if not path.is_file():
            return "not a file"
        try:
            first = next(files.json_lines(path), (0, None))[1]
        except InputError as error:
            return str(error)
        named = first.get("format") if isinstance(first, dict) else None
        return None if isinstance(named, str) and named.startswith("veritrail.dataset/") else (
            "its first line names no data set format"
        )  # fmt: skip

    def load(self, path: Path) -> Dataset:
        """Read it.

        Raises:
            InputError: It breaks rules of the format.
        """
        return read_dataset(path)


class ProcessesLoader:
    """Reads whatever can be ingested and brings labelled claims."""

    name = "processes"
    description = "recorded runs in any format of `veritrail ingest`, with labels on their claims"

    def detect(self, path: Path) -> str | None:
        """By reading the header of its first process."""
        try:
            next(iter(find_processes(path))).open()
        except StopIteration:
            return "no process in it"
        except InputError as error:
            return str(error).splitlines()[0]
        return None

    def load(self, path: Path) -> Dataset:
        """Read all its processes once, for their claims.

        Raises:
            InputError: No process can be read, or no claim has a label.
        """
        found = self.read(path)
        if not any(claim.label for claim in found.claims):
            raise InputError(
                f"{path} holds {len(found.processes)} process(es), but no claim with a label. "
                "Write labels into the claims of the process file, or make a data set: "
                "veritrail eval build --help"
            )
        return found

    def read(self, path: Path) -> Dataset:
        """Read all its processes once, for their claims, whether they have labels or not.

        Raises:
            InputError: No process can be read.
        """
        processes: dict[str, Callable[[], ProcessInput]] = {}
        claims: list[LabelledClaim] = []
        remarks = []
        for found in find_processes(path):
            try:
                read = survey(found.open())
            except InputError as error:
                remarks.append(f"{found.where} is left out: {error}")
                continue
            if read.process_id in processes:
                remarks.append(f"{found.where} is left out: {read.process_id!r} is there already")
                continue
            processes[read.process_id] = found.open
            claims += [
                LabelledClaim(
                    process_id=read.process_id,
                    claim_id=claim.claim_id,
                    text=claim.text,
                    node_id=claim.node_id,
                    label=claim.label,
                    label_origin=None if claim.label is None else "given",
                    sub_claims=claim.sub_claims,
                )
                for claim in read.claims
                if claim.origin is None
            ]
        if not processes:
            raise InputError(f"{path}: no process can be read. " + " ".join(remarks[:3]))
        return Dataset(path.name, processes, tuple(claims), remarks=tuple(remarks))

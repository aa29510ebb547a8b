"""Loaders of data sets: ours, those of others, and recorded runs with labelled claims.

A loader is a class on the Protocol below. Packages of third parties add theirs
to the entry points of the group `veritrail_graph.datasets`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Protocol

from veritrail_eval.datasets.dataset_file import lacks_header, read_dataset
from veritrail_eval.datasets.model import FORMAT, Dataset, LabelledClaim
from veritrail_eval.datasets.reviewed import reviews_of, with_reviews
from veritrail_eval.loader_registry import (
    Loader,
    in_order,
    loaders_of_others,
    why_not,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.ingest.check import survey
from veritrail_graph.graph.plugins import Plugin, Unusable

GROUP = "veritrail_graph.datasets"
NO_FORMAT = "no_data_set"
"""The code of the error for a path that is in no format of data sets."""
_HERE = "veritrail_eval.datasets"
# Recorded runs come last: whatever can be ingested is one.
_OURS = (
    EntryPoint("veritrail", f"{_HERE}.loading:OwnLoader", GROUP),
    EntryPoint("fables", f"{_HERE}.loaders.fables:FablesLoader", GROUP),
    EntryPoint("diversesumm", f"{_HERE}.loaders.diversesumm:DiverseSummLoader", GROUP),
    EntryPoint("faithbench", f"{_HERE}.loaders.faithbench:FaithBenchLoader", GROUP),
    EntryPoint("summedits", f"{_HERE}.loaders.claim_tables:SummEditsLoader", GROUP),
    EntryPoint("attributionbench", f"{_HERE}.loaders.claim_tables:AttributionBenchLoader", GROUP),
    EntryPoint("ragtruth", f"{_HERE}.loaders.ragtruth:RagTruthLoader", GROUP),
    EntryPoint("llm-aggrefact", f"{_HERE}.loaders.claim_tables:AggreFactLoader", GROUP),
    EntryPoint("qags", f"{_HERE}.loaders.qags:QagsLoader", GROUP),
    EntryPoint("tofueval", f"{_HERE}.loaders.tofueval:TofuEvalLoader", GROUP),
    EntryPoint("tofueval-one", f"{_HERE}.loaders.tofueval:OneSummaryLoader", GROUP),
    EntryPoint("tofueval-one-dev", f"{_HERE}.loaders.tofueval:OneSummaryDevLoader", GROUP),
    EntryPoint("tofueval-one-test", f"{_HERE}.loaders.tofueval:OneSummaryTestLoader", GROUP),
    EntryPoint("who-and-when", f"{_HERE}.loaders.who_and_when:WhoAndWhenLoader", GROUP),
    EntryPoint("processes", f"{_HERE}.loading:ProcessesLoader", GROUP),
)


class DatasetLoader(Loader[Dataset], Protocol):
    """A reader of one format of data sets."""


@cache
def of_others() -> tuple[tuple[Plugin, ...], tuple[Unusable, ...]]:
    """Loaders of other packages, and those of them that cannot be used, with the reason."""
    return loaders_of_others(entry_points(group=GROUP), _OURS)


@cache
def loaders() -> tuple[DatasetLoader, ...]:
    """Every loader, in the order of detection: those of other packages come first."""
    return in_order(of_others()[0], _OURS)


def load_unlabelled(path: Path) -> Dataset:
    """Read a data set as `load_dataset` does; no claim of a recorded run needs a label.

    Raises:
        InputError: There is no such path, or it cannot be read.
    """
    found = find_loader(path)
    return found.read(path) if isinstance(found, ProcessesLoader) else found.load(path)


def load_dataset(path: Path, *, format_name: str | None = None, skip_bad: bool = False) -> Dataset:
    """Read a data set in the format named, or in the first one that the path is in.

    Args:
        path: A file or a folder.
        format_name: Name of a loader; None: it is detected.
        skip_bad: Whether rows that break rules are left out, and counted in the remarks.

    Raises:
        InputError: There is no such path or format, or it cannot be read.
    """
    return find_loader(path, format_name).load(path, skip_bad=skip_bad)


def find_loader(path: Path, format_name: str | None = None) -> DatasetLoader:
    """The loader of the format named, or of the first one that the path is in.

    Raises:
        InputError: There is no such path or format, or the path is in none.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    by_name = {loader.name: loader for loader in loaders()}
    if format_name is not None:
        if format_name not in by_name:
            known = ", ".join(by_name)
            raise InputError(
                f"Unknown data set format {format_name!r}. Known formats: {known}; and those of "
                "dialogues that `veritrail eval formats` lists."
            )
        return by_name[format_name]
    found = why_not(path, by_name.values())
    if isinstance(found, list):
        raise InputError(
            f"{path} is no data set that can be read. Tried:\n" + "\n".join(found), code=NO_FORMAT
        )
    return found


class OwnLoader:
    """Reads our own format."""

    name = "veritrail"
    description = f"{FORMAT}: JSON Lines of processes and labelled claims"
    layout = "one file, gzipped or not; processes may be in files beside it"
    source = "veritrail eval build"

    def detect(self, path: Path) -> str | None:
        """By the format that the first line names."""
        if not path.is_file():
            return "not a file"
        try:
            first = next(files.json_lines(path), (0, None))[1]
        except InputError as error:
            return str(error)
        if isinstance(first, dict) and lacks_header(first):
            return None  # so that reading it says what is missing
        named = first.get("format") if isinstance(first, dict) else None
        return None if isinstance(named, str) and named.startswith("veritrail.dataset/") else (
            "its first line names no data set format"
        )  # fmt: skip

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read it.

        Raises:
            InputError: It breaks rules of the format.
        """
        return read_dataset(path, skip_bad=skip_bad)


class ProcessesLoader:
    """Reads whatever can be ingested and brings labelled claims."""

    name = "processes"
    description = "recorded runs in any format of `veritrail ingest`, with labels on their claims"
    layout = "whatever `veritrail formats` lists; labels in the claims of process files, or reviews"
    source = "your own runs"

    def detect(self, path: Path) -> str | None:
        """By reading the header of its first process."""
        try:
            next(iter(find_processes(path))).open()
        except StopIteration:
            return "no process in it"
        except InputError as error:
            return str(error).splitlines()[0].removesuffix(" Tried:")
        return None

    def load(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read all its processes once, for their claims.

        Raises:
            InputError: A process cannot be read or is there twice, unless `skip_bad` leaves it
                out; no process can be read, or no claim has a label.
        """
        found = self.read(path, skip_bad=skip_bad)
        if not any(claim.label for claim in found.claims):
            raise InputError(
                f"{path} holds {counted(len(found.processes), 'process', 'processes')}, but no "
                "claim with a label. Label them: veritrail ingest it, veritrail claims extract, "
                "veritrail export it, and hand that to annotators with veritrail eval sheets. "
                "Or review them on the page, and export the process with its reviews. "
                "Or write labels into the claims of the process file (docs/annotation.md)."
            )
        return found

    def read(self, path: Path, *, skip_bad: bool = False) -> Dataset:
        """Read all its processes once, for their claims, whether they have labels or not.

        Raises:
            InputError: A process cannot be read or is there twice, unless `skip_bad` leaves it
                out; or no process can be read.
        """
        processes: dict[str, Callable[[], ProcessInput]] = {}
        claims: list[LabelledClaim] = []
        remarks = []
        counts: Counter[str] = Counter()
        for found in find_processes(path):
            try:
                source = found.open()
                read = survey(source)
                reviews = reviews_of(source)
            except InputError as error:
                if not skip_bad:
                    found_faults = getattr(error, "violations", ())
                    raise InputError(
                        f"{found.where}: {error}", found_faults, code="bad_rows"
                    ) from None
                remarks.append(f"{found.where} is left out: {error}")
                continue
            if read.process_id in processes:
                again = f"{read.process_id!r} is there already"
                if not skip_bad:
                    raise InputError(f"{found.where}: {again}", code="bad_rows")
                remarks.append(f"{found.where} is left out: {again}")
                continue
            processes[read.process_id] = found.open
            own = [
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
            reviewed = with_reviews(own, reviews)
            claims += reviewed.claims
            counts += reviewed.counts
        if not processes:
            raise InputError(f"{path}: no process can be read. " + " ".join(remarks[:3]))
        remarks += [counted(number, "time") + f": {what}" for what, number in counts.items()]
        return Dataset(path.name, processes, tuple(claims), remarks=tuple(remarks))

"""Making a data set of `veritrail.dataset/1` from files in any format that a loader reads.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from veritrail_eval.datasets.dataset_file import (
    MOST_FAULTS,
    invalid_dataset,
    write_dataset,
)
from veritrail_eval.datasets.loading import find_loader
from veritrail_eval.datasets.model import Dataset, LabelledClaim
from veritrail_eval.whole_file import refuse_overwriting
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.model import Verdict
from veritrail_graph.verifier.held_process import HeldProcess

NO_LABEL = "none"
"""What claims without a label are counted under."""


@dataclass(frozen=True, slots=True)
class Built:
    """The result of making a data set.

    Attributes:
        output: The file that was written.
        format_name: Name of the format that was read.
        dataset: What was written.
        nodes: How many nodes its processes have together.
    """

    output: Path
    format_name: str
    dataset: Dataset
    nodes: int

    @property
    def labels(self) -> dict[str, int]:
        """Return how many claims have each label; every label is there."""
        found = Counter(claim.label or NO_LABEL for claim in self.dataset.claims)
        return {label: found[label] for label in (*map(str, Verdict), NO_LABEL)}

    def json_object(self) -> dict[str, Any]:
        """Return what was read, as JSON."""
        claims = self.dataset.claims
        return {
            "output": str(self.output),
            "format": self.format_name,
            "name": self.dataset.name,
            "licence": self.dataset.licence,
            "processes": len(self.dataset.processes),
            "nodes": self.nodes,
            "claims": len(claims),
            "labels": self.labels,
            "annotations": sum(len(claim.labels) for claim in claims),
            "with_error_stages": sum(bool(claim.error_stages) for claim in claims),
            "remarks": list(self.dataset.remarks),
        }


def build_from(
    path: Path,
    output: Path,
    *,
    format_name: str | None = None,
    skip_bad: bool = False,
    amend: Callable[[Dataset], Dataset] | None = None,
    on_process: Callable[[int, int], None] | None = None,
) -> Built:
    """Read a data set, check its processes and claims, and write it.

    Args:
        path: A file or a folder.
        output: The file to write; gzipped where its name ends in `.gz`.
        format_name: Name of the format; None: it is detected.
        skip_bad: Whether rows and processes that break rules are left out and counted.
        amend: What is done to the data set before it is checked.
        on_process: Called with the number of processes that are checked, and of all.

    Raises:
        InputError: It cannot be read, or breaks rules; nothing is written then.
    """
    refuse_overwriting([output], [path])
    loader = find_loader(path, format_name)
    faults: tuple[Violation, ...] = ()
    try:
        dataset = loader.load(path, skip_bad=skip_bad)
    except InputError as error:
        if error.code != "invalid_dataset" or skip_bad:
            raise
        # What can be read is checked too, so that every fault is listed at once.
        faults = error.violations
        try:
            dataset = loader.load(path, skip_bad=True)
        except InputError:
            raise error from None
    if amend is not None:
        dataset = amend(dataset)
    checked = _Check(dataset)
    checked.every_process(on_process or (lambda _done, _of: None))
    if (checked.faults or faults) and not skip_bad:
        raise _refused(path, dataset, [*faults, *checked.faults])
    kept = checked.kept(path)
    write_dataset(kept, output)
    return Built(output, loader.name, kept, checked.nodes)


def _refused(path: Path, dataset: Dataset, faults: list[Violation]) -> InputError:
    if dataset.places:
        return invalid_dataset(path, sorted(faults, key=_line))
    count = "a fault" if len(faults) == 1 else f"{len(faults):,} faults"
    return InputError(
        f"{path} has {count}; nothing was written.", faults[:MOST_FAULTS], code="bad_rows"
    )


def _line(fault: Violation) -> int:
    found = re.match(r"line (\d+)", fault.where)
    return int(found[1]) if found else 0


class _Check:
    """Processes and their claims, held against the rules of an ingest."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.faults: list[Violation] = []
        self.nodes = 0
        self._processes: dict[str, Callable[[], ProcessInput]] = {}
        self._bad: set[tuple[str, str]] = set()
        self._of_bad_processes = 0
        self._first_process = self._first_claim = ""

    def every_process(self, on_process: Callable[[int, int], None]) -> None:
        """Check all of them; a fault of a claim is none of its process."""
        by_process: dict[str, list[LabelledClaim]] = {}
        for claim in self.dataset.claims:
            by_process.setdefault(claim.process_id, []).append(claim)
        for number, (process_id, opened) in enumerate(self.dataset.processes.items()):
            on_process(number, len(self.dataset.processes))
            claims = by_process.get(process_id, [])
            try:
                held = HeldProcess.read(opened())
            except InputError as error:
                found = _of_process(self._place(process_id), error)
                self._first_process = self._first_process or str(found[0])
                self.faults += found
                self._bad.update(claim.key for claim in claims)
                self._of_bad_processes += len(claims)
                continue
            self._processes[process_id] = opened
            self.nodes += len(held.nodes)
            for claim in claims:
                self._claim(held, claim)

    def _claim(self, held: HeldProcess, claim: LabelledClaim) -> None:
        found = [
            Violation(kind, self._place(*claim.key), message)
            for kind, message in _faults_of(held, claim)
        ]
        if found:
            self._first_claim = self._first_claim or str(found[0])
            self.faults += found
            self._bad.add(claim.key)

    def _place(self, *key: str) -> str:
        names = zip(("process", "claim"), key, strict=False)
        named = ", ".join(f"{what} {name!r}" for what, name in names)
        return self.dataset.places.get(key) or named

    def kept(self, path: Path) -> Dataset:
        """The data set without what breaks rules.

        Raises:
            InputError: No claim is left.
        """
        remarks = list(self.dataset.remarks)
        if bad := len(self.dataset.processes) - len(self._processes):
            remarks.append(
                f"{counted(bad, 'time')}: process that breaks rules, left out with "
                f"{counted(self._of_bad_processes, 'claim')}; the first: {self._first_process}"
            )
        if bad := len(self._bad) - self._of_bad_processes:
            remarks.append(
                f"{counted(bad, 'time')}: claim that does not fit its process, left out; the "
                f"first: {self._first_claim}"
            )
        claims = tuple(claim for claim in self.dataset.claims if claim.key not in self._bad)
        if not claims:
            raise InputError(" ".join([f"{path}: no claim can be used.", *remarks[:3]]))
        return replace(
            self.dataset, processes=self._processes, claims=claims, remarks=tuple(remarks)
        )


def _of_process(place: str, error: InputError) -> list[Violation]:
    """Return what is wrong with a process, each with the place of the process."""
    found = error.violations or [Violation("bad_process", "", str(error))]
    return [one.within(place) for one in found]


def _faults_of(held: HeldProcess, claim: LabelledClaim) -> Iterator[tuple[str, str]]:
    """Kind and message of what does not fit the process."""
    try:
        held.node_of(claim.node_id)
    except InputError as error:
        yield "unknown_node", str(error)
    roots = {ref.node_id for ref in held.roots}
    for one in claim.documents or ():
        if one not in roots:
            yield "unknown_document", f"the document {one!r} is no root of the process"
    # The stage of the roots is never an error stage (VeriTrail 3.2, H).
    stages = {ref.stage for ref in held.nodes if not ref.is_root and ref.stage is not None}
    known = ", ".join(map(str, sorted(stages))) or "none"
    for stage in claim.error_stages or ():
        if stage not in stages:
            why = f"the error stage {stage} is no stage of nodes besides roots; they are {known}"
            yield "unknown_stage", why

"""Making a data set of `veritrail.dataset/1` from files in any format that a loader reads.

Source: ours (docs/datasets.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_graph.evaluation.datasets.dataset_file import write_dataset
from veritrail_graph.evaluation.datasets.loading import find_loader
from veritrail_graph.evaluation.datasets.model import Dataset, LabelledClaim
from veritrail_graph.evaluation.held_process import HeldProcess
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.model import Verdict

NO_LABEL = "none"
"""What claims without a label are counted under."""


@dataclass(frozen=True, slots=True)
class Built:
    """What was read and written.

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
        """How many claims have each label; every label is there."""
        found = Counter(claim.label or NO_LABEL for claim in self.dataset.claims)
        return {label: found[label] for label in (*map(str, Verdict), NO_LABEL)}

    def json_object(self) -> dict[str, Any]:
        """What was read, as JSON."""
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
            "with_error_stages": sum(claim.error_stages is not None for claim in claims),
            "remarks": list(self.dataset.remarks),
        }


def build_from(
    path: Path,
    output: Path,
    *,
    format_name: str | None = None,
    skip_bad: bool = False,
    on_process: Callable[[int, int], None] | None = None,
) -> Built:
    """Read a data set, check its processes and claims, and write it.

    Args:
        path: A file or a folder.
        output: The file to write; gzipped where its name ends in `.gz`.
        format_name: Name of the format; None: it is detected.
        skip_bad: Whether rows and processes that break rules are left out and counted.
        on_process: Called with the number of processes that are checked, and of all.

    Raises:
        InputError: It cannot be read, or breaks rules; nothing is written then.
    """
    if output.exists() and path.exists() and output.samefile(path):
        raise InputError(f"{output} would be written over what it is made from.")
    loader = find_loader(path, format_name)
    dataset = loader.load(path, skip_bad=skip_bad)
    checked, nodes = _checked(dataset, skip_bad, on_process or (lambda _done, _of: None))
    write_dataset(checked, output)
    return Built(output, loader.name, checked, nodes)


def _checked(
    dataset: Dataset, skip_bad: bool, on_process: Callable[[int, int], None]
) -> tuple[Dataset, int]:
    """The data set without what breaks rules of processes, and the number of nodes."""
    by_process: dict[str, list[LabelledClaim]] = {}
    for claim in dataset.claims:
        by_process.setdefault(claim.process_id, []).append(claim)
    processes: dict[str, Callable[[], ProcessInput]] = {}
    bad: dict[tuple[str, str], None] = {}
    first = ""
    nodes = left_out = 0
    for number, (process_id, opened) in enumerate(dataset.processes.items()):
        on_process(number, len(dataset.processes))
        claims = by_process.get(process_id, [])
        try:
            held = HeldProcess.read(opened())
            for claim in claims:
                _check_claim(held, claim)
        except InputError as error:
            told = _told(process_id, error)
            if not skip_bad:
                raise InputError(told, getattr(error, "violations", ()), code="bad_rows") from None
            first = first or told
            left_out += 1
            bad.update({claim.key: None for claim in claims})
            continue
        processes[process_id] = opened
        nodes += len(held.nodes)
    remarks = dataset.remarks
    if left_out:
        remarks = (*remarks, f"{left_out:,} times: process that breaks rules, left out with "
                   f"{len(bad):,} claim(s); first: {first}")  # fmt: skip
    kept = tuple(claim for claim in dataset.claims if claim.key not in bad)
    if not kept:
        raise InputError(f"No claim can be used. {' '.join(remarks[:3])}")
    return (
        Dataset(dataset.name, processes, kept, dataset.description, dataset.licence, remarks),
        nodes,
    )


def _check_claim(held: HeldProcess, claim: LabelledClaim) -> None:
    held.node_of(claim.node_id)
    roots = {ref.node_id for ref in held.roots}
    unknown = [one for one in claim.documents or () if one not in roots]
    if unknown:
        raise InputError(
            f"claim {claim.claim_id!r}: the document {unknown[0]!r} is no root of the process"
        )


def _told(process_id: str, error: InputError) -> str:
    return f"process {process_id!r}: {str(error).removeprefix(f'process {process_id!r} ')}"

"""Reading and writing `veritrail.dataset/1`: JSON Lines of a header, processes and claims.

A process is in its line, or in a file of its own that the line names by its path below the
folder of the data set. Claims may stand before the process that they are about.

Source: ours (docs/evaluation.md).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from veritrail_eval.annotation.final_labels import distribution
from veritrail_eval.datasets.model import FORMAT, ROUNDING, Dataset, LabelledClaim
from veritrail_eval.tables import line_of
from veritrail_eval.whole_file import written_whole
from veritrail_graph.graph.contract import FORMAT as PROCESS_FORMAT
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.exporters.process_file import json_text
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.dataset import open_below, open_inline
from veritrail_graph.graph.importers.process_file.schema import named, violations_of
from veritrail_graph.graph.importers.records import (
    ClaimRecord,
    EdgeRecord,
    NodeRecord,
    PlainEdges,
    ProcessInput,
)

MOST_FAULTS = 1_000
"""Broken rules that are listed."""


class _Header(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    format: str
    name: str
    description: str | None = None
    licence: str | None = None


@dataclass
class _Reading:
    """The state of reading a data set."""

    path: Path
    header: _Header | None = None
    processes: dict[str, Callable[[], ProcessInput]] = field(default_factory=dict)
    claims: dict[tuple[str, str], LabelledClaim] = field(default_factory=dict)
    lines: dict[tuple[str, ...], str] = field(default_factory=dict)
    faults: list[Violation] = field(default_factory=list)

    def wrong(self, where: str, message: str, kind: str = "wrong_value") -> None:
        self.faults.append(Violation(kind, where, message))


def read_dataset(path: Path, *, skip_bad: bool = False) -> Dataset:
    """Read a data set; its processes are read when they are needed.

    Args:
        path: The file.
        skip_bad: Whether lines that break rules are left out and counted, with the claims about
            such processes; a wrong header is an error always.

    Raises:
        InputError: It breaks rules; `violations` lists every one, with its line.
    """
    reading = _Reading(path)
    for number, value in files.json_lines(path, strict=True):
        where = f"line {number}"
        if isinstance(value, InputError):
            reading.wrong(where, str(value).removeprefix(f"{path}, {where}: "), "not_json")
        elif not isinstance(value, dict):
            reading.wrong(where, "must be a JSON object", "wrong_type")
        elif reading.header is None:
            if lacks_header(value):
                reading.wrong(
                    where,
                    "the header line is missing; write it before this line, as "
                    f'{{"format": "{FORMAT}", "name": "NAME"}}',
                    "missing_header",
                )
                break
            _take_header(reading, value, where)
        elif value.keys() == {"process"}:
            _take_process(reading, value["process"], where)
        elif value.keys() == {"claim"}:
            _take_claim(reading, value["claim"], where)
        else:
            keys = ", ".join(shown(str(key)) for key in value) or "none"
            reading.wrong(where, f'must have the one key "process" or "claim"; it has {keys}')
    if reading.header is None and not reading.faults:
        reading.wrong(path.name, "the file is empty", "not_json")
    for key, claim in reading.claims.items():
        if claim.process_id not in reading.processes:
            message = f"process_id {shown(claim.process_id)} is no process of the data set"
            reading.wrong(reading.lines[key], message, "unknown_process")
    reading.faults.sort(key=line_of)
    header = reading.header
    if header is None or not header.name or (reading.faults and not skip_bad):
        raise invalid_dataset(path, reading.faults)
    claims = tuple(one for one in reading.claims.values() if one.process_id in reading.processes)
    remarks: tuple[str, ...] = ()
    if reading.faults:
        often = counted(len(reading.faults), "time")
        remarks = (f"{often}: line that breaks a rule, left out; the first: {reading.faults[0]}",)
    return Dataset(
        header.name, reading.processes, claims, header.description, header.licence, remarks,
        reading.lines,
    )  # fmt: skip


def invalid_dataset(path: Path, faults: Sequence[Violation]) -> InputError:
    """The error that lists what is wrong with a data set."""
    return InputError(
        f"{path} breaks {counted(len(faults), 'rule')} of a data set.",
        faults[:MOST_FAULTS],
        code="invalid_dataset",
    )


def lacks_header(first: Mapping[str, Any]) -> bool:
    """Return whether the first line of a file is a line of a data set that is no header."""
    return (first.keys() == {"process"} and isinstance(first["process"], str | dict)) or (
        first.keys() == {"claim"} and isinstance(first["claim"], dict)
    )


def _take_header(reading: _Reading, value: dict[str, Any], where: str) -> None:
    try:
        header = _Header.model_validate(value)
    except ValidationError as error:
        reading.faults += violations_of(error, f"{where} (the header)", _Header)
        header = _Header(format=str(value.get("format") or FORMAT), name="")
    if header.format != FORMAT:
        reading.wrong(where, f"the format is {shown(header.format)}; known is {FORMAT!r}")
    reading.header = header


def _take_process(reading: _Reading, value: Any, where: str) -> None:
    try:
        if isinstance(value, str):
            opened = partial(open_below, reading.path, value)
            process_id = opened().header.process_id
        elif isinstance(value, dict):
            process_id = value.get("process_id")
            # Reading takes the lists out of the document, so that each reading gets its own.
            opened = partial(open_inline, reading.path, value)
            opened()
        else:
            reading.wrong(where, "process must be a process or the path of one", "wrong_type")
            return
    except InputError as error:
        found = getattr(error, "violations", ()) or [Violation("wrong_value", "", str(error))]
        reading.faults += [Violation(one.kind, f"{where}: {one.where}".rstrip(": "), one.message)
                           for one in found]  # fmt: skip
        return
    if not isinstance(process_id, str):
        reading.wrong(where, "a process of a data set needs a process_id", "missing_key")
    elif process_id in reading.processes:
        message = f"process_id {shown(process_id)} is there already"
        reading.wrong(where, message, "duplicate_process_id")
    else:
        reading.processes[process_id] = opened
        reading.lines[process_id,] = where


def _take_claim(reading: _Reading, value: Any, where: str) -> None:
    place = named(where, value, "claim_id")
    try:
        claim = LabelledClaim.model_validate(value, extra="forbid")
    except ValidationError as error:
        reading.faults += violations_of(error, place, LabelledClaim)
        return
    annotators = [one.annotator for one in claim.labels]
    if len(set(annotators)) < len(annotators):
        reading.wrong(place, "an annotator has labelled it twice", "duplicate_annotator")
        return
    if (other := _other_shares(claim)) is not None:
        reading.wrong(place, other, "conflict")
        return
    if claim.key in reading.claims:
        message = f"its claim_id is in {reading.lines[claim.key]} already"
        reading.wrong(place, message, "duplicate_claim_id")
        return
    reading.claims[claim.key] = claim
    reading.lines[claim.key] = place


def _other_shares(claim: LabelledClaim) -> str | None:
    """Say how the distribution of a claim differs from its labels; None: it does not."""
    said, counted_shares = claim.label_distribution, distribution(claim.labels)
    if said is None or counted_shares is None:
        return None
    if all(abs(said.get(name, 0) - share) <= ROUNDING for name, share in counted_shares.items()):
        return None
    one, other = (
        ", ".join(f"{name} {share:.3g}" for name, share in shares.items() if share)
        for shares in (said, counted_shares)
    )
    return f"label_distribution says {one}, but labels say {other}; correct one of them"


def write_dataset(dataset: Dataset, path: Path) -> None:
    """Write a data set with its processes in it; gzipped where the name ends in `.gz`.

    Raises:
        InputError: A process cannot be read, or the file cannot be written; nothing is left then.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    with written_whole(path) as draft, opened(draft, "wt", encoding="utf-8") as file:
        for line in _lines_of(dataset):
            _write(file, line)


def _write(file: IO[Any], line: Mapping[str, Any]) -> None:
    file.write(json_text(line))
    file.write("\n")


def _lines_of(dataset: Dataset) -> Iterator[dict[str, Any]]:
    yield _known(
        {
            "format": FORMAT,
            "name": dataset.name,
            "description": dataset.description,
            "licence": dataset.licence,
        }
    )
    for process_id, opened in dataset.processes.items():
        yield {"process": process_document(opened(), process_id)}
    for claim in dataset.claims:
        yield {"claim": _of_claim(claim)}


def _of_claim(claim: LabelledClaim) -> dict[str, Any]:
    """A claim without what says nothing; an empty list says something where null is possible."""
    optional = ("error_stages", "documents")
    facts = claim.json_object()
    return {
        key: one for key, one in facts.items() if one is not None and (one != [] or key in optional)
    }


def process_document(source: ProcessInput, process_id: str | None = None) -> dict[str, Any]:
    """An input of any format as a process file, without trails.

    Args:
        source: The input.
        process_id: Its id, where the input has none.

    Raises:
        InputError: The input breaks rules of its format.
    """
    header = source.header
    lists: dict[str, list[dict[str, Any]]] = {"nodes": [], "edges": [], "claims": []}
    for record in source.records():
        if isinstance(record, Violation):
            raise InputError(f"The process cannot be read: {record}")
        if isinstance(record, NodeRecord):
            lists["nodes"].append(_node(record))
        elif isinstance(record, EdgeRecord):
            lists["edges"].append(_edge(record))
        elif isinstance(record, PlainEdges):
            lists["edges"] += [_edge(one) for one in record.edges()]
        elif isinstance(record, ClaimRecord):
            lists["claims"].append(_claim(record))
    stages = {str(stage): name for stage, name in header.stage_names.items()}
    facts = {
        "format": PROCESS_FORMAT,
        "process_id": header.process_id or process_id,
        "name": header.name,
        "question": header.question,
        "stages": stages or None,
        "terminals": None if header.terminals is None else list(header.terminals),
        "warnings": list(header.warnings) or None,
        "source_format": None if header.source_format == PROCESS_FORMAT else header.source_format,
    }
    claims = {"claims": lists["claims"]} if lists["claims"] else {}
    return {**_known(facts), "nodes": lists["nodes"], "edges": lists["edges"], **claims}


def _node(record: NodeRecord) -> dict[str, Any]:
    return _known(
        {
            "node_id": record.node_id,
            "text": record.text,
            "stage": record.stage,
            "kind": record.kind,
            "step": record.step,
            "metadata": dict(record.metadata) or None,
            "origin": record.origin,
            "question": record.question,
        }
    )


def _edge(record: EdgeRecord) -> dict[str, Any]:
    return {"source": record.source, "target": record.target, **record.facts.given}


def _claim(record: ClaimRecord) -> dict[str, Any]:
    names = ("claim_id", "text", "node_id", "start", "end", "label", "origin", "said")
    facts = {name: getattr(record, name) for name in names}
    facts["sub_claims"] = list(record.sub_claims) or None
    facts["also"] = [list(place) for place in record.also] or None
    return _known(facts)


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value not in (None, [])}

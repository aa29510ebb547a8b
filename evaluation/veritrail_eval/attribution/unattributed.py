"""Labelled sentences of a data set as lines that are still to be attributed.

A data set such as TofuEval says which sentences are faithful, and not what they rest on. The lines
hold ids, texts, labels and documents; a person or an engine adds the attributions.

Source: Error-tolerant attribution 4.1 and 4.2.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from veritrail_eval.attribution.model import VERDICTS
from veritrail_eval.attribution.reading import OPEN
from veritrail_eval.datasets.model import Dataset, LabelledClaim
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.held_process import HeldProcess

_LABELS = {verdict: label for label, verdict in VERDICTS.items()}


@dataclass(frozen=True, slots=True)
class Unattributed:
    """The lines of a data set.

    Attributes:
        lines: A line for each sentence of the texts that hold labelled claims.
        labelled: How many of them have a label.
        elsewhere: Labelled claims that are no whole sentence of their text; they are left out.
    """

    lines: list[dict[str, Any]]
    labelled: int
    elsewhere: int


def unattributed(dataset: Dataset) -> Unattributed:
    """The sentences of all texts that hold labelled claims, with the labels of those claims.

    Ids are those of `veritrail eval attribution`: `NODE:SENTENCE`, and of several processes
    `PROCESS/NODE:SENTENCE`.

    Raises:
        InputError: A process cannot be read, or no claim is a sentence.
    """
    of_process: dict[str, list[LabelledClaim]] = defaultdict(list)
    for claim in dataset.labelled:
        of_process[claim.process_id].append(claim)
    splitter = SentenceSplitter.for_language()
    lines: list[dict[str, Any]] = []
    found = elsewhere = 0
    for process_id, claims in of_process.items():
        process = HeldProcess.read(dataset.processes[process_id]())
        prefix = f"{process_id}/" if len(dataset.processes) > 1 else ""
        of_node: dict[str, dict[str, Verdict]] = defaultdict(dict)
        for claim in claims:
            node_id = process.node_of(claim.node_id).node_id
            if claim.label is not None:
                of_node[node_id][_plain(claim.text)] = claim.label
        for node_id, labels in of_node.items():
            sources = process.adjacency.source_nodes([node_id]).nodes
            documents = [f"{prefix}{one.node_id}" for one in sources]
            for sentence in splitter.split(node_id, process.texts[node_id]):
                label = labels.pop(_plain(sentence.text), None)
                found += label is not None
                line: dict[str, Any] = {
                    "id": f"{prefix}{node_id}:{sentence.index}",
                    "text": sentence.text,
                    "label": None if label is None else _LABELS[label].value,
                    "documents": documents or None,
                    "status": OPEN,
                    "attributed": [],
                }
                lines.append(line)
            elsewhere += len(labels)
    if not found:
        raise InputError(
            f"{dataset.name}: no labelled claim is a whole sentence of its text, so that no "
            "sentence has a label."
        )
    return Unattributed(lines, found, elsewhere)


def _plain(text: str) -> str:
    return " ".join(text.split())

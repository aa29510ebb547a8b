"""The source texts sentence by sentence: how many there are, their texts, which are not literal.

A process file is split as everywhere in this project. Who split the texts in another way brings
JSON Lines of `{"node_id", "sentences": ["…"], "non_literal": [3]}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veritrail_eval.attribution.model import Passage, SourceSentence
from veritrail_eval.datasets.loading import OwnLoader, load_dataset
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.records import ProcessInput
from veritrail_graph.graph.importers.registry import find_processes
from veritrail_graph.graph.model import NodeRef, Sentence
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.held_process import HeldProcess
from veritrail_graph.verifier.ports import ReadNode, SplitNode


@dataclass(frozen=True, slots=True)
class Sources:
    """The source sentences of some nodes.

    Attributes:
        counts: How many sentences each node has.
        passages: Their texts.
        non_literal: Sentences with non-literal language; None: the file does not say.
        inputs: The source nodes of each node that has some; of texts that are split already none
            are known.
    """

    counts: Mapping[str, int]
    passages: Mapping[SourceSentence, Passage]
    non_literal: frozenset[SourceSentence] | None = None
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def documents(self) -> list[str]:
        """The nodes with text that were made from no other node, in their order."""
        return [name for name, count in self.counts.items() if count and name not in self.inputs]

    def node(self, node_id: str) -> ReadNode:
        """A node as judges read it: its sentences, with a space between them."""
        sentences = []
        start = 0
        for place in range(self.counts[node_id]):
            text = self.passages[node_id, place].text
            sentences.append(Sentence(node_id, place, start, start + len(text), text))
            start += len(text) + 1
        text = " ".join(one.text for one in sentences)
        return SplitNode(NodeRef.named(node_id), text, tuple(sentences))

    def lacks(self, source: SourceSentence) -> bool:
        """Return whether the node is there, but has no such sentence."""
        count = self.counts.get(source[0])
        return count is not None and source[1] >= count


def together(first: Sources, second: Sources) -> Sources:
    """The nodes of both; where both have a node, it must be the same.

    Raises:
        InputError: Two different texts have one name.
    """
    for name in first.counts.keys() & second.counts.keys():
        one, other = first.node(name).text, second.node(name).text
        if " ".join(one.split()) != " ".join(other.split()):
            raise InputError(
                f"The node {shown(name)} has one text in the sources and another in the other "
                "documents; rename one."
            )
    return Sources(
        {**second.counts, **first.counts},
        {**second.passages, **first.passages},
        first.non_literal,
        {**second.inputs, **first.inputs},
    )


def read_sources(path: Path) -> Sources:
    """Read source texts.

    Args:
        path: A process in any format of `veritrail ingest`, a data set of ours, or JSON Lines of
            split texts. Of several processes the nodes are named `PROCESS/NODE`.

    Raises:
        InputError: It cannot be read; faults are listed with their lines.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    first = files.first_value(path)
    if isinstance(first, dict) and {"node_id", "sentences"} <= first.keys():
        return _split_texts(path)
    held = [HeldProcess.read(opened()) for opened in _processes(path)]
    splitter = SentenceSplitter.for_language()
    counts: dict[str, int] = {}
    passages: dict[SourceSentence, Passage] = {}
    inputs: dict[str, tuple[str, ...]] = {}
    for process in held:
        prefix = f"{process.process_id}/" if len(held) > 1 else ""
        for ref in process.nodes:
            name = f"{prefix}{ref.node_id}"
            split = splitter.split(ref.node_id, process.texts[ref.node_id])
            counts[name] = len(split)
            passages.update(((name, one.index), Passage(one.text, one.start)) for one in split)
            found = process.adjacency.source_nodes([ref.node_id]).nodes
            if found:
                inputs[name] = tuple(f"{prefix}{one.node_id}" for one in found)
    return Sources(counts, passages, inputs=inputs)


def _processes(path: Path) -> list[Callable[[], ProcessInput]]:
    """Return what opens the processes of a path: a data set of ours, or any format of an ingest."""
    if OwnLoader().detect(path) is None:
        return list(load_dataset(path).processes.values())
    return [found.open for found in find_processes(path)]


def _split_texts(path: Path) -> Sources:
    counts: dict[str, int] = {}
    passages: dict[SourceSentence, Passage] = {}
    non_literal: set[SourceSentence] = set()
    flagged = False
    faults: list[Violation] = []
    for number, value in files.json_lines(path):
        where = f"line {number}"
        fault = _fault(path, where, value, counts)
        if fault is not None:
            faults.append(fault)
            continue
        node_id, texts = value["node_id"], value["sentences"]
        counts[node_id] = len(texts)
        passages.update(((node_id, place), Passage(text)) for place, text in enumerate(texts))
        flagged = flagged or value.get("non_literal") is not None
        non_literal |= {(node_id, sentence) for sentence in value.get("non_literal") or ()}
    if faults:
        count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise InputError(f"{path} has {count}; nothing was computed.", faults)
    return Sources(counts, passages, frozenset(non_literal) if flagged else None)


def _fault(path: Path, where: str, value: Any, known: Mapping[str, int]) -> Violation | None:
    if isinstance(value, InputError):
        return Violation("not_json", where, str(value).removeprefix(f"{path}, {where}: "))
    if not isinstance(value, dict):
        return Violation("not_an_object", where, 'must be {"node_id", "sentences": ["…"]}')
    node_id, texts = value.get("node_id"), value.get("sentences")
    if not isinstance(node_id, str) or not node_id:
        return Violation("wrong_value", f"{where}, node_id", "must be a text that is not empty")
    if node_id in known:
        return Violation("duplicate", f"{where}, node_id", f"{shown(node_id)} is there already")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return Violation("wrong_value", f"{where}, sentences", "must be a list of texts")
    flags = value.get("non_literal")
    if flags is not None and not (
        isinstance(flags, list)
        and all(isinstance(one, int) and not isinstance(one, bool) for one in flags)
        and all(0 <= one < len(texts) for one in flags)
    ):
        message = f"must be a list of places in `sentences`, from 0 to {len(texts) - 1}"
        return Violation("wrong_value", f"{where}, non_literal", message)
    return None

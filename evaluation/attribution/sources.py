"""The source texts sentence by sentence: how many there are, their texts, which are not literal.

A process file is split as everywhere in this project. Who split the texts in another way brings
JSON Lines of `{"node_id", "sentences": ["…"], "non_literal": [3]}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_graph.evaluation.attribution.model import Passage, SourceSentence
from veritrail_graph.evaluation.held_process import HeldProcess
from veritrail_graph.graph.errors import InputError, Violation, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.sentences import SentenceSplitter


@dataclass(frozen=True, slots=True)
class Sources:
    """The source sentences of some nodes.

    Attributes:
        counts: How many sentences each node has.
        passages: Their texts.
        non_literal: Sentences with non-literal language; None: the file does not say.
    """

    counts: Mapping[str, int]
    passages: Mapping[SourceSentence, Passage]
    non_literal: frozenset[SourceSentence] | None = None

    def lacks(self, source: SourceSentence) -> bool:
        """Whether the node is there, but has no such sentence."""
        count = self.counts.get(source[0])
        return count is not None and source[1] >= count


def read_sources(path: Path) -> Sources:
    """Read source texts.

    Args:
        path: A process in any format of `veritrail ingest`, or JSON Lines of split texts.

    Raises:
        InputError: It cannot be read; faults are listed with their lines.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    first = files.first_value(path)
    if isinstance(first, dict) and {"node_id", "sentences"} <= first.keys():
        return _split_texts(path)
    held = HeldProcess.read(open_input(path))
    splitter = SentenceSplitter.for_language()
    split = [splitter.split(node_id, text) for node_id, text in held.texts.items()]
    return Sources(
        {node_id: len(each) for node_id, each in zip(held.texts, split, strict=True)},
        {(one.node_id, one.index): Passage(one.text, one.start) for each in split for one in each},
    )


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

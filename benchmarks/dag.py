"""A generated process of the paper's size, always the same, and its process file.

The stages are those of the paper's DiverseSumm+ runs of GraphRAG: article chunks, extracted
entities and relationships, summarized ones, community reports, map-level answers, and the
final answer.

Source: VeriTrail B.2.1 (stages and their node counts).
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_eval.simulation.shapes import EDGES, STAGE_NODES, stage_edges

CHARACTERS, CLAIMS = 55_000_000, 50
KINDS = ("chunk", "extraction", "description", "report", "map_answer", "final_answer")
# Characters of a node by stage; chunks take what is left of the whole.
STAGE_TEXT = (0, 300, 700, 2_600, 3_000, 5_000)
WORDS = 20_000
POOL = 2_000_000
_LONGEST = 100  # more than a word has


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the generated process is.

    Attributes:
        stages: Number of nodes by stage, roots first.
        edges: Number of edges.
        characters: Length of all texts together, about.
    """

    stages: tuple[int, ...]
    edges: int
    characters: int

    @classmethod
    def of(cls, scale: float) -> Shape:
        """The paper's size times `scale`, with one answer however large it is."""
        stages = tuple(max(1, round(nodes * scale)) for nodes in STAGE_NODES[:-1])
        return cls((*stages, 1), round(EDGES * scale), round(CHARACTERS * scale))

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return sum(self.stages)


def scaled(count: int, scale: float, least: int = 1) -> int:
    """A count of what else is measured, at the scale of the process."""
    return max(least, round(count * scale))


def node_id(stage: int, place: int) -> str:
    """Ids as importers make them: without any order."""
    return hashlib.blake2b(b"%d/%d" % (stage, place), digest_size=16).hexdigest()


def nodes(shape: Shape) -> Iterator[dict[str, Any]]:
    """All nodes, stage by stage."""
    pool = _text_pool()
    texts = random.Random("texts")  # nothing secret
    for stage, count in enumerate(shape.stages):
        for place in range(count):
            node = {
                "node_id": node_id(stage, place),
                "text": _part(pool, texts.randrange, _length(shape, stage, place)),
                "stage": stage + 1,
                "kind": KINDS[stage],
                "metadata": {"number": place},
            }
            if stage:  # no model wrote the source texts: walks end in them
                node["step"] = f"step {stage + 1}"
                node["metadata"]["model"] = "generated"
            yield node


def edges(shape: Shape) -> Iterator[tuple[str, str]]:
    """(source, target) of every edge, grouped by target as a pipeline would write them."""
    for stage in range(1, len(shape.stages)):
        for place, sources in enumerate(_sources(shape, stage)):
            target = node_id(stage, place)
            for source_stage, source in sources:
                yield node_id(source_stage, source), target


def write(path: str, scale: float, process_id: str, sentences: int = 0) -> dict[str, int]:
    """Write the process file as JSON Lines.

    Args:
        path: The file.
        scale: The size of the process; 1: the paper's.
        process_id: Its id.
        sentences: So many claims are sentences of the answer, for an engine that reads what they
            say: every other one stands also in one text of each stage below, down to the source
            text. 0: the usual claims, which say nothing.

    Returns:
        What was written, counted.
    """
    shape = Shape.of(scale)
    claims = _said(sentences) or [f"Claim number {number}." for number in range(CLAIMS)]
    planted = _planted(shape, claims) if sentences else {}
    counts = {"nodes": 0, "edges": 0, "characters": 0}
    with Path(path).open("w", encoding="utf-8") as file:

        def line(value: object) -> None:
            file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")

        line({"format": "veritrail.process/1", "process_id": process_id, "name": "Generated"})
        for node in nodes(shape):
            counts["nodes"] += 1
            counts["characters"] += len(node["text"])
            if node["node_id"] in planted:
                node["text"] = " ".join([node["text"] + ".", *planted[node["node_id"]]])
            line({"node": node})
        for source, target in edges(shape):
            counts["edges"] += 1
            line({"edge": {"source": source, "target": target}})
        for number, text in enumerate(claims):
            line({"claim": {"claim_id": f"claim-{number}", "text": text}})
    return counts


def _said(count: int) -> list[str]:
    """Sentences of words of the texts, which no text has as yet."""
    draw = random.Random("claims")  # nothing secret
    words = sorted({word for word in _text_pool().split() if word.isalpha()})
    return [" ".join(draw.sample(words, 12)).capitalize() + "." for _ in range(count)]


def _planted(shape: Shape, claims: Sequence[str]) -> dict[str, list[str]]:
    """Claims by the id of the nodes that say them: the answer all, a way to the roots every other.

    So half of them are found at once, and the others are looked for as far as a walk goes.
    """
    last = len(shape.stages) - 1
    planted = {node_id(last, 0): list(claims)}
    at = dict.fromkeys(range(1, len(claims), 2), (last, 0))
    for stage in range(last, 0, -1):
        sources = _sources(shape, stage)
        for number, (reached, place) in at.items():
            if reached == stage and sources[place]:
                at[number] = sources[place][number % len(sources[place])]
                planted.setdefault(node_id(*at[number]), []).append(claims[number])
    return planted


def _text_pool() -> str:
    """Sentences of made-up words, of which every text is a part."""
    draw = random.Random("words")
    letters = "etaoinshrdlucmfwypvbgkqjxz" + "é"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 10))) for _ in range(WORDS)]
    parts: list[str] = []
    size = 0
    while size < POOL:
        sentence = " ".join(draw.choices(words, k=draw.randint(8, 25))).capitalize() + ". "
        parts.append(sentence)
        size += len(sentence)
    return "".join(parts)[:POOL]


def _part(pool: str, draw: Callable[[int], int], length: int) -> str:
    """Whole words of the pool: parts of words would be more words than any language has."""
    start = pool.index(" ", draw(POOL - length - _LONGEST)) + 1
    return pool[start : max(start, pool.rfind(" ", start, start + length))]


def _length(shape: Shape, stage: int, place: int) -> int:
    if stage:
        return STAGE_TEXT[stage]
    others = sum(
        count * length for count, length in zip(shape.stages, STAGE_TEXT, strict=True) if length
    )
    share, rest = divmod(max(0, shape.characters - others), shape.stages[0])
    return share + (place < rest)


def _sources(shape: Shape, stage: int) -> list[list[tuple[int, int]]]:
    """(stage, place) of the sources of every node of a stage."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(shape.stages[stage])]
    for source_stage, sources, targets in stage_edges(shape.stages, shape.edges, stage):
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            found[target].append((source_stage, source))
    return found

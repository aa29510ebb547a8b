"""Hierarchical summaries: chunks are summarised, and summaries merged until one is left.

Every text on the way is kept, with its inputs, so that the result is a process to verify.

Source: VeriTrail B.1.1 (chunks of 2,048 tokens, prompts of up to 8,192, stages), after Chang et
al., 2023, whose merges are given the summary before as context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_eval.building.asking import ask, lines_of
from veritrail_eval.building.chunks import Encoding, token_chunks
from veritrail_eval.building.options import SummaryOptions
from veritrail_graph.graph.contract import FORMAT
from veritrail_graph.graph.errors import InputError
from veritrail_graph.verifier.answers import text_of
from veritrail_graph.verifier.models.port import InvalidAnswer, Meter
from veritrail_graph.verifier.ports import Split
from veritrail_graph.verifier.prompted import PromptedStep, results

AT_ONCE = 16
"""Chunks that are summarised side by side; the model's own limit is what bounds the calls."""
ROOM_AROUND = 200
"""Tokens kept free for labels, roles and separators."""
WORDS_A_TOKEN = 0.75


@dataclass
class _Node:
    """A text of the hierarchy."""

    node_id: str
    text: str
    stage: int
    inputs: tuple[str, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Summariser:
    """Makes hierarchical summaries.

    Attributes:
        chunk: The step that summarises a chunk.
        merge: The step that merges summaries.
        options: How.
        split: Splits texts into sentences, at whose ends chunks end.
        meter: Records every call.
        on_text: Told of each finished text: the level, how many of it are done, how many there are.
    """

    chunk: PromptedStep
    merge: PromptedStep
    options: SummaryOptions
    split: Split
    meter: Meter
    on_text: Callable[[int, int, int], None] = lambda _level, _done, _total: None

    def __post_init__(self) -> None:
        """See that the sizes leave room to merge.

        Raises:
            InputError: They do not.
        """
        self._encoding = Encoding(self.options.encoding)
        count, options = self._encoding.count, self.options
        free = options.context_tokens - ROOM_AROUND
        # A merge of two, with the summary before them and the answer, always fits.
        self._longest = (free - count(self.merge.prompt.text)) // 4
        self._room = free - count(self.merge.prompt.text) - 2 * self._longest
        if options.summary_tokens > self._longest:
            raise InputError(
                f"Summaries of {options.summary_tokens:,} tokens do not fit: of prompts of "
                f"{options.context_tokens:,} tokens a summary may have {max(self._longest, 0):,}."
            )
        needed = count(self.chunk.prompt.text) + options.chunk_tokens + options.summary_tokens
        if needed > free:
            raise InputError(
                f"A chunk of {options.chunk_tokens:,} tokens does not fit into prompts of "
                f"{options.context_tokens:,}; {needed + ROOM_AROUND:,} are needed."
            )

    async def summarise(self, name: str, process_id: str, text: str) -> dict[str, Any]:
        """Summarise a text.

        Args:
            name: Its title.
            process_id: The id of the process.
            text: The text.

        Returns:
            A process file, `veritrail.process/1`.

        Raises:
            InputError: The text is empty.
            ModelError: No answer could be had.
        """
        chunks = self._chunks(name, text)
        nodes = list(chunks)
        self.on_text(1, 0, len(chunks))
        summaries = await self._summarise_chunks(name, chunks)
        nodes += summaries
        level = 1
        while len(summaries) > 1:
            level += 1
            summaries = await self._merge_level(name, level, summaries)
            nodes += [one for one in summaries if one.stage == level + 1]
        return _process(name, process_id, nodes, summaries[0].node_id)

    def _chunks(self, name: str, text: str) -> list[_Node]:
        if not text.strip():
            raise InputError(f"{name}: the text is empty")
        size = self.options.chunk_tokens
        stops = [sentence.end for sentence in self.split(name, text)]
        found = token_chunks(text, size, encoding=self._encoding, stops=stops)
        pieces = [one for one in found if text[one.start : one.end].strip()]
        return [
            _Node(
                f"chunk/{number}",
                text[one.start : one.end],
                1,
                metadata={"document": name, "start": one.start, "tokens": one.tokens},
            )
            for number, one in enumerate(pieces)
        ]

    async def _summarise_chunks(self, name: str, chunks: Sequence[_Node]) -> list[_Node]:
        slots = asyncio.Semaphore(AT_ONCE)
        done = 0

        async def one(number: int, chunk: _Node) -> _Node:
            nonlocal done
            async with slots:
                user = "\n".join([*self._head(name), *lines_of("text", chunk.text)])
                text = await self._ask(self.chunk, user)
            done += 1
            self.on_text(1, done, len(chunks))
            return self._node(self.chunk, 1, number, text, (chunk.node_id,))

        works = [one(number, chunk) for number, chunk in enumerate(chunks)]
        return results(await asyncio.gather(*works, return_exceptions=True))

    async def _merge_level(self, name: str, level: int, summaries: Sequence[_Node]) -> list[_Node]:
        """Merge neighbours; a last one without a neighbour goes on to the next level unchanged."""
        groups = self._groups(summaries)
        made: list[_Node] = []
        self.on_text(level, 0, len(groups))
        for number, group in enumerate(groups):
            if len(group) == 1:
                made.append(group[0])
                continue
            before = made[-1] if made and self.options.with_context else None
            lines = self._head(name)
            lines += [] if before is None else lines_of("context", before.text)
            for place, one in enumerate(group, start=1):
                lines += lines_of(f"summary {place}", one.text)
            text = await self._ask(self.merge, "\n".join(lines))
            inputs = [*([] if before is None else [before.node_id])]
            inputs += [one.node_id for one in group]
            made.append(self._node(self.merge, level, number, text, tuple(inputs)))
            self.on_text(level, number + 1, len(groups))
        return made

    def _groups(self, summaries: Sequence[_Node]) -> list[list[_Node]]:
        """Neighbours, as many in a group as fit into a prompt."""
        groups: list[list[_Node]] = []
        used = 0
        for one in summaries:
            size = self._size(one.text)
            if groups and used + size <= self._room:
                groups[-1].append(one)
                used += size
            else:
                groups.append([one])
                used = size
        return groups

    def _size(self, text: str) -> int:
        """Tokens of a summary as a prompt shows it."""
        return self._encoding.count("\n".join(lines_of("summary 99", text))) + 1

    def _head(self, name: str) -> list[str]:
        words = int(self.options.summary_tokens * WORDS_A_TOKEN)
        return [f"Title: {' '.join(name.split())}", f"Limit: {words} words"]

    async def _ask(self, step: PromptedStep, user: str) -> str:
        def read(answer: Mapping[str, Any]) -> str:
            text = text_of(answer, "summary") or ""
            if not text:
                raise InvalidAnswer("`summary` is empty")
            if (size := self._size(text)) > self._longest:
                message = f"the summary has {size:,} tokens, more than {self._longest:,}"
                raise InvalidAnswer(message)
            return text

        return await ask(step, user, read, self.meter)

    def _node(
        self, step: PromptedStep, level: int, number: int, text: str, inputs: tuple[str, ...]
    ) -> _Node:
        made_by = {"model": step.model.model, "prompt": step.prompt.name}
        return _Node(f"level/{level}/{number}", text, level + 1, inputs, made_by)


def _process(name: str, process_id: str, nodes: Sequence[_Node], terminal: str) -> dict[str, Any]:
    stages = {one.stage for one in nodes}
    last = max(stages)
    names = {2: "chunk summary", last: "summary", 1: "chunk"}
    return {
        "format": FORMAT,
        "process_id": process_id,
        "name": name,
        "stages": {str(one): names.get(one, "merged summary") for one in sorted(stages)},
        "nodes": [
            {
                "node_id": one.node_id,
                "text": one.text,
                "stage": one.stage,
                "kind": "chunk" if one.stage == 1 else "summary",
                "metadata": one.metadata,
            }
            for one in nodes
        ],
        "edges": [
            {"source": source, "target": one.node_id} for one in nodes for source in one.inputs
        ],
        "terminals": [terminal],
    }

"""Excerpts: the blocks of numbered sentences that prompts show, and how they are packed.

Ids count through all blocks of a prompt. Every sentence follows its id, and every line
break inside it becomes a space, so that no text can open a block or a line of ours.

Source: VeriTrail 3.1.2, C.2, E.2; appendix G (context for cut nodes).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from veritrail_graph.graph.model import Sentence

SOURCE, STEP = "source", "step"
"""Marks of blocks: text of a source, and text that was written in a step of the process."""

CONTEXT_SENTENCES = 2
"""Sentences before the cut that the later part of a node is shown as context."""
CONTEXT_CHARACTERS = 1_000
_HEADING_CHARACTERS = 100

_LINE_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SENTENCE_END = (".", "!", "?", ":", ";", ",", "…", '"', "”")


@dataclass(frozen=True, slots=True)
class Unit:
    """The sentences of one block: a node, a part of one, or a summary.

    Attributes:
        sentences: What is numbered; never empty.
        before: Sentences of the same node before them that are shown as context.
        mark: What stands behind its label: whose text it is; empty: nothing.
    """

    sentences: tuple[Sentence, ...]
    before: tuple[Sentence, ...] = ()
    mark: str = ""

    def part(self, start: int, end: int) -> Unit:
        """The sentences from `start` to before `end`, with their context."""
        before = context_for(self.before + self.sentences[:start])
        return Unit(self.sentences[start:end], before, self.mark)


@dataclass(frozen=True, slots=True)
class Excerpts:
    """The excerpts of one prompt.

    Attributes:
        text: The blocks as the prompt shows them.
        sentences: The sentences by their ids.
        units: The blocks.
    """

    text: str
    sentences: tuple[Sentence, ...]
    units: tuple[Unit, ...]


def one_line(text: str) -> str:
    """The text with every kind of line break as a space, and nothing else changed."""
    return _LINE_BREAK.sub(" ", text)


def render(units: Sequence[Unit]) -> Excerpts:
    """Number the sentences of these blocks and write them out."""
    lines: list[str] = []
    sentences: list[Sentence] = []
    for label, unit in enumerate(units, start=1):
        lines.append(f"[[{label}]] {unit.mark}".rstrip())
        lines += [f"(context) {one_line(text)}" for text in context_texts(unit.before)]
        for sentence in unit.sentences:
            lines.append(f"{len(sentences)}: {one_line(sentence.text)}")
            sentences.append(sentence)
    return Excerpts("\n".join(lines), tuple(sentences), tuple(units))


def claim_lines(claim: str, sub_claims: Sequence[str] = ()) -> str:
    """Return what follows the excerpts; sub-claims only where there is more than one."""
    lines = [f"Claim: {one_line(claim)}"]
    if len(sub_claims) > 1:
        lines += ["Sub-claims:", *(f"- {one_line(sub_claim)}" for sub_claim in sub_claims)]
    return "\n".join(lines)


def context_for(before: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Return what the later part of a cut node is shown: its heading and the last sentences before.

    Source: VeriTrail G.
    """
    near = before[-CONTEXT_SENTENCES:]
    if any(is_heading(one.text) for one in near):
        return near
    earlier = reversed(before[: -len(near)]) if near else ()
    heading = next((one for one in earlier if is_heading(one.text)), None)
    return near if heading is None else (heading, *near)


def context_texts(context: tuple[Sentence, ...]) -> list[str]:
    """The texts of context lines: of a very long sentence its end."""
    return [sentence.text[-CONTEXT_CHARACTERS:] for sentence in context]


def is_heading(text: str) -> bool:
    """Return whether a sentence looks like a heading: short, and not ended as a sentence is."""
    return text.startswith("#") or (
        len(text) <= _HEADING_CHARACTERS
        and not text.endswith(_SENTENCE_END)
        and text[0].upper() == text[0]
    )


def pack(
    units: Iterable[Unit], limit: int | None, room: int, tokens: Callable[[str], int]
) -> Iterator[Excerpts]:
    """Fill prompts with blocks in order; a block that does not fit is cut.

    Args:
        units: The blocks.
        limit: The most sentences of a prompt; None: as many as there is room for.
        room: The most tokens that the excerpts of a prompt may have.
        tokens: Counts tokens.
    """
    filling: list[Unit] = []
    count = used = 0
    for unit in units:
        start, before = 0, unit.before
        while start < len(unit.sentences):
            spent = _overhead(before, tokens)
            end = start
            while end < len(unit.sentences):
                cost = tokens(unit.sentences[end].text) + 4
                size = count + end - start
                # A sentence that alone is too long gets a prompt of its own.
                if size and (size == limit or used + spent + cost > room):
                    break
                spent += cost
                end += 1
            if end > start:
                part = Unit(unit.sentences[start:end], before)
                filling.append(part)
                before = context_for(before + part.sentences)
                count, used, start = count + end - start, used + spent, end
            if start < len(unit.sentences):
                yield render(filling)
                filling, count, used = [], 0, 0
    if filling:
        yield render(filling)


def halves(excerpts: Excerpts) -> tuple[Excerpts, Excerpts] | None:
    """Return two prompts of about as many sentences each; None for a single sentence."""
    total = len(excerpts.sentences)
    if total < 2:
        return None
    left: list[Unit] = []
    right: list[Unit] = []
    place = 0
    for unit in excerpts.units:
        cut = min(max(total // 2 - place, 0), len(unit.sentences))
        if cut:
            left.append(unit.part(0, cut))
        if cut < len(unit.sentences):
            right.append(unit.part(cut, len(unit.sentences)))
        place += len(unit.sentences)
    return render(left), render(right)


def _overhead(context: tuple[Sentence, ...], tokens: Callable[[str], int]) -> int:
    """Tokens of the label and the context lines of a block."""
    return 4 + sum(tokens(text) + 4 for text in context_texts(context))

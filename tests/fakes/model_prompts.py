"""A strict reader of user messages: whatever deviates from the model protocol is an error.

The scripted server reads every prompt with it, so that each test that asks a model also
checks the format of what was asked.

Source: the model protocol (docs/model-protocol.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

EVIDENCE_SELECTION = "evidence_selection"
EVIDENCE_SELECTION_SHARED = "evidence_selection_shared"
VERDICT = "verdict"
VERDICT_SHARED = "verdict_shared"
SUB_CLAIM_DECOMPOSITION = "sub_claim_decomposition"
SENTENCE_STEPS = ("claim_selection", "claim_disambiguation", "claim_decomposition", "propositions")
EXCERPT_STEPS = (EVIDENCE_SELECTION, VERDICT)
SHARED_STEPS = {EVIDENCE_SELECTION_SHARED: EVIDENCE_SELECTION, VERDICT_SHARED: VERDICT}
"""Steps that ask about several claims, and those that ask about one."""
SOURCE_STEPS = ("attribution", "faithfulness", "correction")
BUILD_LINES = {
    "chunk_summary": r"(Title: .*\S\n)?Limit: [1-9]\d* words(\n\(text\) .*\S)+",
    "summary_merge": (
        r"(Title: .*\S\n)?Limit: [1-9]\d* words(\n\(context\) .*\S)*"
        r"(\n\(summary [1-9]\d*\) .*\S){2,}"
    ),
    "claim_matching_book": (
        r"(Book: .*\S\n)?Premise: .*\S(\n\(evidence\) .*\S)*(\n\(reasoning\) .*\S)*"
        r"\nHypothesis: .*\S"
    ),
    "claim_matching_question": (
        r"(Question: .*\S\n)?Premise: .*\S(\n\(evidence\) .*\S)*(\n\(reasoning\) .*\S)*"
        r"\nHypothesis: .*\S"
    ),
    "question_filter": r"Question: .*\S",
    "graph_extraction": r"Title: .*\S(\n\(text\) .*\S)+",
    "description_summary": (
        r"Name: .*\S\nLimit: [1-9]\d* words(\n\(description [1-9]\d*\) .*\S){2,}"
    ),
    "community_report": (
        r"Limit: [1-9]\d* words(?=\n)(\n\(report \d+\) .*\S)*"
        r"(\n\((entity|relationship) \d+\) .*\S)*"
    ),
    "map_answer": r"(\(report \d+\) .*\S\n)+Question: .*\S",
    "reduce_answer": (
        r"(\(point [1-9]\d*, score [1-9]\d*\) .*\S\n)+Limit: [1-9]\d* words\nQuestion: .*\S"
    ),
}
"""The user messages of the steps that build data sets."""
DIALOGUE_STEPS = (
    "dialogue_extraction", "dialogue_verification", "dialogue_categorisation",
    "dialogue_turn_check", "factscore_extraction", "factscore_verification", "dialogue_judge",
)  # fmt: skip
"""Steps whose user messages `fakes.dialogue_prompts` reads."""
STEPS = (
    *EXCERPT_STEPS, *SHARED_STEPS, SUB_CLAIM_DECOMPOSITION, *SENTENCE_STEPS,
    *SOURCE_STEPS, *BUILD_LINES, *DIALOGUE_STEPS,
)  # fmt: skip

LABEL = re.compile(r"\[\[([1-9]\d*)\]\](?: (source|step))?")
SENTENCE = re.compile(r"(0|[1-9]\d*): (.*\S.*)")
CONTEXT = "(context) "
CLAIM = "Claim: "
QUESTION = "Question: "


class FormatError(AssertionError):
    """A prompt breaks the protocol."""


@dataclass(frozen=True)
class Block:
    """The excerpt of one node, or one summary.

    Attributes:
        label: Its number, from 1.
        context: The texts of its `(context)` lines.
        sentences: Texts by id.
        mark: Whose text it is, in verdict prompts that ask part by part; None: not said.
    """

    label: int
    context: tuple[str, ...]
    sentences: Mapping[int, str]
    mark: str | None = None


@dataclass(frozen=True)
class Excerpts:
    """The user message of evidence selection or verdict."""

    blocks: tuple[Block, ...]
    claim: str
    sub_claims: tuple[str, ...] = ()

    @cached_property
    def sentences(self) -> dict[int, str]:
        """Texts by id, of all blocks."""
        return {number: text for block in self.blocks for number, text in block.sentences.items()}


@dataclass(frozen=True)
class ClaimPrompt:
    """The user message of a claim step: `text` is the sentence, or the claim."""

    text: str
    question: str | None = None
    context: tuple[str, ...] = ()


@dataclass(frozen=True)
class SourcePrompt:
    """The user message of attribution, faithfulness or correction; `marked` holds ids."""

    blocks: tuple[Block, ...]
    text: str
    marked: tuple[int, ...] | None = None

    @cached_property
    def sentences(self) -> dict[int, str]:
        """Texts by id, of all blocks."""
        return {number: text for block in self.blocks for number, text in block.sentences.items()}


def parse_sources(user: str, step: str = "attribution") -> SourcePrompt:
    """Read the user message of a step of attribution.

    Raises:
        FormatError: It is not exactly what the protocol says.
    """
    _expect(step in SOURCE_STEPS, f"{step} is no step of attribution")
    _expect_lines(user)
    *before, last = user.split("\n")
    _expect(last.startswith("Sentence: "), f"the last line is no sentence: {last!r}")
    text = last.removeprefix("Sentence: ")
    _expect(bool(text.strip()), "the sentence is empty")
    marked = None
    if before and before[-1].startswith("Marked: "):
        _expect(step != "attribution", "attribution marks nothing")
        named = before.pop().removeprefix("Marked: ")
        marked = () if named == "none" else tuple(map(int, named.split(", ")))
    _expect(bool(before) or step != "attribution", "there is no block")
    blocks = _blocks("\n".join(before)) if before else ()
    found = SourcePrompt(blocks, text, marked)
    _expect(set(marked or ()) <= found.sentences.keys(), "an id is marked that is not there")
    return found


def parse_excerpts(user: str, step: str = EVIDENCE_SELECTION) -> Excerpts:
    """Read the user message of evidence selection or verdict.

    Raises:
        FormatError: It is not exactly what the protocol says.
    """
    _expect(step in EXCERPT_STEPS, f"{step} has no excerpts")
    _expect_lines(user)
    excerpts, found, tail = user.rpartition(f"\n{CLAIM}")
    _expect(bool(found), "no line `Claim: …` after the excerpts")
    claim, *rest = tail.split("\n")
    _expect(bool(claim.strip()), "the claim is empty")
    blocks = _blocks(excerpts)
    marks = {block.mark is not None for block in blocks}
    _expect(len(marks) == 1, "some blocks are marked and others are not")
    _expect(step == VERDICT or marks == {False}, f"blocks of a {step} prompt are marked")
    return Excerpts(blocks, claim, _sub_claims(rest, step, by_part=marks == {True}))


def split_shared(user: str, step: str = EVIDENCE_SELECTION_SHARED) -> list[str]:
    """The user messages that the claims of a shared prompt would have alone.

    Raises:
        FormatError: It is not exactly what the protocol says.
    """
    _expect_lines(user)
    alone = _split_selection(user) if step == EVIDENCE_SELECTION_SHARED else _split_verdict(user)
    _expect(len(alone) > 1, "a shared prompt holds several claims")
    for one in alone:
        parse_excerpts(one, SHARED_STEPS[step])
    return alone


def _split_selection(user: str) -> list[str]:
    excerpts, found, tail = user.partition("\nClaim 1: ")
    _expect(bool(found), "no line `Claim 1: …` after the excerpts")
    alone: list[str] = []
    for line in f"Claim 1: {tail}".split("\n"):
        number = len(alone) + 1
        if line.startswith(f"Claim {number}: "):
            alone.append(f"{excerpts}\n{CLAIM}{line.removeprefix(f'Claim {number}: ')}")
        elif line == f"Sub-claims of claim {len(alone)}:":
            alone[-1] += "\nSub-claims:"
        else:
            alone[-1] += f"\n{line}"
    return alone


def _split_verdict(user: str) -> list[str]:
    parts: list[tuple[str, list[str]]] = []
    for line in user.split("\n"):
        if line.startswith(f"Claim {len(parts) + 1}: "):
            parts.append((f"{CLAIM}{line.removeprefix(f'Claim {len(parts) + 1}: ')}", []))
            continue
        _expect(bool(parts), f"this line stands before the first claim: {line!r}")
        claim, excerpts = parts[-1]
        is_listed = not excerpts and line.startswith(("- ", "Sub-claims"))
        if is_listed:
            heading = f"Sub-claims of claim {len(parts)}:"
            claim = f"{claim}\n{line.replace(heading, 'Sub-claims:')}"
            parts[-1] = (claim, excerpts)
        else:
            excerpts.append(line)
    return ["\n".join([*excerpts, claim]) for claim, excerpts in parts]


def parse_claim_prompt(user: str, step: str) -> ClaimPrompt:
    """Read the user message of a claim step.

    Raises:
        FormatError: It is not exactly what the protocol says.
    """
    others = (*EXCERPT_STEPS, *SHARED_STEPS, *SOURCE_STEPS)
    _expect(step in STEPS and step not in others, f"{step} is no claim step")
    _expect_lines(user)
    *before, last = user.split("\n")
    begins = CLAIM if step == SUB_CLAIM_DECOMPOSITION else "Sentence: "
    _expect(last.startswith(begins), f"the last line does not begin with {begins!r}: {last!r}")
    text = last.removeprefix(begins)
    _expect(bool(text.strip()), "the last line is empty")
    question = None
    if before and before[0].startswith(QUESTION):
        question = before.pop(0).removeprefix(QUESTION)
        _expect(bool(question.strip()), "the question is empty")
    return ClaimPrompt(text, question, tuple(_context(line) for line in before))


def check_build_prompt(user: str, step: str) -> None:
    """See that the user message of a step that builds data sets is of the protocol.

    Raises:
        FormatError: It is not exactly what the protocol says.
    """
    _expect(re.fullmatch(BUILD_LINES[step], user) is not None, f"{step}: {user[:300]!r}")


@lru_cache(maxsize=512)
def _blocks(excerpts: str) -> tuple[Block, ...]:
    blocks: list[Block] = []
    context: list[str] = []
    sentences: dict[int, str] = {}
    expected = label = 0
    mark: str | None = None
    for line in excerpts.split("\n"):
        if heading := LABEL.fullmatch(line):
            if label:
                blocks.append(_block(label, context, sentences, mark))
            _expect(int(heading[1]) == label + 1, f"block {label + 1} is headed {line!r}")
            label, context, sentences, mark = label + 1, [], {}, heading[2]
        elif sentence := SENTENCE.fullmatch(line):
            _expect(label > 0, f"a sentence stands before the first block: {line!r}")
            _expect(int(sentence[1]) == expected, f"{line!r} should have the id {expected}")
            sentences[expected] = sentence[2]
            expected += 1
        else:
            _expect(label > 0 and not sentences, f"this line is not of the protocol: {line!r}")
            context.append(_context(line))
    _expect(label > 0, "there is no block")
    return (*blocks, _block(label, context, sentences, mark))


def _block(label: int, context: list[str], sentences: dict[int, str], mark: str | None) -> Block:
    _expect(bool(sentences), f"block {label} holds no sentence")
    return Block(label, tuple(context), sentences, mark)


def _sub_claims(lines: list[str], step: str, *, by_part: bool) -> tuple[str, ...]:
    if not lines:
        return ()
    _expect(
        step == EVIDENCE_SELECTION or by_part, f"there are lines after the claim of a {step} prompt"
    )
    _expect(lines[0] == "Sub-claims:", f"not the line `Sub-claims:`: {lines[0]!r}")
    bullets = lines[1:]
    _expect(len(bullets) > 1, "sub-claims are listed only when there is more than one")
    for line in bullets:
        _expect(line.startswith("- ") and bool(line[2:].strip()), f"no bullet line: {line!r}")
    return tuple(line[2:] for line in bullets)


def _context(line: str) -> str:
    text = line.removeprefix(CONTEXT)
    _expect(text != line and bool(text.strip()), f"no `(context) …` line: {line!r}")
    return text


def _expect_lines(user: str) -> None:
    """Lines end with a line feed and nothing else, and none is empty."""
    lines = user.split("\n")
    _expect(len(user.splitlines()) == len(lines), "another kind of line break, or one at the end")
    _expect(all(lines), "there is an empty line")


def _expect(condition: bool, message: str) -> None:
    if not condition:
        raise FormatError(message)

"""Who answers in place of a model: readers without judgement, whose answers can be foretold.

A `Reader` gets step, system message, user message and the whole request; it gives the JSON
object of the answer (the server puts some words before it) or the whole text of the answer.
The same prompt always gets the same answer, because calls are repeated under faults.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from fakes.model_prompts import (
    EVIDENCE_SELECTION,
    EXCERPT_STEPS,
    SUB_CLAIM_DECOMPOSITION,
    Excerpts,
    parse_claim_prompt,
    parse_excerpts,
)

Answer = str | Mapping[str, Any]

FULLY_SUPPORTED = "FULLY_SUPPORTED"
NOT_FULLY_SUPPORTED = "NOT_FULLY_SUPPORTED"
INCONCLUSIVE = "INCONCLUSIVE"
NOTHING: Mapping[str, Any] = {
    "sentence_ids": [],
    "context_ids": [],
    "summary": None,
    "missing": None,
}

TOKEN = re.compile(r"\d[\d.,]*\d|\w+")
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been being but by did do does for from had has have he her hers him "
        "his in into is it its of on or she so than that the their them then there these they this "
        "those to was we were what when where which who will with would",
    )
)
POINTING_BACK = re.compile(r"(?:it|he|she|they|this|these|that|those)\b", re.IGNORECASE)


class Reader(Protocol):
    """Whoever answers."""

    def __call__(self, step: str, system: str, user: str, request: Any) -> Answer:
        """Answer one request; `request` is the server's `Received`."""
        ...


@lru_cache(maxsize=65_536)
def content_words(text: str) -> frozenset[str]:
    """The words and numbers of a text that carry meaning, in lower case."""
    return frozenset(TOKEN.findall(text.lower())) - STOP_WORDS


@dataclass(frozen=True)
class WordReader:
    """Compares words: sensible, without state, and never right by chance.

    Attributes:
        enough: Share of the claim's words that make a sentence evidence.
    """

    enough: float = 0.5

    def __call__(self, step: str, system: str, user: str, request: Any) -> Answer:
        if step in EXCERPT_STEPS:
            excerpts = parse_excerpts(user, step)
            return self.select(excerpts) if step == EVIDENCE_SELECTION else self.judge(excerpts)
        return pass_through(step, user)

    def select(self, excerpts: Excerpts) -> Answer:
        """Sentences that share enough words with the claim; what "it" points to is context."""
        wanted = content_words(excerpts.claim)
        texts = excerpts.sentences
        ids = [
            number
            for number, text in texts.items()
            if len(wanted & content_words(text)) >= max(1, self.enough * len(wanted))
        ]
        firsts = {min(block.sentences) for block in excerpts.blocks}
        context = {n - 1 for n in ids if n not in firsts and POINTING_BACK.match(texts[n])}
        return selection(excerpts, ids, sorted(context - set(ids)))

    def judge(self, excerpts: Excerpts) -> Answer:
        """Fully supported when every word and number of the claim is in the excerpts."""
        missing = missing_words(excerpts, excerpts.sentences)
        if missing:
            return verdict(NOT_FULLY_SUPPORTED, f"The excerpts say nothing of: {missing}.")
        return verdict(FULLY_SUPPORTED, "The excerpts say every word of it.")


@dataclass(frozen=True)
class Lines:
    """What is answered about one claim.

    Attributes:
        evidence: Texts, or unmistakable parts of texts, of the sentences that are evidence.
        context: Those of the sentences that are context.
        verdicts: In the order of the claim's verdict prompts, the last one for all beyond (a
            prompt that comes again gets the verdict that it got); or a function of the excerpts.
        sub_claims: What decomposition answers; the claim itself when empty.
        summary: The summary, or a function of the selected texts; those, joined, when None.
    """

    evidence: Collection[str] = ()
    context: Collection[str] = ()
    verdicts: Sequence[str] | Callable[[Excerpts], str] = (FULLY_SUPPORTED,)
    sub_claims: Sequence[str] = ()
    summary: str | Callable[[list[str]], str] | None = None


@dataclass
class ScriptedReader:
    """Answers from a script, by the text of the claim; an unknown claim is an error.

    Attributes:
        lines: What is answered, by the text of the claim.
        otherwise: Who answers the claim steps that work on sentences.
    """

    lines: Mapping[str, Lines]
    otherwise: Reader = field(default_factory=WordReader)
    _asked: dict[str, list[str]] = field(default_factory=dict, repr=False)

    def __call__(self, step: str, system: str, user: str, request: Any) -> Answer:
        if step in EXCERPT_STEPS:
            excerpts = parse_excerpts(user, step)
            lines = self.lines[excerpts.claim]
            if step == EVIDENCE_SELECTION:
                return self._select(lines, excerpts)
            name = self._verdict(lines, excerpts, user)
            return verdict(name, f"scripted: {name}")
        if step == SUB_CLAIM_DECOMPOSITION:
            claim = parse_claim_prompt(user, step).text
            lines = self.lines.get(claim, Lines())  # sub-claims come back to be taken apart
            return {"claims": list(lines.sub_claims) or [claim]}
        return self.otherwise(step, system, user, request)

    def _select(self, lines: Lines, excerpts: Excerpts) -> Answer:
        ids = _ids(excerpts, lines.evidence)
        texts = [excerpts.sentences[number] for number in ids]
        summary = lines.summary(texts) if callable(lines.summary) else lines.summary
        return selection(excerpts, ids, _ids(excerpts, lines.context), summary)

    def _verdict(self, lines: Lines, excerpts: Excerpts, user: str) -> str:
        if callable(lines.verdicts):
            return lines.verdicts(excerpts)
        prompts = self._asked.setdefault(excerpts.claim, [])
        if user not in prompts:
            prompts.append(user)
        return lines.verdicts[min(prompts.index(user), len(lines.verdicts) - 1)]


def pass_through(step: str, user: str) -> Answer:
    """Claim steps: every sentence is verifiable, clear and one claim; "and" parts a claim."""
    text = parse_claim_prompt(user, step).text
    if step == SUB_CLAIM_DECOMPOSITION:
        return {"claims": text.split(" and ", 1)}
    if step == "claim_decomposition":
        return {"claims": [text]}
    outcome = "verifiable" if step == "claim_selection" else "clear"
    return {"outcome": outcome, "sentence": text}


def selection(
    excerpts: Excerpts, ids: Sequence[int], context: Sequence[int] = (), summary: str | None = None
) -> dict[str, Any]:
    """An answer of evidence selection; the summary joins the sentences when none is given."""
    if not ids:
        return dict(NOTHING)
    missing = missing_words(excerpts, ids)
    return {
        "sentence_ids": list(ids),
        "context_ids": list(context),
        "summary": summary or " ".join(excerpts.sentences[number] for number in ids),
        "missing": missing and f"Nothing is said of: {missing}.",
    }


def missing_words(excerpts: Excerpts, ids: Collection[int]) -> str | None:
    """Words of the claim that none of these sentences holds."""
    found = frozenset[str]().union(*(content_words(excerpts.sentences[number]) for number in ids))
    return ", ".join(sorted(content_words(excerpts.claim) - found)) or None


def verdict(name: str, reason: str) -> dict[str, str]:
    """An answer of verdict generation."""
    return {"verdict": name, "reason": reason}


def _ids(excerpts: Excerpts, parts: Collection[str]) -> list[int]:
    found = excerpts.sentences.items()
    return [number for number, text in found if any(part in text for part in parts)]

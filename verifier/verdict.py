"""Verdict generation: by a prompt to a language model, or by a scorer in its place.

In a prompt a root node with evidence is shown with its whole text, other nodes through the
summary of their prompt, or by part with their named sentences. Evidence that does not fit is
selected from again, and then cut. A scorer (an NLI model, or a checker such as MiniCheck) gets
root nodes and summaries one by one.

Source: VeriTrail 3.1.3, C.2.2, E.2, E.3; G (the verdict step is modular), 4.2 (NLI baselines).
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, Protocol

from veritrail_graph.graph.model import Claim, Evidence, Sentence, Verdict, frontier_order
from veritrail_graph.verifier.answers import (
    VerdictAnswer,
    merge_verdicts,
    read_true_false,
    read_verdict,
)
from veritrail_graph.verifier.evidence import EvidenceStep
from veritrail_graph.verifier.excerpts import SOURCE, STEP, Unit, claim_lines, one_line, render
from veritrail_graph.verifier.limits import Limits
from veritrail_graph.verifier.models.port import ContextTooLong, Meter
from veritrail_graph.verifier.part_answers import parts_in, read_part_verdict
from veritrail_graph.verifier.ports import Found, JudgeError, Judgement, ReadNode, Split
from veritrail_graph.verifier.prompted import PromptedStep, begun, results
from veritrail_graph.verifier.shared_prompts import Case, SharedVerdict

_LABEL = _AROUND = 4
"""Tokens of a block's label, and of the id and the line break around a sentence."""


class VerdictStep(Protocol):
    """Gives verdicts: a prompt, or a scorer in its place. Source: VeriTrail G."""

    @property
    def settings(self) -> dict[str, object]:
        """Return what decides the verdicts, as JSON."""
        ...

    def judge(self, claim: Claim, found: Found, meter: Meter) -> Coroutine[Any, Any, Judgement]:
        """Give a verdict on what was found.

        Raises:
            VeriTrailError: None could be had.
        """
        ...


@dataclass(frozen=True, slots=True)
class EvidencePiece:
    """A piece of evidence as a verdict prompt shows it: a root node or a summary.

    Attributes:
        unit: Its block.
        tokens: Tokens of its block.
    """

    unit: Unit
    tokens: int

    @property
    def sentences(self) -> int:
        """Return how many sentences it has."""
        return len(self.unit.sentences)


@dataclass(frozen=True, slots=True)
class PromptVerdict:
    """Gives verdicts by a prompt.

    Attributes:
        step: The prompt and the model.
        selection: Selects again from evidence that does not fit.
        split: Splits summaries into sentences.
        limits: How much goes into a prompt.
        sharing: Asks about several claims in one prompt; None: one claim a prompt.
    """

    step: PromptedStep
    selection: EvidenceStep
    split: Split
    limits: Limits = Limits()
    sharing: SharedVerdict | None = None

    @property
    def settings(self) -> dict[str, object]:
        """Return what decides the verdicts, as JSON."""
        return self.step.settings

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Give a verdict; evidence that does not fit is reduced first.

        Raises:
            VeriTrailError: None could be had.
        """
        if found.settled is not None and self.takes_settled:
            settled = found.settled
            return Judgement(settled.verdict, settled.reason, parts=settled.parts)
        first, reruns = found, 0
        most: int | None = None  # tokens, where the endpoint takes less than was thought
        while True:
            room = self.room(claim)
            room = room if most is None else min(room, most)
            whole = shown = self._pieces(found)
            if not self._fits(whole, found, room):
                if reruns < self.limits.max_reruns:
                    reruns += 1
                    smaller = await self._selected_again(claim, found, meter)
                    if smaller is not None:
                        found = smaller
                        continue
                shown = self._largest_subset(whole, found, room)
            try:
                judgement = await self._ask(claim, shown, meter)
            except ContextTooLong as error:
                if _sentences(shown) == 1:
                    raise JudgeError(f"the evidence does not fit into a prompt: {error}") from None
                if self.room(claim) >= _tokens(shown):
                    most = _tokens(shown) * 3 // 4  # the endpoint does not say how much it takes
                continue
            cut = _sentences(whole) - _sentences(shown)
            return replace(
                judgement,
                reruns=reruns,
                judged=() if found is first else found.evidence,
                left_out=cut + len(_evidence_of(first) - _evidence_of(found)),
                left_out_roots=_without_text(first, shown),
            )

    async def _ask(self, claim: Claim, pieces: Sequence[EvidencePiece], meter: Meter) -> Judgement:
        excerpts = render([piece.unit for piece in pieces])
        user = f"{excerpts.text}\n{self._claim_lines(claim)}"
        calls = self.step.calls(user, self._reader(claim), meter)
        if self.sharing is not None:
            sub_claims = claim.sub_claims if self.by_part else ()
            case = Case(claim.text, sub_claims, excerpts)
            calls = [
                partial(self.sharing.ask, case, sample, meter, call)
                for sample, call in enumerate(calls)
            ]
        answers = results(await asyncio.gather(*begun(calls), return_exceptions=True))
        if not self.step.samples.is_soft:
            return _judgement(answers[0])
        merged, score = merge_verdicts(answers, self.step.samples.threshold)
        return replace(_judgement(merged), score=score)

    @property
    def by_part(self) -> bool:
        """Return whether verdicts are given part by part, on the sentences themselves. Ours."""
        return self.step.prompt.asks_by_part

    @property
    def takes_settled(self) -> bool:
        """Return whether a verdict counts that a selection gave: the same model would give it."""
        is_same = self.selection.step.model.model == self.step.model.model
        return self.by_part and is_same and not self.step.samples.is_soft

    def _reader(self, claim: Claim) -> Callable[[str], VerdictAnswer]:
        """Return what reads an answer about a claim."""
        if self.by_part:
            return partial(read_part_verdict, parts=parts_in(claim.sub_claims))
        return read_true_false if self.step.prompt.asks_true_or_false else read_verdict

    def _claim_lines(self, claim: Claim) -> str:
        return claim_lines(claim.text, claim.sub_claims if self.by_part else ())

    def room(self, claim: Claim) -> int:
        """Tokens that a prompt about a claim has for texts."""
        return self.step.room(self._claim_lines(claim))

    def size(self, node: ReadNode) -> int:
        """Tokens that the whole text of a node takes in a prompt."""
        return self._tokens(Unit(node.sentences)) if node.sentences else 0

    def _pieces(self, found: Found) -> list[EvidencePiece]:
        """Root nodes in their order with their whole text, then what was found in other nodes.

        Of those a block for each summary, or by part for each node, with its sentences.
        """
        mark = SOURCE if self.by_part else ""
        roots = [Unit(root.sentences, mark=mark) for root in in_frontier_order(found.roots)]
        if self.by_part:
            others = _units(_not_of_roots(found), STEP)
        else:
            others = [Unit(self.split("", one_line(text))) for text in summaries_of(found)]
        return [
            EvidencePiece(unit, self._tokens(unit)) for unit in (*roots, *others) if unit.sentences
        ]

    def _tokens(self, unit: Unit) -> int:
        tokens = self.step.model.tokens
        return _LABEL + sum(tokens(sentence.text) + _AROUND for sentence in unit.sentences)

    def _fits(self, pieces: Sequence[EvidencePiece], found: Found, room: int) -> bool:
        if _tokens(pieces) > room:
            return False
        most = self._most(found)
        return most is None or _sentences(pieces) <= most

    def _most(self, found: Found) -> int | None:
        """The limit in sentences; a prompt with root nodes has its own. Source: VeriTrail E.2."""
        limits = self.limits
        return limits.verdict_root_sentences if found.roots else limits.verdict_sentences

    def _largest_subset(
        self, pieces: Sequence[EvidencePiece], found: Found, room: int
    ) -> list[EvidencePiece]:
        """As many pieces as fit: the shortest first, in the order of the prompt where equal.

        A root node that does not fit whole is shown in part: what was selected first, then its
        text from the beginning. Where nothing fits, the shortest piece is shown in part.
        """
        most = self._most(found)
        size = _tokens_of if found.roots else _sentences_of
        order = sorted(range(len(pieces)), key=lambda place: size(pieces[place]))
        kept: dict[int, EvidencePiece] = {}
        used = spent = 0
        for place in order:
            piece = pieces[place]
            too_many = most is not None and used + piece.sentences > most
            if too_many or spent + piece.tokens > room:
                continue
            kept[place] = piece
            used, spent = used + piece.sentences, spent + piece.tokens
        selected = _selected(found)
        for place in order:
            left = None if most is None else most - used
            is_selected = not selected.isdisjoint(_places(pieces[place]))
            if place not in kept and is_selected and left != 0:
                part = self._part(pieces[place], selected, left, room - spent)
                if spent + part.tokens <= room:
                    kept[place] = part
                    used, spent = used + part.sentences, spent + part.tokens
        if not kept:
            kept[0] = self._part(min(pieces, key=size), selected, most, room)
        return [kept[place] for place in sorted(kept)]

    def _part(
        self, piece: EvidencePiece, selected: set[tuple[str, int]], most: int | None, room: int
    ) -> EvidencePiece:
        """Return the part of a piece that fits: selected sentences first, then its beginning."""
        sentences = piece.unit.sentences
        first = [one for one in sentences if (one.node_id, one.index) in selected]
        rest = (one for one in sentences if (one.node_id, one.index) not in selected)
        kept: list[Sentence] = []
        spent = _LABEL
        for sentence in (*first, *rest):
            cost = self.step.model.tokens(sentence.text) + _AROUND
            if kept and (spent + cost > room or len(kept) == most):
                break
            kept.append(sentence)
            spent += cost
        shown = tuple(sorted(kept, key=lambda one: one.start))
        return EvidencePiece(Unit(shown, mark=piece.unit.mark), spent)

    async def _selected_again(self, claim: Claim, found: Found, meter: Meter) -> Found | None:
        """Select from the selected sentences; None when nothing is gained by it."""
        names = {root.ref.node_id for root in found.roots}
        of_roots: list[Evidence] = []
        others: list[Evidence] = []
        for evidence in (*found.carried, *found.evidence):
            (others if names.isdisjoint(evidence.node_ids) else of_roots).append(evidence)
        prompts = self.selection.prompts_again(claim, _units(of_roots), _units(others))
        again = await self.selection.select(claim, prompts, meter)
        if not again.evidence:
            return None
        named = {name for evidence in again.evidence for name in evidence.node_ids}
        roots = tuple(root for root in found.roots if root.ref.node_id in named)
        return Found(again.evidence, roots)


def summaries_of(found: Found) -> list[str]:
    """The summaries of non-root nodes, one for each prompt that found something."""
    return [evidence.text for evidence in _not_of_roots(found)]


def _not_of_roots(found: Found) -> list[Evidence]:
    """The evidence of non-root nodes: no prompt shows them beside roots."""
    roots = {root.ref.node_id for root in found.roots}
    return [evidence for evidence in found.evidence if roots.isdisjoint(evidence.node_ids)]


def _judgement(answer: VerdictAnswer) -> Judgement:
    return Judgement(answer.verdict, answer.reason, parts=answer.parts)


def in_frontier_order(roots: Iterable[ReadNode]) -> list[ReadNode]:
    """Root nodes in the order of a frontier."""
    return sorted(roots, key=lambda root: frontier_order(root.ref))


def _evidence_of(found: Found) -> set[tuple[str, int]]:
    """Return the evidence by node and place: all sentences of roots, selected ones of others."""
    roots = {(one.node_id, one.index) for root in found.roots for one in root.sentences}
    return roots | _selected(found)


def _without_text(found: Found, shown: Iterable[EvidencePiece]) -> tuple[str, ...]:
    """node_ids of the roots with evidence of which a prompt shows nothing."""
    there = {node_id for piece in shown for node_id, _ in _places(piece)}
    roots = (root.ref.node_id for root in in_frontier_order(found.roots) if root.sentences)
    return tuple(node_id for node_id in roots if node_id not in there)


def _places(piece: EvidencePiece) -> set[tuple[str, int]]:
    return {(one.node_id, one.index) for one in piece.unit.sentences}


def _selected(found: Found) -> set[tuple[str, int]]:
    """The sentences that were selected, by node and place; those of summaries are in none."""
    everything = (*found.carried, *found.evidence)
    cited = (cited for evidence in everything for cited in evidence.sentences)
    return {(one.node_id, one.sentence) for one in cited}


def _units(found: Sequence[Evidence], mark: str = "") -> list[Unit]:
    """The selected sentences by node, each once, in the order in which they were shown."""
    by_node: dict[str, dict[int, Sentence]] = {}
    for evidence in found:
        for cited in evidence.sentences:
            by_node.setdefault(cited.node_id, {})[cited.sentence] = cited.as_sentence()
    return [
        Unit(tuple(sentences[index] for index in sorted(sentences)), mark=mark)
        for sentences in by_node.values()
    ]


def _sentences(pieces: Iterable[EvidencePiece]) -> int:
    return sum(piece.sentences for piece in pieces)


def _tokens(pieces: Iterable[EvidencePiece]) -> int:
    return sum(piece.tokens for piece in pieces)


def _tokens_of(piece: EvidencePiece) -> int:
    return piece.tokens


def _sentences_of(piece: EvidencePiece) -> int:
    return piece.sentences


Probabilities = Mapping[str, float]
"""`entailment` and, where the scorer has it, `contradiction`: each from 0 to 1."""

Scorer = Callable[[str, str], Probabilities | Awaitable[Probabilities]]
"""(claim, evidence) to probabilities."""


@dataclass(frozen=True, slots=True)
class ScoredVerdict:
    """Gives verdicts by a scorer: each piece of evidence is scored, the strongest decides.

    Fully Supported when a piece entails the claim; Inconclusive when another contradicts it
    at the same time; else Not Fully Supported. The score is the highest entailment.

    Attributes:
        score: The scorer.
        name: What it is called, for the trail.
        threshold: From which probability on it counts.
    """

    score: Scorer
    name: str
    threshold: float = 0.5

    @property
    def settings(self) -> dict[str, object]:
        """Return what decides the verdicts, as JSON."""
        return {"scorer": self.name, "threshold": self.threshold}

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Give a verdict from the strongest piece of evidence.

        Raises:
            JudgeError: The scorer failed, or gave no probabilities.
        """
        del meter
        pieces = [root.text for root in in_frontier_order(found.roots)] + summaries_of(found)
        scores = [await self._scored(claim.text, piece) for piece in pieces]
        entailed = _strongest(scores, "entailment")
        denied = _strongest(scores, "contradiction")
        verdict = _verdict(entailed >= self.threshold, denied >= self.threshold)
        reason = (
            f"{self.name}: of {len(pieces)} piece(s) of evidence the strongest entails the claim "
            f"at {entailed:.2f}, the strongest against it contradicts it at {denied:.2f} "
            f"(threshold {self.threshold:.2f})"
        )
        return Judgement(verdict, reason, entailed)

    async def _scored(self, claim: str, evidence: str) -> Probabilities:
        try:
            if inspect.iscoroutinefunction(self.score):
                scored = await self.score(claim, evidence)
            else:  # a model on this machine: the event loop goes on meanwhile
                scored, fault = await asyncio.to_thread(self._called, claim, evidence)
                if fault is not None:
                    raise fault
                if inspect.isawaitable(scored):
                    scored = await scored
        except Exception as error:  # somebody else's code: its fault is this claim's
            raise JudgeError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        if not isinstance(scored, Mapping) or not _is_probability(scored.get("entailment")):
            raise JudgeError(f"{self.name} gave no probability `entailment` from 0 to 1")
        if not _is_probability(scored.get("contradiction", 0.0)):
            raise JudgeError(f"{self.name} gave no probability `contradiction` from 0 to 1")
        return scored

    def _called(self, claim: str, evidence: str) -> tuple[Any, Exception | None]:
        """The result or the fault: a future cannot take every exception (StopIteration)."""
        try:
            return self.score(claim, evidence), None
        except Exception as error:  # noqa: BLE001  # raised again where it is awaited
            return None, error


def _strongest(scores: Sequence[Probabilities], name: str) -> float:
    return max((float(score.get(name, 0.0)) for score in scores), default=0.0)


def _verdict(supported: bool, denied: bool) -> Verdict:
    if supported:
        return Verdict.INCONCLUSIVE if denied else Verdict.FULLY_SUPPORTED
    return Verdict.NOT_FULLY_SUPPORTED


def _is_probability(value: object) -> bool:
    """Return whether a value is a number from 0 to 1; those of NumPy count, a bool does not."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return 0.0 <= float(value) <= 1.0  # NaN is not

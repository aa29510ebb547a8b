"""Evidence selection with a language model: prompts, their answers, and what they select.

Source: VeriTrail 3.1.2, C.2.1, E.2, E.3.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from veritrail_graph.graph.model import CitedSentence, Claim, Evidence, EvidenceRole
from veritrail_graph.verifier.answers import (
    Agreement,
    SelectionAnswer,
    merge_selections,
    read_selection,
)
from veritrail_graph.verifier.excerpts import Excerpts, Unit, claim_lines, halves, pack
from veritrail_graph.verifier.limits import Limits
from veritrail_graph.verifier.models.port import ContextTooLong, Meter
from veritrail_graph.verifier.part_answers import parts_in, read_sided_selection, settled
from veritrail_graph.verifier.ports import JudgeError, ReadNode, Selection
from veritrail_graph.verifier.prompted import PromptedStep, begun, results
from veritrail_graph.verifier.shared_prompts import Case, SharedSelection

AT_ONCE = 64
"""Prompts of one claim that are pending at a time; the model's own limit comes on top."""
HOPELESS = 12
"""Characters a token that no ordinary text reaches."""
KEPT_CHARACTERS = 32_000_000
"""Characters of packed excerpts that are kept for other claims over the same nodes."""


@dataclass(frozen=True, slots=True)
class EvidenceStep:
    """Selects evidence from nodes.

    Attributes:
        step: The prompt and the model.
        limits: How much goes into a prompt.
        sharing: Asks about several claims in one prompt; None: one claim a prompt.
    """

    step: PromptedStep
    limits: Limits = Limits()
    sharing: SharedSelection | None = None
    _packed: PackedExcerpts = field(default_factory=lambda: PackedExcerpts())

    async def select(self, claim: Claim, prompts: Sequence[Excerpts], meter: Meter) -> Selection:
        """Select from the excerpts of these prompts, side by side.

        Raises:
            VeriTrailError: An answer could not be had.
        """
        slots = asyncio.Semaphore(AT_ONCE)
        asked = (self._ask(claim, excerpts, meter, slots) for excerpts in prompts)
        whole = joined(results(await asyncio.gather(*asked, return_exceptions=True)))
        samples = self.step.samples
        is_missed = whole.is_missed or (samples.must_find and not whole.evidence)
        return replace(whole, is_missed=is_missed, is_sampled=samples.is_soft)

    def prompts_of(self, claim: Claim, nodes: Sequence[ReadNode]) -> list[Excerpts]:
        """The texts of a frontier as excerpts; claims over the same nodes share them."""
        room = self.step.room(claim_lines(claim.text, claim.sub_claims))
        # With texts: a judge may be asked about several processes that use the same node_ids.
        key = (tuple((node.ref.node_id, node.ref.is_root, node.text) for node in nodes), room)
        prompts = self._packed.get(key)
        if prompts is None:
            units: dict[bool, list[Unit]] = {True: [], False: []}
            for node in nodes:
                if sentences := node.sentences:
                    units[node.ref.is_root].append(Unit(sentences))
            prompts = self._pack(units[True], units[False], room)
            self._packed.keep(key, prompts)
        return prompts

    def prompts_again(
        self, claim: Claim, roots: Iterable[Unit], others: Iterable[Unit]
    ) -> list[Excerpts]:
        """Return earlier selections as excerpts, because they do not fit into a verdict prompt.

        Source: VeriTrail 3.1.3 (reruns).
        """
        room = self.step.room(claim_lines(claim.text, claim.sub_claims))
        return self._pack(roots, others, room)

    def _pack(self, roots: Iterable[Unit], others: Iterable[Unit], room: int) -> list[Excerpts]:
        """Prompts in the order of the units; roots and other nodes never share one."""
        tokens = self.step.model.tokens
        return [
            *pack(roots, self.limits.root_sentences, room, tokens),
            *pack(others, self.limits.other_sentences, room, tokens),
        ]

    async def _ask(
        self, claim: Claim, excerpts: Excerpts, meter: Meter, slots: asyncio.Semaphore
    ) -> Selection:
        """Ask about one prompt; one that is too long for the endpoint is split in two."""
        self._refuse_hopeless(excerpts)
        before = f"{excerpts.text}\n"
        user = before + claim_lines(claim.text, claim.sub_claims)
        count, parts = len(excerpts.sentences), parts_in(claim.sub_claims)
        read: Callable[[str], SelectionAnswer] = partial(read_selection, sentences=count)
        if self.step.prompt.asks_by_part:
            read = partial(read_sided_selection, sentences=count, parts=parts)
        calls = self.step.calls(user, read, meter, shared=len(before))
        if self.sharing is not None:
            case = Case(claim.text, claim.sub_claims, excerpts)
            calls = [
                partial(self.sharing.ask, case, sample, meter, call)
                for sample, call in enumerate(calls)
            ]
        try:
            async with slots:
                answers = results(await asyncio.gather(*begun(calls), return_exceptions=True))
        except ContextTooLong as error:
            both = halves(excerpts)
            if both is None:
                raise self._too_long(excerpts, str(error)) from None
            return joined([await self._ask(claim, half, meter, slots) for half in both])
        found = selected(merge_selections(answers, self.step.samples.threshold), excerpts)
        if self.step.samples.is_soft:
            return found
        return replace(found, settled=settled(answers[0], parts))

    def _refuse_hopeless(self, excerpts: Excerpts) -> None:
        """Do not send what no count of tokens could make fit: some endpoints cut it silently."""
        if len(excerpts.sentences) == 1 and len(excerpts.text) > HOPELESS * self.step.room(""):
            raise self._too_long(excerpts, f"the window is {self.step.model.context_tokens:,}")

    def _too_long(self, excerpts: Excerpts, why: str) -> JudgeError:
        sentence = excerpts.sentences[0]
        return JudgeError(
            f"sentence {sentence.index} of node {sentence.node_id!r} ({len(sentence.text):,} "
            f"characters) does not fit into the context window of {self.step.model.model}: {why}"
        )


def selected(agreed: Agreement, excerpts: Excerpts) -> Selection:
    """Sentences for the ids that samples agree on, in the order of the prompt."""
    evidence = tuple(_evidence(part, excerpts) for part in agreed.parts)
    return Selection(evidence, agreed.dropped, agreed.is_missed)


def _evidence(answer: SelectionAnswer, excerpts: Excerpts) -> Evidence:
    roles = dict.fromkeys(answer.context, EvidenceRole.CONTEXT)
    roles.update(dict.fromkeys(answer.evidence, EvidenceRole.EVIDENCE))
    cited = tuple(
        CitedSentence.of(excerpts.sentences[number], roles[number], answer.sides.get(number, ()))
        for number in sorted(roles)
    )
    return Evidence(text=answer.summary or "", missing=answer.missing, sentences=cited)


def joined(selections: Sequence[Selection]) -> Selection:
    """Return what the prompts of one iteration select, in their order.

    What one prompt settled holds where no other prompt found anything.
    """
    found = [each for each in selections if each.evidence]
    return Selection(
        tuple(evidence for each in selections for evidence in each.evidence),
        sum(each.dropped_ids for each in selections),
        any(each.is_missed for each in selections),
        settled=found[0].settled if len(found) == 1 else None,
    )


Key = tuple[tuple[tuple[str, bool, str], ...], int]


@dataclass(slots=True)
class PackedExcerpts:
    """Packed frontiers, so that claims over the same nodes share their text."""

    _kept: OrderedDict[Key, list[Excerpts]] = field(default_factory=OrderedDict)
    _characters: int = 0

    def get(self, key: Key) -> list[Excerpts] | None:
        """Return what was packed for these nodes and this room."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def keep(self, key: Key, prompts: list[Excerpts]) -> None:
        """Keep prompts; the least used ones go when there are too many."""
        if key in self._kept:
            return
        self._kept[key] = prompts
        self._characters += _size(prompts)
        while self._characters > KEPT_CHARACTERS and self._kept:
            _, oldest = self._kept.popitem(last=False)
            self._characters -= _size(oldest)


def _size(prompts: Sequence[Excerpts]) -> int:
    return sum(len(excerpts.text) for excerpts in prompts)

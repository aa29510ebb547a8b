"""Models that are never asked: their answers are assumed, by a scenario.

They stand where models stand in a judge, and see the very prompts that a run would send.

Source: VeriTrail D (computational cost).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from veritrail_graph.graph.model import Claim, Usage, Verdict
from veritrail_graph.verifier.bill import Bill
from veritrail_graph.verifier.excerpts import one_line
from veritrail_graph.verifier.models.port import Request, Step
from veritrail_graph.verifier.models.prices import Price, priced
from veritrail_graph.verifier.models.warming import MIN_TOKENS

T = TypeVar("T")

PROMPTS_APART = 100
"""Prompts between two signs of life of a walk."""
AROUND = 10
"""Tokens of roles and separators around the messages of a prompt."""
_SUMMARY = "The selected sentences say this of what the claim says, with its names and its figures."
_LABEL = re.compile(r"\[\[\d+\]\]")


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is assumed of the answers of models.

    Attributes:
        name: What it is called.
        one_in: One node of a frontier in so many yields evidence, the first one always. The
            verdict on evidence is Fully Supported, so that the walk goes on.
        at_most: Nodes of a frontier that yield evidence at most: a claim rests on a few facts,
            however wide the frontier is; 0: none does.
        sentences: Sentences selected in a node that yields evidence.
        summary_sentences: Sentences of a summary.
        decompositions: Attempts until a claim is taken apart.
        nothing_found: Tokens of an answer that selects nothing.
        found: Tokens of an answer that selects sentences.
        verdict: Tokens of an answer that gives a verdict.
        decomposed: Tokens of an answer that takes a claim apart.
        token_share: Share of the safe estimate that a text comes to, where the model's
            tokenizer is not at hand.
        warm_iterations: In how many iterations claims about one node share their prompts'
            beginnings, so that an endpoint that caches prefixes bills them at its lower price.
    """

    name: str
    one_in: int
    at_most: int
    sentences: int
    summary_sentences: int
    decompositions: int
    nothing_found: int
    found: int
    verdict: int
    decomposed: int
    token_share: float
    warm_iterations: int


ALL = sys.maxsize
NOTHING = Scenario("low, nothing found", 1, 0, 1, 1, 1, 40, 150, 80, 40, 0.5, ALL)
NARROW = Scenario("low, one node a frontier", 1, 1, 1, 1, 1, 40, 150, 80, 40, 0.5, ALL)
LIKELY = Scenario("likely", 5, 5, 2, 3, 4, 120, 300, 200, 80, 0.65, 1)
HIGH = Scenario("high", 1, ALL, 4, 6, 20, 300, 800, 500, 160, 1.0, 0)


@dataclass(slots=True)
class Supposed:
    """The walk that is supposed; the assumed models of its steps share it.

    Attributes:
        scenario: What is assumed.
        claim: The claim that is walked.
        warm: What another claim about the same node would come to, with warm prefixes.
        prompts: How many prompts were looked at, in all walks.
        on_prompts: Told their number now and then.
    """

    scenario: Scenario = LIKELY
    claim: str = ""
    warm: Usage = Usage()
    prompts: int = 0
    on_prompts: Callable[[int], None] = lambda _prompts: None
    _iteration: int = -1
    _nodes: int = 0
    _selected: dict[str, list[int]] = field(default_factory=dict)

    def begin(self, scenario: Scenario, claim: Claim) -> None:
        """Suppose another walk."""
        self.scenario, self.claim, self.warm = scenario, one_line(claim.text), Usage()
        self._iteration = -1

    def answer(self, request: Request, iteration: int) -> tuple[dict[str, Any], int]:
        """The assumed answer, and how many tokens it is."""
        self.prompts += 1
        if self.prompts % PROMPTS_APART == 0:
            self.on_prompts(self.prompts)
        assumed = self.scenario
        if request.asked.step == Step.VERDICT:
            return {"verdict": Verdict.FULLY_SUPPORTED, "reason": "Assumed."}, assumed.verdict
        if request.asked.step == Step.SUB_CLAIM_DECOMPOSITION:
            return {"claims": self._parts(request.user)}, assumed.decomposed
        ids = self._select(request.user, iteration)
        summary = " ".join([_SUMMARY] * assumed.summary_sentences) if ids else None
        selected = {"sentence_ids": ids, "context_ids": [], "summary": summary, "missing": None}
        return selected, assumed.found if ids else assumed.nothing_found

    def _parts(self, user: str) -> list[str]:
        """The claim comes apart at once, into parts of half its length; they do not again."""
        text = user.removeprefix("Claim: ")
        if text != self.claim or self.scenario.decompositions == 1:
            return [text]
        half = text[: max(1, len(text) // 2)]
        return [f"{half} {number}" for number in range(1, self.scenario.decompositions)]

    def _select(self, user: str, iteration: int) -> list[int]:
        """Sentences of the nodes that yield evidence; all samples of a prompt select the same."""
        if iteration != self._iteration:
            self._iteration, self._nodes = iteration, 0
            self._selected.clear()
        if user not in self._selected:
            self._selected[user] = [
                number
                for numbers in _blocks(user, self._yields_evidence)
                for number in numbers[: self.scenario.sentences]
            ]
        return self._selected[user]

    def _yields_evidence(self, *, goes_on: bool) -> bool:
        """Whether the next block does; the rest of a cut node does where everything does."""
        assumed = self.scenario
        if goes_on:
            return assumed.at_most == ALL
        place = self._nodes
        self._nodes += 1
        return place < assumed.one_in * assumed.at_most and place % assumed.one_in == 0


def _blocks(user: str, is_taken: Callable[..., bool]) -> Iterable[list[int]]:
    """The ids of the blocks of a prompt that are taken; context lines begin the rest of a node."""
    lines = user.split("\n")
    ids: list[int] = []
    taken = False
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if _LABEL.fullmatch(line):
            yield ids
            ids = []
            taken = is_taken(goes_on=after.startswith("(context) "))
        elif line.startswith("Claim: "):
            yield ids
            return
        elif taken and not line.startswith("(context) "):
            ids.append(int(line.partition(":")[0]))


@dataclass(slots=True)
class AssumedModel:
    """A model that is never asked; implements `Asking`.

    Attributes:
        model: Its name.
        context_tokens: Tokens that a prompt may fill.
        count: Counts tokens as a run would.
        is_exact: Whether it is the model's own tokenizer that counts.
        price: What it costs, if that is known.
        caches: Whether its endpoint is known to cache prefixes.
        supposed: The walk.
    """

    model: str
    context_tokens: int
    count: Callable[[str], int]
    is_exact: bool
    price: Price | None
    caches: bool
    supposed: Supposed
    address: str = ""
    _instructions: dict[str, int] = field(default_factory=dict)

    def tokens(self, text: str) -> int:
        """Tokens of a text."""
        return self.count(text)

    async def ask(self, request: Request, read: Callable[[str], T], bill: Bill) -> T:
        """Read the assumed answer, and charge what it would cost."""
        answer, output = self.supposed.answer(request, bill.iteration)
        if request.system not in self._instructions:
            self._instructions[request.system] = self.count(request.system)
        shared = self._instructions[request.system] + self.count(request.user[: request.shared])
        rest = self.count(request.user[request.shared :])
        share = 1.0 if self.is_exact else self.supposed.scenario.token_share
        usage = Usage(1, 0, round(share * (shared + rest)) + AROUND, 0, output)
        prefix = round(share * shared) if self._is_warm(request, bill, shared * share) else 0
        warm = Usage(1, 0, usage.input_tokens, prefix, output)
        self.supposed.warm += priced(warm, self.price)
        bill.charge(request.asked, priced(usage, self.price))
        return read(json.dumps(answer))

    def _is_warm(self, request: Request, bill: Bill, tokens: float) -> bool:
        iterations = self.supposed.scenario.warm_iterations
        return (
            self.caches
            and request.shared > 0
            and bill.iteration <= iterations
            and tokens >= MIN_TOKENS
        )

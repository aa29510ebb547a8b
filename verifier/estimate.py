"""The estimated cost of verifying claims, before any call is made.

The claims are verified as they would be, by the same driver, judge, prompts and packing, but
with models that are never asked: a scenario assumes their answers. So calls and prompts are
those of a real walk; how many nodes yield evidence, and how long answers are, is assumed.

Source: VeriTrail D (computational cost).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from typing import Any, TypeVar

from veritrail_graph.graph.model import Claim, PartVerdict, Says, Status, Usage, Verdict
from veritrail_graph.verifier.call_modes import CallMode, ModeCosts, PromptTokens
from veritrail_graph.verifier.driver import Task, verify_claim
from veritrail_graph.verifier.excerpts import one_line
from veritrail_graph.verifier.judge import LanguageModelJudge
from veritrail_graph.verifier.models.language_model import MIN_TOKENS
from veritrail_graph.verifier.models.port import Meter, Request, Step
from veritrail_graph.verifier.models.prices import Price, priced
from veritrail_graph.verifier.ports import Judge, JudgeError, NodeSource
from veritrail_graph.verifier.prompts import BRIEF, TRUE_FALSE, asks_by_part

T = TypeVar("T")

PROMPTS_APART = 100
"""Prompts between two signs of life of a walk."""
AROUND = 10
"""Tokens of roles and separators around the messages of a prompt."""
_SUMMARY = "The selected sentences say this of what the claim says, with its names and its figures."
_LABEL = re.compile(r"\[\[\d+\]\]")
BRIEF_SHARE = 0.3
"""What an answer without written reasoning has of the tokens of one with it."""
TRUE_ANSWER, TRUE_TOKENS = "True", 2
"""The answer to a prompt that asks whether a claim is true or false."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The assumptions of one scenario about the answers of models.

    Attributes:
        name: What it is called.
        one_in: One node of this many in a frontier yields evidence, the first one always. The
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
        token_share: Share of the safe estimate of tokens that a text has in fact, where the
            model's tokenizer is not at hand.
        warm_iterations: In how many iterations claims about one node share their prompts'
            beginnings, so that an endpoint that caches prefixes bills them at its lower price.
        escalated: Share of the verdicts of a first judge for which the second one is asked.
        left_open: Share of the claims whose verdicts a selection by part leaves open, so that each
            is asked for; those of the others it settles where it may.
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
    escalated: float
    left_open: float


ALL = sys.maxsize
NOTHING = Scenario("low, nothing found", 1, 0, 1, 1, 1, 40, 150, 80, 40, 0.5, ALL, 0.0, 0.0)
NARROW = Scenario("low, one node a frontier", 1, 1, 1, 1, 1, 40, 150, 80, 40, 0.5, ALL, 0.0, 0.0)
LIKELY = Scenario("likely", 5, 5, 2, 3, 4, 120, 300, 200, 80, 0.65, 1, 1 / 3, 1 / 3)
HIGH = Scenario("high", 1, ALL, 4, 6, 20, 300, 800, 500, 160, 1.0, 0, 1.0, 1.0)


@dataclass(slots=True)
class AssumedWalk:
    """The walk that is assumed_walk; the assumed models of its steps share it.

    Attributes:
        scenario: What is assumed.
        claim: The claim that is walked.
        warm: What another claim about the same node would cost, with warm prefixes.
        prompts: How many prompts were looked at, in all walks.
        on_prompts: Called with their number now and then.
        claims: How many claims ask what the one asks that is walked.
        costs: What the walk costs in each way to ask.
        shared_prompts: The instructions of prompts about several claims, by the step that asks
            about one; a step that is not there shares none.
        second: The second judge of a cascade; None: there is none.
        settles: Whether selections by part settle verdicts in this walk.
    """

    scenario: Scenario = LIKELY
    claim: str = ""
    warm: Usage = Usage()
    prompts: int = 0
    on_prompts: Callable[[int], None] = lambda _prompts: None
    claims: int = 1
    costs: ModeCosts = field(default_factory=ModeCosts)
    shared_prompts: Mapping[str, str] = field(default_factory=dict)
    second: AssumedModel | None = None
    settles: bool = False
    _iteration: int = -1
    _nodes: int = 0
    _selected: dict[str, list[int]] = field(default_factory=dict)

    def begin(
        self, scenario: Scenario, claim: Claim, claims: int = 1, *, settles: bool = False
    ) -> None:
        """Begin another walk, for so many claims, whose selections settle verdicts or do not."""
        self.settles = settles
        self.scenario, self.claim, self.warm = scenario, one_line(claim.text), Usage()
        self._iteration, self.claims = -1, claims
        self.costs = ModeCosts(self.costs.modes)

    def answer(self, request: Request, iteration: int) -> tuple[dict[str, Any] | str, int]:
        """The assumed answer, an object or a word, and how many tokens it is."""
        self.prompts += 1
        if self.prompts % PROMPTS_APART == 0:
            self.on_prompts(self.prompts)
        if request.call.prompt.endswith(TRUE_FALSE):
            return TRUE_ANSWER, TRUE_TOKENS
        answer, tokens = self._reasoned(request, iteration)
        is_brief = request.call.prompt.endswith(BRIEF)
        return answer, round(BRIEF_SHARE * tokens) if is_brief else tokens

    def _reasoned(self, request: Request, iteration: int) -> tuple[dict[str, Any], int]:
        """The assumed answer, with its written reasoning."""
        assumed = self.scenario
        if request.call.step == Step.VERDICT:
            return {"verdict": Verdict.FULLY_SUPPORTED, "reason": "Assumed."}, assumed.verdict
        if request.call.step == Step.SUB_CLAIM_DECOMPOSITION:
            return {"claims": self._parts(request.user)}, assumed.decomposed
        ids = self._select(request.user, iteration)
        summary = " ".join([_SUMMARY] * assumed.summary_sentences) if ids else None
        selected: dict[str, Any] = {"context_ids": [], "summary": summary, "missing": None}
        if asks_by_part(request.call.prompt.partition(".")[2]):
            selected |= self._by_part(request.user, ids)
        else:
            selected |= {"sentence_ids": ids}
        return selected, assumed.found if ids else assumed.nothing_found

    def _by_part(self, user: str, ids: Sequence[int]) -> dict[str, Any]:
        """Each of the sentences speaks for each part, and settles the verdict, or leaves it."""
        parts = range(1, max(user.rpartition("\nClaim: ")[2].count("\n- "), 1) + 1)
        said = [{"id": one, "part": part, "says": Says.FOR} for one in ids for part in parts]
        if not (ids and self.settles):
            return {"evidence": said}
        judged = [
            {"part": part, "verdict": PartVerdict.SUPPORTED, "reason": "Assumed."} for part in parts
        ]
        return {"evidence": said, "parts": judged}

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
        """Return whether the next block does; the rest of a cut node does where everything does."""
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
    """A model that is never asked; implements `ModelPort`.

    Attributes:
        model: Its name.
        context_tokens: Tokens that a prompt may fill.
        count: Counts tokens as a run would.
        is_exact: Whether it is the model's own tokenizer that counts.
        price: What it costs, if that is known.
        caches: Whether its endpoint is known to cache prefixes.
        assumed_walk: The walk.
        in_batches: Whether calls are made in batches; then no prefix counts as cached.
    """

    model: str
    context_tokens: int
    count: Callable[[str], int]
    is_exact: bool
    price: Price | None
    caches: bool
    assumed_walk: AssumedWalk
    address: str = ""
    in_batches: bool = False
    _instructions: dict[str, int] = field(default_factory=dict)

    def tokens(self, text: str) -> int:
        """Tokens of a text."""
        return self.count(text)

    def answer(self, request: Request, iteration: int) -> tuple[dict[str, Any] | str, int]:
        """The assumed answer, and how many tokens of it are paid."""
        return self.assumed_walk.answer(request, iteration)

    async def ask(self, request: Request, read: Callable[[str], T], meter: Meter) -> T:
        """Read the assumed answer, and charge what it would cost."""
        answer, output = self.answer(request, meter.iteration)
        if request.system not in self._instructions:
            self._instructions[request.system] = self.count(request.system)
        shared = self._instructions[request.system] + self.count(request.user[: request.shared])
        rest = self.count(request.user[request.shared :])
        share = 1.0 if self.is_exact else self.assumed_walk.scenario.token_share
        usage = Usage(
            calls=1,
            cached_calls=0,
            input_tokens=round(share * (shared + rest)) + AROUND,
            cached_input_tokens=0,
            output_tokens=output,
            batch_calls=int(self.in_batches),
        )
        prefix = round(share * shared) if self._is_warm(request, meter, shared * share) else 0
        warm = Usage(
            calls=1,
            cached_calls=0,
            input_tokens=usage.input_tokens,
            cached_input_tokens=prefix,
            output_tokens=output,
            batch_calls=int(self.in_batches),
        )
        self.assumed_walk.warm += priced(warm, self.price)
        if self.assumed_walk.costs.modes:
            excerpts = shared - self._instructions[request.system]
            self._count_ways(request, meter, excerpts, rest, output)
        meter.record(request.call, priced(usage, self.price))
        return read(answer if isinstance(answer, str) else json.dumps(answer))

    def _count_ways(
        self, request: Request, meter: Meter, excerpts: int, own: int, output: int
    ) -> None:
        """Count a prompt in each way to ask, for all claims that ask it."""
        walk = self.assumed_walk
        share = 1.0 if self.is_exact else walk.scenario.token_share
        together = walk.shared_prompts.get(request.call.step, "")
        if together not in self._instructions:
            self._instructions[together] = self.count(together)
        second = walk.second if request.call.step == Step.VERDICT else None
        walk.costs.add(
            PromptTokens(
                walk.claims,
                share * self._instructions[request.system],
                share * self._instructions[together],
                share * excerpts,
                share * own,
                AROUND,
                output,
                request.shared > 0 and meter.iteration <= walk.scenario.warm_iterations,
                request.call.step == Step.EVIDENCE_SELECTION,
                request.call.step == Step.VERDICT and bool(together),
            ),
            self.price,
            second=second.price if second is not None else None,
            escalated=walk.scenario.escalated if second is not None else None,
        )

    def _is_warm(self, request: Request, meter: Meter, tokens: float) -> bool:
        iterations = self.assumed_walk.scenario.warm_iterations
        return (
            self.caches
            and not self.in_batches
            and request.shared > 0
            and meter.iteration <= iterations
            and tokens >= MIN_TOKENS
        )


@dataclass(slots=True)
class AssumedDecisions(AssumedModel):
    """A decision model that is never asked: what it would be sure of is what another would say."""

    def answer(self, request: Request, iteration: int) -> tuple[dict[str, Any] | str, int]:
        """The assumed answer, which is not paid."""
        body = json.loads(request.user)
        asked, is_list = body["questions"], "input" in body
        text = replace(request, user=body["input" if is_list else "state"])
        assumed, _ = self.assumed_walk.answer(text, iteration)
        found = assumed if isinstance(assumed, dict) else {}
        each: dict[str, dict[str, Any]] = {}
        for name in [one["name"] for one in asked] if is_list else asked:
            if "verdict" in found:
                sure = {one.value: float(one == found["verdict"]) for one in Verdict}
                rows = [{"value": value, "probability": one} for value, one in sure.items()]
                each[name] = {"type": "choice", "probabilities": rows if is_list else sure}
            else:
                sentence = int(name.partition(".")[2])
                given = float(sentence in found["sentence_ids"])
                kind, key = ("predicate", "probability") if is_list else ("noul", "noul")
                each[name] = {"type": kind, key: given}
        named = [{"name": name, **one} for name, one in each.items()]
        return {"answers": named if is_list else each}, 0


OPEN_ESCALATED = 1.0
"""The share of the verdicts that selections leave open for which a second judge is asked: none of
the 38 of the recorded samples is Fully Supported."""

_OUTPUT_WEIGHT = 4  # of a token of an answer, where no price says which walk is the cheaper one


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of claims in one scenario.

    Attributes:
        usage: Calls, tokens and money of all claims.
        visited: node_ids of the nodes that are read, each once.
        ways: What the same claims cost in each way to ask, by its name.
    """

    usage: Usage = Usage()
    visited: frozenset[str] = frozenset()
    ways: Mapping[str, Usage] = field(default_factory=dict)

    @property
    def weight(self) -> float:
        """Return what estimates are compared by: money, else tokens."""
        usage = self.usage
        tokens = usage.input_tokens + _OUTPUT_WEIGHT * usage.output_tokens
        return tokens if usage.cost_usd is None else usage.cost_usd

    def __add__(self, other: Estimate) -> Estimate:
        names = {**self.ways, **other.ways}
        ways = {
            name: self.ways.get(name, Usage()) + other.ways.get(name, Usage()) for name in names
        }
        return Estimate(self.usage + other.usage, self.visited | other.visited, ways)


@dataclass(frozen=True, slots=True)
class Estimates:
    """Low, likely and high."""

    low: Estimate = Estimate()
    likely: Estimate = Estimate()
    high: Estimate = Estimate()


@dataclass(frozen=True, slots=True)
class Estimator:
    """Walks a process with assumed answers.

    Attributes:
        process_id: The process.
        judge: A judge whose models are `AssumedModel`s.
        assumed_walk: The walk that these models share.
        nodes: Where nodes are read from.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        way: The way in which they would be asked, where it is not that of the judge's models alone.
    """

    process_id: str
    judge: Judge
    assumed_walk: AssumedWalk
    nodes: NodeSource
    q: int
    way: CallMode | None = None

    async def estimate(
        self,
        tasks: Sequence[Task],
        on_progress: Callable[[int, int], None] = lambda _claims, _prompts: None,
    ) -> Estimates:
        """Low, likely and high of all claims; claims about one node are walked once.

        Args:
            tasks: The claims.
            on_progress: Called with how many claims are done, and how many prompts were looked at.

        Raises:
            VeriTrailError: A node cannot be read.
        """
        alike: dict[tuple[str, bool], list[Task]] = {}
        for task in tasks:
            alike.setdefault((task.node.node_id, bool(task.claim.sub_claims)), []).append(task)
        whole, done = Estimates(), 0
        self.assumed_walk.on_prompts = lambda prompts: on_progress(done, prompts)
        on_progress(0, 0)
        for group in alike.values():
            before, after = (
                ceil(LIKELY.left_open * claims) for claims in (done, done + len(group))
            )
            left_open = after - before if self.settles else len(group)
            nothing, narrow, likely, high = [
                await self._walked(group, scenario, number)
                for scenario, number in (
                    (NOTHING, len(group)),
                    (NARROW, 0 if self.settles else len(group)),
                    (LIKELY, left_open),
                    (HIGH, len(group)),
                )
            ]
            low = min((nothing, narrow, likely), key=lambda one: one.weight)
            high = max((high, likely), key=lambda one: one.weight)
            whole = Estimates(whole.low + low, whole.likely + likely, whole.high + high)
            done += len(group)
            on_progress(done, self.assumed_walk.prompts)
        return whole

    @property
    def settles(self) -> bool:
        """Return whether selections may settle verdicts, so that these are not asked for."""
        return isinstance(self.judge, LanguageModelJudge) and self.judge.settles

    async def _walked(self, group: Sequence[Task], scenario: Scenario, left_open: int) -> Estimate:
        """A walk for the claims whose verdicts are asked for, and one for those that are settled.

        Each is that of the claim of middle length, times its claims.
        """
        by_length = sorted(group, key=lambda task: len(task.claim.text))
        task = by_length[len(group) // 2]
        whole = Estimate()
        asked = replace(scenario, escalated=OPEN_ESCALATED) if self.settles else scenario
        for of, claims in ((asked, left_open), (scenario, len(group) - left_open)):
            if claims:
                self.assumed_walk.begin(of, task.claim, claims, settles=of is not asked)
                whole += await self._walk(task, claims, is_first=not whole.visited)
        walk = self.assumed_walk
        if walk.second is None or left_open == len(group):
            return whole
        # A model for verdicts alone takes none from selections: without a cascade it gives all.
        walk.begin(scenario, task.claim, len(group))
        alone = await self._walk(task, len(group), is_first=True)
        plain = {mode.name: alone.ways[mode.name] for mode in walk.costs.modes if not mode.cascade}
        return replace(whole, ways={**whole.ways, **plain})

    async def _walk(self, task: Task, claims: int, *, is_first: bool) -> Estimate:
        """One walk, times the claims; only the first finds no beginning of a prompt in a cache."""
        ended = await verify_claim(task, self.process_id, self.judge, self.nodes, q=self.q)
        if ended.status is not Status.SUCCEEDED:
            raise JudgeError(f"no estimate for node {task.node.node_id!r}: {ended.error}")
        visited = {ref.node_id for iteration in ended.iterations for ref in iteration.checked}
        cold, warm = ended.usage, self.assumed_walk.warm
        usage = times(warm, claims - 1) + (cold if is_first else warm)
        ways = self.assumed_walk.costs.usages()
        if self.way is not None:
            usage = ways[self.way.name]
        return Estimate(usage, frozenset(visited), ways)


def assumptions() -> dict[str, dict[str, Any]]:
    """Return what is assumed in each scenario, as JSON; null: any number."""
    return {
        key: {
            name: None if value == sys.maxsize else value
            for name, value in asdict(scenario).items()
            if name != "name"
        }
        for key, scenario in (
            ("low_nothing_found", NOTHING),
            ("low_one_node", NARROW),
            ("likely", LIKELY),
            ("high", HIGH),
        )
    }


def times(usage: Usage, number: int) -> Usage:
    """A usage so many times; that of none has no cost."""
    return Usage(
        calls=usage.calls * number,
        input_tokens=usage.input_tokens * number,
        cached_input_tokens=usage.cached_input_tokens * number,
        output_tokens=usage.output_tokens * number,
        cost_usd=usage.cost_usd * number if usage.cost_usd is not None and number else None,
        unpriced_calls=usage.unpriced_calls * number,
        batch_calls=usage.batch_calls * number,
    )

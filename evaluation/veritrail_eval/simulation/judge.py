"""A judge that knows what is true of planted claims, and errs as often as its `Noise` says.

Evidence selection over a frontier is drawn with arrays, as its prompts would show the sentences;
what samples agree on, verdict prompts, reruns and cuts are those of the language model judge.

Source: VeriTrail 3.1.2, 3.1.3, E.2, E.3.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from veritrail_eval.simulation.claims import PlantedClaim
from veritrail_eval.simulation.draws import key, uniform, uniforms
from veritrail_eval.simulation.noise import Noise
from veritrail_eval.simulation.packing import packed
from veritrail_eval.simulation.process_shape import ROOT, Numbers, ProcessShape
from veritrail_graph.graph.model import Claim, NodeRef, Sentence, Verdict
from veritrail_graph.verifier.answers import SelectionAnswer, merge_selections
from veritrail_graph.verifier.estimate import AROUND, LIKELY
from veritrail_graph.verifier.evidence import EvidenceStep, joined, selected
from veritrail_graph.verifier.excerpts import Excerpts, claim_lines
from veritrail_graph.verifier.limits import Limits, Samples
from veritrail_graph.verifier.models.port import Meter, Request, Step
from veritrail_graph.verifier.models.tokens import estimate
from veritrail_graph.verifier.ports import Found, Judgement, ReadNode, Selection, SourceNodes
from veritrail_graph.verifier.prompted import PromptedStep
from veritrail_graph.verifier.prompts import Prompts
from veritrail_graph.verifier.verdict import PromptVerdict

T = TypeVar("T")

MODEL = "simulated"
OF_LINE = 2
"""Tokens that a line costs besides its words."""
KEPT_NODES = 200_000
"""Nodes that are kept for the next claims."""
_SAME, _RECALL, _MISTAKE, _PLACE, _VERDICT, _AGAIN = range(10, 16)
_TAG = re.compile(r"\bs(\d+)\.(\d+)\b")
_SHOWN = re.compile(r"^(\d+): s(\d+)\.(\d+)\b", re.MULTILINE)
_BETWEEN = " | "
_position, _number = attrgetter("position"), attrgetter("ref.position")


@dataclass(slots=True)
class Spent:
    """The calls, tokens and sentences that one claim took.

    Attributes:
        calls: Answers of the model.
        input_tokens: Tokens of the prompts.
        output_tokens: Tokens of the answers.
        shown: Sentences with a fact of the claim in the nodes that were read.
        found: Those of them that were selected.
        mistaken: Other sentences that were selected.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    shown: int = 0
    found: int = 0
    mistaken: int = 0


class SimulatedNode:
    """A node of a simulated process; its sentences are made where they are needed."""

    __slots__ = ("_sentences", "ref", "size", "tokens")

    def __init__(self, ref: NodeRef, size: int, tokens: int) -> None:
        self.ref, self.size, self.tokens = ref, size, tokens
        self._sentences: tuple[Sentence, ...] | None = None

    @property
    def text(self) -> str:
        """Its text."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences; each names itself, and has as many words as it has tokens."""
        if self._sentences is None:
            self._sentences = tuple(
                sentence_of(self.ref.node_id, place, self.tokens) for place in range(self.size)
            )
        return self._sentences


def sentence_of(node_id: str, place: int, tokens: int) -> Sentence:
    """A sentence of a simulated node."""
    text = f"s{node_id}.{place}{' w' * (tokens - 1)}"
    start = place * (len(text) + 1)
    return Sentence(node_id, place, start, start + len(text), text)


class SimulatedNodes:
    """A `NodeSource` over the shape of a process.

    Args:
        shape: The process.
        tokens: Tokens of a sentence.
    """

    def __init__(self, shape: ProcessShape, tokens: int) -> None:
        self._shape, self._tokens = shape, tokens
        self._nodes: dict[int, SimulatedNode] = {}
        self._is_checked = np.zeros(shape.nodes, dtype=bool)
        self._checked: list[Numbers] = []

    def begin(self) -> None:
        """Forget what the last walk has checked."""
        for numbers in self._checked:
            self._is_checked[numbers] = False
        self._checked.clear()
        if len(self._nodes) > KEPT_NODES:
            self._nodes.clear()

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """The source nodes of these nodes without those checked; paths are not recorded."""
        del checked  # what this walk has read is known
        return SourceNodes(tuple([node.ref for node in self._all(self._left(of).tolist())]), {})

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """One source node of these nodes that is not checked, if there is any."""
        del checked
        return SourceNodes(tuple([self.node(one).ref for one in self._left(of)[:1].tolist()]), {})

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """These nodes."""
        return tuple(self._all(map(_position, nodes)))

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        """None: a shape knows no steps."""
        del node_ids
        return frozenset()

    def check(self, numbers: Numbers) -> None:
        """Keep which nodes are read."""
        self._is_checked[numbers] = True
        self._checked.append(numbers)

    def node(self, number: int) -> SimulatedNode:
        """A node by its number."""
        found = self._nodes.get(number)
        if found is None:
            size = int(self._shape.sentences[number])
            found = SimulatedNode(self._shape.ref(number), size, self._tokens)
            self._nodes[number] = found
        return found

    def _all(self, numbers: Iterable[int]) -> list[SimulatedNode]:
        known = self._nodes.get
        return [known(number) or self.node(number) for number in numbers]

    def _left(self, of: Collection[str]) -> Numbers:
        numbers = self._shape.source_numbers(np.fromiter(map(int, of), np.int64, len(of)))
        return numbers[~self._is_checked[numbers]]


@dataclass(slots=True)
class SimulatedModel:
    """Answers verdict prompts and reruns, for one claim at a time; implements `ModelPort`.

    Attributes:
        noise: How often it errs.
        context_tokens: Tokens that a prompt may fill.
        instructions: Tokens of the instructions by their text.
        claim: The claim that it is asked about.
        stage: The highest stage of the nodes that were read last.
        spent: What the claim took so far.
    """

    noise: Noise
    context_tokens: int
    instructions: Mapping[str, int]
    claim: PlantedClaim | None = None
    stage: int = 0
    spent: Spent = field(default_factory=Spent)
    model: str = MODEL
    address: str = ""

    def tokens(self, text: str) -> int:
        """Tokens of a text: its words, and a little for each further line."""
        known = self.instructions.get(text)
        return text.count(" ") + 1 + (OF_LINE + 1) * text.count("\n") if known is None else known

    async def ask(self, request: Request, read: Callable[[str], T], meter: Meter) -> T:
        """Draw an answer, and read it."""
        if request.call.step == Step.VERDICT:
            answer, output = self._verdict(request, meter.iteration), LIKELY.verdict
        else:
            answer = self._select_again(request)
            output = LIKELY.found if answer["sentence_ids"] else LIKELY.nothing_found
        self.spend(1, self.tokens(request.system) + self.tokens(request.user) + AROUND, output)
        return read(json.dumps(answer))

    def spend(self, calls: int, input_tokens: int, output_tokens: int) -> None:
        """Count calls and their tokens."""
        self.spent.calls += calls
        self.spent.input_tokens += input_tokens
        self.spent.output_tokens += output_tokens

    def sample(self, sample: int, *of: int) -> int:
        """The sample whose draw counts: the first, where all make the same."""
        if sample and uniform(key(self.about.key, _SAME, *of), 0) < self.noise.same_mistakes:
            return 0
        return sample

    @property
    def about(self) -> PlantedClaim:
        """The claim that it is asked about."""
        if self.claim is None:
            raise RuntimeError("it is asked about no claim")
        return self.claim

    def _verdict(self, request: Request, iteration: int) -> dict[str, Any]:
        claim = self.about
        shown = ((int(node), int(place)) for node, place in _TAG.findall(request.user))
        facts = {claim.evidence[one] for one in shown if one in claim.evidence}
        is_supported = len(facts) == claim.facts
        right, wrong = Verdict.FULLY_SUPPORTED, Verdict.NOT_FULLY_SUPPORTED
        if not is_supported:
            right, wrong = wrong, right
        sample = self.sample(request.sample, _VERDICT, iteration)
        drawn = uniform(key(claim.key, _VERDICT, iteration, sample), 0)
        flip = self.noise.flip(self.stage, is_supported=is_supported)
        verdict = wrong if drawn < flip else right
        if drawn >= 1 - self.noise.inconclusive:
            verdict = Verdict.INCONCLUSIVE
        return {"verdict": verdict, "reason": f"{len(facts)} of {claim.facts} facts are shown."}

    def _select_again(self, request: Request) -> dict[str, Any]:
        """A rerun over selected sentences; all of them were selected once."""
        claim, noise = self.about, self.noise
        shown = [
            (int(number), int(node), int(place))
            for number, node, place in _SHOWN.findall(request.user)
        ]
        ids = []
        for number, node, place in shown:
            rate = noise.recall if (node, place) in claim.evidence else noise.false_positives
            # A second rerun shows fewer sentences, so it draws anew.
            sample = self.sample(request.sample, _AGAIN, node, place)
            of = key(claim.key, _AGAIN, place, len(shown), sample)
            is_same = uniform(key(claim.key, _SAME, place, len(shown)), node) < noise.same_mistakes
            if is_same or uniform(of, node) < rate:
                ids.append(number)
        tags = [(node, place) for number, node, place in shown if number in set(ids)]
        summary = summary_of(tags, 1) if ids else None
        return {"sentence_ids": ids, "context_ids": [], "summary": summary, "missing": None}


def summary_of(tags: Sequence[tuple[int, int]], tokens: int) -> str:
    """A summary of selected sentences; its first sentence names them."""
    names = " ".join(f"s{node}.{place}" for node, place in tags)
    first = names + " w" * max(0, tokens - len(tags))
    return _BETWEEN.join([first, *["w" + " w" * (tokens - 1)] * (LIKELY.summary_sentences - 1)])


def split_summary(node_id: str, text: str) -> tuple[Sentence, ...]:
    """The sentences of a summary."""
    found, start = [], 0
    for place, part in enumerate(text.split(_BETWEEN)):
        found.append(Sentence(node_id, place, start, start + len(part), part))
        start += len(part) + len(_BETWEEN)
    return tuple(found)


class SimulatedJudge:
    """Judges planted claims; implements `Judge`. It judges one claim at a time.

    Args:
        shape: The process.
        nodes: Where its nodes are read from.
        noise: How often it errs.
        limits: How much goes into a prompt.
        samples: How many answers are drawn, and how many of them must agree.
        prompts: The prompts whose instructions are counted.
        tokens: Tokens of a sentence.
        context_tokens: Tokens that a prompt may fill.
    """

    name, model, indicative = MODEL, None, True

    def __init__(
        self,
        shape: ProcessShape,
        nodes: SimulatedNodes,
        noise: Noise,
        limits: Limits,
        samples: Samples,
        prompts: Prompts,
        tokens: int,
        context_tokens: int,
    ) -> None:
        instructions = {prompt.text: estimate(prompt.text) for prompt in prompts.values()}
        self.asked = SimulatedModel(noise, context_tokens, instructions)
        self._shape, self._nodes, self._noise, self._limits = shape, nodes, noise, limits
        self._samples, self._tokens = samples, tokens
        self._prompt = prompts[Step.EVIDENCE_SELECTION]
        self._step = PromptedStep(self._prompt, self.asked, samples)
        again = EvidenceStep(self._step, limits)
        verdicts = PromptedStep(prompts[Step.VERDICT], self.asked, samples)
        self._verdicts = PromptVerdict(verdicts, again, split_summary, limits)
        self._decomposition = prompts[Step.SUB_CLAIM_DECOMPOSITION]

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its answers."""
        return {"samples": self._samples.settings}

    def begin(self, claim: PlantedClaim) -> None:
        """Judge another claim from now on."""
        self._nodes.begin()
        self.asked.claim, self.asked.spent = claim, Spent()

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """Those that the claim has; a call for the claim and for each of them finds them."""
        del meter
        calls = 1 + len(claim.sub_claims)
        instructions = self.asked.tokens(self._decomposition.text) + AROUND
        text = self.asked.tokens(claim_lines(claim.text))
        self.asked.spend(calls, calls * (instructions + text), calls * LIKELY.decomposed)
        return claim.sub_claims

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """Draw which sentences are selected from each prompt, by every sample."""
        del meter
        numbers = np.fromiter(map(_number, nodes), np.int64, len(nodes))
        self._nodes.check(numbers)
        if len(numbers):
            self.asked.stage = int(self._shape.stages[numbers].max())
        lines = claim_lines(claim.text, claim.sub_claims)
        is_root = self._shape.roles[numbers] == ROOT
        limits = self._limits
        parts = [
            self._selected(numbers[is_root], limits.root_sentences, lines),
            self._selected(numbers[~is_root], limits.other_sentences, lines),
        ]
        return replace(joined(parts), is_sampled=self._samples.is_soft)

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Give a verdict by the prompt of a language model judge."""
        return await self._verdicts.judge(claim, found, meter)

    def _selected(self, numbers: Numbers, limit: int | None, lines: str) -> Selection:
        """Select from nodes that share prompts."""
        if not len(numbers):
            return Selection()
        sizes = self._shape.sentences[numbers].astype(np.int64)
        cut = packed(sizes, limit, self._step.room(lines), self._tokens)
        first = np.cumsum(sizes) - sizes
        # Number of the sentence, counted through, by sample.
        by_sample = self._drawn(numbers, first)
        by_prompt: dict[int, list[list[int]]] = defaultdict(lambda: [[] for _ in by_sample])
        finds = 0
        for sample, drawn in enumerate(by_sample):
            prompts = np.searchsorted(cut.bounds, drawn, side="right") - 1
            for prompt, sentence in zip(prompts.tolist(), drawn.tolist(), strict=True):
                by_prompt[prompt][sample].append(sentence)
            finds += len(set(prompts.tolist()))
        calls = cut.prompts * len(by_sample)
        asked = self.asked.tokens(self._prompt.text) + AROUND + self.asked.tokens(lines)
        shown = int(sizes.sum() + cut.context) * (self._tokens + 1 + OF_LINE)
        self.asked.spend(
            calls,
            calls * asked + len(by_sample) * (shown + cut.blocks * (1 + OF_LINE)),
            finds * LIKELY.found + (calls - finds) * LIKELY.nothing_found,
        )
        places = [self._agreed(by_prompt[prompt], numbers, first) for prompt in sorted(by_prompt)]
        return joined(places)

    def _drawn(self, numbers: Numbers, first: Numbers) -> list[Numbers]:
        """The sentences that each sample selects, counted through the nodes, ascending."""
        model, noise = self.asked, self._noise
        claim = model.about
        places = np.searchsorted(numbers, claim.nodes)
        there = places < len(numbers)
        there[there] = numbers[places[there]] == claim.nodes[there]
        begins = dict(zip(claim.nodes[there].tolist(), first[places[there]].tolist(), strict=True))
        true = [one for one in claim.evidence if one[0] in begins]
        model.spent.shown += len(true)
        mistaken = self._mistaken(numbers, first, places[there])
        drawn = []
        for sample in range(self._samples.count):
            found = [
                begins[node] + place
                for node, place in true
                if uniform(
                    key(claim.key, _RECALL, place, model.sample(sample, _RECALL, node, place)), node
                )
                < noise.recall
            ]
            drawn.append(np.sort(np.concatenate([mistaken[sample], np.array(found, np.int64)])))
        return drawn

    def _mistaken(self, numbers: Numbers, first: Numbers, true: Numbers) -> list[Numbers]:
        """Sentences of nodes without a fact of the claim that each sample selects all the same."""
        noise, samples, of_claim = self._noise, self._samples.count, self.asked.about.key
        if noise.false_positives == 0:
            return [np.zeros(0, dtype=np.int64)] * samples
        drawn = uniforms(key(of_claim, _MISTAKE, 0), numbers)
        is_same = uniforms(key(of_claim, _SAME, _MISTAKE), numbers) < noise.same_mistakes
        found = []
        for sample in range(samples):
            own = drawn if sample == 0 else uniforms(key(of_claim, _MISTAKE, sample), numbers)
            is_taken = np.where(is_same, drawn, own) < noise.false_positives
            is_taken[true] = False
            taken = np.flatnonzero(is_taken)
            sizes = self._shape.sentences[numbers[taken]]
            inside = (uniforms(key(of_claim, _PLACE), numbers[taken]) * sizes).astype(np.int64)
            found.append(first[taken] + inside)
        return found

    def _agreed(self, drawn: Sequence[list[int]], numbers: Numbers, first: Numbers) -> Selection:
        """Return what the samples of one prompt agree on, by the rules for samples."""
        claim, spent = self.asked.about, self.asked.spent
        whole = sorted({sentence for one in drawn for sentence in one})
        ids = {sentence: number for number, sentence in enumerate(whole)}
        at = np.searchsorted(first, np.array(whole), side="right") - 1
        tags = [
            (int(numbers[node]), sentence - int(first[node]))
            for node, sentence in zip(at.tolist(), whole, strict=True)
        ]
        answers = [
            SelectionAnswer(
                evidence=tuple(ids[sentence] for sentence in one),
                summary=summary_of([tags[ids[sentence]] for sentence in one], self._tokens),
            )
            if one
            else SelectionAnswer()
            for one in drawn
        ]
        agreed = merge_selections(answers, self._samples.threshold)
        for number in agreed.evidence:
            if tags[number] in claim.evidence:
                spent.found += 1
            else:
                spent.mistaken += 1
        sentences = tuple(sentence_of(str(node), place, self._tokens) for node, place in tags)
        return selected(agreed, Excerpts("", sentences, ()))

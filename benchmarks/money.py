"""What a claim costs at list prices: live, in batches, with shared prompts, in a cascade.

No engine and no server: claims are verified by the driver, the judge, the prompts and the packing
of the product, over processes in memory, and an endpoint in memory answers. It counts tokens with
the tokenizer of the model whose list price is taken, and knows prefixes that were asked before, as
endpoints do: in steps of 128 tokens, from 1,024 on. How long answers with written reasoning are is
assumed, as `veritrail estimate` assumes it; of answers without it (`--prompts brief`) the tokens of
the object are counted. The reference is the paper's call pattern: one claim a prompt, single calls,
no prefix cached.

Source: VeriTrail D (computational cost).
"""

from __future__ import annotations

import asyncio
import importlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from benchmarks import since
from benchmarks.model_reader import CLAIMS, STRAY, Process, Reader
from benchmarks.report import Line, Report
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.model import (
    Claim,
    NodeRef,
    Sentence,
    Status,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.driver import Observer, Task
from veritrail_graph.verifier.estimate import LIKELY
from veritrail_graph.verifier.held_process import HeldNodes, HeldProcess
from veritrail_graph.verifier.judge import LanguageModelJudge, StepModel, StepModels
from veritrail_graph.verifier.models.language_model import LanguageModel, Warm
from veritrail_graph.verifier.models.port import Completion, Request, Step
from veritrail_graph.verifier.models.prices import Price, price_of, priced
from veritrail_graph.verifier.ports import NodeSource, ReadNode, SplitNode
from veritrail_graph.verifier.prompts import BRIEF, PAPER, Prompts, load_prompts
from veritrail_graph.verifier.run import Run

ROOT = Path(__file__).resolve().parents[1]
MODEL, STRONG, ADDRESS = "gpt-6-luna", "gpt-6.1-sol", "https://api.openai.com/v1"
SHARE, Q = 8, 3
LIVE_TARGET, BATCH_TARGET, SHARED_TARGET = 0.6, 0.5, 0.25
STEP, LEAST = 128, 1_024
"""Tokens in which prefixes are cached, and how many the shortest one has."""
REASON = (
    "The excerpts give the figure and the year that the claim names, but say nothing of the cause "
    "that it adds."
)
"""A reason of usual length, in one sentence, as `--prompts brief` asks for."""
_SENTENCE = re.compile(r"(\d+): (.*)")
_CLAIM = re.compile(r"Claim(?: \d+)?: (.*)")
_WORD = re.compile(r"\w+")
_EVERY_DAY = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "in", "is", "it", "of", "on", "that", "the", "to"}
)

Selects = Callable[[str, str], bool]
"""Whether a sentence (second) bears on a claim (first)."""

Holds = Callable[[str, Sequence[str]], bool]
"""Whether sentences (second) make a claim (first) Fully Supported."""


@lru_cache(200_000)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _EVERY_DAY


def shares_words(claim: str, sentence: str) -> bool:
    """Whether a sentence has half of the words of a claim."""
    wanted = _words(claim)
    return 2 * len(wanted & _words(sentence)) >= len(wanted)


@dataclass
class Prefixes:
    """The beginnings of prompts that were asked, in steps of so many tokens.

    A text is cut into tokens once, and the beginning that prompts have in common is looked at once.

    Attributes:
        encode: The tokens of a text.
        known: The beginnings that were asked.
    """

    encode: Callable[[str], Sequence[int]]
    known: set[int] = field(default_factory=set)
    _common: dict[int, tuple[list[int], tuple[int, ...]]] = field(default_factory=dict)

    def asked(self, system: str, common: str, own: str) -> tuple[int, int]:
        """Tokens of a prompt, and how many of them were asked before; learns the rest.

        Args:
            system: The instructions.
            common: The beginning of the user message that other prompts have too.
            own: What follows it.
        """
        beginnings, left = self._beginnings(system, common)
        longer, rest = _cut(beginnings[-1:], [*left, *self.encode(own)])
        every = [*beginnings, *longer]
        found = next((n for n, one in enumerate(every) if one not in self.known), len(every))
        self.known.update(every[found:])
        tokens = STEP * len(every) + len(rest)
        return tokens, STEP * found if STEP * found >= LEAST else 0

    def _beginnings(self, system: str, common: str) -> tuple[list[int], tuple[int, ...]]:
        key = hash((system, common))
        if key not in self._common:
            before, left = self._beginnings(system, "") if common else ([], ())
            longer, rest = _cut(before[-1:], [*left, *self.encode(common or system)])
            self._common[key] = [*before, *longer], rest
        return self._common[key]


def _cut(before: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], tuple[int, ...]]:
    """Each beginning that ends with a whole step as one number, and the tokens that are left."""
    prefix, found = (before[-1] if before else 0), []
    for start in range(0, len(tokens) - STEP + 1, STEP):
        prefix = hash((prefix, *tokens[start : start + STEP]))
        found.append(prefix)
    return found, tuple(tokens[STEP * len(found) :])


@cache
def _encoding() -> Callable[[str], Sequence[int]]:
    """The tokenizer of the model."""
    encode: Callable[[str], Sequence[int]]
    encode = importlib.import_module("rs_bpe").openai.o200k_base().encode
    return encode


@dataclass
class Endpoint:
    """An endpoint in memory: answers by a rule, counts as the model's own does.

    Attributes:
        selects: Which sentences are evidence.
        holds: Which claims they support.
        calls: The usage of every call by step.
    """

    selects: Selects
    holds: Holds
    address: str = ADDRESS
    prefixes: Prefixes = field(default_factory=lambda: Prefixes(_encoding()))
    calls: list[tuple[str, Usage]] = field(default_factory=list)

    async def send(self, request: Request, max_output_tokens: int | None) -> Completion:
        """Answer at once."""
        await asyncio.sleep(0)
        text, output = self._answer(request)
        common, own = request.user[: request.shared], request.user[request.shared :]
        tokens, cached = self.prefixes.asked(request.system, common, own)
        usage = Usage(
            calls=1, input_tokens=tokens, cached_input_tokens=cached, output_tokens=output
        )
        self.calls.append((request.call.step, usage))
        return Completion(text, usage)

    async def close(self) -> None:
        """Nothing is open."""

    def _answer(self, request: Request) -> tuple[str, int]:
        """An answer, and how many tokens it is."""
        step, common = request.call.step, request.user[: request.shared]
        own = request.user[request.shared :].split("\n")
        if step == Step.SUB_CLAIM_DECOMPOSITION:
            claim = own[-1].removeprefix("Claim: ")
            answer: dict[str, Any] = {"claims": claim.split(" and ", 1)}
            output = LIKELY.decomposed
        elif step in (Step.VERDICT, Step.VERDICT_SHARED):
            entries = self._verdicts(own)
            output = LIKELY.verdict * len(entries)
            answer = {"claims": entries} if step == Step.VERDICT_SHARED else entries[0]
        else:
            claims = [found[1] for line in own if (found := _CLAIM.match(line))]
            entries = self._selections(claims, numbered(common))
            found_any = [bool(one["sentence_ids"]) for one in entries]
            output = sum(LIKELY.found if one else LIKELY.nothing_found for one in found_any)
            answer = {"claims": entries} if len(claims) > 1 else entries[0]
        text = json.dumps(answer)
        return text, len(self.prefixes.encode(text)) if request.call.prompt.endswith(
            BRIEF
        ) else output

    def _verdicts(self, lines: Sequence[str]) -> list[dict[str, Any]]:
        """A verdict on the claim after the excerpts, or on each of several before its excerpts."""
        places = [place for place, line in enumerate(lines) if _CLAIM.match(line)]
        is_shared = places[0] == 0
        ends = [*places[1:], len(lines)] if is_shared else [0]
        entries = []
        for number, (place, end) in enumerate(zip(places, ends, strict=True), start=1):
            claim = lines[place].split(": ", 1)[1]
            shown = lines[place + 1 : end] if is_shared else lines[:place]
            texts = [found[2] for line in shown if (found := _SENTENCE.match(line))]
            verdict = "FULLY_SUPPORTED" if self.holds(claim, texts) else "NOT_FULLY_SUPPORTED"
            entries.append({"claim": number, "verdict": verdict, "reason": REASON})
        return entries

    def _selections(
        self, claims: Sequence[str], sentences: Sequence[tuple[int, str]]
    ) -> list[dict[str, Any]]:
        entries = []
        for number, claim in enumerate(claims, start=1):
            found = [(one, text) for one, text in sentences if self.selects(claim, text)]
            entries.append(
                {
                    "claim": number,
                    "sentence_ids": [one for one, _ in found],
                    "context_ids": [],
                    "summary": " ".join(text for _, text in found) or None,
                    "missing": None,
                }
            )
        return entries


@lru_cache(16_384)
def numbered(excerpts: str) -> tuple[tuple[int, str], ...]:
    """The sentences of excerpts by their ids."""
    lines = map(_SENTENCE.match, excerpts.split("\n"))
    return tuple((int(one[1]), one[2]) for one in lines if one)


@dataclass(frozen=True)
class Sample:
    """Claims of a process in memory.

    Attributes:
        name: What it is called.
        nodes: Where its nodes are read from.
        tasks: Its claims.
        selects: Which sentences are evidence.
        holds: Which claims they support.
    """

    name: str
    nodes: NodeSource
    tasks: Sequence[Task]
    selects: Selects
    holds: Holds


def harbour() -> Sample:
    """The harbour sample: the claims of its file, and those that are given beside it.

    Verdicts are their labels, so that some are escalated in a cascade.
    """
    process = HeldProcess.read(open_input(ROOT / "examples" / "harbour-summary.json"))
    given = json.loads((ROOT / "examples" / "harbour-claims.json").read_text("utf-8"))
    node = process.claims[0].node_id
    more = [Claim(claim_id=one["claim_id"], text=one["text"], node_id=node) for one in given]
    plain = [one.replace(sub_claims=()) for one in process.claims]
    tasks = [Task(one, process.node(one.node_id)) for one in (*plain, *more)]
    nodes = HeldNodes(process, SentenceSplitter.for_language("english"))
    labels = {one.text: one.label for one in process.claims}
    labels |= {one["text"]: Verdict(one["label"]) for one in given}
    return Sample(
        "harbour",
        nodes,
        tasks,
        shares_words,
        lambda claim, _sentences: labels[claim] is Verdict.FULLY_SUPPORTED,
    )


@dataclass
class LongNodes(since.Nodes):
    """The generated process with sentences of usual length."""

    def _node(self, ref: NodeRef) -> ReadNode:
        name = ref.node_id
        draw = random.Random(name)
        made = tuple(
            Sentence(name, place, 0, 1, f"{name} {place}: {_said(draw)}")
            for place in range(self.sentences[name])
        )
        return SplitNode(ref, " ".join(one.text for one in made), made)


def _said(draw: random.Random) -> str:
    words = ("harbour", "ferry", "report", "quarter", "freight", "pilot", "season", "berth")
    return " ".join(draw.choices(words, k=14)) + "."


def paper_size(scale: float) -> Sample:
    """Claims about the answer of the paper-size process, with the simulated reader."""
    process = Process.generated(scale)
    sentences = {name: since.sentences_of(ref) for name, ref in process.refs.items()}
    readers: Mapping[str, Reader] = {
        f"Claim {n}": Reader(process, random.Random(f"k{n}")) for n in range(CLAIMS)
    }

    def selects(claim: str, sentence: str) -> bool:
        name, place = [*sentence.split(" ", 2), "", ""][:2]
        if place != "0:":
            return False
        stray = random.Random(f"{claim} {name}").random() < STRAY
        return stray or readers[claim].bears(name)

    def holds(claim: str, sentences: Sequence[str]) -> bool:
        return any(
            name[0] == "0:" and readers[claim].bears(bearer)
            for bearer, *name in (one.split(" ", 2) for one in sentences)
            if name
        )

    tasks = [
        Task(Claim(claim_id=f"k{n}", text=name, node_id=process.terminal.node_id), process.terminal)
        for n, name in enumerate(readers)
    ]
    return Sample("paper-size", LongNodes(process, sentences), tasks, selects, holds)


async def _run(
    sample: Sample, share: int, prompts: Prompts, *, cascade: bool = False
) -> tuple[Endpoint, Endpoint, list[Verification]]:
    cheap, strong = (Endpoint(sample.selects, sample.holds) for _ in range(2))
    model = LanguageModel(cheap, MODEL, warm=Warm.ON)
    second = LanguageModel(strong, STRONG, warm=Warm.ON)
    step = StepModel(model)
    models = StepModels(step, step, step, StepModel(second) if cascade else None)
    split = SentenceSplitter.for_language("english").split
    judge = LanguageModelJudge.of("openai", models, prompts, split, share=share)
    observer = judge.sharing.watched(Observer()) if judge.sharing is not None else Observer()

    async def keep(*_made: Verification) -> None:
        pass

    run = Run("p", judge, sample.nodes, keep, q=Q, concurrency=256, observer=observer)
    made = await run.verify(sample.tasks)
    await model.close()
    await second.close()
    failed = [one for one in made if one.status is not Status.SUCCEEDED]
    if failed:
        raise RuntimeError(f"{len(failed)} claims failed: {failed[0].error}")
    return cheap, strong, made


def _cost(calls: Sequence[tuple[str, Usage]], price: Price, **changes: int) -> float:
    return sum(priced(one.replace(**changes), price).cost_usd or 0.0 for _, one in calls)


def _shares(calls: Sequence[tuple[str, Usage]], price: Price) -> str:
    """Which part of the money goes where: claims, selection, verdicts; and answers in all of it."""
    whole = _cost(calls, price) or 1.0
    steps = {
        "sub-claims": {Step.SUB_CLAIM_DECOMPOSITION},
        "selection": {Step.EVIDENCE_SELECTION, Step.EVIDENCE_SELECTION_SHARED},
        "verdicts": {Step.VERDICT, Step.VERDICT_SHARED},
    }
    parts = {
        name: _cost([one for one in calls if one[0] in of], price) for name, of in steps.items()
    }
    parts["answers"] = _cost(calls, price, input_tokens=0, cached_input_tokens=0)
    told = ", ".join(f"{name} {part / whole:.0%}" for name, part in parts.items())
    return f"{len(calls):,} calls; {told}"


def _outcome(made: Sequence[Verification]) -> list[object]:
    return [
        [
            (each.verdict, [(cited.node_id, cited.sentence) for cited in each.evidence])
            for each in one.iterations
        ]
        for one in made
    ]


def lines(sample: Sample) -> list[Line]:
    """The cost of a claim in each way to ask, by that of the paper's call pattern."""
    price = price_of(MODEL, ADDRESS)
    stronger = price_of(STRONG, ADDRESS)
    if price is None or stronger is None:
        raise RuntimeError(f"the list price of {MODEL} or {STRONG} is not known")
    price = price.with_batch(None)
    # The second judge answers by the same rule, so the walks of a cascade are those of one judge.
    alone, second, made = asyncio.run(_run(sample, 1, load_prompts(PAPER), cascade=True))
    shared, _, together = asyncio.run(_run(sample, SHARE, load_prompts(PAPER)))
    both, _, briefly = asyncio.run(_run(sample, SHARE, load_prompts(Path(BRIEF))))
    claims = len(sample.tasks)
    plain = _cost(alone.calls, price, cached_input_tokens=0) / claims
    batch = {"cached_input_tokens": 0, "batch_calls": 1}
    verdicts = [one for one in alone.calls if one[0] == Step.VERDICT]
    more = _cost(verdicts, stronger, cached_input_tokens=0)
    all_strong = plain + (more - _cost(verdicts, price, cached_input_tokens=0)) / claims

    def said(of: Endpoint, these: Sequence[Verification]) -> str:
        pairs = zip(_outcome(made), _outcome(these), strict=True)
        same = sum(one == other for one, other in pairs)
        calls = f"{len(of.calls):,} calls for {len(alone.calls):,}"
        return f"{calls}; the same evidence and verdicts for {same} of {claims} claims"

    several = f"shared (N = {SHARE})"
    rows: list[tuple[str, float, float, float | None, str]] = [
        ("live", _cost(alone.calls, price), plain, LIVE_TARGET, _shares(alone.calls, price)),
        ("batch", _cost(alone.calls, price, **batch), plain, BATCH_TARGET, "no prefix cached"),
        (several, _cost(shared.calls, price), plain, SHARED_TARGET, said(shared, together)),
        (f"{several}, in batches", _cost(shared.calls, price, **batch), plain, None, ""),
        (
            f"{several}, brief answers",
            _cost(both.calls, price),
            plain,
            SHARED_TARGET,
            f"{said(both, briefly)}; {_shares(both.calls, price)}",
        ),
        (
            f"{several}, brief answers, in batches",
            _cost(both.calls, price, **batch),
            plain,
            None,
            "",
        ),
        (
            f"cascade to {STRONG}",
            _cost(alone.calls, price) + _cost(second.calls, stronger),
            all_strong,
            None,
            f"against {STRONG} for all verdicts; {len(second.calls):,} of {len(verdicts):,} "
            "verdicts escalated",
        ),
    ]
    return [
        Line(
            f"cost a claim, {sample.name}: {name}",
            1_000 * dollars / claims,
            "mUSD",
            reference=1_000 * reference,
            target=target,
            note=note,
        )
        for name, dollars, reference, target, note in rows
    ]


def measure(report: Report, scale: float) -> None:
    """Both samples; needs no engine."""
    for sample in (harbour(), paper_size(scale)):
        for line in lines(sample):
            report.add(line)

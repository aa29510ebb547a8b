"""What a re-run against an earlier version asks, after 2 % of the nodes changed.

No model and no engine: the walk and the rule that keeps verdicts are driven over the generated
process in memory, with the simulated reader of `model_reader`, whose choice of a node depends on
claim and node alone. Prompts are packed as the judge packs them; one whose nodes are what they
were is answered by the cache. Both runs have the same claims, the first is the reference.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks import dag
from benchmarks.model_reader import STRAY, Process, Reader
from benchmarks.report import Line, Report
from veritrail_graph.graph.model import (
    CitedSentence,
    Claim,
    Evidence,
    NodeRef,
    Role,
    Sentence,
    Status,
    Usage,
    Verdict,
    Verification,
)
from veritrail_graph.verifier.driver import Task, verify_claim, without_verdict
from veritrail_graph.verifier.excerpts import Unit, pack
from veritrail_graph.verifier.limits import Limits
from veritrail_graph.verifier.models.port import Meter, StepCall
from veritrail_graph.verifier.ports import (
    Found,
    Judgement,
    ReadNode,
    Selection,
    SourceNodes,
    SplitNode,
)
from veritrail_graph.verifier.reuse import reuse

CHANGED, TARGET, Q = 0.02, 0.10, 3
PAPER_CLAIMS = 40
LEVELS = (48, 12, 4, 1)
"""Nodes of a document by stage: chunks, and three levels of summaries."""
CHUNK = 700
SENTENCE = 110
"""Characters of a sentence of the generated texts."""
_NO_LIMIT = 1 << 40
_ASKED = StepCall("evidence_selection", "simulated", "0" * 64, "simulated", None)


@dataclass
class Nodes:
    """The process in memory: a `NodeSource`; a changed node has another first sentence."""

    process: Process
    sentences: Mapping[str, int]
    changed: frozenset[str] = frozenset()
    _read: dict[str, ReadNode] = field(default_factory=dict)

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """See `NodeSource`."""
        found = self.process.source_nodes(tuple(self.process.refs[name] for name in of))
        passed = {ref.node_id for ref in checked}
        nodes = tuple(ref for ref in found.nodes if ref.node_id not in passed)
        return SourceNodes(nodes, found.sources)

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """See `NodeSource`."""
        return self.process.source_nodes(tuple(self.process.refs[name] for name in of))

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """See `NodeSource`."""
        for ref in nodes:
            if ref.node_id not in self._read:
                self._read[ref.node_id] = self._node(ref)
        return tuple(self._read[ref.node_id] for ref in nodes)

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        """None: every step of it writes."""
        del node_ids
        return frozenset()

    def _node(self, ref: NodeRef) -> ReadNode:
        name = ref.node_id
        said = ["New" if name in self.changed else "Old", *["Said"] * (self.sentences[name] - 1)]
        made = tuple(Sentence(name, n, 0, 1, f"{word} {name}.") for n, word in enumerate(said))
        return SplitNode(ref, " ".join(one.text for one in made), made)


@dataclass
class Judge:
    """Selects what bears on a claim, and counts the prompts that the cache does not have.

    Attributes:
        readers: What bears on each claim.
        cache: What was asked.
        changed: Nodes that no earlier prompt can have shown.
        asked: Prompts that the cache does not have.
        least: Those that any way of packing would have to ask: the changed nodes of each frontier
            in as few prompts as hold them, and verdicts on other evidence.
    """

    readers: Mapping[str, Reader]
    cache: set[object]
    changed: frozenset[str] = frozenset()
    asked: int = 0
    least: int = 0
    name: str = "simulated"
    model: str | None = "simulated"
    indicative: bool = False

    @property
    def settings(self) -> Mapping[str, object]:
        """Nothing is set."""
        return {}

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """None; it is asked for all the same."""
        self._ask(claim, "sub-claims", meter)
        return ()

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """The first sentence of each chosen node that a prompt shows."""
        limits, found = Limits(), []
        for of_roots, limit in ((True, limits.root_sentences), (False, limits.other_sentences)):
            some = [node for node in nodes if node.ref.is_root is of_roots]
            new = sum(len(one.sentences) for one in some if one.ref.node_id in self.changed)
            self.least += -(-new // (limit or _NO_LIMIT))
            units = (Unit(node.sentences) for node in some)
            for prompt in pack(units, limit, _NO_LIMIT, len):
                self._ask(claim, prompt.text, meter)
                names = dict.fromkeys(one.node_id for one in prompt.sentences)
                chosen = {name for name in names if self._selects(claim, name)}
                cited = [one for one in prompt.sentences if one.node_id in chosen]
                first = {one.node_id: one for one in reversed(cited)}
                if first:
                    said = tuple(CitedSentence.of(first[name]) for name in names if name in first)
                    found.append(Evidence(text=" ".join(one.text for one in said), sentences=said))
        return Selection(tuple(found))

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Supported by what bears on the claim."""
        shown = [one.text for part in (found.evidence, found.carried) for one in part]
        before = self.asked
        self._ask(claim, (tuple(shown), tuple(root.text for root in found.roots)), meter)
        self.least += self.asked - before
        names = {name for one in found.evidence for name in one.node_ids}
        is_true = any(self.readers[claim.claim_id].bears(name) for name in names)
        verdict = Verdict.FULLY_SUPPORTED if is_true else Verdict.NOT_FULLY_SUPPORTED
        return Judgement(verdict, "simulated")

    def _selects(self, claim: Claim, name: str) -> bool:
        stray = random.Random(f"{claim.claim_id} {name}").random() < STRAY
        return stray or self.readers[claim.claim_id].bears(name)

    def _ask(self, claim: Claim, shown: object, meter: Meter) -> None:
        key = hash((claim.claim_id, shown))
        is_cached = key in self.cache
        self.asked += not is_cached
        self.cache.add(key)
        meter.record(_ASKED, Usage(cached_calls=1) if is_cached else Usage(calls=1))


def measure(report: Report, scale: float) -> None:
    """Re-run after each change; needs no engine."""
    for line in lines(scale):
        report.add(line)


def lines(scale: float = 1.0) -> Iterator[Line]:
    """A line for each kind of process, and each way in which its nodes change."""
    library = _library()
    yield _line("an index of 200 documents, 4 made anew", library, _rebuilt(library[0]))
    process = Process.generated(scale)
    answer = [process] * PAPER_CLAIMS
    yield _line("paper-size, one answer, nodes anywhere", answer, _anywhere(process))
    yield _line("paper-size, one answer, all made of some", answer, _documents(process))


def _line(what: str, processes: Sequence[Process], changed: frozenset[str]) -> Line:
    """Verify a claim about each terminal, then again after the change."""
    whole = processes[0]
    sentences = {name: sentences_of(ref) for name, ref in whole.refs.items()}
    readers = {f"k{n}": Reader(one, random.Random(f"k{n}")) for n, one in enumerate(processes)}
    about = [one.terminal for one in processes]
    before, cache = Nodes(whole, sentences), set[object]()
    first, asked = asyncio.run(_run(Judge(readers, cache), before, about, []))
    now = replace(before, changed=changed, _read={})
    judge = Judge(readers, set(cache), changed)
    made, again = asyncio.run(_run(judge, now, about, first, before))
    kept = [one for one in made if one.reused_from is not None]
    saved = sum(one.saved_calls or 0 for one in kept) / asked
    return Line(
        f"re-run: {what}",
        again,
        "calls",
        reference=asked,
        target=TARGET,
        note=(
            f"{len(changed):,} of {len(whole.refs):,} nodes changed; {len(kept)} of {len(made)} "
            f"verdicts kept ({saved:.1%} of the calls), the cache answered "
            f"{1 - saved - again / asked:.1%}; at least {judge.least / asked:.1%} have to be "
            "asked, because they show what changed"
        ),
    )


def sentences_of(ref: NodeRef) -> int:
    """How many sentences a node of the generated process has."""
    length = dag.STAGE_TEXT[min(ref.known_stage, len(dag.STAGE_TEXT)) - 1]
    return max(1, (length or CHUNK) // SENTENCE)


def _library(documents: int = 200) -> list[Process]:
    """Documents that are summarised level by level, each with a final summary of its own."""
    refs: dict[str, NodeRef] = {}
    sources: dict[str, tuple[str, ...]] = {}
    terminals = []
    for document in range(documents):
        below: list[str] = []
        for stage, count in enumerate(LEVELS, start=1):
            names = [f"d{document}/{stage}/{place}" for place in range(count)]
            is_last = stage == len(LEVELS)
            role = Role.TERMINAL if is_last else Role.INTERMEDIATE
            for place, name in enumerate(names):
                refs[name] = NodeRef(name, stage, len(refs), role if below else Role.ROOT)
                if below:
                    share = len(below) // count
                    end = len(below) if place == count - 1 else (place + 1) * share
                    sources[name] = tuple(below[place * share : end])
            below = names
        terminals.append(refs[below[0]])
    return [Process(refs, sources, terminal) for terminal in terminals]


def _rebuilt(process: Process) -> frozenset[str]:
    """All nodes of 2 % of the documents."""
    names = [f"d{number}/" for number in range(7, 200, 50)]
    return frozenset(name for name in process.refs if name.startswith(tuple(names)))


def _anywhere(process: Process) -> frozenset[str]:
    names = sorted(process.refs)
    return frozenset(random.Random("changed").sample(names, round(CHANGED * len(names))))


def _documents(process: Process) -> frozenset[str]:
    """Source texts that stand together and what was made of them, breadth first."""
    targets: dict[str, list[str]] = {}
    for target, names in process.sources.items():
        for name in names:
            targets.setdefault(name, []).append(target)
    most, found = round(CHANGED * len(process.refs)), dict[str, None]()
    for root in (name for name, ref in process.refs.items() if ref.is_root):
        layer = [root]
        while layer and len(found) < most:
            new = [name for name in dict.fromkeys(layer) if name not in found]
            found.update(dict.fromkeys(new[: most - len(found)]))
            layer = [one for name in new for one in targets.get(name, ())]
        if len(found) >= most:
            break
    return frozenset(found)


async def _run(
    judge: Judge,
    now: Nodes,
    about: Sequence[NodeRef],
    first: Sequence[Verification],
    before: Nodes | None = None,
) -> tuple[list[Verification], int]:
    made = []
    for number, name in enumerate(judge.readers):
        claim = Claim(claim_id=name, text=name, node_id=about[number].node_id)
        task = Task(claim, about[number], f"v-{name}")
        if before is not None:
            base = without_verdict(task, "p", judge, Q, Status.RUNNING, None)
            found = await reuse(task, base, first[number], before, now)
            if found.kept is not None:
                made.append(found.kept)
                continue
        made.append(await verify_claim(task, "p", judge, now, q=Q))
    return made, judge.asked

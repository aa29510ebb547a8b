"""Processes that are edited at random, and a judge that answers by all that it is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fakes.dag import Dag, dags
from fakes.scripted_judge import asked
from hypothesis import strategies as st

from veritrail_graph.graph.model import CitedSentence, Claim, Evidence, Role, Usage, Verdict
from veritrail_graph.verifier.models.port import Meter
from veritrail_graph.verifier.ports import Found, Judgement, ReadNode, Selection

VERDICTS = tuple(Verdict)


@dataclass(frozen=True)
class Content:
    """What a process is made of, and what an edit changes."""

    sources: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, Sequence[str]]
    order: tuple[str, ...]
    unsourced: frozenset[str] = frozenset()

    def dag(self) -> Dag:
        """The process itself; positions follow the order."""
        positions = {name: place for place, name in enumerate(self.order)}
        made = Dag.of(self.sources, positions=positions, texts=self.texts)
        refs = {
            name: replace(ref, role=Role.UNSOURCED) if name in self.unsourced else ref
            for name, ref in made.refs.items()
        }
        return replace(made, refs=refs)

    @property
    def verifiable(self) -> list[str]:
        """Nodes that a claim can be about."""
        return [name for name in self.order if self.sources[name]]


@st.composite
def contents(draw: st.DrawFn) -> Content:
    """A random process with texts of one to three sentences."""
    dag, _ = draw(dags())
    names = tuple(draw(st.permutations(list(dag.sources))))
    texts = {name: draw(_sentences(name)) for name in names}
    roots = sorted(dag.roots)
    unsourced = draw(st.sets(st.sampled_from(roots), max_size=len(roots) - 1)) if roots[1:] else ()
    return Content(dag.sources, texts, names, frozenset(unsourced))


def _sentences(name: str) -> st.SearchStrategy[list[str]]:
    return st.integers(1, 3).map(lambda count: [f"{name} says {n}." for n in range(count)])


@st.composite
def edits(draw: st.DrawFn, content: Content) -> Content:
    """The process after one to three random edits; it stays a process."""
    for _ in range(draw(st.integers(1, 3))):
        kinds = ("text", "link", "unlink", "add", "remove", "move", "source", "nothing")
        content = _edited(draw, content, draw(st.sampled_from(kinds)))
    return content


def _edited(draw: st.DrawFn, of: Content, kind: str) -> Content:
    name = draw(st.sampled_from(of.order))
    sources = dict(of.sources)
    if kind == "text":
        return replace(of, texts={**of.texts, name: [*of.texts[name], f"{name} says more."]})
    if kind == "link" and sources[name]:
        others = [one for one in of.order if one != name and name not in _above(sources, one)]
        if others:
            sources[name] = tuple(sorted({*sources[name], draw(st.sampled_from(others))}))
    elif kind == "unlink" and len(sources[name]) > 1:
        sources[name] = sources[name][1:]
    elif kind == "add":
        new = f"m{len(sources)}"
        if new in sources:
            return of
        taken = draw(st.sampled_from(of.verifiable))
        sources[new] = ()
        sources[taken] = tuple(sorted({*sources[taken], new}))
        place = draw(st.integers(0, len(of.order)))
        order = (*of.order[:place], new, *of.order[place:])
        return replace(of, sources=sources, texts={**of.texts, new: ["New."]}, order=order)
    elif kind == "remove":
        used = [one for one, inputs in sources.items() if inputs == (name,)]
        if used or len(sources[name]) or not any(name in i for i in sources.values()):
            return of
        del sources[name]
        kept = {node: tuple(i for i in inputs if i != name) for node, inputs in sources.items()}
        order = tuple(one for one in of.order if one != name)
        return replace(of, sources=kept, order=order, unsourced=of.unsourced - {name})
    elif kind == "move":
        return replace(of, order=tuple(draw(st.permutations(of.order))))
    elif kind == "source" and not sources[name]:
        return replace(of, unsourced=of.unsourced ^ {name})
    return replace(of, sources=sources)


def _above(sources: Mapping[str, tuple[str, ...]], name: str) -> set[str]:
    """The ancestors of a node, itself among them."""
    found, left = set(), [name]
    while left:
        here = left.pop()
        found.add(here)
        left += [one for one in sources[here] if one not in found]
    return found


@dataclass
class FussyJudge:
    """A judge that answers otherwise as soon as it is shown anything else, in any other order.

    Its answers follow from the claim and from everything that a prompt shows, and from nothing
    else: not from node_ids, and not from what it was asked before. With a `silence` it says that
    with every selection, and may give no verdict.
    """

    seed: int = 0
    name: str = "fussy"
    model: str | None = "m-1"
    indicative: bool = False
    silence: str | None = None
    questions: list[str] = field(default_factory=list)

    @property
    def settings(self) -> Mapping[str, object]:
        return {"seed": self.seed}

    def _answer(self, *shown: object) -> int:
        question = repr(shown)
        self.questions.append(question)
        return int.from_bytes(hashlib.sha256(f"{self.seed}{question}".encode()).digest()[:8])

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        meter.record(asked("sub_claim_decomposition"), Usage(calls=1))
        return (f"part of {claim.text}", "another part")

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        if not nodes:
            return Selection(silence=self.silence)
        shown = [(node.ref.is_root, node.text) for node in nodes]
        answer = self._answer("select", claim.text, claim.sub_claims, shown)
        meter.record(asked("evidence_selection"), Usage(calls=1))
        found = []
        for of_roots in (True, False):
            cited = tuple(
                CitedSentence.of(sentence)
                for place, node in enumerate(nodes)
                if node.ref.is_root is of_roots and answer >> place & 1
                for sentence in node.sentences
            )
            if cited:
                found.append(Evidence(text=f"summary {answer}", sentences=cited))
        return Selection(tuple(found), dropped_ids=answer % 3, silence=self.silence)

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        shown = [[one.text for one in part.sentences] for part in (*found.evidence, *found.carried)]
        roots = [root.text for root in found.roots]
        answer = self._answer("judge", claim.text, claim.sub_claims, shown, roots)
        meter.record(asked("verdict"), Usage(calls=1))
        verdicts = VERDICTS if self.silence is None else (*VERDICTS, None)
        return Judgement(verdicts[answer % len(verdicts)], f"because of {answer}")

"""The small ports through which the method meets the world.

Algorithm 1 asks for three things: the source nodes of nodes, evidence from nodes, and a
verdict on evidence. A `Judge` gives the last two; a `NodeSource` gives nodes and texts.
Retries, caches, meters and rate limits wrap a judge; the method never sees them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from veritrail_graph.graph.errors import VeriTrailError
from veritrail_graph.graph.model import (
    Claim,
    Evidence,
    JudgedPart,
    NodeRef,
    Sentence,
    Verdict,
)
from veritrail_graph.graph.model.node_ref import of_columns
from veritrail_graph.verifier.models.port import Meter

if TYPE_CHECKING:
    from veritrail_graph.verifier.sharing import Sharing


class JudgeError(VeriTrailError):
    """A judge could not answer. The verification is `failed` with this reason."""

    code = "judge_error"


class ReadNode(Protocol):
    """A node's whole text and its sentences."""

    @property
    def ref(self) -> NodeRef:
        """The node."""
        ...

    @property
    def text(self) -> str:
        """Its whole text."""
        ...

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, first to last; offsets are into `text`."""
        ...


@dataclass(frozen=True, slots=True)
class SplitNode:
    """A node whose sentences are held: a `ReadNode`."""

    ref: NodeRef
    text: str
    sentences: tuple[Sentence, ...]

    @classmethod
    def of_columns(
        cls,
        refs: Sequence[NodeRef],
        texts: Sequence[str],
        sentences: Iterable[tuple[Sentence, ...]],
    ) -> list[SplitNode]:
        """Many nodes at once; see `of_columns` of `NodeRef`."""
        return of_columns(cls, len(refs), refs, texts, sentences)


@dataclass(frozen=True, slots=True)
class LateNode:
    """A node of many, whose sentences are made at each use: held, they take more than its text.

    Attributes:
        ref: The node.
        text: Its whole text.
        places: Where each sentence begins, and the offset behind it, first to last.
    """

    ref: NodeRef
    text: str
    places: array[int]

    @classmethod
    def of(cls, ref: NodeRef, text: str, sentences: Iterable[Sentence]) -> LateNode:
        """A node with the places of its sentences."""
        return cls(ref, text, places_of(sentences))

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its sentences, first to last."""
        return sentences_at(self.places, self.ref.node_id, self.text)


def places_of(sentences: Iterable[Sentence]) -> array[int]:
    """Return where each sentence begins, and the offset behind it."""
    return array("I", [place for one in sentences for place in (one.start, one.end)])


def sentences_at(places: Iterable[int], name: str, text: str) -> tuple[Sentence, ...]:
    """The sentences of a node from their places."""
    every = iter(places)
    return tuple(
        [
            Sentence(name, index, start, end, text[start:end])
            for index, (start, end) in enumerate(zip(every, every, strict=True))
        ]
    )


def are_longer(nodes: Iterable[ReadNode], characters: int) -> bool:
    """Return whether nodes have more text, all together; no more of it is read than tells it."""
    for node in nodes:
        characters -= len(node.text)
        if characters < 0:
            return True
    return False


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer of evidence selection.

    Attributes:
        evidence: One entry for each prompt that found something, with samples one for each
            summary that is needed to cover the agreed sentences; empty when none did.
        dropped_ids: How many sentence ids were returned that were not in the prompt.
        is_missed: Whether the samples of a prompt selected sentences, but too few the same ones;
            also whether they selected none, where that ends a claim (`Samples.must_find`).
        is_sampled: Whether several answers were drawn to each prompt.
        silence: Of a judge that does not understand texts, whatever it selected: why it tells
            nothing about a claim that it finds nothing in them. None: finding nothing means that
            they do not bear on the claim, as the paper has it.
        settled: The verdict on its evidence that the answer gave with it, where nothing is open;
            None: it is to be asked for.
        unaddressed: Where it found nothing, the verdicts on the parts of the claim, all of them
            `not_addressed`; empty where the judge gives no verdicts by part.

    Source: VeriTrail 3.1.2, E.3; `silence`, `settled` and `unaddressed` are ours.
    """

    evidence: tuple[Evidence, ...] = ()
    dropped_ids: int = 0
    is_missed: bool = False
    is_sampled: bool = False
    silence: str | None = None
    settled: SettledVerdict | None = None
    unaddressed: tuple[JudgedPart, ...] = ()


class SettledVerdict(Protocol):
    """A verdict that an answer to another question gave, too."""

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        ...

    @property
    def reason(self) -> str:
        """The reasons for it."""
        ...

    @property
    def parts(self) -> tuple[JudgedPart, ...]:
        """The verdicts on the parts of the claim."""
        ...


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer of verdict generation.

    Attributes:
        verdict: The interim verdict; None where samples did not agree on any evidence, or where the
            judge cannot tell.
        reasoning: The reasons for it, as text.
        score: Probability of Fully Supported: the share of samples, or a model's own; else None.
        reruns: How often evidence selection ran again because the evidence did not fit.
        judged: The evidence that the last rerun selected, which the verdict saw; empty: what was
            selected first.
        left_out: How many sentences of the evidence as first selected the verdict did not see.
        left_out_roots: node_ids of the roots with evidence that fell out of the prompt.
        judged_by: Where two models may judge, the one whose verdict this is.
        first_verdict: Where another model was asked before, its verdict; None: it had none.
        first_reasoning: Its reasons, or why it had none.
        parts: The verdicts on the parts of the claim that it follows from; empty where the judge
            gives none.
        looked_for: What was missing and was looked for once more, before this verdict.

    Source: VeriTrail 3.1.3; `parts` and `looked_for` are ours.
    """

    verdict: Verdict | None
    reasoning: str
    score: float | None = None
    reruns: int = 0
    judged: tuple[Evidence, ...] = ()
    left_out: int = 0
    left_out_roots: tuple[str, ...] = ()
    judged_by: str | None = None
    first_verdict: Verdict | None = None
    first_reasoning: str | None = None
    parts: tuple[JudgedPart, ...] = ()
    looked_for: str | None = None


Split = Callable[[str, str], tuple[Sentence, ...]]
"""Splits a text (node_id, text) into sentences."""


class Answering(Protocol):
    """The part of an engine that describes it, whatever it answers."""

    @property
    def name(self) -> str:
        """Name of the engine."""
        ...

    @property
    def model(self) -> str | None:
        """Name of the model that it asks; None: it asks none."""
        ...

    @property
    def indicative(self) -> bool:
        """Return whether no model is asked, so that its answers are indicative only."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return what decides its answers besides the texts, as JSON: models, limits, prompts."""
        ...


class Judge(Answering, Protocol):
    """Answers the two questions of the method: which sentences are evidence, and what verdict."""

    async def sub_claims(self, claim: Claim, meter: Meter) -> tuple[str, ...]:
        """The simpler statements that a claim is made of; those that it brings are kept.

        Raises:
            VeriTrailError: No answer could be had.
        """
        ...

    async def select_evidence(
        self, claim: Claim, nodes: Sequence[ReadNode], meter: Meter
    ) -> Selection:
        """Select the sentences of `nodes` that strongly imply that the claim is true or false.

        Raises:
            VeriTrailError: No answer could be had.
        """
        ...

    async def judge(self, claim: Claim, found: Found, meter: Meter) -> Judgement:
        """Give a verdict on what was found.

        Raises:
            VeriTrailError: No answer could be had.
        """
        ...


@runtime_checkable
class SharingJudge(Protocol):
    """A judge that may ask about several claims in one prompt. Ours."""

    @property
    def sharing(self) -> Sharing | None:
        """Return who gathers the claims; None: one claim a prompt."""
        ...


def shared_by(judge: Judge) -> int | None:
    """Return how many claims a judge may ask about in one prompt; None: one."""
    sharing = judge.sharing if isinstance(judge, SharingJudge) else None
    return None if sharing is None else sharing.most


@dataclass(frozen=True, slots=True)
class Found:
    """The evidence that a verdict is about.

    Attributes:
        evidence: What this iteration found, in root and non-root nodes alike.
        roots: Every root node with evidence, found now or carried; their whole text counts.
        carried: The evidence of earlier iterations in the roots that are carried.
        settled: The verdict that the selection of all this evidence gave with it.

    Source: VeriTrail 3.1.3, 3.1.4.
    """

    evidence: tuple[Evidence, ...]
    roots: tuple[ReadNode, ...] = ()
    carried: tuple[Evidence, ...] = ()
    settled: SettledVerdict | None = None


@dataclass(frozen=True, slots=True)
class SourceNodes:
    """The source nodes of some nodes.

    Attributes:
        nodes: Those that are looked for, each once, in the order of a frontier.
        sources: node_ids of all source nodes, by the node that they were inputs to.
        consecutive: How many verdicts in a row are Not Fully Supported, where a statement counted.
    """

    nodes: tuple[NodeRef, ...]
    sources: Mapping[str, tuple[str, ...]]
    consecutive: int | None = None


@dataclass(frozen=True, slots=True)
class WalkState:
    """A walk after an iteration, as lines 18 to 25 go on from it.

    Attributes:
        verdicts: All verdicts so far, the latest last; None where the judge had none.
        q: How many consecutive Not Fully Supported verdicts stop the walk.
        nodes: The nodes of the iteration.
        evidence: node_ids of those of them with evidence.
        checked: All nodes that were checked, those of the iteration too.

    Source: VeriTrail C.1, Algorithm 1.
    """

    verdicts: tuple[Verdict | None, ...]
    q: int
    nodes: tuple[NodeRef, ...]
    evidence: tuple[str, ...]
    checked: tuple[NodeRef, ...]


class NodeSource(Protocol):
    """The source that the walk reads the process from."""

    async def source_nodes(
        self, of: Collection[str], checked: Collection[NodeRef] = ()
    ) -> SourceNodes:
        """The source nodes of the nodes with these ids, without those checked.

        `read` may follow for them. Source: VeriTrail C.1, Algorithm 1 line 25.
        """
        ...

    async def left(self, of: Collection[str], checked: Collection[NodeRef]) -> SourceNodes:
        """Return whether any source node of the nodes with these ids is not among those checked.

        Returns:
            The source nodes that are checked, in any order, and at least one that is not, if
            there is any; of that one, only the id may be known.
        """
        ...

    async def read(self, nodes: Sequence[NodeRef]) -> tuple[ReadNode, ...]:
        """The texts of these nodes, in this order, split into sentences."""
        ...

    async def copies(self, node_ids: Collection[str]) -> frozenset[str]:
        """Those of these nodes that were produced by a step that cannot change text."""
        ...


@runtime_checkable
class FrontierSource(Protocol):
    """A source that carries out lines 18 to 25 itself."""

    async def next_frontier(self, of: Collection[str], state: WalkState) -> SourceNodes:
        """The next frontier after an iteration, and the count of line 19.

        Args:
            of: The nodes that the lines lead to, to see that they are there.
            state: What the lines go on from.
        """
        ...

"""What a verification leaves behind: verdicts, evidence, and where things went wrong.

Source: VeriTrail 3.2 (traceability).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from veritrail_graph.graph.model.process import Claim, NodeRef, Verdict


class Status(StrEnum):
    """Where a verification stands; only `succeeded` carries a verdict."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    OVER_BUDGET = "over_budget"
    CANCELLED = "cancelled"


class Termination(StrEnum):
    """Why the walk stopped; when several hold, the first of these. Source: VeriTrail 3.1.4."""

    NO_CANDIDATES = "no_candidates"
    ONLY_ROOTS_WITH_EVIDENCE_LEFT = "only_roots_with_evidence_left"
    MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED = "max_consecutive_not_fully_supported"


class EvidenceRole(StrEnum):
    """How a selected sentence was named: as evidence, or as context that evidence needs."""

    EVIDENCE = "evidence"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a node.

    Attributes:
        node_id: The node.
        index: Its number in the node, counted from 0.
        start: Offset of its first character in the node's text, in code points.
        end: Offset just behind its last character.
        text: `node.text[start:end]`.
    """

    node_id: str
    index: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence that was selected, and as what."""

    sentence: Sentence
    role: EvidenceRole = EvidenceRole.EVIDENCE


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one evidence selection prompt found: sentences and their summary.

    Attributes:
        summary: What the selected sentences say together.
        missing: What they do not say, or None.
        sentences: The selected sentences, in the order of their prompt; never empty.

    Source: VeriTrail 3.1.2.
    """

    summary: str
    missing: str | None
    sentences: tuple[CitedSentence, ...]

    @property
    def node_ids(self) -> tuple[str, ...]:
        """The nodes it comes from, each once, in order."""
        return tuple(dict.fromkeys(cited.sentence.node_id for cited in self.sentences))


@dataclass(frozen=True, slots=True)
class Iteration:
    """One round of evidence selection and verdict generation.

    Attributes:
        number: Counted from 1.
        verdict: The interim verdict, as it was given.
        reasoning: The judge's reasons for it.
        checked: The nodes that were read in this round, in the order of the frontier.
        carried_roots: Roots with evidence from earlier rounds, not read again.
        evidence: What this round selected; empty when nothing was found.
        dropped_ids: How many sentence ids were returned that were not in their prompt.
        reruns: How often evidence selection ran again because the evidence did not fit.
        left_out: How many sentences of the evidence did not fit into the verdict prompt even so.

    Source: VeriTrail 3.1.2 to 3.1.4.
    """

    number: int
    verdict: Verdict
    reasoning: str
    checked: tuple[NodeRef, ...]
    carried_roots: tuple[NodeRef, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    dropped_ids: int = 0
    reruns: int = 0
    left_out: int = 0

    @property
    def node_ids_with_evidence(self) -> tuple[str, ...]:
        """Nodes from which this round selected at least one sentence, each once, in order."""
        return tuple(dict.fromkeys(node for found in self.evidence for node in found.node_ids))

    @property
    def nodes_with_evidence(self) -> tuple[NodeRef, ...]:
        """`node_ids_with_evidence` as references, in the order of the frontier."""
        found = set(self.node_ids_with_evidence)
        return tuple(ref for ref in self.checked if ref.node_id in found)


@dataclass(frozen=True, slots=True)
class EvidencePath:
    """A link of the evidence trail: from a node with evidence to what it was an input to.

    Attributes:
        source: A node with evidence.
        target: The nearest node downstream with evidence, or the verified node.
        iteration: The round in which the evidence in `source` was found.
        via: Checked nodes without evidence between the two, upstream first; usually none.
    """

    source: str
    target: str
    iteration: int
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ErrorLocation:
    """Where unsupported content came in. All empty when no stage can be identified.

    Attributes:
        nodes: Nodes that introduced it, in the order of the frontier.
        propagated: Later nodes that only carried it on, the verified node last.

    Source: VeriTrail 3.2 (error localization).
    """

    nodes: tuple[NodeRef, ...] = ()
    propagated: tuple[NodeRef, ...] = ()

    @property
    def stages(self) -> tuple[int, ...]:
        """The error stages, each once, ascending."""
        return tuple(sorted({node.stage for node in self.nodes}))


@dataclass(frozen=True, slots=True)
class Usage:
    """What the calls to language models came to. A null cost is unknown, not free.

    Attributes:
        calls: Answers that a model gave, those included that had to be asked for again.
        cached_calls: Answers that came from the cache of answers; they cost nothing.
        input_tokens: Tokens of the prompts.
        cached_input_tokens: Those of them that the endpoint read from its own cache of prefixes.
        output_tokens: Tokens of the answers, those of reasoning included.
        reasoning_tokens: Those of them that the model thought and did not say.
        cost_usd: US dollars, or None where the price of any call is not known.
        unpriced_calls: Calls whose price is not known; what `cost_usd` would leave out.
    """

    calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    reasoning_tokens: int = 0
    unpriced_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        unpriced = self.unpriced_calls + other.unpriced_calls
        return Usage(
            calls=self.calls + other.calls,
            cached_calls=self.cached_calls + other.cached_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=sum(known) if known and not unpriced else None,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            unpriced_calls=unpriced,
        )


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What one step of a verification asked models for, and with which prompt.

    Attributes:
        iteration: The round that it belongs to; 0: before the first.
        step: The step's name in the model protocol (`evidence_selection`, `verdict`, …).
        prompt: Name and version of the prompt, such as `evidence_selection.v1`.
        prompt_hash: SHA-256 of the prompt's file in hexadecimal.
        model: The model that was asked.
        temperature: The temperature that was asked for, or None where none was sent.
        usage: What its calls came to.

    Source: VeriTrail 3.2, D.
    """

    iteration: int
    step: str
    prompt: str
    prompt_hash: str
    model: str
    temperature: float | None
    usage: Usage


@dataclass(frozen=True, slots=True)
class Verification:
    """One verification of one claim, with everything that explains it.

    Attributes:
        verification_id: Its id.
        process_id: The process.
        claim: The claim as it was verified.
        q: Consecutive Not Fully Supported verdicts that stop the walk.
        engine: The engine of judgement (`lexical`, `openai`).
        model: The model's name, if a model judged.
        indicative: Whether no model judged, so that the verdict is indicative only.
        created_at: When it was made, ISO 8601 in UTC.
        status: Where it stands.
        verdict: The final verdict; None unless `status` is succeeded.
        reasoning: The reasons for the final verdict.
        score: Share of Fully Supported samples in the last iteration, or None.
        termination: Why the walk stopped.
        iterations: The rounds, first to last.
        paths: The evidence trail as links between nodes.
        error: Where unsupported content came in.
        usage: What it cost.
        failure: Why there is no verdict, when there is none.
        content_hash: Hash of the content that was verified, where it is known.
        run_id: The run that it belongs to.
        settings: What decides its outcome besides claim and content, as canonical JSON: engine,
            models, limits, samples, hashes of the prompts, q.
        run_options: What its run may spend, as canonical JSON: budget, calls, price.
        steps: What its steps asked models for; empty where none was asked.

    Source: VeriTrail 3.2.
    """

    verification_id: str
    process_id: str
    claim: Claim
    q: int
    engine: str
    model: str | None
    indicative: bool
    created_at: str
    status: Status
    verdict: Verdict | None = None
    reasoning: str | None = None
    score: float | None = None
    termination: Termination | None = None
    iterations: tuple[Iteration, ...] = ()
    paths: tuple[EvidencePath, ...] = ()
    error: ErrorLocation = ErrorLocation()
    usage: Usage = Usage()
    failure: str | None = None
    content_hash: str | None = None
    run_id: str | None = None
    settings: str | None = None
    run_options: str | None = None
    steps: tuple[StepRecord, ...] = ()

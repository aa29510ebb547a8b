"""The result of a verification: verdict, evidence, and where an error came in.

Source: VeriTrail 3.2 (traceability).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, create_model

from veritrail_graph.graph.model.appeal import Appeal
from veritrail_graph.graph.model.cited import CitedSentence, Evidence, EvidenceRole
from veritrail_graph.graph.model.located import LocatedBy, ValuePlace, stages_of
from veritrail_graph.graph.model.node_ref import NodeRef
from veritrail_graph.graph.model.noun import (
    MOST,
    Count,
    Many,
    NodeId,
    Nodes,
    Noun,
    Number,
    OneOf,
    PublicId,
    RecordId,
    Text,
    Time,
    is_empty,
    is_none,
)
from veritrail_graph.graph.model.part import JudgedPart
from veritrail_graph.graph.model.process import Claim, ClaimOrigin, Verdict
from veritrail_graph.graph.model.settings_text import SettingsText

MOST_ITERATIONS = 10_000
SHARED = "shared"
"""What an engine has beside its name where claims shared prompts, such as `openai+shared`."""
MATCHED = "a person confirmed that both claims say the same"
"""How the reason begins of a verdict that was kept from a claim with another text."""


class Status(StrEnum):
    """The state of a verification; only `succeeded` carries a verdict.

    `undecided` has ended, too: samples did not agree on any evidence, or the judge cannot tell,
    since no model was asked. Source: VeriTrail E.3 (samples).
    """

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    UNDECIDED = "undecided"
    FAILED = "failed"
    OVER_BUDGET = "over_budget"
    CANCELLED = "cancelled"

    @property
    def is_result(self) -> bool:
        """Return whether nothing is left to do: it has a verdict, or is undecided."""
        return self in (Status.SUCCEEDED, Status.UNDECIDED)


class Termination(StrEnum):
    """Why the walk stopped; when several hold, the first of these.

    Source: VeriTrail 3.1.4; E.3 (no agreement).
    """

    NO_CANDIDATES = "no_candidates"
    ONLY_ROOTS_WITH_EVIDENCE_LEFT = "only_roots_with_evidence_left"
    MAX_CONSECUTIVE_NOT_FULLY_SUPPORTED = "max_consecutive_not_fully_supported"
    NO_AGREEMENT = "no_agreement"


class Usage(Noun):
    """Calls to language models and their cost. A null cost is unknown, not free."""

    calls: Count = Field(default=0, description="Answers of a model, also those that were invalid.")
    cached_calls: Count = Field(
        default=0, description="Answers from the cache of answers; they are free."
    )
    input_tokens: Count = Field(default=0, description="Tokens of the prompts.")
    cached_input_tokens: Count = Field(
        default=0, description="Those of them that the endpoint read from its own cache."
    )
    output_tokens: Count = Field(
        default=0, description="Tokens of the answers, reasoning included."
    )
    cost_usd: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="US dollars; null: the price of a call is unknown, or no call was made.",
    )
    reasoning_tokens: Count = Field(
        default=0, description="Those of the output that were reasoning."
    )
    unpriced_calls: Count = Field(default=0, description="Calls whose price is not known.")
    batch_calls: Count = Field(
        default=0, description="Those of the calls that were made in a batch, at its lower price."
    )

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
            batch_calls=self.batch_calls + other.batch_calls,
        )


NO_USAGE = Usage()


class Iteration(Noun):
    """One round of evidence selection and verdict generation.

    Source: VeriTrail 3.1.2 to 3.1.4.
    """

    number: Annotated[int, Field(ge=1, le=MOST_ITERATIONS)] = Field(description="From 1.")
    verdict: OneOf[Verdict] | None = Field(
        default=None,
        description="The interim verdict, as it was given; null where samples did not agree, or "
        "where the judge cannot tell.",
    )
    reasoning: Text = Field(description="The judge's reasons for it.")
    score: Number | None = Field(
        default=None,
        description="Probability of Fully Supported: the share of samples, or a model's own; null: "
        "there is none.",
    )
    checked: Nodes = Field(
        description="Nodes read in this round, in the order of the frontier, without the carried "
        "ones."
    )
    carried_roots: Nodes = Field(
        default=(), description="Roots with evidence from earlier rounds; they are not read again."
    )
    evidence: Many[CitedSentence] = Field(
        default=(),
        description="The sentences that this round selected, each once, in frontier order.",
    )
    summaries: Many[Evidence] = Field(default=(), description="What each evidence prompt found.")
    dropped_ids: Count = Field(
        default=0, description="Sentence ids that were returned and were not in their prompt."
    )
    reruns: Count = Field(
        default=0, description="Reruns of evidence selection because the evidence did not fit."
    )
    judged: Many[Evidence] = Field(
        default=(),
        description="After reruns: the summaries and sentences that the verdict saw. Empty: it saw "
        "what was selected first.",
    )
    left_out: Count = Field(
        default=0,
        description="Sentences of the evidence, as first selected, that the verdict did not see.",
    )
    left_out_roots: Many[NodeId] = Field(
        default=(), description="Roots with evidence that fell out of the verdict prompt."
    )
    judged_by: Text | None = Field(
        default=None,
        description="In a cascade of two judges: the model whose verdict counts.",
        exclude_if=is_none,
    )
    first_verdict: OneOf[Verdict] | None = Field(
        default=None,
        description="In a cascade: the verdict of the first judge, where the second one was asked.",
        exclude_if=is_none,
    )
    first_reasoning: Text | None = Field(
        default=None,
        description="Its reasons, or why it had no verdict.",
        exclude_if=is_none,
    )
    parts: Many[JudgedPart] = Field(
        default=(),
        description="The verdict on each part of the claim, where the judge gives it part by part.",
        exclude_if=is_empty,
    )
    looked_for: Text | None = Field(
        default=None,
        description="What was missing and was looked for once more, in the same nodes and the "
        "carried roots.",
        exclude_if=is_none,
    )
    usage: Usage = Field(default=NO_USAGE, description="What its steps cost.")

    derived: ClassVar[Mapping[str, str]] = {"summaries": "evidence"}

    def model_post_init(self, context: Any, /) -> None:
        """Derive the evidence from the summaries; summaries without sentences get theirs."""
        if any("sentences" not in one.model_fields_set for one in self.summaries):
            self._fill("summaries", _with_sentences(self.summaries, self.evidence))
        if self.summaries:
            self._fill("evidence", _selected(self.checked, self.summaries))

    @property
    def node_ids_with_evidence(self) -> tuple[str, ...]:
        """Nodes from which this round selected at least one sentence, each once, in order."""
        return tuple(dict.fromkeys(node for found in self.summaries for node in found.node_ids))

    @property
    def nodes_with_evidence(self) -> tuple[NodeRef, ...]:
        """`node_ids_with_evidence` as references, in the order of the frontier."""
        found = set(self.node_ids_with_evidence)
        return tuple(ref for ref in self.checked if ref.node_id in found)


def _selected(
    checked: Sequence[NodeRef], summaries: Sequence[Evidence]
) -> tuple[CitedSentence, ...]:
    """Return what was selected, in the order of the frontier; each sentence once.

    A sentence that is named as evidence and as context is evidence.
    """
    named = {cited.node_id for found in summaries for cited in found.sentences}
    place = {ref.node_id: at for at, ref in enumerate(checked) if ref.node_id in named}
    selected: dict[tuple[int, str, int], CitedSentence] = {}
    for found in summaries:
        for cited in found.sentences:  # carried roots may be looked at once more: they come last
            key = (place.get(cited.node_id, len(checked)), cited.node_id, cited.sentence)
            if key not in selected or cited.role is EvidenceRole.EVIDENCE:
                selected[key] = cited
    return tuple(selected[key] for key in sorted(selected))


def _with_sentences(
    summaries: Iterable[Evidence], evidence: Iterable[CitedSentence]
) -> tuple[Evidence, ...]:
    """Summaries with their sentences: one that names only nodes gets the sentences of these."""
    left = list(evidence)
    made = []
    for one in summaries:
        if "sentences" not in one.model_fields_set:
            names = set(one.node_ids)
            one = one.replace(sentences=tuple(s for s in left if s.node_id in names))
            left = [s for s in left if s.node_id not in names]
        made.append(one)
    return tuple(made)


class EvidencePath(Noun):
    """A link of the evidence trail: from a node with evidence to what it was an input to."""

    source: NodeId = Field(description="A node with evidence.")
    target: NodeId = Field(
        description="The nearest node downstream with evidence, or the verified node."
    )
    iteration: Annotated[int, Field(ge=1, le=MOST_ITERATIONS)] = Field(
        description="The round in which the evidence in `source` was found."
    )
    via: Many[NodeId] = Field(
        default=(), description="Checked nodes without evidence between the two, upstream first."
    )


class StepRecord(Noun):
    """What one step of a verification asked models for, and with which prompt.

    Source: VeriTrail 3.2, D.
    """

    iteration: Count = Field(description="Its round; 0: before the first, or for a correction.")
    step: Text = Field(description="The step's name in the model protocol.")
    prompt: Text = Field(description="Name and version, such as `evidence_selection.v1`.")
    prompt_hash: Text = Field(description="SHA-256 of the prompt's file in hexadecimal.")
    model: Text = Field(description="The model that was asked.")
    temperature: Number | None = Field(
        default=None, description="The temperature that was sent; null where none was."
    )
    effort: Text | None = Field(
        default=None,
        description="The effort of reasoning that was sent, such as `none` or `high`.",
        exclude_if=is_none,
    )
    usage: Usage = Field(default=NO_USAGE, description="What its calls cost.")


class Verification(Noun):
    """One verification of one claim, with everything that explains it.

    Source: VeriTrail 3.2.
    """

    verification_id: RecordId = Field(description="Its id.")
    process_id: PublicId = Field(description="The process.")
    claim_id: PublicId = Field(description="The claim.")
    claim: Text = Field(description="The claim's text as it was verified.")
    node_id: NodeId = Field(description="The node that the claim is about.")
    q: Annotated[int, Field(ge=1, le=MOST)] = Field(
        description="Consecutive Not Fully Supported verdicts that stop the walk."
    )
    sub_claims: Many[Text] = Field(default=(), description="The sub-claims that the judge saw.")
    engine: Text = Field(description="The engine of judgement.")
    model: Text | None = Field(default=None, description="The model, if a model judged.")
    indicative: bool = Field(
        description="Whether no model judged, so that the verdict is indicative only."
    )
    created_at: Time = Field(description="When it was made, ISO 8601 in UTC.")
    status: OneOf[Status] = Field(description="Its state.")
    verdict: OneOf[Verdict] | None = Field(
        default=None, description="The final verdict; null unless it succeeded."
    )
    reasoning: Text | None = Field(
        default=None, description="The reasons for the final verdict, or why there is none."
    )
    parts: Many[JudgedPart] = Field(
        default=(),
        description="The verdict on each part of the claim that decided the final one, where the "
        "judge gives it part by part.",
        exclude_if=is_empty,
    )
    score: Number | None = Field(
        default=None,
        description="Probability of Fully Supported in the last iteration: the share of samples, "
        "or a model's own; 0 where no root bore evidence.",
    )
    termination: OneOf[Termination] | None = Field(
        default=None, description="Why the walk stopped."
    )
    error_stages: Many[Count] = Field(
        default=(),
        description="Stages of `error_nodes`, ascending; none of nodes that were found by `sides`.",
    )
    error_nodes: Nodes = Field(
        default=(),
        description="Nodes of which one introduced unsupported content; that with most "
        "of the claim in its evidence comes first.",
    )
    propagated_nodes: Nodes = Field(
        default=(), description="Later nodes that only carried it on, the verified node last."
    )
    located_by: OneOf[LocatedBy] | None = Field(
        default=None,
        description="How the place of the error was found: by the interim `verdicts`, as the paper "
        "has it, by a `value` of the claim, or by the `sides` of its evidence; null: it was not. "
        "With `value` and no `error_nodes`, the place is an offer beside what a model judged.",
        exclude_if=is_none,
    )
    value_place: ValuePlace | None = Field(
        default=None,
        description="Where a value of the claim came in that its sources do not have, with the "
        "two sentences.",
        exclude_if=is_none,
    )
    iterations: Many[Iteration] = Field(default=(), description="The rounds, first to last.")
    usage: Usage = Field(default=NO_USAGE, description="What it cost.")
    error: Text | None = Field(
        default=None, description="Why there is no verdict, where there is none."
    )
    run_id: PublicId | None = Field(default=None, description="The run that it belongs to.")
    settings: SettingsText | None = Field(
        default=None,
        description="What decides its outcome besides claim and content: engine, models, limits, "
        "samples, hashes of the prompts, q.",
    )
    steps: Many[StepRecord] = Field(default=(), description="What its steps asked models for.")
    method: Literal["veritrail"] = Field(
        default="veritrail", description="The method that it was made by."
    )
    content_hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = Field(
        default=None, description="Hash of the content that was verified, where it is known."
    )
    place: Count | None = Field(default=None, description="Its place in its run.")
    paths: Many[EvidencePath] = Field(
        default=(), description="The evidence trail as links between nodes."
    )
    run_options: SettingsText | None = Field(
        default=None, description="What its run may spend: budget, calls, price."
    )
    origin: OneOf[ClaimOrigin] | None = Field(
        default=None,
        description="`asked` where it answers a question and checks no claim of the answer.",
        exclude_if=is_none,
    )
    said: bool | None = Field(
        default=None,
        description="Of a question: true where a sentence of the node says it in the same words, "
        "false where none has half of its words; left out: words alone cannot tell.",
        exclude_if=is_none,
    )
    share: Annotated[int, Field(ge=2, le=1_000)] | None = Field(
        default=None,
        description="Prompts were shared: the most claims that one asked about. Ours; the paper "
        "asks about one claim a prompt.",
        exclude_if=is_none,
    )
    reused_from: RecordId | None = Field(
        default=None,
        description="The earlier verification whose verdict was kept; null: it was made anew.",
    )
    compared_with: RecordId | None = Field(
        default=None,
        description="The verification of the claim in the earlier version of the process.",
        exclude_if=is_none,
    )
    reuse_reason: Text | None = Field(
        default=None,
        description="Why the earlier verdict was kept, or why it was not.",
        exclude_if=is_none,
    )
    saved_calls: Count | None = Field(
        default=None,
        description="Answers of models that the kept verdict rests on and that were not asked for.",
        exclude_if=is_none,
    )

    appeals: Many[Appeal] = Field(
        default=(),
        description="The first cited sentences that speak to their reader or judge.",
        exclude_if=is_empty,
    )
    correction: Text | None = Field(
        default=None,
        description="The claim with the smallest change that its evidence fully supports.",
        exclude_if=is_none,
    )
    appeals_read: Count | None = Field(
        default=None,
        description="How many sentences of all that was read speak so, the cited ones with them.",
        exclude_if=is_none,
    )

    @property
    def is_matched(self) -> bool:
        """Return whether its verdict was kept from a reworded claim, as a person matched them."""
        return (self.reuse_reason or "").startswith(MATCHED)

    @property
    def is_unsaid(self) -> bool:
        """Return whether it answers a question about something that the node does not say at all.

        Then no node introduced anything.
        """
        return self.said is False

    @property
    def is_saying_open(self) -> bool:
        """Return whether words alone judged a question, and cannot tell whether the node says it.

        Then no node is blamed either. A model's verdict is located as if the node said it.
        """
        return self.origin is ClaimOrigin.ASKED and self.said is None and self.indicative

    @property
    def nodes_verified(self) -> int:
        """Return how many nodes it read, all iterations together."""
        return sum(len(one.checked) for one in self.iterations)

    @classmethod
    def of_claim(cls, claim: Claim, **values: Any) -> Self:
        """A verification of a claim.

        Args:
            claim: The claim as it is verified.
            **values: The other fields.
        """
        return cls(
            claim_id=claim.claim_id,
            claim=claim.text,
            node_id=claim.node_id,
            sub_claims=claim.sub_claims,
            origin=claim.origin,
            said=claim.said,
            **values,
        )

    derived: ClassVar[Mapping[str, str]] = {"error_nodes": "error_stages"}

    def part_text(self, number: int) -> str:
        """Return what a part of the claim says; a claim that was not taken apart is its own."""
        parts = self.sub_claims if len(self.sub_claims) > 1 else (self.claim,)
        return parts[number - 1] if number <= len(parts) else ""

    @property
    def offered_place(self) -> ValuePlace | None:
        """Return the place of the error by a value, where a model's verdicts tell no place."""
        return None if self.error_nodes else self.value_place

    @property
    def header(self) -> VerificationHeader:
        """The verification without its trail."""
        values = {name: getattr(self, name) for name in VerificationHeader.model_fields}
        return VerificationHeader.model_construct(**values)

    @property
    def verified_claim(self) -> Claim:
        """The claim as it was verified."""
        return Claim(
            claim_id=self.claim_id,
            text=self.claim,
            node_id=self.node_id,
            sub_claims=self.sub_claims,
            origin=self.origin,
            said=self.said,
        )

    def model_post_init(self, context: Any, /) -> None:
        """Derive the error stages and what each iteration cost, where they were not given.

        A question that the node is not known to say is blamed on nobody.
        """
        if self.is_unsaid or self.is_saying_open:
            for name in ("error_nodes", "propagated_nodes", "error_stages"):
                self._fill(name, ())
            for name in ("located_by", "value_place"):
                self._fill(name, None)
        by_verdicts = self.located_by is not LocatedBy.SIDES  # the paper's rule tells no stage else
        if self.error_nodes and by_verdicts and not self.error_stages:
            self._fill("error_stages", stages_of(self.error_nodes))
        if self.error_nodes and self.located_by is None:  # made before there was another way
            self._fill("located_by", LocatedBy.VERDICTS)
        if self.steps:
            self._fill("iterations", tuple(_charged(one, self.steps) for one in self.iterations))


_HEADER = (
    "verification_id", "claim_id", "claim", "node_id", "engine", "model", "indicative", "q",
    "run_id", "created_at", "status", "verdict", "error_stages", "error",
)  # fmt: skip

if TYPE_CHECKING:

    class VerificationHeader(Verification):
        """A verification without its trail, as lists show it."""

else:
    _fields = Verification.model_fields
    VerificationHeader = create_model(
        "VerificationHeader",
        __base__=Noun,
        __doc__="A verification without its trail, as lists show it.",
        __module__=__name__,
        **{name: (_fields[name].annotation, _fields[name]) for name in _HEADER},
    )


def _charged(iteration: Iteration, steps: Iterable[StepRecord]) -> Iteration:
    """An iteration with what its steps cost."""
    usage = sum((s.usage for s in steps if s.iteration == iteration.number), Usage())
    return iteration if usage == iteration.usage else iteration.replace(usage=usage)

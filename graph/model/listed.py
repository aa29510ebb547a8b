"""The claims and nodes of a process as lists, drawings and summaries show them.

Source: VeriTrail 2 (processes), VeriTrail 3.2 (verdicts, evidence trail).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.graph.model.located import ValuePlace
from veritrail_graph.graph.model.node_ref import Role
from veritrail_graph.graph.model.noun import Many, SaidWord, is_none
from veritrail_graph.graph.model.process import Claim, Verdict
from veritrail_graph.graph.model.review import Review, Reviewed, ReviewKind
from veritrail_graph.graph.model.trail import Status, Usage, Verification

if TYPE_CHECKING:
    from veritrail_graph.graph.model.conversation import DialogueCost


TURN_UNDECIDED = "Cannot tell without a model; the conversation shows what it was compared with."
"""Why a claim of a turn has no category, where the judge of its turn could not tell."""


class ClaimFound(Claim):
    """A claim, with the verdict of its verification in force, and its reviews."""

    verdict: SaidWord[Verdict] | None = Field(
        default=None, description="null: it has none; `status` says why."
    )
    verification_id: str | None = None
    indicative: bool | None = Field(default=None, description="Whether no model judged.")
    error_stages: Many[int] = ()
    verifications: int = Field(default=0, description="How many it has, whatever their status.")
    review: SaidWord[ReviewKind] | None = Field(
        default=None, description="confirmed, overridden or unclear; null: no review."
    )
    reviewed_verdict: SaidWord[Verdict] | None = Field(
        default=None, description="The verdict of the latest review."
    )
    reviews: int = Field(default=0, description="How many reviews it has.")
    disputed: bool = Field(default=False, description="Whether its reviewers disagree.")
    status: SaidWord[Status] | None = Field(
        default=None,
        description="That of its verification in force, else of the latest: `undecided` and "
        "`failed` have no verdict; `undecided`, too, where the check of its turn could not tell; "
        "null: it was never verified.",
    )
    category: SaidWord[ClaimCategory] | None = Field(
        default=None,
        description="Of a claim of a dialogue's turn: what its verification says of it.",
        exclude_if=is_none,
    )


class JudgedClaim(ClaimFound):
    """The claim as the graph has it: with what the program reads beside its JSON object.

    Attributes:
        reviewed: The state of its reviews; None: there are none, or they were not read.
        error: Why it has no verdict, if that was said.
        position: Its place among the claims of the process, counted from 0.
        engine: The engine of the verification in force; None: there is none.
        model: Its model; None: it has none.
        q: Its q.
        value_place: Where a value came in, if one leads anywhere.
        speaks_to_reader: Whether sentences of its evidence speak to the reader or to a judge.
        turn_status: Of a claim of a dialogue's turn: undecided, where that counts; else None.
    """

    reviewed: Reviewed | None = Field(default=None, exclude=True)
    error: str | None = Field(default=None, exclude=True)
    position: int = Field(default=0, exclude=True)
    engine: str | None = Field(default=None, exclude=True)
    model: str | None = Field(default=None, exclude=True)
    q: int | None = Field(default=None, exclude=True)
    value_place: ValuePlace | None = Field(default=None, exclude=True)
    speaks_to_reader: bool = Field(default=False, exclude=True)
    turn_status: Status | None = Field(default=None, exclude=True)

    @property
    def is_of_turn(self) -> bool:
        """Return whether it was checked as a claim of a dialogue's turn."""
        return self.category is not None or self.turn_status is not None

    def model_post_init(self, context: Any, /) -> None:
        """Derive what its reviews come to; and a verdict that counts leaves nothing unfinished."""
        if self.verdict is not None:  # whatever a later attempt came to
            self._fill("status", Status.SUCCEEDED)
            self._fill("error", None)
        if self.reviewed is not None:
            self._fill("review", self.reviewed.kind)
            self._fill("reviewed_verdict", self.reviewed.reviewed_verdict)
            self._fill("reviews", self.reviewed.reviews)
            self._fill("disputed", self.reviewed.disputed)


@dataclass(frozen=True, slots=True)
class UnreadyProcess:
    """A process that is being written or removed, or was left half-written.

    Attributes:
        process_id, status: The process; `loading`, `replacing` or `deleting`.
        is_left: Whether the program that wrote it has ended.
    """

    process_id: str
    status: str
    is_left: bool


Place = tuple[int, str]


@dataclass(frozen=True, slots=True)
class ClaimFilter:
    """A filter of claims; None: any.

    Attributes:
        verdict: Those whose verification in force gave this verdict; `none`: those that
            have no verdict; of these, `undecided`: those marked Cannot tell, `failed`: those
            whose latest verification came to no end, and `unchecked`: the others.
        error_stage: Those into which an error came at this stage.
        review: `none`, `any`, `confirmed`, `overridden` or `unclear`: what people said of them.
        node_id: Those about this node.
        asked: Questions that were asked, instead of the claims of the answer.
    """

    verdict: str | None = None
    error_stage: int | None = None
    review: str | None = None
    node_id: str | None = None
    asked: bool = False

    @property
    def is_narrow(self) -> bool:
        """Return whether claims have to be looked at to know whether they are wanted."""
        return any(one is not None for one in (self.verdict, self.error_stage, self.review))


Reviewers = Mapping[str, Collection[str]]
"""By claim_id, who has reviewed it."""


@dataclass(frozen=True, slots=True)
class JudgedReview:
    """A review, and who gave the verdict that was reviewed.

    Attributes:
        review: The review.
        engine: The engine of judgement; None where no verification was reviewed.
        model: Its model, where one judged.
    """

    review: Review
    engine: str | None
    model: str | None


@dataclass(frozen=True, slots=True)
class QueuedClaim:
    """A claim in a queue of ten thousands: no `ClaimFound`, for its text is not read.

    Attributes:
        claim_id: The claim.
        verdict: That of its verification in force; None: there is none, or it was not read.
        error_stages: Where an error came in.
    """

    claim_id: str
    verdict: Verdict | None = None
    error_stages: tuple[int, ...] = ()


EXCERPT = 160
"""Characters of a text that are shown in a list."""


@dataclass(frozen=True, slots=True)
class NodeQuery:
    """A search for nodes; None: any.

    Attributes:
        text: With a text or an id that holds this, in capitals or not.
        stage: Of this stage.
        role: Of this role.
        kind: Of this kind.
        cited: True: with sentences that are evidence.
    """

    text: str | None = None
    stage: int | None = None
    role: Role | None = None
    kind: str | None = None
    cited: bool | None = None


ANY_NODE = NodeQuery()


@dataclass(frozen=True, slots=True)
class _NodeInList:
    """The fields that every list shows of a node.

    Attributes:
        node_id: Its id in the process.
        stage: Its place in the generative process.
        position: Its place in the input.
        role: Root, intermediate or terminal.
        kind: What sort of text it is, where the input says so.
    """

    node_id: str
    stage: int
    position: int
    role: Role
    kind: str | None

    @property
    def place(self) -> tuple[int, int]:
        """Its place in a list."""
        return self.stage, self.position


@dataclass(frozen=True, slots=True)
class ListedNode(_NodeInList):
    """A node with the beginning of its text.

    Attributes:
        step: The step that produced it.
        model: The model that produced it.
        excerpt: How its text begins.
        length: Characters of the whole text.
        upstream: How many source nodes it has.
        downstream: How many nodes it was an input to.
        cited: How many of its sentences are evidence.
    """

    step: str | None
    model: str | None
    excerpt: str
    length: int
    upstream: int
    downstream: int
    cited: int

    @property
    def is_cut(self) -> bool:
        """Return whether its text goes on behind the excerpt."""
        return self.length > EXCERPT


@dataclass(frozen=True, slots=True)
class Neighbour(_NodeInList):
    """A source node of a node, or one that it was an input to."""

    excerpt: str


@dataclass(frozen=True, slots=True)
class NodeText:
    """A piece of a node's text, with what else there is to read of the node.

    Attributes:
        piece: The piece.
        number: Which one it is, counted from 1.
        pieces: How many there are.
        length: Characters of the whole text.
        prompt: The prompt that it was written with, cut where it is very long.
        metadata: All else that the input says of it, as JSON, cut where it is very long.
        origin: `source`, `generated` or `given`.
        question: The question that it answers, cut where it is very long.
    """

    piece: str
    number: int
    pieces: int
    length: int
    prompt: str | None
    metadata: str | None
    origin: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class IntroducedError:
    """A claim into which unsupported content came at a node."""

    claim_id: str
    claim: str
    verification_id: str
    indicative: bool


@dataclass(frozen=True, slots=True)
class CitedSentenceHere:
    """A sentence of a node with a claim that it was cited for.

    Attributes:
        index: Its number in the node, counted from 0.
        text: The sentence.
        claim_id: The claim.
        claim: Its text.
        verification_id: The claim's verification in force.
        verdict: Its verdict; None: cannot tell.
        indicative: Whether no model judged.
        is_evidence: Whether it was cited as evidence, and not only as context.
    """

    index: int
    text: str
    claim_id: str
    claim: str
    verification_id: str
    verdict: Verdict | None
    indicative: bool
    is_evidence: bool


@dataclass(frozen=True, slots=True)
class PlacedClaim:
    """A claim in a text: no `ClaimFound`, for of thousands only what the text shows is read.

    Attributes:
        claim_id: The claim.
        text: What it says; where its place is known, only the beginning.
        start: Where it begins, in code points; None: not known.
        end: The offset just behind it.
        also: Further places.
        position: Its place among the claims of the process.
        verdict: That of its verification in force, or None.
        indicative: Whether no model judged.
        error_stages: Where an error came in.
        status: That of its latest verification; None: it has none.
        error: Why that one has no verdict, if it was said.
        category: What counts for it as a claim of a dialogue's turn; None: nothing does.
    """

    claim_id: str
    text: str
    start: int | None
    end: int | None
    also: tuple[tuple[int, int], ...]
    position: int
    verdict: Verdict | None
    indicative: bool
    error_stages: tuple[int, ...]
    status: Status | None
    error: str | None
    category: ClaimCategory | None = None


@dataclass(frozen=True, slots=True)
class InForce:
    """The verifications in force of one kind.

    Attributes:
        engine: Who judged.
        model: Its model; None: it has none.
        q: After how many verdicts in a row a walk stopped.
        claims: Of how many claims.
        latest_at: When the latest of them was made.
    """

    engine: str
    model: str | None
    q: int
    claims: int
    latest_at: str


@dataclass(frozen=True, slots=True)
class Tally:
    """The states of the claims of a process.

    Attributes:
        states: Claims by the verdict in force, else by `undecided`, `failed` or `unchecked`.
        together: Claims into which an error came, by the stages where it did.
        without_stage: Claims that are not fully supported and have no error stage.
        indicative: Claims that have a verdict which no model gave.
        in_force: Who gave the verdicts, most claims first.
        of_turns: Claims that are `unchecked`, and have a category as claims of a dialogue's turns.
    """

    states: Mapping[str, int]
    together: Mapping[tuple[int, ...], int]
    without_stage: int
    indicative: int
    in_force: tuple[InForce, ...] = ()
    of_turns: int = 0

    @property
    def stages(self) -> dict[int, int]:
        """By stage, the claims into which an error came there, or may have come."""
        found: Counter[int] = Counter()
        for stages, claims in self.together.items():
            found.update(dict.fromkeys(stages, claims))
        return dict(found)

    @property
    def total(self) -> int:
        """Return how many claims there are."""
        return sum(self.states.values())

    @property
    def judged(self) -> int:
        """Return how many claims have a verdict."""
        return sum(self.states.get(verdict.value, 0) for verdict in Verdict)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of all verifications of a process.

    Attributes:
        verifications: How many there are of claims of the answer, whatever their status.
        usage: What they, those of questions and those of turns cost together.
        modelled: How many of them a model judges.
        unmetered: How many of these have a result and do not say what it took.
        questions: How many verifications there are of questions.
        turns: How many turns of a dialogue were verified, each run by itself.
    """

    verifications: int
    usage: Usage
    modelled: int = 0
    unmetered: int = 0
    questions: int = 0
    turns: int = 0


NEVER = "none"
"""The outcome of a claim that was never verified."""


@dataclass(frozen=True, slots=True)
class Named:
    """A process that is ready, as a list needs it.

    Attributes:
        process_id: The process.
        name: What people call it.
        nodes: How many nodes it has.
        created_at: When it was stored.
    """

    process_id: str
    name: str
    nodes: int
    created_at: str


@dataclass(frozen=True, slots=True)
class OutcomeSummary:
    """The outcomes of a process and what they cost.

    Attributes:
        outcomes: Claims by the verdict in force, else the status of the latest one, else `none`.
        usage: What all its verifications cost; only calls and cost are counted.
        changed_at: When the latest verification was made; None: there is none.
        modelled: How many verifications a model judges, whatever their status.
        unmetered: How many of them have a result and do not say what it took.
        verified: Verifications of its claims and turns, without those of questions.
        of_turns: Claims that were checked by turn of a dialogue, and never verified.
        indicative: Claims whose verdict in force no model gave.
    """

    outcomes: Mapping[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    changed_at: str | None = None
    modelled: int = 0
    unmetered: int = 0
    verified: int = 0
    of_turns: int = 0
    indicative: int = 0

    def with_turns(self, turns: DialogueCost) -> OutcomeSummary:
        """Return the same with what was spent on turns of a dialogue."""
        return replace(
            self,
            usage=self.usage + turns.usage,
            changed_at=max(self.changed_at or "", turns.changed_at or "") or None,
            modelled=self.modelled + turns.modelled,
            unmetered=self.unmetered + turns.unmetered,
            verified=self.verified + turns.turns,
        )


@dataclass(frozen=True, slots=True)
class TrailOutline:
    """A verification as pages and reports show it: evidence, and iterations by their counts.

    An iteration may have checked a hundred thousand nodes; those without evidence are only counted.

    Attributes:
        verification: The verification; checked nodes without evidence may be left out.
        checked: How many nodes an iteration checked, by its number, where some are left out.
        sources: How many source texts all iterations checked, where none of them has evidence.
    """

    verification: Verification
    checked: Mapping[int, int] = field(default_factory=dict)
    sources: int | None = None


@dataclass(frozen=True, slots=True)
class ClaimNeighbours:
    """The place of a claim among those of its process.

    Attributes:
        previous: The claim before it, or None.
        next: The claim behind it, or None.
        number: Its number, counted from 1.
        total: How many claims there are.
        previous_unsupported: The last claim before it that is not fully supported, or None.
        next_unsupported: The first one behind it, or None.
    """

    previous: str | None
    next: str | None
    number: int
    total: int
    previous_unsupported: str | None = None
    next_unsupported: str | None = None


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """A filter of nodes; None: any.

    Attributes:
        stage: Of this stage.
        role: Of this role.
        text: With a text that holds this, in capitals or not.
    """

    stage: int | None = None
    role: Role | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """Something that was removed, and what went with it.

    Attributes:
        claims: Claims that were removed by themselves.
        verifications: Verifications that went with them.
        reviews: Reviews that went with them.
    """

    claims: int = 0
    verifications: int = 0
    reviews: int = 0

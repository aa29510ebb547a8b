"""The data of every report: a process, its claims, and how each of them was judged.

Claims are read without their trails, so that ten thousand of them fit into memory; trails are
read a few at a time (`ReportSource.trails`).

Source: VeriTrail 3.2 (verdicts, evidence trail, provenance, error localization).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import Protocol

from veritrail_graph.api.show.asking import asking_sentences
from veritrail_graph.api.show.context import Context, cited_in, named_nodes
from veritrail_graph.api.show.dialogue import CLAIM_MARKS, unchecked_mark
from veritrail_graph.api.show.reports.conversation import Conversation
from veritrail_graph.api.show.reports.judges import ReportJudge, judges_of
from veritrail_graph.api.show.reports.resting import Resting
from veritrail_graph.api.show.routes import MOST_ROUTES
from veritrail_graph.api.show.stages import StageFigures, stage_figures
from veritrail_graph.api.show.trail import Beside, NodeFacts
from veritrail_graph.api.show.trail_view import TrailView, trail_view
from veritrail_graph.api.show.words import (
    BY_KIND,
    CANNOT_TELL,
    STATE_OF,
    VERDICT_WORDS,
    Mark,
    State,
    indicative_reason,
    mark_now,
    reuse_words,
)
from veritrail_graph.graph.clock import now
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import (
    Claim,
    Process,
    Review,
    Reviewed,
    Usage,
    Verdict,
    Verification,
    share_of_nodes,
    total_usage,
)
from veritrail_graph.graph.model.attribution import CarriedSentence
from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.graph.model.listed import TURN_UNDECIDED
from veritrail_graph.graph.model.trail import Status

DISTRIBUTION = "veritrail-graph"


@dataclass(frozen=True, slots=True)
class ReportedClaim:
    """A claim with its whole verification: no `ClaimFound`, for reports of files have no graph.

    Attributes:
        claim: The claim as it is stored.
        verification: Its verification in force; where none has a verdict, its latest. Without the
            trail; None: it has none.
        later: A later verification that gave no verdict, or one that failed and that no judge as
            strong has made good since; None: there is neither.
        verifications: How many verifications it has.
        reviewed: What people said of it; None: nothing.
        number: Its place among the claims of the process, counted from 1, as the page has it.
        category: What counts for it as a claim of a dialogue's turn; None: nothing does.
        is_undecided_turn: Whether it is undecided as a claim of a turn.
        before: The verification of it in an earlier version, where its run compared both and that
            is stored, without its trail.
    """

    claim: Claim
    verification: Verification | None = None
    later: Verification | None = None
    verifications: int = 0
    reviewed: Reviewed | None = None
    number: int = 1
    category: ClaimCategory | None = None
    is_undecided_turn: bool = False
    before: Verification | None = None

    @property
    def mark(self) -> Mark:
        """The mark of its verification; without one the words for its category, if it has one."""
        if self.is_of_turn and self.category is not None:
            return replace(CLAIM_MARKS[self.category], kind=State.UNCHECKED)
        if self.is_of_turn:
            return CANNOT_TELL
        return mark_now(self.verification)

    @property
    def is_of_turn(self) -> bool:
        """Return whether the check of its turn is all that is known: no verdict was asked for."""
        return self.verification is None and (self.category is not None or self.is_undecided_turn)

    @property
    def state(self) -> State:
        """The state of its verification."""
        return self.mark.kind

    @property
    def verdict(self) -> Verdict | None:
        """The final verdict, if there is one."""
        return self.verification.verdict if self.verification else None

    @property
    def error_stages(self) -> tuple[int, ...]:
        """The stages where unsupported content came in; empty where none could be identified."""
        return self.verification.error_stages if self.verification else ()

    @property
    def is_without_model(self) -> bool:
        """Return whether what counts for it was found without a model, verdict or not."""
        return self.verification.indicative if self.verification else self.is_undecided_turn

    @property
    def is_indicative(self) -> bool:
        """Return whether it has a verdict that no model gave."""
        found = self.verification
        return found is not None and found.verdict is not None and found.indicative

    @property
    def engine(self) -> str:
        """The engine of its verification; empty where there is none."""
        return self.verification.engine if self.verification else ""

    @property
    def was_edited(self) -> bool:
        """Return whether only former texts of it were verified."""
        return self.verification is None and self.verifications > 0

    @property
    def has_changed(self) -> bool:
        """Return whether it had another verdict in the earlier version."""
        before = self.before.verdict if self.before is not None else None
        return None not in (before, self.verdict) and before is not self.verdict

    @property
    def has_moved(self) -> bool:
        """Return whether it had the same verdict with other error stages in the earlier version."""
        before = self.before
        if before is None or self.verdict is None or before.verdict is not self.verdict:
            return False
        return before.error_stages != self.error_stages

    @property
    def since(self) -> tuple[str, ...]:
        """Return what was found of it when it was compared with an earlier version."""
        kept = reuse_words(self.verification) if self.verification is not None else None
        return self._changes if kept is None else (f"The verdict was {kept}.", *self._changes)

    @property
    def _changes(self) -> tuple[str, ...]:
        """Return what is another in the earlier version."""
        found = []
        before = self.before
        if before is not None and before.verdict is not None and self.has_changed:
            found.append(
                f"The verdict changed: in the earlier version it was "
                f"{VERDICT_WORDS[before.verdict]} ({before.verification_id})."
            )
        if before is not None and self.has_moved:
            stages = ", ".join(map(str, before.error_stages)) or "none"
            found.append(
                f"The error stages moved: in the earlier version they were {stages} "
                f"({before.verification_id})."
            )
        return tuple(found)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what a reader must know of its verification, beside what its trail says."""
        found = list(self._changes)
        if self.was_edited:
            found.append(
                "The claim was edited after it was verified: what was found is about its former "
                "text. Verify it anew."
            )
        elif self.verifications > 1:
            found.append(
                f"The claim has {self.verifications:,} verifications; this is the one that counts."
            )
        if self.later is not None:
            status = self.later.status.value.replace("_", " ")
            why = f": {self.later.error.rstrip('.')}" if self.later.error else ""
            by = self.later.model or self.later.engine
            is_later = self.verification is None or (
                self.later.created_at >= self.verification.created_at
            )
            which = "later" if is_later else "stronger"
            found.append(f"A {which} verification by {by} gave no verdict ({status}{why}).")
        return tuple(found)

    @property
    def reason(self) -> str | None:
        """Return why it has its state: the reasons for its verdict, or why there is none."""
        found = self.verification
        if found is None:
            return TURN_UNDECIDED if self.is_undecided_turn else None
        return found.reasoning if found.verdict is not None else found.error


@dataclass(frozen=True, slots=True)
class ClaimSelection:
    """The selection of claims for a report; empty: all.

    Attributes:
        claim_ids: These claims.
        node_ids: Those about these nodes.
        states: Those that stand so.
    """

    claim_ids: tuple[str, ...] = ()
    node_ids: tuple[str, ...] = ()
    states: tuple[State, ...] = ()

    def takes(self, one: ReportedClaim) -> bool:
        """Return whether a claim is wanted."""
        return (
            (not self.claim_ids or one.claim.claim_id in self.claim_ids)
            and (not self.node_ids or one.claim.node_id in self.node_ids)
            and (not self.states or one.state in self.states)
        )

    def words(self) -> str:
        """Return which claims these are, for a reader; empty where they are all."""
        parts = [f"claim {', '.join(self.claim_ids)}"] if self.claim_ids else []
        if self.node_ids:
            parts.append(f"about node {', '.join(map(shown, self.node_ids))}")
        if self.states:
            parts.append(" or ".join(BY_KIND[one].word.lower() for one in self.states))
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Made:
    """The origin of a report: the time, the program, and the place it was read from.

    Attributes:
        at: ISO 8601 in UTC.
        by: Name and version of the program.
        origin: Where it was read: `store`, or the name of a file.
    """

    at: str = field(default_factory=now)
    by: str = field(default_factory=lambda: f"veritrail-graph {metadata.version(DISTRIBUTION)}")
    origin: str = "store"


@dataclass(frozen=True, slots=True)
class ReportData:
    """A process and its claims as a report shows them, without their trails.

    Attributes:
        process: The process.
        claims: The claims that are wanted, in the order of the input.
        total: How many claims the process has.
        wanted: Which of them these are.
        made: When and by what it was made.
        checked: By verification_id: how many nodes it read.
        questions: By node_id: the question that it answers; of the nodes that the claims are
            about, those that have one of their own.
        measured: What was measured of the judges, a sentence each.
    """

    process: Process
    claims: tuple[ReportedClaim, ...]
    total: int
    wanted: ClaimSelection = ClaimSelection()
    made: Made = field(default_factory=Made)
    checked: Mapping[str, int] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    measured: tuple[str, ...] = ()

    @property
    def node_ids(self) -> tuple[str, ...]:
        """The nodes that the claims are about, in the order of the claims."""
        return tuple(dict.fromkeys(one.claim.node_id for one in self.claims))

    @property
    def question(self) -> str | None:
        """The question of the whole report: the process's, unless all answers have others."""
        names = self.node_ids
        own = dict.fromkeys(self.questions.get(name) for name in names)
        if names and None not in own:
            return next(iter(own)) if len(own) == 1 else None
        return self.process.question

    def question_of(self, node_id: str) -> str | None:
        """The question that a node answers: its own, or the process's."""
        return self.questions.get(node_id, self.process.question)

    @property
    def own_questions(self) -> dict[str, str]:
        """By node_id: questions of answers that the question of the whole report does not say."""
        asked = {name: self.questions[name] for name in self.node_ids if name in self.questions}
        return {name: text for name, text in asked.items() if text != self.question}

    @property
    def share_of_nodes(self) -> float | None:
        """The share of the nodes that a verdict rests on, on average; None: not known."""
        judged = [one.verification_id for one in self.verifications if one.verdict is not None]
        counts = [self.checked[name] for name in judged if name in self.checked]
        return share_of_nodes(counts, self.process.nodes)

    def share_of(self, one: ReportedClaim) -> float | None:
        """The share of the nodes that the verdict of a claim rests on; None: not known."""
        found = one.verification
        if found is None or found.verdict is None or found.verification_id not in self.checked:
            return None
        return share_of_nodes([self.checked[found.verification_id]], self.process.nodes)

    @property
    def counts(self) -> dict[State, int]:
        """Claims by how they stand; every state is there."""
        found = Counter(one.state for one in self.claims)
        return {state: found[state] for state in State}

    @property
    def marks(self) -> list[tuple[Mark, int]]:
        """Return the same by marks.

        Where all claims without a verdict are of turns, one says so.
        """
        counts = self.counts
        of_turns = sum(one.is_of_turn and not one.is_undecided_turn for one in self.claims)
        unchecked = unchecked_mark(counts[State.UNCHECKED], of_turns)
        return [
            (unchecked if state is State.UNCHECKED else BY_KIND[state], claims)
            for state, claims in counts.items()
        ]

    @property
    def verifications(self) -> list[Verification]:
        """The verifications that the report goes by, without their trails."""
        return [one.verification for one in self.claims if one.verification is not None]

    @property
    def usage(self) -> Usage:
        """Return what they came to; the cost is None while any price is unknown."""
        return total_usage(self.verifications)

    @property
    def is_indicative(self) -> bool:
        """Return whether any verdict was given without a model."""
        return any(one.is_indicative for one in self.claims)

    @property
    def indicative(self) -> str | None:
        """Return which verdicts no language model gave, in words; None: there are none."""
        judged = [one for one in self.claims if one.verdict is not None]
        indicative = sum(one.is_indicative for one in judged)
        if not indicative:
            return None
        return "All verdicts" if indicative == len(judged) else "Some verdicts"

    @property
    def indicative_reason(self) -> str:
        """Return why they are indicative; empty: there are none."""
        engines = [one.engine for one in self.claims if one.is_indicative]
        return indicative_reason(*engines) if engines else ""

    @property
    def judges(self) -> tuple[ReportJudge, ...]:
        """Say who gave the verdicts that count, with which q and when; the most frequent first."""
        return judges_of(one for one in self.verifications if one.verdict is not None)

    @property
    def judgements(self) -> tuple[str, ...]:
        """Return the same in words, a line a judge."""
        return tuple(one.words for one in self.judges)

    @property
    def undecided_by(self) -> tuple[str, ...]:
        """Return who could not decide which claims, in words, a line a judge."""
        undecided = (one for one in self.verifications if one.status is Status.UNDECIDED)
        return tuple(one.words for one in judges_of(undecided))

    @property
    def ways(self) -> tuple[str, ...]:
        """Return what there is to say of the judges, a sentence each.

        How they were asked where that is not as the paper asks, and what was measured of them.
        """
        asked = asking_sentences(one for one in self.verifications if one.verdict is not None)
        return (*asked, *self.measured)

    @property
    def since(self) -> str | None:
        """Return what was kept and what changed since earlier versions; None: none was compared."""
        found = [one for one in self.claims if one.verification is not None]
        kept = sum(one.verification.reused_from is not None for one in found if one.verification)
        if not kept and not any(one.before for one in found):
            return None
        changed = sum(one.has_changed for one in found)
        moved = sum(one.has_moved for one in found)
        return (
            f"Since earlier versions: {counted(kept, 'verdict')} kept, {changed:,} changed, "
            f"{moved:,} the same with other error stages."
        )

    @property
    def together(self) -> Counter[tuple[int, ...]]:
        """Claims into which unsupported content came, by the stages of which one is meant."""
        return Counter(one.error_stages for one in self.claims if one.error_stages)

    @property
    def stages(self) -> tuple[StageFigures, ...]:
        """The stages, ascending, with how many claims went wrong there."""
        return stage_figures(self.process, self.together)

    @property
    def title(self) -> str:
        """Return what the report is about."""
        return self.process.name or self.process.process_id


@dataclass(frozen=True, slots=True)
class ReportTrail:
    """A claim with all that explains its verdict.

    Attributes:
        checked: The claim.
        verification: The verification with its trail; None: the claim has none.
        reviews: All reviews of the claim, newest first.
        nodes: The nodes of the trail that are known, by node_id.
        around: The sentences around cited ones; empty unless it was asked for.
        read: How many nodes an iteration read, by its number, where the verification holds only
            those with evidence.
        sources: How many source texts it read, likewise.
        carried: What its error nodes did with their sources, as far as that was attributed.
        names: What people call the nodes of the trail, by node_id.
    """

    checked: ReportedClaim
    verification: Verification | None = None
    reviews: tuple[Review, ...] = ()
    nodes: Mapping[str, NodeFacts] = field(default_factory=dict)
    around: Context = field(default_factory=dict)
    read: Mapping[int, int] = field(default_factory=dict)
    sources: int | None = None
    carried: tuple[CarriedSentence, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def beside(self, routes: int = MOST_ROUTES) -> Beside:
        """Return what a trail is shown with.

        Args:
            routes: Routes that are listed.
        """
        said = self.checked.reviewed
        reviews = self.reviews or (said.counting if said is not None else ())
        remarks = self.checked.remarks
        return Beside(reviews, 0, remarks, self.nodes, self.around, routes, self.names)

    def view(self, stage_names: Mapping[int, str]) -> TrailView | None:
        """The trail as it is shown; None: the claim has none."""
        if self.verification is None:
            return None
        return trail_view(
            self.verification,
            stage_names,
            read=self.read,
            sources=self.sources,
            carried=self.carried,
        )


def trail_of(
    checked: ReportedClaim,
    found: Verification | None,
    reviews: Sequence[Review],
    nodes: Mapping[str, NodeFacts] | None = None,
    context: Context | None = None,
    names: Mapping[str, str] | None = None,
) -> ReportTrail:
    """A claim with its trail.

    Args:
        checked: The claim.
        found: The verification that the report goes by, with its trail.
        reviews: All reviews of the claim, newest first.
        nodes: Nodes of several trails, by node_id; None: they were not asked for.
        context: The sentences around those that several trails cite.
        names: What people call nodes of several trails, by node_id.
    """
    of_trail = named_nodes(found) if found is not None else ()
    called = {one: name for one in of_trail if (name := (names or {}).get(one)) is not None}
    if found is None or nodes is None or context is None:
        return ReportTrail(checked, found, tuple(reviews), names=called)
    cited = cited_in([found])
    order = {name: at for at, name in enumerate(dict.fromkeys(one.node_id for one in cited))}
    places = {(one.node_id, one.start, one.end) for one in cited if one.node_id in order}
    return ReportTrail(
        checked=checked,
        verification=found,
        reviews=tuple(reviews),
        nodes={name: nodes[name] for name in of_trail if name in nodes},
        names=called,
        around={
            place: context[place]
            for place in sorted(places, key=lambda one: (order[one[0]], *one[1:]))
            if place in context
        },
    )


class ReportSource(Protocol):
    """A source of a report: the store, or a process file."""

    @property
    def material(self) -> ReportData:
        """The process and its claims."""

    async def texts(self, node_ids: Sequence[str]) -> dict[str, str]:
        """Texts of nodes by node_id; one that is not there is left out."""

    async def resting(self) -> Resting:
        """Return what each sentence of attributed nodes rests on.

        A process file holds nothing of it.
        """

    async def conversation(self) -> Conversation:
        """The turns of a dialogue with their claims; a process file holds nothing of them."""

    def trails(
        self, claims: Sequence[ReportedClaim], *, whole: bool = False, counted: bool = False
    ) -> AsyncIterator[ReportTrail]:
        """The trails of these claims in their order, read a few at a time.

        Args:
            claims: Claims of the material.
            whole: Whether nodes, and the sentences around the cited ones, come along.
            counted: Whether the nodes without evidence that an iteration read may be left out and
                only counted.
        """


_NAMES = {state.value: state for state in State} | {
    verdict.value.lower().replace("_", "-"): STATE_OF[verdict] for verdict in Verdict
}


def states_named(names: Iterable[str]) -> tuple[State, ...]:
    """The states with these names; a verdict's own name does as well.

    Raises:
        InputError: There is no such state.
    """
    found: dict[State, None] = {}
    for name in names:
        state = _NAMES.get(name.lower().replace("_", "-"))
        if state is None:
            known = ", ".join(one.value for one in State)
            raise InputError(f"Unknown verdict {shown(name)}. Known: {known}.")
        found[state] = None
    return tuple(found)


Asked = tuple[str, str, str, str, float | None, str | None]
"""A step, its prompt, the hash of that, the model, and the temperature and effort it was sent."""


def asked_of(verifications: Iterable[Verification]) -> set[Asked]:
    """Return which models were asked, with which prompts."""
    return {
        (step.step, step.prompt, step.prompt_hash, step.model, step.temperature, step.effort)
        for verification in verifications
        for step in verification.steps
    }

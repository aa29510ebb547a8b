"""Jobs as they are shown, and the form that starts one.

Source: VeriTrail 2 (the three verdicts), C.1 (q), D (computational cost).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.jobs import JobClaim, sentence_of
from veritrail_graph.api.page.links import url
from veritrail_graph.api.page.views.forms import JobForm, dollars
from veritrail_graph.api.page.views.process import Count, counts_of
from veritrail_graph.api.requests.verify import DEFAULT_Q, MAX_Q, MOST_SHARED, VerifyRequest
from veritrail_graph.api.show.asking import asking_short, whole_sentences
from veritrail_graph.api.show.costs import Spent, spent
from veritrail_graph.api.show.dialogue import TURN_UNDECIDED
from veritrail_graph.api.show.words import BY_KIND, Mark, State, mark_of
from veritrail_graph.graph.errors import InputError, Violation
from veritrail_graph.graph.model import Status, Verdict, Verification
from veritrail_graph.graph.model.dialogue import TURN
from veritrail_graph.graph.model.job import OPEN, Job, JobKind, JobStatus

if TYPE_CHECKING:
    pass


CLAIMS = 50
"""Claims of a job on a page."""

LONGEST_CLAIM = 400

_ICONS = {
    JobStatus.QUEUED: "waiting",
    JobStatus.RUNNING: "running",
    JobStatus.SUCCEEDED: "supported",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "stopped",
}
_WORDS = {
    JobStatus.QUEUED: "Waiting",
    JobStatus.RUNNING: "Running",
    JobStatus.SUCCEEDED: "Done",
    JobStatus.FAILED: "Ended with failures",
    JobStatus.CANCELLED: "Cancelled",
}


BATCH_WORDS: Mapping[str, str] = {
    "planned": "about to be uploaded",
    "uploaded": "uploaded",
    "validating": "being looked over by the endpoint",
    "in_progress": "being answered",
    "finalizing": "almost done",
    "cancelling": "being cancelled",
    "completed": "answered",
    "failed": "refused",
    "expired": "expired",
    "cancelled": "cancelled",
}
"""The states of a batch, as people read them."""


_TITLES = {
    JobKind.VERIFICATION: "Verification",
    JobKind.ATTRIBUTION: "Attribution",
    JobKind.DIALOGUE: "Dialogue",
}
_PARTS = {
    JobKind.VERIFICATION: "claims",
    JobKind.ATTRIBUTION: "sentences",
    JobKind.DIALOGUE: "turns",
}

ATTRIBUTED = replace(
    BY_KIND[State.UNCHECKED],
    word="Attributed",
    icon="supported",
    hint="It is known what the sentence rests on.",
)
"""The mark of a sentence that was attributed: it is neither praise nor blame."""

EXPLAINED = replace(
    ATTRIBUTED,
    word="Done",
    hint="It is known what the steps that introduced unsupported content did with their sources.",
)
"""The mark of a job whose verdicts are explained."""

COMPARED = replace(
    ATTRIBUTED, word="Compared", hint="The result of the dialogue says what was found of the turn."
)
"""The mark of a turn that was verified to its end, whatever was found of it."""


@dataclass(frozen=True, slots=True)
class JobView:
    """The state of a job.

    Attributes:
        job: The job.
        total: How many claims, sentences or turns it has.
        done: How many of them have ended, those aside that were cancelled.
        counts: Its claims by mark.
        words: Its state.
        icon: The icon beside it.
        spent: What it has cost until now.
    """

    job: Job
    total: int
    done: int
    counts: tuple[Count, ...]
    words: str
    icon: str
    spent: Spent

    @property
    def is_open(self) -> bool:
        """Return whether something is left to do."""
        return self.job.status in OPEN

    @property
    def is_verification(self) -> bool:
        """Return whether it verifies claims."""
        return self.job.kind is JobKind.VERIFICATION

    @property
    def ways(self) -> tuple[str, ...]:
        """Return how its judge is asked where that is not as the paper asks, a sentence each."""
        return whole_sentences(self.job.asking)

    @property
    def working(self) -> str:
        """Return what is said of a claim that has begun: in a batch it waits, for up to a day."""
        return "Waiting for a batch" if self.job.batches else "Being checked"

    @property
    def batches(self) -> tuple[tuple[object, str], ...]:
        """The batches that it waits for, each with its state in words."""
        return tuple((one, BATCH_WORDS[one.status]) for one in self.job.batches)

    @property
    def asked(self) -> str:
        """Return the same in short, behind a comma; empty: as usual."""
        return asking_short(self.job.asking)

    @property
    def title(self) -> str:
        """Return what it does, in one word."""
        return _TITLES[self.job.kind]

    @property
    def result_url(self) -> str:
        """Return where its result is shown."""
        place = ("processes", self.job.process_id)
        results = (one for one in Status if one.is_result)
        if self.job.kind is JobKind.DIALOGUE and any(map(self.job.counts.get, results)):
            return url(*place, "dialogue", run=self.job.run_id)
        return url(*place)

    @property
    def of(self) -> str:
        """Return what it has many of."""
        return _PARTS[self.job.kind]

    @property
    def explained(self) -> Mark | None:
        """The state of the explanation of its verdicts; None: none was asked for."""
        found = self.job.explanation
        if found is None:
            return None
        if found.status is Status.SUCCEEDED:
            return EXPLAINED
        return _in_words_of(mark_of(None, found.status, found.error), "the explanation")

    @property
    def has_verdicts(self) -> bool:
        """Return whether a claim of it has a verdict."""
        return self.is_verification and bool(self.job.counts.get(Status.SUCCEEDED))

    @property
    def may_resume(self) -> bool:
        """Return whether claims of it have no verdict, and none is being verified."""
        left = (Status.FAILED, Status.OVER_BUDGET, Status.CANCELLED)
        return not self.is_open and (
            any(self.job.counts.get(one) for one in left)
            or self.total == 0
            or self.job.status is JobStatus.FAILED
        )


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim of a job.

    Attributes:
        place: Its place in the job.
        mark: Its state.
        text: What it says, cut to a line or two; None: that is not known now.
        claim_id: The claim.
        href: Where it is shown with its trail.
        is_running: Whether it is being verified now.
        failure: Why it has no verdict.
        kept: Why its verdict was kept from an earlier version; None: it was not.
    """

    place: int
    mark: Mark
    text: str | None
    claim_id: str
    href: str
    is_running: bool
    failure: str | None
    kept: str | None = None


def job_view(job: Job, outcomes: Mapping[str, int] | None = None) -> JobView:
    """The state of a job.

    Args:
        job: The job.
        outcomes: Its claims by verdict; None: not read, so claims with a verdict are left out.
    """
    total = sum(job.counts.values())
    ended = sum(
        number
        for status, number in job.counts.items()
        if status not in (Status.QUEUED, Status.RUNNING, Status.CANCELLED)
    )
    words = "Being cancelled" if job.cancelling else _WORDS[job.status]
    if job.kind is not JobKind.VERIFICATION:
        counts = _part_counts(job)
    else:
        counts = counts_of(_outcomes(job, outcomes)) if outcomes is not None else ()
    cost = spent(job.usage, modelled=job.asks_models)
    return JobView(job, total, ended, counts, words, _ICONS[job.status], cost)


def _outcomes(job: Job, found: Mapping[str, int]) -> dict[str, int]:
    """Verdicts as the graph has them, and the rest as the job has it.

    The graph still says how a claim ended that was taken up again and waits.
    """
    verdicts = {name: number for name, number in found.items() if name in set(Verdict)}
    others = {name: n for name, n in job.counts.items() if name != Status.SUCCEEDED}
    return verdicts | others


def _part_counts(job: Job) -> tuple[Count, ...]:
    """The sentences or turns of a job by mark, what is done last."""
    mark = ATTRIBUTED if job.kind is JobKind.ATTRIBUTION else COMPARED
    ended = {name: n for name, n in job.counts.items() if name != Status.SUCCEEDED}
    done = job.counts.get(Status.SUCCEEDED, 0)
    return (*counts_of(ended), *((Count(mark, done),) if done else ()))


def part_lines(job: Job, claims: Iterable[JobClaim]) -> list[ClaimLine]:
    """Sentences, or turns, of a job with their marks.

    Args:
        job: The job.
        claims: Their rows.
    """
    line = _sentence_line if job.kind is JobKind.ATTRIBUTION else _turn_line
    return [line(job, one) for one in claims]


def _turn_line(job: Job, one: JobClaim) -> ClaimLine:
    turn_id = job.turn_ids[int(one.claim_id)]
    place, node_id = ("processes", job.process_id), f"{TURN}{turn_id}"
    is_done = one.status.is_result
    href = url(*place, "nodes", node_id)
    if is_done:
        href = url(*place, "dialogue", run=job.run_id, at=node_id)
    return _part_line(one, _part_mark(one, COMPARED, "the turn"), turn_id, href)


def _sentence_line(job: Job, one: JobClaim) -> ClaimLine:
    node_id, number = sentence_of(job.node_ids, one.claim_id)
    place = ("processes", job.process_id, "nodes", node_id)
    is_done = one.status is Status.SUCCEEDED
    href = url(*place, "attribution", sentence=number) if is_done else url(*place)
    mark = _part_mark(one, ATTRIBUTED, "the sentence")
    return _part_line(one, mark, f"{node_id}, sentence {number}", href)


def _part_mark(one: JobClaim, done: Mark, what: str) -> Mark:
    """The mark of a sentence or a turn: that of a claim in the same state, in words of its own."""
    if one.status is Status.SUCCEEDED:
        return done
    if one.status is Status.UNDECIDED:
        return TURN_UNDECIDED
    return _in_words_of(mark_of(None, one.status, one.failure), what)


def _in_words_of(mark: Mark, what: str) -> Mark:
    """A mark of a claim for something else."""
    return replace(mark, hint=mark.hint.replace("the claim", what))


def _part_line(one: JobClaim, mark: Mark, text: str, href: str) -> ClaimLine:
    return ClaimLine(
        place=one.place,
        mark=mark,
        text=text,
        claim_id=one.claim_id,
        href=href,
        is_running=one.status is Status.RUNNING,
        failure=one.failure,
    )


def lines_of(
    process_id: str, claims: Iterable[JobClaim], known: Mapping[str, Verification]
) -> list[ClaimLine]:
    """Claims of a job with their marks.

    Args:
        process_id: The process.
        claims: The claims.
        known: What the graph says of their verifications; nothing, where it does not answer.
    """
    return [_line(process_id, one, known.get(one.verification_id)) for one in claims]


def _line(process_id: str, claim: JobClaim, found: Verification | None) -> ClaimLine:
    verdict = found.verdict if found is not None and claim.status is Status.SUCCEEDED else None
    indicative = found.indicative if found is not None else False
    text = found.claim if found is not None else None
    if text is not None and len(text) > LONGEST_CLAIM:
        text = text[:LONGEST_CLAIM] + "…"
    return ClaimLine(
        place=claim.place,
        mark=mark_of(verdict, claim.status, claim.failure, indicative=indicative),
        text=text,
        claim_id=claim.claim_id,
        href=url(
            "processes",
            process_id,
            "claims",
            claim.claim_id,
            verification=claim.verification_id if verdict or claim.failure else None,
        ),
        is_running=claim.status is Status.RUNNING,
        failure=claim.failure,
        kept=_kept(found) if verdict else None,
    )


def _kept(found: Verification | None) -> str | None:
    if found is None or found.reused_from is None:
        return None
    return found.reuse_reason or "No change since the earlier version can have touched it."


MOST_TEXT = 500_000

WHICH = (
    ("unverified", "Stored claims without a verdict"),
    ("all", "All stored claims, again where they were judged with other settings"),
    ("chosen", "These claims"),
    ("answer", "What the answer states"),
    ("typed", "Statements that I type in"),
    ("extract", "Claims taken from the text by a model"),
)


@dataclass(frozen=True, slots=True)
class Filled(JobForm):
    """The fields of the form, as text.

    Attributes:
        which: Which claims; one of `WHICH`.
        texts: Claims, one on a line.
        node_id: The node that new claims are about.
        verdict_engine: The engine that gives the verdicts; nothing: as the service is set.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        verdict_model: The model that gives verdicts; nothing: the same.
        escalate_to: A stronger model for verdicts that are not sure; nothing: none.
        share: Claims of one prompt, at most.
        batch: `1`: models are asked in batches.
        batch_finish: `live`: what has no valid answer in a batch is asked live.
        batch_price_factor: What part of the price a call in a batch costs; nothing: as far as it
            is known, else half of it.
        since: An earlier version whose verdicts are kept where no change can touch them; nothing:
            none.
        claims: Stored claims, by their ids with blanks between.
        explain: `1`: the sentences that carried unsupported claims are attributed, too.
        add: `1`: what is typed in is kept as claims of the answer; else as questions.
    """

    which: str = "unverified"
    texts: str = ""
    node_id: str = ""
    verdict_engine: str = ""
    q: str = str(DEFAULT_Q)
    verdict_model: str = ""
    escalate_to: str = ""
    share: str = "1"
    batch: str = ""
    batch_finish: str = ""
    batch_price_factor: str = ""
    since: str = ""
    add: str = ""
    explain: str = ""
    claims: str = ""

    @property
    def claim_ids(self) -> list[str]:
        """The claims that were chosen."""
        return list(dict.fromkeys(self.claims.split()))


def request_of(process_id: str, filled: Filled) -> VerifyRequest:
    """Return what is asked for.

    Raises:
        InputError: A field holds what it cannot; all of them are named.
    """
    wrong: list[Violation] = []
    q = _whole(filled.q, "q", MAX_Q, wrong)
    share = _whole(filled.share, "share", MOST_SHARED, wrong)
    budget = dollars(filled.budget_usd, wrong)
    in_batches = _batch_fields(filled, wrong)
    texts = [line.strip() for line in filled.texts.splitlines() if line.strip()]
    if filled.which not in dict(WHICH):
        wrong.append(Violation("wrong_value", "which", "choose which claims are verified"))
    if filled.which == "typed" and not texts:
        wrong.append(Violation("wrong_value", "texts", "type at least one claim, one on a line"))
    if filled.which == "chosen" and not filled.claim_ids:
        wrong.append(Violation("wrong_value", "claims", "name at least one claim"))
    if len(filled.texts) > MOST_TEXT:
        wrong.append(Violation("wrong_value", "texts", f"has more than {MOST_TEXT:,} characters"))
    if wrong:
        raise InputError("Please correct this:", wrong)
    asked: dict[str, Any] = {
        "process_id": process_id,
        "q": q,
        "engine": filled.engine or None,
        "verdict_engine": filled.verdict_engine or None,
        "model": filled.model or None,
        "verdict_model": filled.verdict_model or None,
        "escalate_to": filled.escalate_to or None,
        "share": share,
        "since": filled.since.strip() or None,
        **in_batches,
        "budget_usd": budget,
        "price": filled.price or None,
        "unfinished": filled.which == "unverified",
        "explain": filled.explain == "1",
    }
    if filled.which == "chosen":
        asked |= {"claim_ids": filled.claim_ids, "again": True}
    if filled.which in {"answer", "typed", "extract"}:
        asked["node_id"] = filled.node_id or None
        asked["extract"] = filled.which == "extract"
        origin = {} if filled.add == "1" else {"origin": "asked"}
        objects = [{"text": text, **origin} for text in texts]
        asked["claims"] = objects if filled.which == "typed" else None
    return VerifyRequest.checked(asked)


def _batch_fields(filled: Filled, wrong: list[Violation]) -> dict[str, Any]:
    """Return how batches are made; what is wrong of it joins `wrong`."""
    given = {
        name: value
        for name in ("batch_finish", "batch_price_factor")
        if (value := getattr(filled, name))
    }
    if filled.batch != "1":
        words = "is for batches alone: choose “Ask in batches”, or leave it out"
        wrong += [Violation("wrong_value", name, words) for name in given]
        return {"mode": "live"}
    fields: dict[str, Any] = {"mode": "batch"}
    if filled.batch_finish == "live":
        fields["batch_finish"] = "live"
    if filled.batch_price_factor:
        part = _PART.fullmatch(filled.batch_price_factor)
        factor = float(part[0].replace(",", ".")) if part is not None else None
        if factor is None or factor > 1:
            words = "must be a number from 0 to 1, such as 0.5"
            wrong.append(Violation("wrong_value", "batch_price_factor", words))
        fields["batch_price_factor"] = factor
    return fields


_PART = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{1,10})?|[.,][0-9]{1,10}")
"""A plain number of a form."""


def _whole(text: str, name: str, most: int, wrong: list[Violation]) -> int:
    digits = text.lstrip("0")  # however many stand before it, and no more than can be read
    is_whole = text.isascii() and text.isdigit() and len(digits) <= len(str(most))
    if is_whole and 1 <= int(digits or "0") <= most:
        return int(digits)
    wrong.append(Violation("wrong_value", name, f"must be a whole number from 1 to {most:,}"))
    return 1

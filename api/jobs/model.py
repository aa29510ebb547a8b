"""Jobs: what is asked for, and how far it has come."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.graph.model.attribution import LeftOut, SentenceAttribution
from veritrail_graph.graph.model.dialogue import TurnVerification
from veritrail_graph.graph.model.job import JobKind


def run_id_of(job_id: str) -> str:
    """The id of the run that a job carries out: both ids end in the same digits."""
    return f"r-{job_id.removeprefix('j-')}"


def job_id_of(run_id: str) -> str:
    """The id of the job that carries out a run."""
    return f"j-{run_id.removeprefix('r-')}"


_JOB_ID = re.compile(r"j-[0-9a-f]{32}")


def is_job_id(job_id: str) -> bool:
    """Return whether a job can have this id."""
    return _JOB_ID.fullmatch(job_id) is not None


def kind_of(header: str) -> JobKind:
    """Return what a job does.

    Args:
        header: The header of its row.
    """
    return JobHeader.of(header).kind


def goes_whole(request: str) -> bool:
    """Return whether the claims of a job are verified all at a time.

    In batches, or with shared prompts.

    Args:
        request: The request of its row.
    """
    found = json.loads(request)
    return bool(found.get("mode") == "batch" or found.get("share", 1) > 1)


@dataclass(frozen=True, slots=True)
class Version:
    """A content of a process.

    Attributes:
        process_id: The process that its trails are stored under.
        content_hash: Its hash.
    """

    process_id: str
    content_hash: str


def since_of(header: str) -> Version | None:
    """The earlier version of the process from which a job keeps verdicts; None: from none.

    Args:
        header: The header of its row.
    """
    said = json.loads(header).get("since")
    return Version(*said) if said is not None else None


@dataclass(frozen=True, slots=True)
class JobHeader:
    """The header of a job's row; read once, however many rows it is for.

    Attributes:
        kind: What the job does.
        node_ids: The nodes whose sentences it attributes.
        turn_ids: The turns of a dialogue that it verifies.
        left_out: Nodes that were asked for, and of which no sentence is attributed.
        unjudged: How many judged labels of earlier runs it removed.
        model: The models that it asks; None: none is asked.
    """

    kind: JobKind
    node_ids: tuple[str, ...] = ()
    turn_ids: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    unjudged: int = 0
    model: str | None = None

    @classmethod
    def of(cls, header: str) -> JobHeader:
        """The header of a row, which is JSON."""
        said = json.loads(header)
        return cls(
            JobKind(said.get("kind", JobKind.VERIFICATION)),
            tuple(said.get("nodes", ())),
            tuple(said.get("turns", ())),
            tuple(LeftOut.model_validate(one) for one in said.get("left_out", ())),
            said.get(UNJUDGED, 0),
            said.get("model"),
        )

    def sentence(self, claim_id: str) -> tuple[str, int]:
        """The node, and the number in it, of the sentence of a row; see `sentence_of`."""
        return sentence_of(self.node_ids, claim_id)

    def turn(self, claim_id: str) -> str:
        """The turn_id of the turn of a row, whose `claim_id` is its place among them, from 0."""
        return self.turn_ids[int(claim_id)]


def sentence_of(node_ids: Sequence[str], claim_id: str) -> tuple[str, int]:
    """The node, and the number in it, of a sentence of a job.

    Args:
        node_ids: The nodes of the job.
        claim_id: The `claim_id` of the row of the sentence: `NODE.SENTENCE`, both from 0.
    """
    node, _, sentence = claim_id.partition(".")
    return node_ids[int(node)], int(sentence)


SENTENCE, TURN = "s-", "t-"
"""What the `verification_id` of the row of a sentence, and of a turn, begins with: it has no
verification."""

EXPLANATION = "x-"
"""What the `verification_id` of the row begins with that is the last one of a job that explains
its verdicts: it attributes the sentences of error nodes that carried the claims."""
LAST_PLACE = 2**31 - 1
"""The place of that row: behind all claims, however many are extracted."""

UNJUDGED = "unjudged"
"""The field of a header that counts the judged labels of earlier runs that a job removed."""


def explanation_row() -> dict[str, Any]:
    """A new row of an explanation."""
    return {
        "verification_id": f"{EXPLANATION}{uuid.uuid4().hex}",
        "claim_id": "",
        "status": Status.QUEUED.value,
        "reused": False,
        "place": LAST_PLACE,
    }


def is_explanation(verification_id: str) -> bool:
    """Return whether a row of a job is that of its explanation, and no claim, sentence or turn."""
    return verification_id.startswith(EXPLANATION)


OPEN_CLAIMS = frozenset({Status.QUEUED, Status.RUNNING})


@dataclass(frozen=True, slots=True)
class Work:
    """Something that is to be done of a job: a claim, a sentence, a turn, or a part of its own.

    Attributes:
        job_id: The job.
        verification_id: The claim's verification, or the id of the sentence, the turn or the
            explanation (`EXPLANATION`); "": the extraction of claims, or all turns of a dialogue,
            one after the other.
        attempt: How often it was taken up, from 1.
        priority: Its turn; lower ones come first.
    """

    job_id: str
    verification_id: str
    attempt: int
    priority: int = 1

    @property
    def workflow_id(self) -> str:
        """Its id in the engine: whatever is enqueued twice under it is done once."""
        return f"{self.job_id}/{self.verification_id}/{self.attempt}"


@dataclass(frozen=True, slots=True)
class JobClaim:
    """A claim, a sentence or a turn of a job.

    Attributes:
        place: Its place in the job.
        verification_id: Its verification; of a sentence an id that begins with `SENTENCE`, of a
            turn one that begins with `TURN`.
        claim_id: The claim; of a sentence or turn its place, see `JobHeader`.
        status: Its state.
        failure: Why it has no verdict.
    """

    place: int
    verification_id: str
    claim_id: str
    status: Status
    failure: str | None


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome of a claim, a sentence or a turn.

    Attributes:
        of: The claim, the sentence or the turn.
        status: How it ended.
        failure: Why, if it has no verdict.
        usage: What it cost this time.
        event: What `claim.finished`, `sentence.finished` or `turn.finished` holds.
    """

    of: Work
    status: Status
    failure: str | None
    usage: Usage
    event: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JobFigures:
    """All jobs that are kept.

    Attributes:
        jobs: How many, by status.
        claims: How many claims, sentences and turns, by status.
        workers: Workers that live.
        to_do: Claims, sentences and turns that are left to workers; a job whose claims are not
            known yet counts as one.
        calls: Calls of models for these claims, those aside that were answered from the cache.
        tokens: Tokens by kind: `input`, `cached_input`, `output`, `reasoning`.
        cost_usd: What it cost, where prices are known; None: no price is.
        unpriced_calls: Calls whose price is not known.
    """

    jobs: Mapping[str, int]
    claims: Mapping[str, int]
    workers: int
    to_do: int
    calls: int
    tokens: Mapping[str, int]
    cost_usd: float | None
    unpriced_calls: int


class EventKind(StrEnum):
    """A kind of event."""

    JOB_STARTED = "job.started"
    """Work on the job begins, or begins again."""
    JOB_RESUMED = "job.resumed"
    """What a job that had ended left without a verdict is taken up again."""
    CLAIM_STARTED = "claim.started"
    SENTENCE_STARTED = "sentence.started"
    SENTENCE_FINISHED = "sentence.finished"
    TURN_STARTED = "turn.started"
    TURN_FINISHED = "turn.finished"
    ITERATION_FINISHED = "iteration.finished"
    CLAIM_FINISHED = "claim.finished"
    EXPLANATION_STARTED = "explanation.started"
    EXPLANATION_FINISHED = "explanation.finished"
    JOB_FINISHED = "job.finished"
    """Nothing of the job is left to do; the stream ends here."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event as it is stored.

    Attributes:
        seq: Its number in the job, from 1.
        kind: What it is about.
        data: What there is to tell, as JSON.
        at: When it happened, ISO 8601 in UTC.
    """

    seq: int
    kind: str
    data: str
    at: str


@dataclass(frozen=True, slots=True)
class PartProgress:
    """The progress hooks of the sentences or turns of a job; every hook is optional.

    Attributes:
        call_made: Called with the usage of each call.
        attributed: Called with a sentence that has ended, and the node that holds it.
        verified: Called with a turn that has ended, and whether it was stored before.
    """

    call_made: Callable[[Usage], None] = lambda _usage: None
    attributed: Callable[[str, SentenceAttribution], None] = lambda _node_id, _sentence: None
    verified: Callable[[TurnVerification, bool], None] = lambda _turn, _kept: None


UNWATCHED = PartProgress()


class Busy(InputError):
    """The error of a request that a job cannot accept at this moment."""

    code = "job_busy"


class OtherInput(InputError):
    """Something else was submitted under the same idempotency key."""

    code = "idempotency_conflict"

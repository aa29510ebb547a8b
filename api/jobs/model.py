"""Jobs: what is asked for, and how far it has come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from veritrail_graph.graph.content_hash import canonical
from veritrail_graph.graph.model import Status, Usage
from veritrail_graph.verifier.driver import DEFAULT_Q


class JobStatus(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """At least one verification did not succeed, or no claims could be extracted."""
    CANCELLED = "cancelled"


OPEN = frozenset({JobStatus.QUEUED, JobStatus.RUNNING})
"""Jobs of which something is left to do."""

OPEN_CLAIMS = frozenset({Status.QUEUED, Status.RUNNING})


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Which claims are verified, and how; nothing in it names a place or a secret of the server.

    Attributes:
        process_id: The process.
        claims: Claims given on the spot, as objects of the process file.
        claim_ids: Stored claims.
        extract: Extract the claims from the node.
        node_id: The node that new claims are about; None: the only terminal.
        unfinished: Leave out claims whose latest verification succeeded.
        retry_failed: Only claims whose latest verification did not succeed.
        again: Verify again what was verified with the same settings.
        q: Consecutive Not Fully Supported verdicts that stop a walk.
        engine: The engine of judgement; None: as the service is set.
        model: The model of all steps that have none of their own.
        claims_model: The model that extracts claims and takes them apart.
        selection_model: The model that selects evidence.
        verdict_model: The model that gives verdicts.
        budget_usd: What the job may cost.
        max_calls: The calls that it may make.
        price: USD per million tokens, as INPUT,OUTPUT[,CACHED].
        samples: Answers drawn to each prompt.
        threshold: How many of them must agree; None: more than half.
        max_root_sentences: Sentences of roots in a prompt; None: what the window holds.
        max_sentences: Sentences of other nodes in a prompt; None: what the window holds.
        verdict_sentences: Sentences of a verdict prompt without roots.
        max_reruns: Selections again from evidence that is too much.
        sub_claims: Whether a model takes claims apart.
        structured: Whether the endpoint is told the shape of the answers.
        use_cache: Whether answers come from the cache of answers, and go into it.
    """

    process_id: str
    claims: tuple[Mapping[str, Any], ...] = ()
    claim_ids: tuple[str, ...] = ()
    extract: bool = False
    node_id: str | None = None
    unfinished: bool = False
    retry_failed: bool = False
    again: bool = False
    q: int = DEFAULT_Q
    engine: str | None = None
    model: str | None = None
    claims_model: str | None = None
    selection_model: str | None = None
    verdict_model: str | None = None
    budget_usd: float | None = None
    max_calls: int | None = None
    price: str | None = None
    samples: int = 1
    threshold: int | None = None
    max_root_sentences: int | None = 40
    max_sentences: int | None = 40
    verdict_sentences: int = 200
    max_reruns: int = 2
    sub_claims: bool = True
    structured: bool = False
    use_cache: bool = True

    def to_json(self) -> str:
        """One spelling of the request: equal requests have equal texts."""
        return canonical(asdict(self)).decode()

    @classmethod
    def from_json(cls, text: str) -> JobRequest:
        """What `to_json` wrote."""
        values = json.loads(text)
        lists = {name: tuple(values[name]) for name in ("claims", "claim_ids")}
        return cls(**{**values, **lists})


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands.

    Attributes:
        job_id: Its id.
        run_id: The run that its verifications belong to.
        process_id: The process.
        status: Where it stands.
        cancelling: Whether it was cancelled and something of it still runs.
        name: Who submitted it.
        key_id: The key of whoever submitted it; None: no key was asked for.
        verification_ids: Its verifications, in the order of the claims.
        counts: How many of them have each status; only those that occur.
        usage: What it has cost until now.
        reused: How many verifications were stored before, with the same settings.
        error: Why nothing more can be done, where one reason holds for all.
        created_at: When it was submitted, ISO 8601 in UTC.
        started_at: When work on it began.
        ended_at: When nothing was left to do.
        asks_models: Whether its engine asks models.
    """

    job_id: str
    run_id: str
    process_id: str
    status: JobStatus
    cancelling: bool
    name: str
    key_id: str | None
    verification_ids: tuple[str, ...]
    counts: Mapping[str, int]
    usage: Usage = field(default_factory=Usage)
    reused: int = 0
    error: str | None = None
    created_at: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    asks_models: bool = False

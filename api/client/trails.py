"""What the operations answer about verifications and jobs.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from veritrail_graph.api.app import findings
from veritrail_graph.api.client import page
from veritrail_graph.api.client.answers import Answer


class Sentence(Answer):
    """A sentence that was selected, and as what."""

    node_id: str
    sentence: int
    start: int
    end: int
    text: str
    role: str = "evidence"


class Summary(Answer):
    """What selected sentences say together."""

    text: str
    missing: str | None = None
    node_ids: list[str] = Field([])


class Iteration(Answer):
    """One round of evidence selection and verdict generation."""

    number: int
    verdict: str
    reasoning: str
    checked: list[str] = Field([])
    carried_roots: list[str] = Field([])
    evidence: list[Sentence] = Field([])
    summaries: list[Summary] = Field([])


class Usage(Answer):
    """What the calls to language models came to. A null cost is unknown, not free."""

    calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class Verification(Answer):
    """One verification of one claim with its trail; an object of `verify --json`."""

    verification_id: str
    process_id: str
    claim_id: str
    claim: str
    node_id: str
    q: int
    sub_claims: list[str] = Field([])
    engine: str
    model: str | None = None
    indicative: bool = False
    created_at: str
    status: str
    verdict: str | None = None
    reasoning: str | None = None
    score: float | None = None
    termination: str | None = None
    error_stages: list[int] = Field([])
    error_nodes: list[str] = Field([])
    iterations: list[Iteration] = Field([])
    usage: Usage = Usage()
    error: str | None = None

    def __repr__(self) -> str:
        return f"<Verification {self.verification_id}: {self.verdict or self.status}>"

    def _repr_html_(self) -> str:
        return page.trail(self)


class VerificationHeader(findings.VerificationHeader):
    """A verification without its trail."""


class Provenance(findings.Provenance):
    """Paths of evidence, each down to the verified node."""

    def _repr_html_(self) -> str:
        return page.provenance(self)


class ErrorOrigin(findings.ErrorOrigin):
    """Where unsupported content was introduced, and the later nodes that inherited it."""


class Difference(findings.DifferenceFound):
    """Where two trails part; what `diff --json` prints."""


class JobState(Answer):
    """Where a job stands. `failed`: at least one verification did not succeed."""

    job_id: str
    status: str
    process_id: str | None = None
    verification_ids: list[str] = Field([])
    counts: dict[str, int] = Field({})
    usage: Usage = Usage()

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens unless it is resumed."""
        return self.status in {"succeeded", "failed", "cancelled"}

    def _repr_html_(self) -> str:
        return page.job(self)


class Event(Answer):
    """Something that happened in a job.

    Attributes:
        id: Its id; a stream that broke goes on behind it.
        kind: `claim.started`, `iteration.finished`, `claim.finished` or `job.finished`.
        data: What is told of it.
    """

    id: str
    kind: str
    data: dict[str, Any] = Field({})

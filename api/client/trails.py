"""What the operations answer about verifications and jobs.

Source: VeriTrail 3.2 (what a verification returns).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from veritrail_graph.api.app import findings
from veritrail_graph.api.client import page
from veritrail_graph.api.client.answers import Answer
from veritrail_graph.graph import model
from veritrail_graph.graph.model import Usage


class Verification(model.Verification):
    """One verification of one claim with its trail; an object of `verify --json`."""

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

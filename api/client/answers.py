"""What the operations answer, as typed values that a notebook can show.

What a newer service says besides is kept and can be read by its name. Texts of nodes and
claims are untrusted: they are shown as text, never as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from veritrail_graph.api.client import page

T = TypeVar("T")


class Answer(BaseModel):
    """A JSON object of an answer."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    def as_json(self) -> dict[str, Any]:
        """The object as it was sent."""
        return self.model_dump(mode="json", exclude_unset=True)


class Health(Answer):
    """Whether the service lives, or is ready to work."""

    status: str


class Ingested(Answer):
    """What an ingest did; what `ingest --json` prints."""

    process_id: str
    name: str
    status: str
    nodes: int
    edges: int
    claims: int
    claims_added: int = 0
    terminals: list[str] = []
    stages: dict[str, int] = {}
    warnings: list[str] = []

    def _repr_html_(self) -> str:
        return page.process(self)


class Process(Answer):
    """A stored process; in a list it has no terminals, stages and warnings."""

    process_id: str
    name: str
    status: str = "ready"
    nodes: int = 0
    edges: int = 0
    claims: int = 0
    verdicts: dict[str, int] = {}
    question: str | None = None
    terminals: list[str] = []
    warnings: list[str] = []

    def _repr_html_(self) -> str:
        return page.process(self)


class Node(Answer):
    """A node; with its text where that was asked for."""

    node_id: str
    stage: int
    role: str | None = None
    kind: str | None = None
    step: str | None = None
    text: str | None = None


class LineageNode(Answer):
    """A node of a lineage, with how many neighbours it has and how many are not shown."""

    node_id: str
    stage: int
    upstream_count: int = 0
    downstream_count: int = 0
    hidden_upstream: int = 0
    hidden_downstream: int = 0


class Edge(Answer):
    """An edge, with the data flow."""

    source: str
    target: str


class Lineage(Answer):
    """What a node was made of, or went into."""

    root: str
    nodes: list[LineageNode]
    edges: list[Edge]
    complete: bool
    truncated_by: str | None = None


class Stage(Answer):
    """A stage: its nodes, the claims introduced wrong there, the sentences cited from it."""

    stage: int
    name: str | None = None
    nodes: int = 0
    claims_with_errors: int = 0
    sentences_cited: int = 0


class Review(Answer):
    """What a person said of a claim; nothing of the model's is replaced by it."""

    review_id: str
    claim_id: str
    verdict: str
    kind: str
    reason: str = ""
    reviewer: str = ""
    created_at: str = ""
    overrides: str | None = None
    model_verdict: str | None = None


class Agreement(Answer):
    """How far people agree with the model, and with each other."""

    process_id: str
    reviews: int
    claims: int
    unclear: int
    disputed: int
    overall: dict[str, Any] = {}


class Claim(Answer):
    """A stored claim, with its latest verdict and what people said of it."""

    claim_id: str
    text: str
    node_id: str
    start: int | None = None
    end: int | None = None
    sub_claims: list[str] = []
    label: str | None = None
    verdict: str | None = None
    verification_id: str | None = None
    indicative: bool | None = None
    error_stages: list[int] = []
    verifications: int = 0
    review: str | None = None
    reviewed_verdict: str | None = None
    reviews: int = 0
    disputed: bool = False

    def _repr_html_(self) -> str:
        return page.claims([self])


class AddedClaims(Answer):
    """The claims that were given, as they are stored, and how many of them are new."""

    process_id: str
    claims: list[Claim]
    claims_added: int


class Query(Answer):
    """A query of the library, as its header describes it."""

    name: str
    group: str | None = None
    purpose: str
    parameters: list[dict[str, Any]] = []
    columns: list[dict[str, Any]] = []
    example: dict[str, str] = {}


class Rows(Answer):
    """The answer of a query: columns and rows."""

    columns: list[str]
    rows: list[list[Any]]
    truncated: bool = False
    indicative: bool | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def records(self) -> list[dict[str, Any]]:
        """The rows as objects by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _repr_html_(self) -> str:
        return page.rows(self)


class Page(Answer, Generic[T]):
    """A part of a list, and where the next begins."""

    items: list[T]
    next_cursor: str | None = Field(default=None, alias="nextCursor")


class Listed(list[T]):
    """A list of answers that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return page.table(self)


def page_of(answer: type[Any], key: str, document: Mapping[str, Any]) -> Page[Any]:
    """A page whose items stand under a key of the answer."""
    items = [answer.model_validate(one) for one in document[key]]
    return Page(items=items, nextCursor=document.get("nextCursor"))

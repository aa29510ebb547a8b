"""Answers about claims, verifications, reviews and queries: JSON objects that every door shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from veritrail_graph.api.app.answers import Page
from veritrail_graph.graph.model import (
    Claim,
    LocatedBy,
    ValuePlace,
    VerificationHeader,
)
from veritrail_graph.graph.model.attribution import AttributedNode, StoredSentence
from veritrail_graph.graph.model.dialogue import DialogueRun, DialogueRunSummary, Turn
from veritrail_graph.graph.model.listed import ClaimFound
from veritrail_graph.graph.model.noun import Answer
from veritrail_graph.graph.model.queried import Query
from veritrail_graph.graph.near_duplicates import NearDuplicate

if TYPE_CHECKING:
    from veritrail_graph.graph.model.attribution import StoredNodeAttribution
    from veritrail_graph.graph.model.listed import Removed


class ClaimPage(Page):
    """A page of claims, in the order of the input."""

    claims: list[ClaimFound]


class NearDuplicatesFound(Answer):
    """Claims that may repeat others, for a person to remove."""

    process_id: str
    near_duplicates: list[NearDuplicate]


class ClaimsStored(Answer):
    """The claims that were given, and how many of them are new."""

    process_id: str
    claims: list[Claim]
    claims_added: int


class ClaimsLabelled(Answer):
    """How many claims were labelled."""

    process_id: str
    labelled: int


class ClaimMerged(Answer):
    """The claim that replaces others, and what was removed with them."""

    process_id: str
    claim: Claim
    removed_claims: int
    removed_verifications: int
    removed_reviews: int

    @classmethod
    def of(cls, process_id: str, claim: Claim, removed: Removed) -> ClaimMerged:
        """The answer for a claim as it is stored now."""
        return cls.model_construct(
            process_id=process_id,
            claim=claim,
            removed_claims=removed.claims,
            removed_verifications=removed.verifications,
            removed_reviews=removed.reviews,
        )


class VerificationPage(Page):
    """A page of verifications without their trails, newest first."""

    verifications: list[VerificationHeader]


class AttributionPage(Page):
    """A page of the attributed sentences of a node, in their order."""

    process_id: str
    node_id: str
    attributions: list[StoredSentence]

    @classmethod
    def of(cls, found: StoredNodeAttribution, behind: Any) -> AttributionPage:
        """The page of what was found.

        Args:
            found: The sentences.
            behind: Where the next page begins; None: there is none.
        """
        return cls.model_construct(
            process_id=found.process_id,
            node_id=found.node_id,
            attributions=list(found.sentences),
            nextCursor=behind,
        )


class AttributedNodePage(Page):
    """A page of the nodes that hold attributed sentences, by stage and place."""

    attributed_nodes: list[AttributedNode]


TURNS = 200
"""Verified turns of one answer, where no other number is asked for."""


class DialoguePage(Page, DialogueRun):
    """What was found of the assistant's turns; of a long dialogue a page of it."""

    @classmethod
    def of(cls, found: DialogueRun, behind: Any) -> DialoguePage:
        """The page of what was found.

        Args:
            found: What was found of the turns of the page.
            behind: Where the next page begins; None: there is none.
        """
        return cls.model_construct(**found.__dict__, nextCursor=behind)


class DialogueRuns(Answer):
    """The runs in which turns of a dialogue were verified, newest first."""

    dialogue_runs: list[DialogueRunSummary]


class TurnPage(Page):
    """A page of the turns of a dialogue as they were said."""

    turns: list[Turn]


class RunOfRecord(Answer):
    """The run whose verdicts count for a process, whatever else was verified."""

    process_id: str
    run_of_record: str | None = Field(description="The run that is pinned, or null.")
    claims: int = Field(description="How many claims have a verdict of the run that was named.")


class AboutVerification(Answer):
    """The verification that an answer is about."""

    verification_id: str
    process_id: str = ""
    claim_id: str = ""
    node_id: str = ""
    status: str = ""
    verdict: str | None = None
    indicative: bool = False


class PathSentence(Answer):
    """A sentence on a path of evidence."""

    sentence: int
    role: str = "evidence"
    text: str


class PathStep(Answer):
    """A node on a path of evidence; `via`: nodes without evidence before the next step."""

    node_id: str
    stage: int
    role: str | None = None
    via: list[str] = Field([])
    sentences: list[PathSentence] = Field([])


class Provenance(AboutVerification):
    """Paths of evidence down to the verified node; those that begin in roots come first."""

    paths: list[list[PathStep]] = Field([])
    paths_complete: list[bool] = Field([], description="Of each path: whether it begins in a root.")
    complete: bool = Field(description="Whether there are paths, all of them begin in roots.")
    truncated: bool = Field(False, description="Whether there are more paths.")
    path_count: int = Field(0, description="How many paths there are; counted to 10^15.")
    complete_path_count: int = Field(0, description="How many of them begin in roots.")


class ErrorStep(Answer):
    """A node of an error path."""

    node_id: str
    stage: int
    kind: str | None = None
    step: str | None = None
    model: str | None = None
    prompt: str | None = None
    inherits_from: list[str] = Field([])
    sentences: list[str] = Field([])
    text: str = ""


class ErrorOrigin(AboutVerification):
    """Where unsupported content was introduced, and the later nodes that inherited it."""

    error_stages: list[int] = Field([])
    introduced: list[ErrorStep] = Field([])
    inherited: list[ErrorStep] = Field([])
    located_by: LocatedBy | None = Field(
        None,
        description="How the place was found: `verdicts` or `value`; null: it was not. With "
        "`value` and nothing in `introduced`, `value_place` is an offer.",
    )
    value_place: ValuePlace | None = Field(
        None, description="Where a value of the claim came in, with the two sentences."
    )


class QueryList(Answer):
    """The queries of the library."""

    queries: list[Query]

"""The operations, each described once: what is asked, how the answer is read, what may be retried.

Nothing here sends anything: the same descriptions serve plain and asynchronous callers, over
REST and in process (`api.client.operations` lists them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from veritrail_graph.api.client.answers import (
    AddedClaims,
    Agreement,
    Answer,
    Claim,
    Health,
    Ingested,
    Lineage,
    Listed,
    Node,
    Page,
    Process,
    Query,
    Review,
    Rows,
    Stage,
)
from veritrail_graph.api.client.call import (
    PAGE,
    Call,
    Source,
    get_call,
    list_call,
    post_call,
    process_path,
)

Direction = Literal["upstream", "downstream", "both"]
ReviewName = Literal["none", "any", "confirmed", "overridden", "unclear"]
ReviewVerdict = Literal["FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE", "UNCLEAR"]
VerdictName = Literal["FULLY_SUPPORTED", "NOT_FULLY_SUPPORTED", "INCONCLUSIVE"]

INGEST_SECONDS = 3_600.0
"""How long the answer to an upload may take: a large process is stored meanwhile."""


A = TypeVar("A", bound=Answer)


def health() -> Call[Health]:
    """Whether the service lives; it says nothing of the graph."""
    return get_call("health", "/healthz", Health)


def ready() -> Call[Health]:
    """Whether the graph engine answers too."""
    return get_call("ready", "/readyz", Health)


def ingest(
    source: Source,
    *,
    process_id: str | None = None,
    replace: bool = False,
    append: bool = False,
    force: bool = False,
) -> Call[Ingested]:
    """Store a process.

    Args:
        source: The path of a process file (gzip as it is), a document, or the objects of its lines.
        process_id: Stands in place of the source's own.
        replace: Whether another content under the id is replaced, with its verifications.
        append: Whether what is new is added to the stored process.
        force: Replace also while jobs verify its claims, which then fail or are cancelled.

    Raises:
        Rejected: It breaks rules; `violations` lists all of them, and nothing was stored.
        Conflict: Another content is stored under the id, or jobs verify what would be replaced.
    """
    return Call(
        "ingest",
        "POST",
        "/v1/processes",
        Ingested.model_validate,
        query={
            "process_id": process_id,
            "replace": replace or None,
            "append": append or None,
            "force": force or None,
        },
        source=source,
        seconds=INGEST_SECONDS,
    )


def processes(*, page: int = PAGE) -> Call[Page[Process]]:
    """The stored processes, in the order of their ids."""
    return list_call("processes", "/v1/processes", Process, {"limit": page})


def process(process_id: str) -> Call[Process]:
    """One process, with its counts and verdicts."""
    return get_call("process", process_path(process_id), Process)


def delete(process_id: str, *, force: bool = False) -> Call[None]:
    """Delete a process with its claims and verifications.

    Args:
        process_id: The process.
        force: Also while jobs verify its claims, which then fail or are cancelled.
    """
    return Call("delete", "DELETE", process_path(process_id), _nothing, {"force": force or None})


def nodes(
    process_id: str,
    *,
    stage: int | None = None,
    role: str | None = None,
    text: str | None = None,
    with_text: bool = False,
    page: int = PAGE,
) -> Call[Page[Node]]:
    """The nodes of a process.

    Args:
        process_id: The process.
        stage: Only those of a stage.
        role: Only root, intermediate or terminal nodes.
        text: Only those whose text holds this.
        with_text: Whether the texts come along.
        page: Nodes in one answer.
    """
    query = {"stage": stage, "role": role, "text": text, "limit": page}
    query["fields"] = "text" if with_text else None
    return list_call("nodes", process_path(process_id, "nodes"), Node, query)


def nodes_by_id(
    process_id: str, node_ids: Sequence[str], *, with_text: bool = True
) -> Call[Listed[Node]]:
    """Some nodes by their ids."""
    body = {"node_ids": list(node_ids), "fields": ["text"] if with_text else []}
    path = process_path(process_id, "nodes:batchGet")
    return post_call("nodes_by_id", path, partial(_items, Node, "nodes"), body, is_repeatable=True)


def lineage(
    process_id: str,
    node_id: str,
    *,
    direction: Direction = "upstream",
    depth: int = 1,
    limit: int | None = None,
) -> Call[Lineage]:
    """What a node was made of, or went into.

    Args:
        process_id: The process.
        node_id: Where to begin.
        direction: `upstream`: against the data flow; `downstream`: with it.
        depth: How far; 1: direct neighbours.
        limit: The most nodes.
    """
    query = {"node_id": node_id, "direction": direction, "depth": depth, "limit": limit}
    return get_call("lineage", process_path(process_id, "lineage"), Lineage, query)


def stages(process_id: str) -> Call[Listed[Stage]]:
    """The stages of a process: nodes, claims introduced wrong there, sentences cited."""
    path = process_path(process_id, "stages")
    return Call("stages", "GET", path, partial(_items, Stage, "stages"))


def claims(
    process_id: str,
    *,
    verdict: VerdictName | Literal["none"] | None = None,
    error_stage: int | None = None,
    review: ReviewName | None = None,
    node_id: str | None = None,
    page: int = PAGE,
) -> Call[Page[Claim]]:
    """The claims of a process, with their latest verdicts and reviews.

    Args:
        process_id: The process.
        verdict: Only those with this verdict; `none`: only those without one.
        error_stage: Only those that went wrong at this stage.
        review: Only those of which people said this.
        node_id: Only those about this node.
        page: Claims in one answer.
    """
    query: dict[str, Any] = {"verdict": verdict, "error_stage": error_stage, "review": review}
    query |= {"node_id": node_id, "limit": page}
    return list_call("claims", process_path(process_id, "claims"), Claim, query)


def claim(process_id: str, claim_id: str) -> Call[Claim]:
    """One claim."""
    return get_call("claim", process_path(process_id, "claims", claim_id), Claim)


def add_claims(
    process_id: str, claims: Sequence[str | Mapping[str, Any]], *, node_id: str | None = None
) -> Call[AddedClaims]:
    """Store claims, all or none; nothing is verified.

    Args:
        process_id: The process.
        claims: Texts, or objects as in a process file.
        node_id: What claims are about that do not say; default: the only terminal.
    """
    body = {"claims": list(claims), **({"node_id": node_id} if node_id is not None else {})}
    path = process_path(process_id, "claims")
    return post_call("add_claims", path, AddedClaims.model_validate, body, is_repeatable=True)


def edit_claim(process_id: str, claim_id: str, text: str, *, force: bool = False) -> Call[Claim]:
    """Give a claim another text; with `force` also when it was verified."""
    path = process_path(process_id, "claims", claim_id)
    query = {"force": force or None}
    return Call("edit_claim", "PATCH", path, Claim.model_validate, query, {"text": text})


def delete_claim(process_id: str, claim_id: str, *, force: bool = False) -> Call[None]:
    """Remove a claim; with `force` its verifications and reviews go too."""
    path = process_path(process_id, "claims", claim_id)
    return Call("delete_claim", "DELETE", path, _nothing, {"force": force or None})


def review(
    process_id: str,
    claim_id: str,
    *,
    verdict: ReviewVerdict,
    reason: str = "",
    reviewer: str | None = None,
    overrides: str | None = None,
) -> Call[Review]:
    """Say what a person holds of a claim; the model's verdict stays beside it.

    Args:
        process_id: The process.
        claim_id: The claim.
        verdict: What the person holds; UNCLEAR: the claim itself is unclear.
        reason: Why; may be empty only where it confirms the model's verdict.
        reviewer: Who says so; default: the name of the key, or in process who is logged in.
        overrides: The verification that is spoken of; default: the latest that succeeded.
    """
    body = {"verdict": verdict, "reason": reason, "reviewer": reviewer, "overrides": overrides}
    path = process_path(process_id, "claims", claim_id, "reviews")
    given = {key: value for key, value in body.items() if value is not None}
    return post_call("review", path, Review.model_validate, given)


def reviews(
    process_id: str, claim_id: str | None = None, *, page: int = PAGE
) -> Call[Page[Review]]:
    """The reviews of a process, or of one of its claims, newest first."""
    of = ("claims", claim_id) if claim_id is not None else ()
    return list_call("reviews", process_path(process_id, *of, "reviews"), Review, {"limit": page})


def agreement(process_id: str) -> Call[Agreement]:
    """How far people agree with the model, and with each other, as figures."""
    return get_call("agreement", process_path(process_id, "reviews", "agreement"), Agreement)


def queries() -> Call[Listed[Query]]:
    """The query library, with parameters and columns."""
    return Call("queries", "GET", "/v1/queries", partial(_items, Query, "queries"))


def query(name: str, /, **params: Any) -> Call[Rows]:
    """Ask the graph a named question; the parameters are those of the query."""
    path = f"/v1/queries/{quote(name, safe='')}"
    return post_call("query", path, Rows.model_validate, {"params": params}, is_repeatable=True)


def _items(answer: type[A], key: str, document: Mapping[str, Any]) -> Listed[A]:
    return Listed(answer.model_validate(one) for one in document[key])


def _nothing(_document: Any) -> None:
    """What is answered when something was removed."""

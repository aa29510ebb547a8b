"""The faults of a graph engine, in our own words.

The driver's words are kept only where they help; each message says what, where and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neo4j.exceptions import (
    AuthError,
    ConstraintError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    UnsupportedServerProduct,
)

from veritrail_graph.graph.errors import (
    BeingWritten,
    CommitInDoubt,
    EngineError,
    EngineUnavailable,
    QueryTimeout,
    ReadOnlyGraph,
    StoreFull,
    VeriTrailError,
)

if TYPE_CHECKING:
    from veritrail_graph.graph.store.database import DatabaseAddress

# What engines say of a full disk; ArcadeDB only says that the commit failed.
_FULL = (
    "no space left",
    "file too large",
    "disk quota",
    "not enough disk",
    "transaction error on commit",
    "could not append transaction",
)
# What Neo4j's database `system` says of every statement that is not about administration.
_SYSTEM = "the following unsupported clauses were used"
# Neo4j closes a database that could not write.
_BROKEN = "encountered a critical error"
# What ArcadeDB says when two writers meet and it has not called that a transient error.
_COLLISIONS = ("retry the operation", "concurrent commit", "concurrent modification")
# ArcadeDB ends a query whose rows do not fit into the share of its heap.
_TOO_MUCH = "heap budget exceeded"
_NO_BOLT = ("handshake response", "looks like http")
# We ask for statements without notifications, which the driver refuses to older servers.
_OLD = "is not supported for the bolt protocol"
_DEPTH = 6
# What both engines say of a node whose key is taken: its label, and the values of the key.
_ON_NEO4J = re.compile(r"with label `([^`]+)` and propert(?:y|ies) (.+)", re.DOTALL)
_EMBEDDED = re.compile(
    r"Duplicated key \[((?:(?!Duplicated key \[).)*)\] found on index '(\w+)\[([\w,]+)\]'",
    re.DOTALL,
)
_MOST = 200

_HELD = (
    "Other writers held the same nodes of the graph at {uri} for too long. Nothing is lost, and "
    "nothing of this step was stored: run the command again."
)
# By the end of the engine's code: what it means, and what to do. `{uri}`, `{database}`, `{user}`
# and `{said}`, the engine's own words, are filled in.
_BY_CODE: dict[str, tuple[type[VeriTrailError], str]] = {
    "Security.AuthenticationRateLimit": (
        EngineUnavailable,
        "The graph engine at {uri} refuses every login for some seconds, after several wrong "
        "passwords. Check NEO4J_USERNAME and NEO4J_PASSWORD, wait, and try again.",
    ),
    "Security.CredentialsExpired": (
        EngineUnavailable,
        "The graph engine at {uri} asks user {user!r} for a new password before anything else. "
        "Set one with `ALTER CURRENT USER SET PASSWORD FROM 'old' TO 'new'` in Neo4j Browser or "
        "cypher-shell, and NEO4J_PASSWORD to it.",
    ),
    "Security.Forbidden": (
        EngineError,
        "The graph engine at {uri} does not allow this to user {user!r}: {said}",
    ),
    "General.WriteOnReadOnlyAccessDatabase": (
        ReadOnlyGraph,
        "The database at {uri} is set read-only: what is stored can be read, but nothing can be "
        "stored. Take it out of `server.databases.default_to_read_only` or "
        "`server.databases.read_only` in neo4j.conf, or name another in NEO4J_DATABASE.",
    ),
    "Database.DatabaseNotFound": (
        EngineUnavailable,
        "The graph engine at {uri} has no database {database!r}; check {named_by}.",
    ),
    "General.DatabaseUnavailable": (
        EngineUnavailable,
        "The graph engine at {uri} runs, but its database is not available: it is starting, was "
        "stopped, or could not be opened. Its log (neo4j.log, debug.log) says which.",
    ),
    "Transaction.DeadlockDetected": (EngineError, _HELD),
    "Transaction.LockClientStopped": (EngineError, _HELD),
    "Transaction.LockAcquisitionTimeout": (EngineError, _HELD),
    "General.MemoryPoolOutOfMemoryError": (
        EngineError,
        "The graph engine at {uri} would need more memory than it may take: {said} Raise "
        "`dbms.memory.transaction.total.max` or the heap in neo4j.conf, or ask for less.",
    ),
}
_SCHEMA = (
    "The graph at {uri} holds constraints, indexes or nodes of another application that are in "
    "the way of ours: {said} Nothing of it was changed. Give VeriTrail a database of its own "
    "(NEO4J_DATABASE, or another server in NEO4J_URI), or drop what the message names if "
    "it is not needed; docs/operations.md says what is shared."
)


def named(error: Exception, address: DatabaseAddress) -> VeriTrailError:
    """A fault of the driver or the engine, as one of ours."""
    said = _said(error)
    if any(words in said.lower() for words in _FULL):
        return StoreFull(
            f"The graph engine at {address.uri} could not store what it was given: most likely "
            "its disk has no room left. Nothing of this step was stored. Free disk space and run "
            "the command again."
        )
    if isinstance(error, ConstraintError):
        return BeingWritten(_taken_words(said), code="already_written")
    if isinstance(error, IncompleteCommit):
        return in_doubt(address)
    if _BROKEN in said.lower():
        return EngineUnavailable(
            f"The database at {address.uri} has stopped after a critical error, most often a full "
            "disk: its log (debug.log) says which. Make room, restart the server, and try "
            "again."
        )
    if _TOO_MUCH in said.lower():
        return EngineError(
            f"The graph engine at {address.uri} has no memory for so much at once, beside what "
            "else it is asked for. Ask for less, or again in a moment; a Neo4j server takes more."
        )
    if _OLD in said.lower():
        return EngineUnavailable(
            f"The graph engine at {address.uri} is too old: it speaks Bolt below 5.2. Neo4j 5.7 "
            "or later is needed (tried with 5.26)."
        )
    if _SYSTEM in said.lower():
        return EngineUnavailable(
            f"The database {address.database or 'of this user'} at {address.uri} is the one in "
            "which Neo4j keeps its own records; it holds no graphs. Name another in "
            "NEO4J_DATABASE, or leave it out for the usual one."
        )
    if isinstance(error, Neo4jError) and (found := _by_code(error, said, address)) is not None:
        return found
    if isinstance(error, AuthError):
        return _refused(address)
    if isinstance(error, ServiceUnavailable | SessionExpired | UnsupportedServerProduct | OSError):
        return EngineUnavailable(_unreachable(error, address.uri))
    return EngineError(f"The graph engine at {address.uri} reports: {_first_line(said)}")


def in_doubt(address: DatabaseAddress) -> CommitInDoubt:
    """The connection was lost while the engine stored something, and it never said that it did."""
    return CommitInDoubt(
        f"The connection to the graph engine at {address.uri} was lost while it was storing; "
        "whether it stored is not known. Run the command again: nothing is stored twice."
    )


def too_long(seconds: float) -> QueryTimeout:
    """A query that was not answered in the time that it may take."""
    return QueryTimeout(
        f"The query took longer than {seconds:g} seconds and was given up. Ask for less with its "
        "parameters, or allow more time with VERITRAIL_QUERY_SECONDS."
    )


def closed(address: DatabaseAddress) -> EngineUnavailable:
    """The connection was closed by this program while a caller waited for an answer."""
    return EngineUnavailable(
        f"The connection to the graph engine at {address.uri} was closed; try again."
    )


def silent(address: DatabaseAddress, seconds: float) -> EngineUnavailable:
    """An engine that holds the connection and does not answer."""
    return EngineUnavailable(
        f"The graph engine at {address.uri} has not answered for {seconds:g} seconds. Is it "
        "overloaded, or is something on the way holding the connection?"
    )


def is_passing(error: Exception) -> bool:
    """A collision with another writer that the engine does not call one, so that a retry helps."""
    if not isinstance(error, Neo4jError):
        return False
    text = (error.message or "").lower()
    is_collision = any(words in text for words in _COLLISIONS)
    # The other writer deleted what this one had just read.
    is_deleted = (error.code or "").endswith("Statement.EntityNotFound")
    return isinstance(error, ConstraintError) or is_collision or is_deleted


def is_starting(error: Exception) -> bool:
    """Return whether a server that is about to be ready may answer so; waiting may help."""
    if isinstance(error, Neo4jError):
        return (error.code or "").endswith("General.DatabaseUnavailable")
    text = _whole(error)
    lost = ("resolve address", "certificate", "ssl", "looks like http")
    return isinstance(error, ServiceUnavailable) and not any(words in text for words in lost)


def reason_of(error: Exception) -> str:
    """Return why a connection failed, in a few words."""
    text = _whole(error)
    if "connection refused" in text:
        return "nothing listens there"
    if "handshake response" in text:
        return "what listens there does not answer as Bolt does"
    return _reason(_said(error))


def _by_code(error: Neo4jError, said: str, address: DatabaseAddress) -> VeriTrailError | None:
    code = ".".join((error.code or "").rsplit(".", 2)[-2:])
    words = {
        "uri": address.uri,
        "database": address.database,
        "user": address.username,
        "named_by": address.named_by,
        "said": " ".join(said.split())[:300],
    }
    if code in _BY_CODE:
        kind, text = _BY_CODE[code]
        return kind(text.format(**words))
    if code.startswith("Transaction.TransactionTimedOut"):
        return QueryTimeout(
            f"The graph engine at {address.uri} ended a statement that took longer than it may "
            "(VERITRAIL_QUERY_SECONDS, or a limit of the engine's own). Ask for less with the "
            "parameters of the query, or allow more time."
        )
    if code.startswith("Schema.") and not isinstance(error, ConstraintError):
        return EngineError(_SCHEMA.format(**words))
    return None


def _refused(address: DatabaseAddress) -> EngineUnavailable:
    if address.username is None:
        return EngineUnavailable(
            f"The graph engine at {address.uri} asks for a login; set NEO4J_USERNAME and "
            "NEO4J_PASSWORD."
        )
    return EngineUnavailable(
        f"The graph engine at {address.uri} does not accept the user name or password; "
        "check NEO4J_USERNAME and NEO4J_PASSWORD."
    )


def _unreachable(error: Exception, uri: str) -> str:
    text = _whole(error)
    if "certificate" in text:
        return (
            f"The graph engine at {uri} shows a certificate that this machine does not trust, or "
            "that is for another host. Let the system trust it; or, for a certificate that the "
            "server made for itself, write the scheme with +ssc instead of +s."
        )
    if "ssl" in text and "+s" in uri.partition("://")[0]:
        return (
            f"The graph engine at {uri} does not answer with TLS on that port. Without +s in the "
            "scheme the connection is not encrypted: use that only on a network that you trust."
        )
    if isinstance(error, UnsupportedServerProduct) or any(words in text for words in _NO_BOLT):
        return (
            f"The graph engine at {uri} cannot be reached: what listens there does not answer as "
            "Bolt does. Bolt's port is 7687 (7474 is the browser's); a server that asks for "
            "encryption is written bolt+s:// or neo4j+s://; and one that is just starting is "
            "ready in a moment."
        )
    return f"The graph engine at {uri} cannot be reached ({reason_of(error)}). Is it running?"


def _said(error: Exception) -> str:
    return (error.message if isinstance(error, Neo4jError) else None) or str(error)


def _whole(error: BaseException) -> str:
    """All that an error and those beneath it say; a routing driver hides the reason in a group."""
    return "\n".join(_texts(error, _DEPTH)).lower()


def _texts(error: BaseException | None, depth: int) -> Iterator[str]:
    if error is None or depth == 0:
        return
    yield f"{type(error).__name__} {error}"
    for one in getattr(error, "exceptions", ()):
        yield from _texts(one, depth - 1)
    yield from _texts(error.__cause__ or error.__context__, depth - 1)


def _reason(text: str) -> str:
    """Return why a connection failed, without the driver's list of resolved addresses."""
    return _first_line(text).split(" (resolved to", 1)[0]


def _first_line(text: str) -> str:
    return (text.splitlines() or ["no reason given"])[0][:300]


def _taken_words(said: str) -> str:
    """Return what is taken and what to do, from what an engine says of a broken constraint."""
    return (
        f"{_written_twice(said)} is in the graph already. Either another writer has just written "
        "the same: then send it again. Or a script that is loaded twice writes it: a process that "
        "is whole lacks nothing, and one that a script left half-made has to be cleaned up."
    )


def _written_twice(said: str) -> str:
    if found := _ON_NEO4J.search(said):
        return f"{found[1]} with {_one_line(found[2])}"
    if found := _EMBEDDED.search(said):
        return f"{found[2]} with {found[3].replace(',', ', ')} = {_one_line(found[1])}"
    return "What was to be written"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MOST]

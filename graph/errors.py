"""Every error that a caller may meet, in one tree.

VeriTrailError                   exit status   what happened
├── InputError                   2             the input, or the way it was called, is wrong
│   ├── InvalidProcess           2             a process breaks rules; every violation is listed
│   ├── ProcessConflict          2             another content is stored under this process_id
│   │   └── BeingWritten         2             the same is being written at this moment
│   ├── ClaimInUse               2             a claim has verifications or reviews
│   ├── ReviewOutdated           2             what is reviewed changed since it was looked at
│   └── NotFound                 2             no such process, claim, node, verification or query
├── EngineError                  3             the graph engine cannot do what was asked
│   ├── EngineUnavailable        3             it cannot be started, reached or logged in to
│   │   └── CommitInDoubt        3             the connection was lost while it was storing
│   ├── QueryTimeout             3             a query took longer than it may
│   ├── ReadOnlyGraph            3             it is set read-only
│   └── StoreFull                3             it has no room left to write to
└── JudgeError, ModelError       1             an answer could not be had (`verifier`)
    └── EndpointRefused          3             the key, the model or the address is refused

The messages are written for the person at the terminal: what, where, what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule.

    Attributes:
        kind: A stable name of the rule, in snake_case (`cycle`, `unknown_node`, …).
        where: The place in the input, with key and id (`edges[3] 'a' -> 'b'`, `line 17`).
        message: What is wrong and what would be right.
    """

    kind: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message


class VeriTrailError(Exception):
    """Root of all errors of this project; its text is fit to be shown to a user."""


class InputError(VeriTrailError):
    """The input, or the way the call was made, is wrong."""

    def __init__(self, message: str, violations: Sequence[Violation] = ()) -> None:
        super().__init__(message)
        self.violations = tuple(violations)


class InvalidProcess(InputError):
    """A process breaks rules of the format; `violations` lists every one. Nothing was stored."""


class ProcessConflict(InputError):
    """Another content is stored under the same process_id, or somebody is writing it now."""


class BeingWritten(ProcessConflict):
    """Somebody else writes the same at this moment; once that is done, it may well go."""


class ClaimInUse(InputError):
    """A claim has verifications or reviews, and nobody said that this does not matter."""


class ReviewOutdated(InputError):
    """A claim, or its verdict, changed between looking at it and saving a review of it."""


class NotFound(InputError):
    """The thing named does not exist."""


class EngineError(VeriTrailError):
    """The graph engine cannot do what was asked."""


class EngineUnavailable(EngineError):
    """The graph engine cannot be started, reached or logged in to."""


class CommitInDoubt(EngineUnavailable):
    """The connection was lost while the engine was storing; whether it stored is not known."""


class QueryTimeout(EngineError):
    """A query took longer than it may."""


class ReadOnlyGraph(EngineError):
    """The graph is set read-only: it can be read and not be written to."""


class StoreFull(EngineError):
    """The graph engine has no room left to write to."""


def shown(name: str) -> str:
    """An id in quotes, cut when it is long, fit for one line of a terminal."""
    return repr(name if len(name) <= 80 else f"{name[:77]}...")

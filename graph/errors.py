"""Every error that a caller may meet, in one tree.

VeriTrailError                   exit status   what happened
├── InputError                   2             the input, or the way it was called, is wrong
│   ├── InvalidProcess           2             a process breaks rules; every violation is listed
│   ├── ProcessConflict          2             another content is stored under this process_id
│   │   └── BeingWritten         2             the same is being written at this moment
│   ├── ClaimInUse               2             a claim has verifications or reviews
│   ├── NotWritten               2             a file cannot be written
│   │   └── DiskFull             2             there is no room left on its disk
│   ├── ReviewOutdated           2             what is reviewed changed since it was looked at
│   └── NotFound                 2             no such process, claim, node, verification or query
├── EngineError                  3             the graph engine cannot do what was asked
│   ├── EngineUnavailable        3             it cannot be started, reached or logged in to
│   │   ├── EngineStarting       3             it is being started
│   │   └── CommitInDoubt        3             the connection was lost while it was storing
│   ├── QueryTimeout             3             a query took longer than it may
│   ├── ReadOnlyGraph            3             it is set read-only
│   └── StoreFull                3             it has no room left to write to
└── JudgeError, ModelError       1             an answer could not be had (`verifier`)
    └── EndpointRefused          3             the key, the model or the address is refused

The text of an error says what is so, in terms that every caller shares. What to do about it
depends on the caller: each door has one table from `code` to its own advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from errno import EDQUOT, ENOSPC
from typing import TYPE_CHECKING, Self

from typing_extensions import override

from veritrail_graph.graph.unseen import spelled

if TYPE_CHECKING:
    from json import JSONDecodeError
    from pathlib import Path

Fact = str | int | float | None
"""A value that an error is about."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule.

    Attributes:
        kind: A stable name of the rule, in snake_case (`cycle`, `unknown_node`, …).
        where: The place in the input, with key and id (`edges[3] 'a' -> 'b'`, `line 17`).
        message: What is wrong and what would be right.
        facts: The values that it is about, for the advice of a door.
    """

    kind: str
    where: str
    message: str
    facts: Mapping[str, Fact] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    def within(self, place: str) -> Violation:
        """Return the same, with a place before its own, such as the line of a file before a key."""
        return replace(self, where=f"{place}: {self.where}" if self.where else place)


class Violations:
    """The broken rules of an input: the first of each kind are kept, all others are counted.

    Its length is the number of all. More than `MOST_COUNTED` are not looked for: reading ends
    where `is_over`.
    """

    MOST_KEPT = 1_000
    MOST_COUNTED = 100_000

    def __init__(self, violations: Iterable[Violation] | Violations = ()) -> None:
        self._kept: list[Violation] = []
        self._counts: dict[str, int] = {}
        self._total = 0
        self += violations

    def append(self, violation: Violation) -> None:
        """Add one."""
        count = self._counts.get(violation.kind, 0) + 1
        self._counts[violation.kind] = count
        self._total += 1
        if count <= self.MOST_KEPT:
            self._kept.append(violation)

    def __iadd__(self, violations: Iterable[Violation] | Violations) -> Violations:
        """Add some, until there are too many."""
        if isinstance(violations, Violations):
            for kind, count in violations._counts.items():
                kept = [one for one in violations._kept if one.kind == kind]
                before = self._counts.get(kind, 0)
                self._kept += kept[: max(0, self.MOST_KEPT - before)]
                self._counts[kind] = before + count
            self._total += len(violations)
            return self
        for violation in violations:
            if self.is_over:
                break
            self.append(violation)
        return self

    def __len__(self) -> int:
        return self._total

    @property
    def is_over(self) -> bool:
        """Return whether there are so many that no more are looked for."""
        return self._total > self.MOST_COUNTED

    @property
    def kinds(self) -> set[str]:
        """The kinds of all of them."""
        return set(self._counts)

    def listed(self) -> list[Violation]:
        """Return at most `MOST_KEPT`, as many of each kind, and one a kind that counts the rest."""
        left, most = self.MOST_KEPT, self.MOST_KEPT
        for number, count in enumerate(sorted(self._counts.values())):
            most = max(1, left // (len(self._counts) - number))
            if count > most:
                break
            left -= count
        found: list[Violation] = []
        taken = dict.fromkeys(self._counts, 0)
        for violation in self._kept:
            taken[violation.kind] += 1
            if taken[violation.kind] <= most:
                found.append(violation)
        more = " and maybe more: reading ended here" if self.is_over else ""
        for kind, count in self._counts.items():
            if count > most:
                words = f"and {count - most:,} more of this kind{more}"
                found.append(Violation(kind, "", words))
        return found


class VeriTrailError(Exception):
    """Root of all errors of this project; its text is fit to be shown to a user.

    Args:
        message: What is so, without advice.
        code: A stable name of what happened, in snake_case; None: that of the class.
        **facts: The values that it is about.
    """

    code = "error"

    def __init__(self, message: str = "", *, code: str | None = None, **facts: Fact) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.facts = facts

    def at_place(self, path: Path, where: str) -> Self:
        """Return the same, with a place that people know for the file that it was put into.

        Args:
            path: The file.
            where: The place; one with a `#` takes the place of what follows the file's own, too.
        """
        self.args = (_place_named(path, where, str(self)),)
        return self


class InputError(VeriTrailError):
    """The input, or the way the call was made, is wrong."""

    code = "invalid_input"

    def __init__(
        self,
        message: str = "",
        violations: Sequence[Violation] | Violations = (),
        *,
        code: str | None = None,
        **facts: Fact,
    ) -> None:
        super().__init__(message, code=code, **facts)
        if not isinstance(violations, Violations) and len(violations) > 2 * Violations.MOST_KEPT:
            violations = Violations(violations)
        listed = violations.listed() if isinstance(violations, Violations) else violations
        self.violations = tuple(listed)

    @override
    def at_place(self, path: Path, where: str) -> Self:
        """Return the same, with the place in what it says of broken rules as well."""
        self.violations = tuple(
            replace(
                one,
                where=_place_named(path, where, one.where),
                message=_place_named(path, where, one.message),
            )
            for one in self.violations
        )
        return super().at_place(path, where)


def _place_named(path: Path, where: str, words: str) -> str:
    inside = r"(?:#[^:\s]*)?" if "#" in where else ""
    return re.sub(f"{re.escape(str(path))}{inside}", lambda _: where, words)


class InvalidProcess(InputError):
    """A process breaks rules of the format; `violations` lists them. Nothing was stored."""

    code = "invalid_process"


class ProcessConflict(InputError):
    """Another content is stored under the same process_id, or another writer is writing it now."""

    code = "conflict"


class BeingWritten(ProcessConflict):
    """Another writer writes the same now; once it has ended, another attempt may succeed."""

    code = "being_written"


class NotWritten(InputError):
    """A file cannot be written where it should be."""

    code = "not_written"

    @classmethod
    def of(cls, path: Path, error: OSError) -> NotWritten:
        """The error for what the system says of a path."""
        kind = DiskFull if error.errno in (ENOSPC, EDQUOT) else cls
        return kind(f"{path} cannot be written: {error.strerror or error}")


class DiskFull(NotWritten):
    """There is no room left on a disk."""

    code = "disk_full"


class ClaimInUse(InputError):
    """A claim has verifications or reviews, and the caller did not force its removal."""

    code = "claim_in_use"


class ReviewOutdated(InputError):
    """A claim, or its verdict, changed between looking at it and saving a review of it."""

    code = "review_outdated"


class NotFound(InputError):
    """The thing named does not exist."""

    code = "not_found"


class EngineError(VeriTrailError):
    """The graph engine cannot do what was asked."""

    code = "engine_error"


class EngineUnavailable(EngineError):
    """The graph engine cannot be started, reached or logged in to."""

    code = "engine_unavailable"


class EngineStarting(EngineUnavailable):
    """The graph engine is being started; the next attempt may find it running."""

    code = "engine_starting"


class CommitInDoubt(EngineUnavailable):
    """The connection was lost while the engine was storing; whether it stored is not known."""

    code = "commit_in_doubt"


class QueryTimeout(EngineError):
    """A query took longer than it may."""

    code = "query_timeout"


class ReadOnlyGraph(EngineError):
    """The graph is set read-only: it can be read and not be written to."""

    code = "read_only"


class StoreFull(EngineError):
    """The graph engine has no room left to write to."""

    code = "store_full"


def shown(name: str) -> str:
    """An id in quotes, cut when it is long, fit for one line of a terminal."""
    whole = repr(name if len(name) <= 80 else f"{name[:77]}...")
    return spelled(whole, lambda signs: signs.encode("unicode_escape").decode())


def json_fault(error: JSONDecodeError, first_line: int = 1) -> str:
    """Return what is wrong with a text that is not JSON, and where.

    Args:
        error: What the parser said; some of its messages end with `at`.
        first_line: The line of the file that the text begins on.
    """
    line = error.lineno + first_line - 1
    return f"not JSON: {error.msg.removesuffix(' at')} at line {line}, column {error.colno}"


def with_advice(error: VeriTrailError, advice: Mapping[str, str]) -> str:
    """The text of an error, and behind it what a door advises.

    Args:
        error: The error.
        advice: Advice by code; `{name}` in it is replaced by a fact of the error.
    """
    more = advice.get(error.code)
    return _joined(str(error), more.format_map(error.facts)) if more else str(error)


def violation_with_advice(violation: Violation, advice: Mapping[str, str]) -> str:
    """Return what is wrong with the input, and behind it what a door advises for this kind.

    Where the kind alone says too little for advice, the fact `case` names what a door goes by.
    """
    more = advice.get(str(violation.facts.get("case", violation.kind)))
    if not more:
        return violation.message
    return _joined(violation.message, more.format_map(violation.facts))


def _joined(message: str, advice: str) -> str:
    """Two texts as one: a message ends before advice that is a sentence of its own."""
    is_sentence = advice[:1].isupper() or advice.startswith("`")
    end = "." if is_sentence and message[-1:].isalnum() else ""
    return f"{message}{end} {advice}"

"""The caller, and the scopes that allow or refuse a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError, VeriTrailError, shown

if TYPE_CHECKING:
    from veritrail_graph.graph.model.version import Version


class Scope(StrEnum):
    """The scope of a key: the operations that it allows.

    `admin` includes all others, `review` reading, and `write` what `ingest` allows and what
    `review` allows besides reading.
    """

    READ = "read"
    REVIEW = "review"
    INGEST = "ingest"
    WRITE = "write"
    VERIFY = "verify"
    ADMIN = "admin"


EVERYTHING = frozenset(Scope)
_INCLUDED_IN = {
    Scope.READ: Scope.REVIEW,
    Scope.REVIEW: Scope.WRITE,
    Scope.INGEST: Scope.WRITE,
}
"""The scope, beside `admin`, that includes another one."""


class NotAllowed(VeriTrailError):
    """The key does not allow what was asked for."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request or of a command.

    Attributes:
        key_id: The key that was shown; None where none is asked for.
        name: A name for people: that of the key, or `local`.
        scopes: What is allowed.
        budget_usd: What all jobs of the key may cost together; None: no limit.
        request_id: The request that is answered, for the audit log; None: there is none.
        only_process: The one process that is shown to somebody with a link; None: all.
        shared_by: Who made that link.
        shared_until: When it ends, in seconds since 1970.
        shows: Says of a version of that process whether the link was made for it.
        writes_as: The name under which a caller without a key writes.
    """

    key_id: str | None
    name: str
    scopes: frozenset[Scope]
    budget_usd: float | None = None
    request_id: str | None = field(default=None, compare=False)
    only_process: str | None = None
    shared_by: str | None = None
    shared_until: float | None = None
    shows: Callable[[Version], bool] | None = field(default=None, compare=False)
    writes_as: str = field(default="", compare=False)

    @property
    def key_name(self) -> str | None:
        """The name of the key; None where no key is asked for."""
        return self.name if self.key_id is not None else None

    def author(self, given: str | None) -> str:
        """Return the name of the writer: as given, else that of the key or of the person here."""
        return given if given is not None else self.key_name or self.writes_as

    @property
    def only_reviewer(self) -> str | None:
        """The one person as whom the caller reviews; None: as anybody, with `admin` or no key."""
        return None if self.may(Scope.ADMIN) else self.key_name

    def check_reviewer(self, name: str) -> None:
        """Refuse a review in the name of somebody else: a key speaks for its owner.

        Raises:
            NotAllowed: It is one.
        """
        own = self.only_reviewer
        if own is not None and name.strip() not in ("", own):
            raise NotAllowed(
                f"The key {own!r} reviews as {own}, and not as {shown(name)}: people send their "
                "reviews with keys of their own. Leave the name out, or send reviews that others "
                "gave with a key that has the scope 'admin'."
            )

    def expect(self, scope: Scope) -> None:
        """Refuse what needs a scope that is missing.

        Raises:
            NotAllowed: It is missing.
        """
        if not self.may(scope):
            raise NotAllowed(
                f"The key {self.name!r} does not have the scope {scope.value!r}, which "
                "this call needs. The operator of the service can make a key that has it."
            )

    def may(self, scope: Scope) -> bool:
        """Return whether something is allowed."""
        enough = {scope, Scope.ADMIN, _INCLUDED_IN.get(scope, scope)}
        return not enough.isdisjoint(self.scopes)


LOCAL = Caller(None, "local", EVERYTHING)
"""The user of this machine, where no key is needed."""


def parse_scopes(given: Iterable[str]) -> frozenset[Scope]:
    """Scopes as they are written: one by one, or with commas between them.

    Raises:
        InputError: There is no such scope, or none at all is named.
    """
    names = [name.strip() for one in given for name in one.split(",") if name.strip()]
    known = ", ".join(Scope)
    if not names:
        raise InputError(f"a key needs at least one scope: {known}")
    try:
        return frozenset(Scope(name.lower()) for name in names)
    except ValueError:
        wrong = next(name for name in names if name.lower() not in set(Scope))
        raise InputError(f"{wrong!r} is no scope; there are: {known}") from None

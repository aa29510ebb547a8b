"""The faults that a caller of the service, or of the graph in process, may meet.

VeriTrailError
├── Problem            the service answered with a problem (RFC 9457); `kind`, `status`, `detail`
│   ├── AccessRefused  401, 403: the key is missing, unknown, expired or may not do this
│   ├── Missing        404, 410: no such process, claim, node, verification, job or query
│   ├── Conflict       409, 412: another content, or another body under the same key
│   ├── Rejected       400, 413, 415, 422: the input is wrong; `violations` lists every rule
│   └── Unavailable    429, 503, 504: not now; `retry_after` says when, where it is known
├── Unreachable        no service answers at the address, or the connection was lost
└── StrangeAnswer      what answers there is no service of this project
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from veritrail_graph.graph.errors import VeriTrailError, Violation

if TYPE_CHECKING:
    from veritrail_graph.api.client.checks import CheckResult

PREFIX = "urn:veritrail:problem:"
REQUEST = "urn:veritrail:request:"
_SHOWN = 5


class Unreachable(VeriTrailError):
    """No service answers at the address, or the connection was lost."""


class StrangeAnswer(VeriTrailError):
    """The error of an answer that no service of this project, or of this version, would give."""


class Problem(VeriTrailError):
    """The service refused, or could not do, what was asked.

    Args:
        status: The HTTP status.
        document: The problem as it was sent.
        retry_after: Seconds to wait before asking again, where the service said so.

    Attributes:
        status: The HTTP status.
        type: The problem's type, `urn:veritrail:problem:KIND`.
        kind: The stable name in it.
        title: The status in words.
        detail: What happened, where, and what to do.
        request_id: The request, as the log of the service names it; None where it is not known.
        violations: Every rule that was broken.
        retry_after: Seconds to wait before asking again, or None.
        checked: Of a check in this process that was ended: what was finished before, with what it
            cost; None otherwise.

    Source: RFC 9457.
    """

    def __init__(
        self, status: int, document: Mapping[str, Any], retry_after: float | None = None
    ) -> None:
        self.status = status
        self.type = str(document.get("type") or "about:blank")
        self.kind = self.type.removeprefix(PREFIX)
        self.title = str(document.get("title") or "")
        self.detail = str(document.get("detail") or self.title or f"HTTP status {status}")
        self.request_id = str(document.get("instance") or "").removeprefix(REQUEST) or None
        self.violations = _violations(document.get("violations"))
        self.retry_after = retry_after
        self.checked: CheckResult | None = None
        super().__init__(_text_of(self.detail, self.violations))


class AccessRefused(Problem):
    """The key is missing, unknown, expired, or its scopes do not cover this."""


class Missing(Problem):
    """The thing named does not exist."""


class Conflict(Problem):
    """Another content has the id, or another body was sent under the same key."""


class Rejected(Problem):
    """The input, or the way the call was made, is wrong."""


class Unavailable(Problem):
    """The service cannot do it now; the same call may succeed later."""


_BY_STATUS: Mapping[int, type[Problem]] = {
    **dict.fromkeys((401, 403), AccessRefused),
    **dict.fromkeys((404, 410), Missing),
    **dict.fromkeys((409, 412), Conflict),
    **dict.fromkeys((400, 413, 415, 422), Rejected),
    **dict.fromkeys((429, 503, 504), Unavailable),
}


def problem_of(status: int, document: Mapping[str, Any], retry_after: str = "") -> Problem:
    """Return the exception for a problem, by its status.

    Args:
        status: The HTTP status.
        document: The problem.
        retry_after: The header of that name; only seconds are read.
    """
    seconds = float(retry_after) if retry_after.isdigit() else None
    return _BY_STATUS.get(status, Problem)(status, document, seconds)


def _violations(found: Any) -> tuple[Violation, ...]:
    if not isinstance(found, list):
        return ()
    return tuple(
        Violation(
            str(one.get("kind", "")),
            str(one.get("where", "")),
            str(one.get("message") or ""),
        )
        for one in found
        if isinstance(one, dict)
    )


def _text_of(detail: str, violations: tuple[Violation, ...]) -> str:
    lines = [detail, *(f"  {one}" for one in violations[:_SHOWN])]
    if len(violations) > _SHOWN:
        lines.append(f"  … and {len(violations) - _SHOWN} more in `violations`")
    return "\n".join(lines)

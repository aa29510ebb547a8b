"""Names that people try first and that are none: what an error says of the call that is meant."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_CHECK_ROWS = "check(rows) takes rows with a question, contexts and an answer"
_PICTURE = "svg() returns its picture, and a notebook shows it"

GUESSES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "module": {
            "evaluate": _CHECK_ROWS,
            "load": "check(path) checks a file, Local().ingest(path) stores it",
            "ingest": "Local().ingest(process) stores a process",
            "show": "Local().show(process_id, claim_id) returns the trail of a claim",
            "query": "Local().query(name, process_id) asks a query",
        },
        "client": {
            "evaluate": _CHECK_ROWS,
            "load": "ingest(path) stores a file, check(path) checks it, too",
            "gate": "check(process_id).assert_supported(max_unsupported=0) fails as a gate does; "
            "the command is veritrail gate",
            "report": "check(process_id).report('out.html') writes one; that of all runs is the "
            "command veritrail report",
        },
        "claim": {
            "verification": "client.verification(claim.verification_id) reads it",
            "error_nodes": "client.verification(claim.verification_id).error_nodes has them",
            "error_node": "client.verification(claim.verification_id).error_nodes has them",
            "is_supported": 'verdict == "FULLY_SUPPORTED" says so',
        },
        "verification": {
            "is_supported": 'verdict == "FULLY_SUPPORTED" says so',
            "path": f"iterations has the steps, {_PICTURE}",
            "evidence": "iterations[n].evidence has what each step found",
            "error_node": "error_nodes has them",
            "draw": _PICTURE,
            "plot": _PICTURE,
        },
        "job": {
            "verification": "verifications() reads all of them",
            "verdicts": "wait().verifications() has them",
            "results": "wait().verifications() has them",
        },
    }
)
"""By what has no such attribute: the name that was tried, and what to call."""


def no_such(kind: str, owner: str, name: str) -> AttributeError:
    """Return the error for an attribute that is not there, with the call that is meant.

    Args:
        kind: A key of `GUESSES`.
        owner: What has no such attribute, as Python names it.
        name: The attribute.
    """
    meant = GUESSES[kind].get(name)
    return AttributeError(f"{owner} has no attribute {name!r}{f': {meant}' if meant else ''}")

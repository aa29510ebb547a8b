"""The verification of a claim that counts, of several."""

from __future__ import annotations

from collections.abc import Iterable

from veritrail_graph.graph.model.process import spellings
from veritrail_graph.graph.model.trail import Verification

WRITE_NOTHING = ("nli", "decisions")
"""Engines whose models give figures, and no written answer."""


def of_text(verifications: Iterable[Verification], text: str) -> list[Verification]:
    """Return the verifications that are about a text of their claim, not about a former one.

    Args:
        verifications: Verifications of one claim.
        text: The text; a full stop at its end makes no other one.
    """
    same = spellings(text)
    return [one for one in verifications if one.claim in same]


def in_force(
    verifications: Iterable[Verification], text: str, run_of_record: str | None = None
) -> Verification | None:
    """Return the verification of a claim that counts; None: none of them has come to a result.

    A result is a verdict, or that the claim is undecided; only those about the present text of the
    claim count. Each judge speaks with the one of its results that has the highest q, then with
    the latest. Of the judges that of the run of record comes first, then one that decided, then
    the strongest (a language model, a model that gives figures alone, then one without a model),
    then the latest. `claims/put_in_force.cypher` keeps the same rule in the graph.

    Args:
        verifications: Verifications of one claim, with or without their trails.
        text: The text that the claim has now.
        run_of_record: The run that is pinned, if one is.
    """
    by_judge: dict[tuple[bool, str, str | None], list[Verification]] = {}
    for one in of_text(verifications, text):
        if one.status.is_result:
            is_record = run_of_record is not None and one.run_id == run_of_record
            by_judge.setdefault((is_record, one.engine, one.model), []).append(one)

    def rank(found: tuple[bool, Verification]) -> tuple[bool, bool, int, tuple[str, str]]:
        is_record, one = found
        return is_record, one.verdict is not None, strength_of(one), _time(one)

    said = [(key[0], _said_by_judge(each)) for key, each in by_judge.items()]
    return max(said, key=rank)[1] if said else None


def strength_of(one: Verification) -> int:
    """Return how strong its judge is: a language model 2, a model of figures 1, without one 0."""
    writes_nothing = one.engine.rpartition("+")[2] in WRITE_NOTHING  # the last gave the verdicts
    return 0 if one.indicative else 1 if writes_nothing else 2


def _said_by_judge(every: list[Verification]) -> Verification:
    """The result of one judge that counts: a lower q never takes the place of a higher one.

    An older content of the process is no rival of the newest.
    """
    newest = max(every, key=_time)
    same = [one for one in every if (one.content_hash or "") == (newest.content_hash or "")]
    return max(same, key=lambda one: (one.q, _time(one)))


def _time(one: Verification) -> tuple[str, str]:
    return one.created_at, one.verification_id

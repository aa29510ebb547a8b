"""Soft prediction: one answer from several samples.

Source: VeriTrail E.3; docs/adr/0011-language-model-judge.md for the summary's choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from veritrail_graph.graph.model import Verdict
from veritrail_graph.verifier.answers import SelectionAnswer, VerdictAnswer


def merge_selections(answers: Sequence[SelectionAnswer], threshold: int) -> SelectionAnswer:
    """The sentences that at least `threshold` samples selected.

    Both roles count as selected. A sentence that any of them named as evidence is evidence, as
    one is that a single answer names as both; context without evidence selects nothing. The
    summary is that of the sample that shares most with the result, the earliest of several.
    """
    dropped = sum(answer.dropped for answer in answers)
    if len(answers) == 1:
        return answers[0]
    votes = Counter(number for answer in answers for number in answer.evidence + answer.context)
    passed = {number for number, count in votes.items() if count >= threshold}
    evidence = passed.intersection(n for answer in answers for n in answer.evidence)
    context = passed - evidence
    if not evidence:
        return SelectionAnswer(dropped=dropped)
    nearest = max(
        (answer for answer in answers if answer.summary is not None),
        key=lambda answer: _shared(answer, evidence, context),
    )
    return SelectionAnswer(
        tuple(sorted(evidence)),
        tuple(sorted(context)),
        nearest.summary,
        nearest.missing,
        dropped,
    )


def _shared(answer: SelectionAnswer, evidence: set[int], context: set[int]) -> tuple[int, int, int]:
    """How much of the result a sample selected; then how little else."""
    selected = set(answer.evidence) | set(answer.context)
    result = evidence | context
    of_evidence = len(evidence & set(answer.evidence))
    return (len(selected & result), of_evidence, -len(selected - result))


def merge_verdicts(answers: Sequence[VerdictAnswer], threshold: int) -> tuple[VerdictAnswer, float]:
    """The most frequent verdict that at least `threshold` samples gave, and the score.

    Returns:
        The verdict with the reason of the first sample that gave it; Inconclusive where none
        passes or the most frequent tie. The score is the share of Fully Supported.
    """
    votes = Counter(answer.verdict for answer in answers)
    score = votes[Verdict.FULLY_SUPPORTED] / len(answers)
    passed = [(count, verdict) for verdict, count in votes.items() if count >= threshold]
    most = max((count for count, _ in passed), default=0)
    winners = [verdict for count, verdict in passed if count == most]
    told = ", ".join(f"{votes[verdict]} x {verdict}" for verdict in Verdict if votes[verdict])
    if len(winners) == 1:
        reason = next(answer.reason for answer in answers if answer.verdict is winners[0])
        return VerdictAnswer(winners[0], f"{reason} (samples: {told})"), score
    why = "samples tie" if winners else f"no verdict was given by {threshold} samples"
    reason = f"{why}: {told}. First reason: {answers[0].reason}"
    return VerdictAnswer(Verdict.INCONCLUSIVE, reason), score

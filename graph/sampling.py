"""Claims drawn by lot for people to review, and who reviews which of them.

Source: ours (docs/adr/0044-review-in-teams.md).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

NO_VERDICT = "none"


def shares_of(strata: Mapping[str, int], size: int) -> dict[str, int]:
    """Return how many of each stratum are drawn: as large a share of each, and at least one.

    Args:
        strata: How many there are of each.
        size: How many are drawn in all.
    """
    total = sum(strata.values())
    size = min(size, total)
    wanted = {name: size * count / total for name, count in strata.items() if count}
    if size < len(wanted):  # not one for each: the largest get one
        largest = sorted(wanted, key=lambda name: (-strata[name], name))[:size]
        return dict.fromkeys(largest, 1)
    found = {name: min(max(int(share), 1), strata[name]) for name, share in wanted.items()}
    while sum(found.values()) != size:
        step = 1 if sum(found.values()) < size else -1
        able = [
            name for name in found if (found[name] < strata[name] if step > 0 else found[name] > 1)
        ]
        best = max(able, key=lambda name: (step * (wanted[name] - found[name]), name))
        found[best] += step
    return found


def sample_of(
    verdicts: Mapping[str, str | None], size: int, seed: int
) -> tuple[list[str], dict[str, int]]:
    """Claims drawn by lot, stratified by verdict, and how many of each verdict are drawn.

    Args:
        verdicts: The verdict in force by claim_id, in the order of the input.
        size: How many are drawn.
        seed: The same seed draws the same claims.
    """
    by_verdict: dict[str, list[str]] = {}
    for claim_id, verdict in verdicts.items():
        by_verdict.setdefault(verdict or NO_VERDICT, []).append(claim_id)
    shares = shares_of({name: len(ids) for name, ids in by_verdict.items()}, size)
    chance = random.Random(seed)  # noqa: S311  # a lottery that can be repeated, no secret
    drawn: set[str] = set()
    for name in sorted(shares):
        drawn.update(chance.sample(by_verdict[name], shares[name]))
    return [claim_id for claim_id in verdicts if claim_id in drawn], shares


def assigned(
    claims: Sequence[str], reviewers: Sequence[str], each: int, seed: int
) -> list[tuple[str, str, int]]:
    """Return the assignments: `each` reviewers a claim, in shares as equal as possible.

    Gives claim, reviewer and the place of the claim.
    """
    order = list(reviewers)
    random.Random(seed).shuffle(order)  # noqa: S311
    tasks, turn = [], 0
    for place, claim_id in enumerate(claims):
        for _ in range(min(each, len(order))):
            tasks.append((claim_id, order[turn % len(order)], place))
            turn += 1
    return tasks

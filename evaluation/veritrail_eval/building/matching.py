"""Labels by matching: claims that follow from what was found faithful before.

A match is a proposal: a person accepts it before it becomes a label.

Source: VeriTrail B.1.1, B.1.2 (matching and its review), B.2.2 (alignment with validated answers).
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veritrail_eval.building.asking import (
    ask,
    lines_of,
    truth_of,
)
from veritrail_eval.building.review import write_review
from veritrail_eval.building.steps import Variant
from veritrail_eval.datasets.model import Dataset, LabelledClaim
from veritrail_eval.tables import read_table
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import Verdict
from veritrail_graph.verifier.answers import text_of
from veritrail_graph.verifier.models.port import EndpointRefused, Meter, ModelError, OverBudget
from veritrail_graph.verifier.prompted import PromptedStep, results

AT_ONCE = 16
MOST_NAMED = 5
"""Ids that a message names."""
MATCHED = "matched"
"""The `label_origin` of a claim that was labelled by an accepted match."""

COLUMNS = (
    "process_id",
    "claim_id",
    "claim",
    "premise_row",
    "premise",
    "evidence",
    "reasoning",
    "explanation",
    "accept",
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Premise:
    """A statement that was found faithful, with what its annotators gave for it.

    Attributes:
        place: Its row in the file.
        text: The statement.
        evidence: Quotes for it; may be empty.
        reasoning: Comments on it; may be empty.
        process_id: The process whose claims may follow from it; None: all.
        about: The title of the book, or the question; None: that of the process.
    """

    place: int
    text: str
    evidence: str = ""
    reasoning: str = ""
    process_id: str | None = None
    about: str | None = None

    def user(self, variant: Variant, about: str | None, hypothesis: str) -> str:
        """The user message for a hypothesis."""
        subject = self.about or about
        head = [] if subject is None else [f"{variant.value.title()}: {_line(subject)}"]
        return "\n".join(
            [
                *head,
                f"Premise: {_line(self.text)}",
                *lines_of("evidence", self.evidence),
                *lines_of("reasoning", self.reasoning),
                f"Hypothesis: {_line(hypothesis)}",
            ]
        )


def _line(text: str) -> str:
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Match:
    """A claim that follows from a premise, as the model says.

    Attributes:
        claim: The claim.
        premise: The premise.
        explanation: The model's reason.
    """

    claim: LabelledClaim
    premise: Premise
    explanation: str


@dataclass(frozen=True, slots=True)
class Matching:
    """The result of a claim matching.

    Attributes:
        asked: Claims that were compared with a premise at least.
        without_premise: Claims of processes that no premise is about.
        matches: The matches, one a claim.
        failed: Claims that have no match and for which a call failed, with the first reason.
        calls: Comparisons that were asked for.
        failed_calls: Those of them that failed.
    """

    asked: int
    without_premise: int
    matches: tuple[Match, ...]
    failed: Mapping[tuple[str, str], str]
    calls: int = 0
    failed_calls: int = 0


def read_premises(path: Path, variant: Variant) -> list[Premise]:
    """A table of faithful statements: premise; evidence, reasoning, process_id, book or question.

    Raises:
        InputError: Rows have faults.
    """
    table = read_table(path, ("premise",))
    found = [
        Premise(
            row.place,
            row.required("premise"),
            row.text("evidence"),
            row.text("reasoning"),
            row.text("process_id") or None,
            row.text(variant.value) or None,
        )
        for row in table.rows
    ]
    table.check()
    return found


def without_process(
    premises: Sequence[Premise], processes: Collection[str]
) -> dict[str, list[int]]:
    """Premises of processes that the data set lacks: the rows of each, by process_id.

    Args:
        premises: What was found faithful.
        processes: The process_ids of the data set.

    Raises:
        InputError: Every premise is of such a process, so that nothing could match.
    """
    found: dict[str, list[int]] = {}
    for one in premises:
        if one.process_id is not None and one.process_id not in processes:
            found.setdefault(one.process_id, []).append(one.place)
    if found and sum(map(len, found.values())) == len(premises):
        raise InputError(
            f"Every premise is of a process that the data set lacks: {_some(found)}. It holds: "
            f"{_some(processes)}."
        )
    return found


def _some(names: Collection[str]) -> str:
    named = ", ".join(map(shown, list(names)[:MOST_NAMED]))
    return f"{named} and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else named


async def match_claims(
    claims: Sequence[LabelledClaim],
    premises: Sequence[Premise],
    about: Mapping[str, str | None],
    variant: Variant,
    step: PromptedStep,
    meter: Meter,
    on_claim: Callable[[int, int], None] = lambda _done, _total: None,
) -> Matching:
    """Look for a premise that entails each claim.

    Premises are tried one by one, those that share most words with the claim first, until one
    entails it. A call that fails leaves its premise out, and is counted where nothing matches.

    Args:
        claims: The claims.
        premises: What was found faithful.
        about: The title or the question of each claim, by `process_id` and `claim_id` joined
            by a slash.
        variant: Whether premises are about a book or answer a question.
        step: Asks the model.
        meter: Records every call.
        on_claim: Told how many claims are done.

    Raises:
        EndpointRefused: No call can succeed.
        OverBudget: The budget is used up.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    words = [_words(f"{one.text} {one.evidence} {one.reasoning}") for one in premises]
    failed: dict[tuple[str, str], str] = {}
    done = calls = failed_calls = 0

    async def one(claim: LabelledClaim) -> Match | None:
        nonlocal done
        async with slots:
            found = await _match(claim)
        done += 1
        on_claim(done, len(chosen))
        return found

    async def _match(claim: LabelledClaim) -> Match | None:
        nonlocal calls, failed_calls
        subject = about.get("/".join(claim.key))
        for premise in _nearest(claim, premises, words):
            user = premise.user(variant, subject, claim.text)
            calls += 1
            try:
                entailed, reason = await ask(step, user, _read, meter)
            except (EndpointRefused, OverBudget):
                raise
            except ModelError as error:
                failed_calls += 1
                failed.setdefault(claim.key, str(error))
                continue
            if entailed:
                failed.pop(claim.key, None)
                return Match(claim, premise, reason)
        return None

    chosen = [one for one in claims if any(_may_match(one, premise) for premise in premises)]
    works = [one(claim) for claim in chosen]
    found = results(await asyncio.gather(*works, return_exceptions=True))
    matches = tuple(one for one in found if one is not None)
    return Matching(len(chosen), len(claims) - len(chosen), matches, failed, calls, failed_calls)


def _read(answer: Mapping[str, Any]) -> tuple[bool, str]:
    return truth_of(answer, "entailed"), (text_of(answer, "reason") or "")


def _may_match(claim: LabelledClaim, premise: Premise) -> bool:
    return premise.process_id in (None, claim.process_id)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _nearest(
    claim: LabelledClaim, premises: Sequence[Premise], words: Sequence[set[str]]
) -> list[Premise]:
    """The premises of a claim, those that share most words with it first."""
    own = _words(claim.text)
    shared = [
        (-len(own & each), place)
        for place, (premise, each) in enumerate(zip(premises, words, strict=True))
        if _may_match(claim, premise)
    ]
    return [premises[place] for _, place in sorted(shared)]


def write_matches(found: Matching, path: Path) -> None:
    """Write the matches for review, with an empty column `accept`.

    Raises:
        InputError: The file is there already, or cannot be written.
    """
    write_review(
        path,
        COLUMNS,
        (
            {
                "process_id": one.claim.process_id,
                "claim_id": one.claim.claim_id,
                "claim": one.claim.text,
                "premise_row": one.premise.place,
                "premise": one.premise.text,
                "evidence": one.premise.evidence,
                "reasoning": one.premise.reasoning,
                "explanation": one.explanation,
                "accept": "",
            }
            for one in found.matches
        ),
    )


def read_accepted(
    path: Path, dataset: Dataset, column: str = "accept", *, as_labels: bool = False
) -> set[tuple[str, str]]:
    """The claims whose row a person accepted.

    Args:
        path: The table.
        dataset: What it is about.
        column: Where the person's decision is.
        as_labels: Whether they become labels, so that another label of a claim is a fault.

    Raises:
        InputError: Rows have faults.
    """
    table = read_table(path, ("process_id", "claim_id", column), may_be_empty=True)
    known = {claim.key: claim.label for claim in dataset.claims}
    accepted = set()
    rows = []
    for row in table.rows:
        key = row.required("process_id"), row.required("claim_id")
        rows.append((row, key))
        if all(key) and key not in known:
            message = f"{shown(key[1])} of {shown(key[0])} is no claim of the data set"
            row.fault("unknown_claim", "claim_id", message)
        if row.yes(column):
            accepted.add(key)
            label = known.get(key)
            if as_labels and label not in (None, Verdict.FULLY_SUPPORTED):
                message = (
                    f"claim {shown(key[1])} is labelled {label}, but its match is accepted; change "
                    "one of the two"
                )
                row.fault("contradiction", column, message)
    table.refuse_repeats(rows, "process and claim")
    table.check()
    return accepted


def with_matches(dataset: Dataset, accepted: set[tuple[str, str]]) -> tuple[LabelledClaim, ...]:
    """The claims of a data set, with the label of accepted matches.

    Raises:
        InputError: A claim has another label already.
    """
    conflict = next(
        (
            one
            for one in dataset.claims
            if one.key in accepted and one.label not in (None, Verdict.FULLY_SUPPORTED)
        ),
        None,
    )
    if conflict is not None:
        raise InputError(
            f"claim {conflict.claim_id!r} is labelled {conflict.label}, but its match is accepted; "
            "change one of the two."
        )
    return tuple(
        one.replace(label=Verdict.FULLY_SUPPORTED, label_origin=MATCHED)
        if one.key in accepted and one.label is None
        else one
        for one in dataset.claims
    )


def alignment(dataset: Dataset, keys: set[tuple[str, str]]) -> dict[str, Any]:
    """Return how labels agree with matches, which are no labels here. Source: VeriTrail B.2.2.

    Returns:
        The claims, those matched and their share, and the labels of the matched ones.
    """
    labels = Counter(one.label for one in dataset.claims if one.key in keys)
    matched, claims = labels.total(), len(dataset.claims)
    labelled = matched - labels[None]
    return {
        "claims": claims,
        "matched": matched,
        "matched_share": matched / claims if claims else None,
        "labels": {one.value: labels[one] for one in Verdict},
        "no_label": labels[None],
        "aligned_share": labels[Verdict.FULLY_SUPPORTED] / labelled if labelled else None,
    }

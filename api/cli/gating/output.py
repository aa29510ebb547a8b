"""An outcome of the gate as lines, JSON, the summary of a step, and JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from veritrail_graph.api.cli.gating.entries import BaselineChange, Entry
from veritrail_graph.api.cli.gating.rules import Check, Outcome, appealing, failed_words
from veritrail_graph.api.show.document import (
    Block,
    Branch,
    Document,
    Fact,
    Facts,
    Heading,
    Line,
    Passage,
    Remark,
    Room,
    Style,
    Table,
    Tree,
    name,
    ours,
    quoting,
    said,
)
from veritrail_graph.api.show.markdown import text
from veritrail_graph.api.show.reports.data import ReportData
from veritrail_graph.api.show.reports.junit import claim_case, junit_report
from veritrail_graph.api.show.words import (
    BY_KIND,
    State,
    either,
    in_parts,
    review_mark,
    with_reason,
)
from veritrail_graph.graph.model.located import stage_shares
from veritrail_graph.graph.model.review import reviewed_json

NOT_SHOWN: Mapping[str, str] = MappingProxyType(
    {
        "Outcome.limits": "each rule says its limit",
        "Check.name": "the words of the rule say it; JSON has it",
        "Check.limit": "the words of the rule say it",
        "Check.claim_ids": "the claims are listed, those that break a rule first",
        "Entry.judged": "the note of the judges says what gave the verdicts",
    }
)
"""Fields of an outcome that no writer shows, by class and name, and why."""

WORST = (
    State.NOT_SUPPORTED,
    State.FAILED,
    State.INCONCLUSIVE,
    State.UNDECIDED,
    State.UNCHECKED,
)
"""What a reader should look at, worst first."""

CHANGE_WORDS = {
    BaselineChange.REGRESSED: "worse than in the baseline",
    BaselineChange.NEW: "new since the baseline",
    BaselineChange.KNOWN: "known in the baseline",
    BaselineChange.FIXED: "fixed since the baseline",
}
_CHANGES = (
    BaselineChange.REGRESSED,
    BaselineChange.NEW,
    None,
    BaselineChange.SAME,
    BaselineChange.KNOWN,
    BaselineChange.FIXED,
)
_LONGEST = 160


def verdict_words(outcome: Outcome) -> str:
    """The outcome in two words; they say what the exit status says."""
    return "passed" if outcome.passed else "not met"


def worst(outcome: Outcome) -> list[Entry]:
    """The claims that are not supported, worst first; those that break a rule before the others.

    Last come those that are supported and that a person calls something else.
    """
    broken = {name for check in outcome.checks for name in check.claim_ids}
    open_ = [
        one
        for one in outcome.entries
        if one.state in WORST or one.again is not None or one.is_overridden
    ]
    return sorted(
        open_,
        key=lambda entry: (
            entry.state is State.SUPPORTED and entry.again is None,
            entry.claim_id not in broken,
            _CHANGES.index(entry.change),
            (*WORST, State.SUPPORTED).index(State.FAILED if entry.again else entry.state),
        ),
    )


def stage_words(entry: Entry, names: Mapping[int, str]) -> str:
    """Return where a claim went wrong, in words; empty where that is not known or no matter."""
    if not entry.error_stages:
        return ""
    each = [f"{n} ({cut(names[n])})" if n in names else str(n) for n in entry.error_stages]
    return f"introduced at stage {either(each)}"


def cut(text: str, most: int = _LONGEST) -> str:
    """Text on one line, cut at a number of characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def outcome_shown(outcome: Outcome, names: Mapping[int, str]) -> Document:
    """Show an outcome: rules, counts, the claims to look at, and what must be known of them.

    Args:
        outcome: The outcome.
        names: What the stages of its process are called.
    """
    rules = tuple(
        ((ours(_mark(check), Style.PLAIN if check.met else Style.WRONG),), (ours(check.words),))
        for check in outcome.checks
    )
    heading = (ours("Gate of "), name(outcome.process_id), ours(f": {verdict_words(outcome)}"))
    counts = [Fact("claims", (ours(counts_words(outcome)),))]
    if outcome.has_baseline:
        counts.append(Fact("since the baseline", (ours(since_words(outcome)),)))
    blocks: list[Block] = [
        Heading(heading),
        *(Remark((ours("Warning: "), quoting(f"{one}.")), Style.WARNING)
          for one in outcome.warnings),
        Table(("", "rule"), rules),
        Facts(tuple(counts)),
        *_stages(outcome, names),
    ]  # fmt: skip
    if claims := tuple(_claim(one, names) for one in worst(outcome)):
        blocks.append(Tree((ours("claims to look at"),), claims))
    blocks += [Remark((ours("Note: "), quoting(one)), Style.QUIET) for one in outcome.notes]
    return Document(tuple(blocks))


def counts_words(outcome: Outcome) -> str:
    """Return how many claims there are of each kind."""
    counts = [
        f"{BY_KIND[state].word.lower()} "
        + (failed_words(outcome.entries) if state is State.FAILED else f"{n:,}")
        for state, n in outcome.counts.items()
        if n or state is not State.UNDECIDED
    ]
    return f"{len(outcome.entries):,} in all, {', '.join(counts)}"


def since_words(outcome: Outcome) -> str:
    """Return what became of the claims of the baseline, in numbers."""
    parts = [f"{words} {len(outcome.changed(change)):,}" for change, words in CHANGE_WORDS.items()]
    return f"{', '.join(parts)}, gone {len(outcome.gone):,}"


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as one JSON object.

    Claims that are supported are left out, unless they changed or a person calls them something
    else.
    """
    limits = asdict(outcome.limits)
    listed = [
        entry
        for entry in outcome.entries
        if entry.state is not State.SUPPORTED
        or entry.change is BaselineChange.FIXED
        or entry.again is not None
        or entry.is_overridden
    ]
    return {
        "process_id": outcome.process_id,
        "outcome": verdict_words(outcome).replace(" ", "_"),
        "passed": outcome.passed,
        "exit_status": outcome.status,
        "limits": {**limits, "stages": list(outcome.limits.stages)},
        "checks": [{**asdict(one), "claim_ids": list(one.claim_ids)} for one in outcome.checks],
        "counts": {state.value: count for state, count in outcome.counts.items()},
        "rate": outcome.rate,
        "appeals": list(appealing(outcome.entries)),
        "indicative": any(entry.indicative for entry in outcome.entries),
        "baseline": _baseline_json(outcome),
        "claims": [_entry_json(entry) for entry in listed],
        "warnings": list(outcome.warnings),
        "notes": list(outcome.notes),
    }


def outcome_message(outcome: Outcome) -> dict[str, Any]:
    """Return what a webhook says of the outcome: ids, counts and names of rules, no texts."""
    return {
        "process_id": outcome.process_id,
        "outcome": verdict_words(outcome).replace(" ", "_"),
        "exit_status": outcome.status,
        "counts": {state.value: count for state, count in outcome.counts.items()},
        "rate": outcome.rate,
        "broken": [
            {
                "rule": one.name,
                "found": one.found,
                "limit": one.limit,
                "claim_ids": list(one.claim_ids),
            }
            for one in outcome.checks
            if not one.met
        ],
    }


def _baseline_json(outcome: Outcome) -> dict[str, Any] | None:
    if not outcome.has_baseline:
        return None
    counts = {change.value: len(outcome.changed(change)) for change in CHANGE_WORDS}
    return {**counts, "gone": [entry.claim_id for entry in outcome.gone]}


def _entry_json(entry: Entry) -> dict[str, Any]:
    found = entry.judged
    return {
        "claim_id": entry.claim_id,
        "claim": entry.text,
        "state": entry.state.value,
        "error_stages": list(entry.error_stages),
        "reason": entry.reason,
        "indicative": entry.indicative,
        "change": entry.change.value if entry.change else None,
        "latest_check": entry.again,
        "engine": found.engine if found else None,
        "model": found.model if found else None,
        "q": found.q if found else None,
        "created_at": found.created_at if found else None,
        "verification_id": found.verification_id if found else None,
        **reviewed_json(entry.reviewed),
    }


def review_words(entry: Entry) -> str:
    """Return what a person says instead of the verdict; empty where no review differs."""
    if entry.reviewed is None or not entry.is_overridden:
        return ""
    latest = entry.reviewed.latest
    also = "; people disagree" if entry.reviewed.disputed else ""
    word = review_mark(latest.verdict).word
    return f"overridden by a person: {word} ({latest.created_at[:10]}){also}"


def _mark(check: Check) -> str:
    return "met" if check.met else "NOT MET"


def _claim(entry: Entry, names: Mapping[int, str]) -> Branch:
    """Show a claim with its state, and why it has it."""
    word = BY_KIND[entry.state].word
    if entry.of_turn and entry.reason:
        word = entry.reason
    elif entry.state in (State.FAILED, State.UNDECIDED):
        word = with_reason(word, entry.reason)
    elif entry.indicative:
        word += " (indicative)"
    facts = [word]
    facts += [stage_words(entry, names)] if entry.error_stages else []
    facts += [CHANGE_WORDS[entry.change]] if entry.change in CHANGE_WORDS else []
    facts += [one for one in (entry.again, review_words(entry)) if one]
    line = (name(entry.claim_id, Style.STRONG), ours(": "), said(entry.text))
    return Branch((*line, ours(" ["), quoting("; ".join(facts)), ours("]")), (), "claim")


ROOM = Room({"claim": 20}, 320)
"""Claims of an outcome that are listed; JSON lists all of them."""
_STAGES = 12
_HEADING = {True: "✅ VeriTrail gate: passed", False: "❌ VeriTrail gate: not met"}


def step_summary(outcome: Outcome, title: str, names: Mapping[int, str]) -> str:
    """The summary of a step of a forge, as Markdown.

    Args:
        outcome: The outcome.
        title: What the process is called.
        names: What its stages are called.
    """
    about: Line = (name(outcome.process_id),)
    if title != outcome.process_id:
        about = (said(cut(title, 80)), ours(" ("), *about, ours(")"))
    ended = f"Outcome: {verdict_words(outcome)}, exit status {outcome.status}."
    document = outcome_shown(outcome, names)
    blocks = (Heading((ours(_HEADING[outcome.passed]),)), Passage("process", about))
    end = Remark((ours(ended, Style.STRONG),))
    return text(Document((*blocks, *document.blocks[1:], end)), ROOM)


def _stages(outcome: Outcome, names: Mapping[int, str]) -> Iterator[Block]:
    """Show where unsupported content came in."""
    together = Counter(
        entry.error_stages
        for entry in outcome.entries
        if outcome.limits.counts(entry.state) and entry.error_stages
    )
    found = sorted(stage_shares(together).items(), key=lambda each: (-each[1], each[0]))
    rows = tuple(
        (
            (ours(f"{stage} "), said(cut(names.get(stage, ""), 60))),
            (ours(in_parts(count)),),
        )
        for stage, count in found[:_STAGES]
    )
    if rows:
        yield Table(("introduced at stage", "claims"), rows, right=("claims",))
    if any(len(stages) > 1 for stages in together):
        words = "A claim whose place is one of several stages counts once, in equal parts."
        yield Remark((ours(words),), Style.QUIET)


def outcome_xml(outcome: Outcome, material: ReportData) -> str:
    """The outcome as JUnit XML: a case for every rule, then every claim.

    What the baseline knew already is skipped, so that the file and the gate say the same.

    Args:
        outcome: The outcome.
        material: The process and its claims, as the gate counted them.
    """
    from junitparser import Failure, TestSuite

    rules = TestSuite(f"gate of {outcome.process_id}")
    for check in outcome.checks:
        result = None if check.met else Failure(check.words, "gate_not_met")
        rules.add_testcase(
            claim_case(check.name, f"{outcome.process_id}.gate", result, check.words)
        )
    return junit_report(
        material,
        strict=outcome.limits.strict,
        known={entry.claim_id for entry in outcome.changed(BaselineChange.KNOWN)},
        name=f"veritrail gate: {outcome.process_id}",
        first=rules,
        outcome=verdict_words(outcome),
    )

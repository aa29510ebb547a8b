"""An outcome of the gate as a person and as a program read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from veritrail_graph.api.gate.entries import Change, Entry
from veritrail_graph.api.gate.rules import Check, Outcome
from veritrail_graph.api.reports.material import STATE_WORDS, State

WORST = (State.NOT_SUPPORTED, State.FAILED, State.INCONCLUSIVE, State.UNCHECKED)
"""What a reader should look at, worst first."""

CHANGE_WORDS = {
    Change.REGRESSED: "worse than in the baseline",
    Change.NEW: "new since the baseline",
    Change.KNOWN: "known in the baseline",
    Change.FIXED: "fixed since the baseline",
}
_CHANGES = (Change.REGRESSED, Change.NEW, None, Change.SAME, Change.KNOWN, Change.FIXED)
_SHOWN = 20
_LONGEST = 160
_LONGEST_NOTE = 1_000


def verdict_words(outcome: Outcome) -> str:
    """The outcome in two words; they say what the exit status says."""
    return "passed" if outcome.passed else "not met"


def worst(outcome: Outcome) -> list[Entry]:
    """The claims that are not supported, worst first; those that break a rule before the others."""
    broken = {name for check in outcome.checks for name in check.claim_ids}
    open_ = [entry for entry in outcome.entries if entry.state in WORST]
    return sorted(
        open_,
        key=lambda entry: (
            entry.claim_id not in broken,
            _CHANGES.index(entry.change),
            WORST.index(entry.state),
        ),
    )


def stage_words(entry: Entry, names: Mapping[int, str]) -> str:
    """Where a claim went wrong, in words; empty where that is not known or no matter."""
    if not entry.error_stages:
        return ""
    each = [f"{n} ({cut(names[n])})" if n in names else str(n) for n in entry.error_stages]
    return f"introduced at stage {', '.join(each)}"


def cut(text: str, most: int = _LONGEST) -> str:
    """Text on one line, cut at a number of characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def outcome_lines(outcome: Outcome, names: Mapping[int, str]) -> list[str]:
    """The outcome for a terminal: lines that stay lines, of texts that are untrusted."""
    lines = [f"Gate of {outcome.process_id}: {verdict_words(outcome)}", ""]
    lines += [f"  {_mark(check):8} {check.words}" for check in outcome.checks]
    lines += ["", f"  {counts_words(outcome)}", *_since(outcome)]
    found = worst(outcome)
    if found:
        lines += ["", *(_claim_line(entry, names) for entry in found[:_SHOWN])]
    if len(found) > _SHOWN:
        lines.append(f"  … and {len(found) - _SHOWN:,} more; --format json lists all of them")
    lines += [f"  Note: {cut(note, _LONGEST_NOTE)}" for note in outcome.notes]
    return [line.replace("\n", " ") for line in lines]


def counts_words(outcome: Outcome) -> str:
    """How many claims there are of each kind."""
    counts = [f"{STATE_WORDS[state].lower()} {n:,}" for state, n in outcome.counts.items()]
    return f"{len(outcome.entries):,} claim(s): {', '.join(counts)}"


def since_words(outcome: Outcome) -> str:
    """What became of the claims of the baseline, in numbers."""
    parts = [f"{words} {len(outcome.changed(change)):,}" for change, words in CHANGE_WORDS.items()]
    return f"{', '.join(parts)}, gone {len(outcome.gone):,}"


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as one JSON object; claims that are supported are left out unless changed."""
    limits = asdict(outcome.limits)
    told = [
        entry
        for entry in outcome.entries
        if entry.state is not State.SUPPORTED or entry.change is Change.FIXED
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
        "indicative": any(entry.indicative for entry in outcome.entries),
        "baseline": _baseline_json(outcome),
        "claims": [_entry_json(entry) for entry in told],
        "notes": list(outcome.notes),
    }


def _baseline_json(outcome: Outcome) -> dict[str, Any] | None:
    if not outcome.has_baseline:
        return None
    counts = {change.value: len(outcome.changed(change)) for change in CHANGE_WORDS}
    return {**counts, "gone": [entry.claim_id for entry in outcome.gone]}


def _entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "claim_id": entry.claim_id,
        "claim": entry.text,
        "state": entry.state.value,
        "error_stages": list(entry.error_stages),
        "reason": entry.reason,
        "indicative": entry.indicative,
        "change": entry.change.value if entry.change else None,
    }


def _mark(check: Check) -> str:
    return "met" if check.met else "NOT MET"


def _since(outcome: Outcome) -> list[str]:
    return [f"  Since the baseline: {since_words(outcome)}"] if outcome.has_baseline else []


def _claim_line(entry: Entry, names: Mapping[int, str]) -> str:
    facts = [STATE_WORDS[entry.state], stage_words(entry, names)]
    if entry.change in CHANGE_WORDS:
        facts.append(CHANGE_WORDS[entry.change])
    if entry.state is State.FAILED:
        facts.append(cut(entry.reason or "no reason was kept"))
    return f"  {entry.claim_id}: {cut(entry.text)} [{'; '.join(fact for fact in facts if fact)}]"

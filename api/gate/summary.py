"""An outcome of the gate as the summary of a step: short Markdown as GitHub shows it.

Texts of claims are untrusted: they show as they are, link to nothing and mention nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from veritrail_graph.api.gate.entries import Entry
from veritrail_graph.api.gate.rules import Outcome
from veritrail_graph.api.gate.telling import (
    CHANGE_WORDS,
    counts_words,
    cut,
    since_words,
    verdict_words,
    worst,
)
from veritrail_graph.api.reports.material import STATE_WORDS
from veritrail_graph.graph.exporters.markdown import escaped

_CLAIMS = 15
_STAGES = 12
_HEADING = {True: "✅ VeriTrail gate: passed", False: "❌ VeriTrail gate: not met"}


def step_summary(outcome: Outcome, name: str, names: Mapping[int, str]) -> str:
    """The summary.

    Args:
        outcome: The outcome.
        name: What the process is called.
        names: What its stages are called.
    """
    title = untrusted(name, 80)
    about = f"{title} (`{outcome.process_id}`)" if name != outcome.process_id else f"`{name}`"
    lines = [f"## {_HEADING[outcome.passed]}", "", about, "", "| rule | |", "|---|---|"]
    for check in outcome.checks:
        mark = "✅ met" if check.met else "❌ **not met**"
        lines.append(f"| {check.words} | {mark} |")
    lines += ["", f"{counts_words(outcome)}."]
    if outcome.has_baseline:
        lines += ["", f"Since the baseline: {since_words(outcome)}."]
    lines += _stages(outcome, names)
    lines += _claims(outcome)
    lines += [f"> {untrusted(note, 300)}\n" for note in outcome.notes]
    lines.append(f"Outcome: **{verdict_words(outcome)}**, exit status {outcome.status}.")
    return "\n".join(lines) + "\n\n"


def untrusted(text: str, most: int = 160) -> str:
    """Text from outside on one line; also what a forge itself would read (links, names) is off."""
    return escaped(cut(text, most)).replace("@", "&#64;").replace(":", "&#58;")


def _stages(outcome: Outcome, names: Mapping[int, str]) -> list[str]:
    """Where unsupported content came in."""
    found = Counter(
        stage
        for entry in outcome.entries
        if outcome.limits.counts(entry.state)
        for stage in entry.error_stages
    )
    if not found:
        return []
    rows = [
        f"| {stage} {untrusted(names.get(stage, ''), 60)} | {count:,} |"
        for stage, count in found.most_common(_STAGES)
    ]
    return ["", "| introduced at stage | claims |", "|---|--:|", *rows]


def _claims(outcome: Outcome) -> list[str]:
    found = worst(outcome)
    if not found:
        return [""]
    lines = ["", "| claim | verdict | stage | text |", "|---|---|---|---|"]
    lines += [_row(entry) for entry in found[:_CLAIMS]]
    if len(found) > _CLAIMS:
        lines += ["", f"… and {len(found) - _CLAIMS:,} more."]
    return [*lines, ""]


def _row(entry: Entry) -> str:
    verdict = STATE_WORDS[entry.state] + (" (indicative)" if entry.indicative else "")
    if entry.change in CHANGE_WORDS:
        verdict += f", {CHANGE_WORDS[entry.change]}"
    stages = ", ".join(map(str, entry.error_stages))
    return f"| `{entry.claim_id}` | {verdict} | {stages} | {untrusted(entry.text)} |"

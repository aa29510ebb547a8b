"""A process's verdicts as Markdown: a summary, a table, and every trail.

Texts of nodes and claims are untrusted: every character that Markdown or HTML would read
is escaped, so that they show as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.exporters.results import selected_sentences
from graph.model import Claim, Iteration, Process, Verdict, Verification

WORDS = {
    Verdict.FULLY_SUPPORTED: "Fully Supported",
    Verdict.NOT_FULLY_SUPPORTED: "Not Fully Supported",
    Verdict.INCONCLUSIVE: "Inconclusive",
}


def escaped(text: str) -> str:
    """Untrusted text on one line, shown as it is by a Markdown renderer; no control characters."""
    line = "".join(char for char in " ".join(text.split()) if char.isprintable())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~])", r"\\\1", line)


def markdown_report(
    process: Process, claims: Sequence[Claim], verifications: Sequence[Verification]
) -> str:
    """The report.

    Args:
        process: The process.
        claims: All its claims.
        verifications: The latest verification of each claim that has one.
    """
    found = {verification.claim.claim_id: verification for verification in verifications}
    lines = [f"# {escaped(process.name)}", ""]
    if process.question:
        lines += [f"Question: {escaped(process.question)}", ""]
    lines += _summary(process, claims, found)
    lines += _table(claims, found)
    for claim in claims:
        if claim.claim_id in found:
            lines += _trail(found[claim.claim_id])
    return "\n".join(lines).rstrip() + "\n"


def _summary(
    process: Process, claims: Sequence[Claim], found: dict[str, Verification]
) -> list[str]:
    verified = found.values()
    lines = [
        f"Process `{process.process_id}`: {process.nodes:,} nodes, {process.edges:,} edges, "
        f"{len(claims):,} claims.",
        "",
    ]
    for verdict, words in WORDS.items():
        lines.append(f"- {words}: {sum(v.verdict is verdict for v in verified):,}")
    without = [v for v in verified if v.verdict is None]
    if without:
        lines.append(f"- Could not be checked: {len(without):,}")
    if len(claims) > len(found):
        lines.append(f"- Not verified yet: {len(claims) - len(found):,}")
    if any(v.indicative for v in verified):
        lines += [
            "",
            "> Some verdicts are **indicative only**: no language model judged, words were "
            "compared.",
        ]
    for warning in process.warnings:
        lines += ["", f"> Warning: {escaped(warning)}"]
    return [*lines, ""]


def _table(claims: Sequence[Claim], found: dict[str, Verification]) -> list[str]:
    lines = ["| claim | verdict | error stage | text |", "|---|---|---|---|"]
    for claim in claims:
        verification = found.get(claim.claim_id)
        stages = ", ".join(map(str, verification.error.stages)) if verification else ""
        lines.append(
            f"| `{claim.claim_id}` | {_verdict(verification)} | {stages} | {escaped(claim.text)} |"
        )
    return [*lines, ""]


def _verdict(verification: Verification | None) -> str:
    if verification is None:
        return "not verified"
    if verification.verdict is None:
        return f"could not be checked ({verification.status.value})"
    mark = " (indicative)" if verification.indicative else ""
    return WORDS[verification.verdict] + mark


def _trail(verification: Verification) -> list[str]:
    claim = verification.claim
    lines = [
        f"## {escaped(claim.text)}",
        "",
        f"{_verdict(verification)}, claim `{claim.claim_id}`, verification "
        f"`{verification.verification_id}`, engine `{verification.engine}`.",
        "",
    ]
    if verification.reasoning:
        lines += [escaped(verification.reasoning), ""]
    if verification.failure:
        lines += [f"Why: {escaped(verification.failure)}", ""]
    for iteration in verification.iterations:
        lines += _iteration(iteration)
    if verification.error.nodes:
        lines += ["**Where the error came in**", ""]
        lines += [
            f"- introduced in {escaped(node.node_id)} (stage {node.stage})"
            for node in verification.error.nodes
        ]
        lines += [
            f"- carried on by {escaped(node.node_id)} (stage {node.stage})"
            for node in verification.error.propagated
        ]
        lines.append("")
    return lines


def _iteration(iteration: Iteration) -> list[str]:
    stages = {node.node_id: node.stage for node in iteration.checked}
    lines = [
        f"Iteration {iteration.number}: {WORDS[iteration.verdict]}, "
        f"{len(iteration.checked)} node(s) checked.",
        "",
    ]
    for cited in selected_sentences(iteration):
        sentence = cited.sentence
        stage = stages.get(sentence.node_id)
        lines.append(f"- {escaped(sentence.node_id)} (stage {stage}): {escaped(sentence.text)}")
    return [*lines, ""] if len(lines) > 2 else lines

"""A report as GitHub-flavoured Markdown: a summary, a table, and every trail.

Texts of nodes and claims are untrusted: every character that Markdown or HTML would read
is escaped. Trails are read a few at a time.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

from veritrail_graph.api.reports.data import Origin
from veritrail_graph.api.views.costs import counted, step_words, usage_words
from veritrail_graph.api.views.trail import IterationView, trail_view
from veritrail_graph.api.views.words import VERDICT_WORDS, WAITING
from veritrail_graph.graph.model import (
    Claim,
    Process,
    Reviewed,
    ReviewKind,
    Verdict,
    Verification,
    total_usage,
)


def escaped(text: str) -> str:
    """Untrusted text on one line, shown as it is by a Markdown renderer; no control characters."""
    line = "".join(char for char in " ".join(text.split()) if char.isprintable())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(r"([\\`*_{}\[\]()#+\-.!|~])", r"\\\1", line)
    # GitHub makes links of addresses, and mentions of names, wherever it sees them.
    return line.replace("://", "\\://").replace("@", "@<!-- -->")


def as_code(text: str) -> str:
    """An id in the type of code; one that could end it is text like any other."""
    return f"`{text}`" if re.fullmatch(r"[\w.:-]+", text, re.ASCII) else escaped(text)


def report_head(
    process: Process,
    claims: Sequence[Claim],
    found: Mapping[str, Verification],
    said: Mapping[str, Reviewed],
    only: str = "",
) -> list[str]:
    """The lines before the trails.

    Args:
        process: The process.
        claims: The claims of the report.
        found: Their latest verifications, with or without trails, by claim_id.
        said: What people said, by claim_id.
        only: Which claims of the process these are; nothing: all.
    """
    lines = [f"# {escaped(process.name)}", ""]
    if process.question:
        lines += [f"Question: {escaped(process.question)}", ""]
    if only:
        lines += [f"Only: {escaped(only)}", ""]
    lines += _summary(process, claims, found)
    lines += _reviewed(said)
    lines += _table(claims, found, said)
    return lines + _without_verdict(claims, found)


def trail_lines(one: Verification | None, said: Reviewed | None) -> list[str]:
    """The lines of a trail; none of a claim that was not verified yet."""
    if one is None or one.status in WAITING:
        return []
    return _trail(one) + _reviews(said)


def _summary(
    process: Process, claims: Sequence[Claim], found: Mapping[str, Verification]
) -> list[str]:
    verified = found.values()
    lines = [
        f"Process `{process.process_id}`: {counted(process.nodes, 'node')}, "
        f"{counted(process.edges, 'edge')}, {counted(len(claims), 'claim')}.",
        "",
    ]
    for verdict, words in VERDICT_WORDS.items():
        lines.append(f"- {words}: {sum(v.verdict is verdict for v in verified):,}")
    waiting = sum(v.status in WAITING for v in verified)
    without = sum(v.verdict is None for v in verified) - waiting
    if without:
        lines.append(f"- Could not be checked: {without:,}")
    if len(claims) - len(found) + waiting > 0:
        lines.append(f"- Not verified yet: {len(claims) - len(found) + waiting:,}")
    judged = [v for v in verified if v.verdict is not None]
    if any(v.indicative for v in judged):
        which = "All" if all(v.indicative for v in judged) else "Some"
        lines += [
            "",
            f"> {which} verdicts are **indicative only**: no language model judged, words were "
            "compared.",
        ]
    if any(v.model for v in verified):
        lines += ["", f"Of these verifications: {escaped(usage_words(total_usage(verified)))}"]
    for warning in process.warnings:
        lines += ["", f"> Warning: {escaped(warning)}"]
    return [*lines, ""]


def _reviewed(said: Mapping[str, Reviewed]) -> list[str]:
    """How many claims people reviewed, and what that came to."""
    if not said:
        return []
    kinds = [
        f"{kind.value} {sum(one.kind is kind for one in said.values()):,}" for kind in ReviewKind
    ]
    disputed = sum(one.disputed for one in said.values())
    return [f"Reviewed by people: {len(said):,} ({', '.join(kinds)}; disputed {disputed:,}).", ""]


def _table(
    claims: Sequence[Claim], found: Mapping[str, Verification], said: Mapping[str, Reviewed]
) -> list[str]:
    if not claims:
        return ["There are no claims.", ""]
    column = (" review |", "---|") if said else ("", "")
    lines = [
        f"| claim | verdict |{column[0]} error stage | text |",
        f"|---|---|{column[1]}---|---|",
    ]
    for claim in claims:
        verification = found.get(claim.claim_id)
        stages = ", ".join(map(str, verification.error_stages)) if verification else ""
        review = f" {_review(said.get(claim.claim_id))} |" if said else ""
        lines.append(
            f"| `{claim.claim_id}` | {_verdict(verification)} |{review} {stages} | "
            f"{escaped(claim.text)} |"
        )
    return [*lines, ""]


def _review(one: Reviewed | None) -> str:
    """What the reviews of a claim come to, in a cell."""
    if one is None:
        return ""
    verdict = one.reviewed_verdict
    words = f"{one.kind.value}: {VERDICT_WORDS[verdict]}" if verdict else one.kind.value
    return f"{words}, disputed" if one.disputed else words


def _reviews(one: Reviewed | None) -> list[str]:
    """What counts of each reviewer, below a trail."""
    if one is None:
        return []
    lines = ["**Reviews by people**", ""]
    for review in one.counting:
        verdict = None if review.kind is ReviewKind.UNCLEAR else Verdict(review.verdict.value)
        said = VERDICT_WORDS[verdict] if verdict else "unclear"
        reason = f": {escaped(review.reason)}" if review.reason else ""
        lines.append(f"- {escaped(review.reviewer)}, {review.created_at[:10]}, {said}{reason}")
    return [*lines, ""]


def _without_verdict(claims: Sequence[Claim], found: Mapping[str, Verification]) -> list[str]:
    """The claims that could not be checked, each with the reason."""
    lines = []
    for claim in claims:
        one = found.get(claim.claim_id)
        if one is not None and one.verdict is None and one.status not in WAITING:
            why = escaped(one.error or "no reason was kept")
            lines.append(f"- `{claim.claim_id}`, {one.status.value.replace('_', ' ')}: {why}")
    return ["**Could not be checked**", "", *lines, ""] if lines else []


Asked = tuple[str, str, str, str, float | None]
"""A step, its prompt, the hash of that, the model, and the temperature."""


def asked_of(verifications: Iterable[Verification]) -> set[Asked]:
    """Which models were asked, with which prompts."""
    return {
        (step.step, step.prompt, step.prompt_hash, step.model, step.temperature)
        for verification in verifications
        for step in verification.steps
    }


def asked_lines(asked: Collection[Asked]) -> list[str]:
    """Which models were asked, with which prompts, as a table."""
    if not asked:
        return []
    lines = ["| step | prompt | hash | model | temperature |", "|---|---|---|---|---|"]
    for step, prompt, digest, model, warmth in sorted(
        asked, key=lambda row: (*row[:4], str(row[4]))
    ):
        lines.append(
            f"| {escaped(step_words(step))} | {escaped(prompt)} | {as_code(digest[:12])} | "
            f"{escaped(model)} | {'' if warmth is None else f'{warmth:g}'} |"
        )
    return ["**Prompts and models**", "", *lines, ""]


def _verdict(verification: Verification | None) -> str:
    if verification is None:
        return "not verified"
    if verification.status in WAITING:
        return f"not verified yet ({verification.status.value})"
    if verification.verdict is None:
        return f"could not be checked ({verification.status.value})"
    mark = " (indicative)" if verification.indicative else ""
    return VERDICT_WORDS[verification.verdict] + mark


def _trail(verification: Verification) -> list[str]:
    lines = [
        f"## {escaped(verification.claim)}",
        "",
        f"{_verdict(verification)}, claim `{verification.claim_id}`, verification "
        f"`{verification.verification_id}`, {_engine(verification)}.",
        "",
    ]
    if verification.reasoning:
        lines += [escaped(verification.reasoning), ""]
    if verification.error:
        lines += [f"Why: {escaped(verification.error)}", ""]
    if verification.model:
        lines += [f"Usage: {escaped(usage_words(verification.usage))}", ""]
    view = trail_view(verification)
    for one in view.iterations:
        lines += _iteration(one)
    if view.introduced:
        lines += ["**Where the error came in**", ""]
        lines += [
            f"- introduced in {escaped(node.node_id)} (stage {node.stage})"
            for node in view.introduced
        ]
        lines += [
            f"- carried on by {escaped(node.node_id)} (stage {node.stage})"
            for node in view.inherited
        ]
        lines.append("")
    return lines


def _engine(verification: Verification) -> str:
    facts = [f"engine {as_code(verification.engine)}"]
    if verification.model:
        facts.append(f"model {escaped(verification.model)}")
    if verification.score is not None:
        facts.append(f"score {verification.score:.2f}")
    return ", ".join(facts)


def _iteration(one: IterationView) -> list[str]:
    lines = [f"Iteration {one.number}: {one.mark.word}, {counted(one.read, 'node')} checked.", ""]
    for remark in one.remarks:
        lines += [f"> {remark}", ""]
    found = [(node, cited) for node in one.nodes for cited in node.cited]
    lines += [
        f"- {escaped(node.node_id)} (stage {node.ref.stage}): {escaped(sentence.text)}"
        for node, sentence in found
    ]
    return [*lines, ""] if found else lines


_IN_MEMORY = 16_000_000
_PIECE = 1_000_000


async def markdown_pieces(origin: Origin) -> AsyncIterator[str]:
    """The report, piece by piece.

    What was asked of models stands before the trails and is known only behind them: they wait in
    a temporary file, beyond what is little.
    """
    material = origin.material
    chosen = material.claims
    found = {one.claim.claim_id: one.verification for one in chosen if one.verification is not None}
    said = {one.claim.claim_id: one.reviewed for one in chosen if one.reviewed is not None}
    only = material.wanted.words()
    lines = report_head(material.process, [one.claim for one in chosen], found, said, only)
    asked: set[Asked] = set()
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="") as waiting:
        async for trail in origin.trails(chosen):
            if trail.verification is not None:
                asked |= asked_of([trail.verification])
            told = trail_lines(trail.verification, trail.checked.reviewed)
            waiting.write("".join(f"{line}\n" for line in told))
        lines += asked_lines(asked)
        piece = "\n".join(lines) + "\n"
        waiting.seek(0)
        while more := waiting.read(_PIECE):
            yield piece
            piece = more
        yield piece.rstrip("\n") + "\n"

"""Answers as a notebook shows them: small HTML that needs nothing else.

Every text is untrusted and escaped; styles stand inline, there is no script. Words carry what
colours say; colours are solid behind white letters, so that they read on light and dark pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.views.texts import clean
from veritrail_graph.api.views.words import INDICATIVE, VERDICT_WORDS
from veritrail_graph.graph.model import Verdict

if TYPE_CHECKING:
    from veritrail_graph.api.client.answers import (
        Claim,
        Ingested,
        JobState,
        Process,
        Provenance,
        Rows,
        Verification,
    )
    from veritrail_graph.graph.model import Iteration

COLOURS = {
    Verdict.FULLY_SUPPORTED: "#1a7f37",
    Verdict.NOT_FULLY_SUPPORTED: "#b62324",
    Verdict.INCONCLUSIVE: "#8a6100",
    None: "#57606a",
}
"""Colours of verdicts, and of no verdict; dark enough to stand behind white letters."""

ROWS_SHOWN = 100
TEXT_SHOWN = 600

_BOX = "font-family:system-ui,sans-serif;line-height:1.45;color:inherit;max-width:70em"
_CELL = (
    "text-align:left;vertical-align:top;padding:.25em .8em .25em 0;"
    "border-bottom:1px solid rgba(128,128,128,.35)"
)
_CHIP = "color:#fff;border-radius:.3em;padding:.05em .45em;white-space:nowrap;background:"
_QUIET = "opacity:.75"
_DETAILS = "margin:.35em 0;padding-left:.7em;border-left:3px solid rgba(128,128,128,.45)"


def text(value: Any, most: int = TEXT_SHOWN) -> str:
    """Untrusted text as HTML: escaped, without what could turn its direction, cut at a length."""
    line = clean(str(value))
    line = line if len(line) <= most else f"{line[: most - 1]}…"
    return escape(line, quote=True).replace("\n", "<br>")


def process(found: Process | Ingested) -> str:
    """A process: its size, and its claims by verdict."""
    verdicts: Mapping[str, int] = getattr(found, "verdicts", {})
    facts = [
        ("nodes", f"{found.nodes:,}"),
        ("edges", f"{found.edges:,}"),
        ("claims", f"{found.claims:,}"),
        ("terminals", ", ".join(found.terminals[:5])),
    ]
    rows = "".join(_row([_bold(name), text(value)]) for name, value in facts if value)
    counted = " ".join(f"{chip(name)} {number:,}" for name, number in verdicts.items() if number)
    rows += _row([_bold("verdicts"), counted]) if counted else ""
    warnings = "".join(f"<div>Warning: {text(one)}</div>" for one in found.warnings[:5])
    head = f"{_bold(found.process_id)} <span style='{_QUIET}'>{text(found.status)}</span>"
    return _box(f"{head}<div>{text(found.name)}</div>{_table((), rows)}{warnings}")


def claims(found: Sequence[Claim]) -> str:
    """Claims with their latest verdicts."""
    rows = [
        _row([_code(one.claim_id), chip(one.verdict) if one.verdict else "", text(one.text)])
        for one in found[:ROWS_SHOWN]
    ]
    return _box(_table(("claim", "verdict", "text"), "".join(rows)) + _rest(len(found)))


def trail(found: Verification) -> str:
    """A verification with its trail, each iteration to be opened."""
    by = f"{found.engine} {found.model}" if found.model else found.engine
    facts = f"node {found.node_id} · q = {found.q} · {by} · {found.created_at}"
    parts = [
        f"<div>{chip(found.verdict or found.status)} {_bold(found.claim)}</div>",
        f"<div style='{_QUIET}'>{text(facts)}</div>",
    ]
    if found.indicative:
        parts.append(f"<div><em>{text(INDICATIVE.capitalize())}.</em></div>")
    if found.reasoning:
        parts.append(f"<div>{text(found.reasoning)}</div>")
    if found.error:
        parts.append(f"<div>{_bold('No verdict')}: {text(found.error)}</div>")
    if found.error_stages:
        stages = ", ".join(map(str, found.error_stages))
        nodes = ", ".join(node.node_id for node in found.error_nodes)
        parts.append(f"<div>{_bold('Went wrong at stage')} {text(stages)}: {text(nodes)}</div>")
    parts += [_iteration(one) for one in found.iterations]
    return _box("".join(parts))


def _iteration(found: Iteration) -> str:
    sentences = "".join(
        f"<li>{_code(one.node_id)} sentence {one.sentence}"
        f"{' (context)' if one.role == 'context' else ''}: {text(one.text)}</li>"
        for one in found.evidence[:ROWS_SHOWN]
    )
    missing = "".join(
        f"<div>Missing: {text(one.missing)}</div>" for one in found.summaries if one.missing
    )
    nodes = len(found.checked)
    return (
        f"<details style='{_DETAILS}'><summary>Iteration {found.number}: {chip(found.verdict)} "
        f"{nodes:,} node{'' if nodes == 1 else 's'} checked, {len(found.evidence):,} sentence(s) "
        f"selected</summary><div>{text(found.reasoning)}</div>"
        f"<ul>{sentences or '<li>nothing was selected</li>'}</ul>{missing}"
        f"{_rest(len(found.evidence))}</details>"
    )


def job(found: JobState) -> str:
    """A job: where it stands, and its verifications by status."""
    counts = ", ".join(f"{number:,} {name}" for name, number in found.counts.items())
    cost = found.usage.cost_usd
    facts = [
        ("process", found.process_id or ""),
        ("verifications", counts or f"{len(found.verification_ids):,}"),
        ("calls", f"{found.usage.calls:,}"),
        # An unknown price is never shown as nothing.
        ("cost", f"${cost:,.4f}" if cost is not None else ""),
        ("error", str((found.model_extra or {}).get("error") or "")),
    ]
    rows = "".join(_row([_bold(name), text(value)]) for name, value in facts if value)
    return _box(f"{_code(found.job_id)} {chip(found.status)}{_table((), rows)}")


def provenance(found: Provenance) -> str:
    """Paths from source text to the verified node."""
    paths = "".join(
        "<li>" + " → ".join(f"{_code(one.node_id)} (stage {one.stage})" for one in path) + "</li>"
        for path in found.paths[:ROWS_SHOWN]
    )
    whole = "<div>There are more paths.</div>" if found.truncated else ""
    return _box(f"<ol>{paths or '<li>no path</li>'}</ol>{whole}{_rest(len(found.paths))}")


def rows(found: Rows) -> str:
    """Rows of a query as a table."""
    body = "".join(_row([_value(cell) for cell in row]) for row in found.rows[:ROWS_SHOWN])
    notes = "<div>There are more rows than the query gives.</div>" if found.truncated else ""
    if found.indicative:
        notes += f"<div><em>Verdicts are {text(INDICATIVE)}.</em></div>"
    return _box(_table(found.columns, body) + _rest(len(found.rows)) + notes)


def table(found: Sequence[Any]) -> str:
    """A list of answers: a table of their plain values."""
    from veritrail_graph.api.client.answers import Claim, Verification

    if found and all(isinstance(one, Claim) for one in found):
        return claims(found)
    if found and all(isinstance(one, Verification) for one in found):
        return verifications(found)
    records = [one.as_json() for one in found[:ROWS_SHOWN]]
    told = (pair for one in records for pair in one.items())
    columns = list(
        dict.fromkeys(name for name, value in told if not isinstance(value, list | dict))
    )
    body = "".join(_row([_value(one.get(name)) for name in columns]) for one in records)
    return _box((_table(columns, body) if body else "Nothing.") + _rest(len(found)))


def verifications(found: Sequence[Verification]) -> str:
    """Verifications, one on a line."""
    body = "".join(
        _row(
            [
                chip(one.verdict or one.status),
                text(one.claim),
                text(", ".join(map(str, one.error_stages))),
                _code(one.verification_id),
            ]
        )
        for one in found[:ROWS_SHOWN]
    )
    names = ("verdict", "claim", "error stages", "verification")
    note = f"<div><em>{text(INDICATIVE.capitalize())}.</em></div>"
    is_indicative = any(one.indicative for one in found)
    return _box(_table(names, body) + _rest(len(found)) + (note if is_indicative else ""))


def chip(name: str) -> str:
    """A verdict or a status: its words on its colour."""
    if name in set(Verdict):
        verdict = Verdict(name)
        return _chip(COLOURS[verdict], VERDICT_WORDS[verdict])
    return _chip(COLOURS[None], name.replace("_", " "))


def _chip(colour: str, words: str) -> str:
    return f"<span style='{_CHIP}{colour}'>{text(words)}</span>"


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return chip(value) if value in set(Verdict) else text(value)
    return text(json.dumps(value, ensure_ascii=False))


def _bold(value: Any) -> str:
    return f"<strong>{text(value)}</strong>"


def _code(value: str) -> str:
    return f"<code>{text(value)}</code>"


def _row(cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<td style='{_CELL}'>{cell}</td>" for cell in cells) + "</tr>"


def _table(names: Iterable[str], body: str) -> str:
    heads = "".join(f"<th style='{_CELL}'>{text(name)}</th>" for name in names)
    head = f"<thead><tr>{heads}</tr></thead>" if heads else ""
    return f"<table style='border-collapse:collapse'>{head}<tbody>{body}</tbody></table>"


def _rest(count: int) -> str:
    more = count - ROWS_SHOWN
    return f"<div style='{_QUIET}'>… and {more:,} more</div>" if more > 0 else ""


def _box(content: str) -> str:
    return f"<div style='{_BOX}'>{content}</div>"

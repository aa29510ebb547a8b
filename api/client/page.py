"""Answers as a notebook shows them: small HTML that needs nothing else.

Every text is untrusted and escaped; styles stand inline, there is no script. Words carry what
colours say; colours are solid behind white letters, so that they read on light and dark pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.views.dialogue import (
    SCORE_WORDS,
    check_words,
    claim_counts,
    claim_mark,
    cut_words,
    setting_words,
    turn_mark,
)
from veritrail_graph.api.views.texts import clean, figure
from veritrail_graph.api.views.trail import trail_view
from veritrail_graph.api.views.words import (
    INDICATIVE_IN_PART,
    VERDICT_OF,
    VERDICT_WORDS,
    Mark,
    either,
    indicative_words,
    reason_apart,
    unsaid_in_short,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import EvidenceRole, Status, Verdict, Verification

if TYPE_CHECKING:
    from veritrail_graph.api.app.answers import Ingested, ProcessFound
    from veritrail_graph.api.app.findings import ClaimFound, Provenance, QueryRows
    from veritrail_graph.api.views.trail import IterationView
    from veritrail_graph.api.views.twists import Twist
    from veritrail_graph.graph.model.dialogue import DialogueRun, TurnClaim, TurnVerification

COLOURS = {
    Verdict.FULLY_SUPPORTED: "#1a7f37",
    Verdict.NOT_FULLY_SUPPORTED: "#b62324",
    Verdict.INCONCLUSIVE: "#8a6100",
    None: "#57606a",
}
"""Colours of verdicts, and of no verdict; dark enough to stand behind white letters."""

ROWS_SHOWN = 100
TEXT_SHOWN = 600
TWISTS_SHOWN = 10

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


def process(found: ProcessFound | Ingested) -> str:
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


def claims(found: Sequence[ClaimFound]) -> str:
    """Claims with their verdicts in force."""
    rows = [
        _row(
            [
                _code(one.claim_id),
                chip(said) if (said := one.verdict or one.status) else "",
                text(one.text),
            ]
        )
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
        words = indicative_words(found.engine).capitalize()
        parts.append(f"<div><em>{text(words)}.</em></div>")
    if found.reasoning:
        parts.append(f"<div>{text(found.reasoning)}</div>")
    carried = getattr(found, "carried", ())
    view = trail_view(found, carried=carried)
    if view.unsaid:
        parts.append(f"<div>{_bold(view.unsaid)}</div>")
    if view.appeals:
        parts.append(f"<div>{text(view.appeals)}</div>")
    if why := reason_apart(found):
        parts.append(f"<div>{_bold('No verdict')}: {text(why)}</div>")
    if view.introduced:
        stages = either([str(stage) for stage in found.error_stages])
        nodes = "one of " if len(view.introduced) > 1 else ""
        nodes += ", ".join(one.node_id for one in view.introduced)
        parts.append(f"<div>{_bold('Went wrong at stage')} {text(stages)}: {text(nodes)}</div>")
    parts += map(_twist, view.twists[:TWISTS_SHOWN])
    parts.append(_rest(len(view.twists), TWISTS_SHOWN))
    parts += [_iteration(one) for one in view.iterations]
    return _box("".join(parts))


def _twist(found: Twist) -> str:
    """What an error node did with its sources, in one sentence of it."""
    sources = "".join(
        f"<li>{text(each.heading)}: {_code(each.sentence.node_id)} sentence "
        f"{each.sentence.sentence}: {text(each.sentence.text)}</li>"
        for each in found.sources[:TWISTS_SHOWN]
    )
    one = found.carried
    note = " <em>Indicative only.</em>" if one.indicative else ""
    proposed = f"<li>proposed: {text(found.proposed)}</li>" if found.proposed else ""
    return (
        f"<div style='{_DETAILS}'>{_bold(found.words)}{note}<ul><li>{_code(one.node_id)} sentence "
        f"{one.sentence}: {text(one.text)}</li>{sources}{proposed}</ul></div>"
    )


def _iteration(found: IterationView) -> str:
    cited = [(node.node_id, one) for node in found.nodes for one in node.cited]
    sentences = "".join(
        f"<li>{_code(node_id)} sentence {one.sentence}"
        f"{' (context)' if one.role == EvidenceRole.CONTEXT else ''}: {text(one.text)}</li>"
        for node_id, one in cited[:ROWS_SHOWN]
    )
    notes = "".join(f"<div>Missing: {text(one)}</div>" for one in found.missing)
    notes += "".join(f"<div>{text(one)}</div>" for one in found.remarks)
    verdict = chip(found.iteration.verdict or Status.UNDECIDED)
    return (
        f"<details style='{_DETAILS}'><summary>Iteration {found.number}: {verdict} "
        f"{counted(found.read, 'node')} checked, {counted(found.sentences, 'sentence')} "
        f"selected</summary><div>{text(found.iteration.reasoning)}</div>"
        f"<ul>{sentences or f'<li>{found.not_found}</li>'}</ul>{notes}"
        f"{_rest(len(cited))}</details>"
    )


def job(job_id: str, status: str, facts: Mapping[str, str]) -> str:
    """A job: its status, and facts about it; empty ones are left out."""
    rows = "".join(_row([_bold(name), text(value)]) for name, value in facts.items() if value)
    return _box(f"{_code(job_id)} {chip(status)}{_table((), rows)}")


def dialogue(found: DialogueRun) -> str:
    """The assistant's turns of a dialogue, each with its claims to be opened."""
    by = f"{found.engine} {found.model}" if found.model else found.engine
    how = setting_words(found.settings)
    facts = [by, *([how] if how else []), *([] if found.created_at is None else [found.created_at])]
    score = "none" if found.score is None else f"{found.score:.2f}"
    counts = " ".join(f"{_mark_chip(mark)} {n:,}" for mark, n in claim_counts(found.claims))
    parts = [
        f"<div>{_bold(found.dialogue_id)} score {score} "
        f"<span style='{_QUIET}'>({text(SCORE_WORDS)})</span></div>",
        f"<div style='{_QUIET}'>{text(' · '.join(facts))}</div><div>{counts}</div>",
    ]
    if found.indicative:
        words = indicative_words(found.engine).capitalize()
        parts.append(f"<div><em>{text(words)}.</em></div>")
    said = {one.claim_id: one.claim for one in found.claims}
    parts += [_turn(one, said) for one in found.turns[:ROWS_SHOWN]]
    return _box("".join(parts) + _rest(len(found.turns)))


def _turn(found: TurnVerification, said: Mapping[str, str]) -> str:
    """A turn; its claims are shown when it is opened."""
    claims = "".join(_turn_claim(one, said) for one in found.claims[:ROWS_SHOWN])
    remarks = list(cut_words(found))
    if found.error:
        remarks.insert(0, found.error)
    if found.turn_check is not None and found.turn_check.contradiction:
        quotes = " against ".join(f"“{one}”" for one in found.turn_check.quotes)
        remarks.append(f"{check_words(found.turn_check)} {quotes}")
    notes = "".join(f"<div>{text(one)}</div>" for one in remarks)
    score = "" if found.score is None else f" {found.score:.2f}"
    counts = ", ".join(f"{n:,} {mark.word}" for mark, n in claim_counts(found.claims))
    return (
        f"<details style='{_DETAILS}'><summary>{_code(found.turn_id)} "
        f"{_mark_chip(turn_mark(found))}{score} <span style='{_QUIET}'>{text(counts)}</span>"
        f"</summary><ul>{claims}</ul>{notes}{_rest(len(found.claims))}</details>"
    )


def _turn_claim(found: TurnClaim, said: Mapping[str, str]) -> str:
    lines = [found.error or found.reason or ""]
    lines += [f"said before: {said.get(name, name)}" for name in found.contradicts[:ROWS_SHOWN]]
    lines += [f"against the initial knowledge: {one}" for one in found.contradicts_knowledge]
    told = "".join(f"<div style='{_QUIET}'>{text(one)}</div>" for one in lines if one)
    return f"<li>{_mark_chip(claim_mark(found))} {text(found.claim)}{told}</li>"


def _mark_chip(mark: Mark) -> str:
    """A mark: its word on the colour of its kind."""
    return _chip(COLOURS[VERDICT_OF.get(mark.kind)], mark.word)


def provenance(found: Provenance) -> str:
    """Paths from source text to the verified node."""
    paths = "".join(
        "<li>" + " → ".join(f"{_code(one.node_id)} (stage {one.stage})" for one in path) + "</li>"
        for path in found.paths[:ROWS_SHOWN]
    )
    of = f"{len(found.paths):,} of {found.path_count:,} paths"
    whole = f"<div>{of}; {found.complete_path_count:,} begin in source text.</div>"
    drawn = f"<ol>{paths}</ol>{whole}" if paths else "<ol><li>no path</li></ol>"
    return _box(drawn + _rest(len(found.paths)))


def rows(found: QueryRows) -> str:
    """Rows of a query as a table."""
    body = "".join(_row([_value(cell) for cell in row]) for row in found.rows[:ROWS_SHOWN])
    notes = "<div>There are more rows than the query gives.</div>" if found.truncated else ""
    if found.indicative:
        notes += f"<div><em>Verdicts are {text(INDICATIVE_IN_PART)}.</em></div>"
    return _box(_table(found.columns, body) + _rest(len(found.rows)) + notes)


def table(found: Sequence[Any]) -> str:
    """A list of answers: a table of their plain values."""
    from veritrail_graph.api.app.findings import ClaimFound

    if found and all(isinstance(one, ClaimFound) for one in found):
        return claims(found)
    if found and all(isinstance(one, Verification) for one in found):
        return verifications(found)
    records = [one.model_dump(mode="json", exclude_unset=True) for one in found[:ROWS_SHOWN]]
    pairs = (pair for one in records for pair in one.items())
    columns = list(
        dict.fromkeys(name for name, value in pairs if not isinstance(value, list | dict))
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
                text(", ".join(map(str, one.error_stages)) or unsaid_in_short(one)),
                _code(one.verification_id),
            ]
        )
        for one in found[:ROWS_SHOWN]
    )
    names = ("verdict", "claim", "error stages", "verification")
    note = ""
    if engines := [one.engine for one in found if one.indicative]:
        note = f"<div><em>{text(indicative_words(*engines).capitalize())}.</em></div>"
    return _box(_table(names, body) + _rest(len(found)) + note)


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
    if isinstance(value, float):
        return figure(value)
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


def _rest(count: int, shown: int = ROWS_SHOWN) -> str:
    more = count - shown
    return f"<div style='{_QUIET}'>… and {more:,} more</div>" if more > 0 else ""


def _box(content: str) -> str:
    return f"<div style='{_BOX}'>{content}</div>"

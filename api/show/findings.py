"""The findings of a check as lines: five for a wrong claim, a count for the right ones, a table.

Terminal, assertion, notebook and report show them; of MCP the counts alone.

Source: ours (docs/adr/0066-check.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from veritrail_graph.api.show.costs import money_words
from veritrail_graph.api.show.document import (
    Line,
    Style,
    Table,
    TextKind,
    TextRun,
    compared,
    name,
    ours,
    said,
)
from veritrail_graph.api.show.located import cut_pieces
from veritrail_graph.api.show.parts import PART_WORDS
from veritrail_graph.api.show.texts import clean, one_line
from veritrail_graph.api.show.words import (
    CLAIM_CATEGORY_WORDS,
    NO_MODEL,
    judged_by,
    outweighed_words,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.model import Verdict
from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.graph.model.finding import (
    Checked,
    CheckedClaim,
    CheckedProcess,
    CheckFailure,
    CheckJudge,
    Finding,
    FindingCounts,
    FindingNode,
    FindingQuote,
    Findings,
)
from veritrail_graph.graph.word_diff import Piece, marks_of, word_diff

WIDTH = 200
"""Columns of a line where there is no terminal."""
MOST_NAMED = 3
"""Nodes of a line that are named; more are counted."""
MOST_ROWS = 10
"""Rows of the table of processes; of more, the worst are shown and the others counted."""
MOST_OPEN = 5
"""Undecided claims that are named, with why; more are counted."""
LONGEST_NAME = 40
LONGEST_JUDGE = 72
"""Letters of the name of a judge, which has a line of its own where it is long."""
_INDENT = "    "
_BLANKS = re.compile(r"\s+")
_LEAST_TEXT = 30
_LEAST_NAME = 15
FIRST_STEP = 2
"""The stage behind that of the source texts."""
_ASTERISKS = 2
"""Characters around a word that differs."""
_DOTS = 4
"""Characters that say that a text goes on before and behind what is shown."""
MOST_PARTS = 3
"""Parts of a claim that are said to have failed."""
INSTEAD = "instead"
"""Before the wording that was proposed for a claim."""
WITHOUT_MODEL = "words compared, no model"
_RECORDED = "recorded"
UNTOLD = "cannot be told without a model"
_MARKS = {
    Verdict.FULLY_SUPPORTED: ("✓", Style.PLAIN),
    Verdict.NOT_FULLY_SUPPORTED: ("✗", Style.WRONG),
    Verdict.INCONCLUSIVE: ("~", Style.WARNING),
}
_CATEGORY_MARKS = {
    ClaimCategory.VERIFIED: ("✓", Style.PLAIN),
    ClaimCategory.CONTRADICTED: ("✗", Style.WRONG),
    ClaimCategory.LACKING_EVIDENCE: ("✗", Style.WRONG),
    ClaimCategory.OUT_OF_SCOPE: ("-", Style.QUIET),
    ClaimCategory.ABSTENTION: ("-", Style.QUIET),
}


def finding_lines(one: Finding, width: int = WIDTH, stages: int | None = None) -> list[Line]:
    """Show a wrong claim: what it says, where it went wrong, both sentences, what carried it on.

    Args:
        one: The finding.
        width: Columns of a line.
        stages: How many stages its process has; None: not known.
    """
    lines: list[Line] = [(ours("✗ ", Style.WRONG), said(_cut(one.claim, width - 2), Style.STRONG))]
    if where := _where(one, width, stages):
        lines.append(where)
    longest = min(LONGEST_NAME, max(16, width // 4))
    place = one_line(one.source.name, longest) if one.source is not None else ""
    step = _step_words(one.source)
    before = "before" if step else "source"
    if width - len(_INDENT) - len("source  ") - len(place) - len(step) - 2 < _LEAST_TEXT:
        step = ""
    room = width - len(_INDENT) - len("source  ") - (len(place) + len(step) + 2 if place else 0)
    if one.source is not None:
        heading: Line = (
            ours(f"{_INDENT}{before}  ", Style.QUIET),
            name(place),
            ours(f"{step}  ", Style.QUIET),
        )
        lines.append((*heading, *_quote(one.source, room)))
    elif one.wrote is not None and one.category is not ClaimCategory.CONTRADICTED:
        nothing = "nothing was found that says this"
        lines.append((ours(f"{_INDENT}source  ", Style.QUIET), ours(nothing)))
    if one.wrote is not None and (one.source is not None or one.category is None):
        blanks = " " * (len(place) + len(step) + 2 if place else 0)
        heading = (ours(f"{_INDENT}wrote   {blanks}", Style.QUIET),)
        lines.append((*heading, *_quote(one.wrote, room)))
    if one.category is not None and one.reasoning:
        reason = _cut(one.reasoning, width - len(_INDENT) - len("reason  "))
        lines.append((ours(f"{_INDENT}reason  ", Style.QUIET), said(reason)))
    for part in one.failed_parts[:MOST_PARTS]:
        words = f"{_INDENT}{PART_WORDS[part.verdict]}  "
        text = part.reason if part.text == one.claim else part.text
        shown = said(_cut(text, max(width - len(words), _LEAST_TEXT)))
        lines.append((ours(words, Style.QUIET), shown))
    if one.correction is not None:
        heading = (ours(f"{_INDENT}{INSTEAD} ", Style.QUIET),)
        pieces = word_diff(one.claim, one.correction).after
        room = max(width - len(_INDENT) - len(INSTEAD) - 1, _LEAST_TEXT)
        lines.append((*heading, *compared(_within(one.correction, marks_of(pieces), room))))
    if one.carried_on:
        words = f"{_INDENT}carried on by  "
        nodes = _names(one.carried_on, width - len(words))
        lines.append((ours(words, Style.QUIET), name(nodes)))
    return lines


def _where(one: Finding, width: int, stages: int | None) -> Line:
    """Return where it went wrong; of several nodes, that it is one of them."""
    if one.category is not None and one.wrote is not None:
        words = f"{_INDENT}{CLAIM_CATEGORY_WORDS[one.category]} in  "
        shown = one_line(one.wrote.name, LONGEST_NAME)
        return (ours(words, Style.QUIET), name(shown, Style.STRONG))
    nodes = [one.culprit] if one.culprit is not None else list(one.candidates)
    words = f"{_INDENT}went wrong in  "
    if not nodes:
        open_words = _open_place(one)
        return (ours(words, Style.QUIET), ours(open_words)) if open_words else ()
    if one.culprit is None:
        words += f"one of {counted(len(nodes), 'node')}: "
    longest = min(LONGEST_NAME, len(one_line(nodes[0].name, LONGEST_NAME)))
    place = _place(nodes[0], stages, width - len(words) - longest)
    room = max(_LEAST_NAME, width - len(words) - len(place))
    shown = _names(nodes, room)
    if len(nodes) == 1:
        shown = one_line(shown, room)
    return (ours(words, Style.QUIET), name(shown, Style.STRONG), ours(place, Style.QUIET))


def _open_place(one: Finding) -> str:
    """Return between which stages a claim went wrong whose place nothing tells; empty: not known.

    What no source text says came in behind the sources, which have the first stage.
    """
    last = one.wrote.stage if one.wrote is not None else None
    if one.category is not None or last is None or last <= FIRST_STEP:
        return ""
    return f"one of the stages {FIRST_STEP} to {last}; nothing tells which"


def _step_words(source: FindingQuote | None) -> str:
    """Return of a sentence that is of no source text the stage that wrote it."""
    if source is None or source.stage is None or source.stage < FIRST_STEP:
        return ""
    return f", stage {source.stage}"


def _place(node: FindingNode, stages: int | None, room: int) -> str:
    """Return the stage of a node; its name is cut where there is no room, its number is not."""
    if node.stage is None:
        return ""
    who = node.stage_name or node.step
    if who == node.step and node.name.startswith(f"{who}/"):
        who = None  # nodes of traces have their step in their names
    of = f" of {stages}" if stages is not None and stages >= node.stage else ""
    stage = f"stage {node.stage}{of}"
    longest = max(_LEAST_NAME, min(LONGEST_NAME, room - len(f"  (, {stage})")))
    return f"  ({one_line(who, longest)}, {stage})" if who else f"  ({stage})"


def _names(nodes: Sequence[FindingNode], room: int) -> str:
    """Names of nodes, as many as fit, and how many more there are."""
    shown: list[str] = []
    for place, node in enumerate(nodes):
        left = len(nodes) - place
        more = f" and {left:,} more"
        text = ", ".join([*shown, one_line(node.name, LONGEST_NAME)])
        behind = 0 if left == 1 else len(more)
        if place >= MOST_NAMED or (shown and len(text) + behind > room):
            return ", ".join(shown) + more
        shown.append(one_line(node.name, LONGEST_NAME))
    return ", ".join(shown)


def _quote(one: FindingQuote, room: int) -> Line:
    """A sentence around the words that matter."""
    return compared(quote_pieces(one, max(room, _LEAST_TEXT)))


def quote_pieces(one: FindingQuote, room: int) -> tuple[Piece, ...]:
    """Return a sentence in pieces, the words that matter marked; a long one is cut around them."""
    return _within(one.text, one.marked, room)


def _within(text: str, marked: Sequence[tuple[int, int]], room: int) -> tuple[Piece, ...]:
    """A text in pieces, cut to the room there is."""
    marks = [(start, end) for start, end in sorted(marked) if end <= len(text)]
    start, end = 0, len(text)
    if len(text) + _ASTERISKS * len(marks) > room:
        room -= _DOTS
        marks = _fitting(marks, room)
        first, last = (marks[0][0], marks[-1][1]) if marks else (0, 0)
        free = room - _ASTERISKS * len(marks) - (last - first)
        start = max(0, min(first - free // 2, len(text) - free - (last - first)))
        end = min(len(text), start + free + (last - first))
        start, end = _word_start(text, start, first), _word_end(text, end, last)
    return cut_pieces(text, marks, start, end)


def _fitting(marks: list[tuple[int, int]], room: int) -> list[tuple[int, int]]:
    """The first places that fit together; one that is too long is cut."""
    shown: list[tuple[int, int]] = []
    for start, end in marks:
        first = shown[0][0] if shown else start
        if end - first + _ASTERISKS * (len(shown) + 1) > room:
            break
        shown.append((start, end))
    if marks and not shown:
        start = marks[0][0]
        return [(start, start + room - _ASTERISKS)]
    return shown


def _word_start(text: str, start: int, most: int) -> int:
    """The beginning of the next word, where one begins before a place."""
    if start == 0 or text[start - 1].isspace():
        return start
    blank = text.find(" ", start, most)
    return start if blank < 0 else blank + 1


def _word_end(text: str, end: int, least: int) -> int:
    if end == len(text) or text[end].isspace():
        return end
    blank = text.rfind(" ", max(least, 0), end)
    return end if blank < 0 else blank


def _cut(text: str, width: int) -> str:
    return one_line(text, max(width, _LEAST_TEXT))


def claim_line(one: CheckedClaim, width: int = WIDTH) -> Line:
    """Show a claim with its verdict, or with why it has none."""
    if one.verdict is not None:
        sign, style = _MARKS[one.verdict]
    elif one.category is not None:
        sign, style = _CATEGORY_MARKS[one.category]
    else:
        sign, style = ("?", Style.QUIET) if one.is_undecided else ("!", Style.WARNING)
    if one.is_failed and one.reason:
        text = _cut(one.claim, width // 2)
        reason = _cut(one.reason, width - len(text) - 4)
        return (ours(f"{sign} ", style), said(text), ours(": "), said(reason, Style.QUIET))
    return (ours(f"{sign} ", style), said(_cut(one.claim, width - 2)))


def why_line(one: CheckedClaim, width: int = WIDTH) -> Line:
    """Say why a claim is undecided; empty: nothing says."""
    reason = (one.reason or "").removeprefix(NO_MODEL).lstrip(":; ")
    if not reason:
        return ()
    heading = f"{_INDENT}open    "
    return (ours(heading, Style.QUIET), said(_cut(reason, width - len(heading))))


def counts_words(counts: FindingCounts, claims: int) -> str:
    """Say how many claims are wrong, right, and neither: `23 claims: 9 wrong, 14 right`."""
    named = (
        (counts.wrong, "wrong"),
        (counts.right, "right"),
        (counts.OUT_OF_SCOPE, CLAIM_CATEGORY_WORDS[ClaimCategory.OUT_OF_SCOPE]),
        (counts.ABSTENTION, counted(counts.ABSTENTION, "abstention").partition(" ")[2]),
        (counts.INCONCLUSIVE, "inconclusive"),
        (counts.undecided, "undecided"),
        (counts.failed, "failed"),
    )
    words = ", ".join(f"{count:,} {what}" for count, what in named if count)
    return f"{counted(claims, 'claim')}{f': {words}' if words else ''}"


def sum_of(processes: Sequence[CheckedProcess]) -> tuple[FindingCounts, int]:
    """Return the counts of several processes together, and how many claims they have."""
    names = FindingCounts.model_fields
    counts = {key: sum(getattr(one.verdicts, key) for one in processes) for key in names}
    return FindingCounts(**counts), sum(one.claims for one in processes)


def judge_words(judge: CheckJudge, cost_usd: float | None) -> str:
    """Name the judge, and say what it cost: `gpt-6-luna, $0.03`."""
    if judge.model is None and judge.indicative:
        return WITHOUT_MODEL
    who = one_line(judge.model, LONGEST_JUDGE) if judge.model is not None else judge.engine
    return f"{who}, {'cost unknown' if cost_usd is None else money_words(cost_usd)}"


def measured_judge_words(judge: CheckJudge) -> str | None:
    """Say what `judge check` measured of a judge here; None: nothing, or it is no model."""
    found = judge.measured or {}
    accuracy, pairs, decided = (found.get(key) for key in ("balanced_accuracy", "pairs", "decided"))
    if judge.model is None or not isinstance(accuracy, float):
        return None
    if not isinstance(decided, float) or not isinstance(pairs, int):
        return None
    return (
        f"{one_line(judge.model, LONGEST_JUDGE)} had a balanced accuracy of {accuracy:.2f} on "
        f"{pairs:,} labelled pairs, of which it decided {100 * decided:.0f} % (judge check)."
    )


def uncorrected_words(claims: int, judge: CheckJudge) -> str:
    """Say that no wording is proposed for some wrong claims, and of recorded answers why.

    A proposal and what judges it are other prompts than those of the claim.
    """
    of = f"Of {counted(claims, 'wrong claim')} no wording"
    if _RECORDED in judge.engine.split("+"):
        return (
            f"{of} could be found and judged by the answers that were recorded; a model can be "
            "asked for one: --model NAME --correct."
        )
    return f"{of} was found that is supported."


def read_words(one: CheckedProcess, shown: str) -> str:
    """Say under the name that is shown what was read, and what the format lacked, on one line."""
    read = one.read
    parts = [f"{read.get('format', 'process')}", counted(_count(read.get("nodes")), "node")]
    explained, unsourced = read.get("explained"), _count(read.get("unsourced"))
    if isinstance(explained, float):
        parts.append(f"{explained:.0%} explained")
    if unsourced:
        parts.append(f"{unsourced:,} unsourced")
    warnings = read.get("warnings")
    if isinstance(warnings, list) and warnings:
        parts.append(f"{counted(len(warnings), 'warning')} (--verbose)")
    return f"{one_line(shown, 30)} ({one.status}): {', '.join(parts)}"


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def place_words(where: str) -> str:
    """Say where a process was read, without the folders."""
    return one_line(re.split(r"[/\\]", where.rstrip("/\\"))[-1], LONGEST_NAME)


def process_line(one: CheckedProcess) -> str:
    """Say on a line how a process of several ended."""
    counts = one.verdicts
    sign = "✓" if one.claims == counts.right + counts.neither else "?"
    sign = "✗" if counts.wrong else "!" if counts.failed else sign
    return f"{sign} {process_place(one)}: {counts_words(counts, one.claims)}"


def failure_line(one: CheckFailure) -> str:
    """Say what could not be checked, and why."""
    message = str(one.error.get("message", ""))
    fault = message.removeprefix(one.source).lstrip(":, ")
    return f"{one_line(one.source, 100)}: {one_line(fault, 400)}"


def process_table(processes: Sequence[CheckedProcess], most: int | None = MOST_ROWS) -> Table:
    """Show processes, a row each, in the order of the input; of many the worst ones, those first.

    Args:
        processes: The processes.
        most: The most rows; None: all.
    """
    rows = list(processes)
    if most is not None and len(rows) > most:
        rows = worst_first(rows)[:most]
    names = distinct_names(processes)
    has_cost = any(one.cost_usd for one in rows)
    has_names = any(one.name not in (names[one.process_id], one.process_id) for one in rows)
    numbers = ("claims", "wrong", "right", "open", *(("cost",) if has_cost else ()))
    called = ("name",) if has_names else ()
    return Table(
        ("process", *numbers, *called),
        tuple(
            _row(one, names[one.process_id], has_cost=has_cost, has_name=has_names) for one in rows
        ),
        right=numbers,
        texts=("process", *called),
        optional=called,
    )


def worst_first(processes: Sequence[CheckedProcess]) -> list[CheckedProcess]:
    """Return processes with most wrong claims first, then those that failed; else as they were."""
    return sorted(processes, key=lambda one: (-one.verdicts.wrong, -one.verdicts.failed))


def distinct_names(processes: Sequence[CheckedProcess]) -> dict[str, str]:
    """Return the name of each process by its id.

    Of one it is its own; of several where each was read, with the id where two were read at places
    of one name. The lines of progress call them so, too.
    """
    if len(processes) == 1:
        return {one.process_id: one.name for one in processes}
    places = {one.process_id: process_place(one) for one in processes}
    times = Counter(places.values())
    return {
        key: place if times[place] == 1 else f"{place} ({key})" for key, place in places.items()
    }


def process_place(one: CheckedProcess) -> str:
    """Return what a process of several is called: where it was read, else its name."""
    return place_words(one.where) if one.where else one.name


def _row(one: CheckedProcess, shown: str, *, has_cost: bool, has_name: bool) -> tuple[Line, ...]:
    counts = one.verdicts
    left = counts.INCONCLUSIVE + counts.undecided + counts.failed + counts.neither
    wrong = counts.wrong
    cells: list[Line] = [
        (name(one_line(shown, 100)),),
        (ours(f"{one.claims:,}"),),
        (ours(f"{wrong:,}", Style.WRONG if wrong else Style.PLAIN),),
        (ours(f"{counts.right:,}"),),
        (ours(f"{left:,}"),),
    ]
    if has_cost:
        cells.append((ours("?" if one.cost_usd is None else money_words(one.cost_usd)),))
    if has_name:
        cells.append((name(one_line(one.name, 100)),))
    return tuple(cells)


def as_text(done: Checked, width: int = WIDTH) -> str:
    """Show what was found as plain text: the wrong claims, and the counts."""
    lines: list[str] = []
    names = distinct_names(done.processes)
    for process in done.processes:
        if len(done.processes) > 1 and process.wrong:
            lines.append(one_line(names[process.process_id], 100))
        for one in process.wrong:
            lines += [plain(line) for line in finding_lines(one, width, stages_of(process))]
        lines += [plain(claim_line(one, width)) for one in process.failed]
    lines += [f"! {failure_line(one)}" for one in done.failed]
    lines += [note for each in done.processes if (note := kept_note(each))]
    counts, claims = sum_of(done.processes)
    lines.append(f"{counts_words(counts, claims)}.   {judge_words(done.judge, done.cost_usd)}")
    return "\n".join(lines)


def kept_note(found: CheckedProcess | Findings) -> str | None:
    """Return that verdicts of a check do not count, and whose do; None: they all count.

    Args:
        found: What the check, or its run, found of a process.
    """
    if not found.not_in_force:
        return None
    judges = ", ".join(judged_by(one.engine, one.model) for one in found.kept_by)
    those = f"those of {one_line(judges)} stay in force"
    words = outweighed_words(len(found.not_in_force), those, "check", found.run_id)
    return f"{one_line(found.process_id)}: {words}"


def stages_of(process: CheckedProcess) -> int | None:
    """Return how many stages a process has, where that is known."""
    stages = process.read.get("stages")
    return stages if isinstance(stages, int) else None


def plain(line: Line) -> str:
    """Write a line as text; words that differ are between asterisks."""
    return "".join(map(_run, line)).rstrip()


def _run(run: TextRun) -> str:
    text = clean(run.text if run.kind is TextKind.OURS else _BLANKS.sub(" ", run.text))
    return f"*{text}*" if run.differs else text

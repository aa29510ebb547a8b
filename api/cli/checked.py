"""The findings of a check, printed: wrong claims, counts, and a table of many processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from veritrail_graph.api.cli.terminal import (
    LEAST,
    LONGEST_WHOLE,
    console,
    print_json,
    quoted,
    say,
)
from veritrail_graph.api.cli.terminal import show as print_result
from veritrail_graph.api.show.document import Line, Style, name, ours, said
from veritrail_graph.api.show.findings import (
    MOST_OPEN,
    MOST_ROWS,
    UNTOLD,
    WIDTH,
    claim_line,
    counts_words,
    distinct_names,
    failure_line,
    finding_lines,
    judge_words,
    kept_note,
    measured_judge_words,
    process_table,
    read_words,
    stages_of,
    sum_of,
    uncorrected_words,
    why_line,
    worst_first,
)
from veritrail_graph.api.show.texts import one_line
from veritrail_graph.api.show.words import (
    CLAIM_CATEGORY_WORDS,
    indicative_words,
)
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import NotFound
from veritrail_graph.graph.model import Status, Verdict
from veritrail_graph.graph.model.finding import TURNS

if TYPE_CHECKING:
    from veritrail_graph.api.app import Application
    from veritrail_graph.api.cli.answers import Answer
    from veritrail_graph.graph.model.finding import (
        Checked,
        CheckedClaim,
        CheckedProcess,
        CheckJudge,
        Finding,
        FindingCounts,
        Findings,
    )
    from veritrail_graph.graph.model.turn_claim import TurnClaimFound

_MOST_FINDINGS = 5
"""Wrong claims of several inputs that are shown in full; more are counted."""
_MOST_FAILURES = 5


@dataclass(frozen=True, slots=True)
class CheckShown:
    """The parts of a check that are shown.

    Attributes:
        every: Whether right claims are listed, too.
        verbose: Whether to say what was read, and by which judge.
        corrected: Whether wordings were asked for.
    """

    every: bool = False
    verbose: bool = False
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class CheckEnding:
    """The last lines of a check.

    Attributes:
        command: The command to go on with.
        told: Source and process of failures that were said while it ran.
        outdated: Processes with failed claims that have another content by now or are gone, and
            whether they are stored.
    """

    command: str = ""
    told: frozenset[tuple[str, str | None]] = frozenset()
    outdated: Mapping[str, bool] = field(default_factory=dict)


async def ending_of(app: Application, checked: Checked) -> CheckEnding:
    """Return the command to go on with, and which processes changed while they were checked."""
    outdated: dict[str, bool] = {}
    for process in checked.processes:
        run_id = process.run_id if process.failed and TURNS not in process.read else None
        if run_id is not None and not await app.jobs.can_go_on(run_id):
            outdated[process.process_id] = await _is_stored(app, process.process_id)
    current = [process for process in checked.processes if process.process_id not in outdated]
    command = await _command_of(app, checked.replace(processes=tuple(current)))
    return CheckEnding(command, outdated=outdated)


async def _is_stored(app: Application, process_id: str) -> bool:
    try:
        await app.processes.get(process_id)
    except NotFound:
        return False
    return True


async def _command_of(app: Application, checked: Checked) -> str:
    """Return the command that shows the first wrong claim, or the claims of the first process.

    On a terminal ids are as short as they may be typed; in a pipe they are whole. A verification
    that is not in force is named itself.
    """
    if not checked.processes:
        return ""
    process = next((each for each in checked.processes if each.wrong), checked.processes[0])
    if process.wrong and process.wrong[0].claim_id in process.not_in_force:
        return f"veritrail show {quoted(process.wrong[0].verification_id)}"
    process_id, is_short = process.process_id, console().is_terminal
    name = process_id
    if is_short:
        name = await app.names.short_process(process_id, LEAST, LONGEST_WHOLE)
    if not process.wrong:
        return f"veritrail show {quoted(name)}"
    claim = process.wrong[0].claim_id
    if is_short:
        claim = await app.names.short_claim(process_id, claim, LEAST, LONGEST_WHOLE)
    return f"veritrail show {quoted(name)} {quoted(claim)}"


def tell(done: Checked, shown: CheckShown, after: CheckEnding) -> None:
    """Print what a check found, and at its end the command to go on with."""
    width = _width()
    _tell_read(done.processes, shown)
    is_many, names = len(done.processes) > 1, distinct_names(done.processes)
    counts, claims = sum_of(done.processes)
    tells_open = counts.undecided <= MOST_OPEN
    left = _MOST_FINDINGS if is_many and not shown.every else counts.wrong
    for process in worst_first(done.processes) if is_many else done.processes:
        told, left = process.wrong[:left], max(0, left - len(process.wrong))
        hidden = {one.claim_id for one in process.wrong[len(told) :]}
        others = [one for one in process.results if one.claim_id not in hidden]
        stages = stages_of(process)
        lines = _lines(told, others, width, every=shown.every, tells_open=tells_open, stages=stages)
        if lines and is_many:
            _print(_heading(names[process.process_id]))
        for line in lines:
            _print(line)
    if is_many:
        if not shown.every and counts.wrong > _MOST_FINDINGS:
            more = counts.wrong - _MOST_FINDINGS
            say(f"and {more:,} more wrong claims: --all shows them", "dim")
        _tell_table(done, every=shown.every)
    _tell_failures(done, shown, after.told)
    if not done.processes:
        return
    if shown.verbose:
        for warning in done.warnings:
            say(f"Warning: {one_line(warning, 400)}", "yellow")
    if done.judge.indicative and (shown.verbose or claims > counts.undecided):
        say(f"Engine {done.judge.engine}: {indicative_words(done.judge.engine)}.", "dim")
    if (measured := measured_judge_words(done.judge)) is not None:
        say(measured, "dim")
    _tell_undecided(counts, done.judge)
    if shown.corrected:
        _tell_uncorrected(done)
    for process in done.processes:
        for one in process.failed[:1]:
            reason = one_line(one.reason or "", 300).rstrip(".")
            if process.process_id in after.outdated:
                say(f"{names[process.process_id]}: no verdict: {reason}.", "red")
                way = "It is not stored any more."
                if after.outdated[process.process_id]:
                    way = f"To check what it is now: veritrail check {quoted(process.process_id)}"
                say(f"All that was found is about its text before. {way}", "yellow")
                continue
            of = f"dialogue verify {process.process_id}" if TURNS in process.read else "verify"
            again = f"veritrail {of} --resume {process.run_id}"
            say(f"{names[process.process_id]}: no verdict: {reason}. To go on: {again}", "red")
    for process in done.processes:
        if note := kept_note(process):
            say(note, "yellow")
    judged = judge_words(done.judge, done.cost_usd)
    _tell_sum([f"{counts_words(counts, claims)}.", judged, after.command], width)


def _tell_uncorrected(done: Checked) -> None:
    """Say of how many wrong claims there is no wording that the judge supports, and why."""
    wrong = [finding for process in done.processes for finding in process.wrong]
    if count := sum(finding.correction is None for finding in wrong):
        say(uncorrected_words(count, done.judge), "dim")


def _width() -> int:
    """Return the columns of a line."""
    screen = console()
    return screen.width if screen.is_terminal else WIDTH


def _lines(
    findings: Sequence[Finding],
    results: Sequence[CheckedClaim],
    width: int,
    *,
    every: bool,
    tells_open: bool = False,
    stages: int | None = None,
) -> list[Line]:
    """Return the lines of a process: its wrong claims, and with `every` all others.

    Without it those follow that are inconclusive, or whose verification failed; and where they are
    few (`tells_open`) those that are undecided, with why.
    """
    lines = [line for finding in findings for line in finding_lines(finding, width, stages)]
    wrong = {finding.claim_id for finding in findings}
    for claim in results:
        is_shown = every or claim.is_failed or claim.verdict is Verdict.INCONCLUSIVE
        is_open = tells_open and claim.is_undecided
        if (is_shown or is_open) and claim.claim_id not in wrong:
            lines.append(claim_line(claim, width))
            if is_open and (why := why_line(claim, width)):
                lines.append(why)
    return lines


def _turn_lines(shown: ProcessShown, width: int, *, every: bool) -> list[Line]:
    """Return the claims of turns that are wrong, undecided or failed, each behind its turn."""
    findings = {one.claim_id: one for one in shown.findings.findings}
    lines: list[Line] = []
    for claim in shown.findings.results:
        if (finding := findings.get(claim.claim_id)) is not None:
            lines += finding_lines(finding, width)
        elif every or claim.is_undecided or claim.is_failed:
            turn = one_line(shown.turns.get(claim.claim_id, ""), 20)
            sign, *words = claim_line(claim, width - len(turn) - 2)
            lines.append((sign, name(turn, Style.QUIET), ours("  "), *words))
    return lines


def _tell_failures(
    done: Checked, shown: CheckShown, told: frozenset[tuple[str, str | None]]
) -> None:
    """Say what could not be read or checked, and why; of many the first ones, and how many.

    What was said while the check ran is counted, and not said again.
    """
    if not done.failed:
        return
    left = [one for one in done.failed if (one.source, one.process_id) not in told]
    for failed in left if shown.every else left[:_MOST_FAILURES]:
        say(f"! {failure_line(failed)}", "red")
    unread = sum(one.process_id is None for one in done.failed)
    lost = len(done.failed) - unread
    if unread:
        say(f"{counted(unread, 'input')} could not be read.", "red")
    if lost:
        say(f"{lost:,} could not be checked whole.", "red")


def _tell_undecided(counts: FindingCounts, judge: CheckJudge | None) -> None:
    """Say what decides claims that words alone do not, unless a model judged already."""
    if counts.undecided and (judge is None or judge.indicative):
        say(f"{counts.undecided:,} of the claims {UNTOLD}: --model NAME asks one.", "yellow")


@dataclass(frozen=True, slots=True)
class ProcessShown:
    """A stored process as it is shown.

    Attributes:
        findings: What counts for all its claims.
        answers: Its final outputs; of a dialogue whose turns were verified none.
        short: Ids as a terminal shows them; others are shown whole.
        turns: Of a dialogue the turn of each claim.
    """

    findings: Findings
    answers: Sequence[Answer]
    short: Mapping[str, str]
    turns: Mapping[str, str]


async def process_shown(app: Application, found: Findings) -> ProcessShown:
    """Read what is shown with the findings of a process.

    Args:
        app: The application.
        found: The findings of all its claims.
    """
    from veritrail_graph.api.cli.answers import answers_of

    process, short, turns = found.process_id, dict[str, str](), dict[str, str]()
    if console().is_terminal:
        short[process] = await app.names.short_process(process, LEAST, LONGEST_WHOLE)
        for one in found.findings[:1]:
            claim = one.claim_id
            short[claim] = await app.names.short_claim(process, claim, LEAST, LONGEST_WHOLE)
    if await app.dialogues.categories(process):
        run = await app.dialogues.result(process)
        turns = {claim.claim_id: turn.turn_id for turn in run.turns for claim in turn.claims}
    answers = [] if turns else await answers_of(app, process)
    return ProcessShown(found, answers, short, turns)


def tell_findings(shown: ProcessShown, *, every: bool) -> None:
    """Print what counts for a stored process: its answer, its wrong claims, and the counts.

    Of a dialogue the turns stand before the claims that are wrong or undecided.

    Args:
        shown: The process.
        every: Whether right claims are listed, too.
    """
    from veritrail_graph.api.cli.answers import tell_answers

    width, found, short = _width(), shown.findings, shown.short
    _print(_heading(found.name))
    if found.question:
        _print((ours("Question: "), said(one_line(found.question, width - 10))))
    print_result("")
    tell_answers(shown.answers)
    tells_open = found.verdicts.undecided <= MOST_OPEN
    if shown.turns:
        lines = _turn_lines(shown, width, every=every)
    else:
        lines = _lines(found.findings, found.results, width, every=every, tells_open=tells_open)
    for line in lines:
        _print(line)
    unended = (None, Status.QUEUED, Status.RUNNING)
    waiting = sum(claim.verdict is None and claim.status in unended for claim in found.results)
    process = quoted(short.get(found.process_id, found.process_id))
    if not found.claims:
        say(f"It has no claims yet. To take some and verify them: veritrail check {process}")
        return
    parts = [counts_words(found.verdicts, found.claims)]
    parts[0] += f", {waiting:,} not verified." if waiting else "."
    if found.judge is not None:
        parts.append(found.judge.model or found.judge.engine)
    if found.findings:
        claim = found.findings[0].claim_id
        parts.append(f"veritrail show {process} {quoted(short.get(claim, claim))}")
    elif waiting:
        parts.append(f"veritrail check {process}")
    elif not every:
        parts.append(f"veritrail show {process} --all")
    _tell_undecided(found.verdicts, found.judge)
    _tell_sum(parts, width)


def tell_turn_claim(found: TurnClaimFound, *, as_json: bool) -> None:
    """Print what counts for a claim of a dialogue's turn.

    Args:
        found: The claim.
        as_json: Whether one JSON document is printed.
    """
    if as_json:
        told = found.model_dump(mode="json", exclude={"claim", "result"})
        print_json({**found.claim.json_object(), **told})
        return
    width = _width()
    if found.finding is not None:
        lines = finding_lines(found.finding, width)
    else:
        lines = [claim_line(found.result, width)]
        if (category := found.result.category) is not None:
            words = f"    {CLAIM_CATEGORY_WORDS[category]} in  "
            lines.append((ours(words, Style.QUIET), name(found.turn.name, Style.STRONG)))
        if reason := found.result.reason or found.claim.reason:
            shown = said(one_line(reason, max(width - 12, 20)))
            lines.append((ours("    reason  ", Style.QUIET), shown))
    for line in lines:
        _print(line)
    judge = found.model or (indicative_words(found.engine) if found.indicative else found.engine)
    _tell_sum([judge, f"veritrail show {quoted(found.dialogue_id)}"], width)


def _heading(process: str) -> Line:
    return (name(one_line(process, 100), Style.STRONG),)


def _print(line: Line) -> None:
    from veritrail_graph.api.show.terminal import text

    console().print(text(line), no_wrap=True, overflow="ellipsis")


def _tell_table(done: Checked, *, every: bool) -> None:
    from veritrail_graph.api.show.terminal import table

    screen = console()
    made = process_table(done.processes, None if every else MOST_ROWS)
    print_result("")
    print_result(table(made, width=screen.width if screen.is_terminal else None))
    left = len(done.processes) - len(made.rows)
    if left > 0:
        wrong = sum(one.verdicts.wrong > 0 for one in done.processes) - len(made.rows)
        more = [f"{wrong:,} with wrong claims"] if wrong > 0 else []
        more += [f"{left - max(wrong, 0):,} without"] if left > max(wrong, 0) else []
        say(f"and {left:,} more: {', '.join(more)} (--all)", "dim")


def _tell_sum(parts: list[str], width: int) -> None:
    """Print the sum on one line, or on several where it does not fit."""
    from rich.text import Text

    print_result("")
    lines = [parts[0]]
    for part in filter(None, parts[1:]):
        if len(lines[-1]) + len(part) + 3 <= width:
            lines[-1] += f"   {part}"
        else:
            lines.append(part)
    for line in lines:
        print_result(Text(line, style="bold"))


def _tell_read(processes: Sequence[CheckedProcess], shown: CheckShown) -> None:
    """Say on a line what was read; of several processes only with `verbose`."""
    if len(processes) == 1 or shown.verbose:
        names = distinct_names(processes)
        for process in processes:
            say(f"Read {read_words(process, names[process.process_id])}", "dim")

"""`veritrail gate`: whether a pipeline may go on, as an exit status that says what is printed."""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from veritrail_graph.api.cli import completion
from veritrail_graph.api.cli.exits import UNREACHABLE, Exit, fail, fault_of_ours, run, say_starting
from veritrail_graph.api.cli.options import AsJson
from veritrail_graph.api.cli.terminal import console, print_json, say
from veritrail_graph.api.cli.webhooks import deliver
from veritrail_graph.graph.errors import InputError, VeriTrailError

if TYPE_CHECKING:
    from veritrail_graph.api.cli.gating.rules import GateLimits, Outcome
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.show.reports.data import ReportData
    from veritrail_graph.api.work.webhooks.target import Target

FORMATS = ("text", "json")
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"

Process = Annotated[
    str,
    typer.Argument(
        metavar="PROCESS",
        help="The process, by its process_id or as a file with verdicts.",
        autocompletion=completion.processes,
    ),
]
MaxUnsupported = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Claims that may be not fully supported; with a baseline, new ones. Default: 0, or "
        "no limit with --max-rate or --forbid-error-stage.",
    ),
]
MaxRate = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        metavar="R",
        help="Their share of the claims with a verdict.",
    ),
]
ForbidErrorStage = Annotated[
    list[int] | None,
    typer.Option(
        min=0,
        metavar="S",
        help="A stage that may add no unsupported content; may be repeated.",
    ),
]
MaxFailed = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="How many claims may fail to be checked.",
    ),
]
MaxUnchecked = Annotated[
    int, typer.Option(min=0, metavar="N", help="Claims that may be not verified at all.")
]
MaxUndecided = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="Claims that may be undecided. Default: any number, if one is decided; with "
        "--strict 0.",
    ),
]
BaselineFile = Annotated[
    Path | None,
    typer.Option(
        "--baseline", metavar="FILE", help="Earlier results of the claims: only regressions fail."
    ),
]
WriteBaseline = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the present verdicts as a baseline.")
]
OtherJudge = Annotated[
    bool,
    typer.Option(
        "--other-judge",
        help="Allow another judge, or wording of prompts, than that of the baseline.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Count inconclusive as unsupported; allow none undecided, nor evidence that speaks to "
        "its reader.",
    ),
]
FormatName = Annotated[
    str, typer.Option("--format", metavar="NAME", help="What is printed: text or json.")
]
JUnit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write rules and claims as JUnit XML."),
]
Sarif = Annotated[
    Path | None,
    typer.Option(
        "--sarif", metavar="FILE", help="Write claims as SARIF, for editors and code scanning."
    ),
]
Artifact = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="With --sarif: the file that holds the answer. Default: PROCESS, if it is a file.",
    ),
]
Summary = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Add a summary in Markdown to a file. Default: the one GITHUB_STEP_SUMMARY names.",
    ),
]
Webhook = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Send a signed message there if the gate is not met. Default: VERITRAIL_WEBHOOK_URL.",
    ),
]


@dataclass(frozen=True, slots=True)
class _Order:
    """The options of a call of `veritrail gate`."""

    process: str
    limits: GateLimits
    baseline: Path | None
    write_baseline: Path | None
    junit: Path | None
    sarif: Path | None
    artifact: Path | None
    summary: Path | None
    webhook: str | None
    as_json: bool


def gate(
    process: Process,
    max_unsupported: MaxUnsupported = None,
    max_rate: MaxRate = None,
    forbid_error_stage: ForbidErrorStage = None,
    max_failed: MaxFailed = 0,
    max_unchecked: MaxUnchecked = 0,
    max_undecided: MaxUndecided = None,
    baseline: BaselineFile = None,
    write_baseline: WriteBaseline = None,
    other_judge: OtherJudge = False,
    strict: Strict = False,
    format_name: FormatName = "text",
    junit: JUnit = None,
    sarif: Sarif = None,
    artifact: Artifact = None,
    summary: Summary = None,
    webhook: Webhook = None,
    as_json: AsJson = False,
) -> None:
    """Fail (exit 1) when more claims are unsupported than you allow.

    Exit status: 0 passed, 1 not met, 2 wrong use, 3 the graph could not be reached.
    """
    from veritrail_graph.api.cli.gating.rules import GateLimits

    as_json = as_json or format_name == "json"
    stages = tuple(sorted(set(forbid_error_stage or ())))
    if max_unsupported is None and max_rate is None and not stages:
        max_unsupported = 0
    limits = GateLimits(
        unsupported=max_unsupported,
        rate=max_rate,
        stages=stages,
        failed=max_failed,
        unchecked=max_unchecked,
        strict=strict,
        undecided=max_undecided,
        other_judge=other_judge,
    )
    summary = summary or _summary_of_the_step()
    if other_judge and baseline is None:
        raise InputError("--other-judge is about the judge of a baseline; name it (--baseline).")
    if artifact is not None and sarif is None:
        raise InputError("--artifact names the file of --sarif; name that, too.")
    order = _Order(
        process, limits, baseline, write_baseline, junit, sarif, artifact, summary, webhook, as_json
    )
    try:
        target = _check(order, format_name)
        outcome, names = _judge(order)
        if target is not None and not outcome.passed:
            _send(target, outcome)
    except VeriTrailError as error:
        fail(error, as_json=as_json)
    except (Exit, OSError):
        raise
    except Exception as error:  # noqa: BLE001  # a bug of ours must not read as "not met"
        raise Exit(fault_of_ours(error, UNREACHABLE)) from None
    with suppress(SystemExit):  # the reader closed the pipe: the outcome does not change
        _tell(outcome, names, as_json=as_json)
    raise Exit(outcome.status)


def _summary_of_the_step() -> Path | None:
    name = os.environ.get(STEP_SUMMARY)
    return Path(name) if name else None


def _check(order: _Order, format_name: str) -> Target | None:
    """Find wrong use before an engine is started; gives the receiver of the webhook."""
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.api.show.reports.files import check_writable
    from veritrail_graph.api.work.webhooks.target import Target

    if format_name not in FORMATS:
        raise InputError(f"Unknown format {format_name!r}. Known formats: {', '.join(FORMATS)}.")
    if order.limits.rate is not None and math.isnan(order.limits.rate):
        raise InputError("--max-rate must be a number from 0 to 1")
    for path in (order.write_baseline, order.junit, order.sarif, order.summary):
        if path is not None:
            check_writable(path)
    return Target.of(Settings(), order.webhook)


def _send(target: Target, outcome: Outcome) -> None:
    """Send what the gate found; that it cannot be delivered does not change the outcome."""
    from veritrail_graph.api.cli.gating.output import outcome_message
    from veritrail_graph.api.work.webhooks.message import GATE_FAILED

    deliver(target, GATE_FAILED, outcome_message(outcome))


def _judge(order: _Order) -> tuple[Outcome, dict[int, str]]:
    """Judge once, and write every file that is asked for before anything is said."""
    from veritrail_graph.api.cli.gating.baseline import read_baseline
    from veritrail_graph.api.cli.gating.entries import entries_of
    from veritrail_graph.api.cli.gating.rules import judge, judge_changed, notes_on
    from veritrail_graph.api.settings import Settings

    before = read_baseline(order.baseline) if order.baseline is not None else None
    settings = Settings()
    read = run(_material(settings, order.process), as_json=order.as_json)
    then = before.judges if before is not None else None
    outcome = judge(
        read.process.process_id,
        entries_of(read),
        order.limits,
        before.entries if before is not None else None,
        notes_on(read, then, order.limits),
        judge_changed(read, then),
    )
    _write(order, outcome, read)
    return outcome, dict(read.process.stage_names)


async def _material(settings: Settings, process: str) -> ReportData:
    from veritrail_graph.api.show.reports.sources import opened

    async with opened(settings, process, on_start=say_starting) as origin:
        return origin.material


def _write(order: _Order, outcome: Outcome, material: ReportData) -> None:
    from veritrail_graph.api.cli.gating.baseline import baseline_text
    from veritrail_graph.api.cli.gating.output import outcome_xml, step_summary
    from veritrail_graph.api.cli.gating.rules import judges
    from veritrail_graph.api.show.reports.files import whole_file

    if order.junit is not None:
        with whole_file(order.junit) as file:
            file.write(outcome_xml(outcome, material).encode())
    if order.sarif is not None:
        from veritrail_graph.api.cli.gating.sarif import outcome_sarif
        from veritrail_graph.api.show.reports.sources import is_file

        artifact = order.artifact or (Path(order.process) if is_file(order.process) else None)
        with whole_file(order.sarif) as file:
            text = outcome_sarif(outcome, material.process.stage_names, artifact)
            file.write(text.encode())
    if order.write_baseline is not None and _may_write(order, outcome):
        text = baseline_text(outcome.process_id, judges(material), outcome.entries)
        with whole_file(order.write_baseline) as file:
            file.write(text.encode())
        say(f"Wrote the baseline {order.write_baseline}")
    if order.summary is not None:
        process = material.process
        _add(order.summary, step_summary(outcome, process.name, process.stage_names))


def _may_write(order: _Order, outcome: Outcome) -> bool:
    """A baseline that the process falls behind is kept: else the next run would pass."""
    if outcome.passed or order.baseline is None or order.write_baseline is None:
        return True
    if order.baseline.resolve() != order.write_baseline.resolve():
        return True
    say(
        f"The baseline {order.baseline} was kept, as the gate is not met. To accept how claims "
        "stand now, write it without --baseline.",
        "yellow",
    )
    return False


def _add(path: Path, text: str) -> None:
    """Add to a file, as other steps write there too."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


def _tell(outcome: Outcome, names: dict[int, str], *, as_json: bool) -> None:
    """Print the outcome; a reader that stopped does not change the status."""
    from veritrail_graph.api.cli.gating.output import ROOM, outcome_json, outcome_shown
    from veritrail_graph.api.show.terminal import parts

    try:
        if as_json:
            print_json(outcome_json(outcome))
        else:
            screen = console()
            for part, _ in parts(outcome_shown(outcome, names), ROOM):
                screen.print(part)
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

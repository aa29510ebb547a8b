"""The section of a report on the agents and steps that made runs fail.

Source: Zhang et al. 2025 (Who&When); the section is ours.
"""

from __future__ import annotations

from veritrail_eval.figures.bootstrap import Interval
from veritrail_eval.reporting.failures import (
    PUBLISHED,
    PUBLISHED_CONDITIONS,
    PUBLISHED_SOURCE,
    AttributedFailures,
    FailureAttribution,
)
from veritrail_eval.reports.parts import Cell, Section, ShownTable, named, percent

_WORDS = (
    "The right answer of a log is the agent and the step that a person noted as the decisive "
    "mistake. The answer of a configuration is the first error node that it names for the final "
    "output: who wrote it, and its place in the log. A log for which it names none counts as "
    "wrong. No configuration is shown the answer that would have been right."
)


def failures_section(found: FailureAttribution) -> Section:
    """The accuracies of each configuration, a guess, and what the benchmark's paper reports."""
    rows = [
        [
            Cell(named(run)),
            Cell(row.subset),
            Cell(f"{row.logs:,}"),
            Cell(f"{row.not_located:,}"),
            Cell(percent(row.agent.value), span=_span(row.agent_interval)),
            Cell(percent(row.step.value), span=_span(row.step_interval)),
        ]
        for run in found.runs
        for row in found.rows[run.configuration_id]
    ]
    rows += [
        [
            Cell("Drawn at random: an agent; a message"),
            Cell(one.subset),
            Cell(f"{one.logs:,}"),
            Cell(""),
            Cell(percent(one.agent.value)),
            Cell(percent(one.step.value)),
        ]
        for one in found.guesses
    ]
    rows += [
        [
            Cell(f"Published for Who&When: {one.method}"),
            Cell("both, mean"),
            Cell("184"),
            Cell(""),
            Cell("" if one.agent is None else percent(one.agent)),
            Cell("" if one.step is None else percent(one.step)),
        ]
        for one in PUBLISHED
    ]
    notes = [
        f"Published: {PUBLISHED_SOURCE}: {PUBLISHED_CONDITIONS}. They are of other logs than "
        "these, unless the data set is Who&When as a whole.",
        "Drawn at random: the mean of 1 divided by the agents, or by the messages of "
        "agents, of each log. The intervals are 95 %, over the logs, and are ours.",
        *_unfinished(found),
    ]
    table = ShownTable(
        "How often the noted agent and the noted step are found",
        ["Configuration", "Logs of", "Logs", "Not located", "Agent", "Step"],
        rows,
        texts=(0, 1),
        notes=notes,
    )
    return Section("Agents and steps of failures", [_WORDS], [table])


def _unfinished(found: FailureAttribution) -> list[str]:
    notes = []
    for run in found.runs:
        last: AttributedFailures = found.rows[run.configuration_id][-1]
        if last.unfinished:
            logs = f"{last.unfinished:,} log{'' if last.unfinished == 1 else 's'}"
            notes.append(
                f"{named(run)}: {logs} left out: failed, over budget, not judged yet, or judged "
                "by a version that kept no error nodes."
            )
    return notes


def _span(interval: Interval) -> str:
    ends = interval.as_json()
    return "" if ends is None else f"{percent(ends[0])} to {percent(ends[1])}"

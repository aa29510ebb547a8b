"""The agents and steps that made runs fail: the accuracies of the benchmark Who&When.

Each failed log has one claim, its final answer. The first error node that a configuration names is
its answer; a log for which it names none is wrong, and is counted.

Source: Zhang et al. 2025, "Which Agent Causes Task Failures and When?"; intervals are ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from veritrail_eval.figures.bootstrap import Interval, intervals
from veritrail_eval.figures.confusion import UNSUPPORTED
from veritrail_eval.figures.figure import Figure, mean, share, with_reasons
from veritrail_eval.figures.options import Resampling
from veritrail_eval.methods.method import MethodOutcome
from veritrail_eval.reporting.run_folder import ConfigurationRun
from veritrail_eval.runs.record import JudgedDataset, RecordedMistake

ALL = "all"
"""The row of all logs, where they are of several subsets."""
_NOTHING_SCORED = "no log was judged"


@dataclass(frozen=True, slots=True)
class PublishedAccuracy:
    """A figure of the paper on Who&When.

    Attributes:
        method: The method of the paper that has it.
        agent: The share of logs whose agent it names; None: another method has the best one.
        step: The same of the step.
    """

    method: str
    agent: float | None = None
    step: float | None = None


PUBLISHED = (
    PublishedAccuracy("All-at-Once", agent=0.535),
    PublishedAccuracy("Step-by-Step", step=0.142),
)
PUBLISHED_SOURCE = (
    "Zhang et al., Which Agent Causes Task Failures and When?, ICML 2025, arXiv 2505.00212, "
    "abstract"
)
PUBLISHED_CONDITIONS = (
    "the best by agent and the best by step, which are two methods, of GPT-4o over the 184 logs of "
    "both subsets; each is the mean of four results: both subsets, with and without the right "
    "answer shown"
)


@dataclass(frozen=True, slots=True)
class AttributedFailures:
    """The accuracy of a configuration on the logs of a subset.

    Attributes:
        subset: The folder or table of the logs, or `all`.
        logs: Logs with a noted mistake that were judged.
        unfinished: Logs that are left out: they failed, ran out of budget, were not judged, or
            were judged by a version that kept no error nodes.
        not_located: Of `logs`, those for which no error node was named; they count as wrong.
        agent: The share of `logs` whose noted agent wrote the first error node.
        agent_interval: 95 %, over the logs.
        step: The share whose first error node is the noted message.
        step_interval: 95 %, over the logs.
    """

    subset: str
    logs: int
    unfinished: int
    not_located: int
    agent: Figure
    agent_interval: Interval
    step: Figure
    step_interval: Interval

    def as_json(self) -> dict[str, Any]:
        """The figures under their keys."""
        document = {
            "subset": self.subset,
            "logs": self.logs,
            "unfinished": self.unfinished,
            "not_located": self.not_located,
            "agent": self.agent.value,
            "agent_interval": self.agent_interval.as_json(),
            "step": self.step.value,
            "step_interval": self.step_interval.as_json(),
        }
        return with_reasons(document, {"agent": self.agent, "step": self.step})


@dataclass(frozen=True, slots=True)
class Guess:
    """The accuracy of an agent, and of a message, drawn at random: the mean over the logs.

    Attributes:
        subset: The folder or table of the logs, or `all`.
        logs: Logs with a noted mistake.
        agent: An agent of the log drawn.
        step: A message of the log drawn.
    """

    subset: str
    logs: int
    agent: Figure
    step: Figure

    def as_json(self) -> dict[str, Any]:
        """The figures under their keys."""
        return {
            "subset": self.subset,
            "logs": self.logs,
            "agent": self.agent.value,
            "step": self.step.value,
        }


@dataclass(frozen=True)
class FailureAttribution:
    """The benchmark on a data set.

    Attributes:
        runs: The configurations that say where errors came in.
        rows: The accuracies of each, by its id: a row a subset.
        guesses: A guess, a row a subset.
    """

    runs: Sequence[ConfigurationRun]
    rows: Mapping[str, Sequence[AttributedFailures]]
    guesses: Sequence[Guess]

    @property
    def summary(self) -> str:
        """Return the accuracies of the configuration that finds most steps, in a sentence."""
        totals = [(run, self.rows[run.configuration_id][-1]) for run in self.runs]
        run, row = max(
            totals, key=lambda one: (one[1].step.value or 0.0, one[1].agent.value or 0.0)
        )
        if row.agent.value is None or row.step.value is None:
            return ""
        who = f"{'' if run.indicative else 'judged '}by {run.judge}" if run.judge else ""
        lacking = (
            f"; of {row.not_located:,} it names no place, which counts as wrong"
            if row.not_located
            else ""
        )
        return (
            f"Of {row.logs:,} failed logs {run.title}{f' ({who})' if who else ''} finds the agent "
            f"of {row.agent.value * 100:.1f} % and the step of {row.step.value * 100:.1f} %"
            f"{lacking}."
        )

    def as_json(self) -> dict[str, Any]:
        """The figures under their keys."""
        return {
            "configurations": {
                name: [row.as_json() for row in rows] for name, rows in self.rows.items()
            },
            "guess": [one.as_json() for one in self.guesses],
            "published": {
                "agent": [[one.method, one.agent] for one in PUBLISHED if one.agent is not None],
                "step": [[one.method, one.step] for one in PUBLISHED if one.step is not None],
                "source": PUBLISHED_SOURCE,
                "conditions": PUBLISHED_CONDITIONS,
            },
        }


class _Log(NamedTuple):
    """A judged log.

    Attributes:
        is_located: Whether an error node is named.
        is_agent: Whether the noted agent wrote the first one.
        is_step: Whether it is the noted message.
    """

    is_located: bool
    is_agent: bool
    is_step: bool


def failure_attribution(
    runs: Sequence[ConfigurationRun], how: Resampling
) -> FailureAttribution | None:
    """Return how often configurations find the noted agent and step; None: no mistakes are noted.

    Args:
        runs: The configurations on one data set.
        how: Number of resamples and seed.
    """
    walking = [run for run in runs if run.walks]
    if not walking:
        return None
    mistakes = _mistakes(walking[0].dataset)
    if not mistakes:
        return None
    subsets = _subsets(mistakes)
    return FailureAttribution(
        walking,
        {run.configuration_id: [_row(run, one, how) for one in subsets] for run in walking},
        [_guess(mistakes, one) for one in subsets],
    )


def _mistakes(dataset: JudgedDataset) -> list[RecordedMistake]:
    return [
        claim.mistake
        for claim in dataset.claims
        if claim.mistake is not None and claim.label is UNSUPPORTED
    ]


def _subsets(mistakes: Sequence[RecordedMistake]) -> list[str]:
    """The subsets, and all of them together where there are several."""
    names = list(dict.fromkeys(one.subset for one in mistakes))
    return [*names, ALL] if len(names) > 1 else names


def _is_of(mistake: RecordedMistake, subset: str) -> bool:
    return subset in (ALL, mistake.subset)


def _row(run: ConfigurationRun, subset: str, how: Resampling) -> AttributedFailures:
    logs, unfinished = [], 0
    for claim, outcome in run.pairs():
        mistake = claim.mistake
        if mistake is None or claim.label is not UNSUPPORTED or not _is_of(mistake, subset):
            continue
        if outcome is None or not outcome.status.is_result or _is_unknown(outcome):
            unfinished += 1
        else:
            logs.append(_compared(mistake, outcome))

    def shares(drawn: Mapping[_Log, int]) -> dict[str, Figure]:
        total = sum(drawn.values())
        agent = sum(count for log, count in drawn.items() if log.is_agent)
        step = sum(count for log, count in drawn.items() if log.is_step)
        return {
            "agent": share(agent, total, _NOTHING_SCORED),
            "step": share(step, total, _NOTHING_SCORED),
        }

    figures = shares(Counter(logs))
    spans = intervals(logs, shares, how)
    return AttributedFailures(
        subset=subset,
        logs=len(logs),
        unfinished=unfinished,
        not_located=sum(not log.is_located for log in logs),
        agent=figures["agent"],
        agent_interval=spans["agent"],
        step=figures["step"],
        step_interval=spans["step"],
    )


def _is_unknown(outcome: MethodOutcome) -> bool:
    """Return whether the outcome is of a version that kept the stages of errors alone."""
    return outcome.error_nodes is None and bool(outcome.error_stages)


def _compared(mistake: RecordedMistake, outcome: MethodOutcome) -> _Log:
    nodes = outcome.error_nodes or ()
    said = mistake.messages.get(nodes[0]) if nodes else None
    if said is None:
        return _Log(bool(nodes), is_agent=False, is_step=False)
    return _Log(True, _name(said.agent) == _name(mistake.agent), said.step == mistake.step)


def _name(agent: str) -> str:
    return agent.strip().casefold()


def _guess(mistakes: Sequence[RecordedMistake], subset: str) -> Guess:
    logs = [one for one in mistakes if _is_of(one, subset)]
    agents, steps = [], []
    for log in logs:
        messages = log.messages.values()
        names = {_name(one.agent) for one in messages}
        places = {one.step for one in messages}
        agents.append(1 / len(names) if _name(log.agent) in names else 0.0)
        steps.append(1 / len(places) if log.step in places else 0.0)
    return Guess(subset, len(logs), mean(agents, _NOTHING_SCORED), mean(steps, _NOTHING_SCORED))

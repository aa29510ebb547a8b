"""Tables that compare configurations on one data set: hard and soft prediction.

Each table is scored for itself: what a configuration calls Inconclusive leaves only the tables in
which it is compared.

Source: VeriTrail 4.3 with footnote 7 (Table 1), E.3 (Table 5), E.4 (all configurations).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from veritrail_eval.figures.bootstrap import Interval
from veritrail_eval.figures.difference import PairedDifference, paired_difference
from veritrail_eval.figures.figure import Figure
from veritrail_eval.figures.grid import Configuration, best_configurations
from veritrail_eval.figures.options import Inconclusive, Resampling
from veritrail_eval.figures.scores import INCONCLUSIVE, MethodScore, scores
from veritrail_eval.reporting.run_folder import ConfigurationRun, judged_claims


@dataclass(frozen=True)
class ScoredRun:
    """A row: a configuration with its figures in this table.

    Attributes:
        run: The configuration.
        score: Its score in this table.
        intervals: The intervals of its figures; empty: none were made for this table.
        tied: Other configurations of its method with the same macro F1, where it is the best.
    """

    run: ConfigurationRun
    score: MethodScore
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    tied: int = 0

    @property
    def figures(self) -> dict[str, Figure]:
        """Every figure by the path of its key."""
        return self.score.figures()

    @property
    def macro_f1(self) -> float | None:
        """The figure that selects."""
        return self.score.confusion.macro_f1.value


@dataclass(frozen=True)
class Compared:
    """The best row of a table, another one, and how far apart they are."""

    first: ScoredRun
    second: ScoredRun
    paired: PairedDifference


@dataclass(frozen=True)
class ScoreTable:
    """Configurations of one data set that are compared with each other.

    Attributes:
        rows: The configurations, in the order of the matrix.
        inconclusive: Labelled claims that at least one of them calls Inconclusive.
        open_ended: Claims that ended in at least one of them without a verdict.
        comparisons: The best row with every other one; empty: they were not compared.
        unscored: Claims with a verdict in all of them that one which gives scores gave none; they
            leave soft prediction of all.
    """

    rows: Sequence[ScoredRun]
    inconclusive: int = 0
    open_ended: int = 0
    comparisons: Sequence[Compared] = ()
    unscored: int = 0

    @property
    def best(self) -> list[ScoredRun]:
        """The rows with a macro F1, the best first; equal ones in the order of the matrix."""
        known = [row for row in self.rows if row.macro_f1 is not None]
        return sorted(known, key=lambda row: -(row.macro_f1 or 0.0))

    def compared(self, first: ScoredRun, second: ScoredRun) -> PairedDifference | None:
        """Return how far apart two rows are, if they were compared."""
        for one in self.comparisons:
            if one.first is first and one.second is second:
                return one.paired
        return None


def score_table(
    runs: Sequence[ConfigurationRun],
    rule: Inconclusive,
    how: Resampling | None = None,
    tied: Mapping[str, int] | None = None,
    *,
    soft: bool = False,
) -> ScoreTable:
    """Score configurations of one data set against each other.

    Args:
        runs: The configurations.
        rule: What happens to Inconclusive verdicts.
        how: Adds intervals and comparisons.
        tied: How many others each configuration ties with, by its id.
        soft: Whether the table is of soft prediction, whose interval is that of AUROC.
    """
    claims = judged_claims(runs)
    found = {score.method: score for score in scores(claims, rule)}
    rows = [
        ScoredRun(
            run,
            found[run.configuration_id],
            _intervals(found[run.configuration_id], how, soft=soft),
            (tied or {}).get(run.configuration_id, 0),
        )
        for run in runs
        if run.configuration_id in found
    ]
    pairs = []
    if how is not None and not soft:
        ordered = sorted(rows, key=lambda row: -(row.macro_f1 if row.macro_f1 is not None else -1))
        pairs = [
            Compared(ordered[0], other, paired_difference(ordered[0].score, other.score, how))
            for other in ordered[1:]
        ]
    open_ended = {one.claim_id for one in claims if one.verdict is None}
    giving = {name for name, score in found.items() if score.has_scores}
    unscored = {one.claim_id for one in claims if one.score is None and one.method in giving}
    return ScoreTable(
        rows,
        len({one.claim_id for one in claims if one.verdict is INCONCLUSIVE and one.is_labelled}),
        len(open_ended),
        pairs,
        len(unscored - open_ended),
    )


def _intervals(score: MethodScore, how: Resampling | None, *, soft: bool) -> dict[str, Interval]:
    if how is None:
        return {}
    return score.soft_intervals(how) if soft else score.hard_intervals(how)


def best_of_each_method(table: ScoreTable) -> tuple[list[ConfigurationRun], dict[str, int]]:
    """For each method the configuration with the best macro F1, and how many others tie with it.

    A method none of whose configurations has a macro F1 is shown by its first one, so that no
    method disappears.

    Args:
        table: All configurations.
    """
    every = [
        Configuration(
            row.run.dataset.name,
            row.run.configuration.label,
            {"configuration_id": row.run.configuration_id},
            {"macro_f1": row.macro_f1},
        )
        for row in table.rows
    ]
    chosen = {
        label: best for (_, label), best in best_configurations(every).items()
    }  # one data set, so a method is known by its label
    runs: list[ConfigurationRun] = []
    tied: dict[str, int] = {}
    for label in dict.fromkeys(row.run.configuration.label for row in table.rows):
        own = [row.run for row in table.rows if row.run.configuration.label == label]
        if label in chosen:
            name = chosen[label].configuration.settings["configuration_id"]
            own = [run for run in own if run.configuration_id == name]
            tied[own[0].configuration_id] = chosen[label].tied
        runs.append(own[0])
    return runs, tied


def with_scores(runs: Sequence[ConfigurationRun]) -> list[ConfigurationRun]:
    """The configurations that give probabilities, which soft prediction compares."""
    return [run for run in runs if any(one.score is not None for one in run.outcomes.values())]

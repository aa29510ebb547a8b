"""The outcome of an evaluation on a data set, in a sentence or two that everybody understands."""

from __future__ import annotations

from veritrail_eval.figures.confusion import ONE_CLASS
from veritrail_eval.figures.difference import PairedDifference, paired_difference
from veritrail_eval.figures.options import Inconclusive, Resampling
from veritrail_eval.reporting.score_tables import ScoredRun, ScoreTable, score_table
from veritrail_graph.api.show.words import VERDICT_WORDS

FEW_CLAIMS = 30
"""With fewer claims than this, a report says that they are few."""
LEVEL = 0.05
"""Below it a p-value tells two methods apart, as an interval of 95 % does that leaves out 0."""
MANY = 3
"""From this many configurations on, a report says that the best of them was chosen."""


def headline(
    dataset: str, every: ScoreTable, best: ScoreTable, rule: Inconclusive, how: Resampling
) -> str:
    """Return which configuration was best, by how much, and whether that is beyond chance.

    The runner-up is the best configuration of another method; where there is one method alone,
    its next configuration.

    Args:
        dataset: The data set's name.
        every: All configurations.
        best: The best configuration of each method.
        rule: What happens to Inconclusive verdicts.
        how: Number of resamples and seed.
    """
    if not any(run.outcomes for run in (row.run for row in every.rows)):
        return f"{dataset}: nothing has been judged yet."
    table = best
    if len(best.rows) == 1 and len(every.rows) > 1:
        first_two = [row.run for row in every.best[:2]]
        table = score_table(first_two, rule, how) if first_two else best
    ordered = table.best
    if not ordered:
        return f"{dataset}: {_without_figures(every)}"
    first = ordered[0]
    scored, claims = len(first.score.outcomes), first.score.claims
    share = f"{scored:,} claims" if scored == claims else f"{scored:,} of {claims:,} claims"
    value = f"macro F1 {first.macro_f1:.3f} over {share}"
    if len(ordered) == 1:
        others = len(every.rows) - 1
        rest = "There is nothing to compare it with." if not others else (
            f"None of the {others:,} others has a macro F1."
            if others > 1 else "The other one has no macro F1."
        )  # fmt: skip
        words = f"{dataset}: {first.run.title} has {value}. {rest}"
    else:
        second = ordered[1]
        paired = table.compared(first, second) or paired_difference(first.score, second.score, how)
        is_tie = first.macro_f1 == second.macro_f1
        chance = "" if is_tie else f" {_chance(paired)}"
        words = (
            f"{dataset}: {_against(first, second, value)}{_turned(first, second, paired)}{chance}"
        )
    return f"{words}{_caution(first, every)}"


def _without_figures(every: ScoreTable) -> str:
    """Say how much is scored, and why that gives neither figure."""
    most = max(every.rows, key=lambda row: len(row.score.outcomes))
    scored, claims = len(most.score.outcomes), most.score.claims
    reason = most.figures["macro_f1"].reason or "it cannot be computed"
    if reason == ONE_CLASS:
        named = VERDICT_WORDS[next(label for label, _ in most.score.outcomes.values())]
        reason = f"none is labelled otherwise than {named}, and both figures need both classes"
    words = (
        f"{scored:,} of {claims:,} claims {'has' if scored == 1 else 'have'} a label and a "
        f"verdict. There is no macro F1 and no balanced accuracy, because {reason}."
    )
    if any(row.run.indicative for row in every.rows):
        words += " Words alone decide few claims; a model decides more."
    return words


def _against(first: ScoredRun, second: ScoredRun, value: str) -> str:
    ahead = (first.macro_f1 or 0.0) - (second.macro_f1 or 0.0)
    if ahead == 0:
        return f"{first.run.title} and {second.run.title} are equally good, with {value}."
    return f"{first.run.title} was best, with {value}: {ahead:.3f} more than {second.run.title}."


def _turned(first: ScoredRun, second: ScoredRun, paired: PairedDifference) -> str:
    """Return what is to be said where the claims that both are scored on say the opposite."""
    difference = paired.difference.value or 0.0
    if first.macro_f1 == second.macro_f1 or difference >= 0:
        return ""
    return (
        f" But not all of their claims are the same: on the {paired.claims:,} claims of both, "
        f"{second.run.title} is {-difference:.3f} ahead."
    )


def _chance(paired: PairedDifference) -> str:
    ends = paired.interval.as_json()
    if not paired.claims:
        return "No claim is scored for both, so they cannot be compared."
    if ends is None or paired.difference.value is None:
        return f"Whether that is chance cannot be said ({paired.difference.reason})."
    p_value = paired.mcnemar.p_value
    test = f"McNemar p = {p_value.value:.3f}" if p_value.value is not None else str(p_value.reason)
    facts = (
        f"95 % interval of the difference {ends[0]:+.3f} to {ends[1]:+.3f} over the "
        f"{paired.claims:,} claims of both; {test}"
    )
    is_unlikely = p_value.value is not None and p_value.value < LEVEL
    if paired.is_beyond_chance and is_unlikely:
        return f"The difference is beyond chance ({facts})."
    if paired.is_beyond_chance:
        why = "the interval leaves out 0, but McNemar's test does not tell the two apart"
        return f"Whether the difference is chance is open: {why} ({facts})."
    if is_unlikely:
        why = "McNemar's test tells the two apart, but 0 is in the interval"
        return f"Whether the difference is chance is open: {why} ({facts})."
    return f"The difference may well be chance ({facts})."


def _caution(first: ScoredRun, every: ScoreTable) -> str:
    found = ""
    if len(first.score.outcomes) < FEW_CLAIMS:
        found += " So few claims say little."
    if first.macro_f1 is not None and first.macro_f1 <= 0.5:
        found += " A macro F1 of 0.5 or less is also reached by always giving one verdict."
    if len(every.rows) >= MANY:
        found += (
            f" The best of {len(every.rows):,} configurations was chosen on the claims that it is "
            "scored on, so its lead is likely smaller on others."
        )
    indicative = [row.run.indicative for row in every.rows]
    if all(indicative):
        found += " Indicative only: it rests on a comparison of words."
    elif first.run.indicative:
        found += " The best configuration is indicative only: it rests on a comparison of words."
    elif first.run.judge:
        found += f" Judged by {first.run.judge}."
    return found

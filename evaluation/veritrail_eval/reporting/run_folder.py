"""The folder of a run, read: which outcomes count, and which lines do not.

The latest line of a data set, a configuration and a claim counts. A line about a claim whose
content has changed, or about something that is no part of the run, does not; it is counted.

Source: ours (docs/evaluation.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from veritrail_eval.figures.localization import LocatedClaim
from veritrail_eval.figures.scores import ScoredClaim
from veritrail_eval.methods.method import MethodOutcome
from veritrail_eval.runs.outcomes import KEPT, KeptOutcome, OutcomeFile, Preparation
from veritrail_eval.runs.record import (
    JudgedDataset,
    JudgingConfiguration,
    RecordedClaim,
    RunRecord,
    read_record,
)
from veritrail_eval.runs.runner import OUTCOMES
from veritrail_graph.graph.model import Status, Usage

ENGINES_WITHOUT_MODEL = ("lexical",)
"""Engines whose outcomes are indicative where an outcome does not say so itself."""

BY_WORDS = "words alone, indicative"
"""Who judged where no model did."""

Key = tuple[str, str]
"""process_id and claim_id."""


@dataclass(frozen=True)
class ConfigurationRun:
    """A configuration on a data set, with its outcomes.

    Attributes:
        dataset: The data set.
        configuration: The configuration.
        outcomes: The outcomes that count, by claim; a claim without one was not judged.
        prepared: The cost of each preparation; a run that was continued prepares again.
        spent: The cost of all lines, also of failures that were tried again later.
        reused: What answers from the cache would have cost anew, by claim.
        prepared_reused: The same of each preparation.
        judges: Who judged what counts, by name; empty: nothing was judged, or it was not noted.
        unnoted: How many outcomes that count are of a version that did not note the judge.
    """

    dataset: JudgedDataset
    configuration: JudgingConfiguration
    outcomes: Mapping[Key, MethodOutcome]
    prepared: Sequence[Usage]
    spent: Usage
    reused: Mapping[Key, Usage] = field(default_factory=dict)
    prepared_reused: Sequence[Usage] = ()
    judges: tuple[str, ...] = ()
    unnoted: int = 0

    @property
    def configuration_id(self) -> str:
        """The id of the configuration."""
        return self.configuration.configuration_id

    @property
    def title(self) -> str:
        """Label and parameters, for people."""
        return self.configuration.title

    @property
    def judge(self) -> str:
        """Return who judged, in words; empty: it is not known."""
        if self.indicative:
            return BY_WORDS
        return " and ".join(self.judges)

    @property
    def indicative(self) -> bool:
        """Return whether no model judged, so that the figures decide nothing."""
        engine = self.configuration.parameters.get("engine")
        return engine in ENGINES_WITHOUT_MODEL or any(
            one.indicative for one in self.outcomes.values()
        )

    @property
    def walks(self) -> bool:
        """Return whether the method walks, so that it can say where errors came in."""
        return any(one.iterations is not None for one in self.outcomes.values())

    @property
    def asks_models(self) -> bool:
        """Return whether any claim took a call to a model, or an answer from the cache."""
        return any(one.usage.calls or one.usage.cached_calls for one in self.outcomes.values())

    def pairs(self) -> Iterator[tuple[RecordedClaim, MethodOutcome | None]]:
        """Each claim of the data set with its outcome, if it has one."""
        for claim in self.dataset.claims:
            yield claim, self.outcomes.get(claim.key)

    def endings(self) -> Counter[str]:
        """Return how many claims ended in which way: a verdict, a status, or `not_judged`."""
        found: Counter[str] = Counter()
        for _, outcome in self.pairs():
            if outcome is None:
                found["not_judged"] += 1
            elif outcome.verdict is not None:
                found[outcome.verdict.value] += 1
            else:
                found[outcome.status.value] += 1
        return found

    def faults(self) -> Counter[str]:
        """Say why claims have no verdict though they were tried, and how many for each reason."""
        return Counter(
            one.reason or "no reason was kept"
            for one in self.outcomes.values()
            if not one.status.is_result
        )


@dataclass(frozen=True)
class RunFolder:
    """A run, read.

    Attributes:
        record: What the run is about.
        runs: Every configuration on every data set, data set by data set.
        stale: Lines about claims whose content is another one now.
        foreign: Lines about data sets, configurations or claims that are not in the run.
    """

    record: RunRecord
    runs: Sequence[ConfigurationRun]
    stale: int
    foreign: int

    def of(self, dataset: JudgedDataset) -> list[ConfigurationRun]:
        """The configurations on a data set."""
        return [one for one in self.runs if one.dataset.name == dataset.name]


def read_run_folder(folder: Path) -> RunFolder:
    """Read what `veritrail eval run` has kept in a folder.

    Raises:
        InputError: The folder holds no run, or a line of its outcomes is broken.
    """
    record = read_record(folder)
    places = {
        (dataset.name, one.configuration_id): (dataset, one)
        for dataset in record.datasets
        for one in record.configurations
        if one.judges(dataset.name)
    }
    prints = {
        (one.name, claim.key): claim.fingerprint for one in record.datasets for claim in one.claims
    }
    latest: dict[tuple[str, str], dict[Key, MethodOutcome]] = {}
    reused: dict[tuple[str, str], dict[Key, Usage]] = {}
    judges: dict[tuple[str, str], dict[Key, str | None]] = {}
    prepared: dict[tuple[str, str], list[Preparation]] = {}
    spent: dict[tuple[str, str], Usage] = {}
    stale = foreign = 0
    for line in OutcomeFile(folder / OUTCOMES).read():
        place = line.dataset, line.configuration
        if place not in places:
            foreign += 1
        elif not isinstance(line, KeptOutcome):
            prepared.setdefault(place, []).append(line)
            spent[place] = spent.get(place, Usage()) + line.prepared
        elif (line.dataset, line.outcome.key) not in prints:
            foreign += 1
        elif prints[line.dataset, line.outcome.key] != line.fingerprint:
            stale += 1
        else:
            latest.setdefault(place, {})[line.outcome.key] = line.outcome
            reused.setdefault(place, {})[line.outcome.key] = line.reused
            named = judges.setdefault(place, {})
            named.pop(line.outcome.key, None)
            if line.outcome.status in KEPT:
                named[line.outcome.key] = line.judge.name if line.judge else None
            spent[place] = spent.get(place, Usage()) + line.outcome.usage
    runs = [
        ConfigurationRun(
            dataset,
            configuration,
            latest.get(place, {}),
            [one.prepared for one in prepared.get(place, ())],
            spent.get(place, Usage()),
            reused.get(place, {}),
            [one.reused for one in prepared.get(place, ())],
            *_named(judges.get(place, {}).values()),
        )
        for place, (dataset, configuration) in places.items()
    ]
    return RunFolder(record, runs, stale, foreign)


def _named(judges: Collection[str | None]) -> tuple[tuple[str, ...], int]:
    """The judges by name, and how many outcomes have none."""
    names = {one for one in judges if one is not None}
    return tuple(sorted(names)), sum(one is None for one in judges)


def claim_names(dataset: JudgedDataset) -> dict[Key, str]:
    """A name for each claim that no other claim of the data set has: its claim_id, if that is one.

    Otherwise process_id and claim_id, joined by a slash, which is in neither.
    """
    ids = [claim.claim_id for claim in dataset.claims]
    is_unique = len(set(ids)) == len(ids)
    return {
        claim.key: claim.claim_id if is_unique else f"{claim.process_id}/{claim.claim_id}"
        for claim in dataset.claims
    }


def judged_claims(runs: Sequence[ConfigurationRun]) -> list[ScoredClaim]:
    """Return what configurations say of the claims of one data set, as `figures.scores` takes it.

    The method's name is the configuration's id. A claim that was not judged has no verdict.
    """
    found = []
    for run in runs:
        names = claim_names(run.dataset)
        for claim, outcome in run.pairs():
            found.append(
                ScoredClaim(
                    claim_id=names[claim.key],
                    label=claim.label,
                    verdict=outcome.verdict if outcome else None,
                    method=run.configuration_id,
                    score=outcome.score if outcome else None,
                    cost_usd=outcome.usage.cost_usd if outcome else None,
                )
            )
    return found


def located_claims(runs: Sequence[ConfigurationRun]) -> list[LocatedClaim]:
    """Return where configurations say that errors came in, as `figures.localization` takes it."""
    return [
        LocatedClaim(
            variant=run.configuration_id,
            claim_id="/".join(claim.key),
            label=claim.label,
            verdict=outcome.verdict,
            error_stages=frozenset(outcome.error_stages or ()),
        )
        for run in runs
        for claim, outcome in run.pairs()
        if outcome is not None and outcome.status is Status.SUCCEEDED
    ]

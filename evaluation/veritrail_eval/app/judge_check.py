"""Checking the configured judge on labelled pairs, without a graph.

The walk, the models, the cache of answers, the limits and the pace are those of `verify`; only the
nodes are in memory, and no verification is stored.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_eval.judge_check.calibration import Calibration
from veritrail_eval.judge_check.figures import (
    Figures,
    Judged,
    by_kind,
    meaning,
    reliability,
    without_verdict,
)
from veritrail_eval.judge_check.nodes import PROCESS, held_pairs, tasks_of
from veritrail_eval.judge_check.pairs import Pair, chosen_pairs, own_pairs, read_pairs
from veritrail_eval.judge_check.turned import TurnedChoices, turning
from veritrail_graph.api.configured.judge import (
    ConfiguredJudge,
    check_engines,
    configure_judge,
)
from veritrail_graph.api.configured.measured import MeasuredJudge, keep_measured
from veritrail_graph.api.configured.shared import Shared
from veritrail_graph.api.work.runs import options_of, pace
from veritrail_graph.graph.errors import InputError, VeriTrailError
from veritrail_graph.graph.exporters.cells import guarded
from veritrail_graph.graph.judge_mode import wording_of_settings
from veritrail_graph.graph.model import Usage, Verification
from veritrail_graph.graph.model.run_usage import total_usage
from veritrail_graph.graph.model.trail import NO_USAGE
from veritrail_graph.graph.sentences import SentenceSplitter
from veritrail_graph.verifier.engines import engine_named
from veritrail_graph.verifier.held_process import HeldNodes
from veritrail_graph.verifier.models.retrying import Spending
from veritrail_graph.verifier.run import Run

if TYPE_CHECKING:
    from veritrail_graph.api.app.estimation import Estimated
    from veritrail_graph.api.configured.judge import JudgeOptions
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.driver import Observer
    from veritrail_graph.verifier.measured import Measured

COLUMNS = (
    "claim_id", "label", "verdict", "method", "score", "cost_usd", "right", "kind", "domain",
    "status", "claim", "reasoning", "error", "calls", "cached_calls",
)  # fmt: skip
"""Of a file of verdicts; the first six are those that `veritrail eval score` reads."""


@dataclass(frozen=True, slots=True)
class JudgeChecked:
    """A check that has ended.

    Attributes:
        judge: Who judged.
        judged: The pairs, each with its verification.
        seconds: How long it took.
        refusal: Why the endpoint refuses every call, if it does.
        alone: Where prompts are shared, the same pairs over the same sources with a prompt for
            each claim.
        reused: What the answers from the cache would cost.
        turned: The verdicts with options in the reverse order; None: the judge does not choose.
    """

    judge: ConfiguredJudge
    judged: tuple[Judged, ...]
    seconds: float
    refusal: VeriTrailError | None
    alone: JudgeChecked | None = None
    reused: Usage = NO_USAGE
    turned: TurnedChoices | None = None

    @property
    def calibration(self) -> Calibration | None:
        """Say whether its probabilities are what they say; None: it gave none."""
        return Calibration.of(self.judged)

    @property
    def figures(self) -> Figures:
        """The figures of all pairs."""
        return Figures.of(self.judged)

    @property
    def kinds(self) -> dict[str, Figures]:
        """The figures of each kind of pair."""
        return by_kind(self.judged)

    @property
    def meaning(self) -> str | None:
        """Return what the figures say, in a sentence; None: no pair has a verdict."""
        return meaning(self.figures)

    @property
    def reliability(self) -> str | None:
        """Return how often each verdict is right, and the share that is decided, in a sentence."""
        return reliability(self.figures)

    @property
    def measured(self) -> Measured | None:
        """Return what was measured of this engine elsewhere; None: it depends on the model."""
        judge = self.judge.judge
        is_one = judge.indicative and "+" not in judge.name
        return engine_named(judge.name).measured if is_one else None

    @property
    def selected_alike(self) -> tuple[int, int]:
        """Pairs for which both ways selected the same evidence, of those with two results."""
        both = [
            (one.verification, other.verification)
            for one, other in zip(
                self.judged, self.alone.judged if self.alone else (), strict=False
            )
            if one.verification.status.is_result and other.verification.status.is_result
        ]
        return sum(_selected(one) == _selected(other) for one, other in both), len(both)

    @property
    def judged_alike(self) -> tuple[int, int]:
        """Pairs for which both ways gave the same verdict, of those with two verdicts."""
        both = [
            (one.verification.verdict, other.verification.verdict)
            for one, other in zip(
                self.judged, self.alone.judged if self.alone else (), strict=False
            )
            if one.verification.verdict and other.verification.verdict
        ]
        return sum(one is other for one, other in both), len(both)

    @property
    def usage(self) -> Usage:
        """Return what all pairs cost; with shared prompts, the second time."""
        return total_usage(one.verification for one in self.judged)

    @property
    def cost_anew(self) -> float | None:
        """Say what `usage` would have cost without answers from the cache; None: it is not known.

        The second of two checks finds answers that the first one paid, so only this figure shows
        how they differ. An answer of the cache counts with its tokens at their price, no prefix
        cached.
        """
        usage = self.usage
        if not usage.cached_calls:
            return usage.cost_usd
        if usage.cost_usd is None or self.reused.cost_usd is None:
            return None
        return usage.cost_usd + self.reused.cost_usd

    @property
    def paid(self) -> Usage:
        """Return what the whole check cost, with shared prompts both times."""
        turned = self.turned.usage if self.turned is not None else NO_USAGE
        return (self.usage if self.alone is None else self.alone.usage + self.usage) + turned

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a person should know, such as a cache that cannot be used."""
        models = self.judge.models
        return tuple(models.warnings) if models is not None else ()

    @property
    def unfinished(self) -> list[Verification]:
        """The verifications that ended without a result."""
        every = (one.verification for one in self.judged)
        return [one for one in every if not one.status.is_result]

    def json_object(self) -> dict[str, Any]:
        """The check as one JSON document."""
        figures, judge, usage = self.figures, self.judge.judge, self.usage
        answered = figures.scored + figures.inconclusive + figures.undecided
        cost = usage.cost_usd
        compared: dict[str, Any] = {}
        calibration = self.calibration
        if self.alone is not None:
            alone = self.alone
            compared = {
                "share": self.judge.how.share,
                "alone": {
                    "overall": alone.figures.json_object(),
                    "without_verdict": without_verdict(alone.judged),
                    "usage": alone.usage.json_object(),
                    "cost_anew_usd": alone.cost_anew,
                },
                "paid": self.paid.json_object(),
                "same_evidence": dict(zip(("pairs", "of"), self.selected_alike, strict=True)),
                "same_verdict": dict(zip(("pairs", "of"), self.judged_alike, strict=True)),
            }
        return {
            "engine": judge.name,
            "model": judge.model,
            "indicative": judge.indicative,
            "meaning": self.meaning,
            "reliability": self.reliability,
            "measured": None if self.measured is None else self.measured.json_object(),
            "calibration": calibration.json_object() if calibration is not None else None,
            "turned": self.turned.json_object() if self.turned is not None else None,
            "overall": figures.json_object(),
            "kinds": [{"kind": kind, **found.json_object()} for kind, found in self.kinds.items()],
            "without_verdict": without_verdict(self.judged),
            "seconds": round(self.seconds, 3),
            "usage": usage.json_object(),
            "cost_anew_usd": self.cost_anew,
            "cost_per_pair": cost / answered if cost is not None and answered else None,
            "warnings": list(self.warnings),
            **compared,
        }

    def write(self, path: Path) -> None:
        """Write a row a pair as CSV, with its verdict.

        Raises:
            InputError: The file cannot be written.
        """
        judge = self.judge.judge
        method = judge.name if judge.model is None else f"{judge.name} {judge.model}"
        try:
            with path.open("w", encoding="utf-8", newline="") as file:
                rows = csv.writer(file)
                rows.writerow(COLUMNS)
                rows.writerows([_cell(value) for value in _row(one, method)] for one in self.judged)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror or error}.") from None


class JudgeCheck:
    """One check of a judge.

    Args:
        settings: The settings.
        options: How claims are verified.
        pairs: The labelled pairs.
        observer: Its hooks are called.
        begins: Called with the check when its judge is ready.

    Attributes:
        judge: Who judges, once the check has begun.
    """

    def __init__(
        self,
        settings: Settings,
        options: JudgeOptions,
        pairs: Sequence[Pair],
        *,
        observer: Observer | None = None,
        begins: Callable[[JudgeCheck], None] = lambda _check: None,
    ) -> None:
        self.judge: ConfiguredJudge | None = None
        self._settings, self._options, self._pairs = settings, options, pairs
        self._observer, self._begins = observer, begins
        self._run: Run | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        """End the check now; pairs that are not finished become `cancelled`."""
        self._is_cancelled = True
        if self._run is not None:
            self._run.stop()

    async def carry_out(self) -> JudgeChecked:
        """Verify the claim of every pair; with shared prompts once more, to compare with.

        Raises:
            InputError: The engine, a model, a prompt or a setting is wrong.
        """
        options = self._options
        if self._settings.recorded is None and options.gives_recorded:
            raise InputError(
                "The recorded answers of the samples are about the samples alone, and a check asks "
                "about other texts.",
                code="recorded_of_samples",
            )
        shared = Shared(Spending(options.models.budget, options.models.max_calls))
        if options.share == 1:
            return await self._verified(options, shared)
        check_engines(options.engines, options)
        alone = await self._verified(replace(options, share=1), shared)
        if self._is_cancelled or alone.refusal is not None:
            return alone
        return replace(await self._verified(options, shared), alone=alone)

    async def _verified(self, options: JudgeOptions, shared: Shared) -> JudgeChecked:
        async with configure_judge(self._settings, options, shared) as judge:
            process = held_pairs(self._pairs, self._options.share)
            turns = turning(judge.judge)
            self._run = run = Run(
                PROCESS,
                turns or judge.judge,
                HeldNodes(process, judge.splitter),
                _keep_nothing,
                q=judge.how.q,
                concurrency=pace(judge),
                observer=judge.watched(self._observer),
                settings=judge.settings,
                options=options_of(judge),
                deadline=self._settings.claim_deadline if judge.models is not None else None,
            )
            self.judge = judge
            self._begins(self)
            began = time.monotonic()
            verifications = await run.verify(tasks_of(process))
            seconds = time.monotonic() - began
        judged = map(Judged, self._pairs, verifications)
        turned = turns.turned if turns is not None and turns.turned.verdicts else None
        return JudgeChecked(
            judge, tuple(judged), seconds, run.refusal, reused=run.reused, turned=turned
        )


def labelled_pairs(file: Path | None, kinds: Sequence[str], limit: int | None) -> tuple[Pair, ...]:
    """The pairs of a file, or ours, of the kinds that are asked for, up to a limit.

    Raises:
        InputError: The file cannot be used, or no pair is of these kinds.
    """
    return chosen_pairs(own_pairs() if file is None else read_pairs(file), kinds, limit)


def keep_figures(home: Path, done: JudgeChecked) -> None:
    """Keep the figures of a judge that asks a model, to stand beside its verdicts from now on.

    Args:
        home: The home folder.
        done: A check on our pairs of all kinds, as it ended.

    Raises:
        InputError: They cannot be written.
    """
    judge, figures = done.judge.judge, done.figures
    is_whole = done.refusal is None and not done.unfinished
    accuracy, interval, decided = figures.balanced_accuracy, figures.interval, figures.decided
    if judge.model is None or judge.indicative or not is_whole:
        return
    if accuracy is None or interval is None or decided is None:
        return
    calibration = done.calibration
    keep_measured(
        home,
        MeasuredJudge(
            judge.name,
            judge.model,
            round(accuracy, 3),
            (round(interval[0], 3), round(interval[1], 3)),
            round(decided, 3),
            figures.pairs,
            datetime.now(tz=UTC).date().isoformat(),
            round(calibration.error, 3) if calibration is not None else None,
            wording_of_settings(done.judge.settings),
        ),
    )


def asks_models(options: JudgeOptions) -> bool:
    """Return whether the engine asks models, so that a check costs something.

    Raises:
        InputError: There is no such engine.
    """
    return engine_named(options.engine).calls_models


async def _keep_nothing(*_verifications: Verification) -> None:
    """Store nothing: labelled pairs are no process of the user's."""


async def estimate_check(
    settings: Settings, options: JudgeOptions, pairs: Sequence[Pair]
) -> Estimated:
    """Return what a check would cost; no model is asked.

    Raises:
        InputError: A model, a prompt or a setting is wrong.
    """
    from veritrail_graph.api.app.estimation import estimate_tasks

    splitter = SentenceSplitter.for_language(settings.language)
    process = held_pairs(pairs, options.share)
    nodes, tasks = HeldNodes(process, splitter), tasks_of(process)
    return await estimate_tasks(settings, options, splitter, PROCESS, nodes, tasks)


def _selected(found: Verification) -> list[tuple[str, int]]:
    """The sentences that all rounds of a verification selected."""
    rounds = (one.evidence for one in found.iterations)
    return [(cited.node_id, cited.sentence) for each in rounds for cited in each]


def _row(one: Judged, method: str) -> list[Any]:
    pair, found = one.pair, one.verification
    usage = found.usage
    return [
        pair.pair_id,
        pair.label.value,
        found.verdict.value if found.verdict else None,
        method,
        found.score,
        usage.cost_usd,
        json.dumps(one.is_right) if one.is_right is not None else None,
        pair.kind,
        pair.domain,
        found.status.value,
        pair.claim,
        found.reasoning,
        found.error,
        usage.calls,
        usage.cached_calls,
    ]


def _cell(value: Any) -> Any:
    return guarded(value) if isinstance(value, str) else value

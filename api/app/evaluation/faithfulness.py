"""Judging the set-ups of an evaluation of faithfulness with a judge of the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.attribution import JudgeName, SourceMode

if TYPE_CHECKING:
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.evaluation.attribution.setups import Case, Judged, Row
    from veritrail_graph.evaluation.attribution.sources import Sources
    from veritrail_graph.graph.model import Usage
    from veritrail_graph.verifier.models.port import EndpointRefused


@dataclass(frozen=True, slots=True)
class WhoJudges:
    """Who judges.

    Attributes:
        name: The language model, or a checker.
        threshold: Of a checker: the score from which a sentence is faithful; None: as the settings
            say.
        engine: The engine that asks the language model; None: as the settings say.
        models: The model, and what it may cost.
        prompts: A folder of the user's own prompts.
    """

    name: JudgeName = JudgeName.MODEL
    threshold: float | None = None
    engine: str | None = None
    models: ModelOptions | None = None
    prompts: Path | None = None

    def modes(self, wanted: Sequence[SourceMode]) -> list[SourceMode]:
        """What the judge is shown; all that it can read where nothing is asked for.

        Raises:
            InputError: It cannot read one of them, or the threshold is none of its scores.
        """
        from veritrail_graph.api.configured.faithfulness import check_checker
        from veritrail_graph.verifier.attribution.scored import MODES

        if self.name is JudgeName.MODEL:
            if self.threshold is not None:
                raise InputError(
                    "A threshold is of a judge with scores, and none is named.",
                    code="judge_threshold",
                )
            return list(dict.fromkeys(wanted or SourceMode))
        found = list(dict.fromkeys(wanted or MODES))
        for mode in found:
            check_checker(self.name, mode, self.threshold)
        return found


@dataclass(frozen=True, slots=True)
class JudgedSetUps:
    """What a judge said.

    Attributes:
        rows: The rows of the table.
        judge: What the judge is called.
        usage: What its calls cost.
        refusal: Why no call could succeed, where one was refused.
        warnings: What a person should know.
    """

    rows: Sequence[Row]
    judge: str
    usage: Usage
    refusal: EndpointRefused | None = None
    warnings: Sequence[str] = field(default=())


async def judge_set_ups(
    settings: Settings,
    who: WhoJudges,
    cases: Sequence[Case],
    groups: Mapping[int, Mapping[tuple[str, ...], Sequence[str]]],
    modes: Sequence[SourceMode],
    sources: Sources,
    on_judged: Callable[[Judged], None],
) -> JudgedSetUps:
    """Judge labelled sentences in several set-ups.

    Args:
        settings: The settings.
        who: Who judges.
        cases: The sentences.
        groups: For each size the documents that are shown with each set of documents.
        modes: What is shown.
        sources: The documents.
        on_judged: Called after each judgement.

    Raises:
        InputError: A model, a prompt or a setting is wrong.
    """
    from veritrail_graph.api.configured.faithfulness import judge_name, open_judge
    from veritrail_graph.evaluation.attribution.setups import SetUps
    from veritrail_graph.verifier.models.port import Meter

    async with open_judge(
        settings,
        who.name,
        threshold=who.threshold,
        engine=who.engine,
        models=who.models,
        prompts=who.prompts,
    ) as (judge, warnings):
        meter = Meter()
        run = SetUps(judge, sources.node, meter, on_judged)
        rows = await run.run(cases, groups, modes)
        return JudgedSetUps(rows, judge_name(judge) or "", meter.total, run.refusal, warnings)

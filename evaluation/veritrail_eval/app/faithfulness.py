"""Judging the set-ups of an evaluation of faithfulness with a judge of the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.model.attribution import JudgeName, SourceMode

if TYPE_CHECKING:
    from veritrail_eval.attribution.setups import Row
    from veritrail_graph.api.configured.models import ModelOptions
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.graph.model import Usage
    from veritrail_graph.verifier.models.port import EndpointRefused


@dataclass(frozen=True, slots=True)
class WhoJudges:
    """The choice of a judge, with its options.

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
        """Return what the judge is shown; all that it can read where nothing is asked for.

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
class SetUpFiles:
    """The sentences that are judged, and what the judge is shown.

    Attributes:
        gold: Labelled sentences, with their attributions.
        sources: The source texts.
        attributed: The attributions that are shown; None: those of `gold`.
        others: Texts to draw other documents from; None: those of the sentences.
        sizes: Among how many documents.
        seed: What the draws of documents follow from.
    """

    gold: Path
    sources: Path
    attributed: Path | None = None
    others: Path | None = None
    sizes: Sequence[int] = (1,)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class JudgedSetUps:
    """The result of judging set-ups.

    Attributes:
        rows: The rows of the table.
        judge: What the judge is called.
        usage: What its calls cost.
        sentences: How many sentences have a label.
        unlabelled: How many have none and are left out.
        refusal: Why no call could succeed, where one was refused.
        warnings: What a person should know.
    """

    rows: Sequence[Row]
    judge: str
    usage: Usage
    sentences: int
    unlabelled: int
    refusal: EndpointRefused | None = None
    warnings: Sequence[str] = field(default=())

    def write(self, folder: Path) -> list[Path]:
        """Write the table, all labels and a plot.

        Raises:
            InputError: They cannot be written.
        """
        from veritrail_eval.attribution.tables import write_set_ups

        return write_set_ups(folder, self.rows)


async def judge_set_ups(
    settings: Settings,
    who: WhoJudges,
    wanted: Sequence[SourceMode],
    files: SetUpFiles,
    on_progress: Callable[[str, int, int], None] = lambda _what, _done, _of: None,
) -> JudgedSetUps:
    """Judge labelled sentences in several set-ups.

    Args:
        settings: The settings.
        who: Who judges.
        wanted: What is shown; empty: all that the judge can read.
        files: The sentences and the documents.
        on_progress: Told how many judgements there are after each one.

    Raises:
        InputError: A file, a model, a prompt or a setting is wrong.
    """
    from veritrail_eval.attribution.reading import read_attributions
    from veritrail_eval.attribution.setups import SetUps, cases_of, groups_of
    from veritrail_eval.attribution.sources import read_sources, together
    from veritrail_graph.api.configured.faithfulness import judge_name, open_judge
    from veritrail_graph.verifier.models.port import Meter

    modes, sources = who.modes(wanted), read_sources(files.sources)
    right = read_attributions(files.gold)
    predicted = None if files.attributed is None else read_attributions(files.attributed)
    cases, unlabelled = cases_of(right, predicted, sources)
    pool = list(dict.fromkeys(name for case in cases for name in case.documents))
    if files.others is not None:
        more = read_sources(files.others)
        sources, pool = together(sources, more), more.documents
    groups = {size: groups_of(cases, size, pool, files.seed) for size in sorted(set(files.sizes))}
    alone = SourceMode.ATTRIBUTION in modes
    total = len(cases) * (len(groups) * (len(modes) - alone) + alone)
    done = count(1)
    async with open_judge(
        settings,
        who.name,
        threshold=who.threshold,
        engine=who.engine,
        models=who.models,
        prompts=who.prompts,
    ) as (judge, warnings):
        meter = Meter()
        run = SetUps(
            judge, sources.node, meter, lambda _one: on_progress("judgements", next(done), total)
        )
        rows = await run.run(cases, groups, modes)
        return JudgedSetUps(
            rows,
            judge_name(judge) or "",
            meter.total,
            len(cases),
            unlabelled,
            run.refusal,
            warnings,
        )

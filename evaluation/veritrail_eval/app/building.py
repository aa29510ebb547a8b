"""Making data sets with a model: texts summarised, claims matched, questions chosen, answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_eval.app.datasets import named_texts
from veritrail_eval.app.resources import OpenResources, shared_within
from veritrail_eval.building import matching
from veritrail_eval.building import questions as filters
from veritrail_eval.building.asking import BuildModel
from veritrail_eval.building.steps import BuildStep, Variant
from veritrail_eval.datasets.loading import load_unlabelled
from veritrail_eval.whole_file import (
    make_folder,
    refuse_overwriting,
    write_text_whole,
)
from veritrail_graph.api.configured.models import ModelOptions
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.model import Usage

if TYPE_CHECKING:
    from veritrail_eval.building.graphrag.assumed import AssumedGraphRag
    from veritrail_eval.building.graphrag.graph_model import GraphModel
    from veritrail_eval.building.graphrag.indexing import GraphIndex
    from veritrail_eval.building.options import GraphRagOptions, SummaryOptions
    from veritrail_eval.datasets.model import Dataset, LabelledClaim
    from veritrail_graph.api.settings import Settings
    from veritrail_graph.verifier.ports import Split


@dataclass(frozen=True, slots=True)
class Asking:
    """The engine, the model and the prompts that are asked.

    Attributes:
        engine: The engine; None: as the settings say.
        models: The model, and what it may cost.
        prompts: A folder of the user's own prompts.
    """

    engine: str | None = None
    models: ModelOptions = field(default_factory=ModelOptions)
    prompts: Path | None = None


@dataclass(frozen=True, slots=True)
class WrittenRun:
    """A process file that was written.

    Attributes:
        output: The file.
        document: What it holds.
    """

    output: Path
    document: Mapping[str, Any]

    @property
    def stages(self) -> Mapping[str, int]:
        """Return how many nodes each stage has."""
        return Counter(str(node["stage"]) for node in self.document["nodes"])

    def as_json(self) -> dict[str, Any]:
        """Return what was written where; of an answer also its question and warnings."""
        more = [name for name in ("question", "warnings") if name in self.document]
        return {
            "output": str(self.output),
            "process_id": self.document["process_id"],
            "nodes": len(self.document["nodes"]),
            "stages": dict(self.stages),
            **{name: self.document[name] for name in more},
        }


@dataclass(frozen=True, slots=True)
class WrittenRuns:
    """Process files of summaries or answers, and what they cost.

    Attributes:
        runs: The files.
        usage: What the calls cost.
        failed: Of answers: the questions without one, each with the reason.
    """

    runs: Sequence[WrittenRun]
    usage: Usage
    failed: Mapping[str, str] | None = None

    def as_json(self) -> dict[str, Any]:
        """The files, what failed, and the cost."""
        document: dict[str, Any] = {"runs": [one.as_json() for one in self.runs]}
        if self.failed is not None:
            failed = self.failed.items()
            document["failed"] = [{"question": one, "error": why} for one, why in failed]
        return document | {"usage": self.usage.json_object()}


@dataclass(frozen=True, slots=True)
class MatchedClaims:
    """Claims that follow from premises.

    Attributes:
        output: The table that was written; None: every call failed, and none was.
        found: The matches.
        unknown_processes: How many premises are about processes that the data set lacks.
        usage: What the calls cost.
    """

    output: Path | None
    found: matching.Matching
    unknown_processes: Mapping[str, int]
    usage: Usage

    def as_json(self) -> dict[str, Any]:
        """The counts and the cost."""
        return {
            "output": None if self.output is None else str(self.output),
            "asked": self.found.asked,
            "matched": len(self.found.matches),
            "without_premise": self.found.without_premise,
            "unknown_processes": dict(self.unknown_processes),
            "failed": len(self.found.failed),
            "usage": self.usage.json_object(),
        }


@dataclass(frozen=True, slots=True)
class ProposedQuestions:
    """Questions that a model looked at, in a table for a person to decide.

    Attributes:
        output: The table.
        counts: All questions, those proposed, the reasons against others, those without an answer.
        usage: What the calls cost.
    """

    output: Path
    counts: Mapping[str, int]
    usage: Usage

    def as_json(self) -> dict[str, Any]:
        """The counts and the cost."""
        return {"output": str(self.output), **self.counts, "usage": self.usage.json_object()}


@dataclass(frozen=True, slots=True)
class EstimatedAnswers:
    """The cost estimate of answers, with the chunks of the texts and the number of questions."""

    chunks: int
    questions: int
    usage: Usage

    def as_json(self) -> dict[str, Any]:
        """Return what is assumed, and the likely cost."""
        from veritrail_eval.building.graphrag.assumed import assumptions

        return {
            "assumptions": assumptions(),
            "chunks": self.chunks,
            "questions": self.questions,
            "usage": self.usage.json_object(),
        }


@dataclass(frozen=True, slots=True)
class Builder:
    """Makes data sets by asking a model.

    Attributes:
        settings: The settings.
        asking: The model.
        on_progress: Told what is worked on, and how much of it is done.
        warn: Told what a person should know.
    """

    settings: Settings
    asking: Asking
    on_progress: Callable[[str, int, int], None]
    warn: Callable[[str], None]

    @asynccontextmanager
    async def _model(
        self, assumed: AssumedGraphRag | None = None
    ) -> AsyncIterator[tuple[BuildModel, Split]]:
        """The model, open until the block ends, and what splits texts into sentences."""
        named = {"engine": self.asking.engine, "model": self.asking.models.model}
        options = {name: one for name, one in named.items() if one is not None}
        async with self._resources(assumed) as resources:
            models = await resources.models(options)
            yield BuildModel(models.claims, self.asking.prompts), resources.splitter.split

    def _resources(self, assumed: AssumedGraphRag | None) -> OpenResources:
        models = self.asking.models
        if assumed is not None:
            from veritrail_eval.app.estimate import AssumedResources

            return AssumedResources(self.settings, price=models.price, walk=assumed)
        return OpenResources(
            self.settings,
            shared_within(models.budget, models.max_calls),
            use_cache=models.use_cache,
            price=models.price,
            warn=self.warn,
        )

    async def summarise(
        self, sources: Sequence[Path], output: Path, options: SummaryOptions
    ) -> WrittenRuns:
        """Summarise texts level by level, each as a process file.

        Raises:
            VeriTrailError: A text cannot be read, a file not written, or a model not be asked.
        """
        from veritrail_eval.building.summaries import Summariser

        texts = named_texts(sources)
        targets = _files(texts, output)
        refuse_overwriting(targets, sources)
        runs = []
        async with self._model() as (model, split):
            for (name, text), target in zip(texts.items(), targets, strict=True):
                summariser = Summariser(
                    model.step(BuildStep.CHUNK_SUMMARY),
                    model.step(BuildStep.SUMMARY_MERGE),
                    options,
                    split,
                    model.meter,
                    lambda level, done, of, name=name: self.on_progress(  # type: ignore[misc]
                        f"{name}, level {level}", done, of
                    ),
                )
                runs.append(
                    _written(target, await summariser.summarise(name, process_id_of(name), text))
                )
            return WrittenRuns(runs, model.meter.total)

    async def match(
        self, dataset: Path, faithful: Path, variant: Variant, output: Path
    ) -> MatchedClaims:
        """Write a table of the claims that follow from premises, for a person to decide.

        Raises:
            VeriTrailError: A file cannot be used, or a model cannot be asked.
        """
        loaded = load_unlabelled(dataset)
        _refuse_decided(output)
        premises = _premises(faithful, variant, loaded)
        unknown = matching.without_process(premises, loaded.processes)
        for process_id, rows in list(unknown.items())[: matching.MOST_NAMED]:
            self.warn(
                f"{faithful}: {counted(len(rows), 'premise')} of process {shown(process_id)}, "
                f"which the data set lacks, left out; the first in row {rows[0]:,}."
            )
        claims = [one for one in loaded.claims if one.label is None] or list(loaded.claims)
        about = _subjects(loaded, claims, variant)
        async with self._model() as (model, _):
            found = await matching.match_claims(
                claims,
                premises,
                about,
                variant,
                model.step(variant.step),
                model.meter,
                lambda done, of: self.on_progress("claims", done, of),
            )
        # An empty table of a run that failed would stop the next one, which replaces no file.
        is_written = bool(found.matches) or not found.failed
        if is_written:
            matching.write_matches(found, output)
        counts = {name: len(rows) for name, rows in unknown.items()}
        return MatchedClaims(output if is_written else None, found, counts, model.meter.total)

    async def propose_questions(self, table: Path, output: Path) -> ProposedQuestions:
        """Write a table that says which questions to keep, for a person to decide.

        Raises:
            VeriTrailError: A file cannot be used, or a model cannot be asked.
        """
        from veritrail_eval.building.stories import (
            is_diversesumm,
            questions_in,
            questions_of_stories,
        )

        if is_diversesumm(table):
            about = questions_of_stories(table)
            asked = [one.question for one in about]
        else:
            asked, about = filters.read_questions(table), questions_in(table)
        _refuse_decided(output)
        async with self._model() as (model, _):
            found = await filters.filter_questions(
                asked,
                model.step(BuildStep.QUESTION_FILTER),
                model.meter,
                lambda done, of: self.on_progress("questions", done, of),
            )
        filters.write_questions(found, output, about)
        counts = {
            "questions": len(found),
            "proposed": sum(one.is_kept is True for one in found),
            "asks_opinion": sum(one.asks_opinion is True for one in found),
            "needs_context": sum(one.stands_alone is False for one in found),
            "failed": sum(one.is_kept is None for one in found),
        }
        return ProposedQuestions(output, counts, model.meter.total)

    async def answer(
        self,
        sources: Sequence[Path],
        questions: Sequence[str],
        table: Path | None,
        output: Path,
        options: GraphRagOptions,
    ) -> WrittenRuns:
        """Answer questions from texts by the method of GraphRAG, each as a process file.

        Raises:
            VeriTrailError: A file cannot be used, a question comes twice, or a model cannot be
                asked.
        """
        from veritrail_eval.building.graphrag.made_nodes import process_document
        from veritrail_eval.building.graphrag.querying import Unanswered, try_question

        texts, every = named_texts(sources), _every_question(questions, table)
        targets = _targets(every, output)
        read = sources if table is None else [*sources, table]
        refuse_overwriting((path for path, _ in targets.values()), read)
        runs, failed = [], {}
        async with self._model() as (asked, _):
            model, index = await self._index(asked, options, texts, every)
            for one, (target, process_id) in targets.items():
                answer = await try_question(model, index, one)
                if isinstance(answer, Unanswered):
                    failed[one] = answer.reason
                    continue
                nodes = [*index.nodes, *answer.nodes]
                warnings = [*index.warnings, *answer.warnings]
                runs.append(_written(target, process_document(process_id, nodes, warnings)))
            return WrittenRuns(runs, asked.meter.total, failed)

    async def _index(
        self,
        asked: BuildModel,
        options: GraphRagOptions,
        texts: Mapping[str, str],
        questions: Sequence[str],
    ) -> tuple[GraphModel, GraphIndex]:
        """The index of texts, after a look at whether the questions fit into prompts."""
        from veritrail_eval.building.graphrag.graph_model import GraphModel
        from veritrail_eval.building.graphrag.indexing import make_index

        model = GraphModel(asked.step, options, asked.meter, self.on_progress)
        for one in questions:
            model.check(one)
        return model, await make_index(model, texts)

    async def estimate_answers(
        self,
        sources: Sequence[Path],
        questions: Sequence[str],
        table: Path | None,
        options: GraphRagOptions,
    ) -> EstimatedAnswers:
        """Carry out the same with assumed answers, and say what it would cost.

        Raises:
            VeriTrailError: A file cannot be used, or a question comes twice.
        """
        from veritrail_eval.building.graphrag.assumed import AssumedGraphRag
        from veritrail_eval.building.graphrag.querying import answer_question

        texts, every = named_texts(sources), _every_question(questions, table)
        assumed = AssumedGraphRag()
        async with self._model(assumed) as (asked, _):
            model, index = await self._index(asked, options, texts, every)
            for one in every:
                await answer_question(model, index, one)
            return EstimatedAnswers(assumed.chunks, len(every), asked.meter.total)


def process_id_of(name: str) -> str:
    """The id of a process that is called so."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:128] or "summary"


def _refuse_decided(output: Path) -> None:
    if output.exists():
        raise InputError(f"{output} is there already, and may hold decisions; name another file.")


def _written(target: Path, document: dict[str, Any]) -> WrittenRun:
    write_text_whole(target, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    return WrittenRun(target, document)


def _files(texts: Mapping[str, str], output: Path) -> list[Path]:
    if len(texts) == 1 and not output.is_dir():
        return [output]
    make_folder(output)
    return [output / f"{name}.json" for name in texts]


def _premises(path: Path, variant: Variant, loaded: Dataset) -> list[matching.Premise]:
    """The premises of a table, or of FABLES.

    Raises:
        InputError: It cannot be read, or FABLES is asked about questions.
    """
    from veritrail_eval.building.fables_premises import is_fables, premises_of_fables

    if not is_fables(path):
        return matching.read_premises(path, variant)
    if variant is not Variant.BOOK:
        raise InputError(f"{path} is FABLES, whose premises tell of books: take --variant book.")
    return premises_of_fables(path, _names(loaded))


def _names(loaded: Dataset) -> dict[str, str | None]:
    """The names of processes, by process_id."""
    return {one: made().header.name for one, made in loaded.processes.items()}


def _subjects(
    loaded: Dataset, claims: Sequence[LabelledClaim], variant: Variant
) -> dict[str, str | None]:
    """The book that a claim's process summarises, or the question that its answer answers."""
    from veritrail_eval.annotation.folders import folders_of
    from veritrail_eval.annotation.grouping import Grouping

    if variant is Variant.BOOK:
        names = _names(loaded)
        return {"/".join(one.key): names[one.process_id] for one in claims}
    folders = folders_of(loaded, claims, Grouping.QUESTION)
    return {"/".join(one.key): each.question for each in folders for one in each.claims}


def _every_question(given: Sequence[str], table: Path | None) -> list[str]:
    """The questions, each once, with single spaces.

    Raises:
        InputError: The table cannot be used, or a question comes twice.
    """
    found = [*given, *([] if table is None else filters.read_questions(table))]
    plain = [" ".join(one.split()) for one in found]
    for place, one in enumerate(plain):
        if one in plain[:place]:
            raise InputError(f"The question {shown(one)} is asked twice.")
    return plain


def _targets(questions: Sequence[str], output: Path) -> dict[str, tuple[Path, str]]:
    """The process file of each question, and the id of its process.

    Raises:
        InputError: It could not be written.
    """
    if len(questions) == 1 and not output.is_dir():
        if not output.absolute().parent.is_dir():
            raise InputError(f"{output} cannot be written: its folder is not there.")
        return {questions[0]: (output, process_id_of(output.stem))}
    make_folder(output)
    width = max(2, len(str(len(questions))))
    found = {}
    for number, one in enumerate(questions, start=1):
        name = f"Q{number:0{width}}"
        # Of another folder the same number is another process.
        process_id = process_id_of(f"{output.absolute().name}-{name}")
        found[one] = (output / f"{name}.json", process_id)
    return found

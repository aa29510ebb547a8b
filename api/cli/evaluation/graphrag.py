"""`veritrail eval graphrag`: answers by the method of GraphRAG, as processes to verify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veritrail_graph.api.cli.evaluation.asking import (
    Asked,
    AskOptions,
    about_run,
    named_texts,
    process_id_of,
    tell_run,
    with_model,
    write_json,
)
from veritrail_graph.api.cli.evaluation.building import (
    ChunkTokens,
    ContextTokens,
    EncodingName,
    OverlapTokens,
    Prompts,
    Sources,
)
from veritrail_graph.api.cli.exits import NOT_ALL_SUCCEEDED, Exit
from veritrail_graph.api.cli.options import AsJson, Budget, EngineName, MaxCalls, Model, NoCache
from veritrail_graph.api.cli.options import Price as PriceOption
from veritrail_graph.api.cli.terminal import print_json, say
from veritrail_graph.api.views.texts import clean, one_line
from veritrail_graph.evaluation.whole_file import make_folder, refuse_overwriting
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, shown

if TYPE_CHECKING:
    from veritrail_graph.evaluation.building.graphrag.graph_model import GraphModel
    from veritrail_graph.evaluation.building.graphrag.options import GraphRagOptions

CHUNK_TOKENS, OVERLAP_TOKENS, ENCODING = 600, 100, "o200k_base"
"""Sizes of chunks. Source: VeriTrail B.2.1."""
CONTEXT_TOKENS, REPORT_TOKENS, COMMUNITY_SIZE, COMMUNITY_LEVEL = 12_000, 2_000, 10, 2
"""Sizes as GraphRAG has them, or near them."""


def graphrag(
    sources: Sources,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="RUN", help="The process file; of several questions a folder."
        ),
    ],
    question: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="What is asked; may be repeated."),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="TABLE", help="Questions: a table with a column question."),
    ] = None,
    chunk: ChunkTokens = CHUNK_TOKENS,
    overlap: OverlapTokens = OVERLAP_TOKENS,
    encoding: EncodingName = ENCODING,
    context: ContextTokens = CONTEXT_TOKENS,
    report: Annotated[
        int,
        typer.Option(min=100, metavar="N", help="Tokens of the report of a community, at most."),
    ] = REPORT_TOKENS,
    community_size: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="A community of more entities is split further."),
    ] = COMMUNITY_SIZE,
    community_level: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Reports up to this level are asked; 0: coarsest."),
    ] = COMMUNITY_LEVEL,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of communities and order of reports.")
    ] = 0,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what it would cost, and ask no model.")
    ] = False,
    engine: EngineName = None,
    model: Model = None,
    prompts: Prompts = None,
    budget: Budget = None,
    max_calls: MaxCalls = None,
    price: PriceOption = None,
    no_cache: NoCache = False,
    as_json: AsJson = False,
) -> None:
    """Answer questions as GraphRAG does, as processes to verify.

    An index is made of the texts: entities, relationships, reports about communities. Each
    question is answered from the reports. Answers are kept, so a run that was stopped goes on where
    it ended.
    """
    from veritrail_graph.evaluation.building.graphrag.options import GraphRagOptions

    texts = named_texts(sources)
    asked_for = _questions(question or [], questions)
    options = GraphRagOptions(
        chunk, overlap, context, report, encoding, community_size, community_level, seed
    )
    how = AskOptions(engine, model, prompts, budget, max_calls, price, no_cache)
    if estimate:
        _estimate(texts, asked_for, options, how, as_json=as_json)
        return
    targets = _targets(asked_for, output)
    read = sources if questions is None else [*sources, questions]
    refuse_overwriting((path for path, _ in targets.values()), read)
    made = _Made()

    async def work(asked: Asked) -> None:
        await made.carry_out(_graph_model(asked, options), texts, targets)

    _, usage = with_model(how, work, as_json=as_json)
    made.tell()
    if as_json:
        print_json({"runs": made.runs, "failed": made.failed, "usage": usage})
    if made.failed:
        raise Exit(NOT_ALL_SUCCEEDED)


class _Made:
    """What a call of the command has made so far.

    Attributes:
        runs: What is said of each process file.
        failed: The questions without an answer, each with the reason.
    """

    def __init__(self) -> None:
        self.runs: list[dict[str, Any]] = []
        self.failed: list[dict[str, str]] = []

    async def carry_out(
        self, model: GraphModel, texts: Mapping[str, str], targets: Mapping[str, tuple[Path, str]]
    ) -> None:
        """Make the index, then answer one question after the other and write each at once."""
        from veritrail_graph.evaluation.building.graphrag.indexing import make_index
        from veritrail_graph.evaluation.building.graphrag.made_nodes import process_document
        from veritrail_graph.evaluation.building.graphrag.querying import Unanswered, try_question

        for one in targets:
            model.check(one)
        index = await make_index(model, texts)
        for one, (target, process_id) in targets.items():
            answer = await try_question(model, index, one)
            if isinstance(answer, Unanswered):
                self.failed.append({"question": one, "error": answer.reason})
                continue
            document = process_document(
                process_id,
                [*index.nodes, *answer.nodes],
                [*index.warnings, *answer.warnings],
            )
            write_json(target, document)
            self.runs.append(
                {**about_run(target, document), "question": document["question"],
                 "warnings": document["warnings"]}
            )  # fmt: skip

    def tell(self) -> None:
        """Say what was made, and each warning once."""
        for one in self.runs:
            tell_run(one)
        told = (warning for one in self.runs for warning in one["warnings"])
        for warning in dict.fromkeys(told):
            say(one_line(clean(warning)), "yellow")
        for failed in self.failed:
            reason = one_line(clean(f"{failed['question']}: no answer: {failed['error']}"))
            say(reason, "yellow")


def _graph_model(asked: Asked, options: GraphRagOptions) -> GraphModel:
    from veritrail_graph.evaluation.building.graphrag.graph_model import GraphModel

    return GraphModel(asked.step, options, asked.meter, asked.work.update)


def _estimate(
    texts: Mapping[str, str],
    questions: Sequence[str],
    options: GraphRagOptions,
    how: AskOptions,
    *,
    as_json: bool,
) -> None:
    """Carry out the steps with assumed answers, and say what they would cost."""
    from veritrail_graph.api.views.costs import cost_words
    from veritrail_graph.evaluation.building.graphrag.assumed import AssumedGraphRag, assumptions
    from veritrail_graph.evaluation.building.graphrag.indexing import make_index
    from veritrail_graph.evaluation.building.graphrag.querying import answer_question
    from veritrail_graph.graph.model import Usage

    assumed = AssumedGraphRag()

    async def work(asked: Asked) -> None:
        model = _graph_model(asked, options)
        for one in questions:
            model.check(one)
        index = await make_index(model, texts)
        for one in questions:
            await answer_question(model, index, one)

    _, usage = with_model(how, work, as_json=as_json, assumed=assumed)
    if as_json:
        facts = {"chunks": assumed.chunks, "questions": len(questions), "usage": usage}
        print_json({"assumptions": assumptions(), **facts})
        return
    about = f"{counted(assumed.chunks, 'chunk')}, {counted(len(questions), 'question')}"
    say(
        f"{about}: likely {usage['calls']:,} calls, {usage['input_tokens']:,} tokens of prompts, "
        f"{usage['output_tokens']:,} of answers, {cost_words(Usage.model_validate(usage))}.",
        "bold",
    )
    say("Likely figures, from assumed answers; no call was made. --json lists what is assumed.")


def _questions(given: Sequence[str], table: Path | None) -> list[str]:
    """The questions, each once, with single spaces.

    Raises:
        InputError: There is none, or one comes twice.
    """
    from veritrail_graph.evaluation.building.questions import read_questions

    found = [*given, *([] if table is None else read_questions(table))]
    if not found:
        raise InputError("No question: name one with --question, or a table with --questions.")
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

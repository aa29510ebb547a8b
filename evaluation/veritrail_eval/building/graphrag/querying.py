"""Answering a question on an index: stages 5 and 6.

Source: VeriTrail A, B.2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veritrail_eval.building.asking import lines_of
from veritrail_eval.building.graphrag import answers
from veritrail_eval.building.graphrag.citing import cited_in
from veritrail_eval.building.graphrag.graph_model import (
    GraphModel,
    NothingFound,
    limit,
)
from veritrail_eval.building.graphrag.indexing import GraphIndex
from veritrail_eval.building.graphrag.made_nodes import MadeNode
from veritrail_eval.building.graphrag.records import fitting, grouped
from veritrail_eval.building.graphrag.sizes import ANSWER_TOKENS, MAP_TOKENS
from veritrail_eval.building.steps import BuildStep
from veritrail_graph.graph.importers.graphrag.answer_nodes import (
    ANSWER,
    MAP_ANSWER,
    MAP_STAGE,
    answer_id,
)
from veritrail_graph.graph.importers.graphrag.nodes import shown
from veritrail_graph.graph.importers.graphrag.tables import REPORT
from veritrail_graph.verifier.models.port import EndpointRefused, ModelError, OverBudget

Batch = Sequence[tuple[int, MadeNode]]
"""Reports that are asked at a time, with their numbers."""


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """The answer to one question.

    Attributes:
        nodes: The map answers, and the answer as the last one.
        warnings: What was left out.
    """

    nodes: tuple[MadeNode, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A missing answer to a question, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class FoundPoint:
    """A point with its place.

    Attributes:
        batch: The number of the batch of reports, from 1.
        place: Its place in what was found there, from 1.
        point: The point.
    """

    batch: int
    place: int
    point: answers.Point

    @property
    def name(self) -> str:
        """Return how its node_id ends."""
        return f"map/{self.batch}.{self.place}"


async def answer_question(model: GraphModel, index: GraphIndex, question: str) -> GraphAnswer:
    """Answer a question.

    Args:
        model: Who is asked.
        index: The index.
        question: The question.

    Returns:
        The answer with what it was made from.

    Raises:
        ModelError: No answer could be had, or no report helps to answer the question.
    """
    question = " ".join(question.split())
    batches = grouped(index.reports, lambda one: model.size(one[1].text), model.sizes.reports)
    found = await model.each(
        "batches of reports", batches, lambda batch: _map(model, batch, question)
    )
    points = [
        FoundPoint(batch, place, point)
        for batch, some in enumerate(found, start=1)
        for place, point in enumerate(some, start=1)
    ]
    used = fitting(ranked(points), lambda one: model.size(one.point.text), model.sizes.points)
    if not used:
        raise NothingFound("No report helps to answer the question.")
    text = await _reduce(model, [one.point for one in used], question)
    return _answered(model, question, text, batches, points, used)


async def try_question(
    model: GraphModel, index: GraphIndex, question: str
) -> GraphAnswer | Unanswered:
    """Answer a question of several: where one has no answer, the others are asked all the same.

    Raises:
        EndpointRefused: No call can succeed.
        OverBudget: The budget is used up.
    """
    try:
        return await answer_question(model, index, question)
    except (EndpointRefused, OverBudget):
        raise
    except ModelError as error:
        return Unanswered(str(error))


def ranked(points: Sequence[FoundPoint]) -> list[FoundPoint]:
    """The points that help at all, the most helpful first."""
    helping = [one for one in points if one.point.score > 0]
    return sorted(helping, key=lambda one: -one.point.score)


async def _map(model: GraphModel, batch: Batch, question: str) -> tuple[answers.Point, ...]:
    lines = [line for number, node in batch for line in lines_of(f"report {number}", node.text)]
    return await model.ask(
        BuildStep.MAP_ANSWER,
        f"reports {', '.join(str(number) for number, _ in batch)}",
        [*lines, f"Question: {question}"],
        lambda answer: answers.read_points(answer, model.size, MAP_TOKENS),
    )


async def _reduce(model: GraphModel, points: Sequence[answers.Point], question: str) -> str:
    lines: list[str] = []
    for place, one in enumerate(points, start=1):
        lines += lines_of(f"point {place}, score {one.score}", one.text)
    lines += [limit(ANSWER_TOKENS), f"Question: {question}"]
    return await model.ask(BuildStep.REDUCE_ANSWER, ANSWER, lines, answers.read_final)


def _answered(
    model: GraphModel,
    question: str,
    text: str,
    batches: Sequence[Batch],
    points: Sequence[FoundPoint],
    used: Sequence[FoundPoint],
) -> GraphAnswer:
    """Each point as a node; those that were used are the sources of the answer."""
    name = answer_id(question, text)
    nodes: list[MadeNode] = []
    invented: list[str] = []
    by_map = model.made_by(BuildStep.MAP_ANSWER)
    for one in points:
        given = {(REPORT, number): node.node_id for number, node in batches[one.batch - 1]}
        cited = cited_in(one.point.text, given)
        made = f"{name}/{one.name}"
        invented += [f"{number} in {made}" for number in cited.invented]
        about = {**cited.metadata, "score": one.point.score, **by_map}
        nodes.append(
            MadeNode(made, one.point.text, MAP_STAGE, MAP_ANSWER, "map", cited.sources, about)
        )
    sources: dict[str, bool | None] = {f"{name}/{one.name}": None for one in used}
    about = {**cited_in(text, {}).metadata, **model.made_by(BuildStep.REDUCE_ANSWER)}
    final = MadeNode(name, text, 6, ANSWER, "reduce", sources, about, question)
    warnings = []
    if unused := [one.node_id for one in nodes if one.node_id not in sources]:
        warnings.append(
            f"{name}: map answers that did not reach the final answer (score 0, or no room in the "
            f"prompt) are nodes without an edge to it: {shown(unused)}."
        )
    if invented:
        warnings.append(f"{name}: citations name nothing that the prompt held: {shown(invented)}.")
    return GraphAnswer((*nodes, final), tuple(warnings))

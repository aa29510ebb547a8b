"""Making the index of texts: stages 1 to 4, which all questions share.

What is pure is in the modules beside it; here calls are made and texts become nodes.

Source: VeriTrail A, B.2.1.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from veritrail_eval.building.asking import lines_of
from veritrail_eval.building.chunks import token_chunks
from veritrail_eval.building.graphrag import answers
from veritrail_eval.building.graphrag.citing import cited_in
from veritrail_eval.building.graphrag.communities import Community, communities_of
from veritrail_eval.building.graphrag.graph_model import (
    GraphModel,
    NothingFound,
    limit,
)
from veritrail_eval.building.graphrag.made_nodes import MadeNode
from veritrail_eval.building.graphrag.merging import (
    Entity,
    KnowledgeGraph,
    Relationship,
    merged,
)
from veritrail_eval.building.graphrag.records import (
    Neighbourhood,
    Record,
    fitting,
    grouped,
)
from veritrail_eval.building.graphrag.sizes import DESCRIPTION_TOKENS
from veritrail_eval.building.steps import BuildStep
from veritrail_graph.graph.errors import InputError
from veritrail_graph.graph.importers.graphrag.nodes import (
    EXTRACT,
    SUMMARIZE,
    shown,
)
from veritrail_graph.graph.importers.graphrag.reports import WRITE_REPORT
from veritrail_graph.graph.importers.graphrag.tables import (
    ENTITY,
    EXTRACTED_ENTITY,
    EXTRACTED_RELATIONSHIP,
    RELATIONSHIP,
    REPORT,
    TEXT_UNIT,
)


@dataclass(frozen=True, slots=True)
class GraphIndex:
    """Stages 1 to 4.

    Attributes:
        nodes: All nodes, those of a lower stage first.
        reports: Number and node of each report that is asked, in the order of reading.
        warnings: What was left out.
    """

    nodes: tuple[MadeNode, ...]
    reports: tuple[tuple[int, MadeNode], ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """The records, findings and citations that the reports of an index leave out."""

    records: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    citations: list[str] = field(default_factory=list)


async def make_index(model: GraphModel, texts: Mapping[str, str]) -> GraphIndex:
    """Make the index of texts.

    Args:
        model: Who is asked.
        texts: The texts by their titles.

    Returns:
        The index.

    Raises:
        InputError: A text is empty.
        ModelError: No answer could be had, or the texts name nothing that is related.
    """
    options = model.options
    units = _units(model, texts)
    extractions = await model.each("chunks", units, lambda unit: _extract(model, unit))
    graph = merged([(unit.node_id, one) for unit, one in zip(units, extractions, strict=True)])
    communities = communities_of(graph, options.community_size, options.seed)
    if not communities:
        raise NothingFound(
            f"The texts name {len(graph.entities):,} entities, and no two of them are related: "
            "there is nothing to report on."
        )
    near = Neighbourhood(graph)
    works: list[Entity | Relationship] = [*graph.entities, *graph.relationships]
    described = await model.each("descriptions", works, lambda one: _describe(model, one, near))
    finals = {
        (_kind(one), one.number): nodes[-1] for one, nodes in zip(works, described, strict=True)
    }
    writer = _ReportWriter(model, near, communities, finals)
    reports = await writer.write()
    nodes = [*units, *(node for some in described for node in some)]
    nodes.sort(key=lambda one: one.stage)
    # Batches mix communities, as GraphRAG's do.
    asked = [one.number for one in communities if one.level <= options.community_level]
    random.Random(options.seed).shuffle(asked)  # noqa: S311 - no secret
    return GraphIndex(
        (*nodes, *(reports[one.number] for one in communities)),
        tuple((number, reports[number]) for number in asked),
        tuple(_warnings(graph, writer.left_out)),
    )


def _units(model: GraphModel, texts: Mapping[str, str]) -> list[MadeNode]:
    """Stage 1: the chunks of all texts."""
    found: list[MadeNode] = []
    size, overlap = model.options.chunk_tokens, model.options.overlap_tokens
    for title, text in texts.items():
        if not text.strip():
            raise InputError(f"{title}: the text is empty")
        for one in token_chunks(text, size, overlap, encoding=model.encoding):
            piece = text[one.start : one.end]
            if piece.strip():
                about = {"documents": [title], "start": one.start, "n_tokens": one.tokens}
                name = f"{TEXT_UNIT}/{len(found)}"
                found.append(MadeNode(name, piece, 1, TEXT_UNIT, "chunk", metadata=about))
    return found


async def _extract(model: GraphModel, unit: MadeNode) -> answers.Extraction:
    (title,) = unit.metadata["documents"]
    lines = [f"Title: {' '.join(title.split())}", *lines_of("text", unit.text)]
    return await model.ask(
        BuildStep.GRAPH_EXTRACTION,
        unit.node_id,
        lines,
        lambda answer: answers.read_extraction(answer, model.size, model.sizes.record),
    )


async def _describe(
    model: GraphModel, one: Entity | Relationship, near: Neighbourhood
) -> list[MadeNode]:
    """Stages 2 and 3: what one chunk says; or what each of several says, and one text of it.

    The last node is the one that reports are written from.
    """
    kind, about = _kind(one), _about(one, near)
    name, written = f"{kind}/{one.number}", model.made_by(BuildStep.GRAPH_EXTRACTION)
    if len(one.descriptions) == 1:
        (only,) = one.descriptions
        text = f"{one.title}\n{only.text}"
        return [MadeNode(name, text, 2, kind, EXTRACT, {only.unit: None}, about | written)]
    raw = EXTRACTED_ENTITY if isinstance(one, Entity) else EXTRACTED_RELATIONSHIP
    kept = {key: about[key] for key in ("title", "type") if key in about} | written
    nodes: list[MadeNode] = []
    described: list[tuple[str, str]] = []
    for place, said in enumerate(one.descriptions):
        made, text = f"{raw}/{one.number}.{place}", f"{one.title}\n{said.text}"
        nodes.append(MadeNode(made, text, 2, raw, EXTRACT, {said.unit: None}, kept))
        described.append((made, said.text))
    about |= model.made_by(BuildStep.DESCRIPTION_SUMMARY)
    level = 0
    while len(described) > 1:  # what does not fit into one prompt is summarised in groups first
        groups = grouped(described, lambda item: model.size(item[1]), model.sizes.descriptions)
        described, level = [], level + 1
        for place, group in enumerate(groups):
            if len(group) == 1:
                described.append(group[0])
                continue
            made = name if len(groups) == 1 else f"{name}/part/{level}.{place}"
            text = await _summarise(model, one.title, made, [text for _, text in group])
            sources: dict[str, bool | None] = {source: None for source, _ in group}
            full = f"{one.title}\n{text}"
            nodes.append(MadeNode(made, full, 3, kind, SUMMARIZE, sources, about))
            described.append((made, text))
    return nodes


async def _summarise(model: GraphModel, title: str, where: str, texts: Sequence[str]) -> str:
    lines = [f"Name: {title}", limit(DESCRIPTION_TOKENS)]
    for place, text in enumerate(texts, start=1):
        lines += lines_of(f"description {place}", text)
    most = model.sizes.record
    return await model.ask(
        BuildStep.DESCRIPTION_SUMMARY,
        where,
        lines,
        lambda answer: answers.read_description(answer, title, model.size, most),
    )


@dataclass
class _ReportWriter:
    """Stage 4: writes the reports of all communities.

    Attributes:
        model: Who is asked.
        near: Who is related to whom.
        communities: The communities.
        given: The nodes that reports are written from; a report joins them once it is written.
        left_out: What reports leave out.
    """

    model: GraphModel
    near: Neighbourhood
    communities: Sequence[Community]
    given: dict[Record, MadeNode]
    left_out: _LeftOut = field(default_factory=_LeftOut)

    def __post_init__(self) -> None:
        """Note the parts of each community."""
        self._parts: dict[int | None, list[Community]] = {}
        for one in self.communities:
            self._parts.setdefault(one.parent, []).append(one)

    async def write(self) -> dict[int, MadeNode]:
        """All reports by number; from the deepest level up, as one may rest on its parts'."""
        made: dict[int, MadeNode] = {}
        for level in sorted({one.level for one in self.communities}, reverse=True):
            of_level = [one for one in self.communities if one.level == level]
            nodes = await self.model.each(f"reports of level {level}", of_level, self._report)
            for one, node in zip(of_level, nodes, strict=True):
                made[one.number] = self.given[REPORT, one.number] = node
        return made

    async def _report(self, community: Community) -> MadeNode:
        name, most = f"{REPORT}/{community.number}", self.model.options.report_tokens
        taken = self._taken(community, name)
        lines = [limit(most)]
        for kind, number in taken:
            mark = "report" if kind == REPORT else kind
            lines += lines_of(f"{mark} {number}", self.given[kind, number].text)
        report = await self.model.ask(
            BuildStep.COMMUNITY_REPORT,
            name,
            lines,
            lambda answer: answers.read_report(answer, self.model.size, most),
        )
        if report.cut:
            self.left_out.findings.append(f"{report.cut} of {name}")
        ids = {one: self.given[one].node_id for one in taken}
        cited = cited_in(report.text, ids, may_cite_nothing=True)
        self.left_out.citations.extend(f"{one} in {name}" for one in cited.invented)
        about = {"title": report.title, "community": community.number, "level": community.level}
        about |= self.model.made_by(BuildStep.COMMUNITY_REPORT)
        if community.parent is not None:
            about["parent"] = community.parent
        return MadeNode(name, report.text, 4, REPORT, WRITE_REPORT, cited.sources, about)

    def _taken(self, community: Community, name: str) -> list[Record]:
        """Return what the prompt holds of a community: all, or as much as fits."""

        def size(record: Record) -> int:
            return self.model.size(self.given[record].text)

        records, room = self.near.records(community), self.model.sizes.community
        parts = self._parts.get(community.number, [])
        if parts and sum(map(size, records)) > room:
            records = self.near.records(community, parts)
        taken = fitting(records, size, room)
        rest = records[len(taken) :]
        self.left_out.records.extend(f"{self.given[one].node_id} in {name}" for one in rest)
        return taken


def _kind(one: Entity | Relationship) -> str:
    return ENTITY if isinstance(one, Entity) else RELATIONSHIP


def _about(one: Entity | Relationship, near: Neighbourhood) -> dict[str, Any]:
    """The metadata of an entity or a relationship, as an imported one has it."""
    about: dict[str, Any] = {"human_readable_id": one.number}
    if isinstance(one, Entity):
        return about | {"title": one.title, "type": one.type, "degree": near.degree(one.number)}
    return about | {"weight": one.weight, "combined_degree": near.rank(one)}


def _warnings(graph: KnowledgeGraph, left_out: _LeftOut) -> Iterable[str]:
    if graph.left_out:
        yield (
            f"Relationships that name an entity that no chunk lists, or join one with itself, were "
            f"left out: {shown(graph.left_out)}."
        )
    if alone := graph.alone:
        names = shown(one.title for one in alone)
        yield f"Entities without a relationship, which no report is about: {names}."
    if left_out.records:
        yield f"No room in the prompt of a report had {shown(left_out.records)}."
    if left_out.findings:
        yield f"Findings that made a report too long were left out: {shown(left_out.findings)}."
    if left_out.citations:
        yield f"Citations name nothing that the prompt held: {shown(left_out.citations)}."

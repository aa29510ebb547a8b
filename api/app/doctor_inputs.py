"""Say what a trace, log or folder holds, what can be checked with it, and what it lacks.

Nothing is stored, no engine is started, and no model is asked. Each gap comes with a line that
says how to record what is missing.

Source: docs/adr/0053-what-is-source-text.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veritrail_graph.api.app.addresses import traces_at
from veritrail_graph.api.app.doctor import DoctorFinding, State
from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InputError, InvalidProcess
from veritrail_graph.graph.model import Origin, Role
from veritrail_graph.graph.model.dialogue import is_dialogue
from veritrail_graph.graph.temporary import late_folder

if TYPE_CHECKING:
    from veritrail_graph.graph.importers.addresses.fetching import ToolTraces
    from veritrail_graph.graph.importers.registry import Found, ImportOptions
    from veritrail_graph.graph.ingest.check import Survey

SOURCES, ANSWER, QUESTION, INPUTS, EDGES = "source text", "answer", "question", "inputs", "edges"
"""Subjects of findings, which are also the gaps that an advice is about."""
MOST_FETCHED = 20
"""Traces of the address of a tool that are looked at."""
MOST_WARNINGS = 10
_MOST_FAULTS = _MOST_NAMED = 3

_OF_TRACES = {
    SOURCES: "Record what a retriever or a tool returns as a span of its own, with its output.",
    ANSWER: "Record the output of the last model call on its span.",
    QUESTION: "Record the input of the first span.",
    INPUTS: "Record the messages that a model is given on the span of its call.",
    EDGES: "Record the messages that a model is given on the span of its call.",
}
_OF_ROWS = {
    SOURCES: "Add the texts that the answer was made from: a column `contexts`.",
    ANSWER: "Add a column `answer`.",
    QUESTION: "Add a column `question`.",
}
_OF_LOGS = {
    SOURCES: "Keep what tools returned in the list of messages; what a user said is no source.",
    ANSWER: "Keep the last message of the assistant.",
    QUESTION: "Keep the first message of the user.",
    INPUTS: "Keep the messages before it.",
}
_OF_INDEXES = {
    SOURCES: "Keep the text units beside the tables that were made from them.",
    ANSWER: "Name the answer: --answer FILE.",
    QUESTION: "Name the question: --question TEXT.",
}
_OF_LIGHTRAG = {
    SOURCES: "Keep kv_store_text_chunks.json beside the graph that was made from it.",
    ANSWER: "Name the answer, as aquery_llm returns it: --answer FILE.",
    QUESTION: "Name the question: --question TEXT.",
    INPUTS: "Keep kv_store_llm_response_cache.json (enable_llm_cache_for_entity_extract).",
}
_OF_SUMMARIES = {
    SOURCES: "Add the chunks of the source beside their summaries.",
    INPUTS: "Name what each text was made from under `children`.",
    EDGES: "Name what each text was made from under `children`.",
}
_OF_PROV = {
    SOURCES: "Give the entities that nothing was derived from their text.",
    INPUTS: "Add wasDerivedFrom, or used and wasGeneratedBy.",
}
_OF_PROCESSES = {
    SOURCES: "Add the source texts as nodes that no edge ends at.",
    QUESTION: "Set `question`.",
    INPUTS: "Add an edge from each text that it was written from.",
}
ADVICE: dict[str, Mapping[str, str]] = {
    **dict.fromkeys(("otlp", "langfuse", "mlflow", "langchain", "haystack"), _OF_TRACES),
    **dict.fromkeys(("rag", "llamaindex"), _OF_ROWS),
    **dict.fromkeys(("graphrag", "neo4j"), _OF_INDEXES),
    "lightrag": _OF_LIGHTRAG,
    "agents": _OF_LOGS,
    "dialogue": {**_OF_LOGS, SOURCES: "Add `documents`, or keep what tools returned."},
    "summaries": _OF_SUMMARIES,
    "prov": _OF_PROV,
    "process": _OF_PROCESSES,
    "dataset": _OF_PROCESSES,
}
"""What to record where something is missing, by format and gap."""


@dataclass(frozen=True, slots=True)
class InputExamined:
    """One process of an input, as far as it can be read.

    Attributes:
        source: Its place in the input.
        holds: Counts: nodes, edges, claims, stages, final outputs, and texts by their origin.
        findings: What it holds and lacks; the first is about the input as a whole.
    """

    source: str
    findings: tuple[DoctorFinding, ...]
    holds: dict[str, Any] = field(default_factory=dict)

    @property
    def can_be_checked(self) -> bool:
        """Return whether `veritrail check` would check it."""
        return all(one.state is not State.FAULT for one in self.findings)


async def examine_inputs(
    paths: Sequence[Path], importing: ImportOptions
) -> AsyncIterator[InputExamined]:
    """Read every process that paths hold, and say of each what can be checked with it.

    A child reads what is large or packed, within limits. Of the address of a tool the newest
    `MOST_FETCHED` traces are fetched.

    Args:
        paths: Files, folders, and addresses of tools.
        importing: Options of the importers.

    Raises:
        InputError: A path is in no known format, or is the address of a graph.
    """
    from veritrail_graph.graph.importers.addresses.address import is_address
    from veritrail_graph.graph.importers.registry import address_of, without_login

    for path in paths:
        if (address := address_of(path)) is not None:
            named = without_login(address)
            raise InputError(f"{named}: doctor looks at files and folders; ingest reads a graph")
    addresses = [path for path in paths if is_address(str(path))]
    async for examined in _examine([path for path in paths if path not in addresses], importing):
        yield examined
    with late_folder() as folder:
        for path in addresses:
            try:
                async for examined in _fetched(traces_at(str(path), folder()), importing):
                    yield examined
            except InputError as error:
                if len(paths) == 1:
                    raise
                fault = DoctorFinding("input", State.FAULT, str(error))
                yield InputExamined(str(path), (fault,))


async def _examine(paths: Sequence[Path], importing: ImportOptions) -> AsyncIterator[InputExamined]:
    from veritrail_graph.graph.importers.apart import find_each

    async with AsyncExitStack() as stack:
        found = await find_each([(path, importing) for path in paths], stack)
        while (one := await asyncio.to_thread(next, found, None)) is not None:
            yield await asyncio.to_thread(_examined, one, importing.max_node_text)


async def _fetched(traces: ToolTraces, importing: ImportOptions) -> AsyncIterator[InputExamined]:
    """Fetch the newest traces of an address, and say of each what can be checked with it."""

    async def stored(_trace_ids: Sequence[str]) -> tuple[str, ...]:
        return ()

    importing = replace(importing, columns=None)  # they are of tables
    async for trace_id, path in traces.parts(stored, MOST_FETCHED):
        where = f"{traces}#{trace_id}"
        if path is None:
            continue
        try:
            async for one in _examine([path], importing):
                yield replace(one, source=where)
        except InputError as error:
            fault = DoctorFinding("input", State.FAULT, str(error.at_place(path, where)))
            yield InputExamined(where, (fault,))


def _examined(found: Found, max_node_text: int) -> InputExamined:
    from veritrail_graph.graph.ingest.check import survey

    try:
        read = survey(found.open(), max_node_text=max_node_text)
    except InvalidProcess as error:
        faults = error.violations
        shown = "; ".join(f"{one.where}: {one.message}" for one in faults[:_MOST_FAULTS])
        more = f"; and {len(faults) - _MOST_FAULTS:,} more" if len(faults) > _MOST_FAULTS else ""
        return InputExamined(found.where, (DoctorFinding("input", State.FAULT, shown + more),))
    except InputError as error:
        words = str(error).removeprefix(f"{found.where}: ")
        if error.code == "answer_needed":
            words = f"{words} {_OF_INDEXES[ANSWER]}"
        return InputExamined(found.where, (DoctorFinding("input", State.FAULT, words),))
    return InputExamined(found.where, tuple(_findings(read)), _holds(read))


def _holds(read: Survey) -> dict[str, Any]:
    origins = {one.value: read.origins.count(one) for one in Origin}
    return {
        "format": read.header.source_format,
        "nodes": read.nodes,
        "edges": read.edges,
        "claims": len(read.claims),
        "stages": len(read.stages),
        "final_outputs": len(read.terminals),
        "texts": origins,
        "without_inputs": _without_inputs(read),
        "explained": read.header.explained,
    }


def _without_inputs(read: Survey) -> int:
    """Return how many texts that a model wrote have no recorded inputs."""
    both = zip(read.roles, read.origins, strict=True)
    return sum(role is Role.UNSOURCED and origin is Origin.GENERATED for role, origin in both)


def _findings(read: Survey) -> Iterator[DoctorFinding]:
    """Yield what a process holds and lacks, and what can be checked with it."""
    header, advice = read.header, _advice_on(read.header.source_format)
    size = [
        counted(read.nodes, "text"),
        counted(read.edges, "edge"),
        counted(len(read.stages), "stage"),
    ]
    yield DoctorFinding("input", State.FINE, f"{header.source_format}: {', '.join(size)}")

    def lacks(about: str, words: str, state: State = State.WARNING) -> DoctorFinding:
        return DoctorFinding(about, state, f"{words} {advice.get(about, '')}".rstrip())

    places = [place for place, role in enumerate(read.roles) if role is Role.ROOT]
    if places:
        characters = sum(read.lengths[place] for place in places)
        words = f"{counted(len(places), 'text')}, {counted(characters, 'character')}"
        yield DoctorFinding(SOURCES, State.FINE, words)
    else:
        words = (
            "none: no text is there that neither a model wrote nor a user said, so no claim can "
        )
        yield lacks(SOURCES, f"{words}be supported.", State.FAULT)
    if header.question:
        yield DoctorFinding(QUESTION, State.FINE, header.question)
    elif not is_dialogue(read.terminals):
        yield lacks(QUESTION, "none: reports and judges show claims without it.")
    yield from _answers(read, lacks)
    if without := _without_inputs(read):
        words = f"{counted(without, 'text')} that a model wrote without a recorded input: an error "
        yield lacks(INPUTS, f"{words}in it cannot be followed further back.")
    if inferred := sum(read.inferred_edges.values()):
        words = (
            f"{counted(inferred, 'edge is', 'edges are')} not recorded: texts were compared, or "
        )
        finding = f"{words}the order of the steps decided."
        if without:  # else the messages of each call were recorded, and no further field helps
            yield lacks(EDGES, finding)
        else:
            yield DoctorFinding(EDGES, State.WARNING, finding)
    for warning in header.warnings[:MOST_WARNINGS]:
        yield DoctorFinding("read", State.WARNING, warning)
    if len(header.warnings) > MOST_WARNINGS:
        more = counted(len(header.warnings) - MOST_WARNINGS, "more warning")
        yield DoctorFinding("read", State.WARNING, f"{more}: `veritrail ingest` prints them")
    if places:
        yield DoctorFinding("can be checked", State.FINE, _checkable(read, len(places)))


def _answers(read: Survey, lacks: Callable[..., DoctorFinding]) -> Iterator[DoctorFinding]:
    """Yield what is known of the final outputs."""
    if is_dialogue(read.terminals):
        turns = counted(read.origins.count(Origin.GENERATED), "turn")
        yield DoctorFinding(ANSWER, State.FINE, f"{turns} of the assistant")
        return
    written = [name for name in read.terminals if _length(read, name)]
    if not written:
        yield lacks(ANSWER, "none: no text is there that a model wrote last.", State.FAULT)
        return
    words = ", ".join(written[:_MOST_NAMED])
    if len(written) > _MOST_NAMED:
        words += f" and {len(written) - _MOST_NAMED:,} more"
    if len(written) == 1:
        words += f", {counted(_length(read, written[0]), 'character')}"
    yield DoctorFinding(ANSWER, State.FINE, words)


def _length(read: Survey, node_id: str) -> int:
    return read.lengths[read.topology.numbers[node_id]]


def _checkable(read: Survey, sources: int) -> str:
    """Say which claims can be checked against what, and where an error can be placed."""
    if is_dialogue(read.terminals):
        return f"what the assistant said, turn by turn, against {counted(sources, 'source text')}"
    of = counted(len(read.claims), "claim") if read.claims else "what the answer states"
    steps = sum(
        origin is Origin.GENERATED and role is not Role.UNSOURCED
        for role, origin in zip(read.roles, read.origins, strict=True)
    )
    words = f"{of} against {counted(sources, 'source text')}"
    if steps <= 1:
        return f"{words}; an error is one of the answer, as no step between is recorded"
    places = f"{steps:,} written texts in {len(read.stages):,} stages"
    return f"{words}; an error is placed at one of {places}"


def _advice_on(source_format: str) -> Mapping[str, str]:
    """Return what to record where something is missing in a format."""
    return ADVICE.get(source_format.removeprefix("veritrail.").partition("/")[0], {})

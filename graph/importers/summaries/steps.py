"""Incremental summaries: each step reads a chunk and the summary so far, and writes a new one.

A step is an object with its chunk and its summary. That a step was given the summary of the step
before it is what the format means, so no edge is inferred. BooookScore's own files are lists of
summaries without the chunks.

Source: BooookScore, arXiv:2310.00785, 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from veritrail_graph.graph.counted import some
from veritrail_graph.graph.errors import InputError, shown
from veritrail_graph.graph.importers import files
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.records import Header, is_written
from veritrail_graph.graph.importers.summaries import texts
from veritrail_graph.graph.importers.summaries.texts import Text
from veritrail_graph.graph.model import Origin

NAME = "summaries"
STEPS = "steps"
CHUNK = "chunk"
SUMMARY = ("summary", "summary_so_far", "running_summary")
_KNOWN = {STEPS, *texts.FINAL, *texts.ABOUT}


def is_step(value: Any) -> bool:
    """Return whether a value is a step: an object with a chunk and a summary so far."""
    return (
        isinstance(value, dict)
        and isinstance(files.first_of(value, SUMMARY), str)
        and texts.are_texts(value.get(CHUNK))
        and not ({"levels", "claims"} & value.keys())
    )


def read_steps(
    steps: Sequence[Any], where: str, name: str | None, about: Mapping[str, Any] | None = None
) -> Draft:
    """The process of a list of steps; a step may be the text of its summary alone.

    Args:
        steps: The steps.
        where: Their place, for messages.
        name: The key that they have in their file, if any.
        about: The object that holds them under `steps`, if there is one.

    Raises:
        InputError: There are none, or one has no summary.
    """
    about = about or {}
    if not steps:
        raise InputError(f"{where}: there are no steps in it.")
    draft = Draft(Header(NAME))
    read = [_step(step, f"{where}, step {number}") for number, step in enumerate(steps)]
    has_chunks = any(chunks for chunks, _ in read)
    stage_names = {1: "source chunk" if has_chunks else "first summary"}
    before, before_text, stage = "", "", 1
    idle, blind = [], []
    for number, (chunks, summary) in enumerate(read):
        names = [
            draft.node(
                f"chunk/{number}" if len(chunks) == 1 else f"chunk/{number}.{place}",
                chunk.text, chunk.where, kind="chunk", stage=1, metadata=chunk.about,
                origin=Origin.GENERATED if is_written(chunk.about) else Origin.SOURCE,
            )
            for place, chunk in enumerate(chunks)
        ]  # fmt: skip
        if not chunks:
            blind.append(f"summary/{number}")
        if before and summary.text == before_text and summary.text.strip():
            idle.append(f"summary/{number}")  # passed on unchanged: nothing of the chunk is in it
            continue
        stage += bool(before) or has_chunks
        stage_names.setdefault(stage, f"summary after step {number}")
        node = draft.node(
            f"summary/{number}", summary.text, summary.where,
            origin=Origin.GENERATED, kind="summary", step="update" if before else "summarise",
            stage=stage, metadata={**texts.makers(about), **summary.about},
        )  # fmt: skip
        for one in names:
            draft.edge(one, node, summary.where)
        if before:
            draft.edge(before, node, summary.where)
        before, before_text = node, summary.text
    final = files.first_of(about, texts.FINAL)
    if final is not None:
        last = texts.read_text(final, f"{where}, final summary")
        if last.text != before_text:
            stage_names[stage + 1] = "final summary"
            end = draft.node(
                "final", last.text, last.where, origin=Origin.GENERATED, kind="final summary",
                step="finish", stage=stage + 1, metadata={**texts.makers(about), **last.about},
            )  # fmt: skip
            draft.edge(before, end, last.where)
            before = end
    draft.header = Header(
        NAME,
        name=texts.name_of(about, name),
        question=texts.question_of(about, where),
        stage_names=stage_names,
        terminals=(before,),
        warnings=(*_warnings(blind, idle, has_chunks), *texts.not_read(about, _KNOWN)),
    )
    return draft


def _step(value: Any, where: str) -> tuple[list[Text], Text]:
    """The chunks and the summary of a step."""
    if isinstance(value, str):
        return [], Text(value, where)
    if not isinstance(value, dict):
        raise InputError(
            f"{where}: a step must be an object with `chunk` and `summary`, "
            f"not {texts.kind_of(value)}."
        )
    said = files.first_of(value, SUMMARY)
    if not isinstance(said, str):
        raise InputError(f"{where}: a step needs a string under `summary`.")
    given = value.get(CHUNK)
    chunks = [] if given is None else texts.read_texts(given, f"{where}, chunk")
    rest = {key: one for key, one in value.items() if key not in (CHUNK, *SUMMARY)}
    return chunks, Text(said, where, rest)


def _warnings(blind: Sequence[str], idle: Sequence[str], has_chunks: bool) -> list[str]:
    said = []
    if not has_chunks:
        said.append(
            "The chunks are absent: a summary is no source text, so no claim can be supported, "
            'even where it is right. Write each step as {"chunk": ..., "summary": ...}.'
        )
    elif blind:
        said.append(
            f"{len(blind)} step(s) have no chunk; what their summaries took from it has no "
            f"source: {some(map(shown, blind))}."
        )
    if idle:
        said.append(
            f"{len(idle)} step(s) left the summary unchanged; they make no node of their own, and "
            f"their chunks are inputs of no other text: {some(map(shown, idle))}."
        )
    return said

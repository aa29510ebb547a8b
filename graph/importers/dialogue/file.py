"""Dialogues, `veritrail.dialogue/1`: turns become nodes, documents and initial knowledge roots.

An assistant's turn has as inputs its documents, the turns of others since the assistant spoke
last, and that turn: all earlier turns are its ancestors, and the number of edges grows with the
turns, not with their square. Turns of users, systems and tools have no inputs and are no source
text.

Source: VISTA 3; docs/adr/0037-dialogues.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from veritrail_graph.graph.counted import counted
from veritrail_graph.graph.errors import InvalidProcess, Violation, Violations, shown
from veritrail_graph.graph.importers.draft import Draft
from veritrail_graph.graph.importers.process_file.schema import named, violations_of
from veritrail_graph.graph.importers.records import Header, ProcessInput
from veritrail_graph.graph.model import Origin
from veritrail_graph.graph.model.canonical import is_deeper_than
from veritrail_graph.graph.model.dialogue import (
    DOCUMENT,
    FORMAT,
    KNOWLEDGE,
    MAX_ID,
    Dialogue,
    DialogueDocument,
    PartId,
    Speaker,
    Turn,
)
from veritrail_graph.graph.model.noun import OneOf, PublicId, Text

NAME = "dialogue"
_NUMBERED = re.compile(r"(.*?)(\d{1,18})", re.DOTALL)
_LISTS = ("turns", "documents", "initial_knowledge")
_MISSING = ("no_turns", "no_assistant_turn")
SOURCES_STAGE = 0
"""The stage of documents and initial knowledge; the n-th turn has stage n."""


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("metadata")
    @classmethod
    def bounded(cls, value: dict[str, Any]) -> dict[str, Any]:
        """Metadata that every later step can walk through."""
        if is_deeper_than(value):
            raise PydanticCustomError("nested_too_deeply", "is nested too deeply")
        return value


class _Document(_Part):
    document_id: PartId
    text: Text


class _Turn(_Part):
    turn_id: PartId
    role: OneOf[Speaker]
    text: Text
    documents: list[PartId] = Field(default_factory=list)


class _Header(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    format: str
    dialogue_id: PublicId | None = None
    name: Text | None = None
    initial_knowledge: list[Text] = Field(default_factory=list)
    documents: list[Any] = Field(default_factory=list)
    turns: list[Any] = Field(default_factory=list)


def read_dialogue(
    value: object, where: str = "dialogue", known: Sequence[Violation] = ()
) -> Dialogue:
    """A dialogue from the JSON of a dialogue file.

    Args:
        value: The JSON.
        where: The place of the JSON, for messages.
        known: What is wrong with what the JSON was made from.

    Raises:
        InvalidProcess: It breaks rules; every violation is listed.
    """
    if not isinstance(value, dict):
        raise _invalid(where, Violations([Violation("wrong_type", where, "must be a JSON object")]))
    violations = Violations(known)
    if value.get("format") != FORMAT:
        said = f"is {shown(str(value['format']))}" if "format" in value else "is missing"
        message = f"the format {said}; this version reads {FORMAT!r}"
        violations.append(Violation("unknown_format", "format", message))
    try:
        header = _Header.model_validate({**value, "format": FORMAT})
    except ValidationError as error:
        violations += violations_of(error, "dialogue", _Header)
        lists = {key: value[key] for key in _LISTS[:2] if isinstance(value.get(key), list)}
        known_facts = value.get("initial_knowledge")
        facts = known_facts if isinstance(known_facts, list) else []
        header = _Header.model_construct(**lists, initial_knowledge=facts)
    documents = _read(header.documents, "documents", _Document, "document_id", violations)
    turns = _read(header.turns, "turns", _Turn, "turn_id", violations)
    found = _check(value, header, turns)
    # A turn that could not be read may be the one that is missing.
    violations += (one for one in found if not known or one.kind not in _MISSING)
    if len(violations):
        raise _invalid(where, violations)
    return Dialogue(
        dialogue_id=header.dialogue_id,
        name=header.name,
        initial_knowledge=tuple(header.initial_knowledge),
        documents=tuple(DialogueDocument.model_construct(**dict(one)) for one in documents),
        turns=tuple(
            Turn.model_construct(**{**dict(one), "documents": tuple(dict.fromkeys(one.documents))})
            for one in turns
        ),
    )


def _read(
    values: Sequence[object], key: str, model: type[Any], name: str, violations: Violations
) -> list[Any]:
    """The parts that can be read; what is wrong with the others joins the violations."""
    read = []
    for number, value in enumerate(values):
        if violations.is_over:
            break
        where = named(f"{key}[{number}]", value, name)
        try:
            read.append(model.model_validate(value))
        except ValidationError as error:
            violations += map(_with_own_words, violations_of(error, where, model))
    return read


def _with_own_words(violation: Violation) -> Violation:
    """A violation in terms of dialogues."""
    kind, message = violation.kind, violation.message
    if kind == "unknown_word" and message.startswith("role"):
        kind = "unknown_role"
    elif kind == "id_too_long":
        message = f"{message.partition(' is ')[0]} is longer than {MAX_ID:,} characters"
    return Violation(kind, violation.where, message, violation.facts)


def _check(value: dict[str, Any], header: _Header, turns: Sequence[_Turn]) -> Iterator[Violation]:
    """Yield what is wrong with a dialogue beyond its single parts."""
    known = _ids(header.documents, "document_id")
    yield from _repeated(known, "documents", "document_id")
    yield from _repeated(_ids(header.turns, "turn_id"), "turns", "turn_id")
    of_documents = {name for _, name in known}
    # Also turns that break other rules are looked at, as far as they can be read.
    for number, given in enumerate(header.turns):
        if not isinstance(given, dict):
            continue
        where = named(f"turns[{number}]", given, "turn_id")
        for name in _listed(given.get("documents")):
            if name not in of_documents:
                message = f"names the document {shown(name)}, which the dialogue does not have"
                yield Violation("unknown_document", where, message)
        text = given.get("text")
        if isinstance(text, str) and not text.strip():
            yield Violation("empty_turn", where, "has no text")
    knowledge: Sequence[object] = header.initial_knowledge  # also where it breaks other rules
    for number, fact in enumerate(knowledge):
        if isinstance(fact, str) and not fact.strip():
            yield Violation("empty_text", f"initial_knowledge[{number}]", "has no text")
    yield from _out_of_order(header.turns)
    if not isinstance(value.get("turns", []), list):
        return
    if not header.turns:
        yield Violation("no_turns", "turns", "a dialogue has at least one turn")
    elif len(turns) == len(header.turns) and not any(
        turn.role is Speaker.ASSISTANT for turn in turns
    ):
        message = "no turn has the role assistant, and only the assistant's turns are verified"
        yield Violation("no_assistant_turn", "turns", message)


def _listed(value: object) -> list[str]:
    """The ids of a list; what is none of them breaks another rule."""
    return [one for one in value if isinstance(one, str) and one] if isinstance(value, list) else []


def _ids(values: Sequence[object], key: str) -> list[tuple[int, str]]:
    """The ids of parts, each with its place, also of those that break other rules."""
    found = [(number, one.get(key)) for number, one in enumerate(values) if isinstance(one, dict)]
    return [(number, name) for number, name in found if isinstance(name, str)]


def _repeated(ids: Sequence[tuple[int, str]], key: str, name: str) -> Iterator[Violation]:
    first: dict[str, int] = {}
    for number, one in ids:
        if one in first:
            where = f"{key}[{number}] {shown(one)}"
            message = f"this {name} is that of {key}[{first[one]}] already"
            yield Violation(f"duplicate_{name}", where, message)
        first.setdefault(one, number)


def _out_of_order(turns: Sequence[object]) -> Iterator[Violation]:
    """Turns whose numbers fall, where all are numbered alike: `t1`, `t3`, `t2`."""
    ids = _ids(turns, "turn_id")
    found = [_NUMBERED.fullmatch(name) for _, name in ids]
    numbers = [int(one[2]) for one in found if one is not None]
    if len(numbers) < len(ids) or len({one[1] for one in found if one is not None}) != 1:
        return
    for place, (before, after) in enumerate(pairwise(numbers), start=1):
        if after < before:
            number, name = ids[place]
            where = f"turns[{number}] {shown(name)}"
            message = f"comes behind {shown(ids[place - 1][1])}; turns must be in their order"
            yield Violation("turn_out_of_order", where, message)


def _invalid(where: str, violations: Violations) -> InvalidProcess:
    count = len(violations)
    rules = "one rule" if count == 1 else f"{count:,} rules"
    return InvalidProcess(f"{where} breaks {rules} of the dialogue format", violations)


def process_of(
    dialogue: Dialogue, source_format: str = NAME, warnings: Sequence[str] = ()
) -> ProcessInput:
    """A dialogue as a process.

    Args:
        dialogue: The dialogue, which keeps the rules that `read_dialogue` checks.
        source_format: The format that it was read from.
        warnings: What the input does not hold.
    """
    used = {name for turn in dialogue.turns for name in turn.documents}
    spoken = [turn for turn in dialogue.turns if turn.role is Speaker.ASSISTANT]
    compared = {name for turn in spoken for name in turn.documents}
    unused = [one.document_id for one in dialogue.documents if one.document_id not in compared]
    if unused:
        shown_ids = ", ".join(map(shown, unused[:5])) + (" …" if len(unused) > 5 else "")
        warnings = (
            *warnings,
            f"No turn of the assistant names {len(unused):,} of the documents, so nothing is "
            f"compared with them: {shown_ids}",
        )
    idle = [
        turn.turn_id
        for turn in dialogue.turns
        if turn.role is not Speaker.ASSISTANT and compared.intersection(turn.documents)
    ]
    if idle:
        shown_ids = ", ".join(map(shown, idle[:5])) + (" …" if len(idle) > 5 else "")
        verb = counted(len(idle), "turn of another speaker names", "turns of other speakers name")
        warnings = (
            *warnings,
            f"{verb} documents, which is left out, because only turns of the assistant are written "
            f"from documents: {shown_ids}",
        )
    draft = Draft(
        Header(
            source_format,
            process_id=dialogue.dialogue_id,
            name=dialogue.name,
            stage_names={SOURCES_STAGE: "documents"} if used or dialogue.initial_knowledge else {},
            terminals=(spoken[-1].node_id,),
            warnings=tuple(warnings),
            may_lack_edges=True,
        )
    )
    _add_sources(draft, dialogue)
    _add_turns(draft, dialogue)
    return draft


def _add_sources(draft: Draft, dialogue: Dialogue) -> None:
    for one in dialogue.documents:
        name = f"{DOCUMENT}{one.document_id}"
        draft.node(
            name, one.text, name, origin=Origin.SOURCE, kind="document", stage=SOURCES_STAGE,
            metadata=one.metadata,
        )  # fmt: skip
    for number, fact in enumerate(dialogue.initial_knowledge):
        name = f"{KNOWLEDGE}{number}"
        draft.node(
            name, fact, name, origin=Origin.SOURCE, kind="initial knowledge", stage=SOURCES_STAGE
        )


def _add_turns(draft: Draft, dialogue: Dialogue) -> None:
    """The turns, each with the edges from what it was generated from."""
    before = [f"{KNOWLEDGE}{number}" for number in range(len(dialogue.initial_knowledge))]
    for number, turn in enumerate(dialogue.turns, start=SOURCES_STAGE + 1):
        is_assistant = turn.role is Speaker.ASSISTANT
        where = f"turns[{number - 1}] {shown(turn.turn_id)}"
        draft.node(
            turn.node_id, turn.text, where,
            origin=Origin.GENERATED if is_assistant else Origin.GIVEN,
            kind=turn.role.kind, step="answer" if is_assistant else None, stage=number,
            metadata=turn.metadata,
        )  # fmt: skip
        if is_assistant:
            for name in turn.documents:
                draft.edge(f"{DOCUMENT}{name}", turn.node_id, where)
            for source in before:
                draft.edge(source, turn.node_id, where)
            before = []
        before.append(turn.node_id)

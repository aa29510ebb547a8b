"""Rows of the graph: nouns as properties of nodes and back, in batches and in pages.

No engine holds a map: a usage is made flat, and settings are the text that they are. A `caption`
is what a person reads on a node in a graph browser; no part of this program reads it.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from veritrail_graph.graph.errors import EngineError
from veritrail_graph.graph.model import (
    Appeal,
    Claim,
    NodeRef,
    Noun,
    Role,
    Status,
    Usage,
    ValuePlace,
    Verdict,
)
from veritrail_graph.graph.model.dialogue import ClaimCategory
from veritrail_graph.graph.model.listed import TURN_UNDECIDED, PlacedClaim
from veritrail_graph.graph.store.database import Database

if TYPE_CHECKING:
    from veritrail_graph.graph.ingest.check import Survey

T = TypeVar("T")
Properties = Mapping[str, Any]
N = TypeVar("N", bound=Noun)

MOST_ROWS = 1_000
"""Rows, or ids, that one statement takes."""

MOST_HELD = 20_000_000
"""Characters of spans and sentences that one statement may make an engine hold."""

CAPTION = 40
"""Characters of the longest caption."""

_APPEALS = TypeAdapter(tuple[Appeal, ...])
_USAGE = tuple(Usage.model_fields)


def batches(values: Sequence[T], size: int | None = None) -> Iterator[list[T]]:
    """Values in batches that one statement takes: of `MOST_ROWS`, or of another size."""
    size = size or MOST_ROWS
    for start in range(0, len(values), size):
        yield list(values[start : start + size])


def parts(values: Iterable[T], size_of: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Values in parts of a bounded size, in their order; one that is larger goes alone.

    Args:
        values: The values.
        size_of: The size of one.
        most: The largest size of a part.
    """
    part: list[T] = []
    total = 0
    for value in values:
        size = size_of(value)
        if part and total + size > most:
            yield part
            part, total = [], 0
        part.append(value)
        total += size
    if part:
        yield part


def short(text: str) -> str:
    """A text on one line, and its end left out where it is long.

    The statements that store spans, claims and extractions say the same in Cypher.
    """
    line = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
    return line if len(line) <= CAPTION else line[: CAPTION - 1] + "…"


def in_words(verdict: Verdict, indicative: bool) -> str:
    """A verdict in words: `Not Fully Supported`, or `Not Fully Supported (indicative)`."""
    words = verdict.value.replace("_", " ").title()
    return f"{words} (indicative)" if indicative else words


def properties(noun: Noun, leave_out: dict[str, Any] | None = None) -> dict[str, Any]:
    """A noun as properties of a node."""
    made = noun.model_dump(mode="json", exclude=leave_out)
    made |= made.pop("usage", {})
    return {
        key: getattr(noun, key) if isinstance(value, dict) else value for key, value in made.items()
    }


def noun_from(kind: type[N], properties: Mapping[str, Any], **more: Any) -> N:
    """A noun from the properties of its node; what the node lacks has its default.

    Args:
        kind: The noun.
        properties: Its properties; others, such as captions, are passed over.
        **more: Fields that are nodes or relationships of their own.

    Raises:
        EngineError: They do not describe one: another program wrote or changed the node.
    """
    values = {key: value for key, value in properties.items() if value is not None} | more
    if "usage" in kind.model_fields and "usage" not in values:
        values["usage"] = {key: values[key] for key in _USAGE if key in values}
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise damaged(kind, error) from None


def damaged(kind: type[Noun], error: ValidationError) -> EngineError:
    """The fault of a node that describes no such noun."""
    return EngineError(
        f"A {kind.__name__} of the graph is damaged ({first_fault(error)}). Another program "
        "made or changed its node.",
        code="noun_damaged",
    )


def first_fault(error: ValidationError) -> str:
    """The first thing that does not fit into a noun: `nodes: Input should be a valid integer`."""
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def value_place_from(properties: Mapping[str, Any]) -> ValuePlace | None:
    """Return where a value of a claim came in, from the properties of its verification.

    Raises:
        EngineError: They do not describe it: another program wrote or changed the node.
    """
    text = properties.get("value_place")
    if text is None:
        return None
    try:
        return ValuePlace.model_validate_json(text)
    except ValidationError as error:
        raise damaged(ValuePlace, error) from None


def appeals_from(properties: Mapping[str, Any]) -> tuple[Appeal, ...]:
    """The cited sentences that speak to their reader, from the properties of a verification.

    Raises:
        EngineError: They do not describe any: another program wrote or changed the node.
    """
    try:
        return _APPEALS.validate_json(properties.get("appeals") or "[]")
    except ValidationError as error:
        raise damaged(Appeal, error) from None


def node_from(node: Sequence[Any]) -> NodeRef:
    """A node from [node_id, stage, position, role]."""
    node_id, stage, position, role = node
    return NodeRef(node_id, stage, position, Role(role))


def claim_row(claim: Claim) -> dict[str, Any]:
    """Properties of a claim; `also` is start and end of each place in turn, or null."""
    return {**properties(claim), "also": [end for place in claim.also for end in place] or None}


def claim_from(properties: Mapping[str, Any]) -> Claim:
    """A claim from its properties."""
    also = properties.get("also") or []
    return noun_from(Claim, properties, also=places_from(also))


def places_from(also: Sequence[int] | None) -> tuple[tuple[int, int], ...]:
    """Places from their starts and ends in turn."""
    return tuple(zip((also or ())[::2], (also or ())[1::2], strict=True))


def placed_from(row: Sequence[Any]) -> PlacedClaim:
    """A claim about a part of a text, from its row."""
    claim_id, text, start, end, also, position, verdict, indicative, stages, *rest = row
    status, error, category, turn_status = rest
    if status is None and turn_status:
        status, error = turn_status, TURN_UNDECIDED
    return PlacedClaim(
        claim_id, text, start, end, places_from(also), position,
        Verdict(verdict) if verdict else None, bool(indicative), tuple(stages or ()),
        Status(status) if status else None, error, ClaimCategory(category) if category else None,
    )  # fmt: skip


def claim_pages(
    database: Database, process_id: str, *, asked: bool = False, limit: int = MOST_ROWS
) -> AsyncIterator[list[Properties]]:
    """Claims of the answer, and questions where they are `asked` for, in the order of the input.

    Each page looks at all claims of the process: large ones are quicker.
    """
    cursor = {"after": ("position", -1), "after_id": ("claim_id", "")}
    return pages(database, "trail/claims", cursor, process_id, limit=limit, asked=asked)


def extraction_pages(database: Database, process_id: str) -> AsyncIterator[list[Properties]]:
    """Yield what claim extraction left of sentences, by node and place."""
    cursor = {"after": ("node_id", ""), "after_position": ("position", -1)}
    return pages(database, "process/extractions", cursor, process_id)


async def pages(
    database: Database,
    name: str,
    cursor: Mapping[str, tuple[str, Any]],
    process_id: str,
    *,
    limit: int = MOST_ROWS,
    **parameters: Any,
) -> AsyncIterator[list[Properties]]:
    """The answer of a statement whose one column holds properties; no page is empty.

    Args:
        database: Runs it.
        name: The statement; it takes `process_id` and `limit`.
        cursor: By parameter: the property of the last row that says where the next page begins,
            and a value before all others.
        process_id: The process.
        limit: Rows of a page.
        **parameters: What else the statement takes.
    """
    place = {parameter: first for parameter, (_, first) in cursor.items()}
    while True:
        rows = await database.read(name, process_id=process_id, limit=limit, **place, **parameters)
        if rows:
            yield [properties for (properties,) in rows]
        if len(rows) < limit:
            return
        last = rows[-1][0]
        place = {parameter: last[key] for parameter, (key, _) in cursor.items()}


def process_row(survey: Survey) -> dict[str, Any]:
    """A process as properties; maps become parallel lists, which every engine can hold."""
    header = survey.header
    stages = survey.stages
    return {
        "name": header.name or survey.process_id,
        "question": header.question,
        "source_format": header.source_format,
        "content_hash": survey.hash,
        "stages": [*stages],
        "stage_counts": [*stages.values()],
        "stage_names": json.dumps({str(key): name for key, name in header.stage_names.items()}),
        "terminals": list(survey.terminals),
        "nodes": survey.nodes,
        "edges": survey.edges,
        "warnings": list(survey.warnings),
        "run_of_record": header.run_of_record,
        "project": header.project,
        "tags": list(header.tags) or None,
    }


def first_count(rows: Sequence[tuple[Any, ...]]) -> int:
    """Return the number that a statement counted; 0 where it found no row."""
    return int(rows[0][0]) if rows else 0

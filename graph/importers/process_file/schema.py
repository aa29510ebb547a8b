"""The records of a process file as pydantic models, and their faults in plain words.

Only what can be said of one record alone is checked here; what needs the whole graph
is checked in `graph.ingest.check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from pydantic.json_schema import models_json_schema
from pydantic_core import ErrorDetails, PydanticCustomError

from veritrail_graph.graph.contract import FORMAT as FORMAT
from veritrail_graph.graph.errors import Violation, Violations, shown
from veritrail_graph.graph.importers.process_file.plain import is_plain_id, is_plain_node
from veritrail_graph.graph.importers.records import ClaimRecord, EdgeRecord, NodeRecord, Unread
from veritrail_graph.graph.model import Claim, Edge, Origin, Review, Verification
from veritrail_graph.graph.model.canonical import is_deeper_than
from veritrail_graph.graph.model.extraction import ExtractedSentence
from veritrail_graph.graph.model.noun import (
    MAX_NODE_ID,
    MAX_STAGE,
    PUBLIC_ID,
    NodeId,
    OneOf,
    PublicId,
    Stage,
    Text,
)

ID_PATTERN = rf"^{PUBLIC_ID}\Z"

SCHEMA_KEY = "$schema"
"""Where a document names its JSON Schema for editors; it says nothing of the process."""

LISTS = {
    "nodes": True,
    "edges": True,
    "claims": False,
    "extractions": False,
    "verifications": False,
    "reviews": False,
}
"""The lists of a document, and whether it must have them."""


Tag = Annotated[Text, Field(min_length=1, max_length=100)]


class _Model(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


class HeaderModel(_Model):
    """The keys of a document beside its records; the first line of a JSON Lines file."""

    format: str
    process_id: PublicId | None = None
    name: Text | None = None
    question: Text | None = None
    stages: dict[str, Text] = Field(default_factory=dict)
    terminals: list[NodeId] | None = None
    source_format: Text | None = None
    warnings: list[Text] = Field(default_factory=list)
    run_of_record: PublicId | None = None
    project: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    tags: list[Tag] = Field(default_factory=list, max_length=50)


class NodeModel(_Model):
    """A node."""

    node_id: NodeId
    text: str
    stage: Stage | None = None
    kind: Text | None = None
    step: Text | None = None
    metadata: dict[str, Any] | None = None
    origin: OneOf[Origin] | None = None
    question: Text | None = None
    generative: bool | None = None

    @field_validator("metadata")
    @classmethod
    def bounded(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        """Metadata that every later step can walk through."""
        if value is not None and is_deeper_than(value):
            raise PydanticCustomError("nested_too_deeply", "is nested too deeply")
        return value

    @property
    def about(self) -> dict[str, Any]:
        """Return its metadata, and there whether its step can change text."""
        said = {} if self.generative is None else {"generative": self.generative}
        return {**(self.metadata or {}), **said}


_FIELDS: dict[str, TypeAdapter[Any]] = {
    "node_id": TypeAdapter(NodeId),
    "text": TypeAdapter(str),
    "stage": TypeAdapter(Stage),
}


def read_node(
    value: object, place: str
) -> NodeRecord | list[Violation | NodeRecord] | list[Unread]:
    """A node, or everything that is wrong with it.

    A wrong node with a usable id is there nevertheless, so that its edges are not wrong too.
    """
    where = named(place, value, "node_id")
    if is_plain_node(value):  # the usual one; a model costs more than all else of a record
        return NodeRecord(
            value["node_id"],
            value["text"],
            where,
            value.get("stage"),
            value.get("kind"),
            value.get("step"),
            value.get("metadata") or {},
        )
    try:
        model = NodeModel.model_validate(value)
    except ValidationError as error:
        faults, usable = violations_of(error, where, NodeModel), _stand_in(value, where)
        if usable is None:
            return _unread(faults)
        found: list[Violation | NodeRecord] = [*faults, usable]
        return found
    return NodeRecord(
        model.node_id,
        model.text,
        where,
        model.stage,
        model.kind,
        model.step,
        model.about,
        model.origin,
        model.question,
    )


def _unread(faults: Iterable[Violation]) -> list[Unread]:
    """Return what is wrong with a record of which nothing is usable."""
    return [Unread(one.kind, one.where, one.message, one.facts) for one in faults]


def _stand_in(value: object, where: str) -> NodeRecord | None:
    """Return what is usable of a node that breaks rules of its own; None: its id is not."""
    fields = value if isinstance(value, dict) else {}
    usable: dict[str, Any] = {}
    for key in ("node_id", "text", "stage"):
        with suppress(ValidationError, KeyError):
            usable[key] = _FIELDS[key].validate_python(fields[key], strict=True)
    if "node_id" not in usable:
        return None
    return NodeRecord(usable["node_id"], usable.get("text", ""), where, usable.get("stage"))


def read_edge(value: object, place: str) -> EdgeRecord | list[Unread]:
    """An edge, or everything that is wrong with it."""
    if type(value) is dict and len(value) == 2:  # the usual one
        source, target = value.get("source"), value.get("target")
        if is_plain_id(source) and is_plain_id(target):
            return EdgeRecord(source, target, place)
    try:
        edge = Edge.model_validate(value, extra="forbid")
    except ValidationError as error:
        return _unread(violations_of(error, place, Edge))
    return EdgeRecord(edge.source, edge.target, place, *edge.facts)


def read_claim(value: object, place: str) -> ClaimRecord | list[Violation]:
    """A claim, or everything that is wrong with it; its ids may be missing."""
    where = named(place, value, "claim_id")
    given = value if isinstance(value, dict) else {}
    derived = {key: "derived" for key in ("claim_id", "node_id") if given.get(key) is None}
    try:
        claim = Claim.model_validate(
            {**given, **derived} if isinstance(value, dict) else value, extra="forbid"
        )
    except ValidationError as error:
        return list(violations_of(error, where, Claim))
    return ClaimRecord(
        text=claim.text,
        where=where,
        claim_id=given.get("claim_id"),
        node_id=given.get("node_id"),
        start=claim.start,
        end=claim.end,
        sub_claims=claim.sub_claims,
        label=claim.label,
        also=claim.also,
        origin=claim.origin,
        said=claim.said,
    )


def read_header(value: Mapping[str, Any], place: str) -> tuple[HeaderModel, list[Violation]]:
    """The keys beside the records, and everything that is wrong with them.

    Of a header that breaks rules only the terminals are kept, where they are right.
    """
    faults = []
    if value.get("format") != FORMAT:
        said = f"is {shown(str(value['format']))}" if "format" in value else "is missing"
        message = f"the format {said}; this version reads {FORMAT!r}"
        faults.append(Violation("unknown_format", place or "format", message))
    given = {key: one for key, one in value.items() if key != SCHEMA_KEY}
    if not isinstance(value.get(SCHEMA_KEY, ""), str):
        faults.append(
            Violation("wrong_type", place or SCHEMA_KEY, f"{SCHEMA_KEY} must be a string")
        )
    try:
        model = HeaderModel.model_validate({**given, "format": FORMAT})
    except ValidationError as error:
        faults += violations_of(error, place, HeaderModel)
        model = HeaderModel(format=FORMAT)
        with suppress(ValidationError):
            model = HeaderModel(format=FORMAT, terminals=value.get("terminals"))
        return model, faults
    for key in [key for key in model.stages if not _is_stage(key)]:
        message = f"stage names are keyed by stage numbers; {shown(key)} is none"
        faults.append(Violation("wrong_stage_name", _join(place, "stages"), message))
        del model.stages[key]
    return model, faults


def _is_stage(key: str) -> bool:
    """One spelling a stage: no sign, no leading zeros."""
    short = key.isascii() and key.isdigit() and len(key) <= len(str(MAX_STAGE))
    return short and str(int(key)) == key and int(key) <= MAX_STAGE


def named(place: str, value: object, key: str) -> str:
    """A place with the name of the record there."""
    name = value.get(key) if isinstance(value, dict) else None
    return f"{place} {shown(name)}" if isinstance(name, str) and name else place


def _join(place: str, key: str) -> str:
    return f"{place}: {key}" if place else key


def violations_of(
    error: ValidationError, place: str, model: type[BaseModel]
) -> Iterator[Violation]:
    """Yield what a model finds wrong with a record, in plain words."""
    if error.error_count() > Violations.MOST_COUNTED:
        message = f"breaks {error.error_count():,} rules, more than can be listed"
        yield Violation("wrong_value", place, message)
        return
    for details in error.errors(include_url=False, include_context=True):
        yield _violation(details, place, model)


def _violation(details: ErrorDetails, place: str, model: type[BaseModel]) -> Violation:
    key = ".".join(str(part) for part in details["loc"])
    kind = details["type"]
    if kind == "extra_forbidden":
        lists = () if place else LISTS  # only a whole document has no place
        known = ", ".join([*model.model_fields, *lists])
        message = f"unknown key {shown(key)}; known keys: {known}"
        if "metadata" in model.model_fields and key not in lists:
            message += "; facts of your own, such as model or prompt, belong into `metadata`"
        return Violation("unknown_key", place or "document", message)
    if kind in {"missing", "too_long"} and key.startswith("also."):
        place_key = ".".join(key.split(".")[:2])
        message = f"{place_key} must hold two offsets: start and end"
        return Violation("wrong_value", place, message)
    if kind == "missing":
        return Violation("missing_key", place or "document", f"the key {key!r} is missing")
    if kind == "wrong_trail":
        return Violation(kind, place, details["msg"])
    place = place or key.partition(".")[0] or "document"
    if kind == "enum" and isinstance(details["input"], str):
        words = details.get("ctx", {}).get("expected", "").replace("'", "").replace(" or ", ", ")
        if key == "label":
            return Violation("unknown_label", place, f"label must be one of {words}")
        return Violation("unknown_word", place, f"{key} must be one of {words}")
    if kind == "string_unicode":
        what = key or "a key"
        message = f"{what} contains a lone surrogate, which is not a character and cannot be stored"
        return Violation("lone_surrogate", place, message)
    if kind in {"model_type", "model_attributes_type"}:
        return Violation("wrong_type", place, "must be a JSON object")
    if kind.endswith("_type") or kind == "enum":
        return Violation("wrong_type", place, f"{key} {_type_wanted(details)}")
    return Violation(*_value_fault(key, kind, details, place))


def _type_wanted(details: ErrorDetails) -> str:
    wanted = {
        "string_type": "must be a string",
        "int_type": "must be an integer",
        "bool_type": "must be true or false",
        "dict_type": "must be a JSON object",
        "list_type": "must be a list",
        "tuple_type": "must be a list",
        "enum": "must be a string",
    }
    return wanted.get(details["type"], details["msg"])


def _value_fault(key: str, kind: str, details: ErrorDetails, place: str) -> tuple[str, str, str]:
    if kind == "string_too_short":
        return ("empty_id" if key != "text" else "empty_text", place, f"{key} is empty")
    if kind == "string_too_long":
        return ("id_too_long", place, f"{key} is longer than {MAX_NODE_ID:,} characters")
    if kind == "string_pattern_mismatch" and key.endswith(("created_at", "content_hash")):
        wanted = "a time such as 2026-01-31T09:30:00.000000Z" if "_at" in key else "a SHA-256"
        return ("wrong_value", place, f"{key} must be {wanted}")
    if kind == "string_pattern_mismatch":
        rule = "letters, digits and . _ : - (at most 128, a letter or digit first)"
        return ("wrong_id", place, f"{key} must be made of {rule}")
    if kind in {"greater_than_equal", "less_than_equal"}:
        wanted = f"between 0 and {MAX_STAGE:,}" if key == "stage" else "0 or more"
        return ("out_of_range", place, f"{key} must be {wanted}")
    return ("wrong_value", place, f"{key}: {details['msg']}")


DIALECT = "https://json-schema.org/draft/2020-12/schema"

_RECORDS: dict[str, type[BaseModel]] = {
    "nodes": NodeModel,
    "edges": Edge,
    "claims": Claim,
    "extractions": ExtractedSentence,
    "verifications": Verification,
    "reviews": Review,
}
_DERIVED = {
    "Claim": ("claim_id", "node_id"),
    "Review": ("process_id", "kind"),
    "Verification": ("process_id",),
}
"""What a file may leave out: it follows from the rest."""


def process_file_schema() -> dict[str, Any]:
    """The JSON Schema of a process file that is one JSON document, for editors and validators.

    It is made from the models that read the file, so that both say the same. It says what one
    record may be; what needs the whole graph, such as an edge to a node that is not there, only
    `ingest` says.
    """
    asked = [(one, "validation") for one in (HeaderModel, *_RECORDS.values())]
    _, made = models_json_schema(asked, title="Process file")  # type: ignore[arg-type]
    known: dict[str, Any] = made["$defs"]
    header = known.pop(HeaderModel.__name__)
    for model in _RECORDS.values():
        known[model.__name__]["additionalProperties"] = False
    for name, keys in _DERIVED.items():
        _leave_out(known[name], keys)
    lists = {
        key: {"type": "array", "items": {"$ref": f"#/$defs/{model.__name__}"}}
        for key, model in _RECORDS.items()
    }
    return {
        "$schema": DIALECT,
        "title": "Process file",
        "description": f"A finished generative process in the format {FORMAT}.",
        "type": "object",
        "properties": {
            SCHEMA_KEY: {"type": "string"},
            **header["properties"],
            "format": {"const": FORMAT},
            **lists,
        },
        "required": ["format", *(name for name, is_needed in LISTS.items() if is_needed)],
        "additionalProperties": False,
        "$defs": known,
    }


def _leave_out(record: dict[str, Any], keys: Iterable[str]) -> None:
    """Let keys of a record be missing, or null."""
    for key in keys:
        own = record["properties"][key]
        about = {name: own.pop(name) for name in ("title", "description") if name in own}
        record["properties"][key] = {"anyOf": [own, {"type": "null"}], **about}
    record["required"] = [one for one in record["required"] if one not in set(keys)]

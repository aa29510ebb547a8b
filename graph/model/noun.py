"""The base of all nouns: frozen values that validate and serialise themselves.

Source: ours (docs/adr/0023-nouns.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import CoreSchema, core_schema

from veritrail_graph.graph.contract import MAX_NODE_ID as MAX_NODE_ID
from veritrail_graph.graph.contract import MAX_STAGE as MAX_STAGE
from veritrail_graph.graph.contract import PUBLIC_ID as PUBLIC_ID
from veritrail_graph.graph.model.node_ref import NodeRef
from veritrail_graph.graph.model.printing import Printed

MOST = 2**63 - 1
"""The largest whole number that an engine holds."""

PublicId = Annotated[str, Field(pattern=rf"^{PUBLIC_ID}$")]
RecordId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,255}$")]
"""The id of a verification or of a review."""
NodeId = Annotated[str, Field(min_length=1, max_length=MAX_NODE_ID)]
Text = Annotated[str, Field(min_length=0)]  # a constraint, so that lone surrogates are found
Count = Annotated[int, Field(ge=0, le=MOST)]
Offset = Annotated[int, Field(ge=0)]
Stage = Annotated[int, Field(ge=0, le=MAX_STAGE)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Time = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$")]

T = TypeVar("T")
Word = TypeVar("Word", bound=StrEnum)

Many = Annotated[tuple[T, ...], Field(strict=False)]
"""Several values: a tuple in Python, a list in JSON."""
Place = Annotated[tuple[Offset, Offset], Field(strict=False)]
"""A place in a text, as [start, end] in code points."""
OneOf = Annotated[Word, Field(strict=False)]
"""One of the words of an enumeration, or the word as a text."""
SaidWord = Annotated[OneOf[Word], WithJsonSchema({"type": "string"})]
"""The same, described to programs as a text: later versions may answer with further words."""


class _ById:
    """A node reference that JSON gives as the node's id.

    A node that was read from JSON is known by its id alone; its stage, position and role are None.
    """

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        def reference(value: Any, read: core_schema.ValidatorFunctionWrapHandler) -> NodeRef:
            return value if type(value) is NodeRef else NodeRef.named(read(value))

        text = core_schema.str_schema(min_length=1, max_length=MAX_NODE_ID, strict=True)
        return core_schema.no_info_wrap_validator_function(
            reference,
            text,
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda node: node.node_id, return_schema=core_schema.str_schema()
            ),
        )


def _as_made(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """References in a tuple as they are: a frontier has thousands, and each was made by us."""
    is_made = type(value) is tuple and {NodeRef}.issuperset(map(type, value))
    return value if is_made else read(value)


Nodes = Annotated[Many[Annotated[NodeRef, _ById]], WrapValidator(_as_made)]
"""Nodes: references in Python, ids in JSON."""


def is_none(value: object) -> bool:
    """Return whether a field is left out of JSON, where `exclude_if` asks."""
    return value is None


def is_zero(value: int) -> bool:
    """Return whether a count is left out of JSON, where `exclude_if` asks."""
    return not value


def is_empty(value: tuple[object, ...]) -> bool:
    """Return whether a list is left out of JSON, where `exclude_if` asks."""
    return not value


class Noun(BaseModel):
    """A frozen value whose `model_dump(mode="json")` is the contract's JSON.

    Keys that it does not have are passed over; readers of files refuse them, and the client
    keeps them (the argument `extra` of `model_validate`).
    """

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="ignore",
        protected_namespaces=(),
        hide_input_in_errors=True,
    )

    derived: ClassVar[Mapping[str, str]] = {}
    """Fields that follow from another one, by that field."""

    def replace(self, **changes: Any) -> Self:
        """A copy with other values, which are not validated; what follows from them is derived.

        Raises:
            TypeError: It has no field of that name.
        """
        unknown = changes.keys() - type(self).model_fields.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        values = self.__dict__ | changes
        for source, derived in self.derived.items():
            if source in changes and derived not in changes:
                del values[derived]
        return self.model_construct(self.model_fields_set | changes.keys(), **values)

    def json_object(self) -> dict[str, Any]:
        """The JSON object of the contract."""
        return self.model_dump(mode="json")

    def _fill(self, name: str, value: object) -> None:
        """Set a derived value that was not given, while the noun is made."""
        self.__dict__[name] = value


class Answer(Printed, Noun):
    """A noun that is read: a list, a drawing, an operation or a service answers with it.

    Numbers, words and lists are taken as JSON gives them.
    """

    model_config = ConfigDict(strict=False)

    def as_json(self) -> dict[str, Any]:
        """Return the object as a service sent it, with what a newer service says besides."""
        known = self.model_dump(mode="json", exclude_unset=True)
        return {**known, **(self.__pydantic_extra__ or {})}

"""A node, as it is read from the graph, listed and answered.

Source: VeriTrail 2 (a node is a text span).
"""

from __future__ import annotations

from typing import Any

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from veritrail_graph.graph.model.noun import Answer

CONTENT = ("text", "prompt", "metadata")
"""Fields of a node that are read where they are asked for, because they may be long."""


class Node(Answer):
    """A node; text, prompt and metadata are there where they were asked for."""

    node_id: str = Field(examples=["s14"])
    stage: int
    position: int = Field(0, description="Its place in the input.")
    role: str | None = Field(None, description="root, intermediate, terminal or unsourced.")
    origin: str | None = Field(None, description="source, generated or given.")
    question: str | None = Field(None, description="The question that it answers.")
    kind: str | None = None
    step: str | None = None
    model: str | None = None
    text: str | None = None
    prompt: str | None = None
    metadata: JsonValue = None
    length: int = Field(
        default=0, description="UTF-16 units of text, prompt and metadata.", exclude=True
    )

    @model_serializer(mode="wrap")
    def _without_unasked(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = dump(self)
        unasked = set(CONTENT) - self.model_fields_set
        return {name: value for name, value in found.items() if name not in unasked}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The fields; leaving out those that were not asked for does not hide them."""
        return handler({key: part for key, part in schema.items() if key != "serialization"})

    @property
    def place(self) -> tuple[int, int]:
        """Its place in a list."""
        return self.stage, self.position

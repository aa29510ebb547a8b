"""The parts of Haystack that the tests of the integration take, and a tool of theirs."""

from __future__ import annotations

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # it is read when Haystack is imported

from haystack import Document, Pipeline, component, tracing
from haystack.components.agents import Agent
from haystack.components.builders import AnswerBuilder, ChatPromptBuilder, PromptBuilder
from haystack.components.converters import TextFileToDocument
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import tool
from haystack.utils import Secret

from veritrail_record.haystack import RecordingTracer, instrument

__all__ = [
    "Agent",
    "AnswerBuilder",
    "ChatMessage",
    "ChatPromptBuilder",
    "Document",
    "DocumentJoiner",
    "DocumentSplitter",
    "DocumentWriter",
    "InMemoryBM25Retriever",
    "InMemoryDocumentStore",
    "OpenAIChatGenerator",
    "Pipeline",
    "PromptBuilder",
    "RecordingTracer",
    "Secret",
    "TextFileToDocument",
    "component",
    "instrument",
    "read",
    "tool",
    "tracing",
]


@tool
def read(n: int) -> str:
    """Read a page."""
    return f"Page {n} says that the quay opened in 1901."

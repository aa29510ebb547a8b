"""The parts of LangChain and LangGraph that the tests take, and parts of their own."""

from __future__ import annotations

from typing import Any

import openai
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import StructuredTool, tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from veritrail_record.langchain import RecordingHandler

__all__ = [
    "END",
    "PAGES",
    "PROMPT",
    "START",
    "ChatOpenAI",
    "ChatPromptTemplate",
    "Command",
    "Document",
    "HumanMessage",
    "JsonOutputParser",
    "MessagesState",
    "Pages",
    "RecordingHandler",
    "RunnableLambda",
    "RunnablePassthrough",
    "StateGraph",
    "StrOutputParser",
    "StructuredTool",
    "ToolMessage",
    "ToolNode",
    "openai",
    "read",
    "tool",
]

PAGES = ["The quay opened in 1901, on a Sunday.", "The lighthouse burned down in March 1910."]


class Pages(BaseRetriever):
    """Returns all pages."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page, metadata={"page": n}) for n, page in enumerate(PAGES)]


PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Be brief."), ("user", "Pages:\n{context}\n\nQuestion: {question}")]
)


@tool
def read(n: int) -> str:
    """Read a page."""
    return PAGES[n]

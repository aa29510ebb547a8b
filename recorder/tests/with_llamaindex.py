"""The parts of LlamaIndex that the tests of the integration take, and models of their own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import openai
from llama_index.core import SummaryIndex, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CustomLLM,
    LLMMetadata,
)
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool, QueryEngineTool
from llama_index.core.workflow import Event, StartEvent, StopEvent, Workflow, step

from veritrail_record.llamaindex import instrument

__all__ = [
    "Asked",
    "ChatMessage",
    "Event",
    "FunctionAgent",
    "FunctionTool",
    "MetadataReplacementPostProcessor",
    "MockEmbedding",
    "NodeWithScore",
    "QueryEngineTool",
    "Served",
    "StartEvent",
    "StopEvent",
    "SummaryIndex",
    "TextNode",
    "VectorStoreIndex",
    "Workflow",
    "get_dispatcher",
    "instrument",
    "openai",
    "step",
]


class Served(CustomLLM):
    """A model that completes prompts; its chats are completions, as `CustomLLM` makes them."""

    url: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="m")

    def _ask(self, client: Any, prompt: str, **more: Any) -> Any:
        messages = [{"role": "user", "content": prompt}]
        return client.chat.completions.create(model="m", messages=messages, **more)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        with openai.OpenAI(base_url=self.url, api_key="none", max_retries=0) as client:
            reply = self._ask(client, prompt)
        return CompletionResponse(text=reply.choices[0].message.content, raw=reply)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        def pieces() -> Iterator[CompletionResponse]:
            text = ""
            with openai.OpenAI(base_url=self.url, api_key="none", max_retries=0) as client:
                for chunk in self._ask(client, prompt, stream=True):
                    delta = chunk.choices[0].delta.content or ""
                    text += delta
                    yield CompletionResponse(text=text, delta=delta, raw=chunk)

        return pieces()


class Asked(FunctionCallingLLM):
    """A model with tools, awaited only."""

    url: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="m", is_function_calling_model=True, is_chat_model=True)

    def _prepare_chat_with_tools(self, tools: Any, chat_history: Any = None, **_: Any) -> Any:
        return {"messages": chat_history, "tools": [one.metadata.to_openai_tool() for one in tools]}

    def get_tool_calls_from_response(self, response: Any, **_: Any) -> list[ToolSelection]:
        calls = response.message.additional_kwargs.get("tool_calls", ())
        return [
            ToolSelection(
                tool_id=one["id"],
                tool_name=one["function"]["name"],
                tool_kwargs=json.loads(one["function"]["arguments"]),
            )
            for one in calls
        ]

    @llm_chat_callback()
    async def achat(self, messages: Any, **more: Any) -> ChatResponse:
        return await self._reply(messages, more)

    @llm_chat_callback()
    async def astream_chat(self, messages: Any, **more: Any) -> Any:
        async def pieces() -> AsyncIterator[ChatResponse]:
            yield await self._reply(messages, more)

        return pieces()

    async def _reply(self, messages: Any, more: dict[str, Any]) -> ChatResponse:
        sent = [
            {"role": one.role.value, "content": one.content, **one.additional_kwargs}
            for one in messages
        ]
        async with openai.AsyncOpenAI(base_url=self.url, api_key="none", max_retries=0) as client:
            reply = await client.chat.completions.create(model="m", messages=sent, **more)
        said = reply.choices[0].message
        calls = [one.model_dump() for one in said.tool_calls or ()]
        extra = {"tool_calls": calls} if calls else {}
        message = ChatMessage(role="assistant", content=said.content, additional_kwargs=extra)
        return ChatResponse(message=message, delta=said.content or "", raw=reply)

    def chat(self, messages: Any, **_: Any) -> Any: ...
    def stream_chat(self, messages: Any, **_: Any) -> Any: ...
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any: ...
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any: ...
    async def acomplete(self, prompt: str, formatted: bool = False, **_: Any) -> Any: ...
    async def astream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any: ...

"""The attributes and events of a span as a call: its kind, what it was given, and what it gave.

Tracers write one text into several attributes, in forms of their own. The form that is read first
is taken. A text that stands elsewhere alone is not read: the name of its attribute is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from veritrail_graph.graph.importers.traces import parts, unread, vendors
from veritrail_graph.graph.importers.traces.calls import Call, CallKind, writing_model
from veritrail_graph.graph.importers.traces.texts import everything, pieces, unfold
from veritrail_graph.graph.importers.traces.values import from_dotted, text_or_none

_KINDS = {
    "LLM": CallKind.GENERATION,
    "CHAT": CallKind.GENERATION,
    "CHAT_MODEL": CallKind.GENERATION,
    "COMPLETION": CallKind.GENERATION,
    "GENERATION": CallKind.GENERATION,
    "AGENT": CallKind.AGENT,
    "TOOL": CallKind.TOOL,
    "FUNCTION": CallKind.TOOL,
    "RETRIEVER": CallKind.RETRIEVER,
    "RETRIEVAL": CallKind.RETRIEVER,
    "RERANKER": CallKind.RETRIEVER,
    "EVALUATOR": CallKind.JUDGE,
    "GUARDRAIL": CallKind.JUDGE,
}
_OPERATIONS = {
    "chat": CallKind.GENERATION,
    "text_completion": CallKind.GENERATION,
    "completion": CallKind.GENERATION,
    "generate_content": CallKind.GENERATION,
    "responses": CallKind.GENERATION,
    "call_llm": CallKind.GENERATION,
    "llm_call": CallKind.GENERATION,
    "execute_tool": CallKind.TOOL,
    "tool": CallKind.TOOL,
    "tool_call": CallKind.TOOL,
    "retrieval": CallKind.RETRIEVER,
    "retrieve": CallKind.RETRIEVER,
    "rerank": CallKind.RETRIEVER,
    "search_memory": CallKind.RETRIEVER,
    "retrieve_memory": CallKind.RETRIEVER,
    "invoke_agent": CallKind.AGENT,
    "evaluate": CallKind.JUDGE,
    "guardrail": CallKind.JUDGE,
    "apply_guardrail": CallKind.JUDGE,
}
_DOCUMENTS = (
    "retrieval.documents", "reranker.output_documents", "gen_ai.retrieval.documents",
    "gen_ai.memory.records", "gen_ai.rerank.documents", "db.response.documents",
)  # fmt: skip
"""Attributes with what was looked up, as JSON or one below the other."""
_MODELS = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model", "ai.model.id")
_CALL_IDS = ("gen_ai.tool.call.id", "tool.id", "tool_call.id", "ai.toolCall.id")
_INSTRUCTIONS = "gen_ai.system_instructions"
_EVERYTHING = ("pydantic_ai.all_messages", "all_messages_events")
"""Attributes with all messages of a run, its answer among them."""
_RESULTS = ("db.query.result", "db.search.result")
"""Events of vector stores, one for each result."""
_SIDES = {"input": "user", "output": "assistant"}
"""Events of messages that are named after their side, and who says them where they do not say."""
_EMPTY: tuple[Any, ...] = (None, "", "{}", "[]", "null", [], {})


def call_of(span: Mapping[str, Any]) -> tuple[Call, list[tuple[str, str]]]:
    """The call that a span records, and its texts elsewhere, each with its attribute or event."""
    own = span["attributes"]
    events = [*vendors.noted(own), *span["events"]]
    by_events = _of_events(events)
    flat = {**by_events, **own}
    tree = from_dotted(flat)
    noted = _noted_whole(flat)
    if noted is None:
        kind = _kind(flat, tree)
        given, made = _texts(flat, tree, kind)
        if kind in (CallKind.GENERATION, CallKind.AGENT):
            given = _with_noted(given, by_events.get("gen_ai.input.messages"))
            made = _with_noted(made, by_events.get("gen_ai.output.messages"))
    else:
        kind, given, made = noted
    model = next((flat[name] for name in _MODELS if flat.get(name)), None)
    model = vendors.endpoint_of(flat) if model is None else model
    noted_there = [one["attributes"] for one in events]
    done = (vendors.kind_of(flat), flat.get("gen_ai.operation.name"), flat.get("llm.request.type"))
    call = Call(
        span["span_id"], vendors.name_of(flat) or span["name"], kind, span["parent_id"],
        span["start"], span["end"], given, made, writing_model(model, *done, span["name"]),
        link=_link(flat, kind), error=_error(flat, events, span.get("status")),
        beside=[field for held in (own, *noted_there) for field in unread.beside(held)],
    )  # fmt: skip
    return call, unread.kept_apart(own, events, (given, made))


def kind_of_span(span: Mapping[str, Any]) -> CallKind:
    """Return the kind of a span, whatever its events say."""
    own = span["attributes"]
    return _kind(own, from_dotted(own))


def _error(
    flat: Mapping[str, Any], events: Iterable[Mapping[str, Any]], status: str | None
) -> str | None:
    """The message of the error that a span ended with; that of its status says most."""
    noted = (one["attributes"] for one in events if one.get("name") == "exception")
    said = [about.get("exception.message") for about in (flat, *noted)]
    every = [one for one in (status, *said, flat.get("error.message")) if text_or_none(one)]
    return (
        "; ".join(
            one
            for place, one in enumerate(every)
            if not any(one in other for other in every[:place])
        )
        or None
    )


def _link(flat: Mapping[str, Any], kind: CallKind) -> str | None:
    """The id of the tool call that the span of a tool answers."""
    return text_or_none(_first(flat, *_CALL_IDS)) if kind is CallKind.TOOL else None


def _kind(flat: Mapping[str, Any], tree: Mapping[str, Any]) -> CallKind:
    kind = vendors.kind_of(flat)
    if kind in _KINDS:
        return _KINDS[kind]
    vercel = vendors.operation_of_vercel(flat)
    if vercel is not None:
        return CallKind.TOOL if vercel == "ai.toolCall" else CallKind.GENERATION
    operation = str(flat.get("gen_ai.operation.name") or flat.get("llm.request.type") or "")
    found = _OPERATIONS.get(operation)
    if found is None and not kind:
        found = vendors.component_of_haystack(flat)
        if found is None and vendors.is_model_call(flat):
            found = CallKind.GENERATION
    if found is not None:
        return found
    if _documents(flat, tree) is not None:
        return CallKind.RETRIEVER
    if any(name in flat for name in _EVERYTHING):
        return CallKind.AGENT
    if not kind and any(name.startswith(("gen_ai.completion", "gen_ai.output")) for name in flat):
        return CallKind.AGENT if operation == "invoke_workflow" else CallKind.GENERATION
    return CallKind.OTHER


def _texts(flat: Mapping[str, Any], tree: Mapping[str, Any], kind: CallKind) -> tuple[Any, Any]:
    """Return what a span was given and what it gave, in the first form that holds text."""
    of_vercel = vendors.of_vercel(flat) or (None, None)
    if of_vercel != (None, None):
        return _instructed(flat, of_vercel[0]), of_vercel[1]
    llm, gen_ai = _part(tree, "llm"), _part(tree, "gen_ai")
    given: list[Any] = []
    made: list[Any] = []
    if kind in (CallKind.GENERATION, CallKind.AGENT):
        given += [_messages(llm.get("input_messages")), _messages(gen_ai.get("prompt"))]
        given += [_json(flat.get("gen_ai.input.messages"))]
        given += [_prompts(llm, "prompts", "prompt")]
        made += [_messages(llm.get("output_messages")), _messages(gen_ai.get("completion"))]
        made += [_json(flat.get("gen_ai.output.messages")), _prompts(llm, "choices", "completion")]
    elif kind is CallKind.RETRIEVER:
        names = ("gen_ai.retrieval.query.text", "gen_ai.memory.query.text", "db.query.text")
        given += [flat.get(name) for name in names]
        made += [_documents(flat, tree)]
    elif kind is CallKind.TOOL:
        given += [flat.get("gen_ai.tool.call.arguments")]
        given += [_content(flat.get("gen_ai.input.messages"))]
        made += [flat.get("gen_ai.tool.call.result")]
        made += [_content(flat.get("gen_ai.output.messages"))]
    whole = next((found for name in _EVERYTHING if (found := _json(flat.get(name)))), None)
    if isinstance(whole, list) and not any(one not in _EMPTY for one in (*given, *made)):
        asked, told = _parted(whole, _json_or(flat.get("final_result")))
        given, made = [asked], [told]
    given += [_value(flat, name) for name in vendors.GIVEN]
    made += [_value(flat, name) for name in vendors.MADE]
    return _instructed(flat, _best(given)), _best(made)


def _parted(messages: list[Any], result: Any) -> tuple[list[Any], list[Any]]:
    """Return the messages of a run: up to what was said last, and what a model wrote then.

    Args:
        messages: All of them.
        result: What the run returned, which may be no message.
    """
    begins = len(messages)
    while begins and not any(one.role == "user" for one in pieces(messages[begins - 1])):
        begins -= 1
    told = messages[begins:]
    said = "\n".join(one.text for one in pieces(told))
    if any(one.text not in said for one in pieces(result)):
        told = [*told, {"role": "assistant", "content": result}]
    return messages[:begins], told


def _with_noted(form: Any, noted: Any) -> Any:
    """Messages in the form that is read, with those that events note besides."""
    if form in _EMPTY or noted is None:
        return form
    known = "\n".join(" ".join(one.text.split()) for one in everything(form))
    more = []
    for message in _listed(_json(noted)):
        texts = [" ".join(one.text.split()) for one in pieces(message)]
        if any(one not in known and (not known or known not in one) for one in texts):
            more.append(message)
    listed = _json_or(form)
    return [*(listed if isinstance(listed, list) else [form]), *more] if more else form


def _best(forms: Iterable[Any]) -> Any:
    """Return the first form that holds a text or a call, else the first that is none."""
    kept = [one for one in forms if one not in _EMPTY]
    return next((one for one in kept if not _is_bare(one)), kept[0] if kept else None)


def _is_bare(value: Any) -> bool:
    """Return whether messages hold nothing but who said them."""
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and all(name == "role" or inner in _EMPTY for name, inner in one.items())
        for one in value
    )


def _instructed(flat: Mapping[str, Any], given: Any) -> Any:
    """Return what a model was given, with its instructions from an attribute of their own."""
    said = flat.get(_INSTRUCTIONS)
    if said in _EMPTY:
        return given
    system = {"role": "system", "content": _json_or(said)}
    listed = _json(given)  # one attribute may hold all messages as JSON
    given = listed if isinstance(listed, list) else given
    if isinstance(given, list):
        return [system, *given]
    return [system] if given is None else [system, {"role": "user", "content": given}]


def _documents(flat: Mapping[str, Any], tree: Mapping[str, Any]) -> list[Any] | None:
    """The documents that a span lists; None: it lists none."""
    for name in _DOCUMENTS:
        found = _json(flat.get(name))
        if found is None:
            inner: Any = tree
            for part in name.split("."):
                inner = inner.get(part) if isinstance(inner, dict) else None
            found = inner
        if isinstance(found, list) and found:
            return [
                one.get("document", one) if isinstance(one, dict) else {"page_content": one}
                for one in found
            ]
    return None


def _found(about: Mapping[str, Any]) -> dict[str, Any] | None:
    """The document that an event of a vector store notes; None: it notes none."""
    held = {name.rpartition(".")[2]: _json_or(one) for name, one in about.items()}
    metadata = held.get("metadata")
    inner = held.get("entity", held.get("payload", metadata))
    text = held.get("document", held.get("text", held.get("content")))
    if text is None and isinstance(inner, dict):
        text = _first(inner, "document", "text", "content", "page_content", "chunk", "chunk_text")
    if not isinstance(text, str) or not text.strip():
        return None
    return {"page_content": text, "metadata": inner, "id": held.get("id")}


def _prompts(llm: Mapping[str, Any], names: str, name: str) -> list[Any] | None:
    """Prompts and completions of OpenInference that are no messages."""
    found = llm.get(names)
    if not isinstance(found, list):
        return None
    inner = [one.get(name, one) if isinstance(one, dict) else one for one in found]
    return [one.get("text", one) if isinstance(one, dict) else one for one in inner]


def _content(messages: Any) -> Any:
    """Return what a tool was given or gave, where events note it as a message: nobody said it."""
    listed = _json(messages)
    only = listed[0] if isinstance(listed, list) and len(listed) == 1 else None
    is_told = isinstance(only, dict) and only.get("role") in ("assistant", "tool", "user")
    return only.get("content", only.get("parts")) if is_told and only is not None else None


def _part(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = tree.get(name)
    return part if isinstance(part, dict) else {}


def _first(flat: Mapping[str, Any], *names: str) -> Any:
    return next((flat[name] for name in names if flat.get(name) not in (None, "")), None)


def _value(flat: Mapping[str, Any], name: str) -> Any:
    found = flat.get(name)
    if name in vendors.REQUESTS:
        return vendors.messages_of_request(_json_or(found))
    return _json_or(found) if name.startswith(("mlflow.", "haystack.")) else found


def _json(value: Any) -> Any:
    return unfold(value) if isinstance(value, str) else value


def _json_or(value: Any) -> Any:
    unfolded = _json(value)
    return value if unfolded is None else unfolded


# Messages.


def _messages(value: Any) -> list[Any] | None:
    """Messages of attributes: OpenInference has each under `message`."""
    if not isinstance(value, list):
        return None
    found = []
    for one in value:
        message = one if isinstance(one, dict) else {"content": one}
        inner = message.get("message")
        if isinstance(inner, dict):  # AutoGen writes results beside it
            message = {**message, **inner}
            message.pop("message")
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            message = {**message, "tool_calls": [_tool_call(call) for call in calls]}
        listed = message.get("contents")
        if isinstance(listed, list) and "content" not in message:
            held = [part.get("message_content", part) for part in listed if isinstance(part, dict)]
            message = {**message, "content": held}
        results = list(_results(message))
        found += results or [{"role": "assistant", "content": "", **message}]
    return found


def _results(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the results of tools that AutoGen lists below `function`, as messages."""
    listed = message.get("function")
    if not isinstance(listed, list) or message.get("content"):
        return
    for one in map(_json_or, listed):
        if isinstance(one, dict) and "content" in one:
            link = one.get("call_id") or one.get("name")
            yield {"role": "tool", "content": one["content"], "tool_call_id": link}


def _tool_call(call: Any) -> Any:
    return call.get("tool_call", call) if isinstance(call, dict) else call


# Events.


def _of_events(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what GenAI events hold, as the attributes that others use in their place."""
    given: list[Any] = []
    made: list[Any] = []
    found_there: list[Any] = []
    instructions: Any = None
    for event in events:
        name, about = str(event.get("name")), _about(event)
        instructions = instructions or _json(about.get(_INSTRUCTIONS))
        given += _listed(_json(about.get("gen_ai.input.messages")))
        made += _listed(_json(about.get("gen_ai.output.messages")))
        if name in _RESULTS and (document := _found(about)) is not None:
            found_there.append(document)
        elif name == "gen_ai.content.prompt":
            given += _listed(_json_or(about.get("gen_ai.prompt") or about.get("content")))
        elif name == "gen_ai.content.completion":
            made += _listed(_json_or(about.get("gen_ai.completion") or about.get("content")))
        elif name == "gen_ai.choice":
            made.append(_said(about, "assistant"))
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            side = name.split(".")[1]
            role = about.get("role") if side in _SIDES else side
            to = made if side == "output" else given
            to.append(_said(about, str(role or _SIDES.get(side, "user"))))
        else:
            given += _exchanged(about, "input")
            made += _exchanged(about, "output")
    if not made:  # of Logfire: the answer is one message more
        begins = len(given)
        while begins and _is_of_model(given[begins - 1]):
            begins -= 1
        given, made = given[:begins], given[begins:]
    found = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps(made)}
    found |= {"gen_ai.retrieval.documents": json.dumps(found_there)} if found_there else {}
    found |= {_INSTRUCTIONS: json.dumps(instructions)} if instructions else {}
    return {key: value for key, value in found.items() if value != "[]"}


def _is_of_model(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") in ("assistant", "model")


def _about(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of an event, with the body that some products write beside them."""
    about = dict(event["attributes"])
    for held in (about.get("gen_ai.event.content"), about.get("body"), event.get("body")):
        body = _json_or(held)
        if isinstance(body, dict):
            about |= {key: inner for key, inner in body.items() if about.get(key) in _EMPTY}
        elif body not in _EMPTY and about.get("content") in _EMPTY:
            about["content"] = body
    return about


def _noted_whole(flat: Mapping[str, Any]) -> tuple[CallKind, Any, Any] | None:
    """A call of LangChain that an event holds as two messages, whatever ran; None: it is none."""
    if "gen_ai.operation.name" in flat or vendors.kind_of(flat) in _KINDS:
        return None
    asked, told = (_content(flat.get(f"gen_ai.{side}.messages")) for side in ("input", "output"))
    if not isinstance(told, dict):
        return None
    if "generations" in told:
        return CallKind.GENERATION, asked, told
    if told.get("type") == "tool":
        return CallKind.TOOL, asked, told
    return (CallKind.OTHER, asked, told) if "messages" in told else None


def _exchanged(about: Mapping[str, Any], side: str) -> list[Any]:
    """The messages of one side of an exchange that is noted as a whole."""
    held = _json_or(about.get(side))
    messages = held.get("messages") if isinstance(held, dict) else None
    return [
        {**one, "content": _json_or(one.get("content"))} if isinstance(one, dict) else one
        for one in _listed(messages)
    ]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _said(about: Mapping[str, Any], role: str) -> dict[str, Any]:
    """A message of an event; where a list of parts or a text is the message, it is the content."""
    message = _json_or(about.get("message"))
    if isinstance(message, (list, str)) and message:
        about, message = {**about, "content": message}, None
    inner = message if isinstance(message, dict) else about
    if about.get("tool_calls") and not inner.get("tool_calls"):  # of a choice, beside its message
        inner = {**inner, "tool_calls": about["tool_calls"]}
    known = {key: _json_or(inner.get(key)) for key in ("content", "tool_calls") if inner.get(key)}
    known |= {key: one for key, one in inner.items() if parts.is_thought_field(str(key))}
    if inner.get("parts"):
        known.setdefault("content", _json_or(inner["parts"]))
    link = (inner.get("id") or inner.get("tool_call_id")) if role == "tool" else None
    return {"role": role, "content": "", **known, **({"tool_call_id": link} if link else {})}

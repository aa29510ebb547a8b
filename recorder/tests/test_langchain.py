"""`veritrail_record.langchain` on the installed `langchain-core` and `langgraph`, over loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import pytest
from fakes.lazily import import_into
from recorded_file import checked, edges, lines, nodes

import veritrail_record as vr
from veritrail_graph.graph.importers.explicit import ExplicitInput
from veritrail_graph.graph.importers.registry import open_input
from veritrail_graph.graph.ingest.check import survey

if TYPE_CHECKING:
    from with_langchain import (
        END,
        PAGES,
        PROMPT,
        START,
        ChatOpenAI,
        ChatPromptTemplate,
        Command,
        Document,
        HumanMessage,
        JsonOutputParser,
        MessagesState,
        Pages,
        RecordingHandler,
        RunnableLambda,
        RunnablePassthrough,
        StateGraph,
        StrOutputParser,
        StructuredTool,
        ToolMessage,
        ToolNode,
        openai,
        read,
        tool,
    )

pytestmark = pytest.mark.slow  # the library takes seconds to import

ROOT = Path(__file__).resolve().parents[2]
ASKED = "When did the quay open, and what burned down?"
CALLS = [
    {"id": f"t{n}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {n}}}'}}
    for n in range(2)
]


def script(body: dict[str, Any]) -> list[dict[str, Any]] | int:
    if "input" in body:  # of the responses API
        asked = body["input"][-1]
        if asked.get("type") != "function_call_output":
            call = {"type": "function_call", "name": "read", "call_id": "t0"}
            return [{"text": "I will read."}, {**call, "arguments": '{"n": 0}'}]
        return [{"text": f"An answer to {len(asked['output'])} letters."}]
    last = body["messages"][-1]
    if body["model"] == "fails":
        return 400
    if body["model"] == "json":
        return [
            {"content": json.dumps({"fact": f"Structured fact of {len(last['content'])} letters."})}
        ]
    if body.get("tools") and last["role"] != "tool":
        return [{"content": None, "tool_calls": CALLS}]
    return [{"content": f"An answer to {len(last['content'])} letters."}]


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    import_into(globals(), "with_langchain")


def model(url: str, name: str = "scripted", **options: Any) -> ChatOpenAI:
    return ChatOpenAI(base_url=url, api_key="none", model=name, max_retries=0, **options)


def joined(documents: list[Document]) -> str:
    return "\n\n".join(one.page_content for one in documents)


def rag(url: str) -> Any:
    given = {"context": Pages() | joined, "question": RunnablePassthrough()}
    return given | PROMPT | model(url) | StrOutputParser()


def run_of(how: str, chain: Any, given: Any, config: Any) -> Any:
    """Invoke a chain in one of the ways that there are."""

    async def streamed() -> list[Any]:
        return [one async for one in chain.astream(given, config)]

    if how == "sync":
        return chain.invoke(given, config)
    if how == "stream":
        return list(chain.stream(given, config))
    if how == "async":
        return asyncio.run(chain.ainvoke(given, config))
    return asyncio.run(streamed())


WAYS = pytest.mark.parametrize("how", ["sync", "stream", "async", "astream"])


@WAYS
def test_documents_lead_to_the_answer_of_a_chain(url, file, how):
    with vr.record(path=file, quiet=True) as run:
        reply = run_of(how, rag(url), ASKED, {"callbacks": [RecordingHandler()]})
        text = reply if isinstance(reply, str) else "".join(reply)
        run.answer(text)
    by_id = nodes(file)
    assert [(one["text"], one["origin"], one["kind"]) for one in by_id.values()] == [
        (PAGES[0], "source", "document"),
        (PAGES[1], "source", "document"),
        (text, "generated", "message"),
    ]
    assert by_id["Pages/1"]["metadata"] == {"page": 0}
    assert by_id["chat/1"]["metadata"]["model"] == "scripted-1"
    assert edges(file) == {("Pages/1", "chat/1"), ("Pages/2", "chat/1")}
    assert {one["edge"]["inferred"] for one in lines(file) if "edge" in one} == {"exact"}
    found = checked(file)
    assert (found.terminals, found.unsourced) == (("chat/1",), 0)
    assert survey(ExplicitInput(open_input(file))).unsourced == 1


SHORT = ["The quay opened in 1901, on a Sunday.", "Other page of nothing.", "Odd", "7"]


@WAYS
def test_short_documents_are_recorded_once_and_lead_to_the_answer(url, file, how):
    search = RunnableLambda(lambda _: [Document(one) for one in SHORT])
    prompt = ChatPromptTemplate.from_template("Answer from these pages, of 27: {pages}")
    chain = {"pages": search} | prompt | model(url)
    with vr.record(path=file, quiet=True):
        run_of(how, chain, ASKED, {"callbacks": [RecordingHandler()]})
    found = [(one["text"], one["origin"]) for one in nodes(file).values()]
    assert found[:-1] == [(one, "source") for one in SHORT]
    assert {source for source, _ in edges(file)} == {f"RunnableLambda/{n}" for n in range(1, 5)}
    assert checked(file).unsourced == 0


def test_a_short_document_that_only_stands_in_words_of_a_prompt_is_no_input(url, file):
    search = RunnableLambda(lambda _: [Document("7"), Document("quay open")])
    config: Any = {"callbacks": [RecordingHandler()]}
    with vr.record(path=file, quiet=True):
        search.invoke(ASKED, config)
        model(url).invoke("Did the quay opening take 7 days?", config)
        model(url).invoke("Is the quay open?", config)
    assert edges(file) == {("user/1", "chat/1"), ("RunnableLambda/2", "chat/2")}


def agent(url: str, **options: Any) -> Any:
    bound = model(url, **options).bind_tools([read])

    def ask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [bound.invoke(state["messages"])]}

    async def aask(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("agent", RunnableLambda(ask, aask))
    graph.add_node("tools", ToolNode([read]))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges(
        "agent", lambda state: "tools" if state["messages"][-1].tool_calls else END
    )
    graph.add_edge("tools", "agent")
    return graph.compile()


@WAYS
def test_an_agent_with_tools_is_linked_by_the_ids_of_its_calls(url, file, how):
    with vr.record(path=file, quiet=True):
        given = {"messages": [HumanMessage(ASKED)]}
        run_of(how, agent(url), given, {"callbacks": [RecordingHandler()]})
    by_text = {one["text"]: one for one in nodes(file).values()}
    assert {text: (one["origin"], one["kind"], one["step"]) for text, one in by_text.items()} == {
        ASKED: ("given", "user", "user"),
        'read({"n": 0})': ("generated", "tool_call", "agent"),
        'read({"n": 1})': ("generated", "tool_call", "agent"),
        PAGES[0]: ("source", "tool_result", "read"),
        PAGES[1]: ("source", "tool_result", "read"),
        f"An answer to {len(PAGES[1])} letters.": ("generated", "message", "agent"),
    }
    asked, answer = by_text[ASKED]["node_id"], "agent/3"
    assert edges(file) == {
        (asked, "agent/1"), (asked, "agent/2"), (asked, answer), ("agent/1", answer),
        ("agent/2", answer), (by_text[PAGES[0]]["node_id"], answer),
        (by_text[PAGES[1]]["node_id"], answer),
    }  # fmt: skip
    found = checked(file)
    assert (found.terminals, found.unsourced) == ((answer,), 1)
    explicit = survey(ExplicitInput(open_input(file)))
    assert len(explicit.topology.edge_sources) == len(found.topology.edge_sources) == 7


@pytest.mark.parametrize("how", ["sync", "stream"])
def test_answers_in_blocks_are_linked_too(url, file, how):
    graph = agent(url, use_responses_api=True, output_version="v1", streaming=how == "stream")
    with vr.record(path=file, quiet=True):
        graph.invoke({"messages": [HumanMessage(ASKED)]}, {"callbacks": [RecordingHandler()]})
    found = [(one["node_id"], one["text"]) for one in nodes(file).values()]
    assert found == [
        ("user/1", ASKED),
        ("agent/1", "I will read."),
        ("agent/2", 'read({"n": 0})'),
        ("read/1", PAGES[0]),
        ("agent/3", f"An answer to {len(PAGES[0])} letters."),
    ]
    inputs = {(one, "agent/3") for one in ("user/1", "agent/1", "agent/2", "read/1")}
    assert edges(file) == {("user/1", "agent/1"), ("user/1", "agent/2"), *inputs}


class State(TypedDict, total=False):
    question: str
    documents: list[Document]
    fact: str
    answer: str


def test_nodes_of_a_graph_are_steps_and_what_they_look_up_is_source_text(url, file):
    def look_up(state: State) -> State:
        return {"documents": [Document(one) for one in PAGES]}

    def extract(state: State) -> State:
        prompt = ChatPromptTemplate.from_template("As JSON: {context}")
        chain = prompt | model(url, "json") | JsonOutputParser()
        return {"fact": chain.invoke({"context": joined(state["documents"])})["fact"]}

    def write(state: State) -> State:
        said = model(url).invoke(f"Write it up: {state['fact']}").content
        return {"answer": str(said).upper() + " THAT IS ALL."}

    graph = StateGraph(State)
    for function in (look_up, extract, write):
        graph.add_node(function.__name__, function)
    graph.add_edge(START, "look_up")
    graph.add_edge("look_up", "extract")
    graph.add_edge("extract", "write")
    with vr.record(path=file, quiet=True) as run:
        reply = graph.compile().invoke({"question": ASKED}, {"callbacks": [RecordingHandler()]})
        run.answer(reply["answer"])
    found = [(one["node_id"], one["kind"], one["origin"]) for one in nodes(file).values()]
    assert found == [
        ("look_up/1", "document", "source"),
        ("look_up/2", "document", "source"),
        ("extract/1", "message", "generated"),
        ("extract/2", "text", "generated"),
        ("write/1", "message", "generated"),
        ("write/2", "text", "generated"),
    ]
    assert {
        ("look_up/1", "extract/1"), ("look_up/2", "extract/1"), ("extract/1", "extract/2"),
        ("extract/2", "write/1"), ("write/1", "write/2"),
    } <= edges(file)  # fmt: skip
    assert checked(file).terminals == ("write/2",)


def test_a_tool_that_searches_or_asks_a_model_inside_is_no_source_text(url, file):
    @tool
    def search(query: str) -> str:
        """Search pages."""
        return joined(Pages().invoke(query))

    @tool
    def ask(query: str) -> str:
        """Ask somebody."""
        return f"They said: {model(url).invoke(query).content}"

    config: Any = {"callbacks": [RecordingHandler()]}
    with vr.record(path=file, quiet=True):
        for one, number in ((search, "t1"), (ask, "t2")):
            call: Any = {
                "name": one.name,
                "args": {"query": ASKED},
                "id": number,
                "type": "tool_call",
            }
            one.invoke(call, config)
    found = {one["node_id"]: one["origin"] for one in nodes(file).values()}
    assert found == {
        "Pages/1": "source", "Pages/2": "source", "search/1": "generated", "user/1": "given",
        "chat/1": "generated", "ask/1": "generated",
    }  # fmt: skip
    assert edges(file) == {
        ("Pages/1", "search/1"), ("Pages/2", "search/1"), ("user/1", "chat/1"),
        ("chat/1", "ask/1"),
    }  # fmt: skip


def test_a_stream_that_is_left_early_and_calls_that_fail(url, file, caplog):
    config: Any = {"callbacks": [RecordingHandler()]}
    with vr.record(path=file, quiet=True):
        stream = model(url).stream("Tell me.", config)
        for piece in stream:
            if piece.content:
                break
        stream.close()
        with pytest.raises(openai.BadRequestError):
            (PROMPT | model(url, "fails")).invoke({"context": "c", "question": ASKED}, config)
        with pytest.raises(ZeroDivisionError):
            RunnableLambda(lambda _: 1 / 0).invoke("x", config)
    by_id = nodes(file)
    assert by_id["chat/1"]["text"] == "An an"
    assert by_id["chat/1"]["metadata"]["incomplete"] is True
    assert list(by_id) == ["user/1", "chat/1", "user/2"]
    assert config["callbacks"][0]._runs == {}
    assert not caplog.records


def test_runs_in_threads_go_to_the_recording_that_was_handed_over(url, file):
    with vr.record(path=file, quiet=True) as run:
        pass
    handler = RecordingHandler(run)
    rag(url).invoke(ASKED, {"callbacks": [handler]})  # closed: nothing happens
    run = vr.record(path=file, quiet=True)
    chain = rag(url).with_config({"callbacks": [RecordingHandler(run)]})
    chain.batch([f"{ASKED} {number}" for number in range(8)])
    run.close()
    found = [one["origin"] for one in nodes(file).values()]
    assert (found.count("source"), found.count("generated")) == (2, 8)
    assert len(edges(file)) == 16


def test_what_tools_return_besides_texts(file):
    @tool
    def count(n: int) -> dict[str, Any]:
        """Count."""
        return {"update": "weekly", "count": n}

    @tool
    def note(n: int) -> Any:
        """Note."""
        return Command(update={"messages": [ToolMessage(PAGES[n], tool_call_id="t1")]})

    @tool(response_format="content_and_artifact")
    def find(n: int) -> tuple[str, list[Document]]:
        """Find."""
        return f"Page {n} was found.", [Document(PAGES[n])]

    handler = RecordingHandler()
    config: Any = {"callbacks": [handler, handler]}  # twice: recorded once
    with vr.record(path=file, quiet=True) as run:
        run.step("7", step="early")
        for number, one in enumerate((count, note, find)):
            call: Any = {"name": one.name, "args": {"n": 1}, "id": f"t{number}"}
            one.invoke({**call, "type": "tool_call"}, config)
        RunnableLambda(lambda _: {"results": ["7", PAGES[0]]}).invoke("x", config)
        StructuredTool.from_function(lambda: "7", name="seven", description="7").invoke({}, config)
    found = [(one["node_id"], one["text"], one["origin"]) for one in nodes(file).values()]
    assert found == [
        ("early/1", "7", "generated"),
        ("count/1", '{"update": "weekly", "count": 1}', "source"),
        ("note/1", PAGES[1], "source"),
        ("find/1", "Page 1 was found.", "source"),
        ("RunnableLambda/1", PAGES[0], "source"),
        ("seven/1", "7", "source"),
    ]
    assert edges(file) == set()


def test_fields_of_documents_are_those_of_the_importers_of_traces():
    from veritrail_graph.graph.importers.traces.texts import DOCUMENT_KEYS
    from veritrail_record import langchain

    assert langchain.DOCUMENT_KEYS == DOCUMENT_KEYS


def test_the_example_of_the_docs_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    section = (ROOT / "docs" / "recorder.md").read_text().split("## LangChain and LangGraph")[1]
    exec(section.split("```python\n")[1].split("```")[0], {})
    found = nodes(Path("quay.jsonl")).values()
    assert [(one["text"], one["origin"]) for one in found] == [
        ("The quay opened in 1901, on a Sunday.", "source"), ("It opened in 1901.", "generated"),
    ]  # fmt: skip
    assert len(edges(Path("quay.jsonl"))) == 1


def test_what_goes_wrong_is_logged_and_the_chain_goes_on(url, file, caplog):
    class Odd(str):
        """A text whose parts cannot be read."""

        def __len__(self) -> int:
            raise RuntimeError("no length")

    config: Any = {"callbacks": [RecordingHandler()]}
    with vr.record(path=file, quiet=True):
        assert RunnableLambda(lambda _: Odd("text")).invoke("x", config) == "text"
        assert model(url).invoke("Go on.", config).content == "An answer to 6 letters."
    assert caplog.text.count("on_chain_end was not recorded") == 1
    assert len(nodes(file)) == 2

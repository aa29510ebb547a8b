"""`veritrail_record.llamaindex` on the installed LlamaIndex, with a scripted model on loopback.

`Served` and `Asked` call the chat server through the client of `openai`, as LlamaIndex's own
package for OpenAI does, which is not installed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fakes.lazily import import_into
from recorded_file import checked, edges, lines, nodes

import veritrail_record as vr

if TYPE_CHECKING:
    from with_llamaindex import (
        Asked,
        ChatMessage,
        Event,
        FunctionAgent,
        FunctionTool,
        MetadataReplacementPostProcessor,
        MockEmbedding,
        NodeWithScore,
        QueryEngineTool,
        Served,
        StartEvent,
        StopEvent,
        SummaryIndex,
        TextNode,
        VectorStoreIndex,
        Workflow,
        get_dispatcher,
        instrument,
        openai,
        step,
    )

pytestmark = pytest.mark.slow  # the library takes seconds to import

QUAY = "The quay opened in 1901, on a Sunday in May."
CRANE = "The crane was built in Hull and lifts forty tons."
QUESTION = "When did the quay open?"
CALL = {"id": "t1", "type": "function", "function": {"name": "read", "arguments": '{"n": 1}'}}
PAGE = "Page one says that the quay opened in 1901."


def script(body: dict[str, Any]) -> list[dict[str, Any]] | int:
    last = body["messages"][-1]
    if body.get("tools") and last["role"] != "tool":
        return [{"content": None, "tool_calls": [CALL]}]
    return [{"content": f"It opened in 1901, says prompt {len(last['content'])}."}]


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    import_into(globals(), "with_llamaindex")


@pytest.fixture(autouse=True)
def _instrumented() -> Iterator[None]:
    handlers = len(get_dispatcher().event_handlers), len(get_dispatcher().span_handlers)
    remove = instrument()
    yield
    remove()
    assert (len(get_dispatcher().event_handlers), len(get_dispatcher().span_handlers)) == handlers


def listed(*texts: str) -> SummaryIndex:
    """An index whose retriever gives all of its nodes, in their order."""
    return SummaryIndex([TextNode(text=text, id_=text[-5:]) for text in texts])


def test_without_a_recording_an_engine_runs_as_it_did(url, tmp_path):
    answer = listed(QUAY).as_query_engine(llm=Served(url=url)).query(QUESTION)
    assert str(answer).startswith("It opened")
    assert not list(tmp_path.iterdir())


def test_retrieved_nodes_are_sources_of_the_answer(url, file):
    index = VectorStoreIndex(
        [TextNode(text=QUAY, id_="n1", metadata={"page": 3})],
        embed_model=MockEmbedding(embed_dim=4),
    )
    engine = index.as_query_engine(llm=Served(url=url))
    with vr.record(path=file, quiet=True) as run:
        answer = engine.query(QUESTION)
        assert run.answer(str(answer)).node_id == "synthesize/1"
        again = engine.query(QUESTION)  # the same node of the index is the same node
    assert str(again) == str(answer)
    by_id = nodes(file)
    assert list(by_id) == ["retrieve/1", "synthesize/1", "synthesize/2"]
    assert by_id["retrieve/1"] == {
        "node_id": "retrieve/1",
        "text": QUAY,
        "stage": 1,
        "origin": "source",
        "kind": "document",
        "step": "retrieve",
        "metadata": {"page": 3, "id": "n1"},
    }
    assert by_id["synthesize/1"] == {
        "node_id": "synthesize/1",
        "text": str(answer),
        "stage": 2,
        "origin": "generated",
        "kind": "message",
        "step": "synthesize",
        "metadata": {"finish_reason": "stop", "model": "scripted-1"},
    }
    assert next(one["edge"] for one in lines(file) if "edge" in one) == {
        "source": "retrieve/1", "target": "synthesize/1", "inferred": "exact", "score": 1.0,
    }  # fmt: skip
    found = checked(file)
    assert (found.terminals, found.unsourced) == (("synthesize/1",), 0)


def test_refined_answers_hang_on_one_another(url, file):
    engine = listed(QUAY, CRANE).as_query_engine(llm=Served(url=url), response_mode="refine")
    with vr.record(path=file, quiet=True):
        engine.query(QUESTION)
    assert edges(file) == {
        ("retrieve/1", "synthesize/1"), ("retrieve/2", "synthesize/2"),
        ("synthesize/1", "synthesize/2"),
    }  # fmt: skip
    assert checked(file).terminals == ("synthesize/2",)


def test_an_engine_that_is_awaited(url, file):
    async def main() -> None:
        engine = listed(QUAY, CRANE).as_query_engine(
            llm=Served(url=url), response_mode="tree_summarize", use_async=True
        )
        async with vr.record(path=file, quiet=True):
            await asyncio.gather(*(engine.aquery(f"{QUESTION} {n}") for n in range(3)))

    asyncio.run(main())
    assert len(nodes(file)) == 5
    assert len(edges(file)) == 6
    assert len(checked(file).terminals) == 3


def test_a_streamed_answer_is_recorded_at_its_end(url, file):
    engine = listed(QUAY, "Hull.").as_query_engine(llm=Served(url=url), streaming=True)
    with vr.record(path=file, quiet=True):
        text = "".join(engine.query(QUESTION).response_gen)
        left = engine.query(QUESTION).response_gen
        next(left)  # the first piece has no text
        next(left)
        left.close()
    found = [(one["text"], one["metadata"].get("incomplete"), one["step"])
             for one in nodes(file).values() if one["origin"] == "generated"]  # fmt: skip
    assert found == [(text, None, "synthesize"), (text[:5], True, "synthesize")]
    assert edges(file) == {
        (f"retrieve/{source}", f"synthesize/{to}") for source in (1, 2) for to in (1, 2)
    }
    assert checked(file).terminals == ("synthesize/1", "synthesize/2")


def test_a_chat_that_is_a_completion_is_one_node(url, file):
    llm = Served(url=url)
    with vr.record(path=file, quiet=True) as run:
        run.source(QUAY)
        llm.chat([ChatMessage(role="user", content=f"Summarise: {QUAY}")])
        for _ in llm.stream_chat([ChatMessage(role="user", content=f"Shorten: {QUAY}")]):
            pass
    assert list(nodes(file)) == ["source/1", "complete/1", "complete/2"]
    assert edges(file) == {("source/1", "complete/1"), ("source/1", "complete/2")}


# LlamaIndex looks at all attributes of an agent, also at those that pydantic deprecates.
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince20")
@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince211")
@pytest.mark.parametrize("streams", [False, True])
def test_an_agent_with_a_tool(url, file, streams):
    def read(n: int) -> str:
        """Read a page."""
        return PAGE

    async def main() -> str:
        agent = FunctionAgent(
            tools=[FunctionTool.from_defaults(read)], llm=Asked(url=url), streaming=streams
        )
        return str(await agent.run(QUESTION))

    with vr.record(path=file, quiet=True):
        said = asyncio.run(main())
    found = [(one["node_id"], one["kind"], one["text"]) for one in nodes(file).values()]
    assert found == [
        ("user/1", "user", QUESTION),
        ("chat/1", "tool_call", 'read({"n": 1})'),
        ("read/1", "tool_result", PAGE),
        ("chat/2", "message", said),
    ]
    assert edges(file) == {
        ("user/1", "chat/1"), ("user/1", "chat/2"), ("chat/1", "chat/2"), ("read/1", "chat/2"),
    }  # fmt: skip
    assert checked(file).terminals == ("chat/2",)


def test_a_tool_that_is_an_engine_gives_what_was_written_in_it(url, file):
    engine = listed(QUAY).as_query_engine(llm=Served(url=url))
    tool = QueryEngineTool.from_defaults(engine, name="read")
    with vr.record(path=file, quiet=True):
        said = tool.call(QUESTION).content
    assert {one["text"]: one["origin"] for one in nodes(file).values()} == {
        QUAY: "source", said: "generated",
    }  # fmt: skip
    assert edges(file) == {("retrieve/1", "synthesize/1")}


def test_steps_of_a_workflow_hand_on_what_they_made(url, file):
    class Noted(Event):
        topic: str
        note: str

    class Notes(Workflow):
        @step
        async def take(self, event: StartEvent) -> Noted:
            reply = Served(url=url).complete(f"Take a note of: {event.page}")
            return Noted(topic=event.topic, note=f"Note on the harbour: {reply.text}")

        @step
        async def shorten(self, event: Noted) -> StopEvent:
            return StopEvent(result=event.note[:20])

    async def main(run: Any) -> str:
        page = run.source(QUAY)
        return str(await Notes().run(page=str(page), topic="what the harbour was built for"))

    with vr.record(path=file, quiet=True) as run:
        assert asyncio.run(main(run)) == "Note on the harbour:"
    by_id = nodes(file)
    assert list(by_id) == ["source/1", "complete/1", "take/1", "shorten/1"]
    assert by_id["take/1"]["kind"] == "note"
    assert edges(file) == {
        ("source/1", "complete/1"), ("source/1", "take/1"), ("complete/1", "take/1"),
        ("take/1", "shorten/1"),
    }  # fmt: skip
    assert checked(file).terminals == ("shorten/1",)


def test_nodes_that_were_changed_on_the_way(url, file):
    """A window of the page is source text; what was made of a node hangs on it."""
    window = f"Of the harbour. {QUAY} It was dug by hand."
    index = SummaryIndex([TextNode(text=QUAY, id_="n1", metadata={"window": window})])
    llm = Served(url=url)
    engine = index.as_query_engine(
        llm=llm, node_postprocessors=[MetadataReplacementPostProcessor("window")]
    )
    with vr.record(path=file, quiet=True):
        engine.query(QUESTION)
        shortened = NodeWithScore(
            node=TextNode(text="Opened in 1901, in May, on a Sunday.", id_="n1")
        )
        engine.synthesize(QUESTION, [shortened])
    by_id = nodes(file)
    found = [one for one in by_id.values() if one["step"] != "synthesize"]
    assert [(one["text"], one["origin"]) for one in found] == [
        (QUAY, "source"), (window, "source"),
        ("Opened in 1901, in May, on a Sunday.", "generated"),
    ]  # fmt: skip
    assert edges(file) == {
        ("retrieve/2", "synthesize/1"), ("retrieve/1", "postprocess/1"),
        ("postprocess/1", "synthesize/2"),
    }  # fmt: skip


def test_an_engine_without_nodes_answers_nothing_that_is_recorded(url, file):
    with vr.record(path=file, quiet=True) as run:
        listed().as_query_engine(llm=Served(url=url)).query(QUESTION)
        assert len(run) == 0


def test_a_recording_that_is_handed_over(url, file, tmp_path):
    run = vr.record(path=file, quiet=True)
    remove = instrument(run)
    engine = listed(QUAY).as_query_engine(llm=Served(url=url))
    engine.query(QUESTION)
    remove()
    engine.query(QUESTION)
    run.close()
    assert list(nodes(file)) == ["retrieve/1", "synthesize/1"]


def test_a_failing_model_leaves_what_came_before(url, file):
    engine = listed(QUAY).as_query_engine(llm=Served(url=url + "/nowhere"))
    engine._response_synthesizer._llm.url = "http://127.0.0.1:1/v1"
    with vr.record(path=file, quiet=True), pytest.raises(openai.APIConnectionError):
        engine.query(QUESTION)
    assert list(nodes(file)) == ["retrieve/1"]


def test_the_example_of_the_documentation(tmp_path, monkeypatch):
    text = (Path(__file__).resolve().parents[2] / "docs" / "recorder.md").read_text(
        encoding="utf-8"
    )
    section = text.split("\n## LlamaIndex\n")[1].split("\n## ")[0]
    program = section.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(program, {})  # its `instrument()` changes nothing, as the test has called it
    assert edges(tmp_path / "quay.jsonl") == {("retrieve/1", "synthesize/1")}
    assert checked(tmp_path / "quay.jsonl").unsourced == 0

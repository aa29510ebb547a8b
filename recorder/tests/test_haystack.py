"""`veritrail_record.haystack` on the installed Haystack, with a scripted model on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fakes.lazily import import_into
from recorded_file import checked, edges, lines, nodes

import veritrail_record as vr
from veritrail_record import Recording

if TYPE_CHECKING:
    from with_haystack import (
        Agent,
        AnswerBuilder,
        ChatMessage,
        ChatPromptBuilder,
        Document,
        DocumentJoiner,
        DocumentSplitter,
        DocumentWriter,
        InMemoryBM25Retriever,
        InMemoryDocumentStore,
        OpenAIChatGenerator,
        Pipeline,
        PromptBuilder,
        RecordingTracer,
        Secret,
        TextFileToDocument,
        component,
        instrument,
        read,
        tool,
        tracing,
    )

pytestmark = pytest.mark.slow  # the library takes seconds to import

QUAY = "The quay opened in 1901, on a Sunday in May."
CRANE = "The quay is in Hull."
QUESTION = "On which Sunday in May was the quay opened?"
TEMPLATE = "Documents:\n{% for d in documents %}{{ d.content }}\n{% endfor %}Answer: {{ question }}"
CALL = {"id": "t1", "type": "function", "function": {"name": "read", "arguments": '{"n": 1}'}}


def script(body: dict[str, Any]) -> list[dict[str, Any]] | int:
    last = body["messages"][-1]
    if body["model"] == "fails":
        return 400
    if body.get("tools") and last["role"] != "tool":
        return [{"content": None, "tool_calls": [CALL]}]
    return [{"content": f"It opened in 1901, says prompt {len(last['content'])}."}]


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    import_into(globals(), "with_haystack")


@pytest.fixture(autouse=True)
def _instrumented() -> Iterator[None]:
    remove = instrument()
    yield
    remove()
    while _models:
        _models.pop().close()
    assert not tracing.is_tracing_enabled()


_models: list[OpenAIChatGenerator] = []


def model(url: str, name: str = "m", **more: Any) -> OpenAIChatGenerator:
    made = OpenAIChatGenerator(
        api_key=Secret.from_token("none"), model=name, api_base_url=url, max_retries=0, **more
    )
    _models.append(made)
    return made


async def close_all() -> None:
    for one in _models:
        await one.close_async()


def retriever(*texts: str) -> InMemoryBM25Retriever:
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=text[-5:], content=text, meta={"n": 1}) for text in texts])
    return InMemoryBM25Retriever(store)


def questions(url: str, **more: Any) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("search", retriever(QUAY, CRANE))
    template = [ChatMessage.from_system("Be brief."), ChatMessage.from_user(TEMPLATE)]
    pipeline.add_component("prompt", ChatPromptBuilder(template=template))
    pipeline.add_component("write", model(url, **more))
    pipeline.add_component("answers", AnswerBuilder())
    pipeline.connect("search.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "write.messages")
    pipeline.connect("write.replies", "answers.replies")
    pipeline.connect("search.documents", "answers.documents")
    return pipeline


ASKED = {
    "search": {"query": QUESTION}, "prompt": {"question": QUESTION}, "answers": {"query": QUESTION},
}  # fmt: skip
WAY = {("search/1", "write/1"), ("search/2", "write/1")}


def test_without_a_recording_a_pipeline_runs_as_it_did(url, tmp_path):
    assert questions(url).run(ASKED)["answers"]["answers"][0].data.startswith("It opened")
    assert not list(tmp_path.iterdir())


def test_documents_are_sources_and_replies_hang_on_what_flowed_into_them(url, file):
    with vr.record(path=file, quiet=True):
        answer = questions(url).run(ASKED)["answers"]["answers"][0]
    by_id = nodes(file)
    assert list(by_id) == ["search/1", "search/2", "write/1"]
    assert by_id["search/1"] == {
        "node_id": "search/1",
        "text": QUAY,
        "stage": 1,
        "origin": "source",
        "kind": "document",
        "step": "search",
        "metadata": {"n": 1, "id": " May."},
    }
    assert by_id["write/1"] == {
        "node_id": "write/1",
        "text": answer.data,
        "stage": 2,
        "origin": "generated",
        "kind": "message",
        "step": "write",
        "metadata": {"finish_reason": "stop", "model": "scripted-1"},
    }
    assert [one["edge"] for one in lines(file) if "edge" in one] == [
        {"source": "search/1", "target": "write/1"},  # its text is in the prompt
        # The builder was given it; a text as short as this one is not looked for in prompts.
        {"source": "search/2", "target": "write/1", "inferred": "order"},
    ]
    found = checked(file)
    assert (found.terminals, found.unsourced) == (("write/1",), 0)


def test_a_pipeline_that_is_awaited(url, file):
    async def main() -> None:
        async with vr.record(path=file, quiet=True):
            await asyncio.gather(*(questions(url).run_async(ASKED) for _ in range(3)))
        await close_all()

    asyncio.run(main())
    assert list(nodes(file)) == ["search/1", "search/2", "write/1", "write/2", "write/3"]
    assert len(edges(file)) == 6
    assert checked(file).terminals == ("write/1", "write/2", "write/3")


def test_a_streamed_reply_is_recorded_whole(url, file):
    pieces: list[str] = []
    with vr.record(path=file, quiet=True):
        questions(url, streaming_callback=lambda one: pieces.append(one.content)).run(ASKED)
    assert len(pieces) > 2
    assert nodes(file)["write/1"]["text"] == "".join(pieces)
    assert edges(file) == WAY


@pytest.mark.parametrize("awaits", [False, True])
def test_an_agent_with_a_tool(url, file, awaits):
    agent = Agent(chat_generator=model(url), tools=[read], system_prompt="Be brief.")
    messages = [ChatMessage.from_user(QUESTION)]

    async def ask() -> Any:
        result = await agent.run_async(messages=messages)
        await close_all()
        return result

    with vr.record(path=file, quiet=True):
        result = asyncio.run(ask()) if awaits else agent.run(messages=messages)
    said = result["last_message"].text
    found = [(one["node_id"], one["kind"], one["origin"]) for one in nodes(file).values()]
    assert found == [
        ("user/1", "user", "given"),
        ("agent/1", "tool_call", "generated"),
        ("read/1", "tool_result", "source"),
        ("agent/2", "message", "generated"),
    ]
    assert nodes(file)["agent/1"]["text"] == 'read({"n": 1})'
    assert nodes(file)["agent/2"]["text"] == said
    assert edges(file) == {
        ("user/1", "agent/1"), ("user/1", "agent/2"), ("agent/1", "agent/2"), ("read/1", "agent/2"),
    }  # fmt: skip
    assert checked(file).terminals == ("agent/2",)


def test_an_agent_in_a_pipeline_has_its_name_and_its_documents(url, file):
    pipeline = Pipeline()
    pipeline.add_component("search", retriever(QUAY))
    pipeline.add_component("prompt", ChatPromptBuilder(template=[ChatMessage.from_user(TEMPLATE)]))
    pipeline.add_component("guide", Agent(chat_generator=model(url), tools=[read]))
    pipeline.connect("search.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "guide.messages")
    with vr.record(path=file, quiet=True):
        pipeline.run({"search": {"query": QUESTION}, "prompt": {"question": QUESTION}})
    assert list(nodes(file)) == ["search/1", "guide/1", "read/1", "guide/2"]
    assert edges(file) == {
        ("search/1", "guide/1"), ("search/1", "guide/2"), ("guide/1", "guide/2"),
        ("read/1", "guide/2"),
    }  # fmt: skip
    assert checked(file).terminals == ("guide/2",)


def test_a_tool_that_is_a_pipeline_gives_what_was_written_in_it(url, file):
    @tool
    def ask(n: int) -> str:
        """Ask."""
        return str(questions(url).run(ASKED)["answers"]["answers"][0].data)

    ask.name = "read"
    with vr.record(path=file, quiet=True):
        Agent(chat_generator=model(url), tools=[ask]).run(messages=[ChatMessage.from_user("When?")])
    assert list(nodes(file)) == ["user/1", "agent/1", "search/1", "search/2", "write/1", "agent/2"]
    assert ("write/1", "agent/2") in edges(file)
    assert not any(one.startswith("search") and to == "agent/2" for one, to in edges(file))
    assert checked(file).terminals == ("agent/2",)


def test_pieces_of_a_document_hang_on_it(tmp_path, file):
    page = tmp_path / "quay.txt"
    page.write_text(f"{QUAY} {CRANE}", encoding="utf-8")
    store = InMemoryDocumentStore()
    pipeline = Pipeline()
    pipeline.add_component("load", TextFileToDocument())
    pipeline.add_component("split", DocumentSplitter(split_by="word", split_length=8))
    pipeline.add_component("keep", DocumentWriter(store))
    pipeline.connect("load", "split")
    pipeline.connect("split", "keep")
    with vr.record(path=file, quiet=True):
        pipeline.run({"load": {"sources": [page]}})
    by_id = nodes(file)
    assert list(by_id) == ["load/1", "split/1", "split/2"]
    assert [by_id[one]["origin"] for one in by_id] == ["source", "generated", "generated"]
    assert edges(file) == {("load/1", "split/1"), ("load/1", "split/2")}
    assert checked(file).unsourced == 0


def test_joined_documents_are_the_same_nodes(url, file):
    pipeline = Pipeline()
    for name in ("first", "second"):
        pipeline.add_component(name, retriever(QUAY))
    pipeline.add_component("join", DocumentJoiner())
    pipeline.connect("first.documents", "join.documents")
    pipeline.connect("second.documents", "join.documents")
    with vr.record(path=file, quiet=True):
        pipeline.run({name: {"query": QUESTION} for name in ("first", "second")})
    assert list(nodes(file)) == ["first/1"]


def test_own_components_are_steps(file):
    @component
    class Summary:
        @component.output_types(summary=str, question=str)
        def run(self, documents: list[Document], question: str) -> dict[str, Any]:
            return {"summary": f"In short: {documents[0].content[:20]}", "question": question}

    @component
    class Shout:
        @component.output_types(text=str)
        def run(self, text: str) -> dict[str, Any]:
            return {"text": text.upper()}

    pipeline = Pipeline()
    pipeline.add_component("search", retriever(QUAY))
    pipeline.add_component("shorten", Summary())
    pipeline.add_component("shout", Shout())
    pipeline.connect("search.documents", "shorten.documents")
    pipeline.connect("shorten.summary", "shout.text")
    with vr.record(path=file, quiet=True):
        pipeline.run({"search": {"query": QUESTION}, "shorten": {"question": QUESTION}})
    assert {one: node["text"] for one, node in nodes(file).items()} == {
        "search/1": QUAY,
        "shorten/1": "In short: The quay opened in 1",
        "shout/1": "IN SHORT: THE QUAY OPENED IN 1",
    }
    assert edges(file) == {("search/1", "shorten/1"), ("shorten/1", "shout/1")}
    assert checked(file).terminals == ("shout/1",)


def test_a_text_that_comes_out_of_a_builder_at_the_end_is_recorded(file):
    pipeline = Pipeline()
    pipeline.add_component("search", retriever(QUAY))
    pipeline.add_component("letter", PromptBuilder(template=TEMPLATE))
    pipeline.connect("search.documents", "letter.documents")
    with vr.record(path=file, quiet=True):
        pipeline.run({"search": {"query": QUESTION}, "letter": {"question": QUESTION}})
    assert edges(file) == {("search/1", "letter/1")}
    assert checked(file).terminals == ("letter/1",)


def test_a_fault_of_the_recording_does_not_reach_the_pipeline(url, file, monkeypatch, caplog):
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Recording, "result", broken)
    with vr.record(path=file, quiet=True):
        for _ in range(2):
            assert questions(url).run(ASKED)["answers"]["answers"][0].data.startswith("It opened")
    assert list(nodes(file)) == ["search/1", "search/2"]
    assert [one.name for one in caplog.records] == ["veritrail.recorder"]  # once


def test_a_failing_model_leaves_what_came_before(url, file):
    with (
        vr.record(path=file, quiet=True),
        pytest.raises(Exception, match="as scripted"),
    ):
        questions(url, name="fails").run(ASKED)
    assert list(nodes(file)) == ["search/1", "search/2"]
    assert checked(file)


def test_a_tracer_that_is_enabled_goes_on_and_a_recording_can_be_handed_over(url, file):
    heard: list[tuple[str, str]] = []

    class Span(tracing.Span):
        def __init__(self, name: str) -> None:
            self.name = name

        def set_tag(self, key: str, value: Any) -> None:
            heard.append((self.name, key))

    class Other(tracing.Tracer):
        @contextmanager
        def trace(self, operation_name: str, tags: Any = None, parent_span: Any = None) -> Any:
            assert parent_span is None or isinstance(parent_span, Span)
            yield Span(operation_name)

        def current_span(self) -> None:
            return None

    run = vr.record(path=file, quiet=True)
    before = tracing.tracer.actual_tracer
    tracing.enable_tracing(Other())
    remove = instrument(run)
    assert isinstance(tracing.tracer.actual_tracer, RecordingTracer)
    questions(url).run(ASKED)
    remove()
    questions(url).run(ASKED)
    tracing.enable_tracing(before)
    run.close()
    assert list(nodes(file)) == ["search/1", "search/2", "write/1"]
    # Contents are handed on only where Haystack was told to trace contents.
    assert set(heard) == {("haystack.component.run", "haystack.component.visits")}


def test_the_example_of_the_documentation(tmp_path, monkeypatch):
    text = (Path(__file__).resolve().parents[2] / "docs" / "recorder.md").read_text(
        encoding="utf-8"
    )
    section = text.split("\n## Haystack\n")[1].split("\n## ")[0]
    program = section.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(program, {})  # its `instrument()` changes nothing, as the test has called it
    assert edges(tmp_path / "quay.jsonl") == {("search/1", "letter/1")}
    assert checked(tmp_path / "quay.jsonl").unsourced == 0

"""`instrument` and the responses API of the installed `openai` package, over loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from recorded_file import checked, edges, lines, nodes

import veritrail_record as vr
from veritrail_record.openai import instrument

if TYPE_CHECKING:
    import openai

PAGE = "The quay opened in 1901, on a Sunday in May."
FILE = "The lighthouse burned down in March 1910."
CALL = {"type": "function_call", "call_id": "t1", "name": "read", "arguments": '{"n": 1}'}
FOUND = {
    "type": "file_search_call",
    "queries": ["lighthouse"],
    "results": [
        {"file_id": "f1", "filename": "a.txt", "score": 0.5, "text": FILE, "attributes": {}}
    ],
}
REMOTE = {
    "type": "mcp_call", "name": "look", "server_label": "maps", "arguments": "{}", "output": PAGE,
}  # fmt: skip


def script(body: dict[str, Any]) -> list[dict[str, Any]] | int:
    given = body["input"]
    last = given if isinstance(given, str) else given[-1]
    kind = last.get("type") if isinstance(last, dict) else None
    if body["model"] == "fails":
        return 400
    if body["model"] == "searches":
        return [FOUND, REMOTE, {"text": "An answer with files."}]
    if body.get("tools") and kind != "function_call_output":
        return [{"type": "reasoning", "summary": []}, {"text": "I will read."}, CALL]
    text = last if isinstance(last, str) else last.get("output") or last.get("content")
    return [{"text": f"An answer to {len(text)} letters."}]


@pytest.fixture
def client(url: str) -> Iterator[openai.OpenAI]:
    import openai

    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as made:
        yield instrument(made)


def create(client: openai.OpenAI, *, streams: bool = False, **options: Any) -> Any:
    """A whole response, streamed or not."""
    options = {"model": "m", **options}
    if not streams:
        return client.responses.create(**options)
    return list(client.responses.create(**options, stream=True))[-1].response


STREAMS = pytest.mark.parametrize("streams", [False, True])


def test_a_response_without_a_recording_is_left_alone(client):
    assert instrument(client) is client
    assert create(client, input="Hello").output_text == "An answer to 5 letters."


@STREAMS
def test_a_response_is_linked_to_the_recorded_texts_in_its_input(client, file, streams):
    with vr.record(path=file, quiet=True) as run:
        page = run.source(PAGE)
        reply = create(client, streams=streams, input=f"Sum up: {page}", instructions="Be brief.")
        again = create(
            client, streams=streams, input=[{"role": "user", "content": reply.output_text}]
        )
        run.answer(again.output_text)
    assert nodes(file)["chat/1"] == {
        "node_id": "chat/1",
        "text": reply.output_text,
        "stage": 2,
        "origin": "generated",
        "kind": "message",
        "step": "chat",
        "metadata": {"finish_reason": "completed", "model": "scripted-1"},
    }
    found = [one["edge"] for one in lines(file) if "edge" in one]
    assert found == [
        {"source": "source/1", "target": "chat/1", "inferred": "exact", "score": 1.0},
        {"source": "chat/1", "target": "chat/2"},
    ]
    assert checked(file).terminals == ("chat/2",)


@STREAMS
@pytest.mark.parametrize("keeps", [False, True], ids=["sent", "kept"])
def test_tools_and_what_the_server_keeps(client, file, streams, keeps):
    """The messages are sent again, or the server keeps the response."""
    tools = [{"type": "function", "name": "read", "parameters": {}}]
    asked: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": "When?"}]}]
    result = {"type": "function_call_output", "call_id": "t1", "output": PAGE}
    with vr.record(path=file, quiet=True):
        first = create(client, streams=streams, input=asked, tools=tools)
        if keeps:
            more = {"input": [result], "previous_response_id": first.id}
        else:
            more = {"input": [*asked, *first.output, result]}
        second = create(client, streams=streams, tools=tools, **more)
        create(client, streams=streams, input="Thanks, go on.", previous_response_id=second.id)
    found = [(one["node_id"], one["kind"], one["origin"]) for one in nodes(file).values()]
    assert found == [
        ("user/1", "user", "given"),
        ("chat/1", "message", "generated"),
        ("chat/2", "tool_call", "generated"),
        ("tool/1", "tool_result", "source"),
        ("chat/3", "message", "generated"),
        ("user/2", "user", "given"),
        ("chat/4", "message", "generated"),
    ]
    assert nodes(file)["chat/2"]["text"] == 'read({"n": 1})'
    seen = ["user/1", "chat/1", "chat/2", "tool/1"]
    assert edges(file) == {
        ("user/1", "chat/1"), ("user/1", "chat/2"),
        *((one, "chat/3") for one in seen),
        *((one, "chat/4") for one in (*seen, "chat/3", "user/2")),
    }  # fmt: skip
    assert all("inferred" not in one["edge"] for one in lines(file) if "edge" in one)
    assert checked(file).terminals == ("chat/4",)


@STREAMS
def test_what_tools_of_the_server_found_is_source_text(client, file, streams):
    with vr.record(path=file, quiet=True):
        create(client, streams=streams, model="searches", input="What burned down?")
    found = [(one["node_id"], one["text"], one["origin"]) for one in nodes(file).values()]
    assert found == [
        ("user/1", "What burned down?", "given"),
        ("file_search/1", FILE, "source"),
        ("chat/1", "look({})", "generated"),
        ("look/1", PAGE, "source"),
        ("chat/2", "An answer with files.", "generated"),
    ]
    assert nodes(file)["file_search/1"]["metadata"]["filename"] == "a.txt"
    assert {("file_search/1", "chat/2"), ("look/1", "chat/2")} <= edges(file)


def test_a_stream_that_is_left_early(client, file):
    tools: Any = [{"type": "function", "name": "read", "parameters": {}}]
    with vr.record(path=file, quiet=True):
        with client.responses.create(model="m", input="Tell me.", stream=True) as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    break
        stream = client.responses.create(model="m", input="Read.", tools=tools, stream=True)
        for event in stream:
            if event.type == "response.function_call_arguments.delta":
                break
        stream.close()
    found = [(one["text"], one["metadata"].get("incomplete")) for one in nodes(file).values()
             if one["origin"] == "generated"]  # fmt: skip
    assert found == [("An an", True), ("I will read.", None), ('read({"n")', True)]
    assert nodes(file)["chat/1"]["metadata"]["model"] == "scripted-1"


def test_a_client_to_be_awaited_plain_and_streamed(url, file):
    import openai

    async def main() -> list[str]:
        async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
            instrument(client, step="ask")
            with vr.record(path=file, quiet=True) as run:
                pages = [run.source(f"{PAGE} Page {number}.").text for number in range(5)]
                create = client.responses.create
                replies = await asyncio.gather(*(create(model="m", input=page) for page in pages))
                stream = await create(model="m", input=PAGE + "?", stream=True)
                last = [event async for event in stream][-1]
            return [*(one.output_text for one in replies), last.response.output_text]

    texts = asyncio.run(main())
    found = [one for one in nodes(file).values() if one.get("step") == "ask"]
    assert sorted(one["text"] for one in found) == sorted(texts)
    assert len({edge[0] for edge in edges(file)}) == 6
    checked(file)


def test_errors_raw_responses_and_strange_input_pass(client, file, caplog):
    import openai

    with vr.record(path=file, quiet=True):
        with pytest.raises(openai.BadRequestError):
            create(client, model="fails", input="Hello")
        raw = client.responses.with_raw_response.create(model="m", input="Hi")
        assert raw.parse().output_text == "An answer to 2 letters."
        parts = [{"type": "reasoning", "summary": []}, {"role": "user", "content": "Once."}]
        create(client, input=iter(parts))
        create(client, input="Later.", previous_response_id="nobody-knows")
    texts = [one["text"] for one in nodes(file).values()]
    assert texts == [
        "Hello", "Hi", "Once.", "An answer to 5 letters.", "Later.", "An answer to 6 letters.",
    ]  # fmt: skip
    assert caplog.text.count("was not recorded") == 1

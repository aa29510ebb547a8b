"""`veritrail_record.openai.instrument` on the installed `openai` package, over loopback."""

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
CALL = {"id": "t1", "type": "function", "function": {"name": "read", "arguments": '{"n": 1}'}}


def script(body: dict[str, Any]) -> list[dict[str, Any]] | int:
    last = body["messages"][-1]
    if body["model"] == "fails":
        return 400
    if body.get("tools") and last["role"] != "tool":
        return [{"content": None, "tool_calls": [CALL]}]
    words = last["content"] if isinstance(last["content"], str) else "parts"
    return [{"content": f"Answer {n} to {len(words)}"} for n in range(body.get("n", 1))]


@pytest.fixture
def client(url: str) -> Iterator[openai.OpenAI]:
    import openai

    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as made:
        yield instrument(made)


def messages(text: str) -> Any:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def test_a_call_without_a_recording_is_left_alone(client):
    assert instrument(client) is client
    reply = client.chat.completions.create(model="m", messages=messages("Hello"))
    assert reply.choices[0].message.content == "Answer 0 to 5"


def test_an_answer_is_linked_to_the_recorded_texts_in_its_prompt(client, file):
    with vr.record(path=file, quiet=True) as run:
        page = run.source(PAGE)
        prompt = f"Summarise this:\n{page}"
        reply = client.chat.completions.create(model="m", messages=messages(prompt))
        text = reply.choices[0].message.content
        second = client.chat.completions.create(model="m", n=2, messages=messages(text))
        run.answer(second.choices[1].message.content)
    by_id = nodes(file)
    assert list(by_id) == ["source/1", "chat/1", "chat/2", "chat/3"]
    assert by_id["chat/1"] == {
        "node_id": "chat/1",
        "text": text,
        "stage": 2,
        "origin": "generated",
        "kind": "message",
        "step": "chat",
        "metadata": {"finish_reason": "stop", "model": "scripted-1"},
    }
    found = [one["edge"] for one in lines(file) if "edge" in one]
    assert found[0] == {
        "source": "source/1", "target": "chat/1", "inferred": "exact", "score": 1.0
    }  # fmt: skip
    assert found[1] == {"source": "chat/1", "target": "chat/2"}
    assert checked(file).terminals == ("chat/3",)


@pytest.mark.parametrize("streams", [False, True])
def test_tools_users_and_a_history(client, file, streams):
    def ask(history: list[Any]) -> Any:
        reply = client.chat.completions.create(
            model="m", messages=history, tools=[{"type": "function", "function": {"name": "read"}}],
            stream=streams,
        )  # fmt: skip
        if streams:
            return list(reply)
        return reply.choices[0].message

    with vr.record(path=file, quiet=True):
        history: list[Any] = messages("When?")
        asked = ask(history)
        history.append(asked if not streams else {"role": "assistant", "tool_calls": [CALL]})
        history.append({"role": "tool", "tool_call_id": "t1", "content": PAGE})
        ask(history)
    found = [(one["node_id"], one["kind"], one["origin"]) for one in nodes(file).values()]
    assert found == [
        ("user/1", "user", "given"),
        ("chat/1", "tool_call", "generated"),
        ("tool/1", "tool_result", "source"),
        ("chat/2", "message", "generated"),
    ]
    assert nodes(file)["chat/1"]["text"] == 'read({"n": 1})'
    assert edges(file) == {
        ("user/1", "chat/1"), ("user/1", "chat/2"), ("chat/1", "chat/2"), ("tool/1", "chat/2"),
    }  # fmt: skip
    assert checked(file).unsourced == 1


def test_a_stream_passes_and_its_text_is_recorded(client, file):
    with vr.record(path=file, quiet=True) as run:
        run.source(PAGE)
        stream = client.chat.completions.create(model="m", messages=messages(PAGE), stream=True)
        assert stream.response.status_code == 200
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        with client.chat.completions.create(
            model="m", messages=messages(PAGE), stream=True
        ) as stream:
            for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
        plain = client.chat.completions.create(model="m", messages=messages(PAGE), stream=True)
        next(plain)
        plain.close()
    assert text == f"Answer 0 to {len(PAGE)}"
    found = [(one["text"], one["metadata"].get("incomplete")) for one in nodes(file).values()
             if one["origin"] == "generated"]  # fmt: skip
    assert found == [(text, None), ("Answe", True)]
    assert edges(file) == {("source/1", "chat/1"), ("source/1", "chat/2")}


def test_a_client_to_be_awaited_plain_and_streamed(url, file):
    import openai

    async def main() -> list[str]:
        async with openai.AsyncOpenAI(base_url=url, api_key="none") as client:
            instrument(client, step="ask")
            with vr.record(path=file, quiet=True) as run:
                pages = [run.source(f"{PAGE} Page {number}.").text for number in range(5)]
                create = client.chat.completions.create
                replies = await asyncio.gather(
                    *(create(model="m", messages=messages(page)) for page in pages)
                )
                stream = await create(model="m", messages=messages(PAGE + "?"), stream=True)
                pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
                async with await create(
                    model="m", messages=messages("Go on."), stream=True
                ) as stream:
                    await anext(stream)
            return [replies[0].choices[0].message.content, "".join(pieces)]

    texts = asyncio.run(main())
    found = nodes(file)
    assert texts == [found["ask/1"]["text"], found["ask/6"]["text"]]
    assert {edge for edge in edges(file) if edge[0].startswith("source")} == {
        (f"source/{number}", target)
        for number in range(1, 6)
        for _, target in [next(edge for edge in edges(file) if edge[0] == f"source/{number}")]
    }
    checked(file)


def test_errors_raw_responses_and_strange_messages_pass(client, file, caplog):
    import openai

    with vr.record(path=file, quiet=True):
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(model="fails", messages=messages("Hello"))
        raw = client.chat.completions.with_raw_response.create(model="m", messages=messages("Hi"))
        assert raw.parse().choices[0].message.content == "Answer 0 to 2"
        parts = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": parts}])
        client.chat.completions.create(model="m", messages=iter(messages("Once.")))
        with pytest.raises(TypeError):
            client.chat.completions.create(model="m")
    texts = [one["text"] for one in nodes(file).values()]
    assert texts == ["Hello", "Hi", "One.", "Two.", "Answer 0 to 5", "Once.", "Answer 0 to 5"]
    assert caplog.text.count("was not recorded") == 1


def test_what_is_recorded_of_a_client_inside_a_function_is_its_input(client, file):
    @vr.recorded_step
    def report(page: str) -> str:
        reply = client.chat.completions.create(model="m", messages=messages(page))
        return f"Report: {reply.choices[0].message.content}"

    with vr.record(path=file, quiet=True) as run:
        report(run.source(PAGE).text)
    assert edges(file) == {
        ("source/1", "chat/1"), ("source/1", "report/1"), ("chat/1", "report/1")
    }  # fmt: skip

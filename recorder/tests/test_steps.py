"""`recorded_step`: functions run as they would without it, and their texts are linked."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import inspect
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from recorded_file import checked, edges, lines, nodes

import veritrail_record as vr


@vr.recorded_step(step="summarise", kind="summary", model="m", prompt="p.v1", metadata={"n": 1})
def summarise(text: str, words: int = 10) -> str:
    """Make it shorter."""
    return f"In {words}: {text[:words]}"


@vr.recorded_step
def merge(*texts: Any, **named: Any) -> str:
    return f"Merged {len(texts) + len(named)}"


def test_a_function_is_what_it_was(file):
    assert summarise("Some text.", words=4) == "In 4: Some"
    assert (summarise.__name__, summarise.__doc__) == ("summarise", "Make it shorter.")
    assert list(inspect.signature(summarise).parameters) == ["text", "words"]
    with vr.record(path=file, quiet=True) as run:
        page = run.source("Some text.")
        note = summarise(page.text, words=4)
        merge(page, [note, ("x", 7)], a={"b": [note]}, c={note})
    assert nodes(file)["summarise/1"] == {
        "node_id": "summarise/1",
        "text": "In 4: Some",
        "stage": 2,
        "origin": "generated",
        "kind": "summary",
        "step": "summarise",
        "metadata": {"n": 1, "model": "m", "prompt": "p.v1"},
    }
    assert edges(file) == {
        ("source/1", "summarise/1"), ("source/1", "merge/1"), ("summarise/1", "merge/1"),
    }  # fmt: skip
    assert [one["stage"] for one in nodes(file).values()] == [1, 2, 3]
    checked(file)


def test_errors_pass_and_nothing_is_recorded_of_them(file):
    calls = []

    @vr.recorded_step
    def fails(text: str) -> str:
        calls.append(text)
        raise ZeroDivisionError(text)

    with vr.record(path=file, quiet=True), pytest.raises(ZeroDivisionError):
        fails("x")
    assert (calls, len(lines(file))) == (["x"], 1)


def test_arguments_are_searched_before_the_function_changes_them(file):
    @vr.recorded_step
    def take(texts: list[str]) -> str:
        return "took " + str(len([texts.pop() for _ in range(2)]))

    with vr.record(path=file, quiet=True) as run:
        take([run.source("One.").text, run.source("Two.").text])
    assert edges(file) == {("source/1", "take/1"), ("source/2", "take/1")}


def test_containers_that_hold_themselves_and_long_vectors_are_no_trouble(file):
    loop: list[Any] = []
    loop += [loop, {"x": loop}]
    with vr.record(path=file, quiet=True) as run:
        loop.append(run.source("One.").text)
        merge(loop, [[0.5] * 1_000_000] * 5, range(10**9), (number for number in range(3)))
    assert edges(file) == {("source/1", "merge/1")}


@vr.recorded_step(step="search", source=True, kind="page")
def search(question: str) -> list[str]:
    return [f"Page one on {question}.", f"Page two on {question}."]


def test_what_a_function_records_on_its_way_is_its_input(file):
    @vr.recorded_step(step="answer")
    def answer(question: str) -> str:
        first, second = search(question)
        note = summarise(first)
        return f"{note} {second}"

    with vr.record(path=file, quiet=True) as run:
        run.answer(answer("piers"))
    assert nodes(file)["search/1"]["origin"] == "source"
    found = [one["edge"] for one in lines(file) if "edge" in one]
    assert found == [
        {"source": "search/1", "target": "summarise/1"},
        {"source": "search/2", "target": "answer/1", "inferred": "order"},
        {"source": "summarise/1", "target": "answer/1", "inferred": "order"},
    ]
    assert checked(file).terminals == ("answer/1",)
    assert checked(file).inferred_edges["order"] == 2


def test_a_function_without_a_text_hands_on_what_it_recorded(file):
    @vr.recorded_step
    def collect(run: Any) -> dict[str, int]:
        run.source("One.")
        return {"found": 1}

    @vr.recorded_step
    def nothing() -> None:
        search("x")

    @vr.recorded_step
    def answer(run: Any) -> str:
        collect(run)
        nothing()
        return "An answer."

    with vr.record(path=file, quiet=True) as run:
        answer(run)
    assert edges(file) == {
        ("source/1", "answer/1"), ("search/1", "answer/1"), ("search/2", "answer/1"),
    }  # fmt: skip


def test_a_text_that_is_passed_on_unchanged_is_one_node(file):
    @vr.recorded_step
    def outer(text: str) -> str:
        return summarise(text)

    @vr.recorded_step
    def pick(texts: list[str]) -> str:
        return texts[1]

    with vr.record(path=file, quiet=True) as run:
        page = run.source("Some text.")
        note = outer(page.text)
        assert pick([page.text, note]) == note
    assert list(nodes(file)) == ["source/1", "summarise/1"]


class Reply:
    def __init__(self, content: str) -> None:
        self.content = content


def test_texts_are_taken_out_of_objects_which_are_then_known(file):
    @vr.recorded_step(step="ask", text=lambda reply: reply.content)
    def ask(text: str) -> Reply:
        return Reply(f"On {text}")

    @vr.recorded_step(step="raw", text=lambda reply: reply["content"])
    def raw(text: str) -> dict[str, Any]:
        return {"content": f"Raw {text}"}

    with vr.record(path=file, quiet=True) as run:
        reply = ask(run.source("piers").text)
        merge(reply)
        merge({"x": [raw("piers")]})
        del reply
        gc.collect(1)
        assert len(run._nodes.texts._objects) == 1  # the dict, which cannot be watched
    assert edges(file) == {
        ("source/1", "ask/1"), ("ask/1", "merge/1"), ("source/1", "raw/1"), ("raw/1", "merge/2"),
    }  # fmt: skip


def test_results_without_a_text_are_logged_once(file, caplog):
    @vr.recorded_step
    def number() -> int:
        return 7

    @vr.recorded_step(text=lambda value: value.missing)
    def strange() -> str:
        return "x"

    with vr.record(path=file, quiet=True):
        assert [number(), number(), strange(), strange()] == [7, 7, "x", "x"]
    assert len(lines(file)) == 1
    assert caplog.text.count("number returned a int") == 1
    assert caplog.text.count("could not be taken out") == 1


def test_methods_classes_and_lambdas(file):
    class Pipeline:
        @vr.recorded_step
        def step(self, text: str) -> str:
            return f"{text} by a method"

        @staticmethod
        @vr.recorded_step
        def plain(text: str) -> str:
            return f"{text} by a plain one"

        def __call__(self, text: str) -> str:
            return f"{text} by an object"

    with vr.record(path=file, quiet=True) as run:
        page = run.source("A page")
        pipeline = Pipeline()
        pipeline.step(page.text)
        pipeline.plain(page.text)
        vr.recorded_step(pipeline)(page.text)
        vr.recorded_step(lambda text: f"{text} by a lambda")(page.text)
    assert {target for _, target in edges(file)} == {
        "step/1", "plain/1", "Pipeline/1", "<lambda>/1"
    }  # fmt: skip


@vr.recorded_step(step="stream")
def stream(text: str) -> Iterator[str]:
    for word in text.split():
        got = yield word + " "
        if got:
            yield f"[{got}]"


def test_the_pieces_of_a_generator_are_one_text(file):
    assert inspect.isgeneratorfunction(stream)
    assert list(stream("a b")) == ["a ", "b "]
    with vr.record(path=file, quiet=True) as run:
        page = run.source("One two three")
        assert "".join(stream(page.text)) == "One two three "
    assert nodes(file)["stream/1"]["text"] == "One two three "
    assert "metadata" not in nodes(file)["stream/1"]
    assert edges(file) == {("source/1", "stream/1")}


def test_a_generator_that_is_left_early_is_recorded_as_far_as_it_came(file):
    with vr.record(path=file, quiet=True) as run:
        page = run.source("One two three")
        for _ in stream(page.text):
            break
        gc.collect(1)
        pieces = stream(page.text)
        assert (next(pieces), pieces.send("sent"), next(pieces)) == ("One ", "[sent]", "two ")
        pieces.close()
        never = stream(page.text)
        never.close()
    found = [(one["text"], one.get("metadata")) for one in nodes(file).values()][1:]
    assert found == [("One ", {"incomplete": True}), ("One [sent]two ", {"incomplete": True})]


def test_errors_in_and_into_a_generator_pass(file):
    @vr.recorded_step
    def fragile() -> Iterator[Any]:
        try:
            yield "one"
        except KeyError:
            yield "caught"
        yield None
        raise ZeroDivisionError

    with vr.record(path=file, quiet=True):
        pieces = fragile()
        assert next(pieces) == "one"
        assert pieces.throw(KeyError()) == "caught"
        assert next(pieces) is None
        with pytest.raises(ZeroDivisionError):
            next(pieces)
    assert [one["text"] for one in nodes(file).values()] == ["onecaught"]


def test_what_a_generator_records_on_its_way_is_not_the_consumers(file):
    @vr.recorded_step
    def inner() -> Iterator[str]:
        search("a")
        yield "first "
        search("b")
        yield "second"

    @vr.recorded_step
    def outer() -> str:
        text = ""
        for piece in inner():
            search("own " + piece)
            text += piece
        return text.upper()

    with vr.record(path=file, quiet=True):
        outer()
    by_id = nodes(file)
    found = {(by_id[source]["text"], target) for source, target in edges(file)}
    assert {target for text, target in found if " own " not in text} == {"inner/1", "outer/1"}
    assert {target for text, target in found if " own " in text} == {"outer/1"}


def test_functions_that_return_generators_and_awaitables(file):
    @vr.recorded_step
    def returned(text: str) -> Iterator[str]:
        return (word for word in [text, "!"])

    @vr.recorded_step
    def later(text: str) -> Any:
        async def work() -> str:
            return text + "?"

        return work()

    @vr.recorded_step
    def items(text: str) -> AsyncIterator[str]:
        async def work() -> AsyncIterator[str]:
            yield text
            yield "…"

        return work()

    async def main() -> list[str]:
        return [await later("One"), "".join([piece async for piece in items("One")])]

    with vr.record(path=file, quiet=True) as run:
        run.source("One")
        assert "".join(returned("One")) == "One!"
        assert asyncio.run(main()) == ["One?", "One…"]
    assert {target for _, target in edges(file)} == {"returned/1", "later/1", "items/1"}


@vr.recorded_step(step="think")
async def think(text: str) -> str:
    await asyncio.sleep(0.001)
    return f"Thought of {text}"


@vr.recorded_step(step="flow")
async def flow(text: str) -> AsyncIterator[str]:
    for word in text.split():
        await asyncio.sleep(0)
        got = yield word
        if got:
            yield got


def test_coroutines_and_their_tasks(file):
    assert inspect.iscoroutinefunction(think)
    assert inspect.isasyncgenfunction(flow)

    @vr.recorded_step
    async def gather(texts: list[str]) -> str:
        return " ".join(await asyncio.gather(*map(think, texts)))

    async def main() -> None:
        assert await think("x") == "Thought of x"
        async with vr.record(path=file, quiet=True) as run:
            texts = [run.source(f"page {number}").text for number in range(20)]
            await gather(texts)
            assert "".join([piece async for piece in flow("a b")]) == "ab"

    asyncio.run(main())
    by_id = nodes(file)
    thoughts = [edge for edge in edges(file) if edge[1].startswith("think")]
    assert len(thoughts) == 20
    for source, target in thoughts:
        assert by_id[target]["text"] == f"Thought of {by_id[source]['text']}"
    assert {source for source, target in edges(file) if target == "gather/1"} >= {
        f"think/{number}" for number in range(1, 21)
    }
    assert by_id["flow/1"]["text"] == "ab"


def test_an_asynchronous_generator_takes_values_and_errors_and_may_be_left(file):
    @vr.recorded_step
    async def fragile() -> AsyncIterator[str]:
        try:
            yield "one"
        except KeyError:
            yield "caught"

    async def main() -> None:
        with vr.record(path=file, quiet=True):
            pieces = flow("a b")
            assert await anext(pieces) == "a"
            assert await pieces.asend("sent") == "sent"
            await pieces.aclose()
            pieces = fragile()
            assert await anext(pieces) == "one"
            assert await pieces.athrow(KeyError()) == "caught"
            with pytest.raises(StopAsyncIteration):
                await anext(pieces)
            pieces = fragile()
            await anext(pieces)
            with pytest.raises(ZeroDivisionError):
                await pieces.athrow(ZeroDivisionError())

    asyncio.run(main())
    assert [one["text"] for one in nodes(file).values()] == ["asent", "onecaught", "one"]


def test_a_task_that_is_cancelled_records_nothing_and_is_cancelled(file):
    @vr.recorded_step
    async def slow() -> str:
        await asyncio.sleep(60)
        return "never"

    async def main() -> None:
        with vr.record(path=file, quiet=True):
            task = asyncio.create_task(slow())
            await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert len(lines(file)) == 1


def test_requests_at_once_record_apart(tmp_path):
    async def serve(number: int) -> None:
        path = tmp_path / f"{number}.jsonl"
        with vr.record(path=path, quiet=True) as run:
            page = run.source(f"page {number}")
            await asyncio.sleep(0.001 * (5 - number))
            run.answer(await think(page.text))

    async def main() -> None:
        await asyncio.gather(*map(serve, range(5)))

    asyncio.run(main())
    for number in range(5):
        texts = [one["text"] for one in nodes(tmp_path / f"{number}.jsonl").values()]
        assert texts == [f"page {number}", f"Thought of page {number}"]


def test_threads_record_with_a_copied_context_or_where_a_recording_is_activated(file):
    with vr.record(path=file, quiet=True) as run, ThreadPoolExecutor(2) as pool:
        page = run.source("A page.")
        summary = pool.submit(contextvars.copy_context().run, summarise, page.text, 3).result()
        pool.submit(summarise, page.text, 5).result()  # without: it just runs

        def activated() -> None:
            with run.activate():
                merge(summary)

        pool.submit(activated).result()
    assert edges(file) == {("source/1", "summarise/1"), ("summarise/1", "merge/1")}


def test_texts_within_a_prompt_are_found_where_that_is_asked_for(file):
    @vr.recorded_step(within=True)
    def ask(prompt: str, history: list[str]) -> str:
        return "An answer."

    with vr.record(path=file, quiet=True) as run:
        one = run.source("The quay opened in 1901, on a Sunday.")
        long = run.source(f"Before. {one} After. " * 40)
        two = run.source("The pier was added in the year 1923.")
        run.source("Short, so not looked for.".ljust(23)[:23])
        ask(f"Read this:\n{one}\n{two}{one}\nShort, so not looked for.", ["x", f"<{long}>"])
    found = [one["edge"] for one in lines(file) if "edge" in one]
    assert [(one["source"], one["inferred"], one["score"]) for one in found] == [
        ("source/1", "exact", 1.0), ("source/3", "exact", 1.0), ("source/2", "exact", 1.0),
    ]  # fmt: skip
    checked(file)


def test_looking_for_texts_takes_time_by_the_characters_and_not_by_the_texts(file):
    import time

    spent = []
    for count in (100, 10_000):
        with vr.record(path=file, quiet=True) as run:
            for number in range(count):
                run.source(f"{number:06d} is the number of this text.")
            prompt = "A prompt that holds none of them. " * 1_000
            start = time.thread_time()
            run.links(prompt, within=True)
            spent.append(time.thread_time() - start)
    assert spent[1] < 5 * spent[0] + 0.05

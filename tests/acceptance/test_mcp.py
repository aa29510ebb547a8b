"""The server for assistants, spoken to by the real client of the protocol.

Over stdio where money is looked at; in this process everywhere else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from acceptance.command import Veritrail, process_file
from acceptance.model_fixtures import asking as asking_model
from acceptance.model_fixtures import pumps
from fakes import warm
from fakes.attributing import SAMPLE, by_parts, gold_sentences
from fakes.dialogues import SAMPLE as DIALOGUE
from fakes.dialogues import DialogueReader
from fakes.explaining import LINES, MAY, TWISTED, WILL, Both
from fakes.model_server import ModelServer
from fakes.service_process import serving
from fakes.settings_of import settings_of

from veritrail_graph import AsyncClient, AsyncLocal
from veritrail_graph.api.mcp.advice import ADVICE
from veritrail_graph.graph.model.conversation import FoundTurn, SaidTurn
from veritrail_graph.graph.store.dialogues import DialogueStore
from veritrail_graph.graph.store.queries import library

if TYPE_CHECKING:
    import mcp

pytestmark = pytest.mark.engine

TOOLS = (
    "list_processes", "check", "verify_claim", "show_trail", "show_attribution",
    "attribute_sentences", "show_dialogue", "verify_turns", "run_query", "search", "show_node",
    "list_runs", "compare_runs", "show_trend", "list_comments", "comment_on_claim",
)  # fmt: skip
PROCESS = "mcp-attributed"
STARTS = ("check", "verify_claim", "attribute_sentences", "verify_turns", "comment_on_claim")


@asynccontextmanager
async def assistant_here(
    veritrail: Veritrail, *arguments: str, **settings: str
) -> AsyncIterator[mcp.Client]:
    """A client of the server that `veritrail mcp` makes of these arguments, in this process."""
    import mcp  # in functions: it takes most of a second, and every worker reads this file

    from veritrail_graph.api.mcp.allowance import Allowance
    from veritrail_graph.api.mcp.server import Terms, create_server

    given = dict(zip(arguments[::2], arguments[1::2], strict=True))
    known = settings_of(veritrail.environment(settings))
    door: AsyncClient | AsyncLocal = AsyncLocal(known, advice=ADVICE)
    if "--url" in given:
        key = settings.get("VERITRAIL_API_KEY")
        door = AsyncClient(given["--url"], key, patience=1, caller="mcp")
    calls = given.get("--max-calls")
    allowance = Allowance(max_calls=None if calls is None else int(calls))
    terms = Terms(engine=given.get("--engine"), allowance=allowance)
    async with door, mcp.Client(create_server(door, terms)) as client:
        yield client


@asynccontextmanager
async def assistant(
    veritrail: Veritrail, *arguments: str, log: Path, **settings: str
) -> AsyncIterator[mcp.Client]:
    """A client that has started `veritrail mcp` and speaks with it."""
    import mcp
    from mcp.client.stdio import StdioServerParameters, stdio_client

    program = str(Path(warm.on_the_path()) / "veritrail")
    environment = veritrail.environment(settings)
    server = StdioServerParameters(
        command=program, args=["mcp", *arguments], env=environment, cwd=log.parent
    )
    with log.open("w", encoding="utf-8") as errors:
        async with mcp.Client(stdio_client(server, errlog=errors)) as client:
            yield client


@pytest.fixture
def asking(veritrail: Veritrail, harbour: str) -> Callable[..., Any]:
    """Runs what an assistant does with a server in this process."""

    def run(work: Callable[[mcp.Client], Awaitable[Any]], *arguments: str, **settings: str) -> Any:
        async def whole() -> Any:
            given = arguments or ("--engine", "lexical")
            async with assistant_here(veritrail, *given, **settings) as client:
                return await work(client)

        return asyncio.run(whole())

    assert harbour
    return run


@pytest.fixture
def asking_child(veritrail: Veritrail, harbour: str, tmp_path: Path) -> Callable[..., Any]:
    """The same over stdio; checks that the server did not stumble."""

    def run(work: Callable[[mcp.Client], Awaitable[Any]], *arguments: str, **settings: str) -> Any:
        log = tmp_path / "mcp.log"

        async def whole() -> Any:
            async with assistant(veritrail, *arguments, log=log, **settings) as client:
                return await work(client)

        found = asyncio.run(whole())
        assert "Traceback" not in log.read_text()
        return found

    assert harbour
    return run


def text_of(answer: Any) -> str:
    return "\n".join(part.text for part in answer.content)


def test_the_help_of_the_command_names_every_tool():
    from veritrail_graph.api.cli.serve import mcp as command

    words = set((command.__doc__ or "").replace(",", " ").replace(".", " ").split())
    assert set(TOOLS) <= words


def test_the_tools_are_typed_and_those_that_only_read_say_so(asking):
    from veritrail_graph.api.mcp.resources import CHOSEN

    async def work(client):
        return await client.list_tools()

    tools = {tool.name: tool for tool in asking(work).tools}
    assert tuple(tools) == TOOLS
    for name, tool in tools.items():
        assert tool.annotations.read_only_hint is (name not in STARTS)
        assert tool.annotations.destructive_hint is not True
        assert tool.output_schema["type"] == "object"
        assert tool.description
        assert "base_url" not in json.dumps(tool.input_schema)
    assert tools["verify_claim"].input_schema["required"] == ["process_id"]
    # Neither engine nor model nor money is an assistant's to choose.
    assert set(tools["verify_claim"].input_schema["properties"]) == {
        "process_id", "claim", "claim_id", "node_id", "q", "add", "explain", "since",
    }  # fmt: skip
    assert set(tools["attribute_sentences"].input_schema["properties"]) == {
        "process_id", "node_id", "against", "judge", "judge_with",  # the server's own checkers
        "propositions", "correct", "mode", "recheck", "every_mode", "claim_id", "unsupported",
    }  # fmt: skip
    described = tools["run_query"].description
    assert [one for one in CHOSEN if f"- {one}(" not in described] == []
    assert "check_orphans" not in described
    assert len(described) < 3_000


def test_resources_and_the_prompt_explain_without_a_tool(asking, harbour):
    import mcp

    async def work(client):
        templates = await client.list_resource_templates()
        texts = {}
        addresses = [
            "veritrail://queries",
            f"veritrail://processes/{harbour}/claims",
        ]
        for address in addresses:
            (content,) = (await client.read_resource(address)).contents
            texts[address] = content.text
        prompts = (await client.list_prompts()).prompts
        given = {"process_id": harbour, "claim_id": "k04"}
        (message,) = (await client.get_prompt("explain_claim", given)).messages
        try:
            await client.read_resource("veritrail://processes/nothing/claims")
            fault = ""
        except mcp.MCPError as error:
            fault = str(error)
        return templates.resource_templates, texts, prompts, message.content.text, fault

    templates, texts, prompts, told, fault = asking(work)
    assert [one.uri_template for one in templates] == [
        "veritrail://processes/{process_id}/claims",
        "veritrail://verifications/{verification_id}",
    ]
    queries, claims = texts.values()
    assert [one.short_name for one in library() if f"- {one.short_name}(" not in queries] == []
    assert "- k04: " in claims
    assert '"The dredger Cornelis Bakker' in claims
    assert [(one.name, len(one.arguments)) for one in prompts] == [("explain_claim", 2)]
    assert "the claim 'k04'" in told
    assert "No process 'nothing' is stored." in fault


def test_an_answer_is_checked_and_the_wrong_claims_are_named(asking_child):
    async def work(client):
        given = {"answer": "The ferry carries 48 cars.", "sources": ["The ferry carries 42 cars."]}
        checked = await client.call_tool("check", given)
        again = {"process_id": checked.structured_content["process_id"]}
        return checked, await client.call_tool("check", again), await client.call_tool("check", {})

    checked, again, refused = asking_child(work, "--engine", "lexical")
    (wrong,) = checked.structured_content["findings"]
    assert wrong["difference"] == {"source": "42", "wrote": "48"}
    assert 'source  source-1  "The ferry carries *42* cars."' in text_of(checked)
    assert again.structured_content["findings"] == [wrong]
    assert "either `answer` and `sources`, or `row`, or `process_id`" in text_of(refused)


def test_a_claim_is_verified_and_its_trail_shown(asking_child):
    seen: list[float] = []

    async def told(progress: float, _total: float | None, _message: str | None) -> None:
        seen.append(progress)

    async def work(client):
        listed = await client.call_tool("list_processes", {})
        given = {"process_id": "harbour-summary", "claim_id": "k04"}
        verified = await client.call_tool("verify_claim", given, progress_callback=told)
        name = verified.structured_content["verification_id"]
        shown = await client.call_tool("show_trail", {"verification_id": name})
        again = await client.call_tool("verify_claim", given)
        return listed, verified, shown, again

    listed, verified, shown, again = asking_child(work, "--engine", "lexical")
    processes = [one["process_id"] for one in listed.structured_content["processes"]]
    assert "harbour-summary" in processes
    assert "harbour-summary" in text_of(listed)
    trail = verified.structured_content
    assert trail["verdict"] == "NOT_FULLY_SUPPORTED"
    assert trail["indicative"] is True
    assert trail["error_stages"] == [2]
    assert trail["iterations"][0]["evidence"][0]["text"] in text_of(verified)
    assert "Not Fully Supported" in text_of(verified)
    assert "indicative only" in text_of(verified)
    assert shown.structured_content == trail
    assert again.structured_content["verification_id"] == trail["verification_id"]
    assert seen == sorted(seen)


def test_a_new_claim_is_told_in_rounds(veritrail, tmp_path):
    process_file(tmp_path / "mcp-rounds.json")
    veritrail("ingest", str(tmp_path / "mcp-rounds.json"))
    messages: list[str | None] = []

    async def told(_progress: float, _total: float | None, message: str | None) -> None:
        messages.append(message)

    async def whole() -> Any:
        async with assistant_here(veritrail, "--engine", "lexical") as client:
            given = {"process_id": "mcp-rounds", "claim": "The harbour opened in 1901."}
            return await client.call_tool("verify_claim", given, progress_callback=told)

    answer = asyncio.run(whole())
    assert answer.structured_content["verdict"] == "FULLY_SUPPORTED"
    assert messages[0] is not None
    assert messages[0].startswith("iteration 1: ")


def test_a_verdict_of_an_earlier_version_is_kept_and_said_to_be(veritrail, tmp_path):
    for name in ("mcp-monday", "mcp-tuesday"):
        process_file(tmp_path / f"{name}.json")
        veritrail("ingest", str(tmp_path / f"{name}.json"))

    async def whole() -> Any:
        async with assistant_here(veritrail, "--engine", "lexical") as client:
            claim = {"claim": "The harbour opened in 1901.", "add": True}
            first = await client.call_tool("verify_claim", {"process_id": "mcp-monday", **claim})
            given = {"process_id": "mcp-tuesday", "since": "mcp-monday", **claim}
            return first, await client.call_tool("verify_claim", given)

    first, kept = asyncio.run(whole())
    earlier = first.structured_content["verification_id"]
    assert first.structured_content["kept_from"] is None
    assert kept.structured_content["kept_from"].startswith(f"kept from {earlier}: ")
    assert kept.structured_content["verdict"] == first.structured_content["verdict"]
    assert f"kept from {earlier}: " in text_of(kept)


def test_a_claim_is_explained_and_its_sentences_are_corrected(veritrail, tmp_path):
    async def whole(model: ModelServer) -> Any:
        settings = asking_model(model)
        async with assistant_here(veritrail, "--engine", "openai", **settings) as client:
            given = {"process_id": "mcp-explained", "claim_id": "k1"}
            explained = await client.call_tool("verify_claim", {**given, "explain": True})
            corrected = {**given, "correct": True, "recheck": "judge", "every_mode": True}
            return explained, await client.call_tool("attribute_sentences", corrected)

    veritrail("ingest", process_file(tmp_path / "mcp-explained.json", **TWISTED))
    wording = "The east quay may close in winter."
    of_modes = dict.fromkeys(("plain", "highlighted", "attribution"), wording)
    with ModelServer(Both(LINES, of_modes)) as model:
        explained, corrected = asyncio.run(whole(model))
    (carried,) = explained.structured_content["carried"]
    assert (carried["node_id"], carried["text"]) == ("notes", WILL)
    assert f'near match: r 1: "{MAY}"' in text_of(explained)
    (found,) = corrected.structured_content["sentences"]
    assert len(found["proposed"]) == 3
    assert all("fixed" in line for line in found["proposed"])


def test_sentences_are_attributed_and_what_they_rest_on_is_shown(veritrail, tmp_path):
    """A sentence that failed is told as one of which nothing is known."""
    (broken,) = (one["text"] for one in gold_sentences() if one["sentence"] == 2)
    messages: list[str | None] = []

    async def told(_progress: float, _total: float | None, message: str | None) -> None:
        messages.append(message)

    async def whole(model: ModelServer) -> Any:
        settings = asking_model(model, VERITRAIL_ANSWER_RETRIES="0")
        async with assistant_here(veritrail, "--engine", "openai", **settings) as client:
            node = {"process_id": PROCESS, "node_id": "summary"}
            given = {"process_id": PROCESS, "judge": True, "propositions": True, "mode": "plain"}
            before = await client.call_tool("show_attribution", node)
            made = await client.call_tool("attribute_sentences", given, progress_callback=told)
            one = await client.call_tool("show_attribution", {**node, "sentence": 1})
            none = await client.call_tool("show_attribution", {**node, "sentence": 2})
            split = await client.call_tool("show_attribution", {**node, "sentence": 5})
            return before, made, one, none, split

    file = json.loads(SAMPLE.read_text(encoding="utf-8"))
    path = tmp_path / "attributed.json"
    path.write_text(json.dumps({**file, "process_id": PROCESS}), encoding="utf-8")
    veritrail("ingest", str(path))
    with ModelServer(by_parts({broken: "no object"})) as model:
        before, made, one, none, split = asyncio.run(whole(model))
    assert before.structured_content["sentences"] == []
    assert "says nothing about them" in text_of(before)
    done = made.structured_content
    assert (done["status"], done["counts"]) == ("failed", {"succeeded": 5, "failed": 1})
    assert [found["sentence"] for found in done["sentences"]] == [0, 1, 3, 4, 5]
    assert "1 sentence(s) could not be attributed" in text_of(made)
    assert "no source sentence decides it" in text_of(made)
    assert messages == [f"{number} sentence(s) ended" for number in range(1, 7)]
    (found,) = one.structured_content["sentences"]
    assert found["attributed"][0]["categories"] == ["NEAR_MATCH"]
    assert 'near match: notes-board 1: "It may close' in text_of(one)
    assert found["judged_reason"] == "As the gold file says."
    assert 'judge: "As the gold file says."' in text_of(one)
    assert none.structured_content["sentences"] == []
    (found,) = split.structured_content["sentences"]
    assert [part["implied_label"] for part in found["propositions"]] == ["FAITHFUL", "UNFAITHFUL"]
    assert found["propositions"][1]["attributed"][0]["categories"] == ["NEAR_MATCH"]
    assert (
        'part, unfaithful: "The Skerra ferry … has bought a second ferry"\n'
        "    near match: notes-ferry 1: "
    ) in text_of(split)


def test_turns_are_verified_and_shown_with_what_they_contradict(veritrail, tmp_path, monkeypatch):
    name = "mcp-dialogue"
    read: list[str] = []
    page_of_turns = DialogueStore.said
    page_of_results = DialogueStore.page

    async def said(*given: Any, **options: Any) -> list[SaidTurn]:
        page = await page_of_turns(*given, **options)
        read.extend(one.turn.turn_id for one in page)
        return page

    async def found(*given: Any, **options: Any) -> list[FoundTurn]:
        page = await page_of_results(*given, **options)
        read.extend(one.found.turn_id for one in page)
        return page

    monkeypatch.setattr(DialogueStore, "said", said)
    monkeypatch.setattr(DialogueStore, "page", found)
    messages: list[str | None] = []

    async def told(_progress: float, _total: float | None, message: str | None) -> None:
        messages.append(message)

    async def whole(model: ModelServer) -> Any:
        settings = asking_model(model, VERITRAIL_ANSWER_RETRIES="0")
        async with assistant_here(veritrail, "--engine", "openai", **settings) as client:
            of = {"process_id": name}
            before = await client.call_tool("show_dialogue", of)
            some = {**of, "turn_ids": ["t2", "t4"]}
            made = await client.call_tool("verify_turns", some, progress_callback=told)
            await client.call_tool("verify_turns", of)
            read.clear()
            first = await client.call_tool("show_dialogue", of)
            after = first.structured_content["next"]
            rest = await client.call_tool("show_dialogue", {**of, "after": after})
            both = len(read), read.count("t1")
            one = await client.call_tool("show_dialogue", {**of, "turn_id": "t24"})
            assert len(read) - both[0] <= 5, read
            none = await client.call_tool("show_dialogue", {**of, "turn_id": "t99"})
            users = await client.call_tool("verify_turns", {**of, "turn_ids": ["t1"]})
            return before, made, first, rest, one, none, users, both

    document = json.loads(DIALOGUE.read_text(encoding="utf-8"))
    path = tmp_path / "dialogue.json"
    path.write_text(json.dumps({**document, "dialogue_id": name}), encoding="utf-8")
    veritrail("ingest", str(path))
    broken = "The assistant is the guide of the Lindholm Tram Museum."
    with ModelServer(DialogueReader({broken: "no object"})) as model:
        before, made, first, rest, one, none, users, both = asyncio.run(whole(model))
    assert "No turn was verified yet" in text_of(before)
    assert "not checked" in text_of(before)
    done = made.structured_content
    assert (done["status"], done["counts"]) == ("failed", {"succeeded": 1, "failed": 1})
    assert [turn["turn_id"] for turn in done["turns"]] == ["t2", "t4"]
    assert "1 turn(s) could not be verified" in text_of(made)
    assert messages == ["1 turn(s) ended", "2 turn(s) ended"]
    turns = first.structured_content["turns"] + rest.structured_content["turns"]
    assert [turn["turn_id"] for turn in turns] == [f"t{n}" for n in range(1, 31)]
    assert rest.structured_content["next"] is None
    most = 30 + 15 + 3 + 2  # each turn, each result, some turns in both answers
    assert both[0] <= most, read
    assert both[1] == 1, "the second answer began with the first turn"
    (turn,) = one.structured_content["turns"]
    assert [claim["category"] for claim in turn["claims"]] == ["CONTRADICTED", "VERIFIED"]
    assert turn["claims"][0]["contradicts"][0]["turn_id"] == "t4"
    assert 'said before in turn t4: "The Lindholm Tram Museum is closed' in text_of(one)
    assert none.is_error
    assert "is not in the dialogue" in text_of(none)
    assert users.is_error
    assert "is the user's" in text_of(users)


def test_queries_of_the_library_are_asked_and_bounded(asking):
    async def work(client):
        given = {"name": "source_nodes"}
        params = {"process_id": "harbour-summary", "node_id": "final"}
        fine = await client.call_tool("run_query", {**given, "params": params})
        whole = await client.call_tool(
            "run_query",
            {"name": "ancestors", "params": {**params, "limit": 2}},
        )
        return fine, whole

    fine, whole = asking(work)
    assert fine.structured_content["rows"]
    assert fine.structured_content["truncated"] is False
    assert fine.structured_content["columns"][0] in text_of(fine)
    assert len(whole.structured_content["rows"]) == 2
    assert whole.structured_content["truncated"] is True
    assert "more rows" in text_of(whole)


REFUSED = (
    ("verify_claim", {"process_id": "nope", "claim": "x"}, "No process 'nope' is stored"),
    ("verify_claim", {"process_id": "harbour-summary"}, "either `claim` or `claim_id`"),
    ("attribute_sentences", {"process_id": "nope"}, "No process 'nope' is stored"),
    ("attribute_sentences", {"process_id": "harbour-summary", "node_id": "c01"}, "is a root"),
    ("attribute_sentences", {"process_id": "harbour-summary", "against": "x"}, "against"),
    ("attribute_sentences", {"process_id": "harbour-summary", "judge": True}, "language model"),
    ("attribute_sentences", {"process_id": "harbour-summary", "judge_with": "x"}, "judge_with"),
    ("verify_turns", {"process_id": "harbour-summary"}, "is no dialogue"),
    ("show_dialogue", {"process_id": "harbour-summary"}, "is no dialogue"),
    ("show_dialogue", {"process_id": "nope"}, "No process 'nope' is stored"),
    ("show_attribution", {"process_id": "harbour-summary", "node_id": "zz"}, "has no node 'zz'"),
    (
        "verify_claim",
        {"process_id": "harbour-summary", "claim": "x", "node_id": "c01"},
        "is a root",
    ),
    ("verify_claim", {"process_id": "harbour-summary", "claim": "x", "q": 0}, "q"),
    ("show_trail", {"verification_id": "v-none"}, "is stored. `run_query` with the query"),
    ("run_query", {"name": "drop_all"}, "No query 'drop_all'"),
    ("run_query", {"name": "MATCH (n) DETACH DELETE n"}, "No query"),
    ("run_query", {"name": "claims", "params": {"x": 1}}, "process_id: is missing"),
)


def test_what_cannot_be_done_is_an_error_of_the_tool_in_clear_words(asking):
    async def work(client):
        failed = [await client.call_tool(tool, given) for tool, given, _ in REFUSED]
        return failed, await client.call_tool("list_processes", {"limit": 1})

    failed, after = asking(work)
    for answer, (_, _, words) in zip(failed, REFUSED, strict=True):
        assert answer.is_error
        assert words in text_of(answer)
        assert "Traceback" not in text_of(answer)
        assert "Error executing" not in text_of(answer)
        assert "GET /v1" not in text_of(answer)
    assert not after.is_error


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def test_what_assistants_may_spend_is_said_by_whoever_starts_the_server(
    veritrail, model, tmp_path, asking, asking_child
):
    veritrail("ingest", pumps(tmp_path / "pumps-mcp.json", 3))

    async def work(client):
        calls = [{"process_id": "pumps-mcp", "claim_id": f"k{number}"} for number in range(3)]
        return [await client.call_tool("verify_claim", one) for one in calls]

    # Enough for one claim, and not for two.
    first, second, third = asking(work, "--max-calls", "6", **asking_model(model))
    asked = len(model.requests)
    assert 0 < asked <= 6
    assert first.structured_content["verdict"] == "FULLY_SUPPORTED"
    assert first.structured_content["indicative"] is False
    assert second.structured_content["status"] == "over_budget"
    assert second.structured_content["verdict"] is None
    assert "No verdict: Over budget" in text_of(second)
    assert "Not Fully Supported" not in text_of(second).split("iteration 1")[0]
    assert third.is_error
    assert "used up its number of calls" in text_of(third)

    spent = asking_child(
        work, "--budget", "0.000001", "--price", "1000,1000", **asking_model(model)
    )
    assert spent[1].structured_content["status"] == "over_budget"
    assert spent[2].is_error
    assert "used up its budget" in text_of(spent[2])
    assert len(model.requests) == asked + 1  # what is in flight may pass a budget, and no more


def test_a_service_is_asked_with_its_key(beside, harbour, asking):
    key = {"VERITRAIL_API_KEY": "a-key-that-is-long-enough"}

    async def work(client):
        given = {"process_id": harbour, "claim_id": "k07"}
        verified = await client.call_tool("verify_claim", given)
        listed = await client.call_tool("list_processes", {})
        unknown = await client.call_tool("show_trail", {"verification_id": "v-none"})
        return verified, listed, unknown

    with serving(beside, env=key) as service:
        service.until_ready()
        through = ("--url", service.url, "--engine", "lexical")
        verified, listed, unknown = asking(work, *through, **key)
        assert "`run_query` with the query `verifications` lists" in text_of(unknown)
        assert verified.structured_content["indicative"] is True
        assert verified.structured_content["status"] in ("succeeded", "undecided")
        assert harbour in text_of(listed)
        _, refused, _ = asking(work, *through)
        assert refused.is_error
        assert "key" in text_of(refused)


def test_a_service_that_does_not_answer_is_an_error_of_the_tool(asking):
    async def work(client):
        return await client.call_tool("show_trail", {"verification_id": "v"})

    failed = asking(work, "--url", "http://127.0.0.1:9", "--engine", "lexical")
    assert failed.is_error
    assert "No service answers at http://127.0.0.1:9" in text_of(failed)

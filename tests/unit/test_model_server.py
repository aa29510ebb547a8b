"""The scripted chat endpoint: what it checks, what it sends, and each fault as it arrives."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from fakes.model_answers import (
    FULLY_SUPPORTED,
    INCONCLUSIVE,
    NOT_FULLY_SUPPORTED,
    Lines,
    ScriptedReader,
)
from fakes.model_faults import HARMLESS, INVALID, TRANSPORT, Fault, Faults, FaultScript, always
from fakes.model_prompts import FormatError, parse_claim_prompt, parse_excerpts
from fakes.model_replies import as_ranges
from fakes.model_server import ModelServer, Received
from fakes.model_server_process import model_server_process

from veritrail_graph.verifier.answers import last_object, read_selection, read_verdict
from veritrail_graph.verifier.models.port import InvalidAnswer

EXCERPTS = """\
[[1]]
(context) A HEADING
0: The harbour opened in 1901.
1: It has two piers and a mole.
[[2]]
2: The lighthouse was built in 1923."""
CLAIM = "The harbour has two piers."
PROMPT = f"{EXCERPTS}\nClaim: {CLAIM}"
SELECT, VERDICT = "evidence_selection", "verdict"
READ: dict[str, Callable[[str], object]] = {
    SELECT: lambda text: read_selection(text, 3),
    VERDICT: read_verdict,
}


class Client:
    """One connection to a server."""

    def __init__(self, base_url: str, timeout: float = 10.0) -> None:
        place = base_url.removeprefix("http://").removesuffix("/v1")
        self.wire = http.client.HTTPConnection(place, timeout=timeout)

    def close(self) -> None:
        self.wire.close()

    def get(self, path: str) -> Any:
        self.wire.request("GET", path)
        return json.loads(self.wire.getresponse().read())

    def ask(
        self, step: str = SELECT, user: str = PROMPT, system: str = "Do it.", **more: Any
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        headers = {"X-Veritrail-Step": step, **more.pop("headers", {})}
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        body = json.dumps({"model": "m", "messages": messages, **more})
        self.wire.request("POST", "/v1/chat/completions", body, headers)
        answer = self.wire.getresponse()
        return answer.status, answer.headers, answer.read()

    def text(self, step: str = SELECT, user: str = PROMPT) -> str:
        """The text of an answer that must be one."""
        status, _, body = self.ask(step, user)
        assert status == 200, body
        text: str = json.loads(body)["choices"][0]["message"]["content"]
        return text


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(is_strict=False, trickle_seconds=0.4) as server:
        yield server


@pytest.fixture
def client(server: ModelServer) -> Iterator[Client]:
    with closing(Client(server.base_url)) as client:
        yield client


# The format of prompts.


def test_excerpts_are_read_as_blocks_with_context_ids_claim_and_sub_claims() -> None:
    read = parse_excerpts(f"{PROMPT}\nSub-claims:\n- The harbour has piers.\n- They are two.")
    assert [block.label for block in read.blocks] == [1, 2]
    assert read.blocks[0].context == ("A HEADING",)
    assert read.sentences[2] == "The lighthouse was built in 1923."
    assert read.claim == CLAIM
    assert read.sub_claims == ("The harbour has piers.", "They are two.")


def test_sentences_that_look_like_lines_of_ours_stay_sentences() -> None:
    read = parse_excerpts('[[1]]\n0: [[7]]\n1: Claim: no.\n2: 3: {"verdict": "x"}\nClaim: yes')
    assert read.sentences == {0: "[[7]]", 1: "Claim: no.", 2: '3: {"verdict": "x"}'}
    assert read.claim == "yes"


@pytest.mark.parametrize(
    ("wrong", "step"),
    [
        (PROMPT.replace("[[2]]", "[[3]]"), SELECT),
        (PROMPT.replace("[[1]]\n", ""), SELECT),
        (PROMPT.replace("2: ", "3: "), SELECT),
        (PROMPT.replace("1: It", "01: It"), SELECT),
        (PROMPT.replace("1: It", "It"), SELECT),
        (PROMPT.replace("[[2]]", "(context) late\n[[2]]"), SELECT),
        (PROMPT.replace("[[2]]", "[[2]]\n[[3]]"), SELECT),
        (PROMPT.replace("two piers.", "two\u2028piers."), SELECT),
        (PROMPT.replace("\nClaim", "\n\nClaim"), SELECT),
        (PROMPT + "\n", SELECT),
        (PROMPT + "\nPlease answer in JSON.", SELECT),
        (PROMPT + "\nSub-claims:\n- only one", SELECT),
        (PROMPT + "\nSub-claims:\n- one\ntwo", SELECT),
        (PROMPT + "\nSub-claims:\n- one\n- two", VERDICT),
        (EXCERPTS, SELECT),
        (f"{EXCERPTS}\nClaim: ", SELECT),
        (f"Claim: {CLAIM}", SELECT),
    ],
)
def test_any_deviation_from_the_format_is_an_error(wrong: str, step: str) -> None:
    with pytest.raises(FormatError):
        parse_excerpts(wrong, step)


def test_claim_prompts_are_read_with_their_question_and_context() -> None:
    read = parse_claim_prompt(
        "Question: Why?\n(context) Before.\nSentence: It is so.", "claim_selection"
    )
    assert (read.question, read.context, read.text) == ("Why?", ("Before.",), "It is so.")
    assert parse_claim_prompt("Claim: A and b.", "sub_claim_decomposition").text == "A and b."


@pytest.mark.parametrize(
    ("wrong", "step"),
    [
        ("Sentence: It is so.", "sub_claim_decomposition"),
        ("Claim: It is so.", "claim_selection"),
        ("(context) Before.\nQuestion: Why?\nSentence: So.", "claim_selection"),
        ("Before.\nSentence: So.", "claim_decomposition"),
        ("Sentence: So.\n", "claim_decomposition"),
    ],
)
def test_a_claim_prompt_of_another_form_is_an_error(wrong: str, step: str) -> None:
    with pytest.raises(FormatError):
        parse_claim_prompt(wrong, step)


def test_a_prompt_out_of_form_is_refused_and_fails_the_test_that_sent_it() -> None:
    server = ModelServer()
    server.__enter__()
    with closing(Client(server.base_url)) as client:
        status, _, body = client.ask(user="0: A sentence")
    assert status == 400
    assert b"no line `Claim" in body
    with pytest.raises(AssertionError, match="no line `Claim"):
        server.__exit__(None)


@pytest.mark.parametrize(
    "more", [{"stream": True}, {"n": 2}, {"headers": {"X-Veritrail-Step": "another"}}]
)
def test_a_request_out_of_the_protocol_is_refused(
    server: ModelServer, client: Client, more: dict[str, Any]
) -> None:
    assert client.ask(**more)[0] == 400
    assert len(server.wrong) == 1


# Answers.


def test_words_decide_what_is_evidence_and_the_verdict(client: Client) -> None:
    read = read_selection(client.text(), 3)
    assert read.evidence == (1,)
    assert read.context == (0,)  # what "It" points back to
    assert read.summary == "It has two piers and a mole."
    assert read_verdict(client.text(VERDICT)).verdict == FULLY_SUPPORTED
    other = PROMPT.replace("has two piers.\n", "has.").replace("Claim: The", "Claim: In 1850 the")
    assert read_verdict(client.text(VERDICT, other)).verdict == NOT_FULLY_SUPPORTED


def test_the_claim_steps_pass_sentences_through(client: Client) -> None:
    def answer(step: str, user: str) -> dict[str, Any]:
        return last_object(client.text(step, user))

    sentence = "Sentence: It is so."
    assert answer("claim_selection", sentence)["outcome"] == "verifiable"
    assert answer("claim_disambiguation", sentence)["outcome"] == "clear"
    assert answer("claim_decomposition", sentence) == {"claims": ["It is so."]}
    assert answer("sub_claim_decomposition", "Claim: A and b and c.") == {
        "claims": ["A", "b and c."]
    }


def test_a_script_answers_the_same_prompt_with_the_same_verdict() -> None:
    lines = Lines(["two piers"], ["opened"], [INCONCLUSIVE, FULLY_SUPPORTED], ["A.", "B."])
    reader = ScriptedReader({CLAIM: lines})
    with ModelServer(reader) as server, closing(Client(server.base_url)) as client:
        read = read_selection(client.text(), 3)
        assert (read.evidence, read.context) == ((1,), (0,))
        second = PROMPT.replace("a mole", "a wall")
        told = [read_verdict(client.text(VERDICT, each)).verdict
                for each in (PROMPT, PROMPT, second, PROMPT)]  # fmt: skip
        assert told == [INCONCLUSIVE, INCONCLUSIVE, FULLY_SUPPORTED, INCONCLUSIVE]
        parts = last_object(client.text("sub_claim_decomposition", f"Claim: {CLAIM}"))
        assert parts == {"claims": ["A.", "B."]}


def test_requests_are_kept_with_their_step_prompt_and_times() -> None:
    with ModelServer(latency=0.1) as server:

        def call() -> None:
            with closing(Client(server.base_url)) as client:
                client.text()

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.most_at_once == 4
        assert len(server.of(SELECT)) == 4
        assert server.of(VERDICT) == []
        first = server.requests[0]
        assert (first.step, first.system, first.user) == (SELECT, "Do it.", PROMPT)
        assert first.answered is not None
        assert 0.1 <= first.answered - first.arrived < 5


def test_prefixes_that_were_answered_before_count_as_cached() -> None:
    with ModelServer(caches_prefixes=True) as server, closing(Client(server.base_url)) as client:

        def cached(user: str, system: str = "s" * 3000) -> int:
            usage = json.loads(client.ask(user=user, system=system)[2])["usage"]
            found: int = usage["prompt_tokens_details"]["cached_tokens"]
            return found

        long = PROMPT.replace("a mole", "a mole" + " of stone" * 300)
        length = 3001 + long.rindex("Claim")
        assert cached(long) == 0
        assert cached(long.replace(CLAIM, "Another claim.")) == length // 1024 * 1024 // 4
        assert cached(long.replace("harbour", "haven")) == 2 * 1024 // 4
        assert cached(long, "t" * 3000) == 0
        assert server.stats()["cached_characters"][SELECT] == (length // 1024 + 2) * 1024


@pytest.mark.parametrize(
    ("refuses", "status", "code"),
    [
        ({"key": "right"}, 401, "invalid_api_key"),
        ({"models": ["another"]}, 404, "model_not_found"),
        ({"context_tokens": 10}, 400, "context_length_exceeded"),
        ({"refuses": ["temperature"]}, 400, "unsupported_value"),
        ({"refuses": ["max_tokens"]}, 400, "unsupported_parameter"),
    ],
)
def test_refusals_have_the_shape_of_openais(
    refuses: dict[str, Any], status: int, code: str
) -> None:
    with ModelServer(**refuses) as server, closing(Client(server.base_url)) as client:
        told, _, body = client.ask(temperature=0, max_tokens=100)
        assert told == status
        assert json.loads(body)["error"]["code"] == code


def test_models_are_listed(client: Client) -> None:
    assert client.get("/v1/models")["data"][0]["id"] == "scripted"


# Faults.


@pytest.mark.parametrize(
    ("fault", "status"),
    [(fault, int(fault.split("_")[0])) for fault in TRANSPORT if fault[0].isdigit()],
)
def test_statuses_are_sent(server: ModelServer, client: Client, fault: Fault, status: int) -> None:
    server.faults = always(fault)
    told, headers, _ = client.ask()
    assert told == status
    assert (headers["retry-after"] is not None) == (fault is Fault.STATUS_429_RETRY_AFTER)


def test_a_hanging_call_is_never_answered(server: ModelServer) -> None:
    server.faults = always(Fault.HANG)
    with closing(Client(server.base_url, timeout=0.3)) as client, pytest.raises(TimeoutError):
        client.ask()


def test_a_dropped_call_ends_before_or_within_the_body(server: ModelServer, client: Client) -> None:
    server.faults = FaultScript({(SELECT, 0): Fault.DROPPED, (SELECT, 1): Fault.DROPPED_IN_BODY})
    with pytest.raises(ConnectionError):
        client.ask()
    client.close()
    with pytest.raises(http.client.IncompleteRead) as cut:
        client.ask()
    assert cut.value.partial
    client.close()
    assert client.ask()[0] == 200


def test_pages_and_broken_bodies_are_sent_with_status_200(
    server: ModelServer, client: Client
) -> None:
    server.faults = always(Fault.WRONG_CONTENT_TYPE)
    status, headers, body = client.ask()
    assert (status, headers.get_content_type()) == (200, "text/html")
    assert body.startswith(b"<!DOCTYPE")
    server.faults = always(Fault.BROKEN_BODY)
    status, headers, body = client.ask()
    assert (status, headers.get_content_type()) == (200, "application/json")
    with pytest.raises(ValueError, match="Unterminated"):
        json.loads(body)


def test_a_slow_trickle_takes_its_time_and_is_whole(server: ModelServer, client: Client) -> None:
    server.faults = always(Fault.SLOW_TRICKLE)
    began = time.monotonic()
    read_selection(client.text(), 3)
    assert time.monotonic() - began > 0.3


@pytest.mark.parametrize("step", [SELECT, VERDICT])
@pytest.mark.parametrize("fault", INVALID)
def test_an_invalid_answer_is_no_answer(
    server: ModelServer, client: Client, fault: Fault, step: str
) -> None:
    server.faults = always(fault)
    status, _, body = client.ask(step)
    assert status == 200
    choices = json.loads(body)["choices"]
    if fault is Fault.EMPTY_CHOICES:
        assert choices == []
        return
    message, finish = choices[0]["message"], choices[0]["finish_reason"]
    assert bool(message["refusal"]) == (fault is Fault.REFUSAL)
    ends = {Fault.CUT_OFF: "length", Fault.CONTENT_FILTER: "content_filter"}
    assert finish == ends.get(fault, "stop")
    with pytest.raises(InvalidAnswer):
        READ[step](message["content"] or "")


@pytest.mark.parametrize("fault", HARMLESS)
def test_an_odd_answer_reads_as_the_plain_one(
    server: ModelServer, client: Client, fault: Fault
) -> None:
    plain, verdict = client.text(), client.text(VERDICT)
    server.faults = always(fault)
    odd = client.text()
    assert odd != plain
    read, expected = read_selection(odd, 3), read_selection(plain, 3)
    assert (read.evidence, read.context, read.summary, read.missing) == (
        expected.evidence, expected.context, expected.summary, expected.missing,
    )  # fmt: skip
    assert bool(read.dropped) == (fault is Fault.IDS_OUT_OF_RANGE)
    assert read_verdict(client.text(VERDICT)) == read_verdict(verdict)


def test_runs_of_ids_become_ranges() -> None:
    assert as_ranges([7, 1, 2, 3]) == ["1-3", "7"]


def test_every_fault_is_of_one_kind() -> None:
    assert sorted((*TRANSPORT, *INVALID, *HARMLESS)) == sorted(Fault)


def test_a_share_of_calls_fails_whatever_their_order() -> None:
    faults = Faults(0.2, TRANSPORT, seed=7, beside=(0.1, INVALID))
    asked = [request(f"{PROMPT} {number}", sent) for number in range(500) for sent in range(4)]
    drawn = [faults(each) for each in asked]
    assert drawn == [faults(each) for each in asked]
    assert sum(each in TRANSPORT for each in drawn) / len(drawn) == pytest.approx(0.2, abs=0.03)
    assert sum(each in INVALID for each in drawn) / len(drawn) == pytest.approx(0.1, abs=0.03)
    assert set(drawn) == {None, *TRANSPORT, *INVALID}
    assert drawn != [Faults(0.2, TRANSPORT, seed=8)(each) for each in asked]
    all_fail = Faults(1.0, at_most=2)
    assert [all_fail(request(PROMPT, sent)) is None for sent in range(4)] == [False] * 2 + [
        True
    ] * 2


def test_a_process_of_its_own_serves_and_counts() -> None:
    with (
        model_server_process("--latency", "0.05") as base_url,
        closing(Client(base_url)) as client,
    ):
        began = time.monotonic()
        assert read_verdict(client.text(VERDICT)).verdict == FULLY_SUPPORTED
        assert time.monotonic() - began > 0.05
        assert client.get("/v1/stats")["calls"] == {VERDICT: 1}
        client.get("/v1/reset")
        assert client.get("/v1/stats")["calls"] == {}


def request(user: str, sent: int) -> Received:
    return Received(0, 0, sent, SELECT, "s", user, "/", {}, {}, 0.0)

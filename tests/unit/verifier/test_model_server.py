"""The scripted chat endpoint: what it checks, what it sends, and each fault as it arrives."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from fakes.model_answers import (
    FULLY_SUPPORTED,
    INCONCLUSIVE,
    Lines,
    ScriptedReader,
)
from fakes.model_faults import INVALID, TRANSPORT, Faults
from fakes.model_prompts import FormatError, parse_claim_prompt, parse_excerpts
from fakes.model_server import ModelServer, Received

from veritrail_graph.verifier.answers import final_object, read_selection, read_verdict

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
        parts = final_object(client.text("sub_claim_decomposition", f"Claim: {CLAIM}"))
        assert parts == {"claims": ["A.", "B."]}


# Faults.


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


def request(user: str, sent: int) -> Received:
    return Received(0, 0, sent, SELECT, "s", user, "/", {}, {}, 0.0)

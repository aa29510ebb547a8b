"""What the errors of many servers mean."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from typing import Any

import pytest

from veritrail_graph.verifier.models.faults import ErrorContext, Problem, retry_after, short_message
from veritrail_graph.verifier.models.faults import fault as meaning
from veritrail_graph.verifier.models.port import (
    ContextTooLong,
    EndpointRefused,
    Filtered,
    ModelError,
    RequestRejected,
    TransportFault,
)

FIRST = ErrorContext()
ANSWERED = ErrorContext(has_answered=True)


def fault(status: int, body: Any, around: ErrorContext = FIRST) -> ModelError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return meaning(status, Problem.read(content), {}, "told", around)


def says(message: str) -> dict[str, Any]:
    return {"error": {"message": message}}


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_statuses_that_pass_are_worth_another_try(status: int) -> None:
    found = fault(status, {"error": {"message": "Busy."}})
    assert isinstance(found, TransportFault)
    assert found.status == status
    assert found.is_throttling == (status == 429)


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "0.5"}, 0.5, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9, 9),
        ({"retry-after": formatdate(time.time() + 90_000, usegmt=True)}, 80_000, 90_000),
        ({"retry-after": formatdate(time.time() - 3000, usegmt=True)}, 0, 0),
    ],
)
def test_what_the_endpoint_asks_to_wait_is_read(
    headers: dict[str, str], low: float, high: float
) -> None:
    found = retry_after(headers)
    assert found is not None
    assert low <= found <= high


@pytest.mark.parametrize("value", ["soon", "-5", "nan", ""])
def test_a_wait_that_makes_no_sense_is_none(value: str) -> None:
    assert retry_after({"retry-after": value}) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, {"error": {"message": "Incorrect API key provided."}}),
        (403, {"error": {"message": "No access."}}),
        (404, {"error": {"message": "no such path"}}),
        (404, {"error": {"code": "model_not_found", "message": "The model `x` does not exist."}}),
        (400, {"error": {"message": "The model `x` does not exist"}}),
        (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your quota."}}),
        (402, says("This request requires more credits, or fewer max_tokens.")),
        (402, b""),
        (405, b"<html><title>405 Not Allowed</title></html>"),
        (410, says("This model has been retired.")),
        (403, says("Country, region, or territory not supported")),
        (403, says("Your organization must be verified to use the model `x`.")),
    ],
)
def test_what_holds_for_all_calls_refuses_the_endpoint(status: int, body: Any) -> None:
    assert type(fault(status, body)) is EndpointRefused


TOO_LONG: list[tuple[int, Any, int | None]] = [
    (
        400,
        {
            "error": {
                "code": "context_length_exceeded",
                "message": "This model's maximum context length is 8192 tokens. However, your "
                "messages resulted in 9000 tokens. Please reduce the length of the messages.",
            }
        },
        8192,
    ),
    (
        400,
        {
            "object": "error",
            "code": 400,
            "message": "The decoder prompt (length 5000) is longer than the maximum model length "
            "of 4096. Make sure that `max_model_len` is no smaller than the number of tokens.",
        },
        4096,
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "type": "exceed_context_size_error",
                "message": "the request exceeds the available context size. try increasing it",
                "n_prompt_tokens": 9000,
                "n_ctx": 2048,
            }
        },
        2048,
    ),
    (400, {"error": "the input length exceeds the context length"}, None),
    (
        400,
        {"error": {"message": "prompt is too long: 210000 tokens > 200000 maximum"}},
        200_000,
    ),
    (
        400,
        {
            "error": {
                "message": "input length and `max_tokens` exceed context limit: 188240 + 21333 > "
                "200000, decrease input length or `max_tokens` and try again"
            }
        },
        200_000,
    ),
    (
        400,
        {
            "error": {
                "status": "INVALID_ARGUMENT",
                "message": "The input token count (1200000) exceeds the maximum number of tokens "
                "allowed (1048576).",
            }
        },
        1_048_576,
    ),
    (422, {"detail": "Prompt is too large for model with 32768 maximum context length"}, 32_768),
    (
        400,
        {
            "object": "error",
            "message": "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's "
            "maximum context length is 4096 tokens and your request has 1000 input tokens.",
        },
        4096,
    ),
    (
        429,
        {
            "error": {
                "code": "rate_limit_exceeded",
                "message": "Request too large for gpt-6-luna on tokens per min (TPM): Limit 30000, "
                "Requested 50000. The input or output tokens must be reduced.",
            }
        },
        None,
    ),
    (413, b"<html>Payload Too Large</html>", None),
]


@pytest.mark.parametrize(("status", "body", "window"), TOO_LONG)
def test_a_prompt_that_is_too_long_is_recognised(
    status: int, body: Any, window: int | None
) -> None:
    found = fault(status, body)
    assert isinstance(found, ContextTooLong)
    assert found.context_tokens == window


def test_a_filter_that_refuses_the_prompt_is_a_filter() -> None:
    body = {
        "error": {
            "code": "content_filter",
            "message": "The response was filtered due to the prompt.",
            "innererror": {"code": "ResponsibleAIPolicyViolation"},
        }
    }
    assert type(fault(400, body)) is Filtered


@pytest.mark.parametrize("status", [400, 415, 418, 422])
def test_other_refusals_are_of_this_request(status: int) -> None:
    assert type(fault(status, {"error": {"message": "Invalid messages."}})) is RequestRejected


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"[[[{}]]]", b"null", b'"busy"', b"\xff\xfe", b"[" * 100_000, b"{}"]
)
def test_any_body_of_an_error_can_be_read(body: bytes) -> None:
    assert isinstance(fault(500, body), TransportFault)
    assert type(fault(400, body)) is RequestRejected


def test_words_of_a_server_are_cut_and_cleaned() -> None:
    told = short_message("Key sk-12345 is wrong.\x1b[31m\nSee\u202e " + "x" * 1000, "sk-12345")
    assert told.startswith("Key … is wrong. [31m See xxx")
    assert len(told) == 200


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-Ab12Cd34Ef56", "sk-abc4*********wxyz", "sk_live_51Habcdef", "gsk_9aBcDeFgHi",
        "AIzaSyA1234567890abc", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
    ],
)  # fmt: skip
def test_what_looks_like_a_key_is_left_out_of_the_words_of_a_server(key: str) -> None:
    assert short_message(f"Key {key}, of the gateway, is wrong.") == (
        "Key …, of the gateway, is wrong."
    )


def test_the_token_of_a_bearer_is_left_out_and_words_are_not() -> None:
    assert short_message("sent Bearer abcdef123456; refused") == "sent Bearer …; refused"
    words = "The key-value store has no Bearer authentication, nor model key_of_models or sk-learn."
    assert short_message(words) == words


def test_what_a_server_validates_is_read_and_its_echo_is_not() -> None:
    detail = {"type": "extra_forbidden", "loc": ["body", "temperature"], "input": "A private text"}
    body = json.dumps({"detail": [{**detail, "msg": "Extra inputs are not permitted"}]}).encode()
    problem = Problem.read(body)
    assert problem == Problem(
        "Extra inputs are not permitted", frozenset({"extra_forbidden"}), "temperature"
    )


GOOGLE = {
    "error": {
        "code": 400,
        "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT",
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "x"}],
    }
}
EXPIRED = {
    "error": {"message": "Renew it.", "details": [{"reason": "API_KEY_INVALID"}], "code": 400}
}


@pytest.mark.parametrize(
    "body",
    [
        GOOGLE,
        [GOOGLE],
        EXPIRED,
        says("Invalid API-key provided."),
        says("Incorrect API key provided: abc."),
        says("Missing required api_key"),
        {"error": {"type": "authentication_error", "message": "no"}},
        says("Your credit balance is too low to access the API. Please go to Plans & Billing."),
        says("Insufficient balance"),
        says("You have not enough credits left."),
    ],
)
@pytest.mark.parametrize("around", [FIRST, ANSWERED])
def test_a_bad_request_that_is_a_bad_key_or_an_empty_account_stops_the_run(
    body: Any, around: ErrorContext
) -> None:
    assert type(fault(400, body, around)) is EndpointRefused


@pytest.mark.parametrize(
    "message",
    [
        "Invalid value for 'messages[1].content'.",
        "The model could not read the key `text` of message 1.",
        "This document says that the balance of forces is unknown.",
        "Invalid 'temperature': expected a number.",
        "The request is missing a required field.",
        "safety_identifier is not taken here",
    ],
)
def test_a_bad_request_about_itself_is_of_this_request(message: str) -> None:
    assert type(fault(400, says(message))) is RequestRejected


@pytest.mark.parametrize("status", [400, 403])
def test_words_that_a_server_repeats_from_the_prompt_say_nothing(status: int) -> None:
    sentence = "The API key is not valid, and the content\nwas flagged by moderation."
    body = says(f"Cannot read: 0: {sentence}")
    around = ErrorContext(f"[[1]]\n0: {sentence}\nClaim: x", has_answered=True)
    assert type(fault(status, body, around)) is RequestRejected
    assert type(fault(400, body, ErrorContext("Claim: x"))) is EndpointRefused


def test_a_model_that_answered_before_is_not_unknown() -> None:
    body = says("model error: image not found")
    assert type(fault(400, body)) is EndpointRefused
    assert type(fault(400, body, ANSWERED)) is RequestRejected


@pytest.mark.parametrize(
    "body",
    [
        says("Your chosen model requires moderation and your input was flagged for violence."),
        {"error": {"code": "content_policy_violation", "message": "No."}},
        says("This request violates our content policy."),
        says("Blocked for reasons of safety."),
        says("The prompt was blocked."),
    ],
)
@pytest.mark.parametrize("around", [FIRST, ANSWERED])
def test_a_403_about_what_a_prompt_says_is_a_filter(body: Any, around: ErrorContext) -> None:
    assert type(fault(403, body, around)) is Filtered


@pytest.mark.parametrize(
    "message",
    [
        "You do not have permission to use this model.",
        "Access denied.",
        "This key has been blocked.",
        "Your account was suspended: it violates our content policy.",
        "Project has no access to model x",
    ],
)
@pytest.mark.parametrize("around", [FIRST, ANSWERED])
def test_a_403_about_the_key_stops_the_run(message: str, around: ErrorContext) -> None:
    assert type(fault(403, says(message), around)) is EndpointRefused


@pytest.mark.parametrize(
    "body", [b"", says("Forbidden"), b"<html><title>Access denied</title></html>"]
)
def test_a_403_that_says_nothing_stops_a_run_that_was_never_answered(body: Any) -> None:
    assert type(fault(403, body)) is EndpointRefused
    assert type(fault(403, body, ANSWERED)) is RequestRejected


def test_a_page_that_blocks_a_prompt_does_not_stop_a_run_that_was_answered() -> None:
    page = b"<!DOCTYPE html><html><body>Sorry, you have been blocked</body></html>"
    assert type(fault(403, page)) is EndpointRefused
    assert type(fault(403, page, ANSWERED)) is Filtered


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("bad \ud800 thing\udfff\ufffe", "bad \ufffd thing\ufffd\ufffd"),
        (
            "\n<!DOCTYPE html>\n<html><head><title>\n 502 Bad\nGateway</title>",
            "an HTML page: 502 Bad Gateway",
        ),
        ("<html><body>" + "x" * 1000, "an HTML page"),
        ("upstream said <b>no</b>\t\r\n  at all", "upstream said no at all"),
        ("use <name> for the model", "use <name> for the model"),
    ],
)
def test_words_of_a_server_can_be_stored_and_are_on_one_line(text: str, told: str) -> None:
    assert short_message(text) == told

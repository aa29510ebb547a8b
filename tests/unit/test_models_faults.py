"""What the errors of many servers mean."""

from __future__ import annotations

import json
import time
from email.utils import formatdate
from typing import Any

import pytest

from verifier.models.faults import Problem, retry_after, shown
from verifier.models.faults import fault as meaning
from verifier.models.port import (
    ContextTooLong,
    EndpointRefused,
    Filtered,
    ModelError,
    RequestRejected,
    TransportFault,
)


def fault(status: int, body: Any) -> ModelError:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return meaning(status, Problem.read(content), {}, "told")


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
        ({"retry-after": formatdate(time.time() + 3000, usegmt=True)}, 2000, 3000),
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
                "message": "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, "
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


@pytest.mark.parametrize("status", [400, 405, 415, 418, 422])
def test_other_refusals_are_of_this_request(status: int) -> None:
    assert type(fault(status, {"error": {"message": "Invalid messages."}})) is RequestRejected


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"[[[{}]]]", b"null", b'"busy"', b"\xff\xfe", b"[" * 100_000, b"{}"]
)
def test_any_body_of_an_error_can_be_read(body: bytes) -> None:
    assert isinstance(fault(500, body), TransportFault)
    assert type(fault(400, body)) is RequestRejected


def test_words_of_a_server_are_cut_and_cleaned() -> None:
    told = shown("Key sk-12345 is wrong.\x1b[31m\nSee\u202e " + "x" * 1000, "sk-12345")
    assert told.startswith("Key … is wrong. [31m See  xxx")
    assert len(told) == 201


def test_what_a_server_validates_is_read_and_its_echo_is_not() -> None:
    detail = {"type": "extra_forbidden", "loc": ["body", "temperature"], "input": "A private text"}
    body = json.dumps({"detail": [{**detail, "msg": "Extra inputs are not permitted"}]}).encode()
    problem = Problem.read(body)
    assert problem == Problem(
        "Extra inputs are not permitted", frozenset({"extra_forbidden"}), "temperature"
    )

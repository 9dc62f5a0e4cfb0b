"""What servers say when they fail, in every wording and form, becomes the right kind."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor.providers.base import Worker
from conductor.providers.failures import SHOWN_CHARACTERS, failure, read_error
from conductor.providers.profiles import Adaptation, adapted, profile_of
from conductor.providers.retry_after import retry_after_s

WORKER = Worker("w", "openai", "m", base_url="https://models.example/v1")
NOW = datetime(2026, 5, 1, 12, 0, 0, tzinfo=UTC)

OVERFLOWS = (
    "This model's maximum context length is 4096 tokens. However, you requested 5000.",
    "Your input exceeds the context window of this model.",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Input is too long for requested model.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Invalid request: Your request exceeded model token limit: 131072",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "the request exceeds the available context size, try increasing it",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "The input (140000 tokens) is longer than the model's context length (131072 tokens).",
    "prompt token count of 130000 exceeds the limit of 128000",
    "The number of tokens to keep from the initial prompt is greater than the context length.",
    "invalid params, context window exceeds limit",
    "Prompt contains 150000 tokens, too large for model with 131072 maximum context length",
    "prompt too long; exceeded max context length by 5000 tokens",
    "Range of input length should be [1, 129024]",
    "tokens in request more than max tokens allowed",
    "The prompt (30000) is longer than the maximum model length of 24576.",
    "Input tokens exceed the configured limit of 922000 tokens.",
    "Prompt has 70000 tokens, but the configured context size is 65536 tokens",
    "Input length 300000 exceeds the maximum allowed input length of 262144 tokens.",
)
NO_OVERFLOWS = (
    "max_tokens: 99999 exceeds the limit of 8192 for this model",
    "Too many tokens per minute.",
    "The value of top_p should be in the range of 0 to 1.",
)


@pytest.mark.parametrize("message", OVERFLOWS)
def test_context_overflow_in_every_wording(message: str) -> None:
    for status in (400, 413, 422, 500):
        error = failure(WORKER, read_error(status, {"error": {"message": message}}))
        assert (error.kind, error.retryable) == ("context_overflow", False)
        assert "fewer outputs" in error.hint


@pytest.mark.parametrize("message", NO_OVERFLOWS)
def test_other_limits_are_no_overflow_of_the_context(message: str) -> None:
    assert failure(WORKER, read_error(400, {"error": {"message": message}})).kind == "bad_request"


@pytest.mark.parametrize("code", ["context_length_exceeded", "exceed_context_size_error", "input_too_large"])
def test_context_overflow_by_code(code: str) -> None:
    for key in ("code", "type"):
        assert (
            failure(WORKER, read_error(400, {"error": {key: code, "message": "?"}})).kind
            == "context_overflow"
        )


def test_body_that_is_a_list() -> None:
    said = read_error(400, b'[{"error": {"code": 400, "message": "Unknown name \\"seed\\"", "status": "X"}}]')
    assert said.message == 'Unknown name "seed"'


def test_html_is_shown_as_words_and_cut() -> None:
    page = "<html><style>b {}</style><body><h1>503 Service</h1>" + "<p>very busy</p>" * 400
    error = failure(WORKER, read_error(503, page))
    assert "503 Service very busy" in error.message
    assert "<" not in error.message
    assert len(error.message) < SHOWN_CHARACTERS + 60


def test_code_inside_a_200_counts_as_its_status() -> None:
    assert failure(WORKER, read_error(200, {"error": {"code": 429, "message": "x"}})).kind == "rate_limited"
    assert failure(WORKER, read_error(200, {"error": {"code": 502, "message": "x"}})).kind == "provider_error"


def test_keys_in_error_texts_are_masked() -> None:
    leak = "Invalid token sk-proj-Abcdef123456789012 in header Authorization: Bearer abcd1234efgh5678"
    shown = failure(WORKER, read_error(401, leak)).message
    assert "Abcdef" not in shown
    assert "abcd1234" not in shown


@given(st.integers(300, 599), st.binary(max_size=200))
def test_no_body_crashes_the_classification(status: int, content: bytes) -> None:
    error = failure(WORKER, read_error(status, content))
    assert error.message
    assert error.as_data().kind == error.kind


@pytest.mark.parametrize(
    ("headers", "body", "wait"),
    [
        ({"Retry-After": "30"}, None, 30),
        ({"retry-after-ms": "1500", "retry-after": "9"}, None, 1.5),
        ({"Retry-After": "Fri, 01 May 2026 12:00:20 GMT"}, None, 20),
        ({"Retry-After": "Fri, 01 May 2026 11:00:20 GMT"}, None, 0),
        ({"Retry-After": "soon"}, None, None),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0"}, None, 360),
        ({"x-ratelimit-reset-tokens": "120ms", "x-ratelimit-remaining-tokens": "0"}, None, 0.12),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "12"}, None, None),
        ({"anthropic-ratelimit-tokens-reset": "2026-05-01T12:00:05Z"}, None, 5),
        ({}, {"details": [{"@type": "RetryInfo", "retryDelay": "17s"}]}, 17),
        ({}, {"details": "none"}, None),
        ({}, None, None),
    ],
)
def test_retry_after_in_every_form(headers: dict[str, str], body: object, wait: float | None) -> None:
    found = retry_after_s(headers, body, now=NOW)
    assert found == pytest.approx(wait) if wait is not None else found is None


def test_adapting_renames_the_cap_and_drops_what_can_be_missed() -> None:
    body = {"model": "m", "messages": [], "max_tokens": 5, "seed": 1, "temperature": 0}
    said = read_error(
        400, {"error": {"message": 'Invalid JSON payload received. Unknown name "seed": no field.'}}
    )
    dropped = adapted(said, body, Adaptation())
    assert dropped == Adaptation(drop=frozenset({"seed"}))
    said = read_error(400, {"error": {"message": "Unsupported parameter: 'max_tokens' is not supported"}})
    both = adapted(said, dropped.apply(body), dropped)
    assert both is not None
    assert both.apply(body) == {"model": "m", "messages": [], "max_completion_tokens": 5, "temperature": 0}


@pytest.mark.parametrize(
    "message",
    ["max_tokens is too large: 99999", "The model is unsupported", "unsupported messages", "temperature"],
)
def test_adapting_leaves_other_complaints_alone(message: str) -> None:
    body = {"model": "m", "messages": [], "max_tokens": 5, "temperature": 0}
    assert adapted(read_error(400, {"error": {"message": message}}), body, Adaptation()) is None
    assert (
        adapted(read_error(429, {"error": {"message": "unsupported temperature"}}), body, Adaptation())
        is None
    )


def test_profile_is_the_hosts_with_the_pools_changes() -> None:
    openai = Worker("w", "openai", "m")
    assert profile_of(openai).cap_field == "max_completion_tokens"
    assert profile_of(WORKER).cap_field == "max_tokens"
    changed = Worker("w", "openai", "m", profile={"cap_field": "n", "script": [], "tokens_per_s": 3})
    assert profile_of(changed).cap_field == "n"
    assert not profile_of(Worker("w", "anthropic", "m", base_url="https://proxy.example")).sampling

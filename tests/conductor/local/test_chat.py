"""Requests and errors of local chats, as values."""

from __future__ import annotations

from typing import Any

import pytest

from conductor.local.chat import build_request, request_error
from conductor.local.engine_process import LocalModelError


def request(**changes: Any) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "settings": {},
        "max_output_tokens": 10,
        "seed": None,
        "grammar": None,
        "json_schema": None,
        "top_logprobs": 0,
    }
    return build_request([{"role": "user", "content": "Hi"}], **(arguments | changes))


def test_greedy_unless_told_otherwise() -> None:
    assert request()["temperature"] == 0.0
    assert request(settings={"temperature": 0.7, "stop": ["x"]}) == request() | {
        "temperature": 0.7,
        "stop": ["x"],
    }


def test_what_was_asked_for_is_in_the_request() -> None:
    made = request(seed=-1, grammar="root ::= [a]", top_logprobs=5)
    assert made["seed"] == 0xFFFF_FFFF and made["grammar"] == "root ::= [a]"
    assert made["logprobs"] is True and made["top_logprobs"] == 5
    assert request(json_schema={"type": "object"})["response_format"]["type"] == "json_schema"
    assert not {"seed", "grammar", "logprobs", "response_format"} & request().keys()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"settings": {"reasoning_effort": "low"}}, "no setting 'reasoning_effort'"),
        ({"settings": {"temperature": "hot"}}, "temperature is 'hot'"),
        ({"settings": {"top_p": True}}, "top_p is True"),
        ({"grammar": "x", "json_schema": {}}, None),
        ({"grammar": "x", "json_schema": {"type": "object"}}, "both"),
        ({"max_output_tokens": 0}, "max_output_tokens is 0"),
    ],
)
def test_what_the_engine_would_not_understand_is_refused(changes: dict[str, Any], said: str | None) -> None:
    if said is None:
        request(**changes)
        return
    with pytest.raises(LocalModelError, match=said) as caught:
        request(**changes)
    assert caught.value.kind == "bad_request"


def test_errors_of_the_engine_keep_their_meaning() -> None:
    overflow = request_error({"type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192})
    assert (overflow.kind, overflow.message) == (
        "context_overflow",
        "the input has 9,000 tokens, the model takes 8,192",
    )
    assert request_error({"type": "invalid_request_error", "message": "no"}).kind == "bad_request"
    assert request_error({}).kind == "unavailable"

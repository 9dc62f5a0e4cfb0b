"""Anthropic's Messages API through the real SDK from a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from conductor.providers.anthropic_messages import AnthropicMessages
from conductor.providers.base import Delta, Worker
from conductor_client.usage import Usage
from conductor_client.workflow import Message
from tests.bad_server.replies import Reply, body
from tests.bad_server.replies import named_events as stream
from tests.conductor.providers.wire import call, failure_of, hear, wire


@pytest.fixture
async def provider() -> AsyncIterator[AnthropicMessages]:
    made = AnthropicMessages()
    yield made
    await made.close()


def worker(url: str, **fields: Any) -> Worker:
    return Worker(**{"name": "w", "provider": "anthropic", "model": "claude-x", "base_url": url} | fields)


def start(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"model": "claude-x-2026", "usage": usage, "content": []}}


def text(said: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": said}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def thought(said: str) -> dict[str, Any]:
    delta = {"type": "thinking_delta", "thinking": said}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def end(stop_reason: str | None = "end_turn", details: Any = None, **usage: Any) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason, "stop_details": details},
        "usage": usage,
    }


STOP = {"type": "message_stop"}
PING = {"type": "ping"}


async def test_a_plain_stream(provider: AnthropicMessages) -> None:
    reply = stream(
        start(input_tokens=5, output_tokens=1),
        PING,
        thought("Hm"),
        text("Hel"),
        text("lo"),
        end(output_tokens=9),
        STOP,
    )
    async with wire(reply) as server:
        request = call(
            worker(server.url), max_output_tokens=50, settings={"stop": "X", "reasoning_effort": "low"}
        )
        heard = await hear(provider, request)
    assert heard.text() == heard.end.output == "Hello"
    assert heard.text("reasoning") == heard.end.reasoning == "Hm"
    assert heard.end.usage == Usage(input_tokens=5, output_tokens=9)
    assert heard.end.served_model == "claude-x-2026"
    assert server.paths == ["/v1/messages"]
    assert server.requests == [
        {
            "model": "claude-x",
            "max_tokens": 50,
            "messages": [{"role": "user", "content": "hi"}],
            "stream": True,
            "stop_sequences": ["X"],
            "output_config": {"effort": "low"},
        }
    ]


async def test_cached_tokens_are_part_of_the_input(provider: AnthropicMessages) -> None:
    counted = start(input_tokens=80, cache_read_input_tokens=17_817, cache_creation_input_tokens=6)
    done = end(output_tokens=9, output_tokens_details={"thinking_tokens": 4})
    async with wire(stream(counted, text("Hi"), done, STOP)) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert heard.end.usage == Usage(
        input_tokens=17_903,
        cached_input_tokens=17_817,
        cache_write_tokens=6,
        output_tokens=9,
        reasoning_tokens=4,
    )


async def test_system_messages_go_into_their_own_field(provider: AnthropicMessages) -> None:
    from dataclasses import replace

    async with wire(stream(start(), text("Hi"), end(), STOP)) as server:
        request = call(worker(f"{server.url}/v1"))
        system = Message(role="system", content="Be brief.")
        heard = await hear(provider, replace(request, messages=(system, *request.messages)))
    assert server.requests[0]["system"] == "Be brief."
    assert [each["role"] for each in server.requests[0]["messages"]] == ["user"]
    assert heard.end.usage is None


async def test_sampling_is_left_out_and_told(provider: AnthropicMessages) -> None:
    async with wire(stream(start(), text("Hi"), end(), STOP)) as server:
        heard = await hear(provider, call(worker(server.url), settings={"temperature": 0.2, "top_p": None}))
    assert "temperature" not in server.requests[0]
    assert heard.end.notes == ("Left out temperature: this API takes no sampling settings.",)


async def test_older_api_takes_sampling(provider: AnthropicMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "marker-1234567")
    async with wire(stream(start(), text("Hi"), end(), STOP)) as server:
        asked = worker(server.url, profile={"api_version": "2023-06-01"}, api_key_env="GATEWAY_KEY")
        await hear(provider, call(asked, settings={"temperature": 0.2}))
    assert server.requests[0]["temperature"] == 0.2
    assert server.headers[0]["anthropic-version"] == "2023-06-01"
    assert server.headers[0]["X-Api-Key"] == "marker-1234567"


@pytest.mark.parametrize(
    ("stop_reason", "kind"),
    [
        ("refusal", "refused"),
        ("model_context_window_exceeded", "context_overflow"),
        (None, "stream_truncated"),
    ],
)
async def test_ends_that_are_failures(
    provider: AnthropicMessages, stop_reason: str | None, kind: str
) -> None:
    async with wire(stream(start(input_tokens=5), text("par"), end(stop_reason), STOP)) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert (error.kind, error.partial_text) == (kind, "par")


async def test_cap_spent_on_thinking(provider: AnthropicMessages) -> None:
    done = end("max_tokens", output_tokens=99, output_tokens_details={"thinking_tokens": 99})
    async with wire(stream(start(input_tokens=5), thought("Hm"), done, STOP)) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert error.kind == "truncated"
    assert "99 tokens" in error.message


async def test_overload_event_inside_a_stream(provider: AnthropicMessages) -> None:
    problem = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    async with wire(stream(start(), text("a"), text("b"), text("c"), problem)) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert (error.kind, error.retryable, error.partial_text) == ("overloaded", True, "abc")


async def test_socket_cut(provider: AnthropicMessages) -> None:
    async with wire(stream(start(), text("a"), is_cut=True)) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert (error.kind, error.retryable, error.partial_text) == ("stream_truncated", True, "a")


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (body({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, 529), "overloaded"),
        (body({"type": "error", "error": {"type": "authentication_error", "message": "x"}}, 401), "auth"),
        (
            body(
                {
                    "type": "error",
                    "error": {"type": "invalid_request_error", "message": "prompt is too long"},
                },
                400,
            ),
            "context_overflow",
        ),
        (
            body(
                {"type": "error", "error": {"type": "rate_limit_error", "message": "x"}},
                429,
                retry_after="3600",
            ),
            "rate_limited",
        ),
        (body({"type": "error", "error": {"message": "Your credit balance is too low"}}, 400), "quota"),
    ],
)
async def test_statuses_become_kinds(provider: AnthropicMessages, reply: Reply, kind: str) -> None:
    async with wire(reply) as server:
        error = await asyncio.wait_for(failure_of(provider, call(worker(server.url))), 5)
    assert error.kind == kind
    assert len(server.requests) == 1, "the provider must not retry"
    if kind == "rate_limited":
        assert error.retry_after_s == 3600


async def test_an_answer_in_one_piece(provider: AnthropicMessages) -> None:
    whole = {
        "type": "message",
        "model": "m",
        "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }
    async with wire(body(whole)) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert (heard.end.output, heard.end.reasoning) == ("Hi", "Hm")
    assert heard.end.usage == Usage(input_tokens=1, output_tokens=2)


async def test_cancelling_closes_the_socket(provider: AnthropicMessages) -> None:
    async with wire(stream(start(), text("One"), is_stuck=True)) as server:
        begun = asyncio.Event()

        async def read() -> None:
            async for item in provider.stream(call(worker(server.url))):
                if isinstance(item, Delta):
                    begun.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.hung_up.wait(), 1)


async def test_missing_key_names_the_variable(provider: AnthropicMessages) -> None:
    error = await failure_of(provider, call(Worker("w", "anthropic", "claude-x")))
    assert error.kind == "auth"
    assert "ANTHROPIC_API_KEY" in error.message


async def test_key_of_the_vendor_does_not_go_elsewhere(
    provider: AnthropicMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "marker-abcdef1")
    async with wire(stream(start(), text("Hi"), end(), STOP)) as server:
        await hear(provider, call(worker(server.url)))
    assert "marker" not in str(dict(server.headers[0]))
    named = worker("https://models.example/v1", api_key_env="ANTHROPIC_API_KEY")
    error = await failure_of(provider, call(named))
    assert (error.kind, "belongs to anthropic.com" in error.message) == ("bad_request", True)


async def test_a_refused_parameter_is_left_out_and_remembered(provider: AnthropicMessages) -> None:
    refused = {"type": "error", "error": {"message": "output_config: Extra inputs are not permitted"}}
    answer = stream(start(input_tokens=3), text("Hi"), end(output_tokens=1), STOP)
    async with wire(body(refused, 400), answer, answer) as server:
        old = worker(server.url, settings={"reasoning_effort": "low"})
        heard = await hear(provider, call(old))
        again = await hear(provider, call(old))
    assert ["output_config" in each for each in server.requests] == [True, False, False]
    assert heard.end.notes == again.end.notes == ("Left out output_config: the server does not take it.",)
    assert provider.learnt(old) == ("output_config is left out",)

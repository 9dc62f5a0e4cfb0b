"""Chat Completions through the real SDK from a real socket: every odd thing servers send."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from conductor.prices import cost_of
from conductor.providers.base import Completion, Delta, Worker
from conductor.providers.openai_chat import OpenAIChat
from conductor_client.usage import Usage
from tests.bad_server.replies import Reply, body, events
from tests.conductor.providers.wire import call, failure_of, hear, wire

USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


@pytest.fixture
async def provider() -> AsyncIterator[OpenAIChat]:
    made = OpenAIChat()
    yield made
    await made.close()


def worker(url: str, **fields: Any) -> Worker:
    return Worker(
        **{"name": "w", "provider": "openai", "model": "some-model", "base_url": f"{url}/v1"} | fields
    )


def said(text: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    content = {} if text is None else {"content": text}
    return {
        "model": "served-model",
        "choices": [{"index": 0, "delta": {**content, **delta}, "finish_reason": finish}],
    }


async def test_a_plain_stream(provider: OpenAIChat) -> None:
    usage_alone = {"choices": [], "usage": USAGE}
    async with wire(events(said("Hel"), said("lo"), said(finish="stop"), usage_alone)) as server:
        heard = await hear(
            provider, call(worker(server.url), seed=4, max_output_tokens=9, settings={"stop": None})
        )
    assert [each.text for each in heard.deltas] == ["Hel", "lo"]
    assert heard.end == Completion(
        "Hello", usage=Usage(input_tokens=7, output_tokens=3), served_model="served-model"
    )
    assert server.paths == ["/v1/chat/completions"]
    assert server.requests == [
        {
            "model": "some-model",
            "messages": [{"role": "user", "content": "hi"}],
            "max_tokens": 9,
            "seed": 4,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]


@pytest.mark.parametrize(
    "chunks",
    [
        [said("Hi"), said(finish="stop") | {"usage": USAGE}],
        [
            said("Hi") | {"usage": {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}},
            said(finish="stop") | {"usage": USAGE},
        ],
        [said("Hi") | {"usage": None}, said(finish="stop"), {"choices": None, "usage": USAGE}],
    ],
    ids=["with a choice", "cumulative", "choices null"],
)
async def test_usage_is_read_once_in_every_form(provider: OpenAIChat, chunks: list[Any]) -> None:
    async with wire(events(*chunks)) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert heard.end.usage == Usage(input_tokens=7, output_tokens=3)


async def test_no_usage_is_unknown(provider: OpenAIChat) -> None:
    async with wire(events(said("Hi", "stop"))) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert heard.end.usage is None


async def test_an_answer_in_one_piece(provider: OpenAIChat) -> None:
    whole = {
        "model": "m",
        "choices": [{"index": 0, "message": {"content": "Hi", "reasoning": "Hm"}, "finish_reason": "stop"}],
        "usage": USAGE,
    }
    async with wire(body(whole)) as server:
        heard = await hear(provider, call(worker(server.url, profile={"stream": False})))
        assert "stream" not in server.requests[0]
        ignoring = await hear(provider, call(worker(server.url)))
    assert heard.end.output == ignoring.end.output == "Hi"
    assert heard.end.reasoning == "Hm"


async def test_cap_spent_on_thinking_says_so(provider: OpenAIChat) -> None:
    usage = {**USAGE, "completion_tokens_details": {"reasoning_tokens": 3}}
    chunks = [said(None, reasoning_content="Hmm"), said(None, "length", content=None) | {"usage": usage}]
    async with wire(events(*chunks)) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert error.kind == "truncated"
    assert "thinking (3 tokens)" in error.message
    assert error.reasoning == "Hmm"
    assert error.usage == Usage(input_tokens=7, output_tokens=3, reasoning_tokens=3)


async def test_empty_answer_is_handed_on_as_empty(provider: OpenAIChat) -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 0}
    whole = {"choices": [{"message": {"content": None}, "finish_reason": "stop"}], "usage": usage}
    async with wire(body(whole)) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert heard.end.output == ""
    assert heard.end.usage == Usage(input_tokens=0, output_tokens=0)


@pytest.mark.parametrize("is_cut", [False, True], ids=["closed cleanly", "socket cut"])
async def test_a_stream_that_stops_keeps_its_text(provider: OpenAIChat, is_cut: bool) -> None:
    async with wire(events(said("One "), said("two "), said("three"), done=False, is_cut=is_cut)) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert error.kind == "stream_truncated"
    assert error.partial_text == "One two three"
    assert error.retryable


@pytest.mark.parametrize("in_stream", [False, True])
async def test_error_under_200_is_an_error(provider: OpenAIChat, in_stream: bool) -> None:
    problem = {"error": {"message": "Provider is overloaded", "code": 503}}
    reply = events(said("par"), problem) if in_stream else body(problem)
    async with wire(reply) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert error.kind == "overloaded"
    assert error.partial_text == ("par" if in_stream else "")


async def test_named_error_event(provider: OpenAIChat) -> None:
    piece = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\nevent: error\ndata: {"message":"boom"}\n\n'
    async with wire(Reply((piece,), headers={"Content-Type": "text/event-stream"})) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert (error.kind, error.partial_text) == ("provider_error", "a")
    assert "boom" in error.message


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (body({"error": {"message": "no", "code": "invalid_api_key"}}, 401), "auth"),
        (body({"error": {"message": "no such model"}}, 404), "bad_request"),
        (body({"error": {"message": "quota", "code": "insufficient_quota"}}, 429), "quota"),
        (body({"error": {"message": "slow"}}, 429, retry_after="30"), "rate_limited"),
        (body("", 429), "rate_limited"),
        (body("<html><body><h1>Service Unavailable</h1></body></html>", 503), "overloaded"),
        (body([{"error": {"message": "limit: 0, model: x", "status": "RESOURCE_EXHAUSTED"}}], 429), "quota"),
        (body({"error": "balance"}, 402), "quota"),
        (body({"error": {"message": "m", "code": "context_length_exceeded"}}, 400), "context_overflow"),
        (body({"error": {"message": "x", "code": "content_filter"}}, 400), "refused"),
        (body("gateway", 502), "provider_error"),
        (body("", 302, Location="http://127.0.0.1:1/"), "bad_request"),
    ],
)
async def test_statuses_become_kinds(provider: OpenAIChat, reply: Reply, kind: str) -> None:
    async with wire(reply) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert error.kind == kind
    assert error.hint
    assert len(server.requests) == 1, "the provider must not retry"
    if kind == "rate_limited" and "retry-after" in reply.headers:
        assert error.retry_after_s == 30


async def test_refusal_in_its_own_field(provider: OpenAIChat) -> None:
    async with wire(
        events(said(refusal="I cannot "), said(refusal="do that."), said(finish="stop"))
    ) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert (error.kind, error.retryable) == ("refused", False)
    assert "I cannot do that." in error.message


async def test_content_filter_as_the_only_chunk(provider: OpenAIChat) -> None:
    async with wire(events(said(finish="content_filter"))) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert error.kind == "refused"


async def test_parameter_that_is_refused_is_renamed_once_and_remembered(provider: OpenAIChat) -> None:
    refused = {
        "error": {
            "message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            "code": "unsupported_parameter",
            "param": "max_tokens",
        }
    }
    async with wire(body(refused, 400), events(said("Hi", "stop"))) as server:
        heard = await hear(provider, call(worker(server.url), max_output_tokens=9))
        again = await hear(provider, call(worker(server.url), max_output_tokens=9))
    assert [each.get("max_tokens") for each in server.requests] == [9, None, None]
    assert [each.get("max_completion_tokens") for each in server.requests] == [None, 9, 9]
    assert (
        heard.end.notes
        == again.end.notes
        == ("Sent max_tokens as max_completion_tokens: the server asks for it.",)
    )


async def test_value_that_is_refused_is_left_out(provider: OpenAIChat) -> None:
    refused = {
        "error": {
            "message": "Unsupported value: 'temperature' does not support 0 with this model.",
            "code": "unsupported_value",
            "param": "temperature",
        }
    }
    async with wire(body(refused, 400), events(said("Hi", "stop"))) as server:
        heard = await hear(provider, call(worker(server.url), settings={"temperature": 0}))
    assert "temperature" not in server.requests[1]
    assert heard.end.notes == ("Left out temperature: the server does not take it.",)


async def test_a_400_that_names_nothing_is_not_tried_again(provider: OpenAIChat) -> None:
    async with wire(body({"error": {"message": "bad"}}, 400)) as server:
        error = await failure_of(provider, call(worker(server.url), max_output_tokens=9))
    assert (error.kind, len(server.requests)) == ("bad_request", 1)


async def test_a_server_that_always_complains_is_not_asked_for_ever(provider: OpenAIChat) -> None:
    refused = {"error": {"message": "unsupported parameter", "param": "temperature"}}
    async with wire(body(refused, 400)) as server:
        error = await failure_of(provider, call(worker(server.url), settings={"temperature": 1}))
    assert (error.kind, len(server.requests)) == ("bad_request", 2)


@pytest.mark.parametrize(
    ("pieces", "output", "reasoning"),
    [
        (["<think>a", "b</think>\n\nc"], "c", "ab"),
        (["<th", "ink>a</thi", "nk>c"], "c", "a"),
        (["a\n", "</think>", "\nc"], "c", "a"),
        (["No tag < here, ", "a <b> c"], "No tag < here, a <b> c", ""),
        (["Write `</think>` to end"], "Write `</think>` to end", ""),
    ],
    ids=["closed", "cut in the tags", "unopened", "none", "talked about"],
)
async def test_think_tags(provider: OpenAIChat, pieces: list[str], output: str, reasoning: str) -> None:
    async with wire(events(*map(said, pieces), said(finish="stop"))) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert (heard.end.output, heard.end.reasoning) == (output, reasoning)


async def test_thought_that_never_ends_is_no_answer(provider: OpenAIChat) -> None:
    async with wire(events(said("<think>on and"), said(" on"), said(finish="length"))) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert (error.kind, error.partial_text, error.reasoning) == ("truncated", "", "on and on")


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_thoughts_in_their_own_field(provider: OpenAIChat, name: str) -> None:
    async with wire(events(said(**{name: "Hm. "}), said(**{name: "So."}), said("42", "stop"))) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert (heard.end.output, heard.end.reasoning) == ("42", "Hm. So.")
    assert heard.text("reasoning") == "Hm. So."


async def test_thoughts_as_details_and_parts(provider: OpenAIChat) -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}, {"type": "text", "text": "c"}]
    details = [{"type": "reasoning.text", "text": "a"}]
    async with wire(events(said(reasoning_details=details), said(parts, "stop"))) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert (heard.end.output, heard.end.reasoning) == ("c", "ab")


async def test_emoji_cut_in_two_chunks(provider: OpenAIChat) -> None:
    halves = [
        b'data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n',
        b'data: {"choices":[{"delta":{"content":"\\ude00b"},"finish_reason":"stop"}]}\n\n',
    ]
    async with wire(Reply(tuple(halves), headers={"Content-Type": "text/event-stream"})) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert heard.end.output == heard.text() == "a😀b"


async def test_bytes_cut_anywhere(provider: OpenAIChat) -> None:
    whole = b"".join(events(said("Grüße 😀"), said(" und mehr", "stop")).pieces).replace(b"\n", b"\r\n")
    pieces = tuple(whole[at : at + 7] for at in range(0, len(whole), 7))
    keepalive = b": still here\r\n\r\n"
    async with wire(Reply((keepalive, *pieces), headers={"Content-Type": "text/event-stream"})) as server:
        heard = await hear(provider, call(worker(server.url)))
    assert heard.end.output == "Grüße 😀 und mehr"


async def test_logprobs(provider: OpenAIChat) -> None:
    top = [{"token": "A", "logprob": -0.1}, {"token": "B", "logprob": -2.5}]
    chunk = said("A", "stop")
    chunk["choices"][0]["logprobs"] = {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": top}]}
    async with wire(events(chunk)) as server:
        known = worker(server.url, profile={"like": "vllm"})
        heard = await hear(provider, call(known, top_logprobs=40))
        await hear(provider, call(worker(server.url), top_logprobs=40))
    assert server.requests[0]["top_logprobs"] == 20
    assert "top_logprobs" not in server.requests[1], "an unknown server is not asked for what it may refuse"
    assert heard.end.logprobs[0].top == {"A": -0.1, "B": -2.5}


async def test_reported_cost_beats_the_list(provider: OpenAIChat) -> None:
    async with wire(
        events(said("Hi", "stop"), {"choices": [], "usage": {**USAGE, "cost": 0.00012}})
    ) as server:
        asked = worker(server.url)
        heard = await hear(provider, call(asked))
    assert heard.end.reported_cost_usd == "0.00012"
    cost, _ = cost_of(asked, heard.end.usage, reported=heard.end.reported_cost_usd)
    assert cost == Decimal("0.00012")


async def test_cancelling_closes_the_socket(provider: OpenAIChat) -> None:
    async with wire(events(said("One "), done=False, is_stuck=True)) as server:
        begun = asyncio.Event()

        async def read() -> None:
            async for item in provider.stream(call(worker(server.url))):
                if isinstance(item, Delta):
                    begun.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.hung_up.wait(), 1)


async def test_unreachable_server(provider: OpenAIChat) -> None:
    error = await failure_of(provider, call(worker("http://127.0.0.1:9")))
    assert (error.kind, error.retryable) == ("connection", True)
    assert "127.0.0.1:9" in error.message


async def test_missing_key_names_the_variable(provider: OpenAIChat) -> None:
    error = await failure_of(provider, call(worker("http://127.0.0.1:9", api_key_env="MY_GATEWAY_API_KEY")))
    assert error.kind == "auth"
    assert "MY_GATEWAY_API_KEY" in error.message


async def test_key_goes_along_and_is_never_in_an_error(
    provider: OpenAIChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_GATEWAY", "marker-7f3a91c2")
    refused = {"error": {"message": "Incorrect API key provided: marker-7f3a91c2"}}
    async with wire(body(refused, 401)) as server:
        error = await failure_of(provider, call(worker(server.url, api_key_env="MY_GATEWAY")))
    assert server.headers[0]["Authorization"] == "Bearer marker-7f3a91c2"
    assert "marker" not in error.message
    assert error.kind == "auth"


async def test_environment_of_the_sdk_does_not_leak_to_other_servers(
    provider: OpenAIChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"marker-{name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    async with wire(events(said("Hi", "stop"))) as server:
        await hear(provider, call(worker(server.url)))
    assert "marker" not in str(dict(server.headers[0]))


async def test_worker_from_outside_may_not_reach_this_machine(provider: OpenAIChat) -> None:
    async with wire(events(said("Hi", "stop"))) as server:
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            error = await failure_of(provider, call(replace(worker(url), from_operator=False)))
            assert error.kind == "bad_request"
            assert "private network" in error.message
    assert server.requests == []


async def test_html_under_200_is_an_error(provider: OpenAIChat) -> None:
    async with wire(body("<html><title>Login</title></html>")) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert error.kind == "provider_error"
    assert "Login" in error.message


async def test_json_schema_and_system_role(provider: OpenAIChat) -> None:
    async with wire(events(said("{}", "stop"))) as server:
        await hear(
            provider,
            call(
                worker(server.url, profile={"json_mode": "object", "cap_field": "max_output"}),
                json_schema={},
                max_output_tokens=5,
            ),
        )
    assert server.requests[0]["response_format"] == {"type": "json_object"}
    assert server.requests[0]["max_output"] == 5


@pytest.mark.parametrize(
    ("finish", "kind"), [("sensitive", "refused"), ("model_context_window_exceeded", "context_overflow")]
)
async def test_other_vendors_words_for_an_end(provider: OpenAIChat, finish: str, kind: str) -> None:
    async with wire(events(said("par", finish))) as server:
        error = await failure_of(provider, call(worker(server.url)))
    assert (error.kind, error.partial_text, error.retryable) == (kind, "par", False)

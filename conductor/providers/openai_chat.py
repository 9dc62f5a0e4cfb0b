"""Workers behind Chat Completions: OpenAI and all that speaks like it. The only module with ``openai``.

The SDK's client sends the request, knows the errors and holds the connections; the answer is read from its
raw lines, because an object per token costs four times the CPU of the bytes. Its retries are off: the runner
has the one policy.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx2

from conductor.providers.adapting import Adaptations, Refused
from conductor.providers.answering import Connections, answered
from conductor.providers.base import Call, Completion, Delta, Notice, Worker, WorkerError
from conductor.providers.chat_answer import ChatAnswer
from conductor.providers.failures import read_error
from conductor.providers.keys import key_for
from conductor.providers.profiles import SAMPLING, Profile, profile_of
from conductor.providers.transport import connection_failure

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "none"
"""The SDK wants a key even for servers that don't."""


class OpenAIChat:
    """The provider ``openai``. One client per address and key, one connection pool for all."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str, bool], openai.AsyncOpenAI] = {}
        self._connections = Connections()
        self._adaptations = Adaptations()

    async def stream(self, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
        """Runs one call. A 400 that names a parameter we can do without is answered once without it."""
        worker, profile = call.worker, profile_of(call.worker)
        client = await self._client(worker)
        body, notes = chat_body(call, profile)
        response, adapted = await self._adaptations.send(worker, body, partial(_send, client, worker))
        answer = ChatAnswer(worker, think_tags=profile.think_tags)
        async with aclosing(answered(call, profile, response, answer, (*notes, *adapted))) as items:
            async for item in items:
                yield item

    def learnt(self, worker: Worker) -> tuple[str, ...]:
        """What the worker's server has refused so far, in words."""
        return self._adaptations.learnt(worker)

    async def close(self) -> None:
        """Closes every connection."""
        self._clients.clear()
        await self._connections.close()

    async def _client(self, worker: Worker) -> openai.AsyncOpenAI:
        key = key_for(worker) or NO_KEY
        place = (worker.base_url or OPENAI_URL, key, worker.from_operator)
        if place not in self._clients:
            # The import takes about a second; the page must not stand still meanwhile.
            sdk = await asyncio.to_thread(_import_openai)
            http = self._connections.http(from_operator=worker.from_operator)
            client = sdk.AsyncOpenAI(api_key=key, base_url=place[0], max_retries=0, http_client=http)
            if worker.base_url is not None:
                # The environment's organisation is for the vendor itself, not for every server like it.
                client.organization = client.project = None
            self._clients[place] = client
        return self._clients[place]


def chat_body(call: Call, profile: Profile) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The request, and notes on what was left out of it."""
    settings = {name: value for name, value in call.settings.items() if value is not None}
    notes: list[str] = []
    if not profile.sampling and (left_out := sorted(SAMPLING & settings.keys())):
        settings = {name: value for name, value in settings.items() if name not in SAMPLING}
        notes.append(f"Left out {', '.join(left_out)}: this server takes no sampling settings.")
    if profile.effort_field == "reasoning" and (effort := settings.pop("reasoning_effort", None)) is not None:
        settings.setdefault("reasoning", {"effort": effort})
    body: dict[str, Any] = {"model": call.worker.model, "messages": _messages(call, profile)}
    if call.max_output_tokens is not None:
        body[profile.cap_field] = call.max_output_tokens
    if call.seed is not None and profile.seed:
        body["seed"] = call.seed
    if call.top_logprobs and profile.logprobs:
        body |= {"logprobs": True, "top_logprobs": min(call.top_logprobs, 20)}
    if call.json_schema is not None and (form := _response_format(call.json_schema, profile)):
        body["response_format"] = form
    if profile.stream:
        body["stream"] = True
        if profile.stream_usage:
            body["stream_options"] = {"include_usage": True}
    return body | settings, tuple(notes)


def _messages(call: Call, profile: Profile) -> list[dict[str, str]]:
    return [
        {"role": profile.system_role if each.role == "system" else each.role, "content": each.content}
        for each in call.messages
    ]


def _response_format(schema: Mapping[str, Any], profile: Profile) -> dict[str, Any] | None:
    match profile.json_mode:
        case "schema":
            named = {"name": "answer", "strict": True, "schema": dict(schema)}
            return {"type": "json_schema", "json_schema": named}
        case "object":
            return {"type": "json_object"}
        case _:
            return None


async def _send(client: openai.AsyncOpenAI, worker: Worker, body: Mapping[str, Any]) -> httpx2.Response:
    sdk = _import_openai()
    try:
        return await client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            body=body,
            stream=bool(body.get("stream")),
            stream_cls=sdk.AsyncStream[Any],
        )
    except sdk.APIStatusError as error:
        # The SDK has read the body by now.
        response = error.response
        raise Refused(read_error(error.status_code, response.content, response.headers)) from error
    except sdk.APIConnectionError as error:
        raise connection_failure(worker, error) from error


def _import_openai() -> Any:
    try:
        import openai
    except ImportError as error:
        raise WorkerError(
            "unavailable", "The package openai is not installed.", hint="Run: pip install 'openai>=3.57,<4'"
        ) from error
    return openai

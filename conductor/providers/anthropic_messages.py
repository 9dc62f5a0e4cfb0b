"""Workers behind Anthropic's Messages API. The only module with ``anthropic``.

As with ``openai_chat``: the SDK's client sends, ``answering`` reads the raw lines, its retries are off. The
API of 2026-10-21 takes no sampling settings; a worker whose model still does says so with ``api_version``.
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
from conductor.providers.failures import read_error
from conductor.providers.keys import key_for
from conductor.providers.messages_answer import MessagesAnswer
from conductor.providers.profiles import SAMPLING, Profile, profile_of
from conductor.providers.transport import connection_failure

if TYPE_CHECKING:
    import anthropic

ANTHROPIC_URL = "https://api.anthropic.com"
DEFAULT_MAX_TOKENS = 4096
"""The API wants a cap in every request; this one is sent when neither worker nor run sets one."""
NO_KEY = "none"


class AnthropicMessages:
    """The provider ``anthropic``. One client per address and key, one connection pool for all."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str, bool], anthropic.AsyncAnthropic] = {}
        self._connections = Connections()
        self._adaptations = Adaptations()

    async def stream(self, call: Call) -> AsyncIterator[Delta | Notice | Completion]:
        """Runs one call. A 400 that names a parameter we can do without is answered once without it."""
        worker, profile = call.worker, profile_of(call.worker)
        client = await self._client(worker)
        body, notes = messages_body(call, profile)
        post = partial(_send, client, worker, profile)
        response, adapted = await self._adaptations.send(worker, body, post)
        answer = MessagesAnswer(worker, think_tags=profile.think_tags)
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

    async def _client(self, worker: Worker) -> anthropic.AsyncAnthropic:
        key = key_for(worker) or NO_KEY
        base_url = (worker.base_url or ANTHROPIC_URL).rstrip("/").removesuffix("/v1")
        place = (base_url, key, worker.from_operator)
        if place not in self._clients:
            # The import takes seconds; the page must not stand still meanwhile.
            sdk = await asyncio.to_thread(_import_anthropic)
            http = self._connections.http(from_operator=worker.from_operator)
            self._clients[place] = sdk.AsyncAnthropic(
                api_key=key, base_url=base_url, max_retries=0, http_client=http
            )
        return self._clients[place]


def messages_body(call: Call, profile: Profile) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The request, and notes on what was left out of it."""
    settings = {name: value for name, value in call.settings.items() if value is not None}
    notes: list[str] = []
    sampling = SAMPLING & settings.keys()
    if sampling and profile.api_version is None:
        settings = {name: value for name, value in settings.items() if name not in SAMPLING}
        notes.append(f"Left out {', '.join(sorted(sampling))}: this API takes no sampling settings.")
    if (stop := settings.pop("stop", None)) is not None:
        settings["stop_sequences"] = [stop] if isinstance(stop, str) else list(stop)
    output: dict[str, Any] = dict(settings.pop("output_config", {}))
    if (effort := settings.pop("reasoning_effort", None)) is not None:
        output.setdefault("effort", effort)
    if call.json_schema is not None:
        output.setdefault("format", {"type": "json_schema", "schema": dict(call.json_schema)})
    system = "\n\n".join(each.content for each in call.messages if each.role == "system")
    body: dict[str, Any] = {
        "model": call.worker.model,
        "max_tokens": call.max_output_tokens or DEFAULT_MAX_TOKENS,
        "messages": [
            {"role": each.role, "content": each.content} for each in call.messages if each.role != "system"
        ],
    }
    if profile.stream:
        body["stream"] = True
    if system:
        body["system"] = system
    if output:
        body["output_config"] = output
    return body | settings, tuple(notes)


async def _send(
    client: anthropic.AsyncAnthropic, worker: Worker, profile: Profile, body: Mapping[str, Any]
) -> httpx2.Response:
    sdk = _import_anthropic()
    headers: dict[str, Any] = {}
    if profile.api_version is not None:
        # The older API wants the key under its older name.
        headers = {"anthropic-version": profile.api_version, "X-Api-Key": client.api_key or NO_KEY}
    try:
        return await client.post(
            "/v1/messages",
            cast_to=httpx2.Response,
            body=body,
            options={"headers": headers} if headers else {},
            stream=bool(body.get("stream")),
            stream_cls=sdk.AsyncStream[Any],
        )
    except sdk.APIStatusError as error:
        # The SDK has read the body by now.
        response = error.response
        said = read_error(error.status_code, response.content, response.headers)
        raise Refused(said) from error
    except sdk.APIConnectionError as error:
        raise connection_failure(worker, error) from error


def _import_anthropic() -> Any:
    try:
        import anthropic
    except ImportError as error:
        raise WorkerError(
            "unavailable",
            "The package anthropic is not installed.",
            hint="Run: pip install 'anthropic>=2.14,<3'",
        ) from error
    return anthropic

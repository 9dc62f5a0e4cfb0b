"""A server on loopback that says exactly what a test wants, byte by byte, and remembers what it was sent."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from conductor.providers.base import Call, Completion, Delta, Provider, Worker, WorkerError
from conductor_client.workflow import Message
from tests.bad_server.replies import Reply, write


@dataclass
class Wire:
    """The running server: where it is, what it got, and whether a client hung up in mid-answer."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)


@contextlib.asynccontextmanager
async def wire(*replies: Reply) -> AsyncIterator[Wire]:
    """Serves the replies in order, the last one again and again."""
    served = Wire("")
    left = list(replies)

    async def answer(request: web.Request) -> web.StreamResponse:
        served.requests.append(json.loads(await request.read() or b"{}"))
        served.headers.append(request.headers)
        served.paths.append(request.path)
        reply = left.pop(0) if len(left) > 1 else left[0]
        try:
            return await write(reply, request)
        except (asyncio.CancelledError, ConnectionError):
            served.hung_up.set()
            raise

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield served
    finally:
        await runner.cleanup()


@dataclass(frozen=True)
class Heard:
    """What a provider gave for one call."""

    deltas: tuple[Delta, ...]
    end: Completion

    def text(self, channel: str = "output") -> str:
        """The streamed text of a channel."""
        return "".join(each.text for each in self.deltas if each.channel == channel)


def call(worker: Worker, prompt: str = "hi", **fields: Any) -> Call:
    """A call with one user message."""
    settings = {**worker.settings, **fields.pop("settings", {})}
    return Call(worker, (Message(role="user", content=prompt),), settings=settings, **fields)


async def hear(provider: Provider, request: Call) -> Heard:
    """Runs one call to its end. Raises what the provider raises."""
    deltas: list[Delta] = []
    async for item in provider.stream(request):
        if isinstance(item, Delta):
            deltas.append(item)
        elif isinstance(item, Completion):
            return Heard(tuple(deltas), item)
    raise AssertionError("the provider ended without a completion")


async def failure_of(provider: Provider, request: Call) -> WorkerError:
    """The error of a call that must fail."""
    try:
        heard = await hear(provider, request)
    except WorkerError as error:
        return error
    raise AssertionError(f"the call went well: {heard.end!r}")

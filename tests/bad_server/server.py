"""The server: which case was asked for, in which form, and what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from aiohttp import web

from tests.bad_server.answers import Answer, Form, Problem
from tests.bad_server.cases import BY_MODEL, Asked
from tests.bad_server.replies import Reply, write


@dataclass
class BadServer:
    """The running server. ``url`` has no path; OpenAI's is ``url/v1``. ``asked``: every request, in order.

    ``begun`` is released once for each request, ``hung_up`` for each client that hung up before its end.
    """

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    begun: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, 0))
    hung_up: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, 0))
    _before: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def app(self) -> web.Application:
        """Its two addresses."""
        made = web.Application(client_max_size=64 * 2**20)
        made.router.add_post("/v1/chat/completions", partial(self._answer, "openai"))
        made.router.add_post("/v1/messages", partial(self._answer, "anthropic"))
        return made

    async def _answer(self, form: Form, request: web.Request) -> web.StreamResponse:
        said = await request.json()
        model = str(said.get("model"))
        place = (form, model, json.dumps(said.get("messages")))
        asked = Asked(form, said, self._before[place], request.headers)
        self._before[place] += 1
        self.asked.append(asked)
        self.begun.release()
        try:
            return await write(reply_to(asked, model), request)
        except (asyncio.CancelledError, ConnectionError):
            self.hung_up.release()
            raise


def reply_to(asked: Asked, model: str) -> Reply:
    """What goes back. An unknown model is an error, as with any vendor."""
    case = BY_MODEL.get(model)
    if case is None or asked.form not in case.forms:
        return Problem(404, f"The model {model!r} does not exist.", "not_found_error").reply(asked.form)
    said: Any = case.say(asked)
    if isinstance(said, Answer):
        return said.reply(asked.form, model=model, streamed=bool(asked.body.get("stream")))
    return said.reply(asked.form) if isinstance(said, Problem) else said


@contextlib.asynccontextmanager
async def bad_server() -> AsyncIterator[BadServer]:
    """Serves on a free port of this machine while the block runs."""
    server = BadServer()
    runner = web.AppRunner(server.app(), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()

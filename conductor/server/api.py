"""The backend alone on its port, and in a thread for a command that found none running."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from fastapi import FastAPI
from starlette.responses import RedirectResponse, Response

from conductor.cli import opened
from conductor.server.app import access_of, create_app
from conductor.server.guard import Guard
from conductor.server.live import Streams
from conductor.server.serving import address_of, bind, serve
from conductor.settings import Settings


def serve_api(settings: Settings) -> int:
    """Serves until Ctrl-C and gives the exit code. Raises ``CannotListen`` when the port cannot be had."""
    with bind(settings.host, settings.port) as sock:
        address = settings.public_url or address_of(sock)

        def announce(_: Callable[[], None]) -> None:
            print(f"The API of Conductor Studio is at {address}/api/docs   Stop: Ctrl-C", flush=True)

        return asyncio.run(_serve(settings, sock, announce))


async def _serve(
    settings: Settings, sock: socket.socket, on_ready: Callable[[Callable[[], None]], None]
) -> int:
    """``on_ready`` is given what stops the server, to be called on its loop."""
    async with opened(settings) as studio:
        if studio is None:
            return 1
        streams = Streams()
        app = create_app(studio, settings, streams)
        _add_root(app)
        guard = Guard(app, access_of(settings))
        return (
            0
            if await serve(
                guard, sock, on_stop=streams.end, on_ready=on_ready, secret_names=studio.key_variables()
            )
            else 1
        )


def _add_root(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def root() -> Response:
        return RedirectResponse("/api/docs")


@contextmanager
def in_a_thread(settings: Settings) -> Iterator[str | None]:
    """A backend while the block runs, on a free loopback port: its address, or ``None`` when it failed.

    What failed has then been said on standard error.
    """
    sock = bind("127.0.0.1", 0)
    stops: list[Callable[[], object]] = []
    settled = threading.Event()

    def ready(stop: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        stops.append(partial(loop.call_soon_threadsafe, stop))
        settled.set()

    def work() -> None:
        try:
            with sock:
                asyncio.run(_serve(settings, sock, ready))
        finally:
            settled.set()

    thread = threading.Thread(target=work, name="conductor-api")
    thread.start()
    settled.wait()
    try:
        yield address_of(sock) if stops else None
    finally:
        for stop in stops:
            stop()
        thread.join()

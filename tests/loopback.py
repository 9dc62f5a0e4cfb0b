"""Real servers on loopback ports, for tests that need sockets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from starlette.types import ASGIApp

from conductor.server.serving import address_of, bind, serve


@contextmanager
def running(app: ASGIApp, *, on_stop: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Serves an app in a thread while the block runs and gives its address."""
    sock = bind("127.0.0.1", 0)
    address = address_of(sock)
    stops: list[Callable[[], object]] = []
    ready = threading.Event()

    def on_ready(stop: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        stops.append(partial(loop.call_soon_threadsafe, stop))
        ready.set()

    async def main() -> None:
        await serve(app, sock, on_stop=on_stop, on_ready=on_ready)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    assert ready.wait(10)
    try:
        yield address
    finally:
        stops[0]()
        thread.join(10)
        assert not thread.is_alive()

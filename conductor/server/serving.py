"""Holding a port and serving an ASGI app on it until somebody asks us to stop. Knows no routes.

The socket is bound before anything slow is loaded, so that a port in use is said at once and never silently
changed. A signal first ends the live streams (``on_stop``), because the server waits for open responses; a
second one does not wait. Nothing is raised again afterwards: a stop that was asked for is exit code 0.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import sys
from collections.abc import Callable, Iterable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from conductor.secrets import guard_logs

GRACE_S = 1
"""Seconds that requests in flight get to finish."""
KEEP_ALIVE_S = 75
"""Seconds after which an idle connection is closed: long after a client (httpx: 5 s) would use it once more.

With the same five seconds on both sides a request could meet the closing of its connection.
"""
DEAF_S = 0.2
"""Seconds after which a stop cuts off whoever does not read what was sent to them."""
MAX_MESSAGE_BYTES = 200 * 1024 * 1024
"""What Streamlit's page may send up in one message."""


class CannotListen(Exception):
    """The address cannot be bound. The message says which, why, and what to try."""


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one.

    Raises:
        CannotListen: somebody has the port, it needs more rights, or the address is not this machine's.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as problem:
        raise CannotListen(
            f"CONDUCTOR_HOST={host} is no address of this machine ({problem.strerror})."
        ) from problem
    # "localhost" is ::1 as well as 127.0.0.1; browsers try both, but many programs know only the second.
    family, kind, proto, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    sock = socket.socket(family, kind, proto)
    try:
        if sys.platform != "win32":  # there it would let two programs have one port
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(2048)
        sock.setblocking(False)
    except OSError as problem:
        sock.close()
        raise CannotListen(_why(problem, host, port)) from problem
    return sock


def _why(problem: OSError, host: str, port: int) -> str:
    other = f"Set CONDUCTOR_PORT to another one, such as {port + 1 if port < 65535 else 8501}"
    if problem.errno == errno.EADDRINUSE:
        return f"Port {port} on {host} is in use by another program. {other}, or stop that program."
    if problem.errno == errno.EACCES:
        return f"Port {port} needs more rights than this program has. {other}."
    return (
        f"{host}:{port} cannot be listened on: {problem.strerror}. Check CONDUCTOR_HOST and CONDUCTOR_PORT."
    )


def address_of(sock: socket.socket) -> str:
    """``http://host:port`` that reaches this socket from this machine."""
    host, port = sock.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if sock.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
        self.stop()

    def stop(self) -> None:
        self.should_exit = True
        self._on_stop()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        hanging_up = asyncio.create_task(self._hang_up_on_the_deaf())
        try:
            await super().shutdown(sockets)
        finally:
            hanging_up.cancel()

    async def _hang_up_on_the_deaf(self) -> None:
        await asyncio.sleep(DEAF_S)
        for connection in list(self.server_state.connections):
            transport = getattr(connection, "transport", None)
            if isinstance(transport, asyncio.WriteTransport) and transport.get_write_buffer_size():
                transport.abort()


async def serve(
    app: ASGIApp,
    sock: socket.socket,
    *,
    on_stop: Callable[[], None],
    on_ready: Callable[[Callable[[], None]], None],
    secret_names: Iterable[str] = (),
) -> bool:
    """Serves until SIGINT, SIGTERM or a failed start of ``app``; says whether it had started.

    ``on_stop`` is called on the loop when the end begins; ``on_ready`` when requests are answered, with what
    stops the server, to be called on the loop. ``secret_names``: environment variables whose values no log
    may show.
    """
    loop = asyncio.get_running_loop()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    config = uvicorn.Config(
        app,
        ws="websockets-sansio",
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_ping_interval=30,
        ws_ping_timeout=30,
        ws_per_message_deflate=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=KEEP_ALIVE_S,
        server_header=False,
    )
    guard_logs(secret_names)
    server = _Server(config, lambda: _soon(loop, on_stop))
    watching = asyncio.create_task(_call_when_started(server, on_ready))
    try:
        await server.serve(sockets=[sock])
    except SystemExit:  # uvicorn's way to say that the app's lifespan failed
        return False
    finally:
        watching.cancel()
        sock.close()
    return server.started


async def _call_when_started(server: _Server, on_ready: Callable[[Callable[[], None]], None]) -> None:
    while not server.started:  # noqa: ASYNC110 - uvicorn tells it by a flag only
        await asyncio.sleep(0.01)
    on_ready(server.stop)


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """From a signal handler, which may interrupt the loop anywhere."""
    loop.call_soon_threadsafe(call)

"""Ports that cannot be had, and the end of a server with streams open."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from conductor.server.serving import CannotListen, address_of, bind, serve
from tests.loopback import running


def test_port_in_use_is_said_with_what_to_try() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen, match=f"Port {port} on 127.0.0.1 is in use") as caught:
            bind("127.0.0.1", port)
    assert f"CONDUCTOR_PORT to another one, such as {port + 1}" in str(caught.value)


@pytest.mark.parametrize("host", ["203.0.113.7", "no-such-host.invalid"])
def test_address_of_another_machine_is_refused_in_words(host: str) -> None:
    with pytest.raises(CannotListen, match="CONDUCTOR_HOST"):
        bind(host, 0)


def test_port_can_be_had_again_at_once() -> None:
    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            first.setblocking(True)
            first.accept()[0].close()
    bind("127.0.0.1", port).close()


@pytest.mark.parametrize(
    ("host", "expected"), [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("0.0.0.0", "127.0.0.1")]
)
def test_address_reaches_the_socket_from_this_machine(host: str, expected: str) -> None:
    with bind(host, 0) as sock:
        assert address_of(sock) == f"http://{expected}:{sock.getsockname()[1]}"


def test_stop_tells_streams_first_and_does_not_wait_for_the_deaf() -> None:
    told: list[float] = []

    async def deaf(_: Request) -> Response:
        async def forever() -> AsyncIterator[bytes]:
            yield b"one"
            await asyncio.sleep(60)

        return StreamingResponse(forever())

    app = Starlette(routes=[Route("/", deaf)])
    with httpx.Client() as client, running(app, on_stop=lambda: told.append(time.monotonic())) as address:
        stream = client.stream("GET", address)
        reply = stream.__enter__()
        assert next(reply.iter_raw()) == b"one"
        started = time.monotonic()
    assert told
    assert told[0] - started < 5
    assert time.monotonic() - started < 10


def test_stop_cuts_off_who_does_not_read(caplog: pytest.LogCaptureFixture) -> None:
    ended: list[bool] = []

    async def loud(_: Request) -> Response:
        async def until_told() -> AsyncIterator[bytes]:
            while not stopping:
                yield b"x" * 1_000_000
            ended.append(True)

        return StreamingResponse(until_told())

    stopping: list[bool] = []
    app = Starlette(routes=[Route("/", loud)])
    with socket.socket() as deaf, running(app, on_stop=lambda: stopping.append(True)) as address:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", int(address.rpartition(":")[2])))
        deaf.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert deaf.recv(12) == b"HTTP/1.1 200"
    assert ended
    assert not caplog.records


async def test_app_that_cannot_start_is_no_success() -> None:
    @asynccontextmanager
    async def broken(_: Starlette) -> AsyncIterator[None]:
        raise RuntimeError("no disk")
        yield

    sock = bind("127.0.0.1", 0)
    app = Starlette(lifespan=broken)
    assert not await serve(app, sock, on_stop=lambda: None, on_ready=lambda _: None)
    assert sock.fileno() == -1

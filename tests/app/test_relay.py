"""The relay between the page's port and a backend elsewhere, over real sockets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import aiohttp
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from app.relay import Relay
from conductor.server.guard import Access, Guard
from tests.loopback import running

TOKEN = "the-token-of-both-sides"


async def echo(request: Request) -> Response:
    body = await request.body()
    said = {
        "method": request.method,
        "path": request.scope["raw_path"].decode(),
        "query": request.url.query,
        "headers": dict(request.headers),
        "n_bytes": len(body),
    }
    return JSONResponse(said, 201, {"X-Kept": "yes", "Content-Disposition": 'attachment; filename="a.svg"'})


async def ticks() -> AsyncIterator[str]:
    for number in range(50):
        yield f"data: {number}\n\n"
        await asyncio.sleep(0.1)


async def stream(_: Request) -> Response:
    return StreamingResponse(ticks(), media_type="text/event-stream")


async def socket(websocket: WebSocket) -> None:
    await websocket.accept()
    if websocket.path_params["run_id"] == "unknown":
        await websocket.close(4404)
        return
    await websocket.send_text(websocket.headers.get("authorization", "nothing"))
    for number in range(100):
        await websocket.send_text(str(number))
        if websocket.path_params["run_id"] == "short" and number == 2:
            await websocket.close(1000)
            return
        await asyncio.sleep(0.1)


BACKEND = Starlette(
    routes=[
        Route("/api/stream", stream),
        WebSocketRoute("/api/runs/{run_id}/ws", socket),
        Route("/{path:path}", echo, methods=["GET", "POST", "DELETE"]),
    ]
)


class Opened:
    """A relay that opens itself on the server's loop."""

    def __init__(self, url: str, token: str | None) -> None:
        self.relay = Relay(url, token)
        self._is_open = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await self.relay.open()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await self.relay.close()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await self.relay(scope, receive, send)


@pytest.fixture
def front() -> Iterator[str]:
    with running(BACKEND) as backend:
        opened = Opened(backend, TOKEN)
        access = Access(token=TOKEN)
        with running(Guard(opened, access), on_stop=opened.relay.end) as address:
            yield address


BEARER = {"Authorization": f"Bearer {TOKEN}"}


def test_request_goes_through_with_the_backends_token_and_without_the_browsers_own(front: str) -> None:
    headers = {**BEARER, "Cookie": "conductor_session=x", "X-Mine": "1", "Origin": front}
    reply = httpx.post(f"{front}/api/pool/a%2Fb/test?q=%D1%8F&x=1", headers=headers, content=b"y" * 1_000_000)
    assert reply.status_code == 201
    assert reply.headers["x-kept"] == "yes"
    assert reply.headers["content-disposition"] == 'attachment; filename="a.svg"'
    said = reply.json()
    assert (said["method"], said["path"], said["query"]) == ("POST", "/api/pool/a%2Fb/test", "q=%D1%8F&x=1")
    assert said["n_bytes"] == 1_000_000
    assert said["headers"]["authorization"] == f"Bearer {TOKEN}"
    assert said["headers"]["x-mine"] == "1"
    assert not {"cookie", "origin"} & set(said["headers"])


def test_share_link_travels_without_the_token(front: str) -> None:
    said = httpx.get(f"{front}/api/runs/run_1?share=key").json()
    assert "authorization" not in said["headers"]
    assert said["query"] == "share=key"
    assert httpx.get(f"{front}/api/runs").status_code == 401


def test_stream_is_not_held_back(front: str) -> None:
    started = time.monotonic()
    with httpx.stream("GET", f"{front}/api/stream", headers=BEARER) as reply:
        first = next(reply.iter_bytes())
    assert first == b"data: 0\n\n"
    assert time.monotonic() - started < 10


async def test_socket_carries_messages_and_the_reason_of_its_end(front: str) -> None:
    async with aiohttp.ClientSession() as http:
        async with http.ws_connect(f"{front}/api/runs/short/ws", headers=BEARER) as ws:
            got = [message.data async for message in ws]
        assert got == [f"Bearer {TOKEN}", "0", "1", "2"]
        assert ws.close_code == 1000
        async with http.ws_connect(f"{front}/api/runs/unknown/ws", headers=BEARER) as ws:
            assert [message async for message in ws] == []
        assert ws.close_code == 4404
        async with http.ws_connect(f"{front}/api/runs/short/ws?share=key") as ws:
            assert (await ws.receive()).data == "nothing"


async def test_stopping_ends_open_streams_at_once() -> None:
    with running(BACKEND) as backend:
        opened = Opened(backend, None)
        async with aiohttp.ClientSession() as http:
            with running(Guard(opened, Access()), on_stop=opened.relay.end) as front:
                ws = await http.ws_connect(f"{front}/api/runs/long/ws")
                await ws.receive()
                reply = await http.get(f"{front}/api/stream")
                await reply.content.readany()
                started = time.monotonic()
                # Leaving the block stops the server and waits for it, so it must not need this loop.
            assert time.monotonic() - started < 10
            while (message := await ws.receive()).type is aiohttp.WSMsgType.TEXT:
                pass
            assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
            assert ws.close_code == 1012
            reply.close()


def test_backend_that_is_down_is_said_in_words() -> None:
    opened = Opened("http://127.0.0.1:9", None)
    with running(Guard(opened, Access())) as front:
        reply = httpx.get(f"{front}/api/runs")
        assert reply.status_code == 502
        assert reply.json()["error"]["type"] == "backend_down"
        assert "http://127.0.0.1:9" in reply.json()["error"]["message"]
        assert "conductor-studio api" in reply.json()["error"]["hint"]

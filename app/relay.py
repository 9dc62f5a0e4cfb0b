"""Carries API, WebSocket and share pages to a backend elsewhere, so that the browser knows one origin.

Nothing is buffered and nothing is understood: bytes go through as they come, in both directions. Whoever the
guard let in with full rights travels with the backend's token; who came with a share link travels with
nothing but that link. Cookies and the browser's own origin stay here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import suppress
from typing import Any

import aiohttp
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from conductor_client.catalogue import text

STAYS_HERE = frozenset(
    {
        "authorization",
        "cookie",
        "origin",
        "referer",
        "host",
        "connection",
        "keep-alive",
        "upgrade",
        "te",
        "trailer",
    }
    | {"transfer-encoding", "proxy-authorization", "proxy-authenticate", "proxy-connection"}
    | {"sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "sec-fetch-user"}
)
CONNECT_S = 5.0
SILENCE_S = 300.0
"""How long a backend may say nothing; live streams have a heartbeat every 15 s."""
GOING_AWAY = 1012


class Relay:
    """An ASGI app in front of the backend at ``url``; ``token`` None when it asks for none."""

    def __init__(self, url: str, token: str | None) -> None:
        self._url = url
        self._token = token
        self._http: aiohttp.ClientSession | None = None
        self._ending = asyncio.Event()

    def end(self) -> None:
        """Ends every stream at once, and each later one at its start."""
        self._ending.set()

    async def open(self) -> None:
        """Makes the connections' pool; call on the server's loop."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S)
        self._http = aiohttp.ClientSession(
            timeout=timeout,
            connector=aiohttp.TCPConnector(limit=0),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        """Closes the connections to the backend."""
        if self._http is not None:
            await self._http.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await (self._socket if scope["type"] == "websocket" else self._request)(scope, receive, send)
        except (aiohttp.ClientError, TimeoutError):
            await self._say_down(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._http is not None
        body = None if scope["method"] in ("GET", "HEAD") else _body(receive)
        call = self._http.request(
            scope["method"],
            self._target(scope),
            headers=self._headers(scope),
            data=body,
            allow_redirects=False,
        )
        async with call as reply:
            started = {"type": "http.response.start", "status": reply.status, "headers": _raw(reply.headers)}
            await send(started)
            await self._until_first(_carry(reply, send), _until_gone(receive, "http.disconnect"))

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._http is not None
        await receive()
        target = self._target(scope)
        async with self._http.ws_connect(target, headers=self._headers(scope), max_msg_size=0) as upstream:
            await send({"type": "websocket.accept"})
            carried = await self._until_first(
                _carry_messages(upstream, send), _until_gone(receive, "websocket.disconnect")
            )
            if not carried and self._ending.is_set():
                await send({"type": "websocket.close", "code": GOING_AWAY, "reason": "the server stops"})

    async def _until_first(
        self, carrying: Coroutine[Any, Any, None], leaving: Coroutine[Any, Any, None]
    ) -> bool:
        """Carries until all is through, the client is gone or we stop. Says whether all is through."""
        tasks = [asyncio.create_task(each) for each in (carrying, leaving, _wait(self._ending))]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            return tasks[0] in done
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _target(self, scope: Scope) -> str:
        path: bytes = scope.get("raw_path") or scope["path"].encode()
        query: bytes = scope.get("query_string", b"")
        return self._url + path.decode("latin-1") + ("?" + query.decode("latin-1") if query else "")

    def _headers(self, scope: Scope) -> dict[str, str]:
        given = (
            (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]
        )
        headers = {k: v for k, v in given if k not in STAYS_HERE and not k.startswith("sec-websocket")}
        if self._token and scope.get("conductor.rights") == "all":
            headers["authorization"] = f"Bearer {self._token}"
        return headers

    async def _say_down(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            with suppress(Exception):  # it may be closed already, by either side
                await send(
                    {"type": "websocket.close", "code": GOING_AWAY, "reason": "the backend does not answer"}
                )
            return
        error = {
            "type": "backend_down",
            "message": text("door.backend_down", url=self._url),
            "hint": text("door.backend_down_hint"),
        }
        with suppress(RuntimeError):  # the answer had begun: the client sees it break off
            await JSONResponse({"error": error}, 502)(scope, receive, send)


async def _body(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise aiohttp.ClientConnectionError("the client left")
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return


async def _carry(reply: aiohttp.ClientResponse, send: Send) -> None:
    async for chunk in reply.content.iter_any():
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _carry_messages(upstream: aiohttp.ClientWebSocketResponse, send: Send) -> None:
    async for message in upstream:
        if message.type is aiohttp.WSMsgType.TEXT:
            await send({"type": "websocket.send", "text": message.data})
        elif message.type is aiohttp.WSMsgType.BINARY:
            await send({"type": "websocket.send", "bytes": message.data})
    code = upstream.close_code
    # 1006 says "no closing at all" and may not be sent on.
    await send({"type": "websocket.close", "code": GOING_AWAY if code in (None, 1005, 1006) else code})


async def _until_gone(receive: Receive, kind: str) -> None:
    while (await receive())["type"] != kind:
        pass


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


def _raw(headers: Mapping[str, Any]) -> list[tuple[bytes, bytes]]:
    return [
        (name.lower().encode("latin-1"), value.encode("latin-1"))
        for name, value in headers.items()
        if name.lower() not in STAYS_HERE
    ]

"""What goes over the wire for one request, byte by byte."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

EVENT_STREAM = {"Content-Type": "text/event-stream; charset=utf-8"}
STUCK_S = 60.0


@dataclass(frozen=True)
class Reply:
    """One answer. ``pieces`` are written one by one.

    ``is_cut`` drops the socket after them; ``is_stuck`` says nothing more for a minute; ``is_mute`` does not
    even send the headers for a minute.
    """

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False
    is_stuck: bool = False
    is_mute: bool = False


def events(*chunks: Any, done: bool = True, **reply: Any) -> Reply:
    """A stream of ``data:`` events, one piece each, ended as Chat Completions end."""
    pieces = tuple(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    tail = (b"data: [DONE]\n\n",) if done else ()
    return Reply((*pieces, *tail), headers=EVENT_STREAM, **reply)


def named_events(*chunks: Mapping[str, Any], **reply: Any) -> Reply:
    """A stream of events that are named by their ``type``, as Messages are."""
    pieces = (f"event: {chunk['type']}\ndata: {json.dumps(chunk)}\n\n".encode() for chunk in chunks)
    return Reply(tuple(pieces), headers=EVENT_STREAM, **reply)


def body(content: Any, status: int = 200, **headers: str) -> Reply:
    """An answer in one piece: JSON, or text as it is."""
    is_text = isinstance(content, str)
    data = content.encode() if is_text else json.dumps(content).encode()
    kind = "text/html" if is_text else "application/json"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply((data,), status, {"Content-Type": kind, **named})


async def write(reply: Reply, request: web.Request) -> web.StreamResponse:
    """Sends it. Is cancelled, or fails, when the client hangs up before the end."""
    if reply.is_mute:
        await asyncio.sleep(STUCK_S)
    response = web.StreamResponse(status=reply.status, headers=reply.headers)
    await response.prepare(request)
    for piece in reply.pieces:
        await response.write(piece)
        await asyncio.sleep(0.001)
    if reply.is_stuck:
        await asyncio.sleep(STUCK_S)
    if reply.is_cut:
        assert request.transport is not None
        request.transport.abort()
    return response

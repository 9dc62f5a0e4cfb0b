"""The events of a run, three ways: as a list, as server-sent events, over a WebSocket."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, WebSocket
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.websockets import WebSocketDisconnect

from conductor.server.access import Backend, Readable, as_json_list, may_read
from conductor.server.guard import NOT_ALLOWED
from conductor.server.live import batches, to_json
from conductor.server.routes.runs import no_run
from conductor.server.whole_text import WholeText
from conductor_client.events import Frame, RunEvent

router = APIRouter(route_class=WholeText, tags=["Events"])

NORMAL, GOING_AWAY, UNKNOWN_RUN = 1000, 1012, 4404
"""WebSocket close codes: the run has ended; this server stops, come again; there is no such run."""
_OURS = re.compile(r"[0-9]{1,15}")
"""A ``Last-Event-ID`` that can be one of ours; any other is as good as none."""
MAX_SEQ = 2**53
"""The largest number that JSON readers keep exact; what SQLite can hold ends later."""
AfterSeq = Annotated[int, Query(ge=0, le=MAX_SEQ, description="Only events with a `seq` above this.")]


@router.get("/api/runs/{run_id}/events", response_model=list[RunEvent], summary="Stored events")
async def events(studio: Backend, run_id: Readable, after: AfterSeq = 0) -> Response:
    """Append-only facts; folding them gives the run's state. Tokens are not among them."""
    try:
        return as_json_list(await studio.events(run_id, after))
    except KeyError:
        raise no_run(run_id) from None


@router.get(
    "/api/runs/{run_id}/events/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Events and frames as they come"}},
    summary="Live events (SSE)",
)
async def stream(
    http: Request,
    studio: Backend,
    run_id: Readable,
    after: AfterSeq = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> Response:
    """`id` is the event's `seq`, `event` its kind, `frame` for text as it is written, `heartbeat` every 15 s.

    `end` comes after the last event of a run that is over. Reconnect with `after` or `Last-Event-ID`.
    """
    if last_event_id and _OURS.fullmatch(last_event_id):
        after = max(after, int(last_event_id))
    try:
        await studio.events(run_id, MAX_SEQ)
    except KeyError:
        raise no_run(run_id) from None
    ending: asyncio.Event = http.app.state.streams.ending
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        _sse(studio.subscribe(run_id, after), ending), headers=headers, media_type="text/event-stream"
    )


async def _sse(items: AsyncIterator[Any], ending: asyncio.Event) -> AsyncIterator[str]:
    async with aclosing(batches(items, ending)) as ready:
        async for batch in ready:
            yield "".join(map(_as_sse, batch))
    if not ending.is_set():
        yield "event: end\ndata: {}\n\n"


def _as_sse(item: RunEvent | Frame | None) -> str:
    if item is None:
        return f"event: heartbeat\ndata: {to_json(None)}\n\n"
    if isinstance(item, Frame):
        return f"event: frame\ndata: {to_json(item)}\n\n"
    return f"id: {item.seq}\nevent: {item.kind}\ndata: {to_json(item)}\n\n"


@router.websocket("/api/runs/{run_id}/ws")
async def socket(
    websocket: WebSocket,
    studio: Backend,
    run_id: str,
    after: AfterSeq = 0,
    share: str | None = None,
) -> None:
    """The same as the SSE stream in JSON arrays. Closes with 1000 after the run's last event."""
    await websocket.accept()
    if not await may_read(websocket, studio, run_id, share):
        with suppress(WebSocketDisconnect, RuntimeError):  # gone already
            await websocket.close(NOT_ALLOWED, "not allowed")
        return
    ending: asyncio.Event = websocket.app.state.streams.ending
    sending = asyncio.create_task(_send(websocket, studio.subscribe(run_id, after), ending))
    listening = asyncio.create_task(_until_gone(websocket))
    try:
        await asyncio.wait({sending, listening}, return_when=asyncio.FIRST_COMPLETED)
        if sending.done():
            with suppress(WebSocketDisconnect, RuntimeError):  # gone while we said good-bye
                await websocket.close(*_good_bye(sending, ending))
    finally:
        sending.cancel()
        listening.cancel()
        await asyncio.gather(sending, listening, return_exceptions=True)


async def _send(websocket: WebSocket, items: AsyncIterator[Any], ending: asyncio.Event) -> None:
    async with aclosing(batches(items, ending)) as ready:
        async for batch in ready:
            await websocket.send_text("[" + ",".join(map(to_json, batch)) + "]")


async def _until_gone(websocket: WebSocket) -> None:
    while (await websocket.receive())["type"] != "websocket.disconnect":
        pass


def _good_bye(sending: asyncio.Task[None], ending: asyncio.Event) -> tuple[int, str]:
    try:
        sending.result()
    except KeyError:
        return UNKNOWN_RUN, "there is no such run"
    return (GOING_AWAY, "the server stops") if ending.is_set() else (NORMAL, "the run has ended")

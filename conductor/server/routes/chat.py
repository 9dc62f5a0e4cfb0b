"""The OpenAI-compatible side: each answer is the final output of a run, and says which.

``conductor-ultra`` plans a workflow, ``conductor-mini`` picks one worker, and a worker's name asks that
worker alone. Text streams as the last step writes it. Who hangs up stops the run, as with any model server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from conductor.server import chat
from conductor.server.access import Backend, Config, run_url
from conductor.server.live import batches, is_end
from conductor.server.whole_text import WholeText
from conductor.service import Studio
from conductor_client.run_state import RunState

router = APIRouter(prefix="/v1", route_class=WholeText, tags=["OpenAI-compatible"])
POLL_S = 0.5


@router.get("/models", summary="Model names")
async def models(studio: Backend) -> Response:
    """`conductor-mini`, `conductor-ultra`, and each worker that is ready."""
    view = await studio.pool_view(None)
    names = [chat.MINI, chat.ULTRA, *(worker.name for worker in view.workers if worker.ready)]
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "conductor-studio"} for name in names]
    return JSONResponse({"object": "list", "data": data})


@router.post("/chat/completions", summary="Chat completion")
async def completions(
    http: Request,
    studio: Backend,
    settings: Config,
    request: chat.ChatRequest,
    idempotency_key: Annotated[str | None, Header()] = None,
) -> Response:
    """Whole or as a stream, with `conductor_run: {run_id, url}` beside the answer."""
    conductors = await studio.conductors(None) if request.model in (chat.MINI, chat.ULTRA) else ()
    conductor = chat.conductor_for(request.model, conductors, await studio.pool_view(None))
    asked = chat.run_request(request, conductor, idempotency_key)
    run_id, _ = await studio.start_run(asked)
    link = {"run_id": run_id, "url": run_url(http, settings, run_id)}
    ending: asyncio.Event = http.app.state.streams.ending
    if request.stream:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        chunks = _chunks(studio, request, link, ending)
        return StreamingResponse(chunks, headers=headers, media_type="text/event-stream")
    state = await _ended(http, studio, run_id, ending)
    if state.status != "succeeded":
        raise chat.as_refusal(state)
    return JSONResponse(chat.completion(state, request.model, link))


async def _ended(http: Request, studio: Studio, run_id: str, ending: asyncio.Event) -> RunState:
    """Waits for the end of a run; stops it when the client hangs up."""

    async def follow() -> None:
        async with aclosing(batches(studio.subscribe(run_id, 0), ending)) as ready:
            async for _ in ready:
                pass

    following = asyncio.create_task(follow())
    try:
        while not following.done():
            await asyncio.wait({following}, timeout=POLL_S)
            if not following.done() and await http.is_disconnected():
                await studio.cancel(run_id)
        following.result()
    finally:
        following.cancel()
    return await studio.state(run_id)


async def _chunks(
    studio: Studio, request: chat.ChatRequest, link: Mapping[str, str], ending: asyncio.Event
) -> AsyncIterator[str]:
    writer = chat.ChunkWriter(request.model, link)
    is_over = False
    try:
        yield _line(writer.first())
        async with aclosing(batches(studio.subscribe(link["run_id"], 0), ending)) as ready:
            async for batch in ready:
                is_over = is_over or any(map(is_end, batch))
                for item in batch:
                    text = writer.text_of(item)
                    if text:
                        yield _line(writer.chunk({"content": text}))
                    elif item is None:
                        yield ": waiting\n\n"
        with_usage = bool((request.stream_options or {}).get("include_usage"))
        for last in writer.last(await studio.state(link["run_id"]), with_usage=with_usage):
            yield _line(last)
        yield "data: [DONE]\n\n"
    finally:
        if not is_over and not ending.is_set():
            await asyncio.shield(studio.cancel(link["run_id"]))


def _line(chunk: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"

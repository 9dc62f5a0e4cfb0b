"""The events of a run as list, SSE and WebSocket: the same, resumable, for many, with a clean end."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import aiohttp
import httpx
import pytest

from conductor.server.api import in_a_thread
from conductor.settings import Settings
from conductor_client.client import ConductorClient
from conductor_client.events import Frame, event_from_dict
from tests.conductor.server.conftest import asking, finished

ONE = ("quick", "Name it.", ())
SLOW = ("slow", "Count.", ())


async def listened(address: str, path: str) -> tuple[list[Any], int | None]:
    """Every item of a WebSocket until its end, and its close code."""
    items: list[Any] = []
    async with aiohttp.ClientSession() as http, http.ws_connect(address + path) as ws:
        async for message in ws:
            items += json.loads(message.data)
        return items, ws.close_code


async def test_three_ways_tell_the_same(client: ConductorClient, address: str) -> None:
    run_id = await asyncio.to_thread(finished, client, asking(ONE, ("org/odd name:1", "Check.", (0,))))
    stored = client.events(run_id)
    assert [event.seq for event in stored] == list(range(1, len(stored) + 1))
    items, code = await listened(address, f"/api/runs/{run_id}/ws")
    assert tuple(event_from_dict(item) for item in items) == stored
    assert code == 1000
    streamed = await asyncio.to_thread(lambda: list(client.events_stream(run_id)))
    assert tuple(streamed) == stored


async def test_after_resumes_and_an_ended_run_closes_at_once(client: ConductorClient, address: str) -> None:
    run_id = await asyncio.to_thread(finished, client, asking(ONE))
    last = client.run(run_id).last_seq
    items, code = await listened(address, f"/api/runs/{run_id}/ws?after={last - 1}")
    assert ([item["seq"] for item in items], code) == ([last], 1000)
    started = time.monotonic()
    assert await listened(address, f"/api/runs/{run_id}/ws?after={last}") == ([], 1000)
    assert await asyncio.to_thread(lambda: list(client.events_stream(run_id, after=last))) == []
    assert time.monotonic() - started < 20


async def test_unknown_run_closes_with_a_code_of_its_own(address: str) -> None:
    assert await listened(address, "/api/runs/run_none/ws") == ([], 4404)


def test_unknown_run_and_bad_after(address: str) -> None:
    assert httpx.get(f"{address}/api/runs/run_none/events/stream").status_code == 404
    assert httpx.get(f"{address}/api/runs/run_none/events?after=-1").status_code == 422
    assert httpx.get(f"{address}/api/runs/run_none/events?after={2**70}").status_code == 422


@pytest.mark.parametrize("theirs", ["9" * 30, "٣", "-1", "later"])
def test_a_last_event_id_that_is_none_of_ours_counts_as_none(
    client: ConductorClient, address: str, theirs: str
) -> None:
    run_id = finished(client, asking(ONE))
    url = f"{address}/api/runs/{run_id}/events/stream"
    reply = httpx.get(url, headers={"Last-Event-ID": theirs.encode()})
    assert reply.status_code == 200
    assert reply.text.startswith("id: 1\n")


def test_browsers_resume_by_the_last_event_id(client: ConductorClient, address: str) -> None:
    run_id = finished(client, asking(ONE))
    last = client.run(run_id).last_seq
    url = f"{address}/api/runs/{run_id}/events/stream"
    reply = httpx.get(url, headers={"Last-Event-ID": str(last - 1)})
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.text.startswith(f"id: {last}\nevent: run_finished\ndata: {{")
    assert reply.text.endswith("event: end\ndata: {}\n\n")


async def test_text_streams_to_many_and_latecomers_get_it_whole(
    client: ConductorClient, address: str
) -> None:
    run_id = client.start_run(asking(SLOW)).run_id
    early = [asyncio.create_task(listened(address, f"/api/runs/{run_id}/ws")) for _ in range(10)]
    await asyncio.sleep(1.5)
    late = [asyncio.create_task(listened(address, f"/api/runs/{run_id}/ws?after=2")) for _ in range(10)]
    results = await asyncio.gather(*early, *late)
    whole = client.run(run_id).steps["s1"].output
    assert whole
    for items, code in results:
        assert code == 1000
        text = ""
        for frame in (Frame.model_validate(item) for item in items if "offset" in item):
            if frame.channel == "output":
                assert frame.offset <= len(text)
                text = text[: frame.offset] + frame.text if frame.offset else frame.text
        assert whole.startswith(text)
        assert len(text) > len(whole) // 2
    first_late = next(item for item in results[-1][0] if "offset" in item)
    assert first_late["offset"] == 0
    assert len(first_late["text"]) > 20


async def test_listener_that_leaves_harms_nobody(client: ConductorClient, address: str) -> None:
    run_id = client.start_run(asking(SLOW)).run_id
    async with aiohttp.ClientSession() as http:
        for _ in range(5):
            ws = await http.ws_connect(f"{address}/api/runs/{run_id}/ws")
            await ws.receive()
            await ws.close()
            reply = await http.get(f"{address}/api/runs/{run_id}/events/stream")
            await reply.content.readany()
            reply.close()
    items, code = await listened(address, f"/api/runs/{run_id}/ws?after=0")
    assert code == 1000
    assert items[-1]["kind"] == "run_finished"


@pytest.mark.parametrize("way", ["ws", "sse"])
async def test_stopping_the_server_ends_every_stream_at_once(settings: Settings, way: str) -> None:
    async with aiohttp.ClientSession() as http:
        holder = in_a_thread(settings)
        address = await asyncio.to_thread(holder.__enter__)
        assert address is not None
        with ConductorClient(address) as client:
            run_id = (await asyncio.to_thread(client.start_run, asking(SLOW))).run_id
        url = f"{address}/api/runs/{run_id}/"
        if way == "ws":
            ws = await http.ws_connect(url + "ws")
            await ws.receive()
        else:
            reply = await http.get(url + "events/stream")
            await reply.content.readany()
        started = time.monotonic()
        leaving = asyncio.create_task(asyncio.to_thread(holder.__exit__, None, None, None))
        if way == "ws":
            while (await ws.receive()).type is aiohttp.WSMsgType.TEXT:
                pass
            assert ws.close_code == 1012
        else:
            rest = await reply.content.read()
            assert b"event: end" not in rest
        await leaving
        assert time.monotonic() - started < 10

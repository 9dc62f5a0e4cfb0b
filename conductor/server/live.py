"""From a subscription to batches of JSON, the same for WebSocket and SSE.

A pump reads the subscription without waiting for the client; what gathers meanwhile goes out together, at
most every 20 ms (the hub sends text in batches of 50 ms already), text of one step joined. Once much has
gathered for a client that does not read, the pump rests: the hub then lets go of the client's backlog and
brings it up to date from the store when it reads again. Silence is broken by a heartbeat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

from conductor.runs.live import ENDS
from conductor_client._base import utc_now
from conductor_client.events import Frame, RunEvent

BATCH_S = 0.02
HEARTBEAT_S = 15.0
MOST_WAITING = 200_000
"""Characters of text that gather for one client before its pump rests."""
MOST_ITEMS = 500
"""Events and frames, likewise."""


class Streams:
    """Every open stream of the process, to end them all at once when it stops."""

    def __init__(self) -> None:
        self.ending = asyncio.Event()

    def end(self) -> None:
        """Ends every stream now and each later one before its first item."""
        self.ending.set()


def is_end(item: object) -> bool:
    """Whether this is the event after which a run says no more."""
    return getattr(item, "kind", None) in ENDS


def to_json(item: RunEvent | Frame | None) -> str:
    """One item as sent; ``None`` is a heartbeat."""
    if item is None:
        return f'{{"heartbeat":"{utc_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")}"}}'
    return item.model_dump_json()


async def batches(
    items: AsyncIterator[Any], ending: asyncio.Event, *, heartbeat_s: float = HEARTBEAT_S
) -> AsyncGenerator[Sequence[RunEvent | Frame | None], None]:
    """Yields lists of items as they come, and ``[None]`` after ``heartbeat_s`` seconds of silence.

    What the subscription yields besides events and frames is left out: silence is measured here.
    Ends with the subscription or when ``ending`` is set. Raises what the subscription raises.
    """
    waiting: list[RunEvent | Frame] = []
    news, room = asyncio.Event(), asyncio.Event()

    async def pump() -> None:
        async for item in items:
            if isinstance(item, Frame) or hasattr(item, "seq"):
                _put(waiting, item)
                news.set()
                if _is_much(waiting):
                    room.clear()
                    await room.wait()

    pumping, stopping = asyncio.create_task(pump()), asyncio.create_task(ending.wait())
    for task in (pumping, stopping):
        task.add_done_callback(lambda _: news.set())
    try:
        while not ending.is_set():
            try:
                await asyncio.wait_for(news.wait(), heartbeat_s)
            except TimeoutError:
                yield [None]
                continue
            news.clear()
            while waiting and not ending.is_set():
                batch = waiting.copy()
                waiting.clear()
                room.set()
                yield batch
                await asyncio.wait({pumping, stopping}, timeout=BATCH_S, return_when=asyncio.FIRST_COMPLETED)
            if pumping.done():
                pumping.result()
                break
    finally:
        stopping.cancel()
        pumping.cancel()
        await asyncio.gather(pumping, stopping, return_exceptions=True)


def _is_much(waiting: Sequence[RunEvent | Frame]) -> bool:
    n_chars = sum(len(item.text) for item in waiting if isinstance(item, Frame))
    return n_chars > MOST_WAITING or len(waiting) > MOST_ITEMS


def _put(waiting: list[RunEvent | Frame], item: RunEvent | Frame) -> None:
    """Appends an item; a frame that continues the last one of its channel becomes one with it."""
    if isinstance(item, Frame):
        for place in range(len(waiting) - 1, -1, -1):
            last = waiting[place]
            if not isinstance(last, Frame):
                break
            if (last.step_id, last.attempt, last.channel) == (item.step_id, item.attempt, item.channel):
                if last.channel != "notice" and last.offset + len(last.text) == item.offset:
                    waiting[place] = last.model_copy(update={"text": last.text + item.text})
                    return
                break
    waiting.append(item)

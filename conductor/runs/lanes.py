"""One lane per worker and process: so many calls at once, and a common pause when a provider asks for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from conductor.providers.base import Worker


class Lane:
    """The queue in front of one worker. First come, first served."""

    def __init__(self, concurrency: int) -> None:
        self._slots = asyncio.Semaphore(max(1, concurrency))
        self._open_at = 0.0

    def pause(self, seconds: float) -> None:
        """Lets nobody start for ``seconds``; never shortens a pause."""
        self._open_at = max(self._open_at, asyncio.get_running_loop().time() + seconds)

    def paused_s(self) -> float:
        """Seconds until the pause ends; 0 when there is none."""
        return max(0.0, self._open_at - asyncio.get_running_loop().time())

    def why_waiting(self) -> str:
        """What a call that comes now would wait for, in words; empty when it would start at once."""
        if (left := self.paused_s()) > 0:
            return f"the provider asked for a pause; {left:.0f} s left"
        return "all its slots are taken; waiting for a free one" if self._slots.locked() else ""

    @contextlib.asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Waits for a free slot and for the end of a pause; yields the seconds waited."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        async with self._slots:
            while (left := self.paused_s()) > 0:  # noqa: ASYNC110 - another call may lengthen the pause meanwhile
                await asyncio.sleep(left)
            yield loop.time() - asked


class Lanes:
    """The lanes of a process. Two pools that describe the same model at one address share a lane."""

    def __init__(self) -> None:
        self._lanes: dict[tuple[object, ...], Lane] = {}

    def of(self, worker: Worker) -> Lane:
        """The lane of this worker."""
        key = (worker.provider, worker.base_url, worker.model, worker.api_key_env, worker.concurrency)
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(worker.concurrency)
        return lane

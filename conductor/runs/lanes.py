"""One lane per worker and process: so many calls at once, and a common pause when a provider asks for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator

from conductor.providers.base import Worker


class Lane:
    """The queue in front of one worker. First come, first served.

    After a pause one call goes ahead; each that ends well lets one more in beside it, up to ``concurrency``.
    So a provider that said "too many" is not met by everybody at once when the pause is over.
    """

    def __init__(self, concurrency: int) -> None:
        self._most = self._allowed = max(1, concurrency)
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def pause(self, seconds: float) -> None:
        """Lets nobody start for ``seconds``, and then one at first; never shortens a pause."""
        self._open_at = max(self._open_at, asyncio.get_running_loop().time() + seconds)
        self._allowed = 1

    def paused_s(self) -> float:
        """Seconds until the pause ends; 0 when there is none."""
        return max(0.0, self._open_at - asyncio.get_running_loop().time())

    def why_waiting(self) -> str:
        """What a call that comes now would wait for, in words; empty when it would start at once."""
        if (left := self.paused_s()) > 0:
            return f"the provider asked for a pause; {left:.0f} s left"
        if self._running < self._allowed and not self._waiting:
            return ""
        if self._allowed < self._most:
            return "the provider asked for fewer calls at once; waiting for a turn"
        return "all its slots are taken; waiting for a free one"

    @contextlib.asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Waits for a free slot and for the end of a pause; yields the seconds waited."""
        loop = asyncio.get_running_loop()
        asked = loop.time()
        turn = loop.create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()
            raise
        try:
            yield loop.time() - asked
            self._allowed = min(self._most, self._allowed + 1)
        finally:
            self._leave()

    def _leave(self) -> None:
        self._running -= 1
        self._admit()

    def _admit(self) -> None:
        if (left := self.paused_s()) > 0:
            loop = asyncio.get_running_loop()
            if self._timer is None or self._timer.cancelled() or self._timer.when() <= loop.time():
                self._timer = loop.call_later(left, self._wake)
            return
        while self._waiting and self._running < self._allowed:
            turn = self._waiting.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)

    def _wake(self) -> None:
        self._timer = None
        self._admit()


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

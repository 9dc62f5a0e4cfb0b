"""Test calls behind the page: one at a time per worker, several workers at once, the last answer kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

from conductor_client._base import utc_now
from conductor_client.api import WorkerTestReply

Place = tuple[str, str]
"""Pool and worker."""


class Tryouts:
    """What each worker's last test said, for as long as this process lives. Lives on the event loop."""

    def __init__(self) -> None:
        self._running: dict[Place, tuple[asyncio.Task[WorkerTestReply], datetime]] = {}
        self._last: dict[Place, WorkerTestReply] = {}
        self._stopped: set[Place] = set()

    def start(
        self, place: Place, call: Callable[[], Awaitable[WorkerTestReply]]
    ) -> asyncio.Task[WorkerTestReply]:
        """Starts a test, or joins the one under way."""
        if place not in self._running:
            began_at = utc_now()
            task = asyncio.create_task(self._make(place, call, began_at), name=f"test of {place[1]}")
            self._running[place] = task, began_at
            # Not in the task itself, which never begins when it is cancelled at once.
            task.add_done_callback(lambda _: self._running.pop(place, None))
        return self._running[place][0]

    async def stop(self, place: Place) -> WorkerTestReply | None:
        """Ends the test under way, if there is one, and gives what is known of the last."""
        if place in self._running:
            task, _ = self._running[place]
            self._stopped.add(place)
            task.cancel()
            await asyncio.wait([task])
            self._stopped.discard(place)
        return self._last.get(place)

    def replies(self, pool: str) -> list[WorkerTestReply]:
        """Of this pool: tests under way, and the last answer of every other worker that was tested."""
        running = {
            place: WorkerTestReply(worker=place[1], ok=False, running=True, began_at=began_at)
            for place, (_, began_at) in self._running.items()
        }
        return [reply for place, reply in (self._last | running).items() if place[0] == pool]

    async def close(self) -> None:
        """Ends the tests under way."""
        tasks = [task for task, _ in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _make(
        self, place: Place, call: Callable[[], Awaitable[WorkerTestReply]], began_at: datetime
    ) -> WorkerTestReply:
        try:
            reply = await call()
        except asyncio.CancelledError:
            if place not in self._stopped:
                raise
            # Whoever waits for this test gets an answer, not a broken connection.
            reply = _stopped(place[1], began_at)
        self._last[place] = reply.model_copy(update={"began_at": began_at})
        return self._last[place]


def _stopped(worker: str, began_at: datetime) -> WorkerTestReply:
    took = round((utc_now() - began_at).total_seconds(), 3)
    said = "The test was stopped before the worker had answered."
    return WorkerTestReply(worker=worker, ok=False, latency_s=took, message=said)

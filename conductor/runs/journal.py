"""The one way a run's events leave it: in order, to the store first, to those who watch after that.

Events that come while a commit is under way go out together with the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from conductor_client.events import RunEvent


class EventStore(Protocol):
    """What a journal needs of the store."""

    async def append(self, run_id: str, events: Sequence[RunEvent]) -> list[RunEvent]:
        """Stores events durably and returns them with ``seq``."""
        ...


class JournalBroken(Exception):
    """An event could not be stored; nothing more of this run can be. The cause is the store's error."""


class Journal:
    """The outbox of one run."""

    def __init__(
        self,
        run_id: str,
        store: EventStore,
        publish: Callable[[str, Iterable[RunEvent]], None],
        on_broken: Callable[[Exception], None] = lambda error: None,
    ) -> None:
        self._run_id, self._store, self._publish, self._on_broken = run_id, store, publish, on_broken
        self._waiting: list[RunEvent] = []
        self._stored: asyncio.Future[None] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._is_sealed = False
        self.broken: Exception | None = None

    def post(self, *events: RunEvent) -> None:
        """Hands events in without waiting; their order is kept."""
        self._hand_in(events)

    async def write(self, *events: RunEvent) -> None:
        """Returns when these events, and all before them, are durable and shown.

        Raises:
            JournalBroken: the store failed on them or on earlier ones.
        """
        await asyncio.shield(self._hand_in(events))

    async def write_last(self, event: RunEvent) -> None:
        """The same for a run's last event: whatever is handed in after it is dropped."""
        stored = self._hand_in([event])
        self._is_sealed = True
        await asyncio.shield(stored)

    async def drain(self) -> None:
        """Returns when everything handed in is durable or has failed."""
        while self._writer is not None and not self._writer.done():
            await asyncio.wait([self._writer])

    def _hand_in(self, events: Sequence[RunEvent]) -> asyncio.Future[None]:
        if not self._is_sealed:
            self._waiting.extend(events)
        if self._stored is None:
            self._stored = asyncio.get_running_loop().create_future()
        stored = self._stored
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all(), name=f"journal {self._run_id}")
        return stored

    async def _write_all(self) -> None:
        while self._stored is not None:
            events, self._waiting = self._waiting, []
            stored, self._stored = self._stored, None
            try:
                if self.broken is not None:
                    raise self.broken
                if events:
                    self._publish(self._run_id, await self._store.append(self._run_id, events))
            except Exception as error:
                self._fail(stored, error)
            else:
                stored.set_result(None)

    def _fail(self, stored: asyncio.Future[None], error: Exception) -> None:
        broken = JournalBroken(f"the events of run {self._run_id} cannot be stored: {error}")
        broken.__cause__ = error
        stored.set_exception(broken)
        stored.exception()  # seen: nobody may be waiting for it
        if self.broken is None:
            self.broken = error
            self._on_broken(error)

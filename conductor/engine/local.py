"""Runs as tasks of this process. What was done is in the stored events, so the next process goes on there."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from conductor.engine.claims import Claims

SWEEP_S = 15.0
"""How often this process looks for runs whose process has died."""
CANCEL_S = 2.0
REST_S = 30.0
"""How long a run that could not be stored is left alone; doubled each time, as its calls are paid for."""
log = logging.getLogger("conductor.engine")


class Executes(Protocol):
    """What an engine needs of the runner."""

    async def run(self, run_id: str) -> None:
        """Executes a run to its end; when cancelled, leaves it to be resumed."""
        ...

    def cancel(self, run_id: str) -> bool:
        """Asks a run under way to end as cancelled; ``False`` when it is not under way."""
        ...

    async def cancel_idle(self, run_id: str) -> None:
        """Ends a run that nobody executes as cancelled."""
        ...


class LocalEngine:
    """Executes runs in this process only; survives its death by the stored events."""

    name = "local"

    def __init__(
        self, runner: Executes, unfinished: Callable[[], Awaitable[Sequence[str]]], claims: Claims
    ) -> None:
        self._runner, self._unfinished, self._claims = runner, unfinished, claims
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._resting: dict[str, _Rest] = {}
        self._sweeper: asyncio.Task[None] | None = None
        self._is_stopping = False

    @property
    def problems(self) -> tuple[str, ...]:
        """Nothing can be wrong with it."""
        return ()

    def claim(self, run_id: str) -> bool:
        """Makes a run this process's own before it is stored."""
        return self._claims.take(run_id)

    def give_back(self, run_id: str) -> None:
        """Lets go of a run that was claimed and not started."""
        if run_id not in self._tasks:
            self._claims.give_back(run_id)

    def start(self, run_id: str) -> None:
        """Begins to execute a stored run at once; does nothing when that is under way elsewhere or here."""
        if self._is_stopping or run_id in self._tasks or not self._claims.take(run_id):
            return
        task = asyncio.create_task(self._runner.run(run_id), name=f"run {run_id}")
        self._tasks[run_id] = task
        task.add_done_callback(lambda ended: self._ended(run_id, ended))

    async def cancel(self, run_id: str) -> None:
        """Ends a run as cancelled, whoever executes it."""
        task = self._tasks.get(run_id)
        if task is not None and self._runner.cancel(run_id):
            await asyncio.wait([task], timeout=CANCEL_S)
        elif task is None and self._claims.take(run_id):
            # A task like any other, so that a second stop or the sweep finds the run taken.
            ending = asyncio.create_task(self._runner.cancel_idle(run_id), name=f"end of {run_id}")
            self._tasks[run_id] = ending
            ending.add_done_callback(lambda ended: self._ended(run_id, ended))
            await asyncio.shield(ending)

    async def resume_unfinished(self) -> tuple[str, ...]:
        """Takes up every unfinished run that no living process executes; goes on looking for such runs.

        One whose outcome could not be stored rests first. As long as nothing can be stored, it calls nobody.
        """
        if self._sweeper is None:
            self._sweeper = asyncio.create_task(self._sweep(), name="runs of dead processes")
        taken = []
        for run_id in await self._unfinished():
            if run_id not in self._tasks and not self._is_resting(run_id):
                self.start(run_id)
                if run_id in self._tasks:
                    taken.append(run_id)
        return tuple(taken)

    async def stop(self) -> None:
        """Cancels the tasks and waits for them, at most a second."""
        self._is_stopping = True
        tasks = [*self._tasks.values(), *([self._sweeper] if self._sweeper else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        self._claims.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            with contextlib.suppress(Exception):  # the store says so itself where it matters
                await self.resume_unfinished()

    def _ended(self, run_id: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(run_id, None)
        if not self._is_stopping:
            self._claims.give_back(run_id)
        if not task.cancelled() and (error := task.exception()) is not None:
            rest = self._resting[run_id].longer() if run_id in self._resting else _Rest.of(REST_S)
            self._resting[run_id] = rest
            said = "run %s could not be brought to its end; it is taken up again in %g s"
            log.error(said, run_id, rest.seconds, exc_info=error)
        else:
            self._resting.pop(run_id, None)

    def _is_resting(self, run_id: str) -> bool:
        rest = self._resting.get(run_id)
        return rest is not None and time.monotonic() < rest.until


@dataclass(frozen=True)
class _Rest:
    """How long a run is left alone, and the end of it on the monotonic clock."""

    seconds: float
    until: float

    @classmethod
    def of(cls, seconds: float) -> _Rest:
        return cls(seconds, time.monotonic() + seconds)

    def longer(self) -> _Rest:
        return _Rest.of(2 * self.seconds)

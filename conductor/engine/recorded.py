"""Runs of this process, each also recorded in a durable engine, which other processes can see and stop.

A run begins at once as a task here; writing it down happens beside it, so the engine adds nothing to the time
until the first token. The engine's file is opened a little later, or with the first run.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from conductor.engine.claims import Claims
from conductor.engine.dbos_engine import Recorder
from conductor.engine.local import Executes, LocalEngine

T = TypeVar("T")
OPEN_AFTER_S = 3.0
CLOSE_S = 0.8
"""How long stopping waits for the engine's threads, in seconds."""
log = logging.getLogger("conductor.engine")


class RecordedEngine(LocalEngine):
    """Executes like ``LocalEngine`` and records every run with DBOS in ``path``."""

    name = "embedded"

    def __init__(
        self,
        runner: Executes,
        unfinished: Callable[[], Awaitable[Sequence[str]]],
        claims: Claims,
        path: Path,
        *,
        open_after_s: float = OPEN_AFTER_S,
    ) -> None:
        super().__init__(runner, unfinished, claims)
        self._path, self._executor_id = path, f"executor-{claims.slot}"
        self._main = asyncio.get_running_loop()
        self._recorder: Recorder | None = None
        self._handing_over = threading.Lock()
        self._problem = ""
        self._unrecorded: list[str] = []
        self._is_wanted = asyncio.Event()
        self._opening = asyncio.create_task(self._open(open_after_s), name="opening the engine")

    @property
    def problems(self) -> tuple[str, ...]:
        """Why runs are not recorded, if they are not; they are executed and resumed all the same."""
        return (self._problem,) if self._problem else ()

    def start(self, run_id: str) -> None:
        """Begins to execute a stored run at once and has it recorded."""
        is_known = run_id in self._tasks
        super().start(run_id)
        if is_known or run_id not in self._tasks:
            return
        if self._recorder is not None:
            self._recorder.start(run_id)
        else:
            self._unrecorded.append(run_id)
            self._is_wanted.set()

    async def cancel(self, run_id: str) -> None:
        """Ends a run as cancelled, whichever process executes it; another one's within about a second."""
        is_elsewhere = run_id not in self._tasks and not self._claims.take(run_id)
        if is_elsewhere:
            self._is_wanted.set()
            await self._opening
            if self._recorder is not None:
                self._recorder.cancel(run_id)
            return
        await super().cancel(run_id)

    async def stop(self) -> None:
        """Ends execution; what is not finished stays pending in the engine too."""
        with self._handing_over:  # a recorder that opens from now on closes itself
            self._is_stopping = True
            recorder, self._recorder = self._recorder, None
        self._is_wanted.set()
        closing = [asyncio.create_task(_in_thread(recorder.close))] if recorder is not None else []
        await super().stop()
        if closing:
            await asyncio.wait(closing, timeout=CLOSE_S)

    async def opened(self) -> None:
        """Returns when the engine's file is open, or could not be opened."""
        self._is_wanted.set()
        await asyncio.wait([self._opening])

    async def _open(self, after_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(after_s):
                await self._is_wanted.wait()
        if self._is_stopping:
            return
        try:
            await _in_thread(self._open_recorder)
        except Exception as error:
            log.exception("the engine's file cannot be used; runs are not recorded with it")
            self._problem = f"The engine's file {self._path} cannot be used: {error}"
            return
        unrecorded, self._unrecorded = self._unrecorded, []
        for run_id in unrecorded:
            if run_id in self._tasks and self._recorder is not None:
                self._recorder.start(run_id)

    def _open_recorder(self) -> None:
        """In a thread, since importing dbos takes a second."""
        recorder = Recorder(self._path, self._executor_id, self._join)
        recorder.open()
        with self._handing_over:
            is_late = self._is_stopping
            if not is_late:
                self._recorder = recorder
        if is_late:
            recorder.close()

    async def _join(self, run_id: str) -> None:
        """A run's workflow, on the engine's loop: lasts as long as the run. Cancelling it stops the run."""
        if self._is_stopping:
            await asyncio.Event().wait()  # until it is cancelled, which leaves it pending
        joined = asyncio.run_coroutine_threadsafe(self._joined(run_id), self._main)
        try:
            await asyncio.wrap_future(joined)
        except asyncio.CancelledError:
            if not self._is_stopping:
                asyncio.run_coroutine_threadsafe(super().cancel(run_id), self._main)
            raise

    async def _joined(self, run_id: str) -> None:
        LocalEngine.start(self, run_id)  # it may come from the engine's file, after a crash
        if run_id in self._tasks:
            await asyncio.wait([self._tasks[run_id]])
        if self._is_stopping:
            await asyncio.Event().wait()  # never "done": the next process is to find it pending


async def _in_thread(work: Callable[[], T]) -> T:
    """Like ``asyncio.to_thread``, in a thread that a process on its way out does not wait for."""
    loop, done = asyncio.get_running_loop(), Future[T]()

    done.set_running_or_notify_cancel()  # from here on it cannot be cancelled under our hands

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="engine", daemon=True).start()
    return await asyncio.wrap_future(done, loop=loop)

"""DBOS Transact on one SQLite file: a durable workflow with one preemptible step per run.

The only module that imports dbos, which takes a second and 45 MB, so it does that when it is opened. DBOS
lives on an event loop in a thread of its own: it puts its thread pool in place of that of any loop it is
called from, and takes it away when it ends.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Engine

STORED_FORM = "1"
"""Version of what is stored with DBOS. A pending run is taken up by the same version only, so this changes
when the stored form does and not, as by default, with every line of code."""
TURN_S = 3.0
SHUT_DOWN_S = 0.5
log = logging.getLogger("conductor.engine")
_turn = threading.Lock()  # DBOS keeps its state in globals: one recorder per process, one after the other


class Recorder:
    """DBOS on one file. One per process at a time.

    ``join`` is what a run's workflow does: take part in the run until it ends. It is awaited on DBOS's loop.
    """

    def __init__(self, path: Path, executor_id: str, join: Callable[[str], Awaitable[None]]) -> None:
        self._path, self._executor_id, self._join = path, executor_id, join
        self._workflow: Any = None
        self._engine: Engine | None = None

    def open(self) -> None:
        """Creates or upgrades the tables and starts to listen. Takes its time: not for an event loop."""
        if not _turn.acquire(timeout=TURN_S):
            raise RuntimeError("another engine is open in this process")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="dbos", daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._launch(), self._loop).result()
        except BaseException:
            self.close()  # DBOS would keep what it was told here for whoever opens it next
            raise

    def start(self, run_id: str) -> None:
        """Writes the run down and keeps its workflow going until the run has ended."""
        asyncio.run_coroutine_threadsafe(self._start(run_id), self._loop)

    def cancel(self, run_id: str) -> None:
        """Tells whichever process executes the run; it looks each second."""
        from dbos import DBOS

        asyncio.run_coroutine_threadsafe(DBOS.cancel_workflow_async(run_id), self._loop)

    def close(self) -> None:
        """Lets go of the file, once. Workflows under way stay pending. Not for an event loop."""
        try:
            asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            _turn.release()

    async def _launch(self) -> None:
        from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer

        url = f"sqlite:///{self._path}"
        self._engine = _wal_engine(url)
        config: DBOSConfig = {
            "name": "conductor-studio",
            "system_database_url": url,
            "system_database_engine": self._engine,
            "application_version": STORED_FORM,
            "executor_id": self._executor_id,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "ERROR",
            "max_executor_threads": 8,  # unbounded by default: a burst of 200 runs would start 200 threads
            "notification_listener_polling_interval_sec": 0.25,  # what closing waits for; we send none
        }
        DBOS(config=config)

        @DBOS.workflow(name="run")
        async def run(run_id: str) -> None:
            await DBOS.run_step_async({"name": "run", "preemptible": True}, self._join, run_id)

        self._workflow = run
        DBOS.launch()

    async def _start(self, run_id: str) -> None:
        from dbos import DBOS, SetWorkflowID

        try:
            with SetWorkflowID(run_id):
                await DBOS.start_workflow_async(self._workflow, run_id)
        except Exception:
            log.exception("run %s goes on, but could not be recorded", run_id)

    async def _shut_down(self) -> None:
        from dbos import DBOS

        logging.getLogger("dbos").setLevel(logging.CRITICAL)  # what is cut short here is taken up later
        give_up = self._loop.time() + SHUT_DOWN_S
        while (tasks := asyncio.all_tasks() - {asyncio.current_task()}) and self._loop.time() < give_up:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=0.05)
        await self._loop.run_in_executor(None, lambda: DBOS.destroy(destroy_registry=True))
        if self._engine is not None:
            self._engine.dispose()


def _wal_engine(url: str) -> Engine:
    """DBOS leaves SQLite on its rollback journal, which makes each of its steps five times slower."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(url)

    @sqlalchemy.event.listens_for(engine, "connect")
    def _set_up(connection: Any, record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        for setting in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {setting}")

    return engine

"""Reading beside the writer: a few threads of our own, each with its own connection.

Not asyncio's common pool: a slow search must not hold up name look-ups, nor the other way round.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock, local
from typing import TypeVar

from . import database
from .errors import closed, translated

T = TypeVar("T")
N_THREADS = 4


class Readers:
    """Runs reading jobs, each on one consistent snapshot of the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own = local()
        self._all: list[sqlite3.Connection] = []
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(N_THREADS, thread_name_prefix="store-reader")

    def submit(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Queues a job. Raises ``StoreError`` when the store was closed."""
        try:
            return self._pool.submit(self._do, work)
        except RuntimeError as problem:
            raise closed() from problem

    def close(self) -> None:
        """Waits for jobs that run, then closes every connection. May be called again."""
        self._pool.shutdown(wait=True)
        with self._lock:
            for conn in self._all:
                conn.close()
            self._all.clear()

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            conn = self._connection()
            conn.execute("BEGIN")
            try:
                return work(conn)
            finally:
                conn.execute("ROLLBACK")
        except sqlite3.Error as problem:
            raise translated(problem, self._path) from problem

    def _connection(self) -> sqlite3.Connection:
        conn: sqlite3.Connection | None = getattr(self._own, "conn", None)
        if conn is None:
            conn = database.connect(self._path, for_reading=True)
            self._own.conn = conn
            with self._lock:
                self._all.append(conn)
        return conn

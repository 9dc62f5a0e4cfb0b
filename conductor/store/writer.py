"""The one thread that writes: jobs queue up, and all that gathered while the last commit ran share the next.

A commit waits for the disk (about 4 ms), so this is what makes "durable before it is shown" cheap. Each job
runs in a savepoint of its own: one that fails takes nothing else with it. When the whole transaction is lost
(a full disk can do that), its jobs are tried again one by one, so that only those that cannot be stored fail.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread
from typing import Any, TypeVar

from . import database
from .errors import closed, translated
from .folds import Folded, Folds, current

T = TypeVar("T")
MAX_GROUP = 256
"""Jobs that share one commit, at most."""


@dataclass
class Transaction:
    """What a job works with. States it has folded become known to others only after the commit."""

    conn: sqlite3.Connection
    folds: Folds
    states: dict[str, Folded] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    """Runs that were removed for good."""
    afterwards: list[Callable[[sqlite3.Connection], None]] = field(default_factory=list)
    """What to do when the commit is done, outside of any transaction."""

    def folded(self, run_id: str) -> Folded:
        """The state after every event of a run. Raises ``KeyError`` when it has none."""
        return current(self.conn, run_id, self.states.get(run_id) or self.folds.get(run_id))


@dataclass
class _Job:
    work: Callable[[Transaction], Any]
    future: Future[Any] = field(default_factory=Future)


@dataclass
class _Outcome:
    job: _Job
    value: Any = None
    problem: Exception | None = None

    def tell(self, path: Path) -> None:
        problem = self.problem
        if isinstance(problem, sqlite3.Error):
            problem = translated(problem, path)
            problem.__cause__ = self.problem
        # A caller who was cancelled has given up on the answer; the job was done all the same.
        with suppress(InvalidStateError):
            if problem is None:
                self.job.future.set_result(self.value)
            else:
                self.job.future.set_exception(problem)


class _GroupLost(Exception):
    """SQLite ended the transaction because of one job; the others have to be done again."""


class Writer:
    """Runs jobs in order on a thread of its own. ``submit`` and ``close`` may be called from any thread."""

    def __init__(self, path: Path, folds: Folds) -> None:
        self._path = path
        self._folds = folds
        self._conn = database.connect(path)
        self._waiting: deque[_Job] = deque()
        self._changed = Condition()
        self._is_closing = False
        self._thread = Thread(target=self._work, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[Transaction], T]) -> Future[T]:
        """Queues a job. The future ends when its result is on the disk.

        Cancelling the future does not stop the job: what is stored must not depend on when somebody
        pressed Stop. A job may be done twice when its first transaction is lost, so it changes nothing
        but the database and its ``Transaction``.

        Raises:
            StoreError: the writer was closed.
        """
        job = _Job(work)
        with self._changed:
            if self._is_closing:
                raise closed()
            self._waiting.append(job)
            self._changed.notify()
        return job.future

    def close(self) -> None:
        """Finishes what is queued, then ends. May be called again."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        self._thread.join()

    def _work(self) -> None:
        try:
            while group := self._next_group():
                for outcome in self._outcomes(group):
                    outcome.tell(self._path)
        finally:
            self._conn.close()
            with self._changed:
                self._is_closing = True
                left, self._waiting = list(self._waiting), deque()
            for job in left:
                job.future.set_exception(closed())

    def _next_group(self) -> list[_Job]:
        with self._changed:
            while not self._waiting and not self._is_closing:
                self._changed.wait()
            return [self._waiting.popleft() for _ in range(min(len(self._waiting), MAX_GROUP))]

    def _outcomes(self, group: list[_Job]) -> list[_Outcome]:
        try:
            outcomes = self._attempt(group)
            if outcomes is None:
                outcomes = [each for job in group for each in self._attempt([job]) or ()]
            return outcomes
        except Exception as problem:  # whoever waits must hear of it, whatever it is
            return [_Outcome(job, problem=problem) for job in group]

    def _attempt(self, group: list[_Job]) -> list[_Outcome] | None:
        """Does the jobs in one transaction; ``None`` when it was lost and they must be done one by one."""
        transaction = Transaction(self._conn, self._folds)
        try:
            with database.immediate(self._conn):
                outcomes = [self._do(job, transaction) for job in group]
        except (_GroupLost, sqlite3.Error) as problem:
            if len(group) > 1:
                return None
            cause = problem.__cause__ if isinstance(problem, _GroupLost) else problem
            return [_Outcome(group[0], problem=cause if isinstance(cause, Exception) else problem)]
        self._publish(transaction)
        return outcomes

    def _do(self, job: _Job, transaction: Transaction) -> _Outcome:
        try:
            with database.savepoint(self._conn):
                return _Outcome(job, value=job.work(transaction))
        except Exception as problem:
            if not self._conn.in_transaction:
                raise _GroupLost from problem
            return _Outcome(job, problem=problem)

    def _publish(self, transaction: Transaction) -> None:
        for run_id, folded in transaction.states.items():
            self._folds.keep(run_id, folded)
        for run_id in transaction.gone:
            self._folds.drop(run_id)
        for afterwards in transaction.afterwards:
            with suppress(sqlite3.Error):  # tidying up; what counts is committed
                afterwards(self._conn)

"""The store: everything that outlives a process, in one SQLite file, behind one object.

Writes go through one thread that commits in groups; reads have threads of their own. Every method but
``open`` is to be awaited, may be called from any event loop, and returns only when what it says is so: a
write is on the disk. A write that was handed in is carried out even when the caller is cancelled.

Missing things raise ``KeyError``; a file that cannot be used raises ``StoreError``.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from conductor_client.api import Lineage, RunFacets, RunPage, RunPatch, SavedWorkflow
from conductor_client.events import RunCreated, RunEvent
from conductor_client.plan import Plan
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow

from . import database, deletion, installation, lineage, listing, remarks, results, runs, search, shelf, texts
from .errors import StoreError
from .folds import Folds, current, events_of
from .reader import Readers
from .results import StoredResult
from .runs import Once
from .texts import Channel, TextSoFar
from .writer import Transaction, Writer

T = TypeVar("T")


def _now() -> datetime:
    return datetime.now(UTC)


class Store:
    """One open database file. ``close`` it when done; it flushes what is queued."""

    def __init__(self, path: Path, *, now: Callable[[], datetime] = _now) -> None:
        self.path = path
        self._now = now
        self._folds = Folds()
        self._readers = Readers(path)
        self._writer = Writer(path, self._folds)

    @classmethod
    def open(cls, path: Path, *, now: Callable[[], datetime] = _now) -> Self:
        """Opens the file, creating it and its folder, and upgrades an older one. Not to be awaited.

        Raises:
            StoreError: not ours, damaged, from a newer release (left untouched), or not writable.
        """
        database.prepare(path)
        try:
            return cls(path, now=now)
        except sqlite3.Error as problem:
            raise database.translated(problem, path) from problem

    async def close(self) -> None:
        """Finishes queued writes and running reads, then lets go of the file. May be called again."""
        await asyncio.to_thread(self.close_now)

    def close_now(self) -> None:
        """The same for callers without an event loop."""
        self._writer.close()
        self._readers.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Runs and their events

    async def create_run(
        self, created: RunCreated, *, once: Once | None = None, tags: Sequence[str] = ()
    ) -> tuple[str, bool]:
        """Stores a new run. With an earlier one's key nothing is stored: returns its id and ``False``.

        Raises:
            KeyTaken: the key came with another request before.
        """
        return await self._write(lambda tx: runs.create(tx, created, once=once, tags=tags))

    async def append(self, run_id: str, events: Sequence[RunEvent]) -> list[RunEvent]:
        """Gives events their ``seq``, stores all or none, and returns them as readers will see them.

        Raises:
            KeyError: there is no such run (unless ``run_created`` is the first of the events).
            ValueError: an event is of another run, is stored already, or begins a run that has begun.
        """
        return await self._write(lambda tx: runs.append(tx, run_id, events))

    async def events(self, run_id: str, after: int = 0) -> list[RunEvent]:
        """Events with a ``seq`` above ``after``, in order. Raises ``KeyError``."""

        def read(conn: sqlite3.Connection) -> list[RunEvent]:
            _check_shown(conn, run_id)
            return events_of(conn, run_id, after)

        return await self._read(read)

    async def state(self, run_id: str) -> RunState:
        """The folded run with what people said about it. Raises ``KeyError``."""
        return await self._read(lambda conn: self._state(conn, run_id))

    async def unfinished_runs(self) -> list[str]:
        """Ids of runs that have not ended and are not deleted, oldest first."""
        sql = "SELECT run_id FROM runs WHERE finished_at IS NULL AND deleted_at IS NULL ORDER BY created_at"
        return await self._read(lambda conn: [run_id for (run_id,) in conn.execute(sql)])

    async def save_text(self, run_id: str, step_id: str, attempt: int, channel: Channel, text: str) -> None:
        """Keeps the whole text a running step (or ``"plan"``) has written, in place of the one before."""
        await self._write(lambda tx: texts.save(tx.conn, run_id, TextSoFar(step_id, attempt, channel, text)))

    async def texts_so_far(self, run_id: str) -> list[TextSoFar]:
        """What running steps had written when it was last saved; empty for a run that has ended."""
        return await self._read(lambda conn: texts.saved(conn, run_id))

    # What people do with runs

    async def list_runs(
        self,
        q: str | None = None,
        status: str | None = None,
        tag: str | None = None,
        conductor: str | None = None,
        worker: str | None = None,
        sort: listing.Sort = "newest",
        cursor: str | None = None,
        limit: int = 50,
        **more: Any,
    ) -> RunPage:
        """One page of the history, at most 200 runs; largest cost or time first. ``more``: see ``Wanted``.

        Raises:
            ValueError: the sort is unknown, or the cursor is none of ours or of another sort.
        """
        wanted = listing.Wanted(q, status, tag, conductor, worker, sort, cursor, limit, **more)
        return await self._read(lambda conn: listing.page(conn, wanted))

    async def facets(self) -> RunFacets:
        """What the history can be filtered by."""
        return await self._read(listing.facets)

    async def patch_run(self, run_id: str, patch: RunPatch) -> RunState:
        """Changes what people say about a run: the fields set in ``patch``, ``None`` taking one back.

        Returns the run as it is then. Raises ``KeyError``.
        """
        said = {name: getattr(patch, name) for name in patch.model_fields_set}

        def write(tx: Transaction) -> RunState:
            _check_shown(tx.conn, run_id)
            remarks.write(tx.conn, run_id, said)
            return tx.folded(run_id).state.model_copy(update=remarks.read(tx.conn, run_id))

        return await self._write(write)

    async def delete_run(self, run_id: str) -> None:
        """Hides a run at once, for good after ``UNDO_S`` seconds. Stop it first. Raises ``KeyError``."""
        await self._write(lambda tx: deletion.hide(tx.conn, run_id, self._now()))

    async def restore_run(self, run_id: str) -> None:
        """Undoes a deletion. Raises ``KeyError`` when there is none, or it was too long ago."""
        await self._write(lambda tx: deletion.restore(tx.conn, run_id, self._now()))

    async def branch(self, run_id: str) -> list[str]:
        """The run and everything forked from it, however far, that is not deleted. Raises ``KeyError``."""
        return await self._read(lambda conn: lineage.branch(conn, run_id))

    async def delete_branch(self, run_id: str) -> list[str]:
        """Hides these runs at once, like ``delete_run``; returns their ids. Raises ``KeyError``."""
        return await self._write(lambda tx: deletion.hide_branch(tx.conn, run_id, self._now()))

    async def restore_branch(self, run_id: str) -> list[str]:
        """Undoes that: brings back what was hidden with the run. Raises ``KeyError`` when it is too late."""
        return await self._write(lambda tx: deletion.restore_branch(tx.conn, run_id, self._now()))

    async def purge(self) -> int:
        """Removes for good what was deleted over ``UNDO_S`` seconds ago. Returns how many runs."""
        n_purged = await self._write(lambda tx: deletion.purge(tx, self._now()))
        if n_purged:
            await self._write(lambda tx: search.begin_merge(tx.conn))
            while await self._write(deletion.tidy):
                pass  # one step a job, so that events of running runs need not wait long
        return n_purged

    async def lineage(self, run_id: str) -> Lineage:
        """The run's family, oldest first, deleted members left out. Raises ``KeyError``."""
        return await self._read(lambda conn: lineage.of(conn, run_id))

    # Results

    async def put_result(self, key: str, result: StoredResult) -> None:
        """Stores an answer; it becomes the newest of its key and so supersedes earlier ones."""
        await self._write(lambda tx: results.put(tx.conn, key, result))

    async def get_results(
        self, keys: Collection[str], *, lineage_of: str | None = None
    ) -> Mapping[str, StoredResult]:
        """The newest answer of each key that has one, deleted runs' apart.

        ``lineage_of``: only answers that the family of this run made or reused; ``None`` = the whole store.
        """

        def read(conn: sqlite3.Connection) -> dict[str, StoredResult]:
            within = None if lineage_of is None else lineage.run_ids(conn, lineage_of)
            return results.by_keys(conn, list(keys), within)

        return await self._read(read)

    # Plans and saved workflows

    async def save_plan(self, plan: Plan) -> None:
        """Stores a plan under its id."""
        await self._write(lambda tx: shelf.save_plan(tx.conn, plan))

    async def get_plan(self, plan_id: str) -> Plan:
        """The plan of that id. Raises ``KeyError``."""
        return await self._read(lambda conn: shelf.plan(conn, plan_id))

    async def save_workflow(self, name: str, workflow: Workflow, *, replace: bool = False) -> SavedWorkflow:
        """Keeps a workflow under a name. Raises ``NameTaken`` when there is one and ``replace`` is off."""
        return await self._write(
            lambda tx: shelf.save_workflow(tx.conn, name, workflow, replace=replace, now=self._now())
        )

    async def list_workflows(self) -> list[SavedWorkflow]:
        """Every saved workflow, newest first."""
        return await self._read(shelf.workflows)

    async def delete_workflow(self, name: str) -> None:
        """Lets go of a saved workflow. Raises ``KeyError``."""
        await self._write(lambda tx: shelf.delete_workflow(tx.conn, name))

    # The installation

    async def spent_usd_since(self, moment: datetime) -> Decimal:
        """Known spending from that moment on, deleted runs included; unpriced calls count nothing."""
        return await self._read(lambda conn: installation.spent_usd_since(conn, moment))

    async def secret(self, name: str) -> str:
        """A random secret kept in the file, 256 bits in hex, made when first asked for."""
        return await self._write(lambda tx: installation.secret(tx.conn, name))

    async def is_writable(self) -> bool:
        """Whether a write reaches the disk right now; tried with one commit."""
        try:
            await self._write(lambda tx: installation.probe(tx.conn, self._now()))
        except StoreError:
            return False
        return True

    async def _write(self, work: Callable[[Transaction], T]) -> T:
        return await asyncio.wrap_future(self._writer.submit(work))

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.wrap_future(self._readers.submit(work))

    def _state(self, conn: sqlite3.Connection, run_id: str) -> RunState:
        _check_shown(conn, run_id)
        folded = current(conn, run_id, self._folds.get(run_id))
        self._folds.keep(run_id, folded)
        return folded.state.model_copy(update=remarks.read(conn, run_id))


def _check_shown(conn: sqlite3.Connection, run_id: str) -> None:
    shown = conn.execute("SELECT 1 FROM runs WHERE run_id = ? AND deleted_at IS NULL", (run_id,))
    if shown.fetchone() is None:
        raise KeyError(run_id)

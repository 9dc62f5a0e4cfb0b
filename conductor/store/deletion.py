"""Deleting a run: hidden at once, back again within ten seconds, then gone for good.

Gone means events, rows, search text, saved text, an unshared plan, and every result that no remaining run
made or reused. Forks carry their own events, so they stay whole. What was spent stays booked.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from . import lineage, search
from .forms import iso
from .writer import Transaction

UNDO_S = 10.0
"""For how long a deletion can be undone, in seconds."""
_ROWS_OF_A_RUN = ("events", "steps", "texts_so_far", "remarks", "idempotency_keys", "runs")


def hide(conn: sqlite3.Connection, run_id: str, now: datetime) -> None:
    """Hides a run. Raises ``KeyError`` when there is none, or it is hidden already."""
    changed = conn.execute(
        "UPDATE runs SET deleted_at = ? WHERE run_id = ? AND deleted_at IS NULL", (iso(now), run_id)
    )
    if changed.rowcount == 0:
        raise KeyError(run_id)


def hide_branch(conn: sqlite3.Connection, run_id: str, now: datetime) -> list[str]:
    """Hides a run and all that was forked from it, at one moment. Returns their ids. Raises ``KeyError``."""
    hidden = lineage.branch(conn, run_id)
    conn.executemany("UPDATE runs SET deleted_at = ? WHERE run_id = ?", [(iso(now), each) for each in hidden])
    return hidden


def restore_branch(conn: sqlite3.Connection, run_id: str, now: datetime) -> list[str]:
    """Brings back a run and what was hidden at the same moment with it, and returns their ids.

    Raises:
        KeyError: it is not hidden, or for too long.
    """
    moment = conn.execute("SELECT deleted_at FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    restore(conn, run_id, now)
    family = [each for each in lineage.run_ids(conn, run_id) if each != run_id]
    back = [
        each
        for each in family
        if conn.execute(
            "UPDATE runs SET deleted_at = NULL WHERE run_id = ? AND deleted_at = ?", (each, moment[0])
        ).rowcount
    ]
    return [run_id, *back]


def restore(conn: sqlite3.Connection, run_id: str, now: datetime) -> None:
    """Brings a hidden run back. Raises ``KeyError`` when it is not hidden, or for too long."""
    since = iso(now - timedelta(seconds=UNDO_S))
    changed = conn.execute(
        "UPDATE runs SET deleted_at = NULL WHERE run_id = ? AND deleted_at >= ?", (run_id, since)
    )
    if changed.rowcount == 0:
        raise KeyError(run_id)


def purge(transaction: Transaction, now: datetime) -> int:
    """Removes every run that was hidden longer ago than ``UNDO_S``. Returns how many."""
    conn = transaction.conn
    since = iso(now - timedelta(seconds=UNDO_S))
    doomed = conn.execute("SELECT run_id, id, plan_id FROM runs WHERE deleted_at < ?", (since,)).fetchall()
    for run_id, row_id, plan_id in doomed:
        makers = {run_id} | {
            maker
            for (maker,) in conn.execute(
                "SELECT DISTINCT reused_run FROM steps WHERE run_id = ? AND reused_run IS NOT NULL", (run_id,)
            )
        }
        conn.execute("DELETE FROM search WHERE rowid = ?", (row_id,))
        for table in _ROWS_OF_A_RUN:
            conn.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
        conn.execute(
            "DELETE FROM plans WHERE plan_id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE plan_id = ?1)",
            (plan_id,),
        )
        conn.executemany(_FORGET_RESULTS, [(maker,) for maker in makers])
        transaction.gone.append(run_id)
    return len(doomed)


def tidy(transaction: Transaction) -> bool:
    """Takes the removed text out of index and log too, step by step. Returns whether there is more to do."""
    if search.merge_more(transaction.conn):
        return True
    transaction.afterwards.append(_overwrite_log)
    return False


_FORGET_RESULTS = """DELETE FROM results WHERE run_id = ?
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.run_id = results.run_id)
    AND NOT EXISTS (
        SELECT 1 FROM steps WHERE steps.reused_run = results.run_id AND steps.reused_step = results.step_id
    )"""


def _overwrite_log(conn: sqlite3.Connection) -> None:
    """The log still holds the old pages; it is emptied now if nobody reads, else in the course of things."""
    (wait_ms,) = conn.execute("PRAGMA busy_timeout").fetchone()
    conn.execute("PRAGMA busy_timeout = 0")
    try:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        conn.execute(f"PRAGMA busy_timeout = {wait_ms}")

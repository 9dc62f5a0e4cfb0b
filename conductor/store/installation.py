"""What belongs to the installation rather than to a run: spending, secrets, heartbeats of executors."""

from __future__ import annotations

import secrets
import sqlite3
from datetime import datetime
from decimal import Decimal

from conductor_client.run_state import RunState

from .forms import iso

_PICO = Decimal(10) ** 12


def record_spending(conn: sqlite3.Connection, before: RunState | None, after: RunState, at: datetime) -> None:
    """Books what a run's known cost grew by. Kept when the run is deleted: it was paid for."""
    grown = _cost(after) - (_cost(before) if before else 0)
    if grown:
        picodollars = min(int(grown * _PICO), 2**63 - 1)
        conn.execute("INSERT INTO spending (at, picodollars) VALUES (?, ?)", (iso(at), picodollars))


def spent_usd_since(conn: sqlite3.Connection, moment: datetime) -> Decimal:
    """Known spending from that moment on, exact to a billionth of a cent; unpriced calls count nothing."""
    row = conn.execute("SELECT coalesce(sum(picodollars), 0) FROM spending WHERE at >= ?", (iso(moment),))
    return Decimal(row.fetchone()[0]) / _PICO


def secret(conn: sqlite3.Connection, name: str) -> str:
    """The secret of that name: 256 random bits in hex, made when first asked for."""
    conn.execute("INSERT OR IGNORE INTO secrets (name, value) VALUES (?, ?)", (name, secrets.token_hex(32)))
    value: str = conn.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()[0]
    return value


def forget_secret(conn: sqlite3.Connection, name: str) -> None:
    """Lets go of a secret, so that everything signed with it stops working; the next asking makes another."""
    conn.execute("DELETE FROM secrets WHERE name = ?", (name,))


def beat(conn: sqlite3.Connection, executor_id: str, at: datetime) -> None:
    """Notes that an executor is alive."""
    conn.execute(
        "INSERT OR REPLACE INTO executors (executor_id, beat_at) VALUES (?, ?)", (executor_id, iso(at))
    )


def silent_executors(conn: sqlite3.Connection, since: datetime) -> list[str]:
    """Executors that have not been heard of since that moment, longest silent first."""
    rows = conn.execute(
        "SELECT executor_id FROM executors WHERE beat_at < ? ORDER BY beat_at, executor_id", (iso(since),)
    )
    return [executor_id for (executor_id,) in rows]


def forget_executor(conn: sqlite3.Connection, executor_id: str) -> None:
    """Takes an executor off the list, when its runs were taken over."""
    conn.execute("DELETE FROM executors WHERE executor_id = ?", (executor_id,))


def _cost(state: RunState) -> Decimal:
    return state.cost_usd + state.orchestration_cost_usd

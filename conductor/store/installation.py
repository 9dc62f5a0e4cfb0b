"""What belongs to the installation rather than to a run: spending, secrets, whether it can be written."""

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


def probe(conn: sqlite3.Connection, at: datetime) -> None:
    """Writes one row, the same each time, to see whether writing works."""
    conn.execute("INSERT OR REPLACE INTO executors (executor_id, beat_at) VALUES ('probe', ?)", (iso(at),))


def _cost(state: RunState) -> Decimal:
    return state.cost_usd + state.orchestration_cost_usd

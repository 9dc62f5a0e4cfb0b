"""The tables, as numbered migrations: newest last, never edited once released.

``events`` is the truth. ``runs``, ``steps``, ``search`` and ``texts_so_far`` follow from it and exist so that
a list or a page loads without reading events. ``remarks`` is what people said about a run. ``results`` holds
answers for reuse; ``spending`` outlives the runs it came from, since a deleted run was paid for all the same.
Money is decimal text; ``spending`` counts whole picodollars, so that SQL can add it up exactly.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from . import search
from .folds import current

APPLICATION_ID = 0x436F5374
"""``CoSt`` in SQLite's header: how a file is known to be ours."""

_FIRST = (
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL UNIQUE,
        root_run TEXT NOT NULL,
        parent_run TEXT,
        plan_id TEXT,
        status TEXT NOT NULL,
        prompt TEXT NOT NULL,
        conductor TEXT NOT NULL,
        origin TEXT NOT NULL,
        workers TEXT NOT NULL,
        n_steps INTEGER NOT NULL,
        topology TEXT,
        cost_usd TEXT,
        cost_complete INTEGER NOT NULL,
        total_tokens INTEGER,
        tokens_complete INTEGER NOT NULL,
        wall_s REAL,
        created_at TEXT NOT NULL,
        finished_at TEXT,
        deleted_at TEXT
    ) STRICT""",
    "CREATE INDEX runs_by_time ON runs (created_at, run_id)",
    "CREATE INDEX runs_by_root ON runs (root_run)",
    "CREATE INDEX runs_by_plan ON runs (plan_id) WHERE plan_id IS NOT NULL",
    "CREATE INDEX runs_unfinished ON runs (created_at) WHERE finished_at IS NULL",
    "CREATE INDEX runs_deleted ON runs (deleted_at) WHERE deleted_at IS NOT NULL",
    """CREATE TABLE remarks (
        run_id TEXT PRIMARY KEY,
        tags TEXT NOT NULL DEFAULT '[]',
        note TEXT,
        rating INTEGER,
        grade TEXT,
        gold TEXT
    ) STRICT""",
    """CREATE TABLE events (
        run_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (run_id, seq)
    ) STRICT""",
    """CREATE TABLE steps (
        run_id TEXT NOT NULL,
        step_id TEXT NOT NULL,
        round INTEGER NOT NULL,
        worker TEXT,
        status TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        input_tokens INTEGER,
        output_tokens INTEGER,
        cost_usd TEXT,
        served_model TEXT,
        error_kind TEXT,
        started_at TEXT,
        finished_at TEXT,
        reused_run TEXT,
        reused_step TEXT,
        PRIMARY KEY (run_id, step_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX steps_by_worker ON steps (worker)",
    "CREATE INDEX steps_reused ON steps (reused_run, reused_step) WHERE reused_run IS NOT NULL",
    """CREATE TABLE texts_so_far (
        run_id TEXT NOT NULL,
        step_id TEXT NOT NULL,
        channel TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        text TEXT NOT NULL,
        PRIMARY KEY (run_id, step_id, channel)
    ) STRICT""",
    """CREATE TABLE results (
        id INTEGER PRIMARY KEY,
        run_id TEXT NOT NULL,
        step_id TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        key TEXT,
        data TEXT NOT NULL,
        UNIQUE (run_id, step_id, attempt)
    ) STRICT""",
    "CREATE INDEX results_by_key ON results (key) WHERE key IS NOT NULL",
    "CREATE TABLE plans (plan_id TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT",
    "CREATE TABLE workflows (name TEXT PRIMARY KEY, created_at TEXT NOT NULL, data TEXT NOT NULL) STRICT",
    "CREATE TABLE idempotency_keys (key TEXT PRIMARY KEY, run_id TEXT NOT NULL) STRICT",
    "CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run_id)",
    "CREATE TABLE secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE executors (executor_id TEXT PRIMARY KEY, beat_at TEXT NOT NULL) STRICT",
    "CREATE TABLE spending (at TEXT NOT NULL, picodollars INTEGER NOT NULL) STRICT",
    "CREATE INDEX spending_by_time ON spending (at)",
)


def _first_tables(conn: sqlite3.Connection) -> None:
    for statement in _FIRST:
        conn.execute(statement)


def _text_search(conn: sqlite3.Connection) -> None:
    """Full-text search over what runs say; runs of an older file are indexed here."""
    search.create(conn)
    for (run_id,) in conn.execute("SELECT run_id FROM runs").fetchall():
        search.index(conn, current(conn, run_id, None).state)


def _requests_of_keys(conn: sqlite3.Connection) -> None:
    """What each idempotency key came with; ``NULL`` for keys of an older file, which fit any request."""
    conn.execute("ALTER TABLE idempotency_keys ADD COLUMN request TEXT")


MIGRATIONS: tuple[tuple[str, Callable[[sqlite3.Connection], None]], ...] = (
    ("0001_first_tables", _first_tables),
    ("0002_text_search", _text_search),
    ("0003_requests_of_keys", _requests_of_keys),
)
SCHEMA_VERSION = len(MIGRATIONS)
"""Kept in ``PRAGMA user_version``. A file with a higher one was written by a newer release."""

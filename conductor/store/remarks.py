"""What people say about a run: tags, note, rating, grade, gold answer. Beside the events, never in them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from conductor.characters import whole_all

from .forms import as_json

_COLUMNS = ("tags", "note", "rating", "grade", "gold")


def write(conn: sqlite3.Connection, run_id: str, changes: Mapping[str, Any]) -> None:
    """Changes the given ones and leaves the others; ``None`` takes one back. Tags lose their doubles."""
    row = read(conn, run_id) | whole_all(changes)
    row["tags"] = as_json(list(dict.fromkeys(row["tags"] or ())))
    conn.execute(
        "INSERT OR REPLACE INTO remarks (run_id, tags, note, rating, grade, gold) VALUES (?, ?, ?, ?, ?, ?)",
        (run_id, *(row[column] for column in _COLUMNS)),
    )


def read(conn: sqlite3.Connection, run_id: str) -> dict[str, Any]:
    """All remarks on a run, as fields of ``RunState``; empty ones when nobody said anything."""
    row = conn.execute(f"SELECT {', '.join(_COLUMNS)} FROM remarks WHERE run_id = ?", (run_id,)).fetchone()
    said = dict(zip(_COLUMNS, row or ("[]", None, None, None, None), strict=True))
    said["tags"] = tuple(json.loads(said["tags"]))
    return said

"""Families of runs: forks and what they were forked from."""

from __future__ import annotations

import json
import sqlite3
from decimal import Decimal
from typing import Any

from conductor_client.api import Lineage, LineageNode

_ENDS = "('run_finished', 'run_failed', 'run_cancelled')"


def of(conn: sqlite3.Connection, run_id: str) -> Lineage:
    """Every run, not deleted, that shares the first ancestor of this one, oldest first.

    A parent that was deleted is still named as ``parent_run`` (and as ``root``), so siblings stay siblings.

    Raises:
        KeyError: there is no such run.
    """
    found = conn.execute(
        "SELECT root_run FROM runs WHERE run_id = ? AND deleted_at IS NULL", (run_id,)
    ).fetchone()
    if found is None:
        raise KeyError(run_id)
    rows = conn.execute(
        f"""SELECT runs.*, remarks.rating, remarks.grade,
            (SELECT json_extract(data, '$.edits') FROM events
             WHERE events.run_id = runs.run_id AND seq = 1) AS edits,
            (SELECT json_extract(data, '$.final_output') FROM events
             WHERE events.run_id = runs.run_id AND kind IN {_ENDS} ORDER BY seq DESC LIMIT 1) AS final_output
        FROM runs LEFT JOIN remarks USING (run_id) WHERE root_run = ? AND deleted_at IS NULL
        ORDER BY created_at, id""",
        (found["root_run"],),
    )
    return Lineage(root=found["root_run"], runs=tuple(_node(row) for row in rows))


def branch(conn: sqlite3.Connection, run_id: str) -> list[str]:
    """The run and its descendants, not deleted, oldest first; over deleted ones in between too.

    Raises:
        KeyError: there is no such run, or it is deleted.
    """
    rows = conn.execute(
        """WITH RECURSIVE below (run_id) AS (
            SELECT run_id FROM runs WHERE run_id = ?
            UNION SELECT runs.run_id FROM runs JOIN below ON runs.parent_run = below.run_id
        )
        SELECT run_id FROM runs JOIN below USING (run_id) WHERE deleted_at IS NULL ORDER BY created_at, id""",
        (run_id,),
    )
    found = [each for (each,) in rows]
    if run_id not in found:
        raise KeyError(run_id)
    return found


def run_ids(conn: sqlite3.Connection, run_id: str) -> list[str]:
    """Ids of the same family, deleted ones not yet purged included."""
    rows = conn.execute(
        "SELECT run_id FROM runs WHERE root_run = (SELECT root_run FROM runs WHERE run_id = ?)", (run_id,)
    )
    return [each for (each,) in rows]


def _node(row: sqlite3.Row) -> LineageNode:
    edits: list[dict[str, Any]] = json.loads(row["edits"] or "[]")
    cost = row["cost_usd"]
    return LineageNode.model_validate(
        {
            "run_id": row["run_id"],
            "parent_run": row["parent_run"],
            "status": row["status"],
            "edits": edits,
            "created_at": row["created_at"],
            "final_output": row["final_output"],
            "n_steps": row["n_steps"],
            "cost_usd": None if cost is None else Decimal(cost),
            "cost_complete": bool(row["cost_complete"]),
            "wall_s": row["wall_s"],
            "origin": row["origin"],
            "rating": row["rating"],
            "grade": row["grade"],
        }
    )

"""Answers kept for reuse and for recovery after a crash, each with the attempt that made it.

An answer is found by the key of its call (design §5). Equal calls of several runs are all kept, so that a
fork finds what its own lineage made; elsewhere the newest stands for the key.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from decimal import Decimal

from pydantic import BaseModel, ConfigDict

from conductor.characters import whole_all
from conductor_client.usage import Price, Usage

from .forms import as_json


class StoredResult(BaseModel):
    """One successful answer. ``duration_s`` is what the call took; ``None`` anywhere means unknown."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    run_id: str
    step_id: str
    attempt: int
    worker: str
    output: str
    reasoning: str = ""
    finish: str = "stop"
    usage: Usage | None = None
    cost_usd: Decimal | None = None
    price: Price | None = None
    served_model: str | None = None
    duration_s: float | None = None
    notes: tuple[str, ...] = ()


# A result may be offered while its own run is there, or a run that is there reused it.
_OFFERED = """(
    EXISTS (SELECT 1 FROM runs WHERE runs.run_id = results.run_id AND runs.deleted_at IS NULL)
    OR EXISTS (
        SELECT 1 FROM steps JOIN runs USING (run_id)
        WHERE steps.reused_run = results.run_id AND steps.reused_step = results.step_id
        AND runs.deleted_at IS NULL
    )
)"""
_WITHIN = """(
    results.run_id IN (SELECT value FROM json_each(:within))
    OR EXISTS (
        SELECT 1 FROM steps
        WHERE steps.reused_run = results.run_id AND steps.reused_step = results.step_id
        AND steps.run_id IN (SELECT value FROM json_each(:within))
    )
)"""


def put(conn: sqlite3.Connection, key: str, result: StoredResult) -> None:
    """Stores an answer; from now on it is the newest of its key. The same attempt again replaces itself."""
    whole = StoredResult.model_validate(whole_all(result.model_dump()))
    conn.execute(
        "INSERT OR REPLACE INTO results (run_id, step_id, attempt, key, data) VALUES (?, ?, ?, ?, ?)",
        (whole.run_id, whole.step_id, whole.attempt, key, whole.model_dump_json()),
    )


def by_keys(
    conn: sqlite3.Connection, keys: Sequence[str], within: Collection[str] | None
) -> dict[str, StoredResult]:
    """The newest answer of each key that has one. See ``Store.get_results``."""
    rows = conn.execute(
        "SELECT key, data, max(id) FROM results WHERE key IN (SELECT value FROM json_each(:keys))"
        f" AND {_OFFERED} {'' if within is None else f'AND {_WITHIN}'} GROUP BY key",
        {"keys": as_json(list(keys)), "within": as_json(list(within or ()))},
    )
    return {key: StoredResult.model_validate_json(data) for key, data, _ in rows}

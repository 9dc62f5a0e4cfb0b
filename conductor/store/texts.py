"""The text a running step has written so far, saved each second: all that is kept before the step ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from conductor.characters import whole
from conductor_client.events import (
    PlanCreated,
    PlanFailed,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    StepCancelled,
    StepFailed,
    StepFinished,
    StepRetried,
)

Channel = Literal["output", "reasoning", "notice"]
PLAN = "plan"
"""Stands for a step id while the conductor writes."""


@dataclass(frozen=True)
class TextSoFar:
    """What an attempt of a step (or of ``"plan"``) had written on one channel when it was last saved."""

    step_id: str
    attempt: int
    channel: Channel
    text: str


def save(conn: sqlite3.Connection, run_id: str, so_far: TextSoFar) -> None:
    """Replaces what was saved. A step that runs no more is left alone: a late saver changes nothing."""
    conn.execute(
        "INSERT OR REPLACE INTO texts_so_far (run_id, step_id, channel, attempt, text)"
        " SELECT :run, :step, :channel, :attempt, :text"
        " WHERE EXISTS (SELECT 1 FROM steps WHERE run_id = :run AND step_id = :step AND status = 'running')"
        " OR :step = 'plan' AND EXISTS (SELECT 1 FROM runs WHERE run_id = :run AND finished_at IS NULL)",
        {
            "run": run_id,
            "step": so_far.step_id,
            "channel": so_far.channel,
            "attempt": so_far.attempt,
            "text": whole(so_far.text),
        },
    )


def saved(conn: sqlite3.Connection, run_id: str) -> list[TextSoFar]:
    """Everything saved of a run."""
    rows = conn.execute(
        "SELECT step_id, attempt, channel, text FROM texts_so_far WHERE run_id = ? ORDER BY rowid", (run_id,)
    )
    return [TextSoFar(*row) for row in rows]


def forget_ended(conn: sqlite3.Connection, events: Iterable[RunEvent]) -> None:
    """Drops what events made superfluous: from here on the text is in them."""
    for event in events:
        match event:
            case StepRetried() | StepFinished() | StepFailed() | StepCancelled():
                _forget(conn, event.run_id, event.step_id)
            case PlanCreated() | PlanFailed():
                _forget(conn, event.run_id, PLAN)
            case RunFinished() | RunFailed() | RunCancelled():
                conn.execute("DELETE FROM texts_so_far WHERE run_id = ?", (event.run_id,))
            case _:
                pass


def _forget(conn: sqlite3.Connection, run_id: str, step_id: str) -> None:
    conn.execute("DELETE FROM texts_so_far WHERE run_id = ? AND step_id = ?", (run_id, step_id))

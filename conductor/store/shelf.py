"""Plans that were asked for without a run, and workflows kept under a name."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from conductor.characters import whole, whole_all
from conductor_client.api import SavedWorkflow
from conductor_client.errors import quoted
from conductor_client.plan import Plan
from conductor_client.workflow import Workflow

from .errors import NameTaken
from .forms import iso


def save_plan(conn: sqlite3.Connection, plan: Plan) -> None:
    """Stores a plan under its id, in place of an earlier one."""
    data = Plan.model_validate(whole_all(plan.model_dump())).model_dump_json()
    conn.execute("INSERT OR REPLACE INTO plans (plan_id, data) VALUES (?, ?)", (plan.plan_id, data))


def plan(conn: sqlite3.Connection, plan_id: str) -> Plan:
    """The plan of that id. Raises ``KeyError`` when there is none."""
    row = conn.execute("SELECT data FROM plans WHERE plan_id = ?", (plan_id,)).fetchone()
    if row is None:
        raise KeyError(plan_id)
    return Plan.model_validate_json(row[0])


def save_workflow(
    conn: sqlite3.Connection, name: str, workflow: Workflow, *, replace: bool, now: datetime
) -> SavedWorkflow:
    """Keeps a workflow under a name. Raises ``NameTaken`` when there is one and ``replace`` is off."""
    name = whole(name)
    saved = SavedWorkflow(
        name=name, workflow=Workflow.model_validate(whole_all(workflow.model_dump())), created_at=now
    )
    verb = "INSERT OR REPLACE" if replace else "INSERT OR IGNORE"
    stored = conn.execute(
        f"{verb} INTO workflows (name, created_at, data) VALUES (?, ?, ?)",
        (name, iso(now), saved.model_dump_json()),
    )
    if stored.rowcount == 0:
        raise NameTaken(
            f"There is a saved workflow called {quoted(name)} already.",
            hint="Choose another name, or replace it.",
        )
    return saved


def workflows(conn: sqlite3.Connection) -> list[SavedWorkflow]:
    """Every saved workflow, newest first."""
    rows = conn.execute("SELECT data FROM workflows ORDER BY created_at DESC, name")
    return [SavedWorkflow.model_validate_json(data) for (data,) in rows]


def delete_workflow(conn: sqlite3.Connection, name: str) -> None:
    """Lets go of a saved workflow. Raises ``KeyError`` when there is none of that name."""
    if conn.execute("DELETE FROM workflows WHERE name = ?", (name,)).rowcount == 0:
        raise KeyError(name)

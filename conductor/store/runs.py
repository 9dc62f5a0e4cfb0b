"""Writing a run: events get their ``seq``, and the rows that follow from them are brought up to date.

Everything here runs inside a transaction of the writer.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticSerializationError

from conductor.characters import whole, whole_all
from conductor_client import topology
from conductor_client.errors import quoted
from conductor_client.events import RunCreated, RunEvent, event_from_dict, event_from_json
from conductor_client.run_state import RunState, StepState, fold

from . import remarks, search, texts
from .errors import KeyTaken
from .folds import Folded
from .forms import as_json, counted, iso
from .installation import record_spending
from .writer import Transaction


@dataclass(frozen=True)
class Once:
    """A request that starts one run however often it comes: its key, and a digest of what it asks for."""

    key: str
    request: str


PROMPT_HEAD = 300
"""Characters of the prompt kept in ``runs``, for lists."""
_SAYS_MORE = frozenset(
    {"run_created", "plan_created", "round_started", "run_finished", "run_failed", "run_cancelled"}
)
"""Events after which a run says something new as far as search is concerned."""


def create(
    transaction: Transaction, created: RunCreated, *, once: Once | None, tags: Sequence[str]
) -> tuple[str, bool]:
    """Stores a run's first event, once per key. Returns its id and whether it is new. Raises ``KeyTaken``."""
    conn = transaction.conn
    if once is not None:
        key = whole(once.key)
        found = conn.execute("SELECT run_id, request FROM idempotency_keys WHERE key = ?", (key,)).fetchone()
        if found is not None:
            if found[1] not in (None, once.request):
                raise _taken(key, found[0])
            return found[0], False
        row = (key, created.run_id, once.request)
        conn.execute("INSERT INTO idempotency_keys (key, run_id, request) VALUES (?, ?, ?)", row)
    append(transaction, created.run_id, [created])
    if tags:
        remarks.write(conn, created.run_id, {"tags": tuple(tags)})
    return created.run_id, True


def _taken(key: str, run_id: str) -> KeyTaken:
    said = f"The idempotency key {quoted(key)} came with another request before, which started {run_id}."
    hint = "Use a new key for a new request; the same key with the same request gives that run again."
    return KeyTaken(said, hint=hint)


def append(transaction: Transaction, run_id: str, events: Sequence[RunEvent]) -> list[RunEvent]:
    """Stores events and returns them as every reader will see them. See ``Store.append``."""
    conn = transaction.conn
    is_new = conn.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone() is None
    _check(run_id, events, is_new=is_new)
    if not events:
        return []
    known = None if is_new else transaction.folded(run_id)
    before = known.state if known else None
    first = before.last_seq + 1 if before else 1
    data = [_numbered(event, seq) for seq, event in enumerate(events, first)]
    stored = [event_from_json(text) for text in data]
    conn.executemany(
        "INSERT INTO events (run_id, seq, kind, data) VALUES (?, ?, ?, ?)",
        [(run_id, event.seq, event.kind, text) for event, text in zip(stored, data, strict=True)],
    )
    state = fold(stored, before)
    _write_run(conn, before, state)
    _write_steps(conn, before, state)
    texts.forget_ended(conn, stored)
    record_spending(conn, before, state, stored[-1].at)
    if not _SAYS_MORE.isdisjoint(event.kind for event in stored):
        search.index(conn, state)
    length = (known.characters if known else 0) + sum(map(len, data))
    transaction.states[run_id] = Folded(state, length)
    return stored


def _check(run_id: str, events: Sequence[RunEvent], *, is_new: bool) -> None:
    for event in events:
        if event.run_id != run_id:
            raise ValueError(f"an event of {event.run_id} was handed in for {run_id}")
        if event.seq:
            raise ValueError(f"{event.kind} is stored already, as number {event.seq} of {run_id}")
    begins = [isinstance(event, RunCreated) for event in events]
    if is_new and not (begins and begins[0]):
        raise KeyError(run_id)
    if any(begins[1:] if is_new else begins):
        raise ValueError(f"run {run_id} has begun already; run_created is its first event only")


def _numbered(event: RunEvent, seq: int) -> str:
    numbered = event.model_copy(update={"seq": seq})
    try:
        return numbered.model_dump_json()
    except PydanticSerializationError:
        return event_from_dict(whole_all(numbered.model_dump())).model_dump_json()


def _write_run(conn: sqlite3.Connection, before: RunState | None, state: RunState) -> None:
    row = _row_of_run(state)
    if before is None:
        conn.execute(_INSERT_RUN, row | _origin_of_run(conn, state))
    else:
        conn.execute(_UPDATE_RUN, row)


def _origin_of_run(conn: sqlite3.Connection, state: RunState) -> dict[str, Any]:
    """What never changes after the first event."""
    above = conn.execute("SELECT root_run FROM runs WHERE run_id = ?", (state.parent_run,)).fetchone()
    return {
        "root_run": above[0] if above else state.run_id,
        "parent_run": state.parent_run,
        "prompt": state.prompt[:PROMPT_HEAD],
        "conductor": state.conductor,
        "origin": state.origin,
        "created_at": iso(state.created_at) if state.created_at else None,
    }


def _row_of_run(state: RunState) -> dict[str, Any]:
    workers = dict.fromkeys(step.worker for step in state.steps.values() if step.worker)
    sums = (state.usage, state.orchestration_usage)
    known = [
        count for usage in sums for count in (usage.input_tokens, usage.output_tokens) if count is not None
    ]
    cost = state.cost_usd + state.orchestration_cost_usd
    # When nothing of a sum is known it is None, not zero; a run that has called nobody did cost nothing.
    return {
        "run_id": state.run_id,
        "status": state.status,
        "plan_id": state.plan.plan_id if state.plan else None,
        "workers": as_json(list(workers)),
        "n_steps": len(state.workflow.steps) if state.workflow else 0,
        "topology": topology.classify(state.workflow) if state.workflow else None,
        "cost_usd": str(cost) if cost or state.complete.cost else None,
        "cost_complete": state.complete.cost,
        "total_tokens": counted(sum(known)) if known or state.complete.usage else None,
        "tokens_complete": state.complete.usage,
        "wall_s": state.wall_s,
        "finished_at": iso(state.finished_at) if state.finished_at else None,
    }


def _write_steps(conn: sqlite3.Connection, before: RunState | None, state: RunState) -> None:
    # The fold leaves untouched steps as they are, so identity tells which rows to write.
    old = before.steps if before else {}
    rows = [
        _row_of_step(state.run_id, step_id, step)
        for step_id, step in state.steps.items()
        if old.get(step_id) is not step
    ]
    conn.executemany(_WRITE_STEP, rows)


def _row_of_step(run_id: str, step_id: str, step: StepState) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "step_id": step_id,
        "round": step.round,
        "worker": step.worker,
        "status": step.status,
        "attempts": len(step.attempts),
        "input_tokens": counted(step.usage.input_tokens) if step.usage else None,
        "output_tokens": counted(step.usage.output_tokens) if step.usage else None,
        "cost_usd": None if step.cost_usd is None else str(step.cost_usd),
        "served_model": step.served_model,
        "error_kind": step.error.kind if step.error else None,
        "started_at": iso(step.started_at) if step.started_at else None,
        "finished_at": iso(step.finished_at) if step.finished_at else None,
        "reused_run": step.reused_from.run_id if step.reused_from else None,
        "reused_step": step.reused_from.step_id if step.reused_from else None,
    }


def _insert(verb: str, table: str, columns: Sequence[str]) -> str:
    named = ", ".join(f":{column}" for column in columns)
    return f"{verb} INTO {table} ({', '.join(columns)}) VALUES ({named})"


_FIXED = ("run_id", "root_run", "parent_run", "prompt", "conductor", "origin", "created_at")
_DERIVED = ("status", "plan_id", "workers", "n_steps", "topology", "wall_s", "finished_at")
_SUMS = ("cost_usd", "cost_complete", "total_tokens", "tokens_complete")
_INSERT_RUN = _insert("INSERT", "runs", (*_FIXED, *_DERIVED, *_SUMS))
_CHANGES = ", ".join(f"{column} = :{column}" for column in (*_DERIVED, *_SUMS))
_UPDATE_RUN = f"UPDATE runs SET {_CHANGES} WHERE run_id = :run_id"
_STEP = ("run_id", "step_id", "round", "worker", "served_model", "status", "attempts", "error_kind")
_STEP_USED = (
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "started_at",
    "finished_at",
    "reused_run",
    "reused_step",
)
_WRITE_STEP = _insert("INSERT OR REPLACE", "steps", (*_STEP, *_STEP_USED))

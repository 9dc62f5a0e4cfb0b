"""How many events a second the store takes, each durable before its caller goes on."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import Patience, own_cpu_s
from benchmarks.rows import Plan, Row, Series
from conductor.store import Store
from conductor_client import events as ev
from conductor_client._base import new_id
from conductor_client.usage import Usage
from conductor_client.workflow import Message, workflow_of

SAYS = "events the store takes per second, durable and folded: 100 runs at once, one run alone"
BAR = "–"
RUNS_AT_ONCE = 100
STEPS = 5
WORKFLOW = workflow_of(
    "Why is the sky blue?", [("writer", f"Do part {n}.", [*range(n)]) for n in range(STEPS)]
)
SENT = (Message(role="user", content="Why is the sky blue?\n\nDo part 1."),)
OUTPUT = "Short waves scatter more than long ones. " * 20


def measure(plan: Plan) -> Sequence[Row]:
    """Whole runs of 5 steps, event by event, as a run writes them."""
    patience = Patience(plan.patience_s)
    together: list[float] = []
    alone: list[float] = []
    cpu_us: list[float] = []
    bare: list[float] = []
    for _ in range(plan.times(3, 10)):
        with tempfile.TemporaryDirectory() as folder:
            patience.wait()
            per_s, us = asyncio.run(_events_per_s(Path(folder) / "together.sqlite", RUNS_AT_ONCE))
            together.append(per_s)
            cpu_us.append(us)
            alone.append(asyncio.run(_events_per_s(Path(folder) / "alone.sqlite", 1))[0])
            bare.append(_bare_commits_per_s(Path(folder) / "bare.sqlite"))
    cpu = Series(tuple(cpu_us)).said(0, "µs")
    at_once = Series(tuple(together), is_more_better=True)
    one = Series(tuple(alone), is_more_better=True)
    floor = Series(tuple(bare), is_more_better=True).said(0)
    beside = f"CPU per event {cpu}, {patience.said()}"
    return [
        Row.of(
            f"store: events per second, {RUNS_AT_ONCE} runs at once", at_once, None, digits=0, beside=beside
        ),
        Row.of(
            "store: events per second, one run alone",
            one,
            None,
            digits=0,
            beside=f"bare SQLite, a commit per row, {floor}",
        ),
    ]


async def _events_per_s(path: Path, runs: int) -> tuple[float, float]:
    async with Store.open(path) as store:
        start, before = time.perf_counter(), own_cpu_s()
        counts = await asyncio.gather(*(_write_run(store) for _ in range(runs)))
        n_events = sum(counts)
        return n_events / (time.perf_counter() - start), (own_cpu_s() - before) / n_events * 1e6


async def _write_run(store: Store) -> int:
    run_id = new_id("run")
    created = ev.RunCreated(run_id=run_id, prompt=WORKFLOW.prompt, conductor="given", workflow=WORKFLOW)
    await store.create_run(created)
    later = [
        ev.RunStarted(run_id=run_id),
        *_steps(run_id),
        ev.RunFinished(run_id=run_id, final_output=OUTPUT),
    ]
    for event in later:
        await store.append(run_id, [event])
    return 1 + len(later)


def _steps(run_id: str) -> list[ev.RunEvent]:
    events: list[ev.RunEvent] = []
    for step in WORKFLOW.steps:
        step_id, worker = step.step_id, step.worker
        events += [
            ev.StepQueued(
                run_id=run_id,
                step_id=step_id,
                attempt=1,
                worker=worker,
                messages=SENT,
                visible=step.access,
                withheld=(),
            ),
            ev.StepStarted(run_id=run_id, step_id=step_id, attempt=1, worker=worker, waited_s=0.0),
            ev.StepFinished(
                run_id=run_id,
                step_id=step_id,
                attempt=1,
                worker=worker,
                output=OUTPUT,
                usage=Usage(input_tokens=40, output_tokens=200),
            ),
        ]
    return events


def _bare_commits_per_s(path: Path, seconds: float = 0.5) -> float:
    """What the disk gives: one small row per commit, write-ahead log, each flushed to the disk."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE rows (data TEXT)")
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        connection.execute("INSERT INTO rows VALUES (?)", (OUTPUT,))
        count += 1
    connection.close()
    return count / seconds

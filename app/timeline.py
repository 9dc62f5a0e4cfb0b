"""Where a run's time went: planning and every step as spans on one clock. Pure.

Seconds count from the moment the run was asked for. What was not measured has no span; it is never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from conductor_client.catalogue import text
from conductor_client.run_state import RunState
from conductor_client.step_state import Attempt, StepState
from conductor_client.topology import critical_path
from conductor_client.workflow import Workflow

Phase = Literal["plan", "queue", "first_token", "writing", "whole", "pause"]
PHASES: tuple[Phase, ...] = ("plan", "queue", "first_token", "writing", "whole", "pause")
"""Planning; waiting for the worker to be free; until its first token; from there to the end; a try whose
first token was not noted; the pause before the next try."""


@dataclass(frozen=True)
class Span:
    """One phase, from ``start_s`` to ``end_s``."""

    phase: Phase
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Row:
    """The plan of a round or one step. ``note`` says why a row has no time of its own."""

    label: str
    spans: tuple[Span, ...]
    is_critical: bool = False
    note: str = ""


def timeline(run: RunState) -> tuple[Row, ...]:
    """Every round's plan and its steps, in the order of the workflow."""
    zero = run.created_at
    if zero is None:
        return ()
    rows: list[Row] = []
    for each in run.rounds:
        planned = _planned(run, each.round, zero)
        if planned is not None:
            label = text("time.plan") if len(run.rounds) == 1 else text("time.plan_n", n=each.round)
            rows.append(Row(label, (planned,)))
        if each.workflow is not None:
            rows += _steps(run, each.workflow, zero)
    return tuple(rows)


def _planned(run: RunState, number: int, zero: datetime) -> Span | None:
    """The planning that ended with this round's plan; a plan made before the run took none of its time."""
    plan = next(each.plan for each in run.rounds if each.round == number)
    if plan is None or plan.created_at is None or plan.latency_s is None:
        return None
    end = (plan.created_at - zero).total_seconds()
    return Span("plan", max(0.0, end - plan.latency_s), end) if end > 0 else None


def _steps(run: RunState, workflow: Workflow, zero: datetime) -> Iterator[Row]:
    took = {
        step_id: step.duration_s
        for step_id, step in run.steps.items()
        if step.duration_s is not None and step.reused_from is None
    }
    path, _ = critical_path(workflow, took)
    is_told = run.has_ended and len(workflow.steps) > 1
    for step in workflow.steps:
        known = run.steps.get(step.step_id, StepState())
        label = text("time.step", n=step.position + 1, worker=known.worker or step.worker)
        spans = tuple(_spans(known, zero))
        note = "" if spans else text(f"common.step_{known.status}")
        yield Row(label, spans, is_told and step.step_id in path and step.step_id in took, note)


def _spans(step: StepState, zero: datetime) -> Iterator[Span]:
    before: Attempt | None = None
    for attempt in step.attempts:
        moments: list[tuple[Phase, datetime | None, datetime | None]] = []
        if before is not None:
            moments.append(("pause", before.finished_at, attempt.queued_at))
        moments.append(("queue", attempt.queued_at, attempt.started_at or attempt.finished_at))
        if attempt.first_token_at is None:
            moments.append(("whole", attempt.started_at, attempt.finished_at))
        else:
            moments.append(("first_token", attempt.started_at, attempt.first_token_at))
            moments.append(("writing", attempt.first_token_at, attempt.finished_at))
        for phase, start, end in moments:
            if start is not None and end is not None and end > start:
                yield Span(phase, (start - zero).total_seconds(), (end - zero).total_seconds())
        before = attempt

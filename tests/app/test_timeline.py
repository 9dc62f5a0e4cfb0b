"""Spans on one clock: what was measured is shown, what was not is left out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from app.timeline import Row, Span, timeline
from app.waterfall import figure
from conductor_client.errors import StepError
from conductor_client.plan import Plan
from conductor_client.run_state import Round, RunState
from conductor_client.step_state import Attempt, StepState
from conductor_client.workflow import workflow_of

ZERO = datetime(2026, 12, 7, 12, tzinfo=UTC)
FLOW = workflow_of("Q", [("fast", "a", ()), ("slow", "b", ()), ("end", "c", (0, 1))])


def at(seconds: float) -> datetime:
    return ZERO + timedelta(seconds=seconds)


def ran(start: float, first: float | None, end: float, *, queued: float | None = None) -> StepState:
    attempt = Attempt(
        attempt=1,
        worker="w",
        queued_at=at(start if queued is None else queued),
        started_at=at(start),
        first_token_at=None if first is None else at(first),
        finished_at=at(end),
    )
    return StepState(
        status="succeeded",
        worker="w",
        attempts=(attempt,),
        started_at=at(start),
        finished_at=at(end),
        cost_usd=Decimal(0),
    )


def run_with(**changes: object) -> RunState:
    return RunState.model_validate(
        {
            "run_id": "run_1",
            "status": "succeeded",
            "created_at": ZERO,
            "workflow": FLOW,
            "rounds": (Round(round=1, workflow=FLOW, decision="new"),),
            **changes,
        }
    )


def test_phases_follow_each_other_and_the_slow_chain_is_marked() -> None:
    first, second, third = timeline(
        run_with(
            steps={
                "s1": ran(1, 1.5, 2),
                "s2": ran(1.25, 2, 5, queued=1),
                "s3": ran(5, None, 6),
            }
        )
    )
    assert first == Row("1 · w", (Span("first_token", 1, 1.5), Span("writing", 1.5, 2)))
    assert second.spans == (Span("queue", 1, 1.25), Span("first_token", 1.25, 2), Span("writing", 2, 5))
    assert third.spans == (Span("whole", 5, 6),)
    assert [row.is_critical for row in (first, second, third)] == [False, True, True]


def test_a_pause_before_another_try_is_a_span_of_its_own() -> None:
    error = StepError(kind="rate_limited", message="busy", hint="", retryable=True)
    tries = (
        Attempt(
            attempt=1, worker="w", queued_at=at(0), started_at=at(0), finished_at=at(1), wait_s=2, error=error
        ),
        Attempt(
            attempt=2, worker="w", queued_at=at(3), started_at=at(3), first_token_at=at(4), finished_at=at(5)
        ),
    )
    step = StepState(status="succeeded", worker="w", attempts=tries, started_at=at(0), finished_at=at(5))
    assert [span.phase for span in timeline(run_with(steps={"s1": step}))[0].spans] == [
        "whole",
        "pause",
        "first_token",
        "writing",
    ]


def test_what_took_no_time_here_says_why() -> None:
    rows = timeline(run_with(steps={"s1": StepState(status="reused"), "s2": StepState(status="skipped")}))
    assert [(row.spans, row.note) for row in rows[:2]] == [((), "Reused"), ((), "Skipped")]


def test_a_plan_made_before_the_run_took_none_of_its_time() -> None:
    plans = [
        Plan(
            plan_id="p",
            workflow=FLOW,
            decision="new",
            conductor="c",
            pool=("fast", "slow", "end"),
            latency_s=2,
            created_at=moment,
        )
        for moment in (at(3), at(-60))
    ]
    now, earlier = (
        timeline(run_with(rounds=(Round(round=1, plan=plan, workflow=FLOW, decision="new"),)))
        for plan in plans
    )
    assert now[0] == Row("Plan", (Span("plan", 1, 3),))
    assert earlier[0].label.startswith("1 ·")


def test_the_figure_has_a_trace_for_each_phase_and_escapes_names() -> None:
    rows = (Row("1 · <b>w</b>", (Span("writing", 1, 3),), is_critical=True), Row("2 · x", (), note="Reused"))
    drawn = figure(rows)
    [trace] = drawn["data"]
    assert (trace["base"], trace["x"], trace["y"]) == ([1], [2], [0])
    assert drawn["layout"]["yaxis"]["ticktext"] == ["<b>1 · &lt;b&gt;w&lt;/b&gt;</b>", "2 · x · Reused"]

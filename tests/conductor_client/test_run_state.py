"""Laws of the fold: any prefix is valid, an event twice changes nothing, totals are sums of parts."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conductor_client.errors import StepError
from conductor_client.events import (
    PlanCreated,
    PlanRejected,
    RunCreated,
    RunEvent,
    RunFinished,
    RunStarted,
    StepFinished,
    StepQueued,
    StepRetried,
    StepReused,
    StepStarted,
    event_from_json,
)
from conductor_client.plan import Plan
from conductor_client.run_state import RunState, fold
from conductor_client.usage import Usage
from conductor_client.workflow import workflow_of
from tests.strategies import run_logs

PAIR = workflow_of("p", [("alpha", "first", []), ("beta", "second", [0])])


@given(run_logs(), st.data())
def test_any_prefix_gives_a_state_and_going_on_from_it_gives_the_same_end(
    log: list[RunEvent], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(1, len(log)))
    assert fold(log[cut:], fold(log[:cut])) == fold(log)


@given(run_logs())
def test_an_event_applied_twice_changes_nothing(log: list[RunEvent]) -> None:
    assert fold(log, fold(log)) == fold(log)


@given(run_logs())
def test_events_and_state_survive_json(log: list[RunEvent]) -> None:
    assert [event_from_json(event.model_dump_json()) for event in log] == log
    state = fold(log)
    assert RunState.model_validate_json(state.model_dump_json()) == state


@given(run_logs())
def test_totals_are_sums_of_what_was_sent(log: list[RunEvent]) -> None:
    state = fold(log)
    told = [event for event in log if hasattr(event, "usage") and event.kind != "step_reused"]
    priced = [event.cost_usd for event in log if getattr(event, "cost_usd", None) is not None]
    assert state.cost_usd == sum(priced, Decimal(0))
    known = [
        event.usage.output_tokens for event in told if event.usage and event.usage.output_tokens is not None
    ]
    assert (state.usage.output_tokens or 0) == sum(known)
    has_unknown = any(event.usage is None or event.usage.total_tokens is None for event in told)
    was_cut = any(event.kind == "step_cancelled" for event in log)
    assert state.complete.usage == (not has_unknown and not was_cut)


@given(run_logs())
def test_a_run_is_succeeded_only_if_every_step_is(log: list[RunEvent]) -> None:
    state = fold(log)
    good = {"succeeded", "reused"}
    assert (state.status == "succeeded") == all(step.status in good for step in state.steps.values())


@given(run_logs(), st.data())
def test_a_clock_that_was_put_back_makes_no_time_negative(log: list[RunEvent], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(log)))
    later = [event.model_copy(update={"at": event.at - timedelta(hours=1)}) for event in log[cut:]]
    state = fold([*log[:cut], *later])
    times = [state.wall_s, state.critical_path_s, state.chained_s]
    times += [step.duration_s for step in state.steps.values()]
    assert all(time is None or time >= 0 for time in times)


def test_a_run_begins_with_run_created() -> None:
    with pytest.raises(ValueError, match="begins with run_created, not run_started"):
        fold([RunStarted(run_id="r")])


def test_retries_are_attempts_and_their_cost_counts() -> None:
    said = {"messages": (), "visible": (), "withheld": ()}
    busy = StepError(kind="rate_limited", message="busy", retryable=True)
    state = fold(
        [
            RunCreated(run_id="r", seq=1, prompt="p", conductor="x", workflow=PAIR),
            StepQueued(run_id="r", seq=2, step_id="s1", attempt=1, worker="alpha", **said),
            StepStarted(run_id="r", seq=3, step_id="s1", attempt=1, worker="alpha"),
            StepRetried(
                run_id="r",
                seq=4,
                step_id="s1",
                attempt=1,
                worker="alpha",
                error=busy,
                wait_s=2,
                next_worker="beta",
                usage=Usage(input_tokens=5, output_tokens=0),
                cost_usd=Decimal("0.01"),
            ),
            StepQueued(run_id="r", seq=5, step_id="s1", attempt=2, worker="beta", **said),
            StepStarted(run_id="r", seq=6, step_id="s1", attempt=2, worker="beta"),
            StepFinished(
                run_id="r",
                seq=7,
                step_id="s1",
                attempt=2,
                worker="beta",
                output="ok",
                usage=Usage(input_tokens=5, output_tokens=7),
                cost_usd=Decimal("0.02"),
            ),
        ]
    )
    step = state.steps["s1"]
    assert step.status == "succeeded"
    assert [attempt.worker for attempt in step.attempts] == ["alpha", "beta"]
    assert step.attempts[0].error == busy
    assert step.cost_usd == Decimal("0.03")
    assert step.usage == Usage(input_tokens=10, output_tokens=7)
    assert state.usage.total_tokens == 17


def test_an_unknown_cost_makes_the_total_a_lower_bound_not_zero() -> None:
    said = {"messages": (), "visible": (), "withheld": ()}
    state = fold(
        [
            RunCreated(run_id="r", seq=1, prompt="p", conductor="x", workflow=PAIR),
            StepQueued(run_id="r", seq=2, step_id="s1", attempt=1, worker="alpha", **said),
            StepStarted(run_id="r", seq=3, step_id="s1", attempt=1, worker="alpha"),
            StepFinished(run_id="r", seq=4, step_id="s1", attempt=1, worker="alpha", output="ok"),
        ]
    )
    assert state.steps["s1"].cost_usd is None
    assert state.steps["s1"].usage is None
    assert state.complete.cost is False
    assert state.complete.usage is False


def test_reused_steps_cost_nothing_and_keep_their_first_duration() -> None:
    from conductor_client.events import ReusedFrom

    origin = ReusedFrom(run_id="r0", step_id="s1", duration_s=9.5, cost_usd=Decimal("0.5"))
    state = fold(
        [
            RunCreated(run_id="r", seq=1, prompt="p", conductor="x", workflow=PAIR),
            StepReused(
                run_id="r",
                seq=2,
                step_id="s1",
                worker="alpha",
                output="ok",
                messages=(),
                visible=(),
                withheld=(),
                reused_from=origin,
            ),
        ]
    )
    assert state.steps["s1"].status == "reused"
    assert state.steps["s1"].cost_usd == 0
    assert state.steps["s1"].duration_s == 9.5
    assert state.cost_usd == 0
    assert state.complete.cost is True


def test_a_workers_gap_does_not_blur_the_conductors_figure() -> None:
    plan = Plan(
        plan_id="plan_1",
        workflow=PAIR,
        decision="new",
        conductor="local",
        pool=("alpha", "beta"),
        usage=Usage(input_tokens=10, output_tokens=2),
        cost_usd=Decimal(0),
    )
    said = {"messages": (), "visible": (), "withheld": ()}
    state = fold(
        [
            RunCreated(run_id="r", seq=1, prompt="p", conductor="local"),
            PlanCreated(run_id="r", seq=2, plan=plan),
            StepQueued(run_id="r", seq=3, step_id="s1", attempt=1, worker="alpha", **said),
            StepStarted(run_id="r", seq=4, step_id="s1", attempt=1, worker="alpha"),
            StepFinished(run_id="r", seq=5, step_id="s1", attempt=1, worker="alpha", output="ok"),
        ]
    )
    assert (state.worker_complete.usage, state.orchestration_complete.usage) == (False, True)
    assert state.complete.usage is False


def test_planning_is_counted_apart_and_once() -> None:
    spent = Usage(input_tokens=100, output_tokens=20)
    plan = Plan(
        plan_id="plan_1",
        workflow=PAIR,
        decision="new",
        conductor="local",
        pool=("alpha", "beta"),
        usage=spent,
        cost_usd=Decimal("0.2"),
    )
    state = fold(
        [
            RunCreated(run_id="r", seq=1, prompt="p", conductor="local"),
            RunStarted(run_id="r", seq=2),
            PlanRejected(
                run_id="r", seq=3, attempt=1, raw_text="?", usage=Usage(input_tokens=50, output_tokens=10)
            ),
            PlanCreated(run_id="r", seq=4, plan=plan),
            RunFinished(run_id="r", seq=5, final_output="x"),
        ]
    )
    assert state.orchestration_usage == spent
    assert state.orchestration_cost_usd == Decimal("0.2")
    assert state.usage == Usage()
    assert len(state.rejected) == 1

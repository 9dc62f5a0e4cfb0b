"""Limits end a run before the spend, and what was written is kept."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from conductor.runs.limits import DayBudget
from tests.conductor.stage import CENT_A_TOKEN, Stage, limits, scripted


async def test_a_limit_of_tokens_stops_before_the_call_that_could_break_it(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"tokens": 100}, max_output_tokens=200)) as stage:
        rows = [("a", "one", []), ("a", "two", [0]), ("a", "three", [1])]
        state = await stage.run(rows, limits=limits(max_tokens=500))
        assert stage.calls == {"a": 1}
    assert state.status == "failed" and state.error is not None and state.error.kind == "limit_reached"
    assert state.steps["s1"].status == "succeeded"
    assert state.final_output == state.steps["s1"].output and state.partial
    assert state.steps["s2"].status == "failed" and state.steps["s3"].status == "skipped"
    assert state.usage.total_tokens is not None and state.usage.total_tokens <= 500


async def test_a_limit_in_usd_refuses_an_unpriced_worker(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        state = await stage.run([("a", "one", [])], limits=limits(max_usd=Decimal(1)))
        assert stage.calls == {}
        allowed = limits(max_usd=Decimal(1), allow_unpriced=True)
        assert (await stage.run([("a", "one", [])], limits=allowed)).status == "succeeded"
    assert state.error is not None and "price of worker a is unknown" in state.error.message


async def test_a_limit_in_usd_counts_what_calls_may_cost(tmp_path: Path) -> None:
    worker = scripted("a", {"tokens": 10}, max_output_tokens=50)
    async with Stage(tmp_path, worker, price=CENT_A_TOKEN) as stage:
        rows = [("a", "one", []), ("a", "two", [])]
        assert (await stage.run(rows, limits=limits(max_usd=Decimal("2.00")))).status == "succeeded"
        state = await stage.run(rows, limits=limits(max_usd=Decimal("0.50")))
    assert (
        state.error is not None and state.error.kind == "limit_reached" and state.cost_usd <= Decimal("0.50")
    )


async def test_a_workflow_over_the_limit_of_steps_calls_nobody(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        state = await stage.run([("a", "one", []), ("a", "two", [])], limits=limits(max_steps=1))
        assert stage.calls == {}
    assert state.status == "failed" and state.error is not None and state.error.kind == "limit_reached"
    assert [step.status for step in state.steps.values()] == ["skipped", "skipped"]


async def test_a_limit_of_seconds_stops_what_runs_and_keeps_its_text(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", model="fake-0-500-20")) as stage:
        state = await stage.run([("a", "one", []), ("a", "two", [0])], limits=limits(max_wall_s=0.5))
        assert stage.provider.open_calls == 0
    assert state.error is not None and state.error.kind == "limit_reached" and "0.5 s" in state.error.message
    assert state.steps["s1"].status == "failed" and state.steps["s1"].partial_text.startswith("red")
    assert state.steps["s2"].status == "skipped"
    assert state.wall_s is not None and state.wall_s < 1.5


async def test_the_runs_own_cap_and_silence_limit_are_used(tmp_path: Path) -> None:
    workers = scripted("a", {"tokens": 50}), scripted("b", {"first_token_ms": 5000, "text": "x"})
    async with Stage(tmp_path, *workers) as stage:
        given = limits(max_output_tokens=3, idle_timeout_s=0.1)
        state = await stage.run([("a", "one", []), ("b", "two", [])], limits=given)
    assert state.steps["s1"].output == "red orange yellow "
    error = state.steps["s2"].error
    assert error is not None and error.kind == "timeout" and "said nothing for 0.1 s" in error.message
    assert len(state.steps["s2"].attempts) == 4


async def test_what_was_spent_today_counts_for_every_run(tmp_path: Path) -> None:
    worker = scripted("a", {"tokens": 10}, max_output_tokens=50)
    day = DayBudget(Decimal(1), spent=Decimal("0.20"))
    async with Stage(tmp_path, worker, price=CENT_A_TOKEN, day=day) as stage:
        assert (await stage.run([("a", "one", [])])).status == "succeeded"
        state = await stage.run([("a", "one", []), ("a", "two", [0])])
    assert state.error is not None and "1 USD a day" in state.error.message

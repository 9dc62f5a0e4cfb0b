"""Planning inside a run: limits, stop, failures, and what they leave behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conductor.exports import export
from conductor.providers.base import Call
from conductor.service import Studio
from tests.conductor.planned import KEEP, ONE_STEP, begin, ended, run, settings_with, until


@asynccontextmanager
async def _studio(folder: Path, *planner: Mapping[str, Any]) -> AsyncIterator[Studio]:
    studio = await Studio.open(settings_with(folder, planner))
    try:
        yield studio
    finally:
        await studio.close()


async def test_a_failed_planning_tells_what_it_used_and_what_was_written(tmp_path: Path) -> None:
    line = {"text": "I think about it", "fail": "provider_error", "fail_after": 3, "reasoning": "hm hm"}
    other = {"text": "no plan", "times": 1}
    async with _studio(tmp_path, other, line | {"fail": "bad_request"}) as studio:
        state = await run(studio)
    assert state.status == "failed"
    (failed,) = state.failed_plans
    assert failed.usage is not None and failed.usage.output_tokens == 5 and failed.cost_usd
    assert state.plan_text == "I think about " and state.plan_reasoning == "hm hm"
    (rejected,) = state.rejected
    assert rejected.cost_usd is not None
    assert state.orchestration_cost_usd == rejected.cost_usd + failed.cost_usd
    assert state.orchestration_complete.usage and state.orchestration_complete.cost


async def test_a_failure_without_a_word_leaves_the_text_that_was_rejected(tmp_path: Path) -> None:
    planner = ({"text": "no plan at all", "times": 1}, {"fail": "auth"})
    async with _studio(tmp_path, *planner) as studio:
        state = await run(studio)
    assert state.status == "failed" and state.plan_text == "no plan at all"


async def test_tries_that_broke_off_count_among_what_the_plan_used(tmp_path: Path) -> None:
    broken = {"text": ONE_STEP, "fail": "overloaded", "fail_after": 4, "retry_after_s": 0, "times": 1}
    async with _studio(tmp_path, broken, {"text": ONE_STEP}) as studio:
        state = await run(studio)
        once = await run(studio)
    assert state.orchestration_usage.input_tokens == 2 * once.orchestration_usage.input_tokens
    assert state.orchestration_cost_usd > once.orchestration_cost_usd


async def test_a_silent_conductor_is_given_up_at_the_runs_idle_timeout(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"text": ONE_STEP, "first_token_ms": 60_000}) as studio:
        run_id = await begin(studio, limits={"idle_timeout_s": 0.05})
        await until(studio, run_id, "frame", channel="notice")
        await studio.cancel(run_id)
        state = await ended(studio, run_id)
    assert state.status == "cancelled"
    (failed,) = state.failed_plans
    assert failed.usage is None and not state.orchestration_complete.usage


async def test_the_wall_limit_holds_while_planning(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"tokens": 10_000, "token_ms": 20}) as studio:
        state = await run(studio, limits={"max_wall_s": 0.3})
    assert state.status == "failed" and state.error is not None and state.error.kind == "limit_reached"
    assert state.plan_text.startswith("red ")


async def test_a_stop_while_planning_ends_within_a_second_even_when_the_model_does_not_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _studio(tmp_path, {"tokens": 10_000, "token_ms": 20}) as studio:
        provider = studio._providers.provider_for(studio._asking.pool(None).worker("planner"))
        plays = provider.stream

        async def stubborn(call: Call) -> AsyncIterator[Any]:
            try:
                async for item in plays(call):
                    yield item
            finally:
                await asyncio.sleep(30)

        monkeypatch.setattr(provider, "stream", stubborn)
        run_id = await begin(studio)
        await until(studio, run_id, "frame", channel="output")
        began = asyncio.get_running_loop().time()
        await studio.cancel(run_id)
        state = await ended(studio, run_id)
        assert asyncio.get_running_loop().time() - began < 5
    assert state.status == "cancelled" and state.plan_text.startswith("red ")
    assert state.orchestration_complete.usage is False


async def test_what_planning_costs_counts_against_the_limit_in_usd(tmp_path: Path) -> None:
    limits = {"max_usd": "0.0085"}  # the worker's call may take 0.0082 at most, which fits alone
    async with _studio(tmp_path, {"text": ONE_STEP}) as studio:
        alone = await run(
            studio, limits=limits, workflow={"steps": [{"instruction": "Go.", "worker": "quick"}]}
        )
        state = await run(studio, limits=limits)
    assert alone.status == "succeeded"
    assert state.plan is not None and state.orchestration_cost_usd > Decimal("0.0003")
    assert state.status == "failed" and state.error is not None and state.error.kind == "limit_reached"


SIX = "model_id = [0,0,0,0,0,0]\nsubtasks = ['a','b','c','d','e','f']\naccess_list = [[],[],[],[],[],[]]"
BAD = {
    "empty": ({"text": ""}, "unparsable"),
    "refusal": ({"fail": "refused", "fail_message": "I will not."}, "unparsable"),
    "keep in the first round": ({"text": KEEP}, "no_steps"),
    "a sixth step": ({"text": SIX}, "too_many_steps"),
    "a megabyte": ({"text": "model_id = [" + "[" * 900_000}, "unparsable"),
    "unequal lists": ({"text": "model_id = [0, 0]\nsubtasks = ['a']\naccess_list = [[]]"}, "length_mismatch"),
    "no such worker": ({"text": "model_id = [7]\nsubtasks = ['a']\naccess_list = [[]]"}, "unknown_worker"),
    "itself": ({"text": "model_id = [0]\nsubtasks = ['a']\naccess_list = [[0]]"}, "bad_access"),
    "nothing to do": ({"text": "model_id = [0]\nsubtasks = [' ']\naccess_list = [[]]"}, "empty_instruction"),
}


@pytest.mark.parametrize("name", BAD)
async def test_whatever_a_conductor_writes_is_complained_about_once_then_a_worker_answers(
    tmp_path: Path, name: str
) -> None:
    line, code = BAD[name]
    async with _studio(tmp_path, line) as studio:
        state = await run(studio, limits={"max_wall_s": 15})
    assert state.status == "succeeded" and state.final_output == "Paris"
    assert [each.diagnostics[0].code for each in state.rejected] == [code, code]
    assert state.plan is not None and len(state.plan.attempts) == 2
    assert state.plan.fallback is not None and state.plan.fallback.worker == "quick"


async def test_one_complaint_quotes_every_reason_and_a_mended_plan_counts(tmp_path: Path) -> None:
    mended = {"match": "could not be used:\\n- plan: 6 steps; at most 5", "text": ONE_STEP}
    async with _studio(tmp_path, mended, {"text": SIX}) as studio:
        state = await run(studio)
    assert state.plan is not None and state.plan.fallback is None and len(state.plan.attempts) == 2
    assert state.orchestration_usage == state.plan.usage


async def test_markup_in_a_plan_stays_text(tmp_path: Path) -> None:
    script = "<script>alert(1)</script>"
    text = f"{script}\nmodel_id = [0]\nsubtasks = ['{script}']\naccess_list = [[]]"
    async with _studio(tmp_path, {"text": text}) as studio:
        state = await run(studio)
        pages = [export(state, await studio.events(state.run_id), kind).body for kind in ("html", "svg")]
    assert state.workflow is not None and state.workflow.steps[0].instruction == script
    assert all(b"<script>alert" not in page for page in pages)

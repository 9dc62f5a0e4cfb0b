"""Recursion: the conductor sees the answer, and keeps it or writes another workflow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from conductor.service import Studio
from conductor_client.api import ForkPreview, ForkRequest
from conductor_client.edits import SetInstruction
from conductor_client.errors import StatusError
from conductor_client.run_state import RunState
from tests.conductor.planned import KEEP, ONE_STEP, begin, ended, kinds, run, settings_with, until

TWO = 'Check it.\nmodel_id = [0, 0]\nsubtasks = ["Try again.", "Check it."]\naccess_list = [[], [0]]'
AGAIN = "answer was"
"""Stands in what a conductor is told after a round."""


@asynccontextmanager
async def _studio(
    folder: Path, *planner: Mapping[str, Any], worker: Sequence[Mapping[str, Any]] = ({"text": "Paris"},)
) -> AsyncIterator[Studio]:
    studio = await Studio.open(settings_with(folder, planner, worker))
    try:
        yield studio
    finally:
        await studio.close()


def _rounds(most: int) -> dict[str, Any]:
    return {"options": {"max_rounds": most}}


def _decisions(state: RunState) -> list[str | None]:
    return [each.decision for each in state.rounds]


async def test_an_answer_that_is_kept_stands(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"match": AGAIN, "text": KEEP}, {"text": ONE_STEP}) as studio:
        state = await run(studio, **_rounds(3))
        assert studio._providers.provider_for(studio._asking.pool(None).worker("quick")).calls["quick"] == 1  # type: ignore[attr-defined]
    assert state.status == "succeeded" and state.final_output == "Paris"
    assert _decisions(state) == ["new", "keep"]
    assert [each.final_output for each in state.rounds] == ["Paris", "Paris"]
    assert state.rounds[1].workflow is None and state.workflow == state.rounds[0].workflow
    assert state.plan == state.rounds[0].plan
    assert state.orchestration_usage.input_tokens and state.rounds[1].plan is not None
    parts = [each.plan.cost_usd or 0 for each in state.rounds if each.plan]
    assert state.orchestration_cost_usd == sum(parts) and len(parts) == 2


async def test_a_new_plan_runs_as_a_round_of_its_own_and_gives_the_answer(tmp_path: Path) -> None:
    planner = (
        {"match": "(?s)answer was.*answer was", "text": KEEP},
        {"match": AGAIN, "text": TWO},
        {"text": ONE_STEP},
    )
    worker = ({"match": "Check it", "text": "Lyon"}, {"text": "Paris"})
    async with _studio(tmp_path, *planner, worker=worker) as studio:
        state = await run(studio, **_rounds(5))
        happened = await kinds(studio, state.run_id)
    assert state.status == "succeeded" and state.final_output == "Lyon"
    assert _decisions(state) == ["new", "new", "keep"]
    assert list(state.steps) == ["s1", "s2", "s3"] and state.steps["s3"].round == 2
    assert [each.final_output for each in state.rounds] == ["Paris", "Lyon", "Lyon"]
    assert state.steps["s3"].visible == ("s2",) and state.steps["s3"].withheld == ()
    assert "Paris" not in state.steps["s2"].messages[-1].content
    assert happened.count("plan_started") == 3 and happened.count("round_started") == 1


async def test_one_round_is_the_default_and_rounds_have_a_bound(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"match": AGAIN, "text": TWO}, {"text": ONE_STEP}) as studio:
        assert len((await run(studio)).rounds) == 1
        state = await run(studio, **_rounds(3))
    assert len(state.rounds) == 3 and len(state.steps) == 5 and state.status == "succeeded"


async def test_a_round_that_cannot_be_planned_is_told_apart_from_a_kept_answer(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"match": AGAIN, "text": "All is well."}, {"text": ONE_STEP}) as studio:
        unread = await run(studio, **_rounds(2))
    assert unread.status == "succeeded" and unread.final_output == "Paris"
    assert _decisions(unread) == ["new", "rejected"] and len(unread.rejected) == 2
    assert {each.round for each in unread.rejected} == {2}


async def test_a_conductor_that_breaks_in_a_later_round_leaves_the_answer(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"match": AGAIN, "fail": "auth"}, {"text": ONE_STEP}) as studio:
        state = await run(studio, **_rounds(2))
    assert state.status == "succeeded" and state.final_output == "Paris" and state.error is None
    assert _decisions(state) == ["new", None]
    assert state.rounds[1].error is not None and state.rounds[1].error.kind == "auth"


async def test_limits_hold_over_all_rounds(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"match": AGAIN, "text": TWO}, {"text": ONE_STEP}) as studio:
        full = await run(studio, limits={"max_steps": 1}, **_rounds(3))
        short = await run(studio, limits={"max_steps": 2}, **_rounds(3))
        first = await run(studio)
        taken = sum(
            (each.input_tokens or 0) + (each.output_tokens or 0)
            for each in (first.usage, first.orchestration_usage)
        )
        tokens = await run(studio, limits={"max_tokens": 2 * taken, "max_output_tokens": 50}, **_rounds(2))
    assert len(full.rounds) == 1 and full.status == "succeeded"
    # Two steps are refused where one is left, told to the conductor, and the answer stands.
    assert _decisions(short) == ["new", "rejected"] and short.status == "succeeded"
    assert short.rejected[0].diagnostics[0].code == "too_many_steps"
    assert tokens.status == "failed" and tokens.error is not None and tokens.error.kind == "limit_reached"
    assert tokens.final_output == "Paris" and not tokens.partial


async def test_a_failed_step_of_a_later_round_fails_the_run_and_shows_the_earlier_answer(
    tmp_path: Path,
) -> None:
    worker = ({"match": "Try again", "fail": "refused"}, {"text": "Paris"})
    async with _studio(tmp_path, {"match": AGAIN, "text": TWO}, {"text": ONE_STEP}, worker=worker) as studio:
        state = await run(studio, **_rounds(2))
    assert state.status == "failed" and state.final_output == "Paris" and not state.partial
    assert state.steps["s2"].status == "failed" and state.steps["s3"].status == "skipped"


async def test_a_stop_in_the_second_round_keeps_the_first_answer(tmp_path: Path) -> None:
    planner = ({"match": AGAIN, "tokens": 9000, "token_ms": 20}, {"text": ONE_STEP})
    async with _studio(tmp_path, *planner) as studio:
        run_id = await begin(studio, **_rounds(2))
        await until(studio, run_id, "plan_started", round=2)
        await until(studio, run_id, "frame", step_id="plan", channel="output")
        await studio.cancel(run_id)
        state = await ended(studio, run_id)
    assert state.status == "cancelled" and state.final_output == "Paris"
    assert state.plan_text.startswith("red ") and state.rounds[1].error is not None


async def test_a_run_is_taken_up_in_the_second_round_without_calling_the_first_again(tmp_path: Path) -> None:
    slow = {"match": AGAIN, "text": TWO, "first_token_ms": 400}
    worker = ({"match": "Check it", "tokens": 9000, "token_ms": 20}, {"text": "Paris"})
    for where in ("planning", "running"):
        settings = settings_with(tmp_path, (slow, {"text": ONE_STEP}), worker)
        studio = await Studio.open(settings)
        run_id = await begin(studio, **_rounds(2))
        if where == "planning":
            await until(studio, run_id, "plan_started", round=2)
        else:
            await until(studio, run_id, "step_started", step_id="s3")
        await studio.close()
        settings_with(tmp_path, (slow, {"text": ONE_STEP}))  # now the worker is quick
        studio = await Studio.open(settings)
        state = await ended(studio, run_id)
        events = await studio.events(run_id)
        await studio.close()
        assert state.status == "succeeded" and _decisions(state) == ["new", "new"], where
        assert state.resumed == 1 and state.final_output
        firsts = [event for event in events if event.kind == "step_started" and event.step_id in ("s1", "s2")]
        assert len(firsts) == 2
        assert state.orchestration_complete.usage is (where == "running")


async def test_a_stored_plan_and_a_given_workflow(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"match": AGAIN, "text": KEEP}, {"text": ONE_STEP}) as studio:
        planned = await run(studio, **_rounds(2))
        assert planned.plan is not None
        again = await run(studio, plan_id=planned.plan.plan_id)
        given = await run(
            studio, workflow={"steps": [{"instruction": "Go.", "worker": "quick"}]}, **_rounds(2)
        )
    assert _decisions(again) == ["new", "keep"]
    assert _decisions(given) == ["new"]


async def test_a_fork_runs_the_round_whose_steps_it_edits(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"match": AGAIN, "text": TWO}, {"text": ONE_STEP}) as studio:
        parent = await run(studio, **_rounds(2))
        forks = []
        for step_id in ("s1", "s3"):
            edit = SetInstruction(step_id=step_id, instruction="Say it in one word.")
            begun = await studio.fork(parent.run_id, ForkRequest(edits=(edit,)))
            assert isinstance(begun, tuple)
            forks.append(await ended(studio, begun[0]))
    of_first, of_second = forks
    assert list(of_first.steps) == ["s1"] and of_first.steps["s1"].status == "succeeded"
    assert {step_id: step.status for step_id, step in of_second.steps.items()} == {
        "s2": "reused",
        "s3": "succeeded",
    }
    assert [len(each.rounds) for each in forks] == [1, 1]


async def test_a_fork_of_a_round_that_no_edit_names_is_asked_for_by_its_number(tmp_path: Path) -> None:
    async with _studio(tmp_path, {"match": AGAIN, "text": TWO}, {"text": ONE_STEP}) as studio:
        parent = await run(studio, **_rounds(2))
        first = await studio.fork(parent.run_id, ForkRequest(fresh=True, round=1, dry_run=True))
        last = await studio.fork(parent.run_id, ForkRequest(fresh=True, dry_run=True))
        with pytest.raises(StatusError, match="Round 7 of this run has no workflow"):
            await studio.fork(parent.run_id, ForkRequest(fresh=True, round=7))
    assert isinstance(first, ForkPreview) and isinstance(last, ForkPreview)
    assert (first.will_run, last.will_run) == (("s1",), ("s2", "s3"))

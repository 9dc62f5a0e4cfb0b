"""The backend as one object: plans, runs and forks as a client asks for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from conductor.local import weights
from conductor.local.catalog import ModelSpec
from conductor.service import Studio
from conductor.settings import Settings
from conductor.store import StoreError
from conductor_client.api import (
    ForkPreview,
    ForkRequest,
    ImportRequest,
    PlanRequest,
    RunRequest,
    SaveWorkflowRequest,
)
from conductor_client.edits import SetInstruction, SetWorker
from conductor_client.errors import Conflict, InvalidRequest, NotFound, StatusError
from conductor_client.events import RunEvent
from conductor_client.plan import PlanOptions
from conductor_client.run_state import RunState

POOL = """
default_worker = "quick"

[[worker]]
name = "quick"
provider = "scripted"
model = "demo"
price = { input_usd_per_mtok = "1", output_usd_per_mtok = "2" }
profile = { script = [{ match = "boom", fail = "refused" }, { text = "Paris" }] }

[[worker]]
name = "planner"
provider = "scripted"
model = "demo"
price = { input_usd_per_mtok = "1", output_usd_per_mtok = "2" }
profile = { script = [
    { match = "SLOWLY", text = "I think about it for long", token_ms = 200 },
    { match = "TWICE", text = "no plan at all", times = 1 },
    { match = "NEVER", text = "no plan at all" },
    { match = "BUSY", fail = "rate_limited", retry_after_s = 0.05, times = 2 },
    { match = "LOCKED", fail = "auth", fail_message = "The key is wrong." },
    { text = '''Two steps will do.
model_id = [0, 0]
subtasks = ["Find it.", "Check it."]
access_list = [[], [0]]''' },
] }

[[worker]]
name = "slow"
provider = "scripted"
model = "fake-20-500-20"

[[worker]]
name = "keyless"
provider = "openai"
model = "gpt-5"
base_url = "https://models.example/v1"
api_key_env = "STUDIO_TEST_NO_SUCH_KEY"
"""
PLANNED = {"prompt": "The capital of France?", "conductor": "prompted:planner"}
TWO_STEPS = {
    "prompt": "The capital of France?",
    "workflow": {
        "steps": [
            {"instruction": "Find it.", "worker": "quick"},
            {"instruction": "Check it.", "worker": "quick", "access": [0]},
        ]
    },
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    pool = tmp_path / "pool.toml"
    pool.write_text(POOL, encoding="utf-8")
    folders = {"models_dir": tmp_path / "models", "pools_dir": tmp_path / "pools"}
    return Settings(db=tmp_path / "conductor.sqlite", pool=str(pool), **folders)


@pytest.fixture
async def studio(settings: Settings) -> AsyncIterator[Studio]:
    opened = await Studio.open(settings)
    yield opened
    await opened.close()


def _rewrite(settings: Settings, *changes: tuple[str, str]) -> None:
    """Changes the pool file as its owner would."""
    text = POOL
    for before, after in changes:
        text = text.replace(before, after)
    Path(str(settings.pool)).write_text(text, encoding="utf-8")


async def _run(studio: Studio, **request: object) -> RunState:
    run_id, _ = await studio.start_run(RunRequest.model_validate(request))
    return await _ended(studio, run_id)


async def _ended(studio: Studio, run_id: str) -> RunState:
    async with asyncio.timeout(20):
        async for _ in studio.subscribe(run_id):
            pass
    return await studio.state(run_id)


async def _kinds(studio: Studio, run_id: str) -> list[str]:
    return [event.kind for event in await studio.events(run_id)]


# Planning


async def test_a_prompt_is_planned_run_and_answered(studio: Studio) -> None:
    state = await _run(studio, **PLANNED)
    assert state.status == "succeeded" and state.final_output is not None
    assert state.workflow is not None
    rows = [(step.worker, step.instruction, step.access) for step in state.workflow.steps]
    assert rows == [("quick", "Find it.", ()), ("quick", "Check it.", ("s1",))]
    assert state.plan is not None and state.plan.reasoning.startswith("Two steps")
    assert state.orchestration_cost_usd > 0 and state.orchestration_usage.output_tokens
    assert await studio.get_plan(state.plan.plan_id) == state.plan
    kinds = await _kinds(studio, state.run_id)
    assert kinds[:4] == ["run_created", "run_started", "plan_started", "plan_created"]


async def test_the_conductors_text_is_shown_as_it_comes_and_stop_keeps_it(studio: Studio) -> None:
    run_id, _ = await studio.start_run(RunRequest.model_validate(PLANNED | {"prompt": "SLOWLY"}))
    async with asyncio.timeout(10):
        async for item in studio.subscribe(run_id):
            if getattr(item, "step_id", "") == "plan" and "think" in getattr(item, "text", ""):
                break
    await studio.cancel(run_id)
    state = await studio.state(run_id)
    assert state.status == "cancelled" and state.workflow is None
    failed = next(event for event in await studio.events(run_id) if event.kind == "plan_failed")
    assert failed.partial_text.startswith("I think") and failed.error.kind == "interrupted"  # type: ignore[union-attr]
    assert state.plan_text == failed.partial_text  # type: ignore[union-attr]
    assert state.error is None  # a stop is none
    assert state.complete.usage is False  # what the conductor has used by then is unknown, not 0


async def test_a_stop_at_the_very_moment_of_the_plan_skips_its_steps(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = studio._store.append

    async def stopping(run_id: str, events: Sequence[RunEvent]) -> list[RunEvent]:
        if any(event.kind == "plan_created" for event in events):
            studio._runner.cancel(run_id)
            await asyncio.sleep(0.01)
        return await append(run_id, events)

    monkeypatch.setattr(studio._store, "append", stopping)
    state = await _run(studio, **PLANNED)
    assert state.status == "cancelled" and state.workflow is not None
    assert "plan_failed" not in await _kinds(studio, state.run_id)
    assert {step.status for step in state.steps.values()} == {"skipped"}


async def test_a_plan_that_cannot_be_read_is_asked_for_once_more(studio: Studio) -> None:
    state = await _run(studio, **PLANNED | {"prompt": "TWICE"})
    assert state.status == "succeeded" and len(state.rejected) == 1
    assert state.rejected[0].raw_text == "no plan at all" and state.rejected[0].diagnostics
    assert state.plan is not None and state.plan.fallback is None


async def test_after_that_the_default_worker_answers_alone_and_it_shows(studio: Studio) -> None:
    state = await _run(studio, **PLANNED | {"prompt": "NEVER"})
    assert state.status == "succeeded" and state.final_output == "Paris" and len(state.rejected) == 2
    assert state.plan is not None and state.plan.fallback is not None
    assert state.plan.fallback.worker == "quick"


async def test_a_conductor_that_is_busy_is_asked_again(studio: Studio) -> None:
    assert (await _run(studio, **PLANNED | {"prompt": "BUSY"})).status == "succeeded"


async def test_a_conductor_that_fails_fails_the_run_and_says_why(studio: Studio) -> None:
    state = await _run(studio, **PLANNED | {"prompt": "LOCKED"})
    assert state.status == "failed" and state.error is not None
    assert state.error.kind == "auth" and "key is wrong" in state.error.message
    assert (await _kinds(studio, state.run_id))[-2:] == ["plan_failed", "run_failed"]


async def test_planning_is_under_the_limits_too(studio: Studio) -> None:
    state = await _run(studio, **PLANNED | {"limits": {"max_tokens": 50}})
    assert state.status == "failed" and state.error is not None and state.error.kind == "limit_reached"
    assert state.plan is None


async def test_a_limit_of_steps_is_told_to_the_conductor(studio: Studio) -> None:
    state = await _run(studio, **PLANNED | {"limits": {"max_steps": 1}})
    assert state.rejected and state.rejected[0].diagnostics[0].code == "too_many_steps"


async def test_a_plan_alone_executes_nothing_and_can_be_run_later(studio: Studio) -> None:
    plan = await studio.plan(PlanRequest.model_validate(PLANNED))
    assert plan.workflow is not None and plan.estimate is not None and plan.estimate.calls == 2
    assert (await studio.list_runs()).runs == ()
    state = await _run(studio, prompt=PLANNED["prompt"], plan_id=plan.plan_id)
    assert state.status == "succeeded" and state.plan == plan
    assert "plan_started" not in await _kinds(studio, state.run_id)
    with pytest.raises(InvalidRequest, match="another prompt"):
        await studio.start_run(RunRequest(prompt="Another", plan_id=plan.plan_id))
    with pytest.raises(NotFound):
        await studio.start_run(RunRequest(prompt="x", plan_id="plan_none"))


async def test_only_the_named_workers_are_given_to_the_conductor_in_their_order(studio: Studio) -> None:
    plan = await studio.plan(PlanRequest.model_validate(PLANNED | {"workers": ["slow", "planner", "quick"]}))
    assert plan.pool == ("slow", "planner", "quick") and plan.workflow is not None
    assert [step.worker for step in plan.workflow.steps] == ["slow", "slow"]


async def test_options_left_out_are_the_conductors_own(studio: Studio) -> None:
    options = PlanOptions.model_validate({"max_steps": 4})
    plan = await studio.plan(PlanRequest.model_validate(PLANNED | {"options": options}))
    assert plan.options.max_steps == 4


# Refusals, before anything is stored or called


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({"prompt": "  \n"}, "prompt is empty"),
        ({"prompt": "x" * 2_000_001}, "2,000,000"),
        ({"prompt": "x", "pool": "nowhere"}, "no pool 'nowhere'"),
        ({"prompt": "x", "conductor": "nobody"}, "no conductor 'nobody'"),
        ({"prompt": "x", "conductor": "prompted:keyless"}, "cannot be used"),
        ({"prompt": "x", "workers": ["nobody"]}, "no worker 'nobody'"),
        ({"prompt": "x", "workers": ["keyless"]}, "keyless cannot be used"),
        ({"prompt": "x", "parent_run": "run_none"}, "no run 'run_none'"),
        ({"prompt": "x", "workflow": {"steps": []}}, "A workflow has 1 to 32 steps; this one has 0"),
        ({"prompt": "x", "plan_id": "plan_1", "workflow": {"steps": []}}, "not both"),
        ({"prompt": "x", "workflow": {"steps": [{"instruction": " ", "worker": "quick"}]}}, "empty"),
        ({"prompt": "x", "workflow": {"steps": [{"instruction": "a", "worker": "who"}]}}, "'who'"),
        ({"prompt": "x", "workflow": {"steps": [{"instruction": "a", "worker": "keyless"}]}}, "not ready"),
        (
            {"prompt": "x", "workflow": {"steps": [{"instruction": "a", "worker": "quick", "access": [0]}]}},
            "cannot see 0",
        ),
        (
            {"prompt": "x", "workflow": {"steps": [{"instruction": "a", "worker": "quick"}] * 33}},
            "A workflow has 1 to 32 steps; this one has 33",
        ),
    ],
)
async def test_what_cannot_be_done_is_refused_in_words(
    studio: Studio, request_: dict[str, object], said: str
) -> None:
    with pytest.raises(StatusError, match=said) as caught:
        await studio.start_run(RunRequest.model_validate(request_))
    assert 400 <= caught.value.status_code < 600 and caught.value.hint
    assert (await studio.list_runs()).runs == ()


async def test_access_may_be_positions_or_ids_but_not_both(studio: Studio) -> None:
    def steps(*access: int | str) -> dict[str, object]:
        first = {"instruction": "a", "worker": "quick", "step_id": "first"}
        second = {"instruction": "b", "worker": "quick"}
        third = {"instruction": "c", "worker": "quick", "access": access}
        return {"prompt": "x", "workflow": {"steps": [first, second, third]}}

    for access in (("s2", "first"), (1, 0)):
        state = await _run(studio, **steps(*access))
        assert state.workflow is not None and state.workflow.steps[2].access == ("first", "s2")
    with pytest.raises(InvalidRequest, match="mixes positions and step ids"):
        await studio.start_run(RunRequest.model_validate(steps(0, "s2")))


# Runs and forks


async def test_the_same_key_is_the_same_run(studio: Studio) -> None:
    request = RunRequest.model_validate(TWO_STEPS | {"idempotency_key": "k"})
    (first, is_new), (second, is_second_new) = await asyncio.gather(
        studio.start_run(request), studio.start_run(request)
    )
    assert first == second and {is_new, is_second_new} == {True, False}
    await _ended(studio, first)
    assert len((await studio.list_runs()).runs) == 1


async def test_a_dry_fork_says_what_runs_what_is_reused_and_what_it_costs(studio: Studio) -> None:
    parent = await _run(studio, **TWO_STEPS)
    edits = (SetInstruction(step_id="s2", instruction="Doubt it."),)
    preview = await studio.fork(parent.run_id, ForkRequest(edits=edits, dry_run=True))
    assert isinstance(preview, ForkPreview)
    assert (preview.will_run, preview.reused) == (("s2",), ("s1",))
    assert preview.estimate.calls == 1 and preview.estimate.usd is not None
    assert len((await studio.list_runs()).runs) == 1
    forked = await studio.fork(parent.run_id, ForkRequest(edits=edits))
    assert isinstance(forked, tuple)
    state = await _ended(studio, forked[0])
    assert [state.steps[step_id].status for step_id in ("s1", "s2")] == ["reused", "succeeded"]
    assert state.parent_run == parent.run_id and state.edits == edits
    assert state.conductor == parent.conductor and state.workflow is not None
    assert parent.workflow is not None and state.workflow.parent == parent.workflow.workflow_id


async def test_what_a_preview_promises_to_reuse_is_reused(studio: Studio) -> None:
    parent = await _run(studio, **TWO_STEPS)
    for edits, fresh in (
        ((), False),
        ((), True),
        ((), ("s1",)),
        ((SetInstruction(step_id="s1", instruction="New."),), False),
        ((SetWorker(step_id="s2", worker="planner"),), False),
    ):
        preview = await studio.fork(parent.run_id, ForkRequest(edits=edits, fresh=fresh, dry_run=True))
        forked = await studio.fork(parent.run_id, ForkRequest(edits=edits, fresh=fresh))
        assert isinstance(preview, ForkPreview) and isinstance(forked, tuple)
        state = await _ended(studio, forked[0])
        reused = {step_id for step_id, step in state.steps.items() if step.status == "reused"}
        assert reused >= set(preview.reused)


async def test_a_failed_step_runs_again_with_what_depends_on_it(studio: Studio) -> None:
    """Behaviour row 2: re-running a step takes the failed one before it along."""
    steps = [
        {"instruction": "boom", "worker": "quick"},
        {"instruction": "Check it.", "worker": "quick", "access": [0]},
    ]
    parent = await _run(studio, prompt="x", workflow={"steps": steps})
    assert parent.status == "failed"
    preview = await studio.fork(parent.run_id, ForkRequest(fresh=("s2",), dry_run=True))
    assert isinstance(preview, ForkPreview) and preview.will_run == ("s1", "s2")


async def test_forks_that_cannot_be_made_are_refused(studio: Studio) -> None:
    parent = await _run(studio, **TWO_STEPS)
    with pytest.raises(InvalidRequest, match="no step 's9' to run afresh"):
        await studio.fork(parent.run_id, ForkRequest(fresh=("s9",)))
    with pytest.raises(StatusError, match="not ready"):
        await studio.fork(parent.run_id, ForkRequest(edits=(SetWorker(step_id="s1", worker="keyless"),)))
    with pytest.raises(KeyError):
        await studio.fork("run_none", ForkRequest())
    run_id, _ = await studio.start_run(RunRequest.model_validate(PLANNED | {"prompt": "SLOWLY"}))
    with pytest.raises(Conflict, match="no workflow yet"):
        await studio.fork(run_id, ForkRequest())


async def test_a_fork_after_a_restart_uses_the_pool_as_it_is_now(settings: Settings) -> None:
    """Behaviour row 5: a fork after a restart."""
    studio = await Studio.open(settings)
    parent = await _run(studio, **TWO_STEPS)
    await studio.close()
    _rewrite(settings, ('name = "planner"', 'name = "renamed"'), ("fake-20-500-20", "fake-1-2-1"))
    studio = await Studio.open(settings)
    try:
        forked = await studio.fork(
            parent.run_id, ForkRequest(edits=(SetWorker(step_id="s2", worker="slow"),))
        )
        assert isinstance(forked, tuple)
        state = await _ended(studio, forked[0])
        assert state.steps["s1"].status == "reused" and state.steps["s2"].served_model == "fake-1-2-1"
        names = [info.name for info in state.pool_snapshot]
        assert "renamed" in names and "planner" not in names
    finally:
        await studio.close()


async def test_a_worker_that_has_left_the_pool_can_be_reused_no_more_but_replaced(settings: Settings) -> None:
    studio = await Studio.open(settings)
    parent = await _run(studio, **TWO_STEPS)
    await studio.close()
    _rewrite(settings, ('= "quick"', '= "other"'))
    studio = await Studio.open(settings)
    try:
        with pytest.raises(StatusError, match="quick, which is not ready"):
            await studio.fork(parent.run_id, ForkRequest())
        edits = tuple(SetWorker(step_id=step_id, worker="other") for step_id in ("s1", "s2"))
        preview = await studio.fork(parent.run_id, ForkRequest(edits=edits, dry_run=True))
        assert isinstance(preview, ForkPreview) and preview.reused == ("s1", "s2")
    finally:
        await studio.close()


async def test_an_unfinished_run_is_taken_up_when_the_backend_opens(settings: Settings) -> None:
    studio = await Studio.open(settings)
    slow = {"prompt": "x", "workflow": {"steps": [{"instruction": "a", "worker": "slow"}]}}
    run_id, _ = await studio.start_run(RunRequest.model_validate(slow))
    await asyncio.sleep(0.3)
    await studio.close()
    studio = await Studio.open(settings)
    try:
        assert (await studio.state(run_id)).status == "running"
        await asyncio.sleep(0.3)
        await studio.cancel(run_id)
        state = await studio.state(run_id)
        assert state.status == "cancelled" and state.resumed == 1
        assert state.steps["s1"].attempts[0].partial_text
    finally:
        await studio.close()


async def test_deleting_a_running_run_stops_it(studio: Studio) -> None:
    slow = {"prompt": "x", "workflow": {"steps": [{"instruction": "a", "worker": "slow"}]}}
    run_id, _ = await studio.start_run(RunRequest.model_validate(slow))
    await studio.delete_run(run_id)
    with pytest.raises(KeyError):
        await studio.state(run_id)
    await studio.restore_run(run_id)
    assert (await studio.state(run_id)).status == "cancelled"


async def test_what_may_be_spent_in_a_day_outlives_a_restart(settings: Settings) -> None:
    poor = replace(settings, daily_usd=Decimal("0.010"))
    studio = await Studio.open(poor)
    state = await _run(studio, **TWO_STEPS)
    assert state.status == "succeeded" and state.cost_usd > 0
    await studio.close()
    studio = await Studio.open(replace(settings, daily_usd=state.cost_usd))
    try:
        again = await _run(studio, **TWO_STEPS)
        assert again.status == "failed" and again.error is not None
        assert "a day" in again.error.message
    finally:
        await studio.close()


# What there is


async def test_a_worker_is_tried_with_one_tiny_call(studio: Studio) -> None:
    reply = await studio.test_worker("quick")
    assert reply.ok and reply.output == "Paris" and reply.latency_s is not None
    failed = await studio.test_worker("keyless")
    assert not failed.ok and failed.message and failed.hint
    with pytest.raises(KeyError):
        await studio.test_worker("nobody")


async def test_the_health_says_what_does_not_work(studio: Studio) -> None:
    health = await studio.health()
    assert health.engine == "embedded" and health.store_writable and health.pool_size == 4
    assert health.problems == ()


async def test_workflows_are_kept_under_names(studio: Studio) -> None:
    state = await _run(studio, **TWO_STEPS)
    saved = await studio.save_workflow(SaveWorkflowRequest(name="Check", run_id=state.run_id))
    assert [each.name for each in await studio.list_workflows()] == ["Check"] and len(
        saved.workflow.steps
    ) == 2
    with pytest.raises(Conflict):
        await studio.save_workflow(SaveWorkflowRequest(name="Check", run_id=state.run_id))
    with pytest.raises(NotFound):
        await studio.save_workflow(SaveWorkflowRequest(name="x", run_id="run_none"))
    with pytest.raises(InvalidRequest):
        await studio.save_workflow(SaveWorkflowRequest(name="x"))
    await studio.delete_workflow("Check")


async def test_models_are_listed_and_an_unknown_one_is_a_key_error(studio: Studio) -> None:
    states = await studio.models()
    assert states and all(state.state == "missing" and state.how_to_get for state in states)
    with pytest.raises(KeyError):
        await studio.fetch_model("nothing")


async def test_weights_are_checked_before_anybody_waits_for_them(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: list[bool] = []

    def is_ready(spec: ModelSpec, models_dir: Path) -> bool:
        where.append(threading.current_thread() is threading.main_thread())
        return False

    monkeypatch.setattr(weights, "is_ready", is_ready)
    await (await Studio.open(settings)).close()
    assert where and not any(where)


async def test_a_pool_that_is_not_there_is_said_to_whoever_imports(studio: Studio) -> None:
    with pytest.raises(StatusError, match="no pool 'nowhere'"):
        await studio.import_workflow(ImportRequest(text="{}", pool="nowhere"))


async def test_a_database_that_is_none_is_refused_and_left_alone(settings: Settings) -> None:
    settings.db.write_text("a shopping list " * 100, encoding="utf-8")
    with pytest.raises(StoreError):
        await Studio.open(settings)
    assert settings.db.read_text(encoding="utf-8").startswith("a shopping list")

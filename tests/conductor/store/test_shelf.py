"""Plans, workflows under a name, and what belongs to the installation."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from conductor.store import NameTaken, Store
from conductor_client.events import PlanCreated, RunStarted
from conductor_client.plan import Plan
from tests.conductor.store.logs import START, Clock, called, chain, created, whole_run


async def test_a_plan_comes_back_equal(store: Store) -> None:
    plan = Plan(
        plan_id="plan_1",
        workflow=chain(),
        decision="new",
        conductor="local",
        pool=("alpha", "beta"),
        choices={"s1": {"alpha": 0.75, "beta": 0.25}, "s2": None},
        cost_usd=Decimal("0.5"),
    )
    await store.save_plan(plan)
    assert await store.get_plan("plan_1") == plan
    with pytest.raises(KeyError):
        await store.get_plan("plan_2")


async def test_a_workflow_is_kept_under_a_name_once(store: Store, clock: Clock) -> None:
    first, second = chain("one"), chain("two")
    saved = await store.save_workflow("mine ⟦1⟧", first)
    clock.forward(60)
    await store.save_workflow("other", second)
    with pytest.raises(NameTaken):
        await store.save_workflow("mine ⟦1⟧", second)
    kept = await store.list_workflows()
    assert [each.name for each in kept] == ["other", "mine ⟦1⟧"]
    assert kept[1] == saved
    assert saved.workflow == first
    clock.forward(60)
    await store.save_workflow("mine ⟦1⟧", second, replace=True)
    assert [each.workflow.prompt for each in await store.list_workflows()] == ["two", "two"]
    await store.delete_workflow("mine ⟦1⟧")
    with pytest.raises(KeyError):
        await store.delete_workflow("mine ⟦1⟧")
    assert [each.name for each in await store.list_workflows()] == ["other"]


async def test_a_secret_is_made_once_and_survives(store: Store, path: Path) -> None:
    share = await store.secret("share")
    assert len(bytes.fromhex(share)) == 32
    assert await store.secret("share") == share
    assert await store.secret("other") != share
    async with Store.open(path) as other:
        assert await other.secret("share") == share


async def test_proving_that_the_file_can_be_written_takes_one_row_however_often(
    store: Store, path: Path
) -> None:
    assert await store.is_writable()
    assert await store.is_writable()
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("SELECT count(*) FROM executors").fetchone() == (1,)


async def test_spending_counts_from_a_moment_planning_included_and_unpriced_calls_nothing(
    store: Store,
) -> None:
    workflow = chain()
    plan = Plan(
        plan_id="p",
        workflow=workflow,
        decision="new",
        conductor="local",
        pool=(),
        cost_usd=Decimal("0.0100001"),
    )
    await store.append("run_a", [created("run_a"), RunStarted(run_id="run_a")])
    assert await store.spent_usd_since(START) == 0
    await store.append("run_a", [PlanCreated(run_id="run_a", plan=plan, at=START + timedelta(hours=1))])
    later = START + timedelta(hours=2)
    await store.append("run_a", called("run_a", workflow, "s1", "x", at=later, cost_usd=Decimal("0.2")))
    await store.append("run_a", called("run_a", workflow, "s2", "x", at=later, cost_usd=None))
    assert await store.spent_usd_since(START) == Decimal("0.2100001")
    assert await store.spent_usd_since(later) == Decimal("0.2")
    assert await store.spent_usd_since(later + timedelta(hours=1)) == 0


async def test_many_small_costs_add_up_exactly(store: Store) -> None:
    for number in range(30):
        run_id = f"run_{number}"
        await store.append(run_id, whole_run(run_id, cost_usd=Decimal("0.0000001")))
    assert await store.spent_usd_since(START) == Decimal("0.000006")

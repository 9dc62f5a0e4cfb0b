"""Hidden at once, back within ten seconds, then gone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from conductor.store import UNDO_S, Once, Store
from conductor_client.api import RunPatch
from conductor_client.events import RunEvent, RunStarted
from conductor_client.plan import Plan
from tests.conductor.store.logs import START, Clock, chain, created, reused, whole_run
from tests.conductor.store.test_results import outputs, result


async def listed(store: Store) -> set[str]:
    return {run.run_id for run in (await store.list_runs()).runs}


async def test_a_deleted_run_is_hidden_at_once_everywhere(store: Store) -> None:
    await store.append("run_a", whole_run("run_a"))
    await store.append("run_b", [created("run_b")])
    await store.state("run_a")
    await store.delete_run("run_a")
    await store.delete_run("run_b")
    assert await listed(store) == set()
    assert (await store.list_runs("moon")).total == 0
    assert await store.unfinished_runs() == []
    for gone in (
        store.state("run_a"),
        store.events("run_a"),
        store.lineage("run_a"),
        store.patch_run("run_a", RunPatch(note="x")),
        store.delete_run("run_a"),
    ):
        with pytest.raises(KeyError):
            await gone


async def test_a_branch_goes_and_comes_back_together(store: Store, clock: Clock) -> None:
    for run_id, parent in (("root", None), ("left", "root"), ("deep", "left"), ("right", "root")):
        await store.append(run_id, whole_run(run_id, parent_run=parent))
    await store.delete_run("deep")
    clock.forward(1)
    await store.append("leaf", whole_run("leaf", parent_run="deep"))  # below one that is deleted already
    assert await store.delete_branch("left") == ["left", "leaf"]
    assert await listed(store) == {"root", "right"}
    with pytest.raises(KeyError):
        await store.delete_branch("left")
    clock.forward(UNDO_S - 1)
    assert await store.restore_branch("left") == ["left", "leaf"]
    assert await listed(store) == {"root", "right", "left", "leaf"}, "what was deleted before stays so"
    await store.delete_branch("root")
    clock.forward(UNDO_S + 1)
    with pytest.raises(KeyError):
        await store.restore_branch("root")
    assert await store.purge() == 5 and await listed(store) == set()


async def test_it_comes_back_whole_within_ten_seconds(store: Store, clock: Clock) -> None:
    log = await store.append("run_a", whole_run("run_a"))
    await store.patch_run("run_a", RunPatch(tags=("demo",)))
    await store.put_result("k", result("run_a"))
    await store.delete_run("run_a")
    clock.forward(UNDO_S)
    assert await store.purge() == 0
    await store.restore_run("run_a")
    assert await store.events("run_a") == log
    assert (await store.state("run_a")).tags == ("demo",)
    assert await outputs(store, "k") == {"k": "out"}
    assert (await store.list_runs("moon")).total == 1
    clock.forward(3600)
    assert await store.purge() == 0
    with pytest.raises(KeyError):
        await store.restore_run("run_a")


async def test_after_ten_seconds_it_cannot_come_back(store: Store, clock: Clock) -> None:
    await store.append("run_a", whole_run("run_a"))
    await store.delete_run("run_a")
    clock.forward(UNDO_S + 0.1)
    with pytest.raises(KeyError):
        await store.restore_run("run_a")
    with pytest.raises(KeyError):
        await store.restore_run("run_x")
    assert await store.purge() == 1
    assert await store.purge() == 0
    with pytest.raises(KeyError):
        await store.restore_run("run_a")
    with pytest.raises(KeyError):
        await store.append("run_a", [RunStarted(run_id="run_a")])


async def test_purging_leaves_no_row_and_no_byte_of_the_text(store: Store, path: Path, clock: Clock) -> None:
    workflow = chain("Zanzibarprompt?")
    plan = Plan(
        plan_id="plan_1",
        workflow=workflow,
        decision="new",
        conductor="local",
        pool=("alpha",),
        raw_text="Zanzibarplan",
    )
    log = whole_run("run_a", workflow, outputs=("Zanzibarone", "Zanzibartwo"))
    await store.save_plan(plan)
    started = created("run_a", workflow).model_copy(update={"plan": plan})
    await store.create_run(started, once=Once("click", "asked"))
    await store.append("run_a", log[1:-1])
    await store.append("run_a", log[-1:])
    await store.patch_run("run_a", RunPatch(note="Zanzibarnote", tags=("Zanzibartag",)))
    await store.put_result("k", result("run_a", output="Zanzibarresult"))
    await store.append("run_b", whole_run("run_b"))
    clock.forward(60)
    await store.delete_run("run_a")
    clock.forward(UNDO_S + 1)
    assert await store.purge() == 1

    assert await store.get_results(["k"]) == {}
    with pytest.raises(KeyError):
        await store.get_plan("plan_1")
    await store.close()
    raw = b"".join(each.read_bytes() for each in path.parent.iterdir())
    assert b"anzibar" not in raw
    with closing(sqlite3.connect(path)) as conn:
        for table in ("events", "steps", "remarks", "runs", "idempotency_keys", "results"):
            assert "run_a" not in {row[0] for row in conn.execute(f"SELECT run_id FROM {table}")}
        assert conn.execute("SELECT count(*) FROM search").fetchone() == (1,)
    async with Store.open(path) as again:
        assert await listed(again) == {"run_b"}
        assert await again.create_run(created("run_c"), once=Once("click", "asked")) == ("run_c", True)


def kept_answers(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as conn:
        return {step_id for (step_id,) in conn.execute("SELECT step_id FROM results")}


async def test_what_was_spent_stays_booked(store: Store, clock: Clock) -> None:
    await store.append("run_a", whole_run("run_a"))
    await store.delete_run("run_a")
    clock.forward(60)
    assert await store.purge() == 1
    assert await store.spent_usd_since(START) == Decimal("0.002")


async def test_forks_of_a_deleted_run_stay_whole_and_keep_what_they_reused(
    store: Store, clock: Clock, path: Path
) -> None:
    workflow = chain()
    await store.append("run_a", whole_run("run_a"))
    await store.put_result("k1", result("run_a", "s1", output="one"))
    await store.put_result("k2", result("run_a", "s2", output="two"))
    for run_id in ("run_b", "run_c"):
        fork: list[RunEvent] = [
            created(run_id, workflow, parent_run="run_a"),
            reused(run_id, workflow, "s1", "one", "run_a"),
        ]
        await store.append(run_id, fork)
    before = await store.state("run_b")
    await store.delete_run("run_a")
    clock.forward(60)
    await store.purge()
    assert await store.state("run_b") == before
    assert before.steps["s1"].output == "one"
    lineage = await store.lineage("run_b")
    assert (lineage.root, [each.run_id for each in lineage.runs]) == ("run_a", ["run_b", "run_c"])
    assert await outputs(store, "k1", "k2", lineage_of="run_b") == {"k1": "one"}
    assert kept_answers(path) == {"s1"}

    for run_id, left in (("run_b", {"k1": "one"}), ("run_c", {})):
        await store.delete_run(run_id)
        clock.forward(60)
        await store.purge()
        assert await outputs(store, "k1") == left
    assert kept_answers(path) == set()


async def test_a_plan_that_another_run_carries_out_too_is_kept(store: Store, clock: Clock) -> None:
    plan = Plan(plan_id="plan_1", workflow=chain(), decision="new", conductor="local", pool=("alpha",))
    await store.save_plan(plan)
    for run_id in ("run_a", "run_b"):
        await store.create_run(created(run_id).model_copy(update={"plan": plan}))
    await store.delete_run("run_a")
    clock.forward(60)
    await store.purge()
    assert await store.get_plan("plan_1") == plan

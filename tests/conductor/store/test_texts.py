"""Text of running steps, saved now and then."""

from __future__ import annotations

from conductor.store import Store, TextSoFar
from conductor_client.events import RunCancelled, RunStarted, StepCancelled
from tests.conductor.store.logs import called, chain, created


async def test_saved_text_replaces_itself_and_goes_when_the_step_ends(store: Store) -> None:
    workflow = chain()
    first = called("run_a", workflow, "s1", "Hello world")
    await store.append("run_a", [created("run_a", workflow), RunStarted(run_id="run_a"), *first[:2]])
    await store.save_text("run_a", "s1", 1, "output", "Hel")
    await store.save_text("run_a", "s1", 1, "reasoning", "hm")
    await store.save_text("run_a", "s1", 1, "output", "Hello wo")
    saved = await store.texts_so_far("run_a")
    assert sorted(saved, key=lambda text: text.channel) == [
        TextSoFar("s1", 1, "output", "Hello wo"),
        TextSoFar("s1", 1, "reasoning", "hm"),
    ]
    await store.append("run_a", first[2:])
    assert await store.texts_so_far("run_a") == []


async def test_a_late_saver_does_not_bring_back_a_step_that_has_ended(store: Store) -> None:
    workflow = chain()
    await store.append("run_a", [created("run_a", workflow), *called("run_a", workflow, "s1", "done")])
    await store.save_text("run_a", "s1", 1, "output", "don")
    await store.save_text("run_a", "s2", 1, "output", "not started")
    await store.save_text("run_x", "s1", 1, "output", "no such run")
    assert await store.texts_so_far("run_a") == []
    assert await store.texts_so_far("run_x") == []


async def test_a_conductor_at_work_has_text_too_and_the_end_of_the_run_clears_all(store: Store) -> None:
    workflow = chain()
    await store.append("run_a", [created("run_a"), RunStarted(run_id="run_a")])
    await store.save_text("run_a", "plan", 1, "output", "A: tr")
    assert await store.texts_so_far("run_a") == [TextSoFar("plan", 1, "output", "A: tr")]
    await store.append("run_a", [RunCancelled(run_id="run_a")])
    await store.save_text("run_a", "plan", 1, "output", "A: translate")
    assert await store.texts_so_far("run_a") == []

    await store.append("run_b", [created("run_b", workflow), *called("run_b", workflow, "s1", "x")[:2]])
    await store.save_text("run_b", "s1", 1, "output", "half a \ud83d")
    await store.append("run_b", [StepCancelled(run_id="run_b", step_id="s1", attempt=1, partial_text="half")])
    assert await store.texts_so_far("run_b") == []

"""Answers kept for reuse and recovery, found by the key of their call."""

from __future__ import annotations

from decimal import Decimal

from conductor.store import Store, StoredResult
from conductor_client.events import RunEvent
from conductor_client.usage import Usage
from tests.conductor.store.logs import chain, created, reused, whole_run


def result(run_id: str, step_id: str = "s1", attempt: int = 1, output: str = "out") -> StoredResult:
    return StoredResult(
        run_id=run_id,
        step_id=step_id,
        attempt=attempt,
        worker="alpha",
        output=output,
        usage=Usage(input_tokens=10, output_tokens=None),
        cost_usd=Decimal("0.00012"),
        duration_s=1.25,
        notes=("adapted",),
    )


async def outputs(store: Store, *keys: str, lineage_of: str | None = None) -> dict[str, str]:
    found = await store.get_results(keys, lineage_of=lineage_of)
    return {key: each.output for key, each in found.items()}


async def test_a_result_comes_back_equal_and_unknown_keys_are_left_out(store: Store) -> None:
    await store.append("run_a", whole_run("run_a"))
    await store.put_result("k1", result("run_a"))
    assert await store.get_results(["k1", "k2"]) == {"k1": result("run_a")}
    assert await store.get_results([]) == {}


async def test_the_newest_answer_stands_for_its_key(store: Store) -> None:
    await store.append("run_a", whole_run("run_a"))
    await store.append("run_b", whole_run("run_b"))
    await store.put_result("k", result("run_a", output="old"))
    await store.put_result("k", result("run_b", output="fresh"))
    assert await outputs(store, "k") == {"k": "fresh"}
    await store.put_result("k", result("run_a", output="old, stored again"))
    assert await outputs(store, "k") == {"k": "old, stored again"}


async def test_a_lineage_finds_what_its_members_made_or_reused_and_nothing_else(store: Store) -> None:
    workflow = chain()
    await store.append("run_other", whole_run("run_other"))
    await store.append("run_root", whole_run("run_root"))
    fork: list[RunEvent] = [created("run_fork", workflow, parent_run="run_root")]
    fork.append(reused("run_fork", workflow, "s2", "from outside", "run_other"))
    await store.append("run_fork", fork)
    await store.put_result("k1", result("run_root", "s1", output="root"))
    await store.put_result("k1", result("run_other", "s1", output="other, newer"))
    await store.put_result("k2", result("run_other", "s2", output="from outside"))
    await store.put_result("k3", result("run_other", "s3", output="not ours"))
    ours = {"k1": "root", "k2": "from outside"}
    assert await outputs(store, "k1", "k2", "k3", lineage_of="run_fork") == ours
    assert await outputs(store, "k1", "k2", "k3", lineage_of="run_root") == ours
    assert (await outputs(store, "k1", "k3"))["k1"] == "other, newer"


async def test_answers_of_a_deleted_run_are_not_offered_unless_another_run_stands_on_them(
    store: Store,
) -> None:
    workflow = chain()
    await store.append("run_a", whole_run("run_a"))
    await store.put_result("k1", result("run_a", "s1", output="one"))
    await store.put_result("k2", result("run_a", "s2", output="two"))
    fork: list[RunEvent] = [
        created("run_b", workflow, parent_run="run_a"),
        reused("run_b", workflow, "s1", "one", "run_a"),
    ]
    await store.append("run_b", fork)
    await store.delete_run("run_a")
    assert await outputs(store, "k1", "k2") == {"k1": "one"}
    assert await outputs(store, "k1", "k2", lineage_of="run_b") == {"k1": "one"}
    await store.restore_run("run_a")
    assert await outputs(store, "k1", "k2") == {"k1": "one", "k2": "two"}


async def test_a_result_with_half_an_emoji_is_stored(store: Store) -> None:
    await store.append("run_a", whole_run("run_a"))
    await store.put_result("k", result("run_a", output="\ud83d\ude00 \ud83d"))
    assert await outputs(store, "k") == {"k": "😀 �"}

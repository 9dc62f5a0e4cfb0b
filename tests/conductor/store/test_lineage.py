"""Forks: both branches kept, both openable."""

from __future__ import annotations

from decimal import Decimal

import pytest

from conductor.store import Store
from conductor_client.edits import SetInstruction
from tests.conductor.store.logs import created, failed_run, whole_run


async def test_a_family_is_found_from_any_member_oldest_first(store: Store) -> None:
    edit = SetInstruction(step_id="s1", instruction="another way")
    await store.append("run_root", whole_run("run_root"))
    await store.append("run_left", whole_run("run_left", minutes=2, parent_run="run_root", edits=(edit,)))
    await store.append("run_right", whole_run("run_right", minutes=1, parent_run="run_root"))
    await store.append("run_deep", [created("run_deep", minutes=3, parent_run="run_left")])
    await store.append("run_stranger", failed_run("run_stranger"))
    for asked in ("run_root", "run_left", "run_right", "run_deep"):
        lineage = await store.lineage(asked)
        assert lineage.root == "run_root"
        assert [node.run_id for node in lineage.runs] == ["run_root", "run_right", "run_left", "run_deep"]
    root, _, left, deep = lineage.runs
    assert (root.parent_run, root.final_output, root.n_steps) == (None, "It is 384,000 km away.", 2)
    assert (root.cost_usd, root.wall_s) == (Decimal("0.002"), 4.0)
    assert (left.parent_run, left.edits) == ("run_root", (edit,))
    assert (deep.parent_run, deep.status, deep.final_output) == ("run_left", "queued", None)
    assert [node.run_id for node in (await store.lineage("run_stranger")).runs] == ["run_stranger"]


async def test_a_parent_that_is_not_here_begins_a_family_of_its_own(store: Store) -> None:
    await store.append("run_a", whole_run("run_a", parent_run="run_elsewhere"))
    lineage = await store.lineage("run_a")
    assert (lineage.root, lineage.runs[0].parent_run) == ("run_a", "run_elsewhere")


async def test_no_such_run(store: Store) -> None:
    with pytest.raises(KeyError):
        await store.lineage("run_x")

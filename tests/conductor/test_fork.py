"""Forks call what an edit touches and nothing else."""

from __future__ import annotations

from pathlib import Path

from conductor_client.edits import (
    AddStep,
    Edit,
    RemoveStep,
    SetAccess,
    SetInstruction,
    SetWorker,
    apply_edits,
)
from conductor_client.run_state import RunState
from conductor_client.workflow import Workflow
from tests.conductor.stage import Stage, scripted

CHAIN = [("a", "one", []), ("a", "two", [0]), ("a", "three", [1]), ("a", "four", [2]), ("a", "five", [3])]
FAN = [("a", "plan", []), ("a", "left", [0]), ("b", "right", [0]), ("a", "join", [1, 2])]


def _edited(parent: RunState, *edits: Edit) -> Workflow:
    assert parent.workflow is not None
    return apply_edits(parent.workflow, edits).workflow


def _statuses(state: RunState) -> dict[str, str]:
    return {step_id: step.status for step_id, step in state.steps.items()}


async def test_editing_the_last_of_five_steps_calls_exactly_one_worker(tmp_path: Path) -> None:
    """Behaviour row 1: unchanged steps are reused without a call and cost nothing."""
    async with Stage(tmp_path, scripted("a", model="fake-0-3-0")) as stage:
        parent = await stage.run(CHAIN)
        assert stage.calls == {"a": 5}
        fork = await stage.fork(parent, _edited(parent, SetInstruction(step_id="s5", instruction="six")))
        assert stage.calls == {"a": 6}
    assert _statuses(fork) == {**dict.fromkeys(("s1", "s2", "s3", "s4"), "reused"), "s5": "succeeded"}
    reused = fork.steps["s2"]
    assert reused.cost_usd == 0 and reused.output == parent.steps["s2"].output
    assert reused.reused_from is not None
    assert (reused.reused_from.run_id, reused.reused_from.step_id) == (parent.run_id, "s2")
    assert reused.reused_from.duration_s is not None and reused.messages == parent.steps["s2"].messages
    assert fork.usage == fork.steps["s5"].usage and fork.complete.usage


async def test_an_edit_in_one_branch_leaves_the_other_alone(tmp_path: Path) -> None:
    # As long as what the edited branch says differs, whatever sees it runs too.
    a = scripted("a", {"match": "better", "text": "better left"}, {"text": "x"})
    async with Stage(tmp_path, a, scripted("b", {"text": "y"})) as stage:
        parent = await stage.run(FAN)
        fork = await stage.fork(parent, _edited(parent, SetInstruction(step_id="s2", instruction="better")))
    assert _statuses(fork) == {"s1": "reused", "s2": "succeeded", "s3": "reused", "s4": "succeeded"}


async def test_running_again_without_a_change_calls_nobody(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"}), scripted("b", {"text": "y"})) as stage:
        parent = await stage.run(FAN)
        before = stage.calls
        fork = await stage.fork(parent)
        assert stage.calls == before
    assert fork.status == "succeeded" and set(_statuses(fork).values()) == {"reused"}
    assert fork.final_output == parent.final_output and fork.cost_usd == 0


async def test_fresh_steps_are_called_again_and_only_they(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"}), scripted("b", {"text": "y"})) as stage:
        parent = await stage.run(FAN)
        named = await stage.fork(parent, fresh=("s2",))
        assert _statuses(named) == {"s1": "reused", "s2": "succeeded", "s3": "reused", "s4": "reused"}
        whole = await stage.fork(parent, fresh=True)
        assert set(_statuses(whole).values()) == {"succeeded"}


async def test_a_failed_step_is_never_reused(tmp_path: Path) -> None:
    """Behaviour row 2: a failed step runs again."""
    script = ({"match": "one", "fail": "refused", "times": 1}, {"text": "x"})
    async with Stage(tmp_path, scripted("a", *script)) as stage:
        parent = await stage.run([("a", "one", []), ("a", "two", [0])])
        assert _statuses(parent) == {"s1": "failed", "s2": "skipped"}
        again = await stage.fork(parent, fresh=("s2",))
    assert _statuses(again) == {"s1": "succeeded", "s2": "succeeded"} and again.status == "succeeded"


async def test_a_new_run_reuses_nothing_unless_asked(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        first = await stage.run([("a", "one", [])])
        second = await stage.run([("a", "one", [])])
        third = await stage.run([("a", "one", [])], reuse=True)
        assert stage.calls == {"a": 2}
    assert _statuses(second) == {"s1": "succeeded"} and _statuses(third) == {"s1": "reused"}
    origin = third.steps["s1"].reused_from
    assert origin is not None and origin.run_id == second.run_id != first.run_id


async def test_a_fork_looks_at_its_lineage_only(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        mine = await stage.run([("a", "one", [])])
        await stage.run([("a", "other", [])])
        fork = await stage.fork(mine, _edited(mine, SetInstruction(step_id="s1", instruction="other")))
        assert _statuses(fork) == {"s1": "succeeded"}
        sibling = await stage.fork(mine, _edited(mine, SetInstruction(step_id="s1", instruction="other")))
        assert _statuses(sibling) == {"s1": "reused"}


async def test_five_equal_steps_are_five_calls_and_keep_their_five_answers(tmp_path: Path) -> None:
    script = [{"text": f"answer {number}", "times": 1} for number in range(1, 7)]
    async with Stage(tmp_path, scripted("a", *script)) as stage:
        rows = [*[("a", "solve", [])] * 5, ("a", "vote", [0, 1, 2, 3, 4])]
        parent = await stage.run(rows)
        assert stage.calls == {"a": 6}
        fork = await stage.fork(parent)
        assert stage.calls == {"a": 6}
    said = [parent.steps[f"s{number}"].output for number in range(1, 6)]
    assert sorted(map(str, said)) == [f"answer {number}" for number in range(1, 6)]
    assert [fork.steps[f"s{number}"].output for number in range(1, 6)] == said


async def test_both_branches_of_an_edit_are_kept_and_can_be_opened(tmp_path: Path) -> None:
    """Behaviour row 3: both branches of an edited step are kept and can be opened."""
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        parent = await stage.run(CHAIN[:2])
        one = await stage.fork(parent, _edited(parent, SetInstruction(step_id="s1", instruction="uno")))
        other = await stage.fork(parent, _edited(parent, SetInstruction(step_id="s1", instruction="eins")))
        lineage = await stage.store.lineage(other.run_id)
        assert [node.run_id for node in lineage.runs] == [parent.run_id, one.run_id, other.run_id]
        for run_id, said in ((parent.run_id, "one"), (one.run_id, "uno"), (other.run_id, "eins")):
            state = await stage.store.state(run_id)
            assert state.workflow is not None and state.workflow.steps[0].instruction == said


async def test_an_old_run_is_run_again_with_its_own_inputs(tmp_path: Path) -> None:
    """Behaviour row 4: an old run runs again with its own inputs while newer ones exist."""
    script = [{"match": "task:\\none", "text": f"answer {number}", "times": 1} for number in (1, 2)]
    async with Stage(tmp_path, scripted("a", *script, {"text": "x"})) as stage:
        old = await stage.run(CHAIN[:2])
        newer = await stage.fork(old, fresh=("s1",))
        assert (old.steps["s1"].output, newer.steps["s1"].output) == ("answer 1", "answer 2")
        from_old = await stage.fork(old, _edited(old, SetInstruction(step_id="s2", instruction="zwei")))
        from_new = await stage.fork(newer, _edited(newer, SetInstruction(step_id="s2", instruction="zwei")))
    assert "answer 1" in from_old.steps["s2"].messages[-1].content
    assert "answer 2" in from_new.steps["s2"].messages[-1].content


async def test_a_run_from_before_a_restart_can_be_forked(tmp_path: Path) -> None:
    """Behaviour row 5: restart the backend, then fork a run from before."""
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        parent = await stage.run(CHAIN)
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        fork = await stage.fork(parent, _edited(parent, SetInstruction(step_id="s5", instruction="six")))
        assert stage.calls == {"a": 1} and fork.status == "succeeded"


async def test_structural_edits_run_only_what_sees_something_else(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", model="fake-0-3-0"), scripted("b", {"text": "y"})) as stage:
        parent = await stage.run(FAN)
        dropped = await stage.fork(parent, _edited(parent, SetAccess(step_id="s4", access=("s2",))))
        assert _statuses(dropped) == {"s1": "reused", "s2": "reused", "s3": "reused", "s4": "succeeded"}
        added = await stage.fork(
            parent, _edited(parent, AddStep(instruction="new", worker="b", access=("s4",)))
        )
        assert _statuses(added)["s5"] == "succeeded" and list(_statuses(added).values()).count("reused") == 4
        removed = await stage.fork(parent, _edited(parent, RemoveStep(step_id="s2")))
        # What was step 3 is step 2 now, and so it is called in what step 4 is sent.
        assert _statuses(removed) == {"s1": "reused", "s3": "reused", "s4": "succeeded"}
        swapped = await stage.fork(parent, _edited(parent, SetWorker(step_id="s1", worker="b")))
        assert _statuses(swapped)["s1"] == "succeeded"


async def test_an_answer_of_a_fallback_stands_in_its_lineage_but_not_elsewhere(tmp_path: Path) -> None:
    workers = scripted("a", {"fail": "quota"}, fallback="b"), scripted("b", {"text": "from b"})
    async with Stage(tmp_path, *workers) as stage:
        parent = await stage.run([("a", "one", [])])
        fork = await stage.fork(parent)
        assert stage.calls == {"a": 1, "b": 1}
        assert fork.steps["s1"].status == "reused" and fork.steps["s1"].worker == "b"
        await stage.run([("a", "one", [])], reuse=True)
        assert stage.calls == {"a": 2, "b": 2}


async def test_a_running_run_can_be_forked(tmp_path: Path) -> None:
    workers = scripted("a", {"text": "x"}), scripted("slow", {"text": "y", "first_token_ms": 700})
    async with Stage(tmp_path, *workers) as stage:
        run_id = await stage.start([("a", "one", []), ("slow", "two", [0])])
        await stage.until(run_id, "step_finished", "s1")
        running = await stage.store.state(run_id)
        fork = await stage.fork(running, _edited(running, SetWorker(step_id="s2", worker="a")))
        assert _statuses(fork) == {"s1": "reused", "s2": "succeeded"}
        assert (await stage.ended(run_id)).status == "succeeded"

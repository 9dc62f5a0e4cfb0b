"""Stop: at once, calls closed, text kept, nothing begins any more.

Whatever is stopped here would go on for a minute or more; how quick a stop is, is measured in benchmarks.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from conductor.runs.retry import RetryPolicy
from conductor_client.run_state import RunState
from tests.conductor.stage import Stage, scripted

TOO_LONG_S = 20.0


async def _stopped(stage: Stage, run_id: str) -> RunState:
    async with asyncio.timeout(TOO_LONG_S):
        await stage.engine.cancel(run_id)
    return await stage.store.state(run_id)


async def test_stop_during_a_stream_keeps_the_text_and_starts_nothing_more(tmp_path: Path) -> None:
    workers = scripted("a", model="fake-0-5000-20"), scripted("b", {"text": "x"})
    async with Stage(tmp_path, *workers) as stage:
        run_id = await stage.start([("a", "one", []), ("b", "two", [0]), ("b", "three", [1])])
        await stage.until_text(run_id, "red orange")
        state = await _stopped(stage, run_id)
        assert state.status == "cancelled"
        assert stage.provider.open_calls == 0
        await asyncio.sleep(0.3)
        assert stage.calls == {"a": 1} and (await stage.store.state(run_id)).last_seq == state.last_seq
    step = state.steps["s1"]
    assert step.status == "cancelled" and step.partial_text.startswith("red orange")
    assert state.final_output == step.partial_text and state.partial
    assert {state.steps[step_id].status for step_id in ("s2", "s3")} == {"skipped"}
    assert state.steps["s2"].cause is None and "stopped" in state.steps["s2"].said
    assert state.complete.usage is False


@pytest.mark.parametrize(
    "line",
    [
        {"first_token_ms": 60_000, "text": "never"},
        {"reasoning": "hm " * 5000, "token_ms": 20, "text": "never"},
        {"notice": "loading", "first_token_ms": 60_000, "text": "never"},
    ],
    ids=["before any text", "during reasoning", "while loading"],
)
async def test_stop_in_every_phase_of_a_call(tmp_path: Path, line: dict[str, object]) -> None:
    """Behaviour row 8: stop during a stream, a call without text, and reasoning."""
    async with Stage(tmp_path, scripted("a", line)) as stage:
        run_id = await stage.start([("a", "one", [])])
        await stage.until(run_id, "step_started")
        await asyncio.sleep(0.15)
        state = await _stopped(stage, run_id)
        assert stage.provider.open_calls == 0
    assert state.status == "cancelled" and state.steps["s1"].status == "cancelled"
    assert ("hm" in state.steps["s1"].reasoning) is ("reasoning" in line)


async def test_stop_while_waiting_for_a_slot_or_for_the_next_try(tmp_path: Path) -> None:
    script = ({"fail": "overloaded"},)
    workers = scripted("a", model="fake-60000-1-0", concurrency=1), scripted("b", *script)
    patient = RetryPolicy(base_s=100, cap_s=100, draw=lambda: 1.0)
    async with Stage(tmp_path, *workers, retry=patient) as stage:
        run_id = await stage.start([("a", "one", []), ("a", "two", []), ("b", "three", [])])
        await stage.until(run_id, "step_retried", "s3")
        state = await _stopped(stage, run_id)
    assert [step.status for step in state.steps.values()] == ["cancelled"] * 3


async def test_stop_twice_and_stop_after_the_end_change_nothing(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", model="fake-0-5000-20"), scripted("b", {"text": "x"})) as stage:
        run_id = await stage.start([("a", "one", [])])
        await stage.until(run_id, "step_started")
        await asyncio.gather(stage.engine.cancel(run_id), stage.engine.cancel(run_id))
        await stage.engine.cancel(run_id)
        kinds = [event.kind for event in await stage.store.events(run_id)]
        assert kinds.count("run_cancelled") == 1 and kinds[-1] == "run_cancelled"
        done = await stage.run([("b", "one", [])])
        await stage.engine.cancel(done.run_id)
        assert (await stage.store.state(done.run_id)).status == "succeeded"


async def test_stop_right_after_the_start(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", model="fake-0-5000-20")) as stage:
        run_id = await stage.start([("a", "one", [])])
        state = await _stopped(stage, run_id)
        assert state.status == "cancelled"
        assert [event.kind for event in await stage.store.events(run_id)][-1] == "run_cancelled"


@pytest.mark.parametrize("after_ms", range(0, 60, 6))
async def test_whenever_stop_comes_a_run_ends_once_and_so_does_each_step(
    tmp_path: Path, after_ms: int
) -> None:
    async with Stage(tmp_path, scripted("a", model="fake-8-2-4")) as stage:
        run_id = await stage.start([("a", "one", []), ("a", "two", [0]), ("a", "three", [0])])
        await asyncio.sleep(after_ms / 1000)
        await stage.engine.cancel(run_id)
        events = await stage.store.events(run_id)
    ends = [event.kind for event in events if event.kind in {"run_finished", "run_cancelled", "run_failed"}]
    assert len(ends) == 1 and events[-1].kind == ends[0]
    last_words = {"step_finished", "step_cancelled", "step_skipped", "step_failed"}
    ended = [event.step_id for event in events if event.kind in last_words]  # type: ignore[union-attr]
    assert sorted(ended) == ["s1", "s2", "s3"]


async def test_nothing_of_a_stopped_run_lands_in_the_next_one(tmp_path: Path) -> None:
    """Behaviour row 9: stop A, ask B at once; nothing of A lands in B."""
    script = ({"match": "mark-a", "text": "mark-a " * 200, "token_ms": 10}, {"text": "second answer"})
    async with Stage(tmp_path, scripted("a", *script)) as stage:
        first = await stage.start([("a", "mark-a", [])])
        await stage.until_text(first, "mark-a")
        stopping = asyncio.create_task(stage.engine.cancel(first))
        second = await stage.run([("a", "other", [])])
        await stopping
        assert second.final_output == "second answer"
        events = await stage.store.events(second.run_id)
        assert {event.run_id for event in events} == {second.run_id}
        assert "mark-a" not in "".join(event.model_dump_json() for event in events)


async def test_a_run_nobody_executes_can_be_stopped(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", model="fake-0-5000-20")) as stage:
        run_id = await stage.start([("a", "one", [])])
        await stage.until_text(run_id, "red")
        await stage.engine.stop()
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        state = await _stopped(stage, run_id)
        assert state.status == "cancelled" and state.steps["s1"].status == "cancelled"
        assert state.steps["s1"].partial_text.startswith("red")
        assert stage.calls == {}

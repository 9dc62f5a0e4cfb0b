"""Taking runs up where an earlier process left them."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from conductor.engine import local
from conductor.engine.recorded import RecordedEngine
from conductor_client.run_state import RunState
from tests.conductor.stage import Stage, limits, scripted

ROWS = [("a", "one", []), ("slow", "two", [0]), ("a", "three", [1])]


async def _left(tmp_path: Path, *, recorded: bool = False) -> str:
    """A run whose process ended while its second step was writing."""
    workers = scripted("a", {"text": "x"}), scripted("slow", model="fake-0-500-20")
    async with Stage(tmp_path, *workers, recorded=recorded) as stage:
        run_id = await stage.start(ROWS)
        await stage.until(run_id, "step_started", "s2")
        await stage.until_text(run_id, "red orange")
        if isinstance(stage.engine, RecordedEngine):
            await stage.engine.opened()
            await asyncio.sleep(0.2)
    return run_id


async def test_an_unfinished_run_goes_on_and_calls_no_finished_step_again(tmp_path: Path) -> None:
    run_id = await _left(tmp_path)
    async with Stage(tmp_path, scripted("a", {"text": "x"}), scripted("slow", {"text": "y"})) as stage:
        before = await stage.store.state(run_id)
        assert before.status == "running" and before.steps["s1"].status == "succeeded"
        assert await stage.engine.resume_unfinished() == (run_id,)
        state = await stage.ended(run_id)
        assert stage.calls == {"slow": 1, "a": 1}
        assert await stage.engine.resume_unfinished() == ()
    _check_resumed(state)


def _check_resumed(state: RunState) -> None:
    assert state.status == "succeeded" and state.resumed == 1
    first, second = state.steps["s2"].attempts
    assert first.error is not None and first.error.kind == "interrupted"
    assert first.partial_text.startswith("red orange") and second.error is None
    assert len(state.steps["s1"].attempts) == 1
    assert state.steps["s2"].output == "y" and state.complete.usage is False


async def test_a_resumed_run_can_be_forked_without_calling_again(tmp_path: Path) -> None:
    run_id = await _left(tmp_path)
    async with Stage(tmp_path, scripted("a", {"text": "x"}), scripted("slow", {"text": "y"})) as stage:
        await stage.engine.resume_unfinished()
        calls = (await stage.ended(run_id), stage.calls)[1]
        fork = await stage.fork(await stage.store.state(run_id))
        assert stage.calls == calls and fork.status == "succeeded"


async def test_what_was_spent_before_counts_after(tmp_path: Path) -> None:
    worker = scripted("a", {"match": "task:\ntwo", "tokens": 500, "token_ms": 20}, {"tokens": 100})
    async with Stage(tmp_path, worker) as stage:
        given = limits(max_tokens=1000, max_output_tokens=600)
        run_id = await stage.start([("a", "one", []), ("a", "two", [0])], limits=given)
        await stage.until(run_id, "step_started", "s2")
    async with Stage(tmp_path, scripted("a", {"tokens": 590})) as stage:
        await stage.engine.resume_unfinished()
        state = await stage.ended(run_id)
        assert stage.calls == {}
    assert state.error is not None and state.error.kind == "limit_reached"


async def test_a_half_done_step_counts_once_against_the_limit_of_steps(tmp_path: Path) -> None:
    workers = scripted("a", {"text": "x"}), scripted("slow", model="fake-0-500-20")
    async with Stage(tmp_path, *workers) as stage:
        run_id = await stage.start(ROWS, limits=limits(max_steps=3))
        await stage.until_text(run_id, "red orange")
    async with Stage(tmp_path, scripted("a", {"text": "x"}), scripted("slow", {"text": "y"})) as stage:
        await stage.engine.resume_unfinished()
        assert (await stage.ended(run_id)).status == "succeeded"


async def test_a_living_process_takes_over_from_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "SWEEP_S", 0.05)
    async with Stage(tmp_path, scripted("a", {"text": "x"}), scripted("slow", {"text": "y"})) as stage:
        assert await stage.engine.resume_unfinished() == ()
        run_id = await _left(tmp_path)
        state = await stage.ended(run_id)
    assert state.status == "succeeded" and state.resumed == 1


async def test_a_run_that_cannot_be_stored_is_shown_as_failed_and_not_taken_up_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from conductor.store import StoreError

    async with Stage(tmp_path, scripted("a", model="fake-0-20-20"), scripted("b", {"text": "x"})) as stage:
        whole = stage.store.append
        run_id = await stage.start([("a", "one", []), ("a", "two", [0])])

        async def full(*_: object) -> None:
            raise StoreError("full", "There is no space left.", hint="Free some space.")

        ended: list[object] = []

        async def watch() -> None:
            ended.extend([item async for item in stage.hub.subscribe(run_id)])

        watching = asyncio.create_task(watch())
        await stage.until_text(run_id, "red")
        monkeypatch.setattr(stage.store, "append", full)
        await watching
        last = ended[-1]
        assert getattr(last, "kind", "") == "run_failed" and getattr(last, "seq", 1) == 0
        assert last.error.kind == "store" and last.error.hint == "Free some space."  # type: ignore[attr-defined]
        monkeypatch.setattr(stage.store, "append", whole)
        await asyncio.sleep(0.1)
        assert await stage.engine.resume_unfinished() == ()
        assert stage.calls == {"a": 1}
        assert (await stage.run([("b", "one", [])])).status == "succeeded"
    async with Stage(tmp_path, scripted("a", {"text": "y"})) as stage:
        assert await stage.engine.resume_unfinished() == (run_id,)
        assert (await stage.ended(run_id)).status == "succeeded"


async def test_a_run_that_could_not_be_stored_goes_on_by_itself_once_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from conductor.store import StoreError

    monkeypatch.setattr(local, "REST_S", 0.0)
    async with Stage(tmp_path, scripted("a", model="fake-0-20-20"), scripted("b", {"text": "x"})) as stage:
        whole = stage.store.append
        tried: list[str] = []

        async def full(run_id: str, _: object) -> None:
            tried.append(run_id)
            raise StoreError("disk", "There is no space left.", hint="Free some space.")

        run_id = await stage.start([("a", "one", []), ("b", "two", [0])])
        await stage.until_text(run_id, "red")
        monkeypatch.setattr(stage.store, "append", full)
        with caplog.at_level(logging.ERROR):
            while len(tried) < 3:  # what broke it, and taking it up again in vain
                await asyncio.sleep(0.05)
                await stage.engine.resume_unfinished()
        assert stage.calls == {"a": 1}, "nobody is called as long as nothing can be stored"
        assert "taken up again" in caplog.text
        monkeypatch.setattr(stage.store, "append", whole)
        while (await stage.store.state(run_id)).status == "running":
            await asyncio.sleep(0.05)
            await stage.engine.resume_unfinished()
        assert (await stage.store.state(run_id)).status == "succeeded"
        assert stage.calls == {"a": 2, "b": 1}


async def test_a_mistake_of_ours_ends_the_run_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"})) as stage:

        def broken(*_: object, **__: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr("conductor.runs.terms.build", broken)
        state = await stage.run([("a", "one", [])])
    assert state.status == "failed" and state.error is not None and state.error.kind == "internal"
    assert "ZeroDivisionError" in state.error.message

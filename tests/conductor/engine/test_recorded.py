"""Runs written down with DBOS: one workflow each, pending for as long as the run is unfinished."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from conductor.engine.recorded import RecordedEngine
from conductor.providers.base import Worker
from tests.conductor.engine.test_local import _check_resumed, _left
from tests.conductor.stage import Stage, scripted


def _rows(folder: Path) -> dict[str, tuple[str, str]]:
    with closing(sqlite3.connect(folder / "engine.sqlite")) as conn:
        found = conn.execute(
            "SELECT workflow_uuid, workflow_status.status, workflow_input.inputs"
            " FROM workflow_status JOIN workflow_input USING (workflow_uuid)"
        ).fetchall()
    return {run_id: (status, inputs) for run_id, status, inputs in found}


@asynccontextmanager
async def _open_stage(folder: Path, *workers: Worker) -> AsyncIterator[Stage]:
    """A stage whose engine is open already, so that even the shortest run is recorded."""
    async with Stage(folder, *workers, recorded=True) as stage:
        assert isinstance(stage.engine, RecordedEngine)
        await stage.engine.opened()
        yield stage


async def _recorded_as(folder: Path, run_id: str, status: str) -> str:
    for _ in range(200):
        found = _rows(folder).get(run_id)
        if found is not None and found[0] == status:
            return found[1]
        await asyncio.sleep(0.05)
    raise AssertionError(f"{_rows(folder)} never came to {status}")


async def test_each_run_is_one_workflow_in_plain_json(tmp_path: Path) -> None:
    async with _open_stage(tmp_path, scripted("a", {"text": "x"})) as stage:
        state = await stage.run([("a", "one", [])])
        inputs = await _recorded_as(tmp_path, state.run_id, "SUCCESS")
        assert stage.engine.problems == () and stage.engine.name == "embedded"
    assert state.run_id in inputs and "What is it?" not in inputs
    with closing(sqlite3.connect(tmp_path / "engine.sqlite")) as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        version = conn.execute("SELECT application_version, executor_id FROM workflow_status").fetchone()
    assert version == ("1", "executor-0")


async def _left_in_the_engine(folder: Path) -> str:
    async with _open_stage(folder, scripted("a", {"text": "x"})):
        pass  # the tables are there
    return await _left(folder, recorded=True)


async def test_a_run_begins_before_the_engine_is_open(tmp_path: Path) -> None:
    async with Stage(tmp_path, scripted("a", {"text": "x"}), recorded=True) as stage:
        began = time.monotonic()
        await stage.run([("a", "one", [])])
        assert time.monotonic() - began < 0.5
        assert isinstance(stage.engine, RecordedEngine)
        await stage.engine.opened()


async def test_an_unfinished_run_stays_pending_and_is_taken_up_once(tmp_path: Path) -> None:
    run_id = await _left_in_the_engine(tmp_path)
    assert _rows(tmp_path)[run_id][0] == "PENDING"
    workers = scripted("a", {"text": "x"}), scripted("slow", {"text": "y", "first_token_ms": 3000})
    async with Stage(tmp_path, *workers, recorded=True) as stage:
        assert await stage.engine.resume_unfinished() == (run_id,)
        state = await stage.ended(run_id)
        await _recorded_as(tmp_path, run_id, "SUCCESS")
        assert stage.calls == {"slow": 1, "a": 1}
    _check_resumed(state)


async def test_the_engine_alone_takes_a_pending_run_up_too(tmp_path: Path) -> None:
    run_id = await _left_in_the_engine(tmp_path)
    async with Stage(
        tmp_path, scripted("a", {"text": "x"}), scripted("slow", {"text": "y"}), recorded=True
    ) as stage:
        state = await stage.ended(run_id)  # nobody asked to resume: what DBOS has written down does
        await _recorded_as(tmp_path, run_id, "SUCCESS")
    _check_resumed(state)


async def test_a_run_can_be_stopped_through_the_engine(tmp_path: Path) -> None:
    async with _open_stage(tmp_path, scripted("a", model="fake-0-500-20")) as stage:
        run_id = await stage.start([("a", "one", [])])
        await _recorded_as(tmp_path, run_id, "PENDING")
        assert isinstance(stage.engine, RecordedEngine) and stage.engine._recorder is not None
        stage.engine._recorder.cancel(run_id)  # as another process would
        state = await stage.ended(run_id)
    assert state.status == "cancelled" and state.steps["s1"].partial_text


async def test_an_engine_file_that_cannot_be_used_is_told_and_runs_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "engine.sqlite").write_bytes(b"this is no database" * 100)
    async with Stage(tmp_path, scripted("a", {"text": "x"}), recorded=True) as stage:
        assert (await stage.run([("a", "one", [])])).status == "succeeded"
        assert isinstance(stage.engine, RecordedEngine)
        await stage.engine.opened()
        [problem] = stage.engine.problems
    assert "engine.sqlite" in problem and "cannot be used" in problem


async def test_stopping_takes_less_than_a_second(tmp_path: Path) -> None:
    async with _open_stage(tmp_path, scripted("a", model="fake-0-500-20")) as stage:
        run_id = await stage.start([("a", "one", [])])
        await _recorded_as(tmp_path, run_id, "PENDING")
        began = time.monotonic()
        await stage.engine.stop()
        assert time.monotonic() - began < 5

"""Events leave a run in order, stored before they are shown, several to a commit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from conductor.runs.journal import Journal, JournalBroken
from conductor_client.events import RunEvent, RunFinished, RunStarted, StepSkipped
from tests.virtual_time import run_virtually


class _SlowStore:
    """Commits take a second. ``fails`` makes every further one fail."""

    def __init__(self) -> None:
        self.commits: list[list[RunEvent]] = []
        self.fails = False

    async def append(self, run_id: str, events: Sequence[RunEvent]) -> list[RunEvent]:
        await asyncio.sleep(1)
        if self.fails:
            raise OSError("no space left")
        first = 1 + sum(map(len, self.commits))
        stored = [event.model_copy(update={"seq": seq}) for seq, event in enumerate(events, first)]
        self.commits.append(stored)
        return stored


def _event(step_id: str) -> StepSkipped:
    return StepSkipped(run_id="r", step_id=step_id, cause=None, said="")


def test_what_comes_during_a_commit_goes_out_together_and_in_order() -> None:
    async def scenario() -> None:
        store, shown = _SlowStore(), []
        journal = Journal("r", store, lambda _, events: shown.extend(events))
        journal.post(RunStarted(run_id="r"))
        await asyncio.sleep(0.5)
        for number in range(5):
            journal.post(_event(f"s{number}"))
        assert shown == []
        await journal.write(_event("last"))
        assert asyncio.get_running_loop().time() == pytest.approx(2.0)
        assert [len(commit) for commit in store.commits] == [1, 6]
        assert [event.seq for event in shown] == [1, 2, 3, 4, 5, 6, 7]
        assert shown == [event for commit in store.commits for event in commit]

    run_virtually(scenario())


def test_cancelling_the_writer_loses_no_event() -> None:
    async def scenario() -> None:
        store = _SlowStore()
        journal = Journal("r", store, lambda *_: None)
        writing = asyncio.create_task(journal.write(RunStarted(run_id="r")))
        await asyncio.sleep(0.1)
        writing.cancel()
        await asyncio.wait([writing])
        await journal.drain()
        assert len(store.commits) == 1

    run_virtually(scenario())


def test_nothing_comes_after_the_last_event() -> None:
    async def scenario() -> None:
        store = _SlowStore()
        journal = Journal("r", store, lambda *_: None)
        await journal.write_last(RunFinished(run_id="r", final_output="x"))
        journal.post(_event("late"))
        await journal.write(_event("later"))
        await journal.drain()
        assert [event.kind for commit in store.commits for event in commit] == ["run_finished"]

    run_virtually(scenario())


def test_after_a_failure_nothing_more_is_stored_and_everybody_is_told() -> None:
    async def scenario() -> None:
        store, told = _SlowStore(), []
        journal = Journal("r", store, lambda *_: None, told.append)
        store.fails = True
        with pytest.raises(JournalBroken, match="no space left"):
            await journal.write(RunStarted(run_id="r"))
        store.fails = False
        with pytest.raises(JournalBroken):
            await journal.write(_event("s1"))
        assert store.commits == [] and len(told) == 1 and journal.broken is told[0]

    run_virtually(scenario())

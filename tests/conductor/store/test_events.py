"""Events in, the same events and the same state out."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conductor.store import KeyTaken, Once, Store, folds, runs
from conductor_client.api import RunPatch
from conductor_client.events import RunEvent, RunStarted, StepFinished
from conductor_client.run_state import RunState, fold
from tests.conductor.store.logs import START, called, chain, created, whole_run
from tests.strategies import run_logs


async def test_events_are_numbered_from_one_and_come_back_equal(store: Store) -> None:
    log = whole_run("run_a")
    stored = [*await store.append("run_a", log[:3]), *await store.append("run_a", log[3:])]
    assert [event.seq for event in stored] == list(range(1, len(log) + 1))
    assert await store.events("run_a") == stored
    assert [event.model_copy(update={"seq": 0}) for event in stored] == log
    assert await store.events("run_a", after=4) == stored[4:]
    assert await store.events("run_a", after=len(log)) == []


@given(log=run_logs(), cuts=st.lists(st.integers(0, 60), max_size=6))
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_log_in_any_pieces_folds_to_the_same_state(log: list[RunEvent], cuts: list[int]) -> None:
    fresh = [event.model_copy(update={"seq": 0}) for event in log]
    bounds = [0, *sorted({min(cut, len(log)) for cut in cuts}), len(log)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "studio.db"
        async with Store.open(path) as store:
            shown: list[RunEvent] = []
            for start, end in pairwise(bounds):
                if fresh[start:end]:
                    shown += await store.append("run_1", fresh[start:end])
                    assert await store.state("run_1") == fold(shown)
            assert shown == log
        async with Store.open(path) as again:
            assert await again.events("run_1") == log
            assert await again.state("run_1") == fold(log)


async def test_what_append_returns_is_what_readers_see_to_the_millisecond(store: Store) -> None:
    odd = datetime(2026, 3, 1, 12, 0, 0, 123_987, tzinfo=UTC)
    shown = await store.append("run_a", [created("run_a"), RunStarted(run_id="run_a", at=odd)])
    assert shown == await store.events("run_a")
    assert shown[1].at.microsecond == 123_000


async def test_state_carries_what_people_said(store: Store) -> None:
    log = await store.append("run_a", whole_run("run_a"))
    patched = await store.patch_run("run_a", RunPatch(rating=4, tags=("moon", "moon", "draft"), note="nice"))
    state = await store.state("run_a")
    assert patched == state
    assert (state.rating, state.tags, state.note, state.grade) == (4, ("moon", "draft"), "nice", None)
    assert state == fold(log).model_copy(update={"rating": 4, "tags": ("moon", "draft"), "note": "nice"})
    await store.patch_run("run_a", RunPatch(grade="right", gold="384,400 km"))
    await store.patch_run("run_a", RunPatch(note=None))
    state = await store.state("run_a")
    assert (state.rating, state.grade, state.gold, state.note) == (4, "right", "384,400 km", None)


async def test_run_is_created_once_per_idempotency_key(store: Store) -> None:
    first = await store.create_run(created("run_a"), once=Once("click 1", "asked"), tags=("demo",))
    again = await store.create_run(created("run_b"), once=Once("click 1", "asked"))
    other = await store.create_run(created("run_c"), once=Once("click 2", "asked"))
    assert (first, again, other) == (("run_a", True), ("run_a", False), ("run_c", True))
    assert (await store.state("run_a")).tags == ("demo",)
    with pytest.raises(KeyError):
        await store.state("run_b")


async def test_a_key_of_another_request_is_refused_after_a_restart_too(path: Path) -> None:
    async with Store.open(path) as store:
        await store.create_run(created("run_a"), once=Once("click", "asked"))
    async with Store.open(path) as again:
        with pytest.raises(KeyTaken, match="'click' came with another request") as refused:
            await again.create_run(created("run_b"), once=Once("click", "asked otherwise"))
        assert "run_a" in refused.value.message and refused.value.hint
        assert await again.create_run(created("run_c"), once=Once("click", "asked")) == ("run_a", False)
    with closing(sqlite3.connect(path)) as conn, conn:  # as an older release left it
        conn.execute("UPDATE idempotency_keys SET request = NULL")
    async with Store.open(path) as older:
        assert await older.create_run(created("run_d"), once=Once("click", "any")) == ("run_a", False)


async def test_unknown_runs_are_key_errors(store: Store) -> None:
    with pytest.raises(KeyError):
        await store.events("run_x")
    with pytest.raises(KeyError):
        await store.state("run_x")
    with pytest.raises(KeyError):
        await store.append("run_x", [RunStarted(run_id="run_x")])
    with pytest.raises(KeyError):
        await store.append("run_x", [])
    with pytest.raises(KeyError):
        await store.patch_run("run_x", RunPatch(note="?"))


async def test_wrong_events_are_refused_and_nothing_of_their_batch_is_stored(store: Store) -> None:
    stored = await store.append("run_a", [created("run_a")])
    started = RunStarted(run_id="run_a")
    with pytest.raises(ValueError, match="stored already"):
        await store.append("run_a", [started, stored[0]])
    with pytest.raises(ValueError, match="handed in for run_a"):
        await store.append("run_a", [started, RunStarted(run_id="run_b")])
    with pytest.raises(ValueError, match="begun already"):
        await store.append("run_a", [started, created("run_a")])
    with pytest.raises(ValueError, match="begun already"):
        await store.create_run(created("run_a"), once=Once("k", "asked"))
    assert await store.events("run_a") == stored
    assert await store.create_run(created("run_b"), once=Once("k", "asked")) == ("run_b", True)


async def test_halves_of_an_emoji_are_joined_and_lone_ones_replaced(store: Store) -> None:
    workflow = chain()
    log = [created("run_a", workflow), *called("run_a", workflow, "s1", "ok \ud83d\ude00 and \ud83d alone")]
    shown = await store.append("run_a", log)
    assert isinstance(shown[-1], StepFinished)
    assert shown[-1].output == "ok 😀 and � alone"
    assert shown == await store.events("run_a")


async def test_control_characters_and_absurd_counts_do_not_stop_a_run(store: Store) -> None:
    workflow = chain()
    odd = called("run_a", workflow, "s1", "a\x00b\u2028c")
    finished = odd[-1]
    assert isinstance(finished, StepFinished)
    assert finished.usage is not None
    huge = finished.model_copy(update={"usage": finished.usage.model_copy(update={"output_tokens": 10**30})})
    shown = await store.append("run_a", [created("run_a", workflow), *odd[:-1], huge])
    assert await store.events("run_a") == shown
    assert (await store.list_runs()).runs[0].total_tokens == 2**63 - 1


async def test_unfinished_runs_are_known_after_a_restart(store: Store, path: Path) -> None:
    await store.append("run_late", [created("run_late", minutes=2)])
    await store.append("run_done", whole_run("run_done"))
    await store.append("run_early", [created("run_early", minutes=1), RunStarted(run_id="run_early")])
    await store.append("run_hidden", [created("run_hidden")])
    await store.delete_run("run_hidden")
    await store.close()
    async with Store.open(path) as again:
        assert await again.unfinished_runs() == ["run_early", "run_late"]


async def test_another_process_may_go_on_with_a_run(store: Store, path: Path) -> None:
    workflow = chain()
    await store.append("run_a", [created("run_a", workflow), RunStarted(run_id="run_a", at=START)])
    await store.state("run_a")
    async with Store.open(path) as other:
        await other.append("run_a", called("run_a", workflow, "s1", "one"))
        assert (await store.state("run_a")).steps["s1"].output == "one"
        shown = await store.append("run_a", called("run_a", workflow, "s2", "two"))
        assert [event.seq for event in shown] == [6, 7, 8]
        assert await other.state("run_a") == await store.state("run_a") == fold(await other.events("run_a"))


async def test_appending_to_a_run_of_6700_events_folds_each_event_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    folded: list[int] = []

    def counting(events: Iterable[RunEvent], state: RunState | None = None) -> RunState:
        batch = list(events)
        folded.append(len(batch))
        return fold(batch, state)

    monkeypatch.setattr(runs, "fold", counting)
    monkeypatch.setattr(folds, "fold", counting)
    workflow = chain(workers=["alpha"] * 32)
    one = called("run_a", workflow, "s1", "x" * 300)
    events: list[RunEvent] = [created("run_a", workflow)]
    while len(events) < 6_700:
        step_id = f"s{len(events) // 3 % 32 + 1}"
        events += [each.model_copy(update={"step_id": step_id}) for each in one]
    for start in range(0, len(events), 10):
        await store.append("run_a", events[start : start + 10])
        if start % 500 == 0:
            await store.state("run_a")
    assert (await store.state("run_a")).last_seq == len(events)
    assert sum(folded) == len(events)


async def test_tokens_are_never_rows(store: Store, path: Path) -> None:
    workflow = chain()
    await store.append("run_a", [created("run_a", workflow), *called("run_a", workflow, "s1", "x")[:2]])
    for length in range(1, 40):
        await store.save_text("run_a", "s1", 1, "output", "word " * length)
    await store.close()
    with closing(sqlite3.connect(path)) as conn:
        tables = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {table: conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    assert rows["events"] == 3
    assert rows["texts_so_far"] == 1
    assert max(rows.values()) < 30

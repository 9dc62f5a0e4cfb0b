"""The writer thread: groups, failures, closing, a disk that is full."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import pytest

from conductor.store import Store, StoreError
from conductor.store.folds import Folds
from conductor.store.writer import Transaction, Writer
from conductor_client.api import RunPatch
from conductor_client.events import RunEvent, RunStarted, StepFinished
from tests.conductor.store.logs import called, chain, created, whole_run


def hold(writer: Writer) -> threading.Event:
    """Keeps the writer busy until the event is set, so that what comes meanwhile shares a commit."""
    begun, go = threading.Event(), threading.Event()

    def wait(tx: Transaction) -> bool:
        begun.set()
        return go.wait(10)

    writer.submit(wait)
    assert begun.wait(10)
    return go


@pytest.fixture
def held(store: Store) -> threading.Event:
    return hold(store._writer)


async def test_what_gathers_shares_one_commit(store: Store, held: threading.Event) -> None:
    commits: list[str] = []
    store._writer._conn.set_trace_callback(
        lambda sql: commits.append(sql) if sql.startswith("COMMIT") else None
    )
    waiting = [
        asyncio.ensure_future(store.append(f"run_{number}", whole_run(f"run_{number}")))
        for number in range(50)
    ]
    await asyncio.sleep(0.05)
    held.set()
    await asyncio.gather(*waiting)
    assert len(commits) == 2  # the one that was held, and one for all fifty
    assert (await store.list_runs()).total == 50


async def test_a_job_that_fails_takes_nobody_with_it(store: Store, held: threading.Event) -> None:
    good = asyncio.ensure_future(store.append("run_a", whole_run("run_a")))
    bad = asyncio.ensure_future(store.append("run_x", [RunStarted(run_id="run_x")]))
    doubled = asyncio.ensure_future(store.append("run_a", [created("run_a")]))
    late = asyncio.ensure_future(store.append("run_b", whole_run("run_b")))
    await asyncio.sleep(0.05)
    held.set()
    assert len(await good) == len(await late)
    with pytest.raises(KeyError):
        await bad
    with pytest.raises(ValueError, match="begun already"):
        await doubled
    assert (await store.state("run_a")).status == (await store.state("run_b")).status == "succeeded"


async def test_a_lost_transaction_is_done_again_job_by_job(path: Path, store: Store) -> None:
    writer = Writer(path, Folds())
    go = hold(writer)

    def losing(tx: Transaction) -> None:
        tx.conn.execute("INSERT INTO secrets VALUES ('lost', 'x')")
        tx.conn.execute("ROLLBACK")  # as SQLite does on its own when the disk is full
        raise sqlite3.OperationalError("gone")

    def keeping(tx: Transaction) -> int:
        return tx.conn.execute("INSERT INTO secrets VALUES ('kept', 'x')").rowcount

    lost: Future[None] = writer.submit(losing)
    kept = writer.submit(keeping)
    go.set()
    assert kept.result(10) == 1
    with pytest.raises(StoreError) as caught:
        lost.result(10)
    assert caught.value.reason == "failed"
    writer.close()
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("SELECT name FROM secrets").fetchall() == [("kept",)]


async def test_a_write_is_done_even_when_the_caller_is_cancelled(store: Store, held: threading.Event) -> None:
    writing = asyncio.ensure_future(store.append("run_a", whole_run("run_a")))
    failing = asyncio.ensure_future(store.append("run_x", [RunStarted(run_id="run_x")]))
    await asyncio.sleep(0.05)
    writing.cancel()
    failing.cancel()
    held.set()
    for each in (writing, failing):
        with pytest.raises(asyncio.CancelledError):
            await each
    await store.secret("anything")  # everything before it is done
    assert (await store.state("run_a")).status == "succeeded"


async def test_closing_flushes_and_may_be_repeated(store: Store, path: Path, held: threading.Event) -> None:
    waiting = [
        asyncio.ensure_future(store.append(f"run_{number}", whole_run(f"run_{number}")))
        for number in range(20)
    ]
    await asyncio.sleep(0.05)
    closing_it = asyncio.ensure_future(store.close())
    await asyncio.sleep(0.05)
    held.set()
    await asyncio.gather(closing_it, store.close())
    await asyncio.gather(*waiting)
    await store.close()
    store.close_now()
    assert not any(thread.name.startswith("store-") for thread in threading.enumerate())
    async with Store.open(path) as again:
        assert (await again.list_runs()).total == 20


async def test_a_closed_store_says_so(store: Store) -> None:
    await store.close()
    for attempt in (store.append("run_a", [created("run_a")]), store.list_runs(), store.secret("x")):
        with pytest.raises(StoreError) as caught:
            await attempt
        assert caught.value.reason == "closed"
    assert await store.is_writable() is False


async def test_one_store_serves_many_event_loops(store: Store) -> None:
    def in_a_loop_of_its_own(number: int) -> None:
        async def work() -> None:
            run_id = f"run_{number}"
            for event in whole_run(run_id):
                await store.append(run_id, [event])
                await store.state(run_id)
            await store.patch_run(run_id, RunPatch(rating=5))

        asyncio.run(work())

    await asyncio.gather(*(asyncio.to_thread(in_a_loop_of_its_own, number) for number in range(6)))
    page = await store.list_runs()
    assert {run.status for run in page.runs} == {"succeeded"}
    assert page.total == 6


async def test_a_full_disk_loses_nothing_and_the_store_goes_on_when_there_is_space(store: Store) -> None:
    kept = await store.append("run_a", whole_run("run_a"))
    await _limit_pages(store, more=4)
    workflow = chain()
    await store.append("run_b", [created("run_b", workflow)])
    big = called("run_b", workflow, "s1", "x" * 100_000)
    with pytest.raises(StoreError) as caught:
        await store.append("run_b", big)
    error = caught.value
    assert (error.reason, error.kind, error.as_data().retryable) == ("disk", "store", True)
    assert "no space left" in error.message
    assert "Free some space" in error.hint
    assert await store.events("run_a") == kept
    assert [event.kind for event in await store.events("run_b")] == ["run_created"]

    await _limit_pages(store, more=10_000)
    assert await store.is_writable()
    assert [event.seq for event in await store.append("run_b", big)] == [2, 3, 4]
    assert (await store.state("run_b")).steps["s1"].output == "x" * 100_000


async def test_on_a_full_disk_small_writes_beside_a_big_one_still_get_in(store: Store) -> None:
    workflow = chain()
    await store.append("run_b", [created("run_b", workflow)])
    await _limit_pages(store, more=8)
    go = hold(store._writer)
    big = asyncio.ensure_future(store.append("run_b", called("run_b", workflow, "s1", "x" * 200_000)))
    small = asyncio.ensure_future(store.append("run_c", [created("run_c")]))
    await asyncio.sleep(0.05)
    go.set()
    with pytest.raises(StoreError):
        await big
    assert [event.seq for event in await small] == [1]


FILL = """
import asyncio, resource, sys
from pathlib import Path
from conductor.store import Store, StoreError
from tests.conductor.store.logs import whole_run, chain

async def main():
    store = Store.open(Path(sys.argv[1]))
    stored = 0
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
    try:
        while stored < 100:
            await store.append(f"run_{stored}", whole_run(f"run_{stored}", outputs=("x" * 9_000, "y")))
            stored += 1
    except StoreError as error:
        print(stored, error.reason)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.append("run_after", whole_run("run_after"))
    print(await store.is_writable())
    await store.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
async def test_a_disk_that_refuses_to_write_loses_no_acknowledged_run(path: Path) -> None:
    """The operating system itself refuses here: its limit on the size of a file is reached."""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", FILL, str(path)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    stored, reason = first.split()
    assert (reason, second) == ("disk", "True")
    assert int(stored) > 3
    async with Store.open(path) as store:
        page = await store.list_runs(limit=200)
        assert {run.run_id for run in page.runs} == {f"run_{n}" for n in range(int(stored))} | {"run_after"}
        for run in page.runs:
            assert (await store.state(run.run_id)).status == "succeeded"


async def test_twenty_megabytes_of_output_are_one_event_and_open_fast_enough(store: Store) -> None:
    workflow = chain()
    text = "All work and no play. " * 1_000_000
    log: list[RunEvent] = [created("run_a", workflow), *called("run_a", workflow, "s1", text)]
    stored = await store.append("run_a", log)
    finished = stored[-1]
    assert isinstance(finished, StepFinished)
    assert finished.output == text
    assert (await store.state("run_a")).steps["s1"].output == text
    assert len((await store.list_runs("moon")).runs) == 1


async def _limit_pages(store: Store, *, more: int) -> None:
    def limit(tx: Transaction) -> None:
        (count,) = tx.conn.execute("PRAGMA page_count").fetchone()
        tx.conn.execute(f"PRAGMA max_page_count={count + more}")

    await asyncio.wrap_future(store._writer.submit(limit))

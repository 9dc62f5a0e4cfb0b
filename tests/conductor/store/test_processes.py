"""Several processes on one file."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from conductor.store import Store
from conductor.store.schema import SCHEMA_VERSION
from tests.conductor.store.logs import whole_run

N_PROCESSES, STORES_EACH, RUNS_EACH = 4, 5, 6


def write_runs(path: str, number: int, together: object) -> None:
    """Opens five stores on the file at once with everybody else, and writes runs through each."""

    async def through(store: Store, name: str) -> None:
        for count in range(RUNS_EACH):
            run_id = f"run_{name}_{count}"
            for event in whole_run(run_id):
                await store.append(run_id, [event])

    async def work() -> None:
        stores = [Store.open(Path(path)) for _ in range(STORES_EACH)]
        await asyncio.gather(*(through(store, f"{number}_{place}") for place, store in enumerate(stores)))
        for store in stores:
            await store.close()

    together.wait(60)  # type: ignore[attr-defined]  # multiprocessing names no public type for it
    asyncio.run(work())


@pytest.mark.slow
async def test_twenty_writers_of_four_processes_on_an_empty_file(path: Path) -> None:
    """Behaviour row 19: 20 writers in four processes on an empty file; no lock error, no half schema."""
    spawn = multiprocessing.get_context("spawn")
    together = spawn.Barrier(N_PROCESSES)
    processes = [
        spawn.Process(target=write_runs, args=(str(path), number, together)) for number in range(N_PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        await asyncio.to_thread(process.join, 120)
    assert [process.exitcode for process in processes] == [0] * N_PROCESSES
    for process in processes:
        process.close()
    async with Store.open(path) as store:
        page = await store.list_runs(limit=200)
        assert page.total == N_PROCESSES * STORES_EACH * RUNS_EACH
        for run in page.runs:
            assert (await store.state(run.run_id)).status == "succeeded"
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert conn.execute("SELECT count(*) FROM _sqlite_migrations").fetchone() == (SCHEMA_VERSION,)


TAKE_OVER = """
import sqlite3, sys
from contextlib import closing

with closing(sqlite3.connect(sys.argv[1], timeout=0.1)) as conn:
    try:
        print(conn.execute("PRAGMA journal_mode=DELETE").fetchone())
    except sqlite3.OperationalError as problem:
        print(problem)
"""


async def test_opening_a_second_store_leaves_the_locks_of_the_first(store: Store, path: Path) -> None:
    """POSIX drops all locks of a process on a file as soon as it closes any descriptor of that file."""
    await store.append("run_a", whole_run("run_a"))
    second = Store.open(path)
    command = [sys.executable, "-c", TAKE_OVER, str(path)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "database is locked"
    await second.close()
    await store.append("run_b", whole_run("run_b"))


ACKNOWLEDGE = """
import asyncio, sys
from pathlib import Path
from conductor.store import Store
from tests.conductor.store.logs import whole_run

async def main():
    store = Store.open(Path(sys.argv[1]))
    for number in range(100_000):
        await store.append(f"run_{number}", whole_run(f"run_{number}"))
        print(number, flush=True)

asyncio.run(main())
"""


async def test_kill_9_loses_nothing_that_was_acknowledged(path: Path) -> None:
    def killed_in_mid_write() -> int:
        command = [sys.executable, "-c", ACKNOWLEDGE, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if int(line) == 40:
                    os.kill(process.pid, signal.SIGKILL)
                last = int(line)
        return last

    last = await asyncio.to_thread(killed_in_mid_write)
    async with Store.open(path) as store:
        page = await store.list_runs(limit=200)
        assert page.total is not None
        assert last + 1 <= page.total <= last + 2
        for run in page.runs:
            assert (await store.state(run.run_id)).status == "succeeded"

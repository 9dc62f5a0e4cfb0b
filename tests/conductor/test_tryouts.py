"""Tests of workers behind the page: joined while they run, kept afterwards."""

from __future__ import annotations

import asyncio

from conductor.tryouts import Tryouts
from conductor_client.api import WorkerTestReply


async def test_twenty_presses_are_one_call_and_its_answer_stays() -> None:
    tryouts, calls, go_on = Tryouts(), 0, asyncio.Event()

    async def call() -> WorkerTestReply:
        nonlocal calls
        calls += 1
        await go_on.wait()
        return WorkerTestReply(worker="a", ok=True, output="ready")

    tasks = {tryouts.start(("p", "a"), call) for _ in range(20)}
    assert len(tasks) == 1
    await asyncio.sleep(0)
    assert [(each.worker, each.running) for each in tryouts.replies("p")] == [("a", True)]
    assert tryouts.replies("other") == []
    go_on.set()
    reply = await tasks.pop()
    assert (calls, tryouts.replies("p")) == (1, [reply])
    assert reply.ok and reply.began_at is not None
    tryouts.start(("p", "a"), call)
    assert tryouts.replies("p")[0].running, "until the next"
    await tryouts.close()
    assert tryouts.replies("p") == [reply]


async def test_stop_ends_the_test_and_answers_whoever_waits_for_it() -> None:
    tryouts = Tryouts()
    is_over = asyncio.Event()

    async def call() -> WorkerTestReply:
        try:
            await asyncio.Event().wait()
        finally:
            is_over.set()
        raise AssertionError

    task = tryouts.start(("p", "a"), call)
    await asyncio.sleep(0)
    stopped = await tryouts.stop(("p", "a"))
    assert is_over.is_set() and stopped is not None and "stopped" in stopped.message
    assert (await task, tryouts.replies("p")) == (stopped, [stopped])
    assert await tryouts.stop(("p", "a")) == stopped, "stopping twice changes nothing"
    assert await tryouts.stop(("p", "b")) is None
    assert not tryouts.start(("p", "a"), call).done(), "it can be tested again"
    await tryouts.close()


async def test_a_test_that_hangs_ends_with_the_program() -> None:
    tryouts = Tryouts()

    async def call() -> WorkerTestReply:
        await asyncio.Event().wait()
        raise AssertionError

    task = tryouts.start(("p", "a"), call)
    await asyncio.sleep(0)
    await tryouts.close()
    assert task.cancelled() and tryouts.replies("p") == []

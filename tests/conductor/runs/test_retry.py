"""When a failed call is made again, after how long, and by whom."""

from __future__ import annotations

import asyncio

import pytest

from conductor.providers.base import Worker, WorkerError
from conductor.runs.lanes import Lanes
from conductor.runs.retry import RetryPolicy
from tests.virtual_time import run_virtually

ALWAYS_MOST = RetryPolicy(draw=lambda: 1.0)
ALICE = Worker(name="alice", provider="scripted", model="m", fallback="bob")
BOB = Worker(name="bob", provider="scripted", model="n", fallback="alice")
POOL = {"alice": ALICE, "bob": BOB}


def _busy(retry_after_s: float | None = None) -> WorkerError:
    return WorkerError("rate_limited", "Slow down.", retryable=True, retry_after_s=retry_after_s)


def test_the_longest_possible_wait_doubles_up_to_a_cap() -> None:
    waits = [ALWAYS_MOST.wait_s(_busy(), tries) for tries in range(1, 8)]
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]


def test_the_wait_is_drawn_from_the_whole_range() -> None:
    assert RetryPolicy(draw=lambda: 0.0).wait_s(_busy(), 3) == 0.0
    assert RetryPolicy(draw=lambda: 0.5).wait_s(_busy(), 3) == 2.0


@pytest.mark.parametrize(("asked", "waits"), [(30.0, 30.0), (600.0, 60.0), (0.0, 0.0), (-5.0, 0.0)])
def test_the_servers_own_wait_is_obeyed_up_to_a_minute(asked: float, waits: float) -> None:
    assert ALWAYS_MOST.wait_s(_busy(asked), 1) == waits


def test_after_four_tries_the_fallback_takes_over_and_then_nobody() -> None:
    tried = frozenset({"alice"})
    assert ALWAYS_MOST.next(_busy(), ALICE, 3, POOL, tried).worker is ALICE  # type: ignore[union-attr]
    following = ALWAYS_MOST.next(_busy(), ALICE, 4, POOL, tried)
    assert following is not None and following.worker is BOB and following.first_try and following.wait_s == 0
    assert ALWAYS_MOST.next(_busy(), BOB, 4, POOL, frozenset({"alice", "bob"})) is None


@pytest.mark.parametrize("kind", ["auth", "quota", "unavailable"])
def test_a_worker_that_cannot_serve_at_all_hands_over_at_once(kind: str) -> None:
    following = ALWAYS_MOST.next(WorkerError(kind, "No."), ALICE, 1, POOL, frozenset({"alice"}))  # type: ignore[arg-type]
    assert following is not None and following.worker is BOB


@pytest.mark.parametrize("kind", ["bad_request", "refused", "context_overflow", "empty_output", "truncated"])
def test_what_lies_in_the_request_is_never_tried_again(kind: str) -> None:
    assert ALWAYS_MOST.next(WorkerError(kind, "No."), ALICE, 1, POOL, frozenset({"alice"})) is None  # type: ignore[arg-type]


def test_a_fallback_that_is_not_in_the_pool_is_none() -> None:
    assert ALWAYS_MOST.next(_busy(), ALICE, 4, {"alice": ALICE}, frozenset({"alice"})) is None


def test_a_lane_lets_so_many_calls_through_at_once_first_come_first_served() -> None:
    async def scenario() -> list[tuple[int, float, float]]:
        lane = Lanes().of(Worker(name="w", provider="scripted", model="m", concurrency=2))
        began: list[tuple[int, float, float]] = []

        async def one(number: int) -> None:
            async with lane.slot() as waited_s:
                began.append((number, asyncio.get_running_loop().time(), waited_s))
                await asyncio.sleep(10)

        await asyncio.gather(*(one(number) for number in range(5)))
        return began

    assert run_virtually(scenario()) == [(0, 0, 0), (1, 0, 0), (2, 10, 10), (3, 10, 10), (4, 20, 20)]


def test_a_pause_holds_everybody_back_and_is_never_shortened() -> None:
    async def scenario() -> float:
        lane = Lanes().of(ALICE)
        lane.pause(30)
        lane.pause(5)
        assert "30 s left" in lane.why_waiting()
        async with lane.slot() as waited_s:
            return waited_s

    assert run_virtually(scenario()) == pytest.approx(30.0)


def test_workers_with_one_address_and_model_share_a_lane() -> None:
    lanes = Lanes()
    other = Worker(name="other name", provider="scripted", model="m")
    assert lanes.of(ALICE) is lanes.of(other)
    assert lanes.of(ALICE) is not lanes.of(BOB)


def test_no_try_begins_after_the_deadline_of_the_step() -> None:
    policy = RetryPolicy(draw=lambda: 1.0, deadline_s=100)
    tried = frozenset({"alice"})
    assert policy.next(_busy(30), ALICE, 1, POOL, tried, spent_s=60).worker is ALICE  # type: ignore[union-attr]
    late = policy.next(_busy(60), ALICE, 1, POOL, tried, spent_s=60)
    assert late is not None and late.worker is BOB and late.wait_s == 0, "another worker may still be in time"
    assert policy.next(_busy(), ALICE, 1, POOL, tried, spent_s=100) is None


def test_after_a_pause_one_call_goes_ahead_and_each_good_end_lets_one_more_in() -> None:
    async def scenario() -> list[float]:
        lane = Lanes().of(Worker(name="w", provider="scripted", model="m", concurrency=8))
        lane.pause(30)
        began: list[float] = []

        async def one() -> None:
            async with lane.slot():
                began.append(asyncio.get_running_loop().time())
                await asyncio.sleep(10)

        await asyncio.gather(*(one() for _ in range(8)))
        return began

    assert run_virtually(scenario()) == [30, 40, 40, 50, 50, 50, 50, 60]


def test_a_call_that_fails_lets_nobody_more_in() -> None:
    async def scenario() -> list[float]:
        lane = Lanes().of(Worker(name="w", provider="scripted", model="m", concurrency=8))
        lane.pause(30)
        began: list[float] = []

        async def one() -> None:
            async with lane.slot():
                began.append(asyncio.get_running_loop().time())
                await asyncio.sleep(10)
                raise RuntimeError

        await asyncio.gather(*(one() for _ in range(3)), return_exceptions=True)
        return began

    assert run_virtually(scenario()) == [30, 40, 50]


def test_who_stops_waiting_takes_no_slot_along() -> None:
    async def scenario() -> float:
        lane = Lanes().of(Worker(name="w", provider="scripted", model="m", concurrency=1))

        async def one() -> None:
            async with lane.slot():
                await asyncio.sleep(10)

        first, second = asyncio.create_task(one()), asyncio.create_task(one())
        await asyncio.sleep(1)
        second.cancel()
        third = asyncio.create_task(one())
        await asyncio.wait({first, second, third})
        return asyncio.get_running_loop().time()

    assert run_virtually(scenario()) == 20

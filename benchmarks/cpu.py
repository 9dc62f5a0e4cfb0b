"""CPU of this process per step, with every token streamed to a watcher and every event stored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from benchmarks.bare import ours_and_bare
from benchmarks.machine import Patience, own_cpu_s
from benchmarks.rows import Bar, Plan, Row, Series
from benchmarks.shapes import SHAPES, Speed
from benchmarks.stage import check, check_texts, run

SAYS = "CPU per step, 200 tokens streamed and stored, beside bare aiohttp (chain of 5, 1,000 tokens/s)"
BAR = "≤ 25 ms"
T = TypeVar("T")
STRESS = Speed(50, 200, 1)
SHAPE = SHAPES["chain of 5"]


def measure(plan: Plan) -> Sequence[Row]:
    """Ours and the floor in turn. The server's CPU is in another process; the engine's threads count."""
    return asyncio.run(_measure(plan))


async def _measure(plan: Plan) -> list[Row]:
    patience = Patience(plan.patience_s)
    ours: list[float] = []
    bare: list[float] = []
    async with ours_and_bare(STRESS) as (studio, floor):
        for number in range(plan.times(5, 15) + 2):
            await patience.quiet()
            run_id, ours_ms = await _per_step_ms(partial(run, studio, SHAPE, f"r{number}"))
            texts, bare_ms = await _per_step_ms(partial(floor.run, SHAPE))
            await check(studio, [run_id], SHAPE, STRESS)
            check_texts(texts, SHAPE, STRESS)
            if number >= 2:  # the first two load what is loaded once
                ours.append(ours_ms)
                bare.append(bare_ms)
    floor_ms = Series(tuple(bare))
    beside = f"bare aiohttp {floor_ms.said(unit='ms')}, {patience.said()}"
    row = Row.of(
        "CPU per step, 200 tokens streamed and stored", Series(tuple(ours)), Bar(25, "ms"), beside=beside
    )
    return [row.with_figures(bare_best=floor_ms.best, bare_median=floor_ms.median)]


async def _per_step_ms(work: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    before = own_cpu_s()
    done = await work()
    return done, (own_cpu_s() - before) / len(SHAPE) * 1000

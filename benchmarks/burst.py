"""Many workflows at once on one backend."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from benchmarks.bare import ours_and_bare
from benchmarks.machine import Patience, own_cpu_s
from benchmarks.rows import Bar, Plan, Row, Series
from benchmarks.shapes import SHAPES, Speed, critical_path_s
from benchmarks.stage import check, check_texts, run

SAYS = "200 workflows of 5 calls at once, beside bare aiohttp (fan-out 1+3+1, 500 ms, 40 tokens, 20 ms each)"
BAR = "≥ 20 workflows/s"
AT_ONCE = 200
BURST = Speed(500, 40, 20)
SHAPE = SHAPES["fan-out 1+3+1"]


def measure(plan: Plan) -> Sequence[Row]:
    """Ours and the floor in turn; every run is watched by a subscriber of its own."""
    return asyncio.run(_measure(plan))


async def _measure(plan: Plan) -> list[Row]:
    patience = Patience(plan.patience_s)
    ours: list[float] = []
    bare: list[float] = []
    cpu_ms: list[float] = []
    async with ours_and_bare(BURST) as (studio, floor):
        await asyncio.gather(run(studio, SHAPE, "warm"), floor.run(SHAPE))
        for number in range(plan.times(2, 5)):
            await patience.quiet()
            start = time.perf_counter()
            all_texts = await asyncio.gather(*(floor.run(SHAPE) for _ in range(AT_ONCE)))
            bare.append(AT_ONCE / (time.perf_counter() - start))
            for texts in all_texts:
                check_texts(texts, SHAPE, BURST)
            await patience.quiet()
            start, before = time.perf_counter(), own_cpu_s()
            labels = [f"b{number}.{each}" for each in range(AT_ONCE)]
            run_ids = await asyncio.gather(*(run(studio, SHAPE, label) for label in labels))
            ours.append(AT_ONCE / (time.perf_counter() - start))
            cpu_ms.append((own_cpu_s() - before) / (AT_ONCE * len(SHAPE)) * 1000)
            await check(studio, run_ids, SHAPE, BURST)
    floor_per_s = Series(tuple(bare), is_more_better=True)
    most = AT_ONCE / critical_path_s(SHAPE, BURST)
    beside = (
        f"bare aiohttp {floor_per_s.said()}, at most {most:.0f}; "
        f"CPU per step {Series(tuple(cpu_ms)).said(unit='ms')}; {patience.said()}"
    )
    series = Series(tuple(ours), is_more_better=True)
    row = Row.of("200 workflows of 5 calls at once", series, Bar(20, "workflows/s", "≥"), beside=beside)
    return [row.with_figures(bare=bare, cpu_ms_per_step=cpu_ms)]

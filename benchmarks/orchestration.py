"""Wall time over the critical path, at the speed of an LLM."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import Patience
from benchmarks.rows import Bar, Plan, Row, Series
from benchmarks.shapes import SHAPES, Speed, critical_path_s
from benchmarks.stage import backend, check, run, scripted_server

SAYS = (
    "wall ÷ critical path: uneven branches, fan-out 1+3+1 (400 ms to the first token, 60 tokens, 15 ms each)"
)
BAR = "≤ 1.01"
LLM = Speed(400, 60, 15)
MEASURED = ("uneven branches", "fan-out 1+3+1")


def measure(plan: Plan) -> Sequence[Row]:
    """The whole way of a run, from the request to the end that a watcher sees, events on the disk."""
    return asyncio.run(_measure(plan))


async def _measure(plan: Plan) -> list[Row]:
    patience, walls = Patience(plan.patience_s), {name: list[float]() for name in MEASURED}
    with scripted_server() as server, tempfile.TemporaryDirectory() as folder:
        async with backend(Path(folder), server, LLM) as studio:
            await run(studio, SHAPES["fan-out 1+3+1"], "warm")
            for number in range(plan.times(3, 9)):
                for name in MEASURED:
                    await patience.quiet()
                    start = time.perf_counter()
                    run_id = await run(studio, SHAPES[name], f"{name[:3]}{number}")
                    walls[name].append(time.perf_counter() - start)
                    await check(studio, [run_id], SHAPES[name], LLM)
    rows = []
    for name in MEASURED:
        exact = critical_path_s(SHAPES[name], LLM)
        ratios = Series(tuple(walls[name])).over(exact)
        beside = f"exact {exact:.2f} s, {patience.said()}"
        rows.append(
            Row.of(f"orchestration, {name}: wall ÷ critical path", ratios, Bar(1.01), digits=4, beside=beside)
        )
    return rows

"""How many workers a fork calls."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rows import Plan, Row
from benchmarks.shapes import SHAPES, Speed
from benchmarks.stage import backend, run, scripted_server
from conductor_client.api import ForkPreview, ForkRequest
from conductor_client.edits import SetInstruction

SAYS = "fork of the last of 5 steps: workers called, as the server counts them"
BAR = "exactly 1"
QUICK = Speed(20, 10, 2)
SHAPE = SHAPES["chain of 5"]


def measure(plan: Plan) -> Sequence[Row]:
    """Edits the last instruction of a run of 5 steps in a row and runs that."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    with scripted_server() as server, tempfile.TemporaryDirectory() as folder:
        async with backend(Path(folder), server, QUICK) as studio:
            parent = await run(studio, SHAPE, "first")
            server.reset()
            edit = SetInstruction(step_id="s5", instruction="Say it in one sentence.")
            start = time.perf_counter()
            forked = await studio.fork(parent, ForkRequest(edits=(edit,)))
            assert not isinstance(forked, ForkPreview)
            async for _ in studio.subscribe(forked[0]):
                pass
            wall_s = time.perf_counter() - start
            state = await studio.state(forked[0])
        calls = sum(server.stats()["started"].values())
    reused = sum(step.status == "reused" for step in state.steps.values())
    call_ms = QUICK.call_s("usual") * 1000
    said = f"{calls} called, {reused} reused; {wall_s * 1000:.0f} ms, of which the call {call_ms:.0f}"
    return [Row("fork of the last of 5 steps", said, BAR, calls == 1, {"calls": calls, "reused": reused})]
